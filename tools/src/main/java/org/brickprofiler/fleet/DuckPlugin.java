package org.brickprofiler.fleet;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.ConnectException;
import java.net.HttpURLConnection;
import java.net.ProxySelector;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URL;
import java.net.URLClassLoader;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.CodeSource;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.sql.Driver;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.brickprofiler.internal.io.AtomicFile;
import org.brickprofiler.internal.io.InputFile;
import org.brickprofiler.internal.setting.Settings;
import org.jspecify.annotations.Nullable;

/**
 * Finds DuckDB's JDBC driver. Its jar is larger than the rest of the program, so the command line's jar does not
 * contain it. It is looked for on the class path, then at the path in {@code -Dbrick.duckdb} or {@code BRICK_DUCKDB}
 * (the jar, or its folder), then beside the command line's own jar, to which {@link #download} writes it. A jar that is
 * not on the class path runs only if it is exactly {@link #ARTIFACT}, by its checksum. Any thread.
 */
public final class DuckPlugin {

    private static final String VERSION = "2.0.0.1";

    /** The artifact with which this program is tested. */
    public static final String ARTIFACT = "org.duckdb:duckdb_jdbc:" + VERSION;

    /** The checksum of that version's jar on Maven Central. */
    static final String SHA_256 = "6cb8b0e0fc51b2e45aead2d2c1e1fd09dd10267db2966e69aaab0de67319f826";

    static final String JAR = "duckdb_jdbc-" + VERSION + ".jar";

    /** Its approximate size, for showing the progress of a download. */
    public static final long USUAL_BYTES = 80_000_000;

    private static final long MOST_BYTES = 4 * USUAL_BYTES;
    private static final int BUFFER_BYTES = 1 << 16;
    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(30);

    static final String PROPERTY = "brick.duckdb";
    static final String VARIABLE = "BRICK_DUCKDB";

    private static final String DRIVER = "org.duckdb.DuckDBDriver";

    /** The driver is loaded once: a virtual machine cannot load its native library again in a second class loader. */
    private static @Nullable Driver loaded;

    private DuckPlugin() {}

    /**
     * Returns the driver, the same one each time.
     *
     * @return the driver
     * @throws IOException when the driver is not found, and the message says how to get it; or when it cannot be loaded
     */
    static synchronized Driver driver() throws IOException {
        if (loaded == null) {
            loaded = load(setting(), besideOwnJar());
        }
        return loaded;
    }

    private static Driver load(Optional<Path> named, Optional<Path> folder) throws IOException {
        try {
            return instance(DuckPlugin.class.getClassLoader());
        } catch (ClassNotFoundException notOnTheClassPath) {
            Path jar = required(find(named, folder));
            try {
                // Never closed: the driver lives as long as the virtual machine does.
                return instance(new URLClassLoader(
                        "duckdb", new URL[] {jar.toUri().toURL()}, DuckPlugin.class.getClassLoader()));
            } catch (ClassNotFoundException notItsJar) {
                throw new IOException(jar + " is not DuckDB's JDBC driver: it has no " + DRIVER, notItsJar);
            }
        }
    }

    private static Driver instance(@Nullable ClassLoader loader) throws ClassNotFoundException, IOException {
        try {
            return Class.forName(DRIVER, true, loader)
                    .asSubclass(Driver.class)
                    .getConstructor()
                    .newInstance();
        } catch (ClassNotFoundException none) {
            throw none;
        } catch (ReflectiveOperationException | LinkageError | RuntimeException failed) {
            throw new IOException("DuckDB's driver cannot be loaded: " + failed, failed);
        }
    }

    /**
     * Checks that a jar is the artifact with which this program is tested: a jar of that name may be anything.
     *
     * @param jar the jar
     * @return the jar
     * @throws IOException when it is another one, or cannot be read
     */
    static Path required(Path jar) throws IOException {
        String hex = checksum(jar);
        if (!hex.equals(SHA_256)) {
            throw new IOException(jar + " is not " + ARTIFACT + ", the only driver of DuckDB that this program loads"
                    + " from a file: its SHA-256 is " + hex + " instead of " + SHA_256
                    + "; this gets it: brick fleet plugin");
        }
        return jar;
    }

    /**
     * Returns the jar.
     *
     * @param named the value of a setting: the jar or its folder
     * @param folder the folder of this program's own jar
     * @return the jar, not yet {@linkplain #required checked}; of several jars in a folder, that of this version or, if
     *     there is none, the one whose name sorts last
     * @throws IOException when there is no such jar
     */
    static Path find(Optional<Path> named, Optional<Path> folder) throws IOException {
        if (named.isPresent()) {
            Path there = named.get();
            Optional<Path> jar =
                    Files.isDirectory(there) ? in(there) : Optional.of(there).filter(Files::isRegularFile);
            return jar.orElseThrow(() -> missing(
                    VARIABLE + " names " + there + ", which is neither the jar nor a folder with it",
                    Optional.empty()));
        }
        Optional<Path> jar = folder.isPresent() ? in(folder.get()) : Optional.empty();
        return jar.orElseThrow(() -> missing("it is no part of this jar", folder));
    }

    private static Optional<Path> in(Path folder) throws IOException {
        Path ofThisVersion = folder.resolve(JAR);
        if (Files.isRegularFile(ofThisVersion)) {
            return Optional.of(ofThisVersion);
        }
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(file -> file.getFileName().toString().matches("duckdb_jdbc.*\\.jar"))
                    .max(Path::compareTo);
        }
    }

    /**
     * Downloads the driver from a Maven repository.
     *
     * @param repository its address, of HTTP or HTTPS; the proxies of the virtual machine are used
     * @param into a folder, which is created; null for the folder that the setting names or, if it names none, the
     *     folder of this program's jar
     * @param progress receives the progress
     * @return the complete jar; an existing one is not downloaded again
     * @throws IOException when it cannot be read or written, or is not the jar of {@link #ARTIFACT}; the message gives
     *     the reason, and existing files are unchanged
     * @throws IllegalArgumentException when the address or the folder is invalid
     */
    public static Path download(URI repository, @Nullable Path into, FleetPacker.Progress progress) throws IOException {
        if (repository.getHost() == null || !List.of("http", "https").contains(repository.getScheme())) {
            throw new IllegalArgumentException("the repository " + repository + " has no address of http or https");
        }
        Path folder = into == null
                ? setting()
                        .filter(Files::isDirectory)
                        .or(DuckPlugin::besideOwnJar)
                        .orElseThrow(() -> new IllegalArgumentException(
                                "this program is in no jar, beside which the driver could be"))
                : into;
        Path jar = folder.resolve(JAR);
        if (Files.isRegularFile(jar) && checksum(jar).equals(SHA_256)) {
            return jar;
        }
        Files.createDirectories(folder);
        String path = "/" + ARTIFACT.replace(':', '/').replace("org.duckdb", "org/duckdb") + "/" + JAR;
        URI from = URI.create(repository.toString().replaceFirst("/+$", "") + path);
        AtomicFile.write(jar, out -> copy(from, out, progress));
        return jar;
    }

    private static String checksum(Path jar) throws IOException {
        MessageDigest sum = sha256();
        try (InputStream in = new DigestInputStream(InputFile.open(jar), sum)) {
            in.transferTo(OutputStream.nullOutputStream());
        }
        return HexFormat.of().formatHex(sum.digest());
    }

    private static void copy(URI from, OutputStream out, FleetPacker.Progress progress) throws IOException {
        HttpClient client = HttpClient.newBuilder()
                .followRedirects(HttpClient.Redirect.NORMAL)
                .connectTimeout(CONNECT_TIMEOUT)
                .proxy(ProxySelector.getDefault())
                .build();
        MessageDigest sum = sha256();
        try {
            HttpResponse<InputStream> answer =
                    client.send(HttpRequest.newBuilder(from).build(), HttpResponse.BodyHandlers.ofInputStream());
            try (InputStream in = answer.body()) {
                if (answer.statusCode() != HttpURLConnection.HTTP_OK) {
                    throw new IOException(from + " answers " + answer.statusCode());
                }
                byte[] buffer = new byte[BUFFER_BYTES];
                long bytes = 0;
                for (int read = in.read(buffer); read >= 0 && bytes <= MOST_BYTES; read = in.read(buffer)) {
                    sum.update(buffer, 0, read);
                    out.write(buffer, 0, read);
                    bytes += read;
                    progress.at(Math.min(bytes, USUAL_BYTES), USUAL_BYTES);
                }
                String hex = HexFormat.of().formatHex(sum.digest());
                if (!hex.equals(SHA_256)) {
                    throw new IOException("the " + bytes + " bytes of " + from + " are not those of " + ARTIFACT
                            + ": their SHA-256 is " + hex + " instead of " + SHA_256);
                }
            }
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw new IOException("it was interrupted", stopped);
        } catch (ConnectException | HttpTimeoutException none) {
            throw new IOException(from + " cannot be reached", none);
        }
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException everyVirtualMachineHasIt) {
            throw new IllegalStateException(everyVirtualMachineHasIt);
        }
    }

    private static IOException missing(String why, Optional<Path> folder) {
        return new IOException("fleets need DuckDB (" + why + "); this gets it, once: brick fleet plugin"
                + (folder.isPresent() ? "" : " --to DIR, then " + VARIABLE + "=DIR"));
    }

    private static Optional<Path> setting() {
        return Optional.ofNullable(Settings.value(PROPERTY, VARIABLE)).map(Path::of);
    }

    private static Optional<Path> besideOwnJar() {
        @Nullable CodeSource source = DuckPlugin.class.getProtectionDomain().getCodeSource();
        try {
            return source == null
                    ? Optional.empty()
                    : Optional.of(Path.of(source.getLocation().toURI()))
                            .filter(Files::isRegularFile)
                            .map(Path::getParent);
        } catch (URISyntaxException | IllegalArgumentException noFile) {
            return Optional.empty();
        }
    }
}
