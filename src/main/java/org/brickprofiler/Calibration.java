package org.brickprofiler;

import static org.brickprofiler.internal.io.Checks.requireFinite;
import static org.brickprofiler.internal.io.Checks.requireNotNegative;

import java.util.Collections;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;

/**
 * What timing bricks cost on a machine, as {@link BrickProfiler#calibrate} measured it. Immutable.
 *
 * <p>A clock read lasts longer than what a brick shows of it, and what follows the read is done beside the work of the
 * next brick, as far as the processor has room. So there are two measurements: of empty bricks, and of bricks around
 * chains of operations that wait for each other, less those by themselves. The latter is what is taken out of times. In
 * neither is what a call keeps the compiler from doing: inlining above all, and keeping values in registers where the
 * work is compiled into the method that times it. {@code brick run --overhead} shows it.
 *
 * @param environment where it was measured
 * @param clockStepNs the smallest steps of the clock that were seen, ns
 * @param clockReadNs what one read of the clock takes, ns
 * @param clockWentBack how often it was seen to run backwards, on one thread
 * @param costs by the way of recording; {@link Mode#OWN} at least
 */
public record Calibration(
        Environment environment, Spread clockStepNs, Spread clockReadNs, long clockWentBack, Map<Mode, Cost> costs) {

    /** Of several in one environment, the one with the lowest cost stands for it. */
    static final Comparator<Calibration> CHEAPEST_FIRST = Comparator.comparingDouble(
                    (Calibration calibration) -> calibration.own().sampleNs().medianNs())
            .thenComparing(Calibration::toString);

    /** A way of recording. */
    public enum Mode {
        /** As the calibrated profiler records a brick that the host times. */
        OWN,
        /** Sums alone. */
        PLAIN,
        /** With percentiles. */
        PERCENTILES,
        /** With a timeline. */
        TIMELINE,
        /** With a graph. */
        GRAPH,
        /** By marks in the queue of the calibrated profiler's first device stream. */
        DEVICE
    }

    /**
     * A time as it was measured over and over.
     *
     * @param medianNs half of the measurements were below, ns
     * @param lowNs one in ten was below, ns
     * @param highNs one in ten was above, ns
     */
    public record Spread(double medianNs, double lowNs, double highNs) {
        /**
         * Checks the values.
         *
         * @throws IllegalArgumentException when one is negative or not finite
         */
        public Spread {
            requireFinite("medianNs", medianNs);
            requireFinite("lowNs", lowNs);
            requireFinite("highNs", highNs);
        }
    }

    /**
     * What a brick costs in one way of recording.
     *
     * @param emptyNs from before the start of an empty brick to behind its stop
     * @param sampleNs how much longer a piece of work takes with a brick around it, inside another brick; on a device
     *     the same as for an empty one
     * @param insideNs how much of that the brick shows as its own time; on a device the device's time between the marks
     * @param lapNs how much longer a piece of work takes where {@code lap} begins its brick, which shows all of it
     */
    public record Cost(Spread emptyNs, Spread sampleNs, Spread insideNs, Spread lapNs) {
        /** Refuses null. */
        public Cost {
            Objects.requireNonNull(emptyNs, "emptyNs");
            Objects.requireNonNull(sampleNs, "sampleNs");
            Objects.requireNonNull(insideNs, "insideNs");
            Objects.requireNonNull(lapNs, "lapNs");
        }
    }

    /**
     * Checks the values.
     *
     * @throws IllegalArgumentException when a number is negative, or the cost of {@link Mode#OWN} is missing
     */
    public Calibration {
        Objects.requireNonNull(environment, "environment");
        Objects.requireNonNull(clockStepNs, "clockStepNs");
        Objects.requireNonNull(clockReadNs, "clockReadNs");
        requireNotNegative("clockWentBack", clockWentBack);
        Map<Mode, Cost> sorted = new EnumMap<>(Mode.class);
        sorted.putAll(Objects.requireNonNull(costs, "costs"));
        if (!sorted.containsKey(Mode.OWN)) {
            throw new IllegalArgumentException("costs of " + sorted.keySet() + " without OWN");
        }
        costs = Collections.unmodifiableMap(sorted);
    }

    /**
     * What a brick of the calibrated profiler costs.
     *
     * @return the cost of {@link Mode#OWN}
     */
    public Cost own() {
        return Objects.requireNonNull(costs.get(Mode.OWN), "OWN");
    }
}
