package org.brickprofiler.demo.device;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.record.NanoClock;

/**
 * What each way of watching adds to the wall time of a pass of short kernels. The bounds are for kernels of 10 us; the
 * shorter ones, which the host can hardly launch as fast as they end, and the longer ones are told beside them.
 */
final class CostCheck implements Check {

    private static final long BOUND_FOR_NS = 10_000;
    private static final long[] KERNELS_NS = {5_000, BOUND_FOR_NS, 25_000};
    private static final double DEFERRED_BOUND = 0.02;
    private static final double LAP_BOUND = 0.01;

    private final Gpu gpu;
    private final int rounds;

    /**
     * A check.
     *
     * @param rounds how often each way is measured
     */
    CostCheck(Gpu gpu, int rounds) {
        this.gpu = gpu;
        this.rounds = rounds;
    }

    @Override
    public String name() {
        return "cost";
    }

    @Override
    public List<Outcome> run() {
        List<Outcome> outcomes = new ArrayList<>();
        for (long kernelNs : KERNELS_NS) {
            PassCosts costs = measure(kernelNs);
            if (kernelNs == BOUND_FOR_NS) {
                outcomes.add(0, claim(costs, Watching.DEFERRED, DEFERRED_BOUND));
                outcomes.add(1, claim(costs, Watching.DEFERRED_LAP, LAP_BOUND));
            }
            outcomes.add(new Outcome(
                    name(),
                    Outcome.Status.TOLD,
                    pass(kernelNs) + ", wall time",
                    text(costs),
                    figures(kernelNs, costs)));
        }
        return outcomes;
    }

    private PassCosts measure(long kernelNs) {
        BrickProfiler profiler =
                BrickProfiler.builder().deviceStream(gpu.stream()).build();
        profiler.enable();
        DevicePass pass = ShortKernels.pass(gpu, kernelNs);
        return PassCosts.ofWatching(NanoClock.SYSTEM, rounds, profiler, way -> {
            way.run(profiler, pass);
            gpu.synchronize();
        });
    }

    private Outcome claim(PassCosts costs, Watching way, double bound) {
        PassCosts.Cost absent = costs.cost(Watching.ABSENT.title());
        PassCosts.Cost cost = costs.cost(way.title());
        double overhead = cost.overhead(absent);
        return Outcome.of(
                name(),
                overhead <= bound,
                String.format(
                        Locale.ROOT, "%s adds at most %.0f %% to %s", way.title(), 100 * bound, pass(BOUND_FOR_NS)),
                String.format(
                        Locale.ROOT,
                        "%+.2f %%, %.2f us a brick",
                        100 * overhead,
                        (cost.medianNs() - absent.medianNs()) / 1e3 / ShortKernels.KERNELS),
                Map.of("overhead", overhead, "bound", bound));
    }

    private static String pass(long kernelNs) {
        return ShortKernels.KERNELS + " kernels of " + kernelNs / 1_000 + " us";
    }

    private static String text(PassCosts costs) {
        List<String> ways = new ArrayList<>();
        PassCosts.Cost absent = costs.costs().get(0);
        for (PassCosts.Cost cost : costs.costs()) {
            ways.add(String.format(
                    Locale.ROOT, "%s %.0f us (%+.1f %%)", cost.name(), cost.medianNs() / 1e3, 100
                            * cost.overhead(absent)));
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
            way.put("overhead", cost.overhead(costs.costs().get(0)));
            ways.add(way);
        }
        Map<String, Object> figures = new LinkedHashMap<>();
        figures.put("kernel_ns", kernelNs);
        figures.put("kernels", ShortKernels.KERNELS);
        figures.put("ways", ways);
        return figures;
    }
}
