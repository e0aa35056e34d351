package org.brickprofiler.internal.io;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;

/** Opens files for reading, and creates the exceptions for files that cannot be read. Stateless; any thread. */
public final class InputFile {

    private InputFile() {}

    /**
     * Opens a file.
     *
     * @param path the file
     * @return its bytes, to be closed
     * @throws IOException when it cannot be opened; the message names the path and the reason
     */
    public static InputStream open(Path path) throws IOException {
        try {
            return Files.newInputStream(path);
        } catch (IOException failed) {
            throw cannotRead(path.toString(), failed);
        }
    }

    /**
     * Returns the exception for a source that cannot be read.
     *
     * @param source the name of the source in messages
     * @param failed the cause
     * @return an exception whose message names both
     */
    public static IOException cannotRead(String source, IOException failed) {
        return new IOException("cannot read " + source + ": " + AtomicFile.reason(failed), failed);
    }
}
