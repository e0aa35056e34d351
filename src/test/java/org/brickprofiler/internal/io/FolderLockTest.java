package org.brickprofiler.internal.io;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Properties;
import org.brickprofiler.testing.ChildProcess;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class FolderLockTest {

    @TempDir
    private Path folder;

    /** Another process, which says whether it gets the lock. */
    static final class Other {
        private Other() {}

        public static void main(String[] arguments) throws IOException {
            try (FileChannel file = FileChannel.open(Path.of(arguments[0], FolderLock.FILE), StandardOpenOption.WRITE);
                    FileLock lock = file.tryLock()) {
                System.out.print(lock == null ? "locked" : "free");
            }
        }
    }

    private String forAnother() throws IOException {
        return ChildProcess.java(Other.class)
                .arguments(List.of(folder.toString()))
                .run()
                .assertSucceeded()
                .out();
    }

    @Test
    void aFolderHasOneUserUnderEachOfItsNames() throws IOException {
        Path link = Files.createSymbolicLink(folder.resolveSibling(folder.getFileName() + "-link"), folder);
        try (FolderLock held = FolderLock.take(folder).orElseThrow()) {
            assertThat(held.failure()).isEmpty();
            assertThat(FolderLock.take(folder)).isEmpty();
            assertThat(FolderLock.take(link)).isEmpty();
            assertThat(FolderLock.take(folder.resolve("..").resolve(folder.getFileName())))
                    .isEmpty();
            assertThat(forAnother()).isEqualTo("locked");
        } finally {
            Files.delete(link);
        }
        assertThat(forAnother()).isEqualTo("free");
        FolderLock.take(folder).orElseThrow().close();
    }

    /** An application may replace the properties of the system. */
    @Test
    void theLockHoldsWithoutTheProperty() throws IOException {
        Properties properties = System.getProperties();
        try (FolderLock held = FolderLock.take(folder).orElseThrow()) {
            System.setProperties((Properties) properties.clone());
            System.getProperties().keySet().removeIf(key -> key.toString().startsWith("org.brickprofiler.locked:"));
            assertThat(FolderLock.take(folder)).isEmpty();
            assertThat(held.failure()).isEmpty();
            assertThat(forAnother()).isEqualTo("locked");
        } finally {
            System.setProperties(properties);
        }
    }

    @Test
    void aFolderWhoseFileCannotBeLockedHasOneUserInThisProcess() throws IOException {
        Files.createDirectory(folder.resolve(FolderLock.FILE));
        try (FolderLock held = FolderLock.take(folder).orElseThrow()) {
            assertThat(held.failure()).isPresent();
            assertThat(FolderLock.take(folder)).isEmpty();
        }
        FolderLock.take(folder).orElseThrow().close();
    }
}
