package org.brickprofiler.internal.io;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
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

    private final Path path;
    private final FileFormat<T> format;

    private OwnedFile(Path path, FileFormat<T> format) {
        this.path = path;
        this.format = format;
    }

    /**
     * Prepares the file when recording begins: a file that is there is of an earlier run, and is deleted, so that
     * nobody takes it for the profile of this one.
     *
     * @param <T> the type of the value that is written
     * @param path the file
     * @param format how it is written
     * @return the file
     * @throws IOException when it cannot be written later, because the folder does not exist or cannot be written to;
     *     the message names the path and the reason
     */
    public static <T> OwnedFile<T> begin(Path path, FileFormat<T> format) throws IOException {
        try {
            requireWritable(path);
            if (Files.isRegularFile(path)) {
                Files.delete(path.toRealPath());
            }
            return new OwnedFile<>(AtomicFile.destination(path), format);
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
     * Writes the file.
     *
     * @param value what to write
     * @param isOwn whether this process has written a value
     * @return which process has written the file
     * @throws IOException when it cannot be written; the message names the path and the reason
     */
    public Writer write(T value, Predicate<T> isOwn) throws IOException {
        if (Files.exists(path) && !Files.isRegularFile(path)) {
            // A pipe or a terminal has no earlier content.
            format.writeFull(value, path);
            return Writer.THIS;
        }
        Path temporary = path.resolveSibling(".brick-profile-" + UUID.randomUUID() + ".json");
        format.writeFull(value, temporary);
        try {
            publish(temporary);
            return Writer.THIS;
        } catch (FileAlreadyExistsException written) {
            if (isOwn(isOwn)) {
                return Writer.APPLICATION;
            }
            Files.move(temporary, besidePath(), StandardCopyOption.REPLACE_EXISTING);
            return Writer.OTHER_PROCESS;
        } catch (IOException failed) {
            throw new IOException("cannot write " + path + ": " + AtomicFile.reason(failed), failed);
        } finally {
            Files.deleteIfExists(temporary);
        }
    }

    /** Gives the file its name if no file has it; of two processes at the same time, one succeeds. */
    private void publish(Path temporary) throws IOException {
        try {
            Files.createLink(path, temporary);
        } catch (FileAlreadyExistsException written) {
            throw written;
        } catch (UnsupportedOperationException | FileSystemException noLinks) {
            Files.move(temporary, path);
        }
    }

    private boolean isOwn(Predicate<T> isOwn) {
        try {
            return isOwn.test(format.read(path));
        } catch (IOException unreadable) {
            return false;
        }
    }

    /**
     * The file of a process that found the file of another one.
     *
     * @return {@code NAME-PID.json} for {@code NAME.json}
     */
    public Path besidePath() {
        String name = String.valueOf(path.getFileName());
        String stem = name.endsWith(".json") ? name.substring(0, name.length() - ".json".length()) : name;
        return path.resolveSibling(stem + "-" + ProcessHandle.current().pid() + ".json");
    }
}
