package org.brickprofiler;

import static org.brickprofiler.internal.base.Checks.requireFinite;
import static org.brickprofiler.internal.base.Checks.requireNotNegative;

import java.util.Collections;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;

/**
 * The cost of timing bricks on a machine, as {@link BrickProfiler#calibrate} measured it. Immutable.
 *
 * <p>A brick contains only a part of the clock reads around it; the processor executes the rest of the timing in
 * parallel with the work of the next brick, as far as its resources allow. Therefore there are two measurements: of
 * empty bricks, and of bricks around chains of dependent operations, less the time of the chains alone. The latter is
 * subtracted from times. Neither includes the cost of compiler optimisations that the calls prevent: above all
 * inlining, and keeping values in registers if the work is compiled into the method that times it. {@code brick run
 * --overhead} measures this cost.
 *
 * @param environment the environment of the measurement
 * @param clockStepNs the smallest step of the clock that was observed, ns
 * @param clockReadNs the duration of one read of the clock, ns
 * @param clockWentBack how often the clock was observed to run backwards, on one thread
 * @param costs the costs by mode of recording, at least of {@link Mode#OWN}
 */
public record Calibration(
        Environment environment, Spread clockStepNs, Spread clockReadNs, long clockWentBack, Map<Mode, Cost> costs) {

    /** The cheapest calibration of an environment comes first, and represents it. */
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
        /** By marks of a device, in files of versions that measured this. */
        DEVICE
    }

    /**
     * The distribution of repeated measurements of a time.
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
     * The cost of a brick in one way of recording.
     *
     * @param emptyNs the time from before the start of an empty brick to after its stop
     * @param sampleNs the time that timing a piece of work as a brick adds to the outer brick that contains it; on a
     *     device the same as {@code emptyNs}
     * @param insideNs the part of {@code sampleNs} that the brick's own duration includes; on a device the device's
     *     time between the marks
     * @param lapNs the time that timing a piece of work as a brick adds if {@code lap} begins the brick; the brick's
     *     own duration includes all of it
     */
    public record Cost(Spread emptyNs, Spread sampleNs, Spread insideNs, Spread lapNs) {
        /** Rejects null. */
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
            throw new IllegalArgumentException("costs lack OWN: found " + sorted.keySet());
        }
        costs = Collections.unmodifiableMap(sorted);
    }

    /**
     * Returns the cost of a brick of the calibrated profiler.
     *
     * @return the cost of {@link Mode#OWN}
     */
    public Cost own() {
        return Objects.requireNonNull(costs.get(Mode.OWN), "OWN");
    }
}
