package org.brickprofiler.internal.io;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.UUID;
import java.util.function.Predicate;

/**
 * A file that a process writes once, at its end, although the application, another copy of the library or a child
 * process may write it, too: child processes inherit the variable that names it. The file belongs to the first process
 * that writes it. The profile of any other process goes to a file of its own beside it, {@code NAME-PID.json}. One
 * thread.
 *
 * @param <T> the type of the value that is written
 */
public final class OwnedFile<T> {

    /** The process that has written the file, after {@link #write}. */
    public enum Writer {
        /** This call. */
        THIS,
        /**
         * This process, earlier: the application itself, or another copy of the library. The file was left as it is.
         */
        APPLICATION,
        /** Another process. This call wrote to {@link #besidePath} instead. */
        OTHER_PROCESS
    }

    /**
     * Writes a value to a file, whole or not at all.
     *
     * @param <T> the type of the value
     */
    @FunctionalInterface
    public interface ValueWriter<T> {
        /**
         * Writes a file.
         *
         * @param value the value
         * @param path the file; its folder exists
         * @throws IOException when that fails; the message names the path and the reason
         */
        void write(T value, Path path) throws IOException;
    }

    /**
     * Reads the value of a file.
     *
     * @param <T> the type of the value
     */
    @FunctionalInterface
    public interface ValueReader<T> {
        /**
         * Reads a file.
         *
         * @param path the file
         * @return its value
         * @throws IOException when it cannot be read, or is of another format
         */
        T read(Path path) throws IOException;
    }

    private final Path path;
    private final ValueWriter<T> writer;
    private final ValueReader<T> reader;

    /** Whether the file at the path is from an earlier call of {@link #write}. */
    private boolean isPublished;

    private OwnedFile(Path path, ValueWriter<T> writer, ValueReader<T> reader) {
        this.path = path;
        this.writer = writer;
        this.reader = reader;
    }

    /**
     * Prepares the file when recording begins: an existing file is from an earlier run, and is deleted, so that it
     * cannot be mistaken for the profile of this run.
     *
     * @param <T> the type of the value that is written
     * @param path the file
     * @param writer writes the value
     * @param reader reads the values of the writer
     * @return the file
     * @throws IOException when it cannot be written later, because the folder does not exist or cannot be written to;
     *     the message names the path and the reason
     */
    public static <T> OwnedFile<T> begin(Path path, ValueWriter<T> writer, ValueReader<T> reader) throws IOException {
        try {
            requireWritable(path);
            if (Files.isRegularFile(path)) {
                Files.delete(path.toRealPath());
            }
            return new OwnedFile<>(AtomicFile.destination(path), writer, reader);
        } catch (IOException failed) {
            throw new IOException("cannot write " + path + ": " + AtomicFile.reason(failed), failed);
        }
    }

    /**
     * Looks whether a file can be written, so that this is known before a run and not only at its end.
     *
     * @param path the file
     * @throws FileSystemException when it is a folder, or its folder does not exist or cannot be written to; the reason
     *     says which
     */
    public static void requireWritable(Path path) throws FileSystemException {
        Path folder = path.toAbsolutePath().getParent();
        if (Files.isDirectory(path)) {
            throw new FileSystemException(path.toString(), null, "it is a folder");
        }
        if (folder == null || !Files.isDirectory(folder)) {
            boolean isOther = folder != null && Files.exists(folder);
            throw new FileSystemException(
                    path.toString(), null, "the folder " + folder + (isOther ? " is a file" : " does not exist"));
        }
        if (!Files.isWritable(folder) && !Files.isWritable(path)) {
            throw new FileSystemException(path.toString(), null, "the folder " + folder + " cannot be written to");
        }
    }

    /**
     * Writes the file. A second call replaces the file of the first one.
     *
     * @param value the value
     * @param isOwn whether this process has written a value
     * @return the process that has written the file
     * @throws IOException when it cannot be written; the message names the path and the reason
     */
    public Writer write(T value, Predicate<T> isOwn) throws IOException {
        if (Files.exists(path) && !Files.isRegularFile(path)) {
            // A pipe or a terminal has no earlier content.
            writer.write(value, path);
            return Writer.THIS;
        }
        Path temporary = path.resolveSibling(".brick-profile-" + UUID.randomUUID() + ".json");
        writer.write(value, temporary);
        try {
            publish(temporary);
            return Writer.THIS;
        } catch (FileAlreadyExistsException written) {
            if (isOwn(isOwn)) {
                return Writer.APPLICATION;
            }
            AtomicFile.replace(besidePath(), temporary);
            return Writer.OTHER_PROCESS;
        } catch (IOException failed) {
            throw new IOException("cannot write " + path + ": " + AtomicFile.reason(failed), failed);
        } finally {
            Files.deleteIfExists(temporary);
        }
    }

    /** Gives the file its name if no file has it; of two processes at the same time, one succeeds. */
    private void publish(Path temporary) throws IOException {
        if (isPublished) {
            AtomicFile.replace(path, temporary);
            return;
        }
        try {
            Files.createLink(path, temporary);
        } catch (FileAlreadyExistsException written) {
            throw written;
        } catch (UnsupportedOperationException | FileSystemException noLinks) {
            Files.move(temporary, path);
        }
        isPublished = true;
    }

    private boolean isOwn(Predicate<T> isOwn) {
        try {
            return isOwn.test(reader.read(path));
        } catch (IOException unreadable) {
            return false;
        }
    }

    /**
     * Returns the file of a process that found the file of another one.
     *
     * @return {@code NAME-PID.json} for {@code NAME.json}
     */
    public Path besidePath() {
        String name = String.valueOf(path.getFileName());
        String stem = name.endsWith(".json") ? name.substring(0, name.length() - ".json".length()) : name;
        return path.resolveSibling(stem + "-" + ProcessHandle.current().pid() + ".json");
    }
}
