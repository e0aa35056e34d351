package org.brickprofiler.cli.fleet;

import java.io.IOException;
import java.net.URISyntaxException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.CodeSource;
import java.sql.Driver;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Where DuckDB's JDBC driver comes from: its jar is larger than all the rest, so it is no part of the command line's. It
 * is looked for on the class path, then where {@code -Dbrick.duckdb} or {@code BRICK_DUCKDB} say (the jar, or a folder with
 * it), then beside the command line's own jar. Any thread.
 */
final class DuckPlugin {

    /** What this program is tested with. */
    static final String ARTIFACT = "org.duckdb:duckdb_jdbc:2.0.0.1";

    static final String PROPERTY = "brick.duckdb";
    static final String VARIABLE = "BRICK_DUCKDB";

    private static final String DRIVER = "org.duckdb.DuckDBDriver";

    /** A second loader could not load the driver's native part, which a virtual machine has once. */
    private static @Nullable Driver loaded;

    private DuckPlugin() {}

    /**
     * The driver, the same one each time.
     *
     * @return the driver
     * @throws IOException when it is nowhere, or cannot be loaded; the message says how to get it
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
            Path jar = find(named, folder);
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
            return Class.forName(DRIVER, true, loader).asSubclass(Driver.class).getConstructor().newInstance();
        } catch (ClassNotFoundException none) {
            throw none;
        } catch (ReflectiveOperationException | LinkageError | RuntimeException failed) {
            throw new IOException("DuckDB's driver cannot be loaded: " + failed, failed);
        }
    }

    /**
     * The jar.
     *
     * @param named what a setting names: the jar or a folder
     * @param folder where this program's own jar is
     * @return the jar; of several in a folder that with the last name
     * @throws IOException when there is none
     */
    static Path find(Optional<Path> named, Optional<Path> folder) throws IOException {
        if (named.isPresent()) {
            Path there = named.get();
            Optional<Path> jar = Files.isDirectory(there) ? in(there) : Optional.of(there).filter(Files::isRegularFile);
            return jar.orElseThrow(() -> missing(VARIABLE + " names " + there + ", where it is not", Optional.empty()));
        }
        Optional<Path> jar = folder.isPresent() ? in(folder.get()) : Optional.empty();
        return jar.orElseThrow(() -> missing("it is no part of this jar", folder));
    }

    private static Optional<Path> in(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(file -> file.getFileName().toString().matches("duckdb_jdbc.*\\.jar"))
                    .max(Path::compareTo);
        }
    }

    private static IOException missing(String why, Optional<Path> folder) {
        return new IOException("fleets need DuckDB (" + why + "); this gets it, once: mvn dependency:copy -Dartifact="
                + ARTIFACT + " -DoutputDirectory=" + folder.map(Path::toString).orElse(".")
                + (folder.isPresent() ? "" : ", then " + VARIABLE + "=."));
    }

    private static Optional<Path> setting() {
        String property = System.getProperty(PROPERTY, "");
        @Nullable String value = property.isEmpty() ? System.getenv(VARIABLE) : property;
        return value == null || value.isEmpty() ? Optional.empty() : Optional.of(Path.of(value));
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
