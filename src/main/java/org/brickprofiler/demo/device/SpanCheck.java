package org.brickprofiler.demo.device;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.BrickStats;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.device.StreamTotals;
import org.brickprofiler.device.cuda.CudaTimer;

/** The parts against the whole: the times of all bricks and the idle time, and one event pair around the pass. */
final class SpanCheck implements Check {

    private static final long KERNEL_NS = 10_000;
    private static final int PASSES = 20;
    private static final double BOUND = 0.01;

    private final Gpu gpu;

    SpanCheck(Gpu gpu) {
        this.gpu = gpu;
    }

    @Override
    public String name() {
        return "span";
    }

    @Override
    public List<Outcome> run() {
        BrickProfiler profiler =
                BrickProfiler.builder().deviceStream(gpu.stream()).build();
        profiler.enable();
        try (CudaTimer timer = CudaTimer.on(gpu.stream().context(), gpu.handle())) {
            // The pair lies within the outermost marks, by no more than a mark takes.
            DevicePass pass = ShortKernels.pass(
                    gpu,
                    KERNEL_NS,
                    first -> () -> {
                        timer.recordStart();
                        first.enqueue();
                    },
                    last -> () -> {
                        last.enqueue();
                        timer.recordEnd();
                    });
            run(profiler, pass, timer);
            profiler.reset();
            long spanNs = 0;
            for (int i = 0; i < PASSES; i++) {
                spanNs += run(profiler, pass, timer);
            }
            return List.of(outcome(profiler.snapshot(), spanNs));
        }
    }

    private static long run(BrickProfiler profiler, DevicePass pass, CudaTimer timer) {
        Watching.DEFERRED.run(profiler, pass);
        long spanNs = timer.elapsedNs();
        if (spanNs == 0) {
            throw new DeviceFailure("the pass has no span: " + timer.failure().orElse("no reason is known"));
        }
        return spanNs;
    }

    private Outcome outcome(ProfileSnapshot snapshot, long spanNs) {
        long bricksNs = snapshot.bricks().stream().mapToLong(BrickStats::totalNs).sum();
        long idleNs = snapshot.streams().stream().mapToLong(StreamTotals::idleNs).sum();
        double error = (double) (bricksNs + idleNs - spanNs) / spanNs;
        Map<String, Object> figures = new LinkedHashMap<>();
        figures.put("passes", PASSES);
        figures.put("bricks_ns", bricksNs);
        figures.put("idle_ns", idleNs);
        figures.put("span_ns", spanNs);
        figures.put("error", error);
        return Outcome.of(
                name(),
                Math.abs(error) <= BOUND,
                "device times plus idle time within 1 % of the pass's own event pair",
                String.format(
                        Locale.ROOT,
                        "%+.3f %%: %.1f us of bricks and %.1f us idle in a pass of %.1f us",
                        100 * error,
                        bricksNs / 1e3 / PASSES,
                        idleNs / 1e3 / PASSES,
                        spanNs / 1e3 / PASSES),
                figures);
    }
}
