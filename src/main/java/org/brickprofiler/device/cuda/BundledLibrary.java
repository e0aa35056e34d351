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
 * JCuda's native library where the program's own jar holds it, as the command line's does; the library's own jar holds
 * none, and then all of this is JCuda's business. Stateless.
 *
 * <p>JCuda by itself writes such a library to one file for all users and processes, in the temporary folder, and takes
 * what it finds there. Here it goes to the user's own cache, whole or not at all, under the hash of its content, and is
 * compared with what the jar holds each time.
 */
final class BundledLibrary {

    /** The folder in the jar, which is not the one where JCuda looks. */
    private static final String RESOURCES = "/META-INF/natives/";

    private static final String DRIVER_BINDING = "jcuda.driver.JCudaDriver";
    private static final String TEMPORARY_FOLDER = "java.io.tmpdir";

    private BundledLibrary() {}

    /**
     * Initialises JCuda's binding of the driver, which loads its native library. One that {@code java.library.path}
     * leads to is preferred to the bundled one.
     *
     * @throws ClassNotFoundException when JCuda is not on the class path
     * @throws LinkageError when a native library cannot be loaded
     * @throws IOException when the bundled one cannot be written anywhere
     */
    static void initialise() throws ClassNotFoundException, IOException {
        // Not initialised: whether it is there comes first.
        Class.forName(DRIVER_BINDING, false, BundledLibrary.class.getClassLoader());
        String name =
                LibUtils.createLibraryFileName(LibUtils.createPlatformLibraryName("JCudaDriver-" + JCudaVersion.get()));
        byte @Nullable [] content = content(name);
        if (content == null) {
            Class.forName(DRIVER_BINDING);
            return;
        }
        // JCuda takes a file of this name from the temporary folder, and no way leads to one elsewhere. What else reads
        // the setting meanwhile finds a folder that can be written to.
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
     * Sees to it that the library lies in a folder of the user's: in the cache, or, where none can be written to, in a
     * temporary one that goes with the process.
     *
     * @param name the name of the file
     * @param content what the file has to hold
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
