package org.brickprofiler.gpucheck;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.demo.DevicePass.Work;
import org.brickprofiler.demo.Gpu;
import org.brickprofiler.spi.NanoClock;
import org.brickprofiler.trace.Span;
import org.brickprofiler.trace.Timeline;
import org.brickprofiler.trace.TimelineVisitor;
import org.brickprofiler.trace.TraceRecorder;

/**
 * Checks the position of a device's brick in the host's time, and its error: a brick on an idle device cannot have
 * begun before the host launched it, nor ended after the host had waited for it.
 */
final class ClockCheck extends Check.OnDevice {

    private static final int PASSES = 25;
    private static final int BRICKS = 3;
    private static final long KERNEL_NS = 200_000;

    /**
     * The position of a pass on an idle device is known nearly as exactly as the moment at which the host learns of its
     * end.
     */
    private static final double BOUND_NS = 100_000;

    private final NanoClock clock;

    ClockCheck(Gpu gpu, NanoClock clock) {
        super("clock", gpu);
        this.clock = clock;
    }

    /** The first start and the last end of the spans on the stream, ns. */
    private static final class Extent implements TimelineVisitor {
        private long startNs = Long.MAX_VALUE;
        private long endNs = Long.MIN_VALUE;
        private int spans;

        @Override
        public void span(Span span) {
            if (span.isDeviceSample()) {
                startNs = Math.min(startNs, span.startNs());
                endNs = Math.max(endNs, span.endNs());
                spans++;
            }
        }

        @Override
        public void instant(long atNs, int name) {}

        @Override
        public void counter(long atNs, double value) {}
    }

    @Override
    List<Outcome> run() {
        TraceRecorder recorder = TraceRecorder.builder().clock(clock).build();
        BrickProfiler profiler = BrickProfiler.builder()
                .clock(clock)
                .deviceStream(gpu.stream())
                .tracing(recorder)
                .build();
        profiler.enable();
        Work spin = spin(KERNEL_NS);
        double[] errorsNs = new double[PASSES];
        List<String> wrong = new ArrayList<>();
        for (int pass = -1; pass < PASSES; pass++) {
            gpu.synchronize();
            recorder.clear();
            long launchedNs = clock.nanoTime();
            for (int i = 0; i < BRICKS; i++) {
                long timer = profiler.startBrick("spin");
                spin.enqueue();
                profiler.stopBrick(timer, 1);
            }
            profiler.endPass();
            long waitedNs = clock.nanoTime();
            Timeline timeline = recorder.timeline();
            long errorNs = profiler.snapshot().streams().get(0).clockErrorNs();
            if (pass >= 0) {
                errorsNs[pass] = errorNs;
                check(extent(timeline), launchedNs - errorNs, waitedNs + errorNs, wrong);
            }
        }
        return List.of(outcome(Spread.of(errorsNs), wrong));
    }

    private static Extent extent(Timeline timeline) {
        Extent extent = new Extent();
        for (int track = 0; track < timeline.tracks().size(); track++) {
            timeline.replay(track, extent);
        }
        return extent;
    }

    private static void check(Extent extent, long earliestNs, long latestNs, List<String> wrong) {
        if (extent.spans != BRICKS) {
            wrong.add(extent.spans + " of " + BRICKS + " bricks on the timeline");
        } else if (extent.startNs < earliestNs || extent.endNs > latestNs) {
            wrong.add(String.format(
                    Locale.ROOT,
                    "%.1f us before the launch, %.1f us after the wait",
                    Math.max(0, earliestNs - extent.startNs) / 1e3,
                    Math.max(0, extent.endNs - latestNs) / 1e3));
        }
    }

    private Outcome outcome(Spread error, List<String> wrong) {
        Map<String, Object> figures = new LinkedHashMap<>();
        figures.put("passes", PASSES);
        figures.put("outside", wrong.size());
        figures.put("error_ns", error.figures());
        return new Outcome(
                name,
                wrong.isEmpty() ? error.atMost(BOUND_NS) : Outcome.Status.BROKEN,
                "in the host's time bricks lie between launch and wait, known within 100 us",
                String.format(
                        Locale.ROOT,
                        "%d of %d passes do, within %.2f us (%.2f to %.2f)%s",
                        PASSES - wrong.size(),
                        PASSES,
                        error.median() / 1e3,
                        error.low() / 1e3,
                        error.high() / 1e3,
                        wrong.isEmpty() ? "" : "; " + wrong.get(0)),
                figures);
    }
}
