package org.brickprofiler.gpucheck;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import jcuda.driver.CUgraph;
import jcuda.driver.CUgraphExec;
import jcuda.driver.JCudaDriver;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.BrickStats;
import org.brickprofiler.demo.DevicePass.Work;
import org.brickprofiler.demo.Gpu;

/**
 * Checks that bricks in a capture have no time and do not invalidate the capture, and that bricks around launches of
 * the graph, before the capture and after it have their times. All of them reuse marks of one pool, so that a stale
 * time would be noticed.
 */
final class CaptureCheck extends Check.OnDevice {

    private static final int KERNELS = 8;
    private static final long KERNEL_NS = 100_000;
    private static final int RUNS = 21;

    private final BrickProfiler profiler;
    private final Work spin;

    CaptureCheck(Gpu gpu) {
        super("capture", gpu);
        profiler = profiler();
        spin = spin(KERNEL_NS);
    }

    @Override
    List<Outcome> run() {
        Samples outside = new Samples(profiler, "outside");
        Samples replays = new Samples(profiler, "replay");
        List<String> wrong = new ArrayList<>();
        double[] replayNs = new double[RUNS];
        brick(profiler, "outside", spin);
        profiler.endPass();
        checkLength(outside.nextNs(), KERNEL_NS, wrong);
        CUgraph graph = capture("cuStreamEndCapture with bricks in the capture", this::enqueueCaptured);
        profiler.endPass();
        CUgraphExec runnable = new CUgraphExec();
        Gpu.require("cuGraphInstantiate", JCudaDriver.cuGraphInstantiate(runnable, graph, 0));
        try {
            for (int run = 0; run < RUNS; run++) {
                brick(
                        profiler,
                        "replay",
                        () -> Gpu.require("cuGraphLaunch", JCudaDriver.cuGraphLaunch(runnable, gpu.handle())));
                profiler.endPass();
                long ns = replays.nextNs();
                replayNs[run] = ns;
                checkLength(ns, KERNELS * KERNEL_NS, wrong);
                brick(profiler, "outside", spin);
                profiler.endPass();
                checkLength(outside.nextNs(), KERNEL_NS, wrong);
            }
        } finally {
            JCudaDriver.cuGraphExecDestroy(runnable);
            JCudaDriver.cuGraphDestroy(graph);
        }
        return List.of(outcome(Spread.of(replayNs), wrong));
    }

    private void enqueueCaptured() {
        for (int i = 0; i < KERNELS; i++) {
            brick(profiler, "captured", spin);
        }
        // Neither this nor a reader may invalidate the capture.
        profiler.endPass();
        profiler.snapshot();
    }

    private static void checkLength(long ns, long kernelsNs, List<String> wrong) {
        if (ns < (1 - SHORTER_BOUND) * kernelsNs) {
            wrong.add(String.format(Locale.ROOT, "a brick of %d ns, whose kernels last %d", ns, kernelsNs));
        }
    }

    private Outcome outcome(Spread replay, List<String> wrong) {
        BrickStats captured = profiler.stats("captured").orElse(null);
        long timed = captured == null ? 0 : captured.count();
        long unresolved = profiler.snapshot().unresolved();
        if (timed != 0 || unresolved != KERNELS) {
            wrong.add(
                    timed + " of " + KERNELS + " bricks of the capture have times, " + unresolved + " are unresolved");
        }
        if (!gpu.stream().isUsable()) {
            wrong.add("the stream is not usable any more");
        }
        String reason = reason();
        Map<String, Object> figures = new LinkedHashMap<>();
        figures.put("captured_unresolved", unresolved);
        figures.put("reason", reason);
        figures.put("replay_ns", replay.figures());
        return Outcome.of(
                name,
                wrong.isEmpty(),
                "bricks of a capture are unresolved and spoil nothing; a brick around a run of the graph has its time",
                wrong.isEmpty()
                        ? String.format(
                                Locale.ROOT,
                                "%d kernels of %d us take %.1f us (%.1f to %.1f) as a graph; of the capture: %s",
                                KERNELS,
                                KERNEL_NS / 1_000,
                                replay.median() / 1e3,
                                replay.low() / 1e3,
                                replay.high() / 1e3,
                                reason)
                        : String.join("; ", wrong),
                figures);
    }
}
