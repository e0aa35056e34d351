package org.brickprofiler.gpucheck;

import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.stream.Collectors;
import jcuda.driver.CUgraph;
import jcuda.driver.CUgraphExec;
import jcuda.driver.JCudaDriver;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.demo.DeviceFailure;
import org.brickprofiler.demo.DevicePass.Work;
import org.brickprofiler.demo.Floats;
import org.brickprofiler.demo.Gpu;
import org.brickprofiler.demo.SpinKernels;
import org.brickprofiler.device.cuda.CudaCapture;
import org.brickprofiler.device.cuda.CudaSupport;
import org.brickprofiler.spi.NanoClock;
import org.jspecify.annotations.Nullable;

/**
 * Measures what activity records of CUPTI would cost in place of marks, and how exact they are. A process of its own,
 * which {@link ActivityCheck} starts: CUPTI stays in a process for its life, and a crash there ends nothing else.
 *
 * <p>CUPTI changes kernels when records are switched on, so the ways of a cycle are grouped by records. Each cycle
 * compares its ways with its own unwatched passes, and every second cycle has the opposite order.
 */
final class ActivityRun {

    /** The claim of a run that could not be made. */
    static final String CLAIM = "activity records of CUPTI: their cost and their times";

    private static final String KERNEL = "spin_ns_stamped";

    private static final int KERNELS = 384;
    private static final int SHORT_KERNELS = 184;
    private static final int GRAPH_KERNELS = 64;
    private static final long KERNEL_NS = 10_000;
    private static final int FEW_BLOCKS = 132;
    private static final int MANY_BLOCKS = 4_000;
    private static final int FLUSHED_KERNELS = 10_000;

    private static final long[] LENGTHS_NS = {2_000, 5_000, 10_000, 50_000, 200_000, 1_000_000};
    private static final int ROUNDS = 21;
    private static final long HEAD_START_NS = 500_000;

    private static final int PASSES_OF_CYCLE = 8;
    private static final int FEWEST_CYCLES = 3;
    private static final long LONGEST_CYCLES_NS = 100_000_000_000L;
    private static final long LONGEST_FLUSH_NS = 500_000_000L;

    // The criteria.
    private static final double KERNEL_COST_NS = 300;
    private static final double KERNEL_COST_OF_BLOCKS_NS = 1_000;
    private static final double HOST_BOUND_COST = 0.10;
    private static final double ERROR_NS = 100;
    private static final double FLUSH_NS = 50_000;
    private static final double NODE_COST_NS = 500;
    private static final double NODE_ERROR_NS = 200;

    private final Gpu gpu;
    private final Cupti cupti;
    private final NanoClock clock;
    private final BrickProfiler profiler;
    private final List<Outcome> outcomes = new ArrayList<>();

    private long id;
    private long launched;

    /** The kernels whose records have not been taken. */
    private long awaited;

    private long recorded;
    private long impossible;
    private long dropped;
    private long launchedWithId;
    private long recordedWithId;

    /** The records that are switched on. */
    private enum On {
        NOTHING,
        KERNELS,
        KERNELS_AND_IDS
    }

    /** How one pass of a load is watched. */
    private interface Watch {
        void run(Load load);
    }

    /**
     * A way to watch a pass.
     *
     * @param name its name in the table
     * @param on the records that it needs
     * @param watch runs a pass in this way
     */
    private record Way(String name, On on, Watch watch) {}

    /** A pass that is measured. */
    private abstract static class Load {
        final String name;
        final int kernels;

        /** The median of the passes of each cycle, by the name of the way, ns. */
        final Map<String, List<Double>> times = new LinkedHashMap<>();

        Load(String name, int kernels) {
            this.name = name;
            this.kernels = kernels;
        }

        /** Runs the pass, after something before each launch. */
        abstract void run(Runnable beforeLaunch);

        /** Runs the pass with a brick for each kernel, and ends it. */
        abstract void bricks(BrickProfiler profiler);

        /** Returns the time that a way adds to a kernel, ns, with one value for each cycle. */
        Spread addedNs(String way) {
            List<Double> base = times.getOrDefault(ABSENT, List.of());
            List<Double> watched = times.getOrDefault(way, List.of());
            double[] added = new double[watched.size()];
            Arrays.setAll(added, cycle -> (watched.get(cycle) - base.get(cycle)) / kernels);
            return Spread.of(added);
        }

        double medianNs(String way) {
            return Spread.of(times.getOrDefault(way, List.of()).stream()
                            .mapToDouble(Double::doubleValue)
                            .toArray())
                    .median();
        }
    }

    private static final String ABSENT = "no profiler";
    private static final String RECORDS = "records";
    private static final String RECORDS_AND_IDS = "records and ids";
    private static final String DEFERRED = "DEFERRED";

    private ActivityRun(Gpu gpu, Cupti cupti, NanoClock clock) {
        this.gpu = gpu;
        this.cupti = cupti;
        this.clock = clock;
        profiler = BrickProfiler.builder().deviceStream(gpu.stream()).build();
        profiler.enable();
    }

    /** Returns the ways. One line more shows another one. */
    private List<Way> ways() {
        return List.of(
                new Way(ABSENT, On.NOTHING, load -> load.run(() -> {})),
                new Way(DEFERRED, On.NOTHING, load -> load.bricks(profiler)),
                new Way(RECORDS, On.KERNELS, load -> load.run(() -> {})),
                new Way(RECORDS_AND_IDS, On.KERNELS_AND_IDS, load -> load.run(() -> cupti.mark(++id))));
    }

    /**
     * Measures, and prints the results for {@link ActivityCheck}.
     *
     * @param args the number of the device, the number of cycles, and the file of the library if it is given
     */
    public static void main(String[] args) {
        PrintStream out = System.out;
        Path library = args.length > 2 ? Path.of(args[2]) : null;
        ActivityCheck.print(run(Integer.parseInt(args[0]), Integer.parseInt(args[1]), library, NanoClock.SYSTEM), out);
        out.flush();
        System.exit(0);
    }

    /**
     * Measures everything.
     *
     * @param device the number of the device
     * @param cycles how often each way is measured in a group
     * @param library the file of CUPTI; null to search for it
     * @param clock measures the wall time
     */
    static List<Outcome> run(int device, int cycles, @Nullable Path library, NanoClock clock) {
        int major = CudaSupport.probe()
                .driverVersion()
                .map(version -> Integer.parseInt(version.split("\\.", -1)[0]))
                .orElse(0);
        try (Cupti cupti = Cupti.load(library, major)) {
            Optional<String> missing = Gpu.missing(device);
            if (missing.isPresent()) {
                return List.of(notMade(cupti + " is loaded, but " + missing.get()));
            }
            int version = cupti.version();
            try (Gpu gpu = Gpu.open(device)) {
                return new ActivityRun(gpu, cupti, clock).measure(cycles, version);
            }
        } catch (IllegalStateException | DeviceFailure refused) {
            return List.of(notMade(String.valueOf(refused.getMessage())));
        }
    }

    private static Outcome notMade(String reason) {
        return Outcome.notMade(ActivityCheck.NAME, CLAIM, reason);
    }

    private List<Outcome> measure(int cycles, int version) {
        Graph graph = new Graph();
        try {
            List<Load> loads = List.of(
                    new Spins(KERNELS + " kernels of 10 us, 1 block", KERNELS, KERNEL_NS, 1),
                    new Spins(KERNELS + " kernels of 10 us, " + FEW_BLOCKS + " blocks", KERNELS, KERNEL_NS, FEW_BLOCKS),
                    new Spins(KERNELS + " kernels of 10 us, 4,000 blocks", KERNELS, KERNEL_NS, MANY_BLOCKS),
                    new Spins(SHORT_KERNELS + " empty kernels", SHORT_KERNELS, 0, 1),
                    graph);
            double[] before = loads.stream()
                    .mapToDouble(load -> medianPassNs(() -> load.run(() -> {})))
                    .toArray();
            cupti.start();
            switchTo(On.KERNELS);
            double firstNs = timeNs(() -> loads.get(0).run(() -> {}));
            launched(KERNELS);
            drain();
            switchTo(On.NOTHING);
            cycles(cycles, loads);
            table(loads, before, firstNs);
            Spread flushNs = flushes(loads.get(3));
            exactness();
            criteria(loads, flushNs, graph, version);
            return outcomes;
        } finally {
            graph.close();
        }
    }

    // ---- the cost ----

    private void cycles(int cycles, List<Load> loads) {
        long startNs = System.nanoTime();
        List<Way> ways = ways();
        for (int cycle = 0; cycle < cycles; cycle++) {
            if (cycle >= FEWEST_CYCLES && System.nanoTime() - startNs > LONGEST_CYCLES_NS) {
                return;
            }
            for (int turn = 0; turn < ways.size(); turn++) {
                Way way = ways.get(cycle % 2 == 0 ? turn : ways.size() - 1 - turn);
                switchTo(way.on());
                for (Load load : loads) {
                    load.times
                            .computeIfAbsent(way.name(), name -> new ArrayList<>())
                            .add(medianPassNs(() -> way.watch().run(load)));
                    if (way.on() != On.NOTHING) {
                        int kernels = (PASSES_OF_CYCLE + 1) * load.kernels;
                        launched(kernels);
                        launchedWithId += way.on() == On.KERNELS_AND_IDS ? kernels : 0;
                    }
                }
                if (way.on() == On.KERNELS_AND_IDS) {
                    cupti.unmark();
                }
                if (way.on() != On.NOTHING) {
                    Cupti.Records records = drain();
                    recordedWithId += way.on() == On.KERNELS_AND_IDS ? records.withId() : 0;
                }
            }
            switchTo(On.NOTHING);
        }
    }

    private On current = On.NOTHING;

    private void switchTo(On next) {
        if (next == current) {
            return;
        }
        if (current != On.NOTHING) {
            cupti.stopRecords();
        }
        if (next != On.NOTHING) {
            cupti.recordKernels();
        }
        if (next == On.KERNELS_AND_IDS) {
            cupti.recordIds();
        }
        current = next;
    }

    /** Returns the median time of a pass, after one that does not count, ns. */
    private double medianPassNs(Runnable pass) {
        double[] times = new double[PASSES_OF_CYCLE];
        timeNs(pass);
        for (int i = 0; i < times.length; i++) {
            times[i] = timeNs(pass);
        }
        return Spread.of(times).median();
    }

    private double timeNs(Runnable work) {
        long startNs = clock.nanoTime();
        work.run();
        gpu.synchronize();
        return clock.nanoTime() - startNs;
    }

    private void launched(int kernels) {
        launched += kernels;
        awaited += kernels;
    }

    /** Takes the records of all kernels so far, which have ended. CUPTI may return a buffer late. */
    private Cupti.Records drain() {
        List<Cupti.Kernel> kernels = new ArrayList<>();
        Map<Integer, Long> ids = new LinkedHashMap<>();
        long endNs = System.nanoTime() + LONGEST_FLUSH_NS;
        do {
            cupti.flush(false);
            Cupti.Records taken = cupti.take();
            kernels.addAll(taken.kernels());
            ids.putAll(taken.ids());
            dropped += taken.dropped();
        } while (kernels.size() < awaited && System.nanoTime() < endNs);
        awaited = 0;
        recorded += kernels.size();
        impossible += kernels.stream().filter(Cupti.Kernel::isImpossible).count();
        kernels.stream()
                .filter(kernel -> !kernel.name().equals(KERNEL))
                .findFirst()
                .ifPresent(other -> {
                    throw new IllegalStateException(cupti + ": a record names the kernel '" + other.name()
                            + "' and not '" + KERNEL + "': its layout is not known here");
                });
        return new Cupti.Records(kernels, ids, 0);
    }

    private void table(List<Load> loads, double[] beforeNs, double firstNs) {
        for (int i = 0; i < loads.size(); i++) {
            Load load = loads.get(i);
            Map<String, Object> figures = new LinkedHashMap<>();
            figures.put("kernels", load.kernels);
            figures.put("before_ns", beforeNs[i]);
            List<String> ways = new ArrayList<>();
            for (Way way : ways()) {
                double medianNs = load.medianNs(way.name());
                figures.put(way.name().replace(' ', '_') + "_ns", medianNs);
                ways.add(String.format(Locale.ROOT, "%s %.2f us", way.name(), medianNs / 1e3 / load.kernels)
                        + (way.name().equals(ABSENT)
                                ? String.format(
                                        Locale.ROOT, " (before CUPTI started %.2f)", beforeNs[i] / 1e3 / load.kernels)
                                : String.format(
                                        Locale.ROOT,
                                        " (%+.2f, %+.1f %%)",
                                        load.addedNs(way.name()).median() / 1e3,
                                        100
                                                * load.addedNs(way.name()).median()
                                                * load.kernels
                                                / load.medianNs(ABSENT))));
            }
            shown(load.name + ", time per kernel", String.join("; ", ways), figures);
        }
        shown(
                "the first pass with records",
                String.format(Locale.ROOT, "%.1f ms, and %.1f ms before", firstNs / 1e6, beforeNs[0] / 1e6),
                Map.of("first_ns", firstNs));
    }

    // ---- the flush ----

    private Spread flushes(Load shortPass) {
        switchTo(On.KERNELS);
        double[] shortNs = new double[ROUNDS];
        for (int i = 0; i < ROUNDS; i++) {
            shortPass.run(() -> {});
            launched(shortPass.kernels);
            gpu.synchronize();
            shortNs[i] = timeNs(() -> cupti.flush(false));
            drain();
        }
        Work work = new SpinKernels(gpu).spin(0, gpu.allocate(SpinKernels.STAMP_FLOATS));
        double[] longNs = new double[3];
        for (int i = 0; i < longNs.length; i++) {
            for (int kernel = 0; kernel < FLUSHED_KERNELS; kernel++) {
                work.enqueue();
            }
            launched(FLUSHED_KERNELS);
            gpu.synchronize();
            longNs[i] = timeNs(() -> cupti.flush(false));
            drain();
        }
        switchTo(On.NOTHING);
        Spread ofShort = Spread.of(shortNs);
        Spread ofLong = Spread.of(longNs);
        shown(
                "the flush of records",
                String.format(
                        Locale.ROOT,
                        "%.1f us after a pass of %d kernels, %.1f us after one of %,d; %d buffers",
                        ofShort.median() / 1e3,
                        shortPass.kernels,
                        ofLong.median() / 1e3,
                        FLUSHED_KERNELS,
                        cupti.buffers()),
                Map.of("short_ns", ofShort.median(), "long_ns", ofLong.median()));
        return ofShort;
    }

    // ---- the times ----

    private Spread errorNs = Spread.of(0.0);
    private double stepNs = ERROR_NS;
    private long outsideOfTheClock;
    private boolean isExactnessKnown;

    /** Compares kernels with their own readings of the device's clock, and with the bricks around them. */
    private void exactness() {
        Floats stamps = gpu.allocate(SpinKernels.STAMP_FLOATS);
        ByteBuffer read = gpu.allocateHost(stamps.bytes());
        SpinKernels kernels = new SpinKernels(gpu);
        Work ahead = kernels.spin(HEAD_START_NS, gpu.allocate(SpinKernels.STAMP_FLOATS));
        List<Double> errors = new ArrayList<>();
        List<String> rows = new ArrayList<>();
        Map<String, Object> figures = new LinkedHashMap<>();
        OptionalDouble step = OptionalDouble.empty();
        switchTo(On.KERNELS);
        for (long lengthNs : LENGTHS_NS) {
            Work spin = kernels.spin(lengthNs, stamps);
            int key = profiler.brickKey("record of " + lengthNs + " ns");
            long[] insideNs = new long[ROUNDS];
            long[] brickNs = new long[ROUNDS];
            long[] recordNs = new long[ROUNDS];
            boolean complete = true;
            for (int round = 0; round < ROUNDS; round++) {
                long totalNs = profiler.stats("record of " + lengthNs + " ns")
                        .map(brick -> brick.totalNs())
                        .orElse(0L);
                long beforeNs = cupti.nowNs();
                ahead.enqueue();
                long timer = profiler.startBrick(key);
                spin.enqueue();
                profiler.stopBrick(timer, 1);
                profiler.endPass();
                gpu.copyToHost(stamps, read);
                gpu.synchronize();
                long afterNs = cupti.nowNs();
                launched(2);
                List<Cupti.Kernel> records = drain().kernels();
                complete &= records.size() == 2;
                if (complete) {
                    recordNs[round] = records.get(1).durationNs();
                    outsideOfTheClock += records.get(0).startNs() < beforeNs
                                    || records.get(1).endNs() > afterNs
                            ? 1
                            : 0;
                }
                insideNs[round] = read.getLong(Long.BYTES) - read.getLong(0);
                brickNs[round] = profiler.stats("record of " + lengthNs + " ns")
                                .map(brick -> brick.totalNs())
                                .orElse(0L)
                        - totalNs;
            }
            if (!complete) {
                shown("records beside %globaltimer", "unknown: records of kernels were missing", Map.of());
                return;
            }
            step = least(step, insideNs);
            double[] error = new double[ROUNDS];
            double[] aroundNs = new double[ROUNDS];
            Arrays.setAll(error, round -> recordNs[round] - insideNs[round]);
            Arrays.setAll(aroundNs, round -> brickNs[round] - recordNs[round]);
            errors.add(Spread.of(error).median());
            figures.put("error_of_" + lengthNs + "_ns", Spread.of(error).median());
            figures.put(
                    "brick_above_record_of_" + lengthNs + "_ns",
                    Spread.of(aroundNs).median());
            rows.add(String.format(
                    Locale.ROOT,
                    "%,d us: %+.0f ns, its brick %+.2f us more",
                    lengthNs / 1_000,
                    Spread.of(error).median(),
                    Spread.of(aroundNs).median() / 1e3));
        }
        switchTo(On.NOTHING);
        isExactnessKnown = true;
        errorNs = Spread.of(errors.stream().mapToDouble(Double::doubleValue).toArray());
        stepNs = Math.max(ERROR_NS, step.orElse(0));
        shown("records beside %globaltimer", String.join("; ", rows), figures);
    }

    /** Returns the least difference between two durations, which a step of the clock makes. */
    private static OptionalDouble least(OptionalDouble before, long[] durations) {
        long[] sorted = durations.clone();
        Arrays.sort(sorted);
        double least = before.orElse(Double.MAX_VALUE);
        for (int i = 1; i < sorted.length; i++) {
            least = sorted[i] > sorted[i - 1] ? Math.min(least, (double) sorted[i] - sorted[i - 1]) : least;
        }
        return least == Double.MAX_VALUE ? OptionalDouble.empty() : OptionalDouble.of(least);
    }

    // ---- the criteria ----

    private void criteria(List<Load> loads, Spread flushNs, Graph graph, int version) {
        criterion(
                "every kernel has a record, with possible times",
                launched == recorded && impossible == 0 && dropped == 0,
                String.format(
                        Locale.ROOT,
                        "of %,d kernels %,d have records; %,d impossible, %,d dropped (%s, version %d)",
                        launched,
                        recorded,
                        impossible,
                        dropped,
                        cupti,
                        version));
        criterion(
                "every launch has its id",
                launchedWithId == recordedWithId,
                String.format(Locale.ROOT, "of %,d kernels %,d", launchedWithId, recordedWithId));
        atMost("1 block: at most 0.3 us a kernel", loads.get(0).addedNs(RECORDS_AND_IDS), KERNEL_COST_NS);
        atMost(FEW_BLOCKS + " blocks: at most 0.3 us a kernel", loads.get(1).addedNs(RECORDS_AND_IDS), KERNEL_COST_NS);
        atMost(
                FEW_BLOCKS + " blocks: at most 1 us a kernel, or records are not worth it",
                loads.get(1).addedNs(RECORDS_AND_IDS),
                KERNEL_COST_OF_BLOCKS_NS);
        Load hostBound = loads.get(3);
        atMost(
                SHORT_KERNELS + " empty kernels: at most 10 % longer (more than 20 %: not worth it)",
                hostBound.addedNs(RECORDS_AND_IDS),
                HOST_BOUND_COST * hostBound.medianNs(ABSENT) / hostBound.kernels);
        atMost("a flush after " + SHORT_KERNELS + " kernels: at most 50 us", flushNs, FLUSH_NS);
        atMost("a graph of " + GRAPH_KERNELS + ": at most 0.5 us a node", graph.addedNs(RECORDS_AND_IDS), NODE_COST_NS);
        graph.compare();
        criterion(
                "records are within 0.1 us, or one step of it, of %globaltimer",
                isExactnessKnown && errorNs.low() >= -stepNs && errorNs.high() <= stepNs,
                isExactnessKnown
                        ? String.format(
                                Locale.ROOT, "%+.0f to %+.0f ns, bound %.0f ns", errorNs.low(), errorNs.high(), stepNs)
                        : "not known");
        criterion(
                "no kernel starts before its launch or ends after the wait, by CUPTI's clock",
                isExactnessKnown && outsideOfTheClock == 0,
                isExactnessKnown
                        ? outsideOfTheClock + " of " + ROUNDS * LENGTHS_NS.length + " passes have one"
                        : "not known");
    }

    private void atMost(String criterion, Spread ns, double boundNs) {
        String verdict =
                switch (ns.atMost(boundNs)) {
                    case HELD -> "holds";
                    case MISSED -> "does not hold";
                    default -> "unclear";
                };
        shown(
                criterion,
                String.format(
                        Locale.ROOT,
                        "%s: %+.2f us (%+.2f to %+.2f), bound %.2f us",
                        verdict,
                        ns.median() / 1e3,
                        ns.low() / 1e3,
                        ns.high() / 1e3,
                        boundNs / 1e3),
                Map.of("verdict", verdict, "median_ns", ns.median(), "bound_ns", boundNs));
    }

    private void criterion(String criterion, boolean holds, String found) {
        String verdict = holds ? "holds" : "does not hold";
        shown(criterion, verdict + ": " + found, Map.of("verdict", verdict));
    }

    private void shown(String claim, String found, Map<String, Object> figures) {
        outcomes.add(new Outcome(ActivityCheck.NAME, Outcome.Status.SHOWN, claim, found, figures));
    }

    // ---- the passes ----

    /** Kernels of one length, launched one by one. */
    private final class Spins extends Load {
        private final Work work;

        Spins(String name, int kernels, long ns, int blocks) {
            super(name, kernels);
            work = new SpinKernels(gpu).spin(ns, blocks, gpu.allocate(SpinKernels.STAMP_FLOATS));
        }

        @Override
        void run(Runnable beforeLaunch) {
            for (int i = 0; i < kernels; i++) {
                beforeLaunch.run();
                work.enqueue();
            }
        }

        @Override
        void bricks(BrickProfiler watching) {
            for (int i = 0; i < kernels; i++) {
                long timer = watching.startBrick(BrickId.ACTIVATION);
                work.enqueue();
                watching.stopBrick(timer, 1);
            }
            watching.endPass();
        }
    }

    /** A captured graph of kernels, and its twin with the events of bricks. */
    private final class Graph extends Load implements AutoCloseable {
        private final Work work = new SpinKernels(gpu).spin(KERNEL_NS, gpu.allocate(SpinKernels.STAMP_FLOATS));
        private final CudaCapture capture = gpu.stream().capture();
        private final CUgraphExec bare;
        private final CUgraphExec marked;

        Graph() {
            super("a graph of " + GRAPH_KERNELS + " kernels of 10 us", GRAPH_KERNELS);
            bare = executable(() -> {
                for (int i = 0; i < kernels; i++) {
                    work.enqueue();
                }
            });
            try (capture) {
                marked = executable(() -> {
                    for (int i = 0; i < kernels; i++) {
                        long timer = profiler.startBrick(BrickId.DOWN_PROJECTION);
                        work.enqueue();
                        profiler.stopBrick(timer, 1);
                    }
                });
            }
        }

        private CUgraphExec executable(Runnable captured) {
            CUgraph graph = Check.OnDevice.capture(gpu, "cuStreamEndCapture", captured);
            CUgraphExec exec = new CUgraphExec();
            Gpu.require("cuGraphInstantiate", JCudaDriver.cuGraphInstantiate(exec, graph, 0));
            JCudaDriver.cuGraphDestroy(graph);
            return exec;
        }

        private void launch(CUgraphExec exec) {
            Gpu.require("cuGraphLaunch", JCudaDriver.cuGraphLaunch(exec, gpu.handle()));
        }

        @Override
        void run(Runnable beforeLaunch) {
            beforeLaunch.run();
            launch(bare);
        }

        @Override
        void bricks(BrickProfiler watching) {
            launch(marked);
            capture.launched(marked);
            watching.endPass();
        }

        /** Compares the records of kernels in the graph with those of the same kernels without it. */
        void compare() {
            switchTo(On.KERNELS);
            List<Double> eagerNs = new ArrayList<>();
            List<Double> launchedNs = new ArrayList<>();
            for (int round = 0; round < ROUNDS; round++) {
                eagerNs.addAll(recordedNs(
                        () -> {
                            for (int i = 0; i < kernels; i++) {
                                work.enqueue();
                            }
                        },
                        false));
                launchedNs.addAll(recordedNs(() -> launch(bare), true));
            }
            switchTo(On.NOTHING);
            boolean complete = eagerNs.size() == ROUNDS * kernels && launchedNs.size() == ROUNDS * kernels;
            double differenceNs = complete ? median(launchedNs) - median(eagerNs) : Double.NaN;
            criterion(
                    "kernels of a graph have the same times as without it, within 0.2 us",
                    complete && Math.abs(differenceNs) <= NODE_ERROR_NS,
                    complete
                            ? String.format(Locale.ROOT, "%+.0f ns", differenceNs)
                            : String.format(
                                    Locale.ROOT,
                                    "of %d kernels %d have records of the graph, and %d others",
                                    ROUNDS * kernels,
                                    launchedNs.size(),
                                    eagerNs.size()));
        }

        private List<Double> recordedNs(Runnable pass, boolean ofGraph) {
            pass.run();
            gpu.synchronize();
            launched(kernels);
            return drain().kernels().stream()
                    .filter(kernel -> kernel.isOfGraph() == ofGraph)
                    .map(kernel -> (double) kernel.durationNs())
                    .collect(Collectors.toList());
        }

        private double median(List<Double> values) {
            return Spread.of(values.stream().mapToDouble(Double::doubleValue).toArray())
                    .median();
        }

        @Override
        public void close() {
            gpu.synchronize();
            JCudaDriver.cuGraphExecDestroy(bare);
            JCudaDriver.cuGraphExecDestroy(marked);
            capture.release();
        }
    }
}
