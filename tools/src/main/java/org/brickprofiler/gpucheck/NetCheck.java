package org.brickprofiler.gpucheck;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.BrickStats;
import org.brickprofiler.demo.DeviceFailure;
import org.brickprofiler.demo.DevicePass.Work;
import org.brickprofiler.demo.Floats;
import org.brickprofiler.demo.Gpu;
import org.brickprofiler.demo.SpinKernels;
import org.brickprofiler.device.MarkCost;

/**
 * Checks the net times of short bricks, without what the profiler found that marks add, against kernels that measure
 * their own duration by the device's clock.
 */
final class NetCheck extends Check.OnDevice {

    private static final String CLAIM =
            "net times of bricks of 2 to 50 us are within 0.5 us, or one step, of %globaltimer";

    private static final long[] SPINS_NS = {2_000, 5_000, 10_000, 20_000, 50_000};
    private static final int ROUNDS = 61;
    private static final long BOUND_NS = 500;

    /** Keeps the device's queue full until the host has enqueued the brick. */
    private static final long HEAD_START_NS = 300_000;

    private static final double NS_PER_US = 1e3;

    NetCheck(Gpu gpu) {
        super("net", gpu);
    }

    /**
     * The net times of kernels of one length.
     *
     * @param spinNs their nominal duration, ns
     * @param insideNs the mean of the durations that they measured, ns
     * @param netNs the mean net time of their bricks, ns
     */
    record Row(long spinNs, double insideNs, double netNs) {

        double errorNs() {
            return netNs - insideNs;
        }

        Map<String, Object> figures() {
            Map<String, Object> figures = new LinkedHashMap<>();
            figures.put("spin_ns", spinNs);
            figures.put("inside_ns", insideNs);
            figures.put("net_ns", netNs);
            return figures;
        }
    }

    @Override
    List<Outcome> run() {
        BrickProfiler profiler = profiler();
        SpinKernels kernels = new SpinKernels(gpu);
        Floats stamps = gpu.allocate(SpinKernels.STAMP_FLOATS);
        ByteBuffer read = gpu.allocateHost(stamps.bytes());
        Work headStart = kernels.spin(HEAD_START_NS, gpu.allocate(SpinKernels.STAMP_FLOATS));
        Work[] spins =
                Arrays.stream(SPINS_NS).mapToObj(ns -> kernels.spin(ns, stamps)).toArray(Work[]::new);
        // The first pass includes lazy loading, and the measurement of what marks add.
        brick(profiler, "first", spins[0]);
        profiler.endPass();
        profiler.reset();
        MarkCost cost = gpu.stream().markCost();
        if (!cost.isKnown()) {
            return List.of(Outcome.notMade(name, CLAIM, "what marks add is unknown: " + cost.unknown()));
        }
        long[] insideNs = new long[SPINS_NS.length];
        long[] times = new long[ROUNDS * SPINS_NS.length];
        for (int round = 0; round < ROUNDS; round++) {
            for (int length = 0; length < SPINS_NS.length; length++) {
                headStart.enqueue();
                brick(profiler, named(length), spins[length]);
                profiler.endPass();
                gpu.copyToHost(stamps, read);
                gpu.synchronize();
                long inside = read.getLong(Long.BYTES) - read.getLong(0);
                insideNs[length] += inside;
                times[round * SPINS_NS.length + length] = inside;
            }
        }
        Row[] rows = new Row[SPINS_NS.length];
        for (int length = 0; length < rows.length; length++) {
            rows[length] = new Row(
                    SPINS_NS[length], (double) insideNs[length] / ROUNDS, (double) netNs(profiler, length) / ROUNDS);
        }
        return List.of(outcome(cost, List.of(rows), step(times)));
    }

    private static String named(int length) {
        return "net " + SPINS_NS[length] + " ns";
    }

    private long netNs(BrickProfiler profiler, int length) {
        return profiler.stats(named(length))
                .map(BrickStats::netNs)
                .filter(net -> net.isPresent())
                .orElseThrow(() -> new DeviceFailure("'" + named(length) + "' has no net time: " + reason()))
                .getAsLong();
    }

    /**
     * Returns the smallest difference between durations by the device's clock, ns: a step of it; 0 if all are equal.
     */
    static long step(long[] timesNs) {
        long[] sorted = Arrays.stream(timesNs).sorted().distinct().toArray();
        long step = 0;
        for (int i = 1; i < sorted.length; i++) {
            long apart = sorted[i] - sorted[i - 1];
            step = step == 0 ? apart : Math.min(step, apart);
        }
        return step;
    }

    /** Returns the result for some rows. */
    static Outcome outcome(MarkCost cost, List<Row> rows, long stepNs) {
        double boundNs = Math.max(BOUND_NS, stepNs);
        double worstNs =
                rows.stream().mapToDouble(row -> Math.abs(row.errorNs())).max().orElse(0);
        StringBuilder found = new StringBuilder(String.format(
                Locale.ROOT,
                "marks add %.2f us to a brick, and %.2f for each further mark, +-%.2f; net times are off by",
                cost.brickNs() / NS_PER_US,
                cost.markNs() / NS_PER_US,
                cost.errorNs() / NS_PER_US));
        for (Row row : rows) {
            found.append(
                    String.format(Locale.ROOT, " %+.2f us of %d,", row.errorNs() / NS_PER_US, row.spinNs() / 1_000));
        }
        found.append(String.format(Locale.ROOT, " with a step of %.2f us", stepNs / NS_PER_US));
        Map<String, Object> figures = new LinkedHashMap<>();
        figures.put("brick_marks_ns", cost.brickNs());
        figures.put("mark_ns", cost.markNs());
        figures.put("mark_error_ns", cost.errorNs());
        figures.put("step_ns", stepNs);
        figures.put("rows", rows.stream().map(Row::figures).toList());
        return new Outcome(
                "net",
                worstNs <= boundNs ? Outcome.Status.HELD : Outcome.Status.MISSED,
                CLAIM,
                found.toString(),
                figures);
    }
}
