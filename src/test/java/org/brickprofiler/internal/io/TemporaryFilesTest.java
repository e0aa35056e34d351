package org.brickprofiler.internal.io;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.brickprofiler.testing.ChildProcess;
import org.brickprofiler.testing.ProcessResult;
import org.brickprofiler.testing.RunningProcess;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(100)
class TemporaryFilesTest {

    @TempDir
    Path folder;

    @Test
    void deletesAFileAndAFolder() throws IOException {
        Path file = TemporaryFiles.file("brick-test-", ".tmp");
        Path inside = TemporaryFiles.folder("brick-test-");
        Files.writeString(Files.createDirectory(inside.resolve("a")).resolve("b"), "text");

        TemporaryFiles.delete(file);
        TemporaryFiles.delete(inside);
        TemporaryFiles.delete(inside);

        assertThat(file).doesNotExist();
        assertThat(inside).doesNotExist();
    }

    /** A process that is terminated while it has temporary files, and while it writes one file in place of another. */
    @Test
    void sigtermLeavesNoTemporaryFiles() throws Exception {
        Path out = Files.createDirectory(folder.resolve("out"));
        Path temporary = Files.createDirectory(folder.resolve("tmp"));
        Files.writeString(out.resolve("result"), "old");
        ProcessResult result;
        try (RunningProcess process = ChildProcess.java(Interrupted.class)
                .jvmOptions(List.of("-Djava.io.tmpdir=" + temporary))
                .arguments(List.of(out.resolve("result").toString()))
                .start()) {
            while (!process.printed().contains("ready")) {
                LockSupport.parkNanos(1_000_000);
            }
            assertThat(temporary).isNotEmptyDirectory();
            process.terminate();
            result = process.result();
        }

        assertThat(result.exitCode()).isEqualTo(128 + 15);
        assertThat(temporary).isEmptyDirectory();
        assertThat(out).isDirectoryContaining("glob:**/at-end").isDirectoryContaining("glob:**/result");
        try (Stream<Path> left = Files.list(out)) {
            assertThat(left).hasSize(2);
        }
        assertThat(out.resolve("result")).hasContent("old");
        assertThat(out.resolve("at-end")).hasContent("complete");
    }

    /** Never completes a file, and completes another one in a shutdown hook. */
    static final class Interrupted {
        public static void main(String[] arguments) throws IOException {
            Path result = Path.of(arguments[0]);
            Files.writeString(TemporaryFiles.file("brick-test-", ".tmp"), "text");
            Path inside = TemporaryFiles.folder("brick-test-");
            Files.writeString(Files.createDirectory(inside.resolve("a")).resolve("b"), "text");
            Runtime.getRuntime().addShutdownHook(new Thread(() -> {
                try {
                    AtomicFile.write(result.resolveSibling("at-end"), out -> out.write("complete".getBytes(UTF_8)));
                } catch (IOException failed) {
                    throw new IllegalStateException(failed);
                }
            }));
            AtomicFile.write(result, Interrupted::writeWithoutEnd);
        }

        private static void writeWithoutEnd(OutputStream out) throws IOException {
            out.write(new byte[1 << 20]);
            System.out.println("ready");
            while (true) {
                LockSupport.park();
            }
        }
    }

    @Test
    void theMessageNamesTheFolderAndTheSetting() {
        assertThatThrownBy(() -> {
                    throw TemporaryFiles.cannotWrite(new IOException("No space left on device"));
                })
                .hasMessage("cannot write a temporary file in the folder " + System.getProperty("java.io.tmpdir")
                        + ": No space left on device; set another with -Djava.io.tmpdir=FOLDER");
    }
}
