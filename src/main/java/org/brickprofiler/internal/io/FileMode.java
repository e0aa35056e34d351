package org.brickprofiler.internal.io;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The permissions of a file, which the file that replaces it gets, too. A new file has those that the umask of the
 * process leaves. On file systems without POSIX permissions, there is nothing to keep. Immutable; any thread.
 */
public final class FileMode {

    /** The mode of a file that does not replace another one. */
    public static final FileMode OF_NEW_FILE = new FileMode(null);

    private final @Nullable Set<PosixFilePermission> permissions;

    private FileMode(@Nullable Set<PosixFilePermission> permissions) {
        this.permissions = permissions;
    }

    /**
     * Returns the mode of a file.
     *
     * @param file any path
     * @return its mode; {@link #OF_NEW_FILE} if there is no such file
     * @throws IOException when its permissions cannot be read
     */
    public static FileMode of(Path file) throws IOException {
        PosixFileAttributeView view = Files.getFileAttributeView(file, PosixFileAttributeView.class);
        return view == null || !Files.exists(file)
                ? OF_NEW_FILE
                : new FileMode(view.readAttributes().permissions());
    }

    /**
     * Returns the attributes with which a file of this mode is created, so that nobody else can read it at any moment.
     * Its owner can write it in any case.
     *
     * @return the attributes, which the umask may restrict further
     */
    public FileAttribute<?>[] forCreation() {
        if (permissions == null) {
            return new FileAttribute<?>[0];
        }
        Set<PosixFilePermission> writable = EnumSet.of(PosixFilePermission.OWNER_WRITE);
        writable.addAll(permissions);
        return new FileAttribute<?>[] {PosixFilePermissions.asFileAttribute(writable)};
    }

    /**
     * Gives a file this mode, regardless of the umask.
     *
     * @param file the file
     * @throws IOException when that fails
     */
    public void applyTo(Path file) throws IOException {
        if (permissions != null) {
            Files.setPosixFilePermissions(file, permissions);
        }
    }

    /**
     * Returns the attributes with which a folder is created that only its owner can enter.
     *
     * @param folder a path in its file system
     * @return the attributes; none on file systems without POSIX permissions
     */
    public static FileAttribute<?>[] ofPrivateFolder(Path folder) {
        return folder.getFileSystem().supportedFileAttributeViews().contains("posix")
                ? new FileAttribute<?>[] {
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"))
                }
                : new FileAttribute<?>[0];
    }
}
