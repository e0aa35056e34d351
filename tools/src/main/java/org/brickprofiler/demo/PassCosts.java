package org.brickprofiler.demo;

import static org.brickprofiler.report.internal.HumanUnits.duration;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.spi.NanoClock;

/**
 * The wall times of one pass in several ways; the first way is the reference for the others. The ways take turns, so
 * that a change over time affects all of them equally; each round begins with another way, so that no way always
 * follows the same one. Immutable.
 */
public final class PassCosts {

    private final List<Cost> costs;

    /** The times of each way, by round. */
    private final List<long[]> times;

    private PassCosts(List<Cost> costs, List<long[]> times) {
        this.costs = List.copyOf(costs);
        this.times = List.copyOf(times);
    }

    /** One way. */
    public interface Way {
        /** Prepares the pass; not timed. */
        default void prepare() {}

        /** Runs the pass and waits until the device has finished it. */
        void run();
    }

    /**
     * The wall times of one way.
     *
     * @param name the way
     * @param rounds the number of times
     * @param lowNs the lower quartile, ns
     * @param medianNs the median, ns
     * @param highNs the upper quartile, ns
     */
    public record Cost(String name, int rounds, long lowNs, long medianNs, long highNs) {

        /**
         * Returns how much longer it takes than another one.
         *
         * @param base the other one
         * @return the difference of the medians as a share of the base's
         */
        public double overhead(Cost base) {
            return (double) (medianNs - base.medianNs) / Math.max(1, base.medianNs);
        }
    }

    /**
     * Measures all ways to watch a pass.
     *
     * @param clock measures the wall time
     * @param rounds how often each is measured, 1 or more
     * @param profiler watches; its mode is changed
     * @param pass runs the pass and waits for the device
     * @return the costs by the titles of the ways
     */
    public static PassCosts ofWatching(NanoClock clock, int rounds, BrickProfiler profiler, Consumer<Watching> pass) {
        return measure(clock, rounds, watching(profiler, pass));
    }

    /**
     * Returns all ways to watch a pass, for {@link #measure}.
     *
     * @param profiler watches; its mode is changed
     * @param pass runs the pass and waits for the device
     * @return the ways by their titles, in order; others can be added
     */
    public static Map<String, Way> watching(BrickProfiler profiler, Consumer<Watching> pass) {
        Map<String, Way> ways = new LinkedHashMap<>();
        for (Watching watching : Watching.values()) {
            ways.put(watching.title(), new Way() {
                @Override
                public void prepare() {
                    profiler.setSyncMode(watching.mode());
                }

                @Override
                public void run() {
                    pass.accept(watching);
                }
            });
        }
        return ways;
    }

    /**
     * Measures the ways, after a warm-up of a tenth as many rounds, at least one.
     *
     * @param clock measures the wall time
     * @param rounds how often each is measured, 1 or more
     * @param ways the ways by their names, in order
     * @return their costs
     */
    public static PassCosts measure(NanoClock clock, int rounds, Map<String, Way> ways) {
        List<String> names = List.copyOf(ways.keySet());
        List<Way> order = List.copyOf(ways.values());
        List<long[]> times = new ArrayList<>();
        order.forEach(way -> times.add(new long[rounds]));
        int warmup = warmUp(rounds);
        for (int round = -warmup; round < rounds; round++) {
            for (int turn = 0; turn < order.size(); turn++) {
                int way = Math.floorMod(round + turn, order.size());
                order.get(way).prepare();
                long startNs = clock.nanoTime();
                order.get(way).run();
                long elapsedNs = clock.nanoTime() - startNs;
                if (round >= 0) {
                    times.get(way)[round] = elapsedNs;
                }
            }
        }
        List<Cost> costs = new ArrayList<>();
        for (int way = 0; way < names.size(); way++) {
            costs.add(cost(names.get(way), times.get(way)));
        }
        return new PassCosts(costs, times);
    }

    /**
     * Returns the number of warm-up rounds, which do not count.
     *
     * @param rounds the number of rounds that count
     * @return 1 or more
     */
    public static int warmUp(int rounds) {
        return Math.max(1, rounds / 10);
    }

    private static Cost cost(String name, long[] times) {
        long[] sorted = times.clone();
        Arrays.sort(sorted);
        int last = sorted.length - 1;
        return new Cost(name, sorted.length, sorted[last / 4], sorted[last / 2], sorted[last * 3 / 4]);
    }

    /**
     * Returns the costs.
     *
     * @return in the order of the ways; the first one is the reference
     */
    public List<Cost> costs() {
        return costs;
    }

    /** Returns the cost of one way. */
    Cost cost(String name) {
        return costs.stream()
                .filter(cost -> cost.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    /**
     * Returns how much longer a way takes than the first one.
     *
     * @param name the way
     * @return the difference in each round, as a share of the first way's time in the same round
     */
    public double[] overheads(String name) {
        long[] base = times.get(0);
        double[] shares = addedNs(name);
        for (int round = 0; round < base.length; round++) {
            shares[round] /= Math.max(1, base[round]);
        }
        return shares;
    }

    /**
     * Returns how much longer a way takes than the first one, in time.
     *
     * @param name the way
     * @return the difference in each round, ns
     */
    public double[] addedNs(String name) {
        long[] base = times.get(0);
        long[] way = times.get(costs.indexOf(cost(name)));
        double[] added = new double[base.length];
        for (int round = 0; round < base.length; round++) {
            added[round] = way[round] - base[round];
        }
        return added;
    }

    /**
     * Returns a table.
     *
     * @return lines that end with {@code "\n"}
     */
    public String toText() {
        StringBuilder text = new StringBuilder(String.format(
                Locale.ROOT, "%-16s %12s %25s %11s\n", "watched by", "median", "middle half", "overhead"));
        for (Cost cost : costs) {
            text.append(String.format(
                    Locale.ROOT,
                    "%-16s %12s %25s %+9.2f %%\n",
                    cost.name(),
                    duration(cost.medianNs()),
                    duration(cost.lowNs()) + " to " + duration(cost.highNs()),
                    100 * cost.overhead(costs.get(0))));
        }
        return text.toString();
    }
}
