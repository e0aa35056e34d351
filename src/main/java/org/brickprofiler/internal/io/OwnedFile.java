package org.brickprofiler.internal.io;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Predicate;

/**
 * A file that a process writes once, at its end, although the application, another copy of the library or a child
 * process may write it, too. Child processes inherit the environment variable that names the file. The file belongs to
 * the first process that writes it. The profile of any other process goes to a file of its own beside it,
 * {@code NAME-PID.json}. One thread.
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
     * Writes values to files, each completely or not at all.
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
         * @throws IOException when the file cannot be written; the message names the path and the reason
         */
        void write(T value, Path path) throws IOException;
    }

    /**
     * Reads the values of files.
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
         * @throws IOException when the file cannot be read, or has another format
         */
        T read(Path path) throws IOException;
    }

    /** Creates hard links. */
    @FunctionalInterface
    interface Linker {
        Path link(Path link, Path existing) throws IOException;
    }

    private final Path path;
    private final ValueWriter<T> writer;
    private final ValueReader<T> reader;

    /** The mode of the file of an earlier run. */
    private final FileMode mode;

    private final Linker linker;

    /** Whether the file at the path is from an earlier call of {@link #write}. */
    private boolean isPublished;

    private OwnedFile(Path path, FileMode mode, ValueWriter<T> writer, ValueReader<T> reader, Linker linker) {
        this.path = path;
        this.linker = linker;
        this.mode = mode;
        this.writer = writer;
        this.reader = reader;
    }

    /**
     * Prepares the file when recording begins. Deletes an existing file, which is from an earlier run, so that it
     * cannot be mistaken for the profile of this run; the new file gets its permissions.
     *
     * @param <T> the type of the value that is written
     * @param path the file
     * @param writer writes the value
     * @param reader reads the values of the writer
     * @return the file
     * @throws IOException when the file cannot be written later, see {@link #requireWritable}, or when an existing file
     *     cannot be deleted; the message names the path and the reason
     */
    public static <T> OwnedFile<T> begin(Path path, ValueWriter<T> writer, ValueReader<T> reader) throws IOException {
        return begin(path, writer, reader, Files::createLink);
    }

    static <T> OwnedFile<T> begin(Path path, ValueWriter<T> writer, ValueReader<T> reader, Linker linker)
            throws IOException {
        try {
            requireWritable(path);
            Path file = AtomicFile.destination(path);
            FileMode mode = FileMode.of(file);
            if (Files.isRegularFile(file)) {
                Files.delete(file);
            }
            return new OwnedFile<>(file, mode, writer, reader, linker);
        } catch (IOException failed) {
            throw new IOException("cannot write " + path + ": " + AtomicFile.reason(failed), failed);
        }
    }

    /**
     * Checks whether a file can be written, so that a fault is reported before a run and not only at its end.
     *
     * @param path the file
     * @throws FileSystemException when the path is a folder, its folder does not exist, or neither the folder nor an
     *     existing file can be written to; the exception has the reason
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
     * @param isOwn returns whether this process has written a value
     * @return the process that has written the file
     * @throws IOException when it cannot be written; the message names the path and the reason
     */
    public Writer write(T value, Predicate<T> isOwn) throws IOException {
        if (Files.exists(path) && !Files.isRegularFile(path)) {
            // A pipe or a terminal has no earlier content.
            writer.write(value, path);
            return Writer.THIS;
        }
        Path temporary = TemporaryFiles.keep(TemporaryFiles.unused(path, ".json"));
        try {
            FileMode kept = Files.exists(path) ? FileMode.of(path) : mode;
            // The writer replaces this file and keeps its mode.
            kept.applyTo(Files.createFile(temporary, kept.forCreation()));
            writer.write(value, temporary);
            publish(temporary);
            return Writer.THIS;
        } catch (FileAlreadyExistsException written) {
            if (isOwn(isOwn)) {
                return Writer.APPLICATION;
            }
            AtomicFile.replace(besidePath(), temporary);
            return Writer.OTHER_PROCESS;
        } catch (IOException failed) {
            IOException cause = failed.getCause() instanceof IOException inner ? inner : failed;
            throw new IOException("cannot write " + path + ": " + AtomicFile.reason(cause), failed);
        } finally {
            Files.deleteIfExists(temporary);
            TemporaryFiles.release(temporary);
        }
    }

    /**
     * Gives the temporary file its final name if no file has that name. If two processes try at the same time, a hard
     * link lets only one succeed. On a file system without hard links, the process that creates an empty file of that
     * name succeeds, and replaces it.
     */
    private void publish(Path temporary) throws IOException {
        if (isPublished) {
            AtomicFile.replace(path, temporary);
            return;
        }
        try {
            Path unused = linker.link(path, temporary);
        } catch (FileAlreadyExistsException written) {
            throw written;
        } catch (UnsupportedOperationException | FileSystemException noLinks) {
            Files.createFile(path);
            AtomicFile.replace(path, temporary);
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
     * Returns the path to which this process writes if another process has written the file.
     *
     * @return {@code NAME-PID.json} for {@code NAME.json}
     */
    public Path besidePath() {
        String name = String.valueOf(path.getFileName());
        String stem = name.endsWith(".json") ? name.substring(0, name.length() - ".json".length()) : name;
        return path.resolveSibling(stem + "-" + ProcessHandle.current().pid() + ".json");
    }
}
