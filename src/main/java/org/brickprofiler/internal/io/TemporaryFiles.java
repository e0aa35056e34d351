package org.brickprofiler.internal.io;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The temporary files and folders of this process. Those that their owner has not deleted are deleted when the virtual
 * machine ends, also by SIGTERM or Ctrl-C; only a killed process leaves them. They are deleted after all shutdown
 * hooks, so that a hook may still complete a file. While there are none, this class has no hook, so that a class loader
 * of this library can be unloaded. Any thread.
 */
public final class TemporaryFiles {

    private static final Set<Path> THERE = new LinkedHashSet<>();
    private static @Nullable Thread atEnd;

    private TemporaryFiles() {}

    /**
     * Creates a file in the folder for temporary files.
     *
     * @param prefix the begin of its name
     * @param suffix the end of its name
     * @return the file, to be {@linkplain #delete deleted}
     * @throws IOException when it cannot be created; the message names the folder, the reason, and the setting for
     *     another folder
     */
    public static Path file(String prefix, String suffix) throws IOException {
        try {
            return keep(Files.createTempFile(prefix, suffix));
        } catch (IOException failed) {
            throw cannotWrite(failed);
        }
    }

    /**
     * Creates a folder in the folder for temporary files.
     *
     * @param prefix the begin of its name
     * @return the folder, to be {@linkplain #delete deleted}
     * @throws IOException as {@link #file}
     */
    public static Path folder(String prefix) throws IOException {
        try {
            return keep(Files.createTempDirectory(prefix));
        } catch (IOException failed) {
            throw cannotWrite(failed);
        }
    }

    /**
     * Returns a name that no other process has. Its random numbers are not those of {@link UUID#randomUUID}, which
     * loads the providers of cryptography.
     *
     * @param beside a file in the same folder
     * @param suffix the end of the name
     * @return the path; the file is not created
     */
    static Path unused(Path beside, String suffix) {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        return beside.resolveSibling(".brick-profile-" + new UUID(random.nextLong(), random.nextLong()) + suffix);
    }

    /**
     * Returns the exception for a temporary file that cannot be written.
     *
     * @param failed the cause
     * @return an exception whose message names the folder, the reason, and the setting for another folder
     */
    public static IOException cannotWrite(IOException failed) {
        return new IOException(
                "cannot write a temporary file in the folder " + System.getProperty("java.io.tmpdir") + ": "
                        + AtomicFile.reason(failed) + "; set another with -Djava.io.tmpdir=FOLDER",
                failed);
    }

    /**
     * Deletes a file or a folder at the end of the virtual machine, unless it is deleted or released before.
     *
     * @param path a file, or a folder with its content; it need not exist yet
     * @return the path
     */
    public static synchronized Path keep(Path path) {
        THERE.add(path);
        if (atEnd == null) {
            Thread hook = new Thread(TemporaryFiles::deleteAtEnd, "brick-temporary-files");
            try {
                Runtime.getRuntime().addShutdownHook(hook);
                atEnd = hook;
            } catch (IllegalStateException endsAlready) {
                // The owner deletes the file, if there is time.
            }
        }
        return path;
    }

    /**
     * Leaves a file or a folder to its owner: it was deleted, or is temporary no longer.
     *
     * @param path what was {@linkplain #keep kept}; ignored if it was not
     */
    public static synchronized void release(Path path) {
        THERE.remove(path);
        Thread hook = atEnd;
        if (hook != null && THERE.isEmpty()) {
            try {
                Runtime.getRuntime().removeShutdownHook(hook);
                atEnd = null;
            } catch (IllegalStateException runsAlready) {
                // It finds nothing to delete.
            }
        }
    }

    /**
     * Deletes a file, or a folder with its content. What cannot be deleted, because another process uses it, stays.
     *
     * @param path a temporary file or folder
     */
    public static void delete(Path path) {
        deleteTree(path);
        release(path);
    }

    /** Lets the virtual machine delete, as the last thing that it does, what is there now. */
    private static void deleteAtEnd() {
        List<Path> all;
        synchronized (TemporaryFiles.class) {
            all = List.copyOf(THERE);
        }
        for (Path each : all) {
            // Another process may be about to write it.
            each.toFile().deleteOnExit();
            try (Stream<Path> tree = Files.walk(each)) {
                // It deletes the last one first: the content of a folder before the folder.
                tree.forEach(path -> path.toFile().deleteOnExit());
            } catch (IOException | UncheckedIOException missing) {
                // The owner is deleting it.
            }
        }
    }

    private static void deleteTree(Path path) {
        try (Stream<Path> all = Files.walk(path)) {
            for (Path each : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(each);
            }
        } catch (IOException | UncheckedIOException missingOrInUse) {
            // The system empties its folder for temporary files.
        }
    }
}
