package org.brickprofiler.internal.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.stream.Stream;
import org.brickprofiler.testing.ChildProcess;
import org.brickprofiler.testing.ProcessResult;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Spec("8.3")
final class AtomicFileTest {

    @TempDir
    Path folder;

    private static AtomicFile.Content text(String text) {
        return out -> out.write(text.getBytes(StandardCharsets.UTF_8));
    }

    private List<Path> files() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.toList();
        }
    }

    @Test
    void aNewFileHasTheContent() throws IOException {
        AtomicFile.write(folder.resolve("new"), text("content"));

        assertThat(folder.resolve("new")).hasContent("content");
        assertThat(files()).hasSize(1);
    }

    @Test
    void anOldFileIsReplaced() throws IOException {
        Path path = Files.writeString(folder.resolve("old"), "much longer than the new content");

        AtomicFile.write(path, text("new"));

        assertThat(path).hasContent("new");
        assertThat(files()).containsExactly(path);
    }

    @Test
    void theOldFileIsThereUntilTheNewOneIsWhole() throws IOException {
        Path path = Files.writeString(folder.resolve("old"), "old");

        AtomicFile.write(path, out -> {
            out.write('n');
            out.flush();
            assertThat(path).hasContent("old");
        });

        assertThat(path).hasContent("n");
    }

    @Test
    void aFailureHalfWayLeavesTheOldFileAndNothingElse() throws IOException {
        Path path = Files.writeString(folder.resolve("old"), "old");

        assertThatIOException()
                .isThrownBy(() -> AtomicFile.write(path, out -> {
                    out.write(new byte[3 << 20]);
                    throw new IOException("No space left on device");
                }))
                .withMessage("cannot write " + path + ": No space left on device");

        assertThat(path).hasContent("old");
        assertThat(files()).containsExactly(path);
    }

    @Test
    void aFaultInTheContentLeavesNothingEither() throws IOException {
        assertThatIllegalStateException()
                .isThrownBy(() -> AtomicFile.write(folder.resolve("new"), out -> {
                    out.write('n');
                    throw new IllegalStateException("fault");
                }));

        assertThat(files()).isEmpty();
    }

    @Test
    void aMissingFolderIsNamed() {
        Path path = folder.resolve("missing").resolve("new");

        assertThatIOException()
                .isThrownBy(() -> AtomicFile.write(path, text("content")))
                .withMessage("cannot write " + path + ": " + folder.resolve("missing") + " does not exist");
    }

    @Test
    void aFolderThatIsAFileIsNamed() throws IOException {
        Path file = Files.writeString(folder.resolve("file"), "old");

        assertThatIOException()
                .isThrownBy(() -> AtomicFile.write(file.resolve("new"), text("content")))
                .withMessage("cannot write " + file.resolve("new") + ": " + file + " is not a folder");
        assertThat(file).hasContent("old");
    }

    @Test
    void aFolderIsNotReplaced() {
        assertThatIOException()
                .isThrownBy(() -> AtomicFile.write(folder, text("content")))
                .withMessage("cannot write " + folder + ": it is a folder");
        assertThat(folder).isEmptyDirectory();
    }

    @Test
    void aLinkStaysAndItsFileIsReplaced() throws IOException {
        Path file = Files.writeString(folder.resolve("file"), "old");
        Path link = Files.createSymbolicLink(folder.resolve("link"), file);

        AtomicFile.write(link, text("new"));

        assertThat(link).isSymbolicLink();
        assertThat(file).hasContent("new");
    }

    @Test
    void aLinkThatLeadsToNoFileIsRefusedAndStays() throws IOException {
        Path nowhere = Files.createSymbolicLink(folder.resolve("nowhere"), Path.of("missing"));
        Path circle = Files.createSymbolicLink(folder.resolve("circle"), Path.of("circle"));

        for (Path link : List.of(nowhere, circle)) {
            assertThatIOException()
                    .isThrownBy(() -> AtomicFile.write(link, text("new")))
                    .withMessage("cannot write " + link + ": it is a link to " + Files.readSymbolicLink(link)
                            + ", which leads to no file; create that file, or remove the link");
            assertThat(link).isSymbolicLink();
        }
        assertThat(files()).containsExactlyInAnyOrder(nowhere, circle);
    }

    @Test
    void aFileBehindSeveralLinksIsReplaced() throws IOException {
        Path file =
                Files.writeString(Files.createDirectory(folder.resolve("other")).resolve("file"), "old");
        Path second = Files.createSymbolicLink(folder.resolve("second"), file);
        Path link = Files.createSymbolicLink(folder.resolve("link"), Path.of("second"));

        AtomicFile.write(link, text("new"));

        assertThat(link).isSymbolicLink();
        assertThat(second).isSymbolicLink();
        assertThat(file).hasContent("new");
    }

    @ParameterizedTest
    @ValueSource(strings = {"rw-------", "rw-rw-rw-", "r--------", "rwxr-x---"})
    void aReplacedFileKeepsItsPermissions(String permissions) throws IOException {
        Path path = Files.writeString(folder.resolve("old"), "old");
        Files.setPosixFilePermissions(path, PosixFilePermissions.fromString(permissions));

        AtomicFile.write(path, out -> {
            out.write('n');
            assertThat(files()).allSatisfy(file -> assertThat(othersCan(file)).isEqualTo(othersCan(path)));
        });

        assertThat(path).hasContent("n");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(path)))
                .isEqualTo(permissions);
    }

    private static boolean othersCan(Path file) throws IOException {
        return Files.getPosixFilePermissions(file).contains(PosixFilePermission.OTHERS_READ);
    }

    @Test
    void aNewFileHasThePermissionsOfAnyNewFile() throws IOException {
        Path other = Files.writeString(folder.resolve("other"), "");

        AtomicFile.write(folder.resolve("new"), text("content"));

        assertThat(Files.getPosixFilePermissions(folder.resolve("new")))
                .isEqualTo(Files.getPosixFilePermissions(other));
    }

    /** Writes a file, and ends the virtual machine in the middle. */
    static final class EndsInTheMiddle {
        private EndsInTheMiddle() {}

        public static void main(String[] args) throws IOException {
            AtomicFile.write(Path.of(args[0]), out -> {
                out.write(new byte[1 << 20]);
                System.exit(3);
            });
        }
    }

    @Test
    void aProcessThatEndsInTheMiddleLeavesNoTemporaryFile() throws Exception {
        Path path = Files.writeString(folder.resolve("old"), "old");

        ProcessResult result = ChildProcess.java(EndsInTheMiddle.class)
                .arguments(List.of(path.toString()))
                .run();

        assertThat(result.exitCode()).isEqualTo(3);
        assertThat(path).hasContent("old");
        assertThat(files()).containsExactly(path);
    }

    @Test
    void writesAtTheSameTimeDoNotDisturbEachOther() throws IOException {
        AtomicFile.write(folder.resolve("one"), out -> {
            out.write('1');
            AtomicFile.write(folder.resolve("two"), text("2"));
        });

        assertThat(folder.resolve("one")).hasContent("1");
        assertThat(folder.resolve("two")).hasContent("2");
        assertThat(files()).hasSize(2);
    }

    @Test
    void aDeviceIsWrittenToAndNotReplaced() throws IOException {
        Path device = Path.of("/dev/null");
        assumeThat(device).exists();

        AtomicFile.write(device, text("content"));

        assertThat(Files.isRegularFile(device)).isFalse();
    }

    @Test
    void aFullDiskIsNamed() {
        Path full = Path.of("/dev/full");
        assumeThat(full).exists();

        assertThatIOException()
                .isThrownBy(() -> AtomicFile.write(full, text("content")))
                .withMessage("cannot write /dev/full: No space left on device");
        assertThat(Files.isRegularFile(full)).isFalse();
    }

    @Test
    void anInterruptedThreadStillWrites() throws IOException {
        Thread.currentThread().interrupt();
        try {
            AtomicFile.write(folder.resolve("new"), text("content"));
        } finally {
            assertThat(Thread.interrupted()).isTrue();
        }
        assertThat(folder.resolve("new")).hasContent("content");
    }

    @Test
    void reasonsAreInWords() {
        assertThat(AtomicFile.reason(new NoSuchFileException("x"))).isEqualTo("it does not exist");
        assertThat(AtomicFile.reason(new AccessDeniedException("x"))).isEqualTo("permission denied");
        assertThat(AtomicFile.reason(new FileSystemException("x", null, "Read-only file system")))
                .isEqualTo("Read-only file system");
        assertThat(AtomicFile.reason(new IOException("No space left on device")))
                .isEqualTo("No space left on device");
        assertThat(AtomicFile.reason(new IOException((String) null))).isEqualTo("IOException");
    }
}
