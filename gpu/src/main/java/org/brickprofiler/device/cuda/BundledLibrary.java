package org.brickprofiler.device.cuda;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Map;
import jcuda.JCudaVersion;
import jcuda.LibUtils;
import org.brickprofiler.internal.io.AtomicFile;
import org.jspecify.annotations.Nullable;

/**
 * JCuda's native library, if the program's own jar contains it, as the jar of the command line does. Otherwise, as in
 * the library's own jar, JCuda loads it by itself. Stateless.
 *
 * <p>JCuda by itself writes such a library to one file in the temporary folder, for all users and processes, and uses
 * the file that it finds there. Here the library is written to the user's own cache, whole or not at all, under the
 * hash of its content, and is compared with the jar's content each time.
 */
final class BundledLibrary {

    /** The folder in the jar, which is not the one where JCuda looks. */
    private static final String RESOURCES = "/META-INF/natives/";

    private static final String DRIVER_BINDING = "jcuda.driver.JCudaDriver";
    private static final String TEMPORARY_FOLDER = "java.io.tmpdir";

    private BundledLibrary() {}

    /**
     * Initialises JCuda's binding of the driver, which loads its native library. A library on {@code java.library.path}
     * is preferred to the bundled one.
     *
     * @throws ClassNotFoundException when JCuda is not on the class path
     * @throws LinkageError when a native library cannot be loaded
     * @throws IOException when the bundled one cannot be written anywhere
     */
    static void initialise() throws ClassNotFoundException, IOException {
        // Not initialised yet: first find out whether the class is there.
        Class.forName(DRIVER_BINDING, false, BundledLibrary.class.getClassLoader());
        String name =
                LibUtils.createLibraryFileName(LibUtils.createPlatformLibraryName("JCudaDriver-" + JCudaVersion.get()));
        byte @Nullable [] content = content(name);
        if (content == null) {
            Class.forName(DRIVER_BINDING);
            return;
        }
        // JCuda loads a file of this name only from the temporary folder. Other code that reads the setting meanwhile
        // finds a folder that can be written to.
        Path folder = unpacked(name, content, System.getenv(), System.getProperty("user.home"));
        String before = System.setProperty(TEMPORARY_FOLDER, folder.toString());
        try {
            Class.forName(DRIVER_BINDING);
        } finally {
            if (before == null) {
                System.clearProperty(TEMPORARY_FOLDER);
            } else {
                System.setProperty(TEMPORARY_FOLDER, before);
            }
        }
    }

    private static byte @Nullable [] content(String name) throws IOException {
        try (InputStream in = BundledLibrary.class.getResourceAsStream(RESOURCES + name)) {
            return in == null ? null : in.readAllBytes();
        }
    }

    /**
     * Makes sure that the library is in a folder of the user: in the cache or, if the cache cannot be written, in a
     * temporary folder that is deleted with the process.
     *
     * @param name the name of the file
     * @param content the content of the file
     * @param environment the environment's variables
     * @param home the user's home folder, if one is known
     * @return the folder
     */
    static Path unpacked(String name, byte[] content, Map<String, String> environment, @Nullable String home)
            throws IOException {
        File cache = cache(environment, home);
        if (cache.isAbsolute()) {
            Path folder = cache.toPath().resolve("brick-profiler").resolve(hash(content));
            try {
                Path file = Files.createDirectories(folder).resolve(name);
                if (!Files.exists(file) || !Arrays.equals(Files.readAllBytes(file), content)) {
                    AtomicFile.write(file, out -> out.write(content));
                }
                return folder;
            } catch (IOException notThere) {
                // A home that is missing or read-only, as in a container.
            }
        }
        Path folder = Files.createTempDirectory("brick-profiler");
        Path file = Files.write(folder.resolve(name), content);
        folder.toFile().deleteOnExit();
        file.toFile().deleteOnExit();
        return folder;
    }

    private static File cache(Map<String, String> environment, @Nullable String home) {
        for (String variable : new String[] {"XDG_CACHE_HOME", "LOCALAPPDATA"}) {
            File folder = new File(environment.getOrDefault(variable, ""));
            if (folder.isAbsolute()) {
                return folder;
            }
        }
        return new File(home, ".cache");
    }

    private static String hash(byte[] content) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(content));
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("every Java has SHA-256", e);
        }
    }
}
