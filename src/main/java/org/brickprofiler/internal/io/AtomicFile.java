package org.brickprofiler.internal.io;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;

/**
 * Writes files completely or not at all. The content is written to a temporary file in the same folder, is forced to
 * the disk, and then replaces the old file in one step. Stateless; any thread; of two writers to the same path, the
 * last one wins.
 */
public final class AtomicFile {

    /** DSYNC: a rename that survives a crash must not leave an empty file behind it. */
    private static final OpenOption[] FORCED = {StandardOpenOption.WRITE, StandardOpenOption.DSYNC};

    /**
     * Large, because each full buffer waits for the disk. Below 512 KiB, because G1 needs adjacent free regions for a
     * larger array, which a full heap rarely has.
     */
    private static final int BUFFER_BYTES = 256 << 10;

    private AtomicFile() {}

    /** Writes the content of a file. */
    @FunctionalInterface
    public interface Content {
        /**
         * Writes the complete content.
         *
         * @param out the stream to write to; the caller closes it
         * @throws IOException when the content cannot be written
         */
        void writeTo(OutputStream out) throws IOException;
    }

    /**
     * Writes a file. A symbolic link stays, and its target is replaced. The new file has the permissions of the old
     * one. A pipe, a terminal or another path that is no regular file cannot be replaced, and is written to directly.
     *
     * @param path the path
     * @param content the content
     * @throws IOException when writing fails, or when the path is a link without a target; the message names the path
     *     and the reason, the old file is unchanged, and the temporary file is deleted
     */
    public static void write(Path path, Content content) throws IOException {
        try {
            if (Files.isDirectory(path)) {
                throw new FileSystemException(path.toString(), null, "it is a folder");
            } else if (Files.exists(path) && !Files.isRegularFile(path)) {
                writeDirectly(path, content);
            } else {
                writeAndRename(destination(path), content);
            }
        } catch (IOException failed) {
            throw new IOException("cannot write " + path + ": " + reason(failed), failed);
        }
    }

    /**
     * Returns the path of the file to write: the given path, or the target of a symbolic link there.
     *
     * @param path any path
     * @return the real path of an existing file; otherwise the path itself
     * @throws IOException when the path is a link that leads to no file, such as one of several in a circle
     */
    public static Path destination(Path path) throws IOException {
        if (Files.exists(path)) {
            return path.toRealPath();
        }
        if (Files.isSymbolicLink(path)) {
            throw new FileSystemException(
                    path.toString(),
                    null,
                    "it is a link to " + Files.readSymbolicLink(path) + ", which leads to no file; create that file, or"
                            + " remove the link");
        }
        return path;
    }

    private static void writeAndRename(Path path, Content content) throws IOException {
        Path folder = path.toAbsolutePath().getParent();
        if (folder == null || !Files.isDirectory(folder)) {
            boolean other = folder != null && Files.exists(folder);
            throw new FileSystemException(
                    path.toString(), null, folder + (other ? " is not a folder" : " does not exist"));
        }
        FileMode mode = FileMode.of(path);
        Path temporary = TemporaryFiles.keep(TemporaryFiles.unused(path.toAbsolutePath(), ".tmp"));
        try {
            write(Files.createFile(temporary, mode.forCreation()), content, FORCED);
            mode.applyTo(temporary);
            replace(path, temporary);
        } catch (IOException | RuntimeException | Error failed) {
            deleteAfter(failed, temporary);
            throw failed;
        } finally {
            TemporaryFiles.release(temporary);
        }
    }

    /**
     * Replaces a file by another one of the same folder, in one step. A move without {@code ATOMIC_MOVE} deletes the
     * old file first: a reader may find no file, and none is left if the process ends in between.
     *
     * @param old the file; it need not exist
     * @param complete the file that takes its place
     * @throws IOException when the move fails
     */
    public static void replace(Path old, Path complete) throws IOException {
        Files.move(complete, old, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    private static void writeDirectly(Path path, Content content) throws IOException {
        write(path, content, StandardOpenOption.WRITE);
    }

    private static void write(Path path, Content content, OpenOption... options) throws IOException {
        try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(path, options), BUFFER_BYTES)) {
            content.writeTo(out);
        }
    }

    private static void deleteAfter(Throwable failed, Path temporary) {
        try {
            Files.deleteIfExists(temporary);
        } catch (IOException alsoFailed) {
            failed.addSuppressed(alsoFailed);
        }
    }

    /**
     * Returns the reason why a file could not be read or written. The messages of {@code java.nio.file} are often only
     * the path.
     *
     * @param failed the exception
     * @return the reason in words
     */
    public static String reason(IOException failed) {
        if (failed instanceof NoSuchFileException) {
            return "it does not exist";
        }
        if (failed instanceof AccessDeniedException) {
            return "permission denied";
        }
        String reason = failed instanceof FileSystemException named ? named.getReason() : failed.getMessage();
        return reason == null ? failed.getClass().getSimpleName() : reason;
    }
}
