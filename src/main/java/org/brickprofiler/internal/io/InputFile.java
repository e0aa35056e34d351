package org.brickprofiler.internal.io;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Opens files for reading, and creates the exceptions for files that cannot be read. An exception that nobody expects,
 * such as one of a library for malformed content, becomes one that names the file. Stateless; any thread.
 */
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

    /**
     * Reads something from a source.
     *
     * @param <T> the type of the result
     */
    @FunctionalInterface
    public interface Reading<T> {
        /**
         * Reads the source.
         *
         * @return the result
         * @throws IOException when it cannot be read
         */
        T read() throws IOException;
    }

    /**
     * Reads a source whose reader, or a library that the reader uses, may fail in a way that nobody expects.
     *
     * @param <T> the type of the result
     * @param source the name of the source in messages
     * @param reading reads it
     * @return the result
     * @throws IOException when it cannot be read, or the reader fails; the message names the source
     */
    public static <T> T guarded(String source, Reading<T> reading) throws IOException {
        try {
            return reading.read();
        } catch (UncheckedIOException failed) {
            throw failed.getCause();
        } catch (RuntimeException | LinkageError | InternalError | StackOverflowError | AssertionError failed) {
            throw new IOException("cannot read " + source + ": " + readerFailed(failed), failed);
        }
    }

    /**
     * Describes an unexpected failure of a reader.
     *
     * @param failed the exception or error
     * @return the missing library, or else the failure and its place in the program, for a message
     */
    public static String readerFailed(Throwable failed) {
        Optional<String> missing = missingLibrary(failed);
        if (missing.isPresent()) {
            return missing.get();
        }
        StackTraceElement[] trace = failed.getStackTrace();
        return "the file is damaged, or its reader has a fault: " + failed
                + (trace.length == 0 ? "" : " at " + trace[0]);
    }

    /**
     * Returns the reason of a failure that has nothing to do with the input.
     *
     * @param failed the exception or error
     * @return the class or the native library that is missing; empty for any other failure
     */
    public static Optional<String> missingLibrary(Throwable failed) {
        String message = String.valueOf(failed.getMessage());
        if (failed instanceof UnsatisfiedLinkError) {
            return Optional.of("a native library cannot be loaded: " + message);
        }
        // If the class is there but its initializer has failed, the message is a sentence.
        return failed instanceof NoClassDefFoundError && !message.contains(" ")
                ? Optional.of("the class " + message.replace('/', '.') + " of a library is not on the class path")
                : Optional.empty();
    }
}
