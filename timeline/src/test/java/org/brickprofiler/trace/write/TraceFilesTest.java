package org.brickprofiler.trace.write;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class TraceFilesTest {

    private final FixedTimeline timeline = FixedTimeline.sample();

    @TempDir
    Path folder;

    private List<Path> files() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.toList();
        }
    }

    @Spec("13.7")
    @ParameterizedTest
    @ValueSource(strings = {"t.pftrace", "t.perfetto-trace", "T.PFTRACE"})
    void aPerfettoTraceByItsName(String name) throws IOException {
        TraceFiles.write(timeline, folder.resolve(name));

        assertThat(folder.resolve(name)).hasBinaryContent(PerfettoWriterTest.written(timeline));
        assertThat(files()).hasSize(1);
    }

    @Spec("13.7")
    @Test
    void aChromeTraceByItsName() throws IOException {
        TraceFiles.write(timeline, folder.resolve("t.json"));

        assertThat(folder.resolve("t.json")).hasContent(ChromeTrace.of(timeline).text);
    }

    @Spec("13.7")
    @Test
    void aZippedChromeTraceByItsName() throws IOException {
        TraceFiles.write(timeline, folder.resolve("t.json.gz"));
        byte[] once = Files.readAllBytes(folder.resolve("t.json.gz"));
        TraceFiles.write(timeline, folder.resolve("t.json.gz"));

        try (InputStream in = new GZIPInputStream(Files.newInputStream(folder.resolve("t.json.gz")))) {
            assertThat(new ChromeTrace(in.readAllBytes()).text).isEqualTo(ChromeTrace.of(timeline).text);
        }
        assertThat(folder.resolve("t.json.gz")).hasBinaryContent(once);
    }

    @Spec("13.7")
    @ParameterizedTest
    @ValueSource(strings = {"t", "t.txt", "t.gz", "pftrace", "t.pftrace.gz"})
    void anotherNameIsRefused(String name) throws IOException {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> TraceFiles.write(timeline, folder.resolve(name)))
                .withMessage(
                        "a trace is a file .pftrace, .perfetto-trace, .json or .json.gz, not " + folder.resolve(name));
        assertThat(files()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"t.pftrace", "t.json", "t.json.gz"})
    void aMissingFolderIsOneErrorAndTheNextTryWorks(String name) throws IOException {
        Path missing = folder.resolve("missing");
        assertThatIOException()
                .isThrownBy(() -> TraceFiles.write(timeline, missing.resolve(name)))
                .withMessage("cannot write %s: %s does not exist", missing.resolve(name), missing);

        Files.createDirectory(missing);
        TraceFiles.write(timeline, missing.resolve(name));

        assertThat(missing.resolve(name)).isNotEmptyFile();
    }

    /** No user can create a file there. */
    @Test
    @EnabledOnOs(OS.LINUX)
    void aFolderThatTakesNoFilesIsOneError() {
        assertThatIOException()
                .isThrownBy(() -> TraceFiles.write(timeline, Path.of("/proc/t.pftrace")))
                .withMessageStartingWith("cannot write /proc/t.pftrace: ");
    }

    /** A device without room is written to directly, through a link with the name of a trace. */
    @Spec("13.11")
    @ParameterizedTest
    @ValueSource(strings = {"t.pftrace", "t.json", "t.json.gz"})
    @EnabledOnOs(OS.LINUX)
    void aFullDiskIsOneErrorAndTheNextTryWorks(String name) throws IOException {
        Path full = Files.createSymbolicLink(folder.resolve(name), Path.of("/dev/full"));

        assertThatIOException()
                .isThrownBy(() -> TraceFiles.write(timeline, full))
                .withMessage("cannot write %s: No space left on device", full);

        Files.delete(full);
        TraceFiles.write(timeline, full);
        assertThat(files()).containsExactly(full);
    }

    @Test
    void aTimelineThatBreaksItsRulesLeavesTheOldFile() throws IOException {
        Path path = Files.writeString(folder.resolve("t.json"), "old");

        assertThatIllegalArgumentException()
                .isThrownBy(() -> TraceFiles.write(FixedTimeline.ofOneThread(Event.span(1, 2, 9)), path));

        assertThat(path).hasContent("old");
        assertThat(files()).containsExactly(path);
    }
}
