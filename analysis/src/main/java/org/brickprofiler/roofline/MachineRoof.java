package org.brickprofiler.roofline;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.brickprofiler.Environment;
import org.jspecify.annotations.Nullable;

/**
 * The highest rates of a machine, as measured by {@link #measure}: the bandwidth by the size of the working set, which
 * shows the cache levels and the memory, and the rate of floating-point operations. Immutable.
 *
 * <p>Each rate consists of the {@linkplain Rate#high highest} of several rounds, the median and the lowest. The highest
 * is the roof: a rate that was reached once can be reached again.
 *
 * @param environment the measured machine
 * @param measuredAt the time of the measurement
 * @param bandwidths the bandwidths by working set, ascending; not empty
 * @param flopsOne single-precision GFLOP/s of one thread
 * @param flopsAll single-precision GFLOP/s of one thread for each processor, together
 * @param disturbances other activity of the machine during the measurement, one remark each; empty if none was observed
 */
public record MachineRoof(
        Environment environment,
        Instant measuredAt,
        List<Bandwidth> bandwidths,
        Rate flopsOne,
        Rate flopsAll,
        List<String> disturbances) {

    /** The relative difference from which a rate has drifted. */
    private static final double DRIFT = 0.1;

    /**
     * Sorts the bandwidths.
     *
     * @throws IllegalArgumentException when there is none, or no processor
     */
    public MachineRoof {
        Objects.requireNonNull(environment, "environment");
        Objects.requireNonNull(measuredAt, "measuredAt");
        Objects.requireNonNull(flopsOne, "flopsOne");
        Objects.requireNonNull(flopsAll, "flopsAll");
        Objects.requireNonNull(bandwidths, "bandwidths");
        disturbances = List.copyOf(Objects.requireNonNull(disturbances, "disturbances"));
        bandwidths = bandwidths.stream()
                .sorted(Comparator.comparingLong(Bandwidth::workingSetBytes))
                .toList();
        if (bandwidths.isEmpty()) {
            throw new IllegalArgumentException("a machine's roof has no bandwidths");
        }
        if (environment.processors() < 1) {
            throw new IllegalArgumentException("processors " + environment.processors() + " is not 1 or more");
        }
    }

    /**
     * Creates the roof of a machine without other activity during its measurement.
     *
     * @param environment the measured machine
     * @param measuredAt the time of the measurement
     * @param bandwidths the bandwidths by working set; not empty
     * @param flopsOne single-precision GFLOP/s of one thread
     * @param flopsAll single-precision GFLOP/s of one thread for each processor, together
     * @throws IllegalArgumentException when there is no bandwidth, or no processor
     */
    public MachineRoof(
            Environment environment, Instant measuredAt, List<Bandwidth> bandwidths, Rate flopsOne, Rate flopsAll) {
        this(environment, measuredAt, bandwidths, flopsOne, flopsAll, List.of());
    }

    /**
     * Returns a copy with other activity of the machine during the measurement, because of which its rates may be too
     * low.
     *
     * @param remarks one remark each
     * @return a roof
     */
    public MachineRoof withDisturbances(List<String> remarks) {
        return new MachineRoof(
                environment, measuredAt, bandwidths, flopsOne, flopsAll, Objects.requireNonNull(remarks, "remarks"));
    }

    /**
     * Several measurements of one rate. Immutable.
     *
     * @param low the lowest
     * @param median the median
     * @param high the highest
     */
    public record Rate(double low, double median, double high) {

        /**
         * Checks the values.
         *
         * @throws IllegalArgumentException when one is not positive and finite, or they are out of order
         */
        public Rate {
            if (!(low > 0 && low <= median && median <= high && high < Double.POSITIVE_INFINITY)) {
                throw new IllegalArgumentException(
                        "rates " + low + ", " + median + ", " + high + " are not positive, finite and in order");
            }
        }

        /**
         * Returns the spread of the rounds.
         *
         * @return the difference of the highest and the lowest, as a share of the highest
         */
        public double spread() {
            return 1 - low / high;
        }
    }

    /**
     * The rates at which a working set can be read repeatedly, and at which a triad {@code a = b + q * c} processes it,
     * or a copy {@code a = b} if that is faster. Only bytes that the program reads and writes count, not those that a
     * processor loads only to overwrite them. Threads divide the working set, but no part is smaller than 16 KiB.
     *
     * @param level the cache level that holds it for one thread, such as {@code L2}; {@code memory}; or empty if the
     *     system does not describe its caches
     * @param workingSetBytes the size of the working set, bytes
     * @param readOne GB/s (of 10<sup>9</sup>) read by one thread
     * @param readAll GB/s read by all threads together
     * @param triadOne GB/s read and written by one thread
     * @param triadAll GB/s read and written by all threads together
     */
    public record Bandwidth(
            String level, long workingSetBytes, Rate readOne, Rate readAll, Rate triadOne, Rate triadAll) {

        /** The memory beyond the last cache. */
        public static final String MEMORY = "memory";

        /**
         * Checks the values.
         *
         * @throws IllegalArgumentException when the working set is not positive
         */
        public Bandwidth {
            Objects.requireNonNull(level, "level");
            Objects.requireNonNull(readOne, "readOne");
            Objects.requireNonNull(readAll, "readAll");
            Objects.requireNonNull(triadOne, "triadOne");
            Objects.requireNonNull(triadAll, "triadAll");
            if (workingSetBytes <= 0) {
                throw new IllegalArgumentException("workingSetBytes " + workingSetBytes + " is not above 0");
            }
        }

        private double one() {
            return Math.max(readOne.high(), triadOne.high());
        }

        private double all() {
            return Math.max(readAll.high(), triadAll.high());
        }
    }

    /**
     * Measures this machine, with loops that the just-in-time compiler vectorises. The measurement occupies all
     * processors for about half a minute. It uses memory of at least four times the last cache, or as much as
     * {@code maxBytes} permits; {@link #reachesMemory} shows whether that was enough. Other work on the machine lowers
     * the rates. One thread at a time.
     *
     * @param maxBytes the most memory to use, bytes; at least 1 MiB is used
     * @return the roof
     */
    public static MachineRoof measure(long maxBytes) {
        return new RoofProbe(maxBytes).measure();
    }

    /**
     * Measures two rates of one thread beside a run: its operations, and its reading of 16 MiB. The measurement takes
     * about a second; no brick may run at the same time. Store the result in the profile:
     *
     * <pre>{@code
     * RunFacts facts = snapshot.facts();
     * snapshot = snapshot.withFacts(facts.withMachine(MachineRoof.measureBriefly(), facts.disturbances()));
     * }</pre>
     *
     * @return figures for {@link org.brickprofiler.RunFacts#machine}
     */
    public static Map<String, Double> measureBriefly() {
        return RoofProbe.measureBriefly();
    }

    /**
     * Returns whether the machine has drifted between a profile and this measurement: a rate of {@link #measureBriefly}
     * is more than a tenth below the median of the rounds here, or more than a tenth above the highest.
     *
     * @param figures the figures measured beside the run
     * @return a remark for each rate that has drifted; empty if no rate has drifted or was measured
     */
    public List<String> drift(Map<String, Double> figures) {
        Objects.requireNonNull(figures, "figures");
        List<String> remarks = new ArrayList<>();
        addDrift(remarks, "GFLOP/s of one thread", figures.get(RoofProbe.BRIEF_FLOPS), flopsOne);
        addDrift(
                remarks,
                "GB/s, reading 16 MiB,",
                figures.get(RoofProbe.BRIEF_READ),
                at(RoofProbe.BRIEF_BYTES).readOne());
        return List.copyOf(remarks);
    }

    private static void addDrift(List<String> remarks, String what, @Nullable Double now, Rate then) {
        if (now != null && (now < (1 - DRIFT) * then.median() || now > (1 + DRIFT) * then.high())) {
            remarks.add(String.format(
                    Locale.ROOT,
                    "the machine has drifted: %.1f %s beside the run, %.1f to %.1f when its roof was measured",
                    now,
                    what,
                    then.low(),
                    then.high()));
        }
    }

    /**
     * Returns whether the bandwidth of the memory itself was measured, or only that of caches.
     *
     * @return false if the largest working set fits a known cache
     */
    public boolean reachesMemory() {
        String last = bandwidths.get(bandwidths.size() - 1).level();
        return last.isEmpty() || last.equals(Bandwidth.MEMORY);
    }

    /**
     * Returns the bandwidth for a working set: that of the largest measured set that is no larger, otherwise of the
     * smallest measured set.
     *
     * @param workingSetBytes its size, bytes
     * @return the measured bandwidth
     */
    public Bandwidth at(long workingSetBytes) {
        Bandwidth found = bandwidths.get(0);
        for (Bandwidth each : bandwidths) {
            if (each.workingSetBytes() <= workingSetBytes) {
                found = each;
            }
        }
        return found;
    }

    /**
     * Returns the highest bandwidth for a working set: the higher of reading and triad, and at least that of any larger
     * set. Fewer threads than processors reach at most the rate of all threads, and at most the rate of one thread
     * times their number.
     *
     * @param workingSetBytes its size, bytes
     * @param threads the number of threads that work on it, 1 or more
     * @return GB/s
     * @throws IllegalArgumentException when there is no thread
     */
    public double bandwidthGBps(long workingSetBytes, int threads) {
        long from = at(workingSetBytes).workingSetBytes();
        double one = 0;
        double all = 0;
        for (Bandwidth each : bandwidths) {
            if (each.workingSetBytes() >= from) {
                one = Math.max(one, each.one());
                all = Math.max(all, each.all());
            }
        }
        return ofThreads(one, all, threads);
    }

    /**
     * Returns the highest rate of operations of some threads.
     *
     * @param threads their number, 1 or more
     * @return GFLOP/s
     * @throws IllegalArgumentException when there is no thread
     */
    public double gflops(int threads) {
        return ofThreads(flopsOne.high(), flopsAll.high(), threads);
    }

    private static double ofThreads(double one, double all, int threads) {
        if (threads < 1) {
            throw new IllegalArgumentException("threads " + threads + " is not 1 or more");
        }
        return threads == 1 ? one : Math.min(threads * one, Math.max(one, all));
    }
}
