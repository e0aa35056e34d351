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
import org.brickprofiler.device.cuda.CudaCapture;
import org.brickprofiler.spi.NanoClock;

/**
 * Checks that the bricks of a captured graph, such as the decode step of an engine, have the same times in each launch
 * as without a graph. A launch has no times if a later launch recorded its events again, or if it never ran. The check
 * also shows the wall times of a launch with events and of one without.
 */
final class GraphCheck extends Check.OnDevice {

    private static final int LAYERS = 16;
    private static final long[] KERNELS_NS = {20_000, 40_000, 60_000, 100_000};
    private static final int ROUNDS = 41;

    /** The head start of the host, so that the device finds work behind each kernel. */
    private static final long AHEAD_NS = 1_000_000;

    private static final double SMALLEST_BOUND_NS = 2_000;
    private static final double BOUND = 0.05;

    private final NanoClock clock;
    private final BrickProfiler profiler;
    private final List<Kind> kinds = new ArrayList<>();
    private final Work ahead;

    /** What is wrong, rather than inexact. */
    private final List<String> wrong = new ArrayList<>();

    GraphCheck(Gpu gpu, NanoClock clock) {
        super("graph", gpu);
        this.clock = clock;
        profiler = profiler();
        ahead = spin(AHEAD_NS);
        for (long kernelNs : KERNELS_NS) {
            kinds.add(new Kind(kernelNs));
        }
    }

    /** The kernels of one length: one in each layer. */
    private final class Kind {

        final long kernelNs;
        final String name;
        final int brick;
        final Work spin;
        final double[] eagerNs = new double[ROUNDS];
        final double[] launchedNs = new double[ROUNDS];

        private long samples;
        private long totalNs;

        Kind(long kernelNs) {
            this.kernelNs = kernelNs;
            name = "spin " + kernelNs + " ns of a step";
            brick = profiler.brickKey(name);
            spin = spin(kernelNs);
        }

        /** Returns the mean of the samples of the one step that was resolved since the last call, ns. */
        double nextNs(String way) {
            BrickStats stats = profiler.stats(name).orElse(null);
            long added = stats == null ? 0 : stats.device().measured() - samples;
            if (stats == null || added != LAYERS) {
                wrong.add(String.format(
                        Locale.ROOT, "%s timed %d of %d bricks '%s': %s", way, added, LAYERS, name, reason()));
                return 0;
            }
            double meanNs = (double) (stats.totalNs() - totalNs) / LAYERS;
            samples = stats.device().measured();
            totalNs = stats.totalNs();
            if (stats.minNs() < (1 - SHORTER_BOUND) * kernelNs) {
                wrong.add(String.format(Locale.ROOT, "%s: a brick of %d ns '%s'", way, stats.minNs(), name));
            }
            return meanNs;
        }

        Spread error() {
            double[] error = new double[ROUNDS];
            for (int round = 0; round < ROUNDS; round++) {
                error[round] = launchedNs[round] - eagerNs[round];
            }
            return Spread.of(error);
        }

        Map<String, Object> figures() {
            Map<String, Object> figures = new LinkedHashMap<>();
            figures.put("kernel_ns", kernelNs);
            figures.put("eager_ns", Spread.of(eagerNs).figures());
            figures.put("launched_ns", Spread.of(launchedNs).figures());
            figures.put("error_ns", error().figures());
            return figures;
        }

        Outcome.Status status() {
            return error().within(Math.max(SMALLEST_BOUND_NS, BOUND * kernelNs));
        }
    }

    @Override
    List<Outcome> run() {
        CudaCapture capture = gpu.stream().capture();
        CUgraphExec exec;
        try (capture) {
            exec = executable(this::step);
        }
        CUgraphExec bare = executable(() -> {
            for (int layer = 0; layer < LAYERS; layer++) {
                kinds.forEach(kind -> kind.spin.enqueue());
            }
        });
        Outcome cost;
        try {
            // The first round of each way includes lazy loading and does not count.
            for (int round = -1; round < ROUNDS; round++) {
                eager(Math.max(0, round));
                launched(Math.max(0, round), exec, capture);
            }
            unresolvedIfFollowed(exec, capture);
            unresolvedIfNotLaunched(exec, capture);
            cost = cost(bare, exec, capture);
        } finally {
            gpu.synchronize();
            JCudaDriver.cuGraphExecDestroy(exec);
            JCudaDriver.cuGraphExecDestroy(bare);
            capture.release();
        }
        return List.of(outcome(), cost);
    }

    private CUgraphExec executable(Runnable work) {
        CUgraph graph = capture("cuStreamEndCapture of a step", work);
        CUgraphExec exec = new CUgraphExec();
        Gpu.require("cuGraphInstantiate", JCudaDriver.cuGraphInstantiate(exec, graph, 0));
        JCudaDriver.cuGraphDestroy(graph);
        return exec;
    }

    private void step() {
        for (int layer = 0; layer < LAYERS; layer++) {
            long timer = profiler.startBrick(kinds.get(0).brick);
            kinds.get(0).spin.enqueue();
            for (Kind kind : kinds.subList(1, kinds.size())) {
                timer = profiler.lap(timer, 1, kind.brick);
                kind.spin.enqueue();
            }
            profiler.stopBrick(timer, 1);
        }
    }

    private void eager(int round) {
        ahead.enqueue();
        step();
        profiler.endPass();
        kinds.forEach(kind -> kind.eagerNs[round] = kind.nextNs("without a graph"));
    }

    private void launched(int round, CUgraphExec exec, CudaCapture capture) {
        ahead.enqueue();
        launch(exec, capture);
        profiler.endPass();
        kinds.forEach(kind -> kind.launchedNs[round] = kind.nextNs("a launch"));
    }

    private void launch(CUgraphExec exec, CudaCapture capture) {
        Gpu.require("cuGraphLaunch", JCudaDriver.cuGraphLaunch(exec, gpu.handle()));
        capture.launched(exec);
    }

    /** Measures the wall time of a launch with and without events, alternately. */
    private Outcome cost(CUgraphExec bare, CUgraphExec exec, CudaCapture capture) {
        double[] bareNs = new double[ROUNDS];
        double[] marksNs = new double[ROUNDS];
        for (int round = 0; round < ROUNDS; round++) {
            long startNs = clock.nanoTime();
            Gpu.require("cuGraphLaunch", JCudaDriver.cuGraphLaunch(bare, gpu.handle()));
            gpu.synchronize();
            bareNs[round] = clock.nanoTime() - startNs;
            startNs = clock.nanoTime();
            launch(exec, capture);
            profiler.endPass();
            marksNs[round] = clock.nanoTime() - startNs;
        }
        double withoutUs = Spread.of(bareNs).median() / 1e3;
        double withUs = Spread.of(marksNs).median() / 1e3;
        int bricks = LAYERS * KERNELS_NS.length;
        return new Outcome(
                name,
                Outcome.Status.SHOWN,
                "a launch of " + bricks + " kernels, wall time",
                String.format(
                        Locale.ROOT,
                        "%.0f us, with the events of its bricks %.0f us, %.2f us a brick more",
                        withoutUs,
                        withUs,
                        (withUs - withoutUs) / bricks),
                Map.of(
                        "without_ns", Spread.of(bareNs).figures(),
                        "with_ns", Spread.of(marksNs).figures()));
    }

    /** Checks that if two launches are announced before one is resolved, only the later one has times. */
    private void unresolvedIfFollowed(CUgraphExec exec, CudaCapture capture) {
        long before = profiler.snapshot().unresolved();
        launch(exec, capture);
        launch(exec, capture);
        profiler.endPass();
        kinds.forEach(kind -> kind.nextNs("the second of two launches"));
        requireUnresolved("the first of two launches", before);
    }

    /** Checks that a launch that was announced but never ran does not get the times of the launch before. */
    private void unresolvedIfNotLaunched(CUgraphExec exec, CudaCapture capture) {
        long before = profiler.snapshot().unresolved();
        capture.launched(exec);
        profiler.endPass();
        requireUnresolved("what was announced and not launched", before);
    }

    private void requireUnresolved(String what, long before) {
        long unresolved = profiler.snapshot().unresolved() - before;
        if (unresolved != (long) LAYERS * KERNELS_NS.length) {
            wrong.add(what + " left " + unresolved + " of " + LAYERS * KERNELS_NS.length + " bricks unresolved");
        }
    }

    private Outcome outcome() {
        Outcome.Status status = kinds.stream().map(Kind::status).reduce(Outcome.Status.HELD, Outcome.Status::or);
        double worstNs = kinds.stream()
                .mapToDouble(kind -> Math.abs(kind.error().median()))
                .max()
                .orElse(0);
        return new Outcome(
                name,
                wrong.isEmpty() ? status : Outcome.Status.BROKEN,
                "bricks of a captured graph have in each launch the times that they have without a graph, within 2 us or"
                        + " 5 %; a launch that others have overwritten has none",
                wrong.isEmpty()
                        ? String.format(
                                Locale.ROOT,
                                "%d launches of %d bricks, %.2f us from those without a graph at most; %s",
                                ROUNDS + 1,
                                LAYERS * KERNELS_NS.length,
                                worstNs / 1e3,
                                reason())
                        : String.join("; ", wrong.subList(0, Math.min(5, wrong.size()))),
                Map.of("kernels", kinds.stream().map(Kind::figures).toList(), "reason", reason()));
    }
}
