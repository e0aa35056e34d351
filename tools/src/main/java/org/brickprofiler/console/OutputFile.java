package org.brickprofiler.console;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.brickprofiler.internal.io.AtomicFile;

/** Checks before a long run that its output file can be written. Stateless; any thread. */
public final class OutputFile {

    private OutputFile() {}

    /**
     * Checks that a file can be written, and leaves no trace.
     *
     * @param file the file, or a link to an existing one; a new file needs its folder
     * @throws IllegalArgumentException when it cannot be written; the message says why
     */
    public static void requireWritable(Path file) {
        Path folder;
        try {
            folder = AtomicFile.destination(file).toAbsolutePath().getParent();
        } catch (IOException dangling) {
            throw cannotWrite(file, AtomicFile.reason(dangling));
        }
        if (folder == null || Files.isDirectory(file)) {
            throw cannotWrite(file, "it is a folder");
        }
        if (Files.notExists(folder)) {
            throw cannotWrite(file, "the folder " + folder + " does not exist");
        }
        if (!Files.isDirectory(folder)) {
            throw cannotWrite(file, folder + " is not a folder");
        }
        try {
            // Permissions alone do not show it: a file system may be read-only, and root is above permissions.
            Files.delete(Files.createTempFile(folder, ".brick", ".tmp"));
        } catch (IOException e) {
            throw cannotWrite(file, "the folder " + folder + " cannot be written to");
        }
    }

    private static IllegalArgumentException cannotWrite(Path file, String reason) {
        return new IllegalArgumentException("cannot write " + file + ": " + reason);
    }
}
