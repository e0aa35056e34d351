package org.brickprofiler.fleet;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.RunIdentity;
import org.brickprofiler.StepInfo;
import org.brickprofiler.report.JsonReport;

/** Files of windows, as a profiler exports them, with a beginning that a test chooses. */
final class WindowFiles {

    static final Instant START = Instant.parse("2026-03-01T10:00:00Z");

    private final Path folder;

    WindowFiles(Path folder) {
        this.folder = folder;
    }

    static RunIdentity.Builder of(String run, int rank, int worldSize, long window) {
        return RunIdentity.builder()
                .runId(run)
                .rank(rank)
                .worldSize(worldSize)
                .window(window)
                .model("llama")
                .host("host-" + rank / 8);
    }

    /** A window of two bricks that each ran twice, and a step. */
    static ProfileSnapshot snapshot(long ns) {
        BrickProfiler profiler = BrickProfiler.builder().percentiles(true).build();
        profiler.enable();
        profiler.beginStep(StepInfo.decode(1));
        for (int i = 1; i <= 2; i++) {
            profiler.record(BrickId.RMS_NORM, ns * i, 64);
            profiler.record(BrickId.FUSED_ATTENTION, 10 * ns * i, 64);
        }
        profiler.endPass();
        return profiler.snapshot();
    }

    /** Writes a window that begins as many minutes after {@link #START} as its number. */
    Path write(RunIdentity identity, long ns) throws IOException {
        return write(identity, ns, START.plusSeconds(60 * identity.window().orElse(0)));
    }

    Path write(RunIdentity identity, long ns, Instant start) throws IOException {
        return write(identity, ns, start, Duration.ofSeconds(1));
    }

    Path write(RunIdentity identity, long ns, Instant start, Duration length) throws IOException {
        Path file = folder.resolve(identity.runId().orElse("none"))
                .resolve(String.format("rank-%05d", identity.rank().orElse(0)))
                .resolve(String.format("window-%06d.json", identity.window().orElse(0)));
        Files.createDirectories(file.getParent());
        String json = JsonReport.toJson(snapshot(ns).withIdentity(identity))
                .replaceFirst("\"started_at\": \"[^\"]*\"", "\"started_at\": \"" + start + "\"")
                .replaceFirst("\"ended_at\": \"[^\"]*\"", "\"ended_at\": \"" + start.plus(length) + "\"")
                .replaceFirst("\"wall_ns\": \\d+", "\"wall_ns\": " + length.toNanos());
        return Files.writeString(file, json);
    }
}
