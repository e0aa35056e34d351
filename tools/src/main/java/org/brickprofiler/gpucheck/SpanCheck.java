package org.brickprofiler.gpucheck;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.BrickStats;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.demo.DeviceFailure;
import org.brickprofiler.demo.DevicePass;
import org.brickprofiler.demo.Gpu;
import org.brickprofiler.demo.Watching;
import org.brickprofiler.device.StreamTotals;
import org.brickprofiler.device.cuda.CudaTimer;

/**
 * Compares the parts with the whole: the times of all bricks and the idle time, with one event pair around the pass.
 */
final class SpanCheck extends Check.OnDevice {

    private static final long KERNEL_NS = 10_000;
    private static final int PASSES = 20;
    private static final double BOUND = 0.01;

    /** The deviation from which a sum is wrong, not only inexact. */
    private static final double WRONG = 0.1;

    SpanCheck(Gpu gpu) {
        super("span", gpu);
    }

    @Override
    List<Outcome> run() {
        BrickProfiler profiler = profiler();
        try (CudaTimer timer = CudaTimer.on(gpu.stream().context(), gpu.handle())) {
            // The pair lies within the outermost marks, by at most the time of a mark.
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
            List<Pass> passes = new ArrayList<>();
            for (int i = 0; i < PASSES; i++) {
                profiler.reset();
                long spanNs = run(profiler, pass, timer);
                passes.add(pass(profiler.snapshot(), spanNs));
            }
            return List.of(outcome(passes));
        }
    }

    /** The parts of a pass, and the whole. */
    private record Pass(long bricksNs, long idleNs, long spanNs) {

        double error() {
            return (double) (bricksNs + idleNs - spanNs) / spanNs;
        }
    }

    private Pass pass(ProfileSnapshot snapshot, long spanNs) {
        long timed = snapshot.bricks().stream()
                .mapToLong(brick -> brick.device().measured())
                .sum();
        if (timed != ShortKernels.KERNELS) {
            throw new DeviceFailure(
                    "the device timed " + timed + " of " + ShortKernels.KERNELS + " bricks: " + reason());
        }
        return new Pass(
                snapshot.bricks().stream().mapToLong(BrickStats::totalNs).sum(),
                snapshot.streams().stream().mapToLong(StreamTotals::idleNs).sum(),
                spanNs);
    }

    private static long run(BrickProfiler profiler, DevicePass pass, CudaTimer timer) {
        Watching.DEFERRED.run(profiler, pass);
        long spanNs = timer.elapsedNs();
        if (spanNs == 0) {
            throw new DeviceFailure("the pass has no span: " + timer.failure().orElse("no reason is known"));
        }
        return spanNs;
    }

    private Outcome outcome(List<Pass> passes) {
        Spread error = Spread.of(passes.stream().mapToDouble(Pass::error).toArray());
        Spread bricks = Spread.of(passes.stream().mapToLong(Pass::bricksNs).toArray());
        Spread idle = Spread.of(passes.stream().mapToLong(Pass::idleNs).toArray());
        Spread span = Spread.of(passes.stream().mapToLong(Pass::spanNs).toArray());
        Map<String, Object> figures = new LinkedHashMap<>();
        figures.put("passes", passes.size());
        figures.put("bricks_ns", bricks.figures());
        figures.put("idle_ns", idle.figures());
        figures.put("span_ns", span.figures());
        figures.put("error", error.figures());
        return new Outcome(
                name,
                Math.abs(error.median()) > WRONG ? Outcome.Status.BROKEN : error.within(BOUND),
                "device times plus idle time within 1 % of the pass's own event pair",
                String.format(
                        Locale.ROOT,
                        "%+.3f %% (%+.3f to %+.3f): %.1f us of bricks and %.1f us idle in a pass of %.1f us",
                        100 * error.median(),
                        100 * error.low(),
                        100 * error.high(),
                        bricks.median() / 1e3,
                        idle.median() / 1e3,
                        span.median() / 1e3),
                figures);
    }
}
