package org.brickprofiler.device;

import static org.brickprofiler.internal.base.Checks.requireFinite;

import java.util.Comparator;
import java.util.Objects;

/**
 * The device time that marks add, as a {@link DeviceStream} measured it around empty kernels. Immutable.
 *
 * @param brickNs the time that a brick of one kernel is longer than its kernel, ns; 0 if unknown
 * @param markNs the time that each further mark adds to the bricks and passes in which it lies, ns; 0 if unknown
 * @param errorNs the uncertainty of both, ns: how much longer or shorter {@code brickNs} is in an empty queue than in
 *     the full one in which it was measured
 * @param unknown the reason why the cost is unknown; empty if it is known
 */
public record MarkCost(double brickNs, double markNs, double errorNs, String unknown) {

    /** The cost in files of versions that did not record it. */
    public static final MarkCost NOT_RECORDED = unknown("it was not recorded");

    /** The cost of a stream that does not measure it. */
    static final MarkCost NOT_MEASURED = unknown("streams of this kind do not measure it");

    /** Known costs last, and the largest of these. */
    static final Comparator<MarkCost> ORDER = Comparator.comparing(MarkCost::isKnown)
            .thenComparingDouble(MarkCost::brickNs)
            .thenComparingDouble(MarkCost::markNs)
            .thenComparingDouble(MarkCost::errorNs)
            .thenComparing(MarkCost::unknown);

    /**
     * Checks the values.
     *
     * @throws IllegalArgumentException when one is negative or not finite
     */
    public MarkCost {
        requireFinite("brickNs", brickNs);
        requireFinite("markNs", markNs);
        requireFinite("errorNs", errorNs);
        Objects.requireNonNull(unknown, "unknown");
    }

    /**
     * Returns an unknown cost.
     *
     * @param reason why it is unknown
     * @return the cost
     * @throws IllegalArgumentException when the reason is empty
     */
    public static MarkCost unknown(String reason) {
        if (reason.isEmpty()) {
            throw new IllegalArgumentException("an unknown cost of marks needs a reason");
        }
        return new MarkCost(0, 0, 0, reason);
    }

    /**
     * Returns whether the cost is known.
     *
     * @return false if there is a reason why not
     */
    public boolean isKnown() {
        return unknown.isEmpty();
    }
}
