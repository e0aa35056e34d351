package org.brickprofiler.gpucheck;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.demo.DevicePass;
import org.brickprofiler.demo.Gpu;
import org.brickprofiler.demo.PassCosts;
import org.brickprofiler.demo.Watching;
import org.brickprofiler.spi.NanoClock;

/**
 * Measures the wall time that each way of profiling adds to a pass of short kernels. The floor is the same pass with
 * bare events and no profiler: the device needs time for an event, and a brick needs the events. The bounds are
 * multiples of this floor, for kernels of 10 us. The shorter kernels, which the host can hardly launch as fast as they
 * end, and the longer ones are shown beside them.
 *
 * <p>The ways take turns, and each round compares them with the unwatched pass of the same round. A verdict needs more
 * than a median: if the spread permits no verdict, the result is unclear. A verdict also needs a plausible measurement:
 * the device timed every brick, the passes last as long as their kernels, and no pass is faster when it is watched.
 */
final class CostCheck extends Check.OnDevice {

    private static final long BOUND_FOR_NS = 10_000;
    private static final long[] KERNELS_NS = {5_000, BOUND_FOR_NS, 25_000};
    private static final double BOUND = 1.25;

    /** The largest speed-up of a watched pass that counts as plausible. */
    private static final double FASTER_BOUND = 0.05;

    /** The ways except the one without a profiler and the one by the host's clock. */
    private static final int WAYS_WITH_MARKS = Watching.values().length - 2;

    private final int rounds;
    private final NanoClock clock;

    /**
     * Creates a check.
     *
     * @param rounds how often each way is measured
     * @param clock measures the wall time
     */
    CostCheck(Gpu gpu, int rounds, NanoClock clock) {
        super("cost", gpu);
        this.rounds = rounds;
        this.clock = clock;
    }

    @Override
    List<Outcome> run() {
        List<Outcome> outcomes = new ArrayList<>();
        for (long kernelNs : KERNELS_NS) {
            Measured measured = measure(kernelNs);
            if (kernelNs == BOUND_FOR_NS) {
                outcomes.add(0, claim(measured, Watching.DEFERRED, BareEvents.TWO));
                outcomes.add(1, claim(measured, Watching.DEFERRED_LAP, BareEvents.ONE));
            }
            outcomes.add(new Outcome(
                    name,
                    measured.doubt().isEmpty() ? Outcome.Status.SHOWN : Outcome.Status.BROKEN,
                    pass(kernelNs) + ", wall time",
                    text(measured),
                    figures(kernelNs, measured.costs())));
        }
        return outcomes;
    }

    /**
     * The times of the passes.
     *
     * @param doubt the reason why the times are implausible; empty if they are plausible
     */
    private record Measured(PassCosts costs, String doubt) {}

    private Measured measure(long kernelNs) {
        BrickProfiler profiler = profiler();
        DevicePass pass = ShortKernels.pass(gpu, kernelNs);
        Map<String, PassCosts.Way> ways = PassCosts.watching(profiler, way -> {
            way.run(profiler, pass);
            gpu.synchronize();
        });
        try (BareEvents events = new BareEvents(gpu, pass)) {
            events.addTo(ways);
            PassCosts costs = PassCosts.measure(clock, rounds, ways);
            return new Measured(costs, doubt(costs, profiler.snapshot(), kernelNs, events.refused()));
        }
    }

    private String doubt(PassCosts costs, ProfileSnapshot snapshot, long kernelNs, long refused) {
        long bricks = (long) (rounds + PassCosts.warmUp(rounds)) * WAYS_WITH_MARKS * ShortKernels.KERNELS;
        long timed = snapshot.bricks().stream()
                .mapToLong(brick -> brick.device().measured())
                .sum();
        if (timed != bricks) {
            return String.format(
                    Locale.ROOT,
                    "the device timed %,d of %,d bricks, and %,d are unresolved (%s)",
                    timed,
                    bricks,
                    snapshot.unresolved(),
                    reason());
        }
        if (refused > 0) {
            return String.format(Locale.ROOT, "the driver refused %,d readings of bare events", refused);
        }
        long kernelsNs = ShortKernels.KERNELS * kernelNs;
        for (PassCosts.Cost cost : costs.costs()) {
            if (cost.medianNs() < (1 - SHORTER_BOUND) * kernelsNs) {
                return String.format(
                        Locale.ROOT,
                        "%s: a pass takes %.0f us, and its kernels %.0f us",
                        cost.name(),
                        cost.medianNs() / 1e3,
                        kernelsNs / 1e3);
            }
            Spread overhead = Spread.of(costs.overheads(cost.name()));
            if (overhead.high() < -FASTER_BOUND) {
                return String.format(
                        Locale.ROOT,
                        "%s is faster by %.1f %% than no profiler at all",
                        cost.name(),
                        -100 * overhead.median());
            }
        }
        return "";
    }

    private Outcome claim(Measured measured, Watching way, String floor) {
        double[] addedNs = measured.costs().addedNs(way.title());
        double[] floorNs = measured.costs().addedNs(floor);
        double[] overNs = new double[addedNs.length];
        for (int round = 0; round < overNs.length; round++) {
            overNs[round] = addedNs[round] - BOUND * floorNs[round];
        }
        boolean sound = measured.doubt().isEmpty();
        String found = String.format(
                Locale.ROOT,
                "%.2f us a brick, and %.2f us by %s",
                Spread.of(addedNs).median() / 1e3 / ShortKernels.KERNELS,
                Spread.of(floorNs).median() / 1e3 / ShortKernels.KERNELS,
                floor);
        Map<String, Object> figures = new LinkedHashMap<>();
        figures.put("added_ns", Spread.of(addedNs).figures());
        figures.put("floor_ns", Spread.of(floorNs).figures());
        figures.put("over_bound_ns", Spread.of(overNs).figures());
        figures.put("bound", BOUND);
        return new Outcome(
                name,
                sound ? Spread.of(overNs).atMost(0) : Outcome.Status.BROKEN,
                String.format(
                        Locale.ROOT,
                        "%s adds to %s at most %.2f x the time of %s",
                        way.title(),
                        pass(BOUND_FOR_NS),
                        BOUND,
                        floor),
                sound ? found : measured.doubt() + "; " + found,
                figures);
    }

    private static String pass(long kernelNs) {
        return ShortKernels.KERNELS + " kernels of " + kernelNs / 1_000 + " us";
    }

    private static String text(Measured measured) {
        List<String> ways = new ArrayList<>();
        if (!measured.doubt().isEmpty()) {
            ways.add(measured.doubt());
        }
        for (PassCosts.Cost cost : measured.costs().costs()) {
            Spread overhead = Spread.of(measured.costs().overheads(cost.name()));
            ways.add(String.format(
                    Locale.ROOT, "%s %.0f us (%+.1f %%)", cost.name(), cost.medianNs() / 1e3, 100 * overhead.median()));
        }
        return String.join("; ", ways);
    }

    private static Map<String, Object> figures(long kernelNs, PassCosts costs) {
        List<Map<String, Object>> ways = new ArrayList<>();
        for (PassCosts.Cost cost : costs.costs()) {
            Map<String, Object> way = new LinkedHashMap<>();
            way.put("way", cost.name());
            way.put("rounds", cost.rounds());
            way.put("median_ns", cost.medianNs());
            way.put("lower_quartile_ns", cost.lowNs());
            way.put("upper_quartile_ns", cost.highNs());
            way.put("overhead", Spread.of(costs.overheads(cost.name())).figures());
            ways.add(way);
        }
        Map<String, Object> figures = new LinkedHashMap<>();
        figures.put("kernel_ns", kernelNs);
        figures.put("kernels", ShortKernels.KERNELS);
        figures.put("ways", ways);
        return figures;
    }
}
