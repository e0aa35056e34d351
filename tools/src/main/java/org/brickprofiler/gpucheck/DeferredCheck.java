package org.brickprofiler.gpucheck;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.BrickStats;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.demo.DevicePass.Work;
import org.brickprofiler.demo.Gpu;
import org.brickprofiler.spi.NanoClock;

/**
 * Checks the flow in which the application waits: {@code recordDeferred} for each brick, the application's own
 * {@code cuStreamSynchronize}, then {@code finalize(elapsedNs())}.
 */
final class DeferredCheck extends Check.OnDevice {

    private static final int PASSES = 50;
    private static final int BRICKS = 6;
    private static final long[] KERNELS_NS = {5_000, 20_000, 200_000, 2_000_000};

    private final NanoClock clock;

    DeferredCheck(Gpu gpu, NanoClock clock) {
        super("deferred", gpu);
        this.clock = clock;
    }

    /** The results of the passes with kernels of one length. */
    private record Row(long kernelNs, long samples, long unresolved, int pending, long minNs, double averageNs) {

        boolean isRight() {
            return samples == PASSES * BRICKS
                    && unresolved == 0
                    && pending == 0
                    && minNs >= (1 - SHORTER_BOUND) * kernelNs;
        }

        String text() {
            return String.format(
                    Locale.ROOT,
                    "%,d us: %s",
                    kernelNs / 1_000,
                    isRight()
                            ? String.format(Locale.ROOT, "%+.2f us", (averageNs - kernelNs) / 1e3)
                            : String.format(
                                    Locale.ROOT,
                                    "%d of %d timed, %d unresolved, %d pending, the shortest %,d ns",
                                    samples,
                                    PASSES * BRICKS,
                                    unresolved,
                                    pending,
                                    minNs));
        }

        Map<String, Object> figures() {
            Map<String, Object> figures = new LinkedHashMap<>();
            figures.put("kernel_ns", kernelNs);
            figures.put("samples", samples);
            figures.put("unresolved", unresolved);
            figures.put("pending", pending);
            figures.put("min_ns", minNs);
            figures.put("average_ns", averageNs);
            return figures;
        }
    }

    @Override
    List<Outcome> run() {
        List<Row> rows = Arrays.stream(KERNELS_NS).mapToObj(this::measure).toList();
        return List.of(Outcome.of(
                name,
                rows.stream().allMatch(Row::isRight),
                "bricks of recordDeferred and finalize have the device's times, however the application waited",
                "longer than their kernels by, "
                        + String.join("; ", rows.stream().map(Row::text).toList()),
                Map.of("rows", rows.stream().map(Row::figures).toList())));
    }

    private Row measure(long kernelNs) {
        BrickProfiler profiler =
                BrickProfiler.builder().clock(clock).deviceStream(gpu.stream()).build();
        profiler.enable();
        Work spin = spin(kernelNs);
        for (int pass = 0; pass < PASSES; pass++) {
            for (int brick = 0; brick < BRICKS; brick++) {
                long startNs = profiler.elapsedNs();
                spin.enqueue();
                profiler.recordDeferred("spin", startNs, 1);
            }
            gpu.synchronize();
            profiler.finalize(profiler.elapsedNs());
        }
        ProfileSnapshot snapshot = profiler.snapshot();
        BrickStats stats = profiler.stats("spin").orElse(null);
        long samples = stats == null ? 0 : stats.device().measured();
        return new Row(
                kernelNs,
                samples,
                snapshot.unresolved(),
                profiler.pendingCount(),
                stats == null ? 0 : stats.minNs(),
                stats == null || samples == 0 ? 0 : (double) stats.totalNs() / samples);
    }
}
