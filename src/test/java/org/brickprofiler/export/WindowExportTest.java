package org.brickprofiler.export;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.data.Percentage.withPercentage;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.BrickStats;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.RunIdentity;
import org.brickprofiler.StepInfo;
import org.brickprofiler.Work;
import org.brickprofiler.internal.io.ExportLoss;
import org.brickprofiler.report.JsonReport;
import org.brickprofiler.request.Outcome;
import org.brickprofiler.request.RequestStats;
import org.brickprofiler.testing.ChildProcess;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class WindowExportTest {

    private static final WindowExport.Every BY_STEPS = WindowExport.Every.steps(10);

    @TempDir
    private Path folder;

    private final BrickProfiler profiler = BrickProfiler.builder()
            .percentiles(true)
            .identity(RunIdentity.builder().runId("r/1").rank(3).worldSize(8).build())
            .build();

    WindowExportTest() {
        profiler.enable();
    }

    private void step(long ns) {
        profiler.beginStep(StepInfo.decode(1));
        profiler.record(BrickId.RMS_NORM, ns, 2);
        profiler.endPass();
    }

    private WindowFiles files(WindowFiles.Format format, long maxBytes) {
        return new WindowFiles(folder, format, "10 steps", true, maxBytes);
    }

    /** Returns an export whose windows end only when the test writes them. */
    private WindowExport export(long maxBytes) {
        return new WindowExport(profiler, BY_STEPS, files(WindowExport::writeJson, maxBytes));
    }

    private List<Path> written() throws IOException {
        try (Stream<Path> all = Files.walk(folder)) {
            return all.filter(file -> file.toString().endsWith(".json"))
                    .sorted()
                    .toList();
        }
    }

    private static ProfileSnapshot read(Path file) {
        try {
            return JsonReport.read(file);
        } catch (IOException e) {
            throw new AssertionError(file.toString(), e);
        }
    }

    @Test
    @Spec("23.6")
    void allWindowsTogetherAreTheWhole() throws Exception {
        WindowExport export = export(Long.MAX_VALUE);
        for (int i = 0; i < 40; i++) {
            step(100_000 + 1_000 * ((i * 7) % 40));
            profiler.record("brick " + i % 5, 50 + i, 1);
            profiler.tiles().enable();
            profiler.recordWork(BrickId.RMS_NORM, new Work(10, 20, 30));
            if (i % 10 == 9) {
                export.writeWindow(0);
            }
        }
        ProfileSnapshot whole = profiler.snapshot();

        List<ProfileSnapshot> windows =
                written().stream().map(WindowExportTest::read).toList();
        assertThat(windows).hasSize(4);
        assertThat(windows)
                .extracting(each -> each.identity().describe())
                .allMatch(text -> text.startsWith("run r/1, rank 3 of 8"));
        assertThat(windows)
                .extracting(each -> each.identity().firstStep().orElseThrow())
                .containsExactly(0L, 10L, 20L, 30L);
        assertThat(windows)
                .extracting(each -> each.identity().lastStep().orElseThrow())
                .containsExactly(9L, 19L, 29L, 39L);
        assertThat(windows)
                .extracting(each -> each.identity().window().orElseThrow())
                .containsExactly(0L, 1L, 2L, 3L);
        assertThat(windows).extracting(ProfileSnapshot::samples).containsExactly(20L, 20L, 20L, 20L);
        ProfileSnapshot merged = windows.stream().reduce(ProfileSnapshot::merge).orElseThrow();
        assertThat(merged.bricks()).isEqualTo(whole.bricks());
        assertThat(merged.steps()).isEqualTo(whole.steps());
        assertThat(merged.startedAt()).isEqualTo(whole.startedAt());
        assertThat(merged.wallNs()).isLessThanOrEqualTo(whole.wallNs()).isPositive();
        for (int i = 1; i < windows.size(); i++) {
            assertThat(windows.get(i).startedAt()).isEqualTo(windows.get(i - 1).endedAt());
        }
    }

    /**
     * Nothing is written while a service is idle, but the next window includes the time, even if the application resets
     * meanwhile.
     */
    @Test
    @Spec("23.6")
    void theTimeOfWindowsWithoutSamplesIsPartOfTheNext() throws Exception {
        WindowExport export = export(Long.MAX_VALUE);
        step(100);
        export.writeWindow(0);
        export.writeWindow(0);
        step(100);
        export.writeWindow(0);
        profiler.snapshotAndReset();
        export.writeWindow(0);
        profiler.snapshotAndReset();
        profiler.snapshotAndReset();
        ProfileSnapshot before = profiler.snapshot();
        step(100);
        export.writeWindow(0);

        List<ProfileSnapshot> windows =
                written().stream().map(WindowExportTest::read).toList();
        assertThat(windows).extracting(ProfileSnapshot::samples).containsExactly(1L, 1L, 1L);
        for (int i = 1; i < windows.size(); i++) {
            assertThat(windows.get(i).startedAt()).isEqualTo(windows.get(i - 1).endedAt());
        }
        assertThat(windows.get(2).wallNs()).isGreaterThan(before.wallNs());
        assertThat(windows.get(2).identity().firstStep())
                .isEqualTo(windows.get(2).identity().lastStep())
                .isNotEmpty();
    }

    @Test
    @Spec("23.7")
    void extremesOfAWindowAreItsOwn() throws Exception {
        WindowExport export = export(Long.MAX_VALUE);
        step(5_000_000);
        step(10);
        export.writeWindow(0);
        step(1_000_000);
        step(2_000_000);
        step(1_500_000);
        export.writeWindow(0);

        BrickStats second = read(written().get(1)).brick("RmsNorm").orElseThrow();
        assertThat(second.minNs()).isCloseTo(1_000_000L, withPercentage(100 / 128.0));
        assertThat(second.maxNs()).isCloseTo(2_000_000L, withPercentage(100 / 128.0));
        assertThat(second.lastNs()).isEqualTo(1_500_000);
        assertThat(second.totalNs()).isEqualTo(4_500_000);
    }

    @Test
    @Spec("23.8")
    void resetsOfTheApplicationLoseAndRepeatNothing() throws Exception {
        WindowExport export = export(Long.MAX_VALUE);
        step(100);
        export.writeWindow(0);
        step(200);
        assertThat(profiler.snapshotAndReset().samples()).isEqualTo(2);
        step(400);
        export.writeWindow(0);
        step(800);
        profiler.reset();
        step(1_600);
        export.writeWindow(0);

        assertThat(written().stream().map(file -> read(file).totalNs())).containsExactly(100L, 600L, 1_600L);
        assertThat(profiler.snapshot().totalNs()).isEqualTo(1_600);
    }

    @Test
    @Spec("23.9")
    void theOldestWindowsAreDeletedAndCounted() throws Exception {
        WindowExport export = export(1);
        for (int i = 0; i < 3; i++) {
            step(100);
            export.writeWindow(0);
        }

        assertThat(written())
                .singleElement()
                .asString()
                .endsWith("rank-00003/window-000002.json".replace('/', File.separatorChar));
        assertThat(Files.readString(written().get(0)))
                .contains("\"windows_deleted\":1")
                .contains("\"every\":\"10 steps\"");
        assertThat(export.deleted()).isEqualTo(2);
        assertThat(export.written()).isEqualTo(3);
    }

    @Test
    @Spec("23.9")
    void aWindowThatCannotBeWrittenIsCountedAndPartOfTheNext() throws Exception {
        boolean[] full = {true};
        WindowExport export = exportToADisk(full);
        step(100);
        export.writeWindow(0);
        step(200);
        profiler.snapshotAndReset();
        export.writeWindow(0);
        full[0] = false;
        step(400);
        export.writeWindow(0);

        assertThat(export.failed()).isEqualTo(2);
        ProfileSnapshot only = read(written().get(0));
        assertThat(written()).hasSize(1);
        assertThat(only.totalNs()).isEqualTo(700);
        assertThat(only.identity().describe()).contains("steps 0 to 2");
        assertThat(Files.readString(written().get(0))).contains("\"windows_failed\":2");
    }

    /** Returns an export that writes unless the disk is full. */
    private WindowExport exportToADisk(boolean[] full) {
        return new WindowExport(profiler, BY_STEPS, filesOnADisk(full));
    }

    private WindowFiles filesOnADisk(boolean[] full) {
        return files(
                (window, further, path) -> {
                    if (full[0]) {
                        throw new IOException("no space left");
                    }
                    WindowExport.writeJson(window, further, path);
                },
                Long.MAX_VALUE);
    }

    private Path rankFolder() {
        return folder.resolve("r_1").resolve("rank-00003");
    }

    private ExportLoss loss() throws IOException {
        return ExportLoss.read(rankFolder()).orElseThrow();
    }

    @Test
    @Spec("23.12")
    void theLastWindowsThatCannotBeWrittenAreInARecordWhoseSpaceWasReserved() throws Exception {
        boolean[] full = {false};
        WindowExport export = exportToADisk(full);
        step(100);
        export.writeWindow(0);
        Path record = rankFolder().resolve(ExportLoss.FILE);
        assertThat(loss()).isEqualTo(ExportLoss.none("r/1", OptionalInt.of(3)));
        Object file = Files.readAttributes(record, BasicFileAttributes.class).fileKey();
        long size = Files.size(record);

        full[0] = true;
        step(200);
        export.writeWindow(0);
        step(400);
        export.writeWindow(0);

        assertThat(loss()).isEqualTo(new ExportLoss("r/1", OptionalInt.of(3), 2, 2, 600, "no space left"));
        assertThat(Files.readAttributes(record, BasicFileAttributes.class).fileKey())
                .as("written in place")
                .isEqualTo(file);
        assertThat(Files.size(record)).isEqualTo(size).isEqualTo(4096);

        full[0] = false;
        step(800);
        export.writeWindow(0);
        assertThat(loss()).as("all of it is in the next window").isEqualTo(ExportLoss.none("r/1", OptionalInt.of(3)));
        assertThat(read(written().get(1)).totalNs()).isEqualTo(1400);
    }

    @Test
    @Spec("23.12")
    void aLaterProcessOfTheRankKeepsTheRecord() throws Exception {
        boolean[] full = {false};
        WindowFiles earlier = filesOnADisk(full);
        WindowExport export = new WindowExport(profiler, BY_STEPS, earlier);
        step(100);
        export.writeWindow(0);
        full[0] = true;
        step(200);
        export.writeWindow(0);
        earlier.close();
        assertThat(loss().totalNs()).isEqualTo(200);

        WindowExport later = exportToADisk(new boolean[1]);
        step(400);
        later.writeWindow(0);

        assertThat(loss()).isEqualTo(new ExportLoss("r/1", OptionalInt.of(3), 1, 1, 200, "no space left"));
    }

    @Test
    @Spec("23.12")
    void windowsWhoseFolderIsDeletedAreRecorded() throws Exception {
        WindowExport export = exportToADisk(new boolean[1]);
        for (int i = 0; i < 2; i++) {
            step(100);
            export.writeWindow(0);
        }
        for (Path each : List.of(
                written().get(0),
                written().get(1),
                rankFolder().resolve(ExportLoss.FILE),
                rankFolder().resolve(".lock"),
                rankFolder())) {
            Files.delete(each);
        }
        step(400);
        export.writeWindow(0);

        assertThat(loss().windows()).isEqualTo(2);
        assertThat(loss().reason()).contains("deleted");
        assertThat(written()).hasSize(1);
    }

    /** If the folder cannot be created, no file can record the loss, so the log has the sums. */
    @Test
    @Spec("23.12")
    void lossesThatNoFileCanRecordAreInTheLog() throws Exception {
        Path file = Files.writeString(folder.resolve("r_1"), "x");
        String output = ChildProcess.java(LostAtTheEnd.class)
                .arguments(List.of(folder.toString()))
                .run()
                .assertSucceeded()
                .output();

        assertThat(output)
                .contains("its last windows are in no file: 1 window with 1 sample of 100 ns; no file records it");
        assertThat(file).hasContent("x");
    }

    /** Exports one window to a folder that cannot be created. */
    static final class LostAtTheEnd {
        private LostAtTheEnd() {}

        public static void main(String[] args) {
            BrickProfiler profiler = BrickProfiler.builder()
                    .identity(RunIdentity.builder().runId("r/1").rank(3).build())
                    .build();
            profiler.enable();
            WindowExport.start(profiler, 10, Path.of(args[0]));
            profiler.record(BrickId.RMS_NORM, 100, 1);
        }
    }

    @Test
    @Spec("23.8")
    void measurementsResolvedAfterAResetAreNotPendingInTheWindow() throws Exception {
        WindowExport export = export(Long.MAX_VALUE);
        step(100);
        profiler.recordDeferred(BrickId.RMS_NORM, profiler.elapsedNs(), 1);
        assertThat(profiler.snapshotAndReset().pending()).isEqualTo(1);
        profiler.finalize(profiler.elapsedNs());
        export.writeWindow(0);

        ProfileSnapshot only = read(written().get(0));
        assertThat(only.pending()).isZero();
        assertThat(only.brick("RmsNorm").orElseThrow().count()).isEqualTo(2);
    }

    /** Requests that nobody works on, as while a device hangs, are in the windows in which they arrive and end. */
    @Test
    @Spec({"23.6", "25.9"})
    void windowsWithoutBricksHaveTheirRequests() throws Exception {
        WindowExport export = export(Long.MAX_VALUE);
        step(100);
        export.writeWindow(0);
        long first = profiler.requests().arrived(4);
        export.writeWindow(0);
        profiler.requests().arrived(4);
        profiler.snapshotAndReset();
        profiler.requests().finished(first, Outcome.CANCELLED);
        export.writeWindow(0);
        export.writeWindow(0);

        List<RequestStats.Counts> windows =
                written().stream().map(file -> read(file).requests().counts()).toList();
        assertThat(windows).extracting(RequestStats.Counts::arrived).containsExactly(0L, 1L, 1L);
        assertThat(windows).extracting(RequestStats.Counts::waiting).containsExactly(0L, 1L, 1L);
        assertThat(windows)
                .extracting(counts -> counts.finished(Outcome.CANCELLED))
                .containsExactly(0L, 0L, 1L);
    }

    /** A timeline of a part of a window would be mistaken for that of the whole window. */
    @Test
    @Spec({"23.6", "25.11"})
    void noWindowHasATimelineOfRequests() throws Exception {
        WindowExport export = export(Long.MAX_VALUE);
        profiler.requests().finished(profiler.requests().arrived(4), Outcome.CANCELLED);
        export.writeWindow(0);
        profiler.requests().finished(profiler.requests().arrived(4), Outcome.CANCELLED);
        assertThat(profiler.snapshotAndReset().requestTimeline().requests()).hasSize(2);
        profiler.requests().finished(profiler.requests().arrived(4), Outcome.CANCELLED);
        profiler.snapshotAndReset();
        profiler.requests().finished(profiler.requests().arrived(4), Outcome.CANCELLED);
        export.writeWindow(0);

        assertThat(written().stream().map(file -> read(file)).toList())
                .extracting(window -> window.requests().counts().allFinished())
                .containsExactly(1L, 3L);
        assertThat(written().stream().map(file -> read(file)).toList())
                .allMatch(window -> window.requestTimeline().requests().isEmpty());
    }

    @Test
    @Spec("23.9")
    void aFolderThatCannotBeCreatedDoesNotStopTheEngine() throws Exception {
        Path file = Files.writeString(folder.resolve("file"), "x");
        WindowExport export = WindowExport.start(profiler, 1, file);
        step(100);
        export.close();
        assertThat(export.failed()).isPositive();
        assertThat(profiler.snapshot().totalNs()).isEqualTo(100);
        assertThat(file).hasContent("x");
    }

    @Test
    @Spec("23.10")
    void aLaterProcessOfTheRankCountsOnAndAnotherProfilerHasAFolderOfItsOwn() throws Exception {
        WindowFiles ofThis = files(WindowExport::writeJson, Long.MAX_VALUE);
        WindowExport first = new WindowExport(profiler, BY_STEPS, ofThis);
        step(100);
        first.writeWindow(0);
        step(100);
        first.writeWindow(0);
        BrickProfiler again = BrickProfiler.builder()
                .identity(RunIdentity.builder().runId("r/1").rank(3).build())
                .build();
        again.enable();
        again.record(BrickId.RMS_NORM, 7, 1);
        export(again).writeWindow(0);
        ofThis.close();
        again.record(BrickId.RMS_NORM, 8, 1);
        export(again).writeWindow(0);

        assertThat(written().stream()
                        .map(file -> folder.relativize(file).toString().replace('\\', '/')))
                .containsExactly(
                        "r_1/rank-00003-2/window-000000.json",
                        "r_1/rank-00003/window-000000.json",
                        "r_1/rank-00003/window-000001.json",
                        "r_1/rank-00003/window-000002.json");
    }

    private WindowExport export(BrickProfiler other) {
        return new WindowExport(other, BY_STEPS, files(WindowExport::writeJson, Long.MAX_VALUE));
    }

    @Test
    @Spec("23.10")
    void numbersAreAlikeOnAllRanks() {
        WindowExport.Every second = WindowExport.Every.time(Duration.ofSeconds(1));
        ProfileSnapshot any = profiler.snapshot();

        assertThat(second.number(any, Instant.parse("2026-01-01T00:00:07.999Z").toEpochMilli()))
                .isEqualTo(7);
        assertThat(second.number(any, Instant.parse("2026-01-01T00:00:08Z").toEpochMilli()))
                .isEqualTo(8);
        assertThat(BY_STEPS.number(
                        any.withIdentity(RunIdentity.builder().steps(31, 40).build()), 0))
                .isEqualTo(3);
    }

    @Test
    @Spec("23.6")
    void writesAsStepsEndAndAtTheClose() throws Exception {
        try (WindowExport export = WindowExport.start(profiler, 5, folder)) {
            for (int i = 0; i < 5; i++) {
                step(100);
            }
            long giveUpNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
            while (export.written() == 0 && System.nanoTime() < giveUpNs) {
                Thread.onSpinWait();
            }
            assertThat(export.written()).isEqualTo(1);
            step(100);
        }

        assertThat(written().stream().map(file -> read(file).steps().count())).containsExactly(5L, 1L);
        assertThat(read(written().get(1)).identity().window()).hasValue(1);
    }

    @Test
    @Spec("23.11")
    void refusesAWindowThatIsTooShort() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> WindowExport.start(profiler, Duration.ofMillis(99), folder))
                .withMessageContaining("0.099");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> WindowExport.start(profiler, 0, folder))
                .withMessageContaining("0 steps");
    }
}
