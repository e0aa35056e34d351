package org.brickprofiler.internal.io;

import java.io.Closeable;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/**
 * An exclusive lock on a folder, among all processes and among all copies of the library in this process. POSIX
 * releases the locks of a process on a file when the process closes any of its descriptors of that file, so a second
 * copy must not even open the file of a lock that the first one holds. Therefore a system property, which all copies
 * share, names each locked folder. Any thread.
 */
public final class FolderLock implements Closeable {

    /** The name of the locked file, in the folder. */
    public static final String FILE = ".lock";

    private static final String PROPERTY = "org.brickprofiler.locked:";

    /** Never closed, since that would release a lock that this process holds by another channel. */
    private static final List<FileChannel> KEPT_OPEN = new CopyOnWriteArrayList<>();

    private final String key;
    private final @Nullable FileChannel channel;
    private final Optional<IOException> failure;

    private FolderLock(String key, @Nullable FileChannel channel, Optional<IOException> failure) {
        this.key = key;
        this.channel = channel;
        this.failure = failure;
    }

    /**
     * Locks a folder until the lock is closed or the process ends.
     *
     * @param folder the folder, which exists
     * @return the lock; empty if the folder is locked already
     * @throws IOException when the folder does not exist
     */
    public static Optional<FolderLock> take(Path folder) throws IOException {
        String key = PROPERTY + folder.toRealPath();
        if (System.getProperties().putIfAbsent(key, "") != null) {
            return Optional.empty();
        }
        Optional<FolderLock> taken = Optional.empty();
        try {
            taken = locked(folder.resolve(FILE), key);
        } finally {
            if (taken.isEmpty()) {
                System.getProperties().remove(key);
            }
        }
        return taken;
    }

    private static Optional<FolderLock> locked(Path file, String key) {
        FileChannel channel;
        try {
            channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        } catch (IOException failed) {
            return Optional.of(new FolderLock(key, null, Optional.of(failed)));
        }
        try {
            @Nullable FileLock held = channel.tryLock();
            if (held != null) {
                return Optional.of(new FolderLock(key, channel, Optional.empty()));
            }
            close(channel);
            return Optional.empty();
        } catch (OverlappingFileLockException withoutTheProperty) {
            // The application has replaced the system properties, so the property that names the folder is gone.
            KEPT_OPEN.add(channel);
            return Optional.empty();
        } catch (IOException failed) {
            return Optional.of(new FolderLock(key, channel, Optional.of(failed)));
        }
    }

    private static void close(FileChannel withoutLock) {
        try {
            withoutLock.close();
        } catch (IOException failed) {
            // Another process holds the lock all the same.
        }
    }

    /**
     * Returns the reason why other processes do not see the lock, as on a file system without locks.
     *
     * @return the reason; empty if other processes see the lock
     */
    public Optional<IOException> failure() {
        return failure;
    }

    /**
     * Releases the folder.
     *
     * @throws IOException when the file cannot be closed: the folder stays locked until the process ends
     */
    @Override
    public void close() throws IOException {
        if (channel != null) {
            channel.close();
        }
        System.getProperties().remove(key);
    }
}
