package org.brickprofiler.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** What is wrong with a file before it is opened. Stateless; any thread. */
final class InputFile {

    private InputFile() {}

    /**
     * Checks that there is something to read.
     *
     * @param file the path
     * @return the same path
     * @throws IOException when there is nothing, or a folder
     */
    static Path required(Path file) throws IOException {
        if (Files.notExists(file)) {
            throw cannotRead(file, "it does not exist");
        }
        if (Files.isDirectory(file)) {
            throw cannotRead(file, "it is a folder");
        }
        return file;
    }

    /**
     * Checks that there is a file, which can be read more than once.
     *
     * @param file the path
     * @return the same path
     * @throws IOException when there is none
     */
    static Path requiredTwice(Path file) throws IOException {
        if (!Files.isRegularFile(required(file))) {
            throw cannotRead(file, "it is no file but a pipe or a device; save what comes out of it first");
        }
        return file;
    }

    private static IOException cannotRead(Path file, String reason) {
        return new IOException("cannot read " + file + ": " + reason);
    }
}
