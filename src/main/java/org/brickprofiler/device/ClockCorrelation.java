package org.brickprofiler.device;

/**
 * Two clocks that were compared twice: converts a device's ticks to the host's time, and says how wrong that may be.
 * Immutable; any thread; allocates nothing.
 *
 * <p>The bound holds for a counter that runs evenly. At the tick <i>d</i>, with the counter read at <i>d1</i> and
 * <i>d2</i> within <i>e1</i> and <i>e2</i> of the host times that were taken, and <i>p</i> = (<i>d</i> − <i>d1</i>) /
 * (<i>d2</i> − <i>d1</i>), the true line lies within |1 − <i>p</i>| <i>e1</i> + |<i>p</i>| <i>e2</i> of the converted
 * time: between the moments never more than the larger of the two errors, outside of them more with every tick.
 */
public final class ClockCorrelation {

    /** More than all roundings of a bound add up to, relative to it: a few times 2<sup>-53</sup>. */
    private static final double ROUNDINGS = 0x1p-48;

    private final ClockMoment first;
    private final ClockMoment second;
    private final ClockConversion conversion;

    private ClockCorrelation(ClockMoment first, ClockMoment second) {
        this.first = first;
        this.second = second;
        this.conversion = ClockConversion.between(first.pair(), second.pair());
    }

    /**
     * The correlation by two moments.
     *
     * @param first the earlier moment
     * @param second the later moment; the farther apart, the smaller the error of durations
     * @return what converts by the line through both
     * @throws IllegalArgumentException when one of the clocks did not advance from the first moment to the second
     */
    public static ClockCorrelation between(ClockMoment first, ClockMoment second) {
        return new ClockCorrelation(first, second);
    }

    /**
     * The slope and the offset.
     *
     * @return the line through both moments
     */
    public ClockConversion conversion() {
        return conversion;
    }

    /**
     * How wrong the host's time at a reading of the counter may be, its rounding to whole nanoseconds included.
     *
     * @param deviceTicks the device's counter, ticks, 0 or more
     * @return ns, 1 or more; {@link Long#MAX_VALUE} for what is more
     */
    public long errorNs(long deviceTicks) {
        double apart = (double) (second.deviceTicks() - first.deviceTicks());
        double ofFirst = Math.abs((double) (second.deviceTicks() - deviceTicks)) / apart * first.errorNs();
        double ofSecond = Math.abs((double) (deviceTicks - first.deviceTicks())) / apart * second.errorNs();
        double boundNs = Math.ceil((ofFirst + ofSecond) * (1 + ROUNDINGS));
        return boundNs < Long.MAX_VALUE ? (long) boundNs + 1 : Long.MAX_VALUE;
    }

    @Override
    public String toString() {
        return "ClockCorrelation[" + conversion + ", " + first + ", " + second + "]";
    }
}
