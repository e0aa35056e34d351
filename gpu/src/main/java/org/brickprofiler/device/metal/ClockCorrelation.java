package org.brickprofiler.device.metal;

import org.brickprofiler.device.ClockConversion;

/**
 * The relation of two clocks that were compared twice: converts a device's ticks to the host's time, and bounds the
 * error. Immutable; any thread; allocates nothing.
 *
 * <p>The bound holds for a counter that runs evenly. At the tick <i>d</i>, with the counter read at <i>d1</i> and
 * <i>d2</i> within <i>e1</i> and <i>e2</i> of the host times that were taken, and <i>p</i> = (<i>d</i> − <i>d1</i>) /
 * (<i>d2</i> − <i>d1</i>), the true line lies within |1 − <i>p</i>| <i>e1</i> + |<i>p</i>| <i>e2</i> of the converted
 * time. Between the moments, this is never more than the larger of the two errors; outside of them, it grows with every
 * tick.
 */
final class ClockCorrelation {

    /** More than the sum of all roundings of a bound, relative to the bound: a few times 2<sup>-53</sup>. */
    private static final double ROUNDINGS = 0x1p-48;

    private final Moment first;
    private final Moment second;
    private final ClockConversion conversion;

    private ClockCorrelation(Moment first, Moment second) {
        this.first = first;
        this.second = second;
        this.conversion = ClockConversion.between(first.pair(), second.pair());
    }

    /**
     * Returns the correlation by two moments.
     *
     * @param first the earlier moment
     * @param second the later moment; the farther apart, the smaller the error of durations
     * @return the correlation by the line through both
     * @throws IllegalArgumentException when one of the clocks did not advance from the first moment to the second
     */
    static ClockCorrelation between(Moment first, Moment second) {
        return new ClockCorrelation(first, second);
    }

    /**
     * Returns the slope and the offset.
     *
     * @return the line through both moments
     */
    ClockConversion conversion() {
        return conversion;
    }

    /**
     * Returns the largest error of the host's time at a reading of the counter, including its rounding to whole
     * nanoseconds.
     *
     * @param deviceTicks the device's counter, ticks, 0 or more
     * @return ns, 1 or more; {@link Long#MAX_VALUE} if it is larger
     */
    long errorNs(long deviceTicks) {
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

    /**
     * A reading of a device's counter at an unknown moment between two readings of the host's clock. Immutable.
     *
     * @param hostBeforeNs the host's clock before, ns since any fixed origin
     * @param hostAfterNs the host's clock after, ns, {@code hostBeforeNs} or more
     * @param deviceTicks the device's counter, ticks, 0 or more
     */
    record Moment(long hostBeforeNs, long hostAfterNs, long deviceTicks) {

        /**
         * Creates a moment.
         *
         * @throws IllegalArgumentException when the host's clock went back, or advanced by 2<sup>63</sup> ns or more,
         *     or when the ticks are negative
         */
        Moment {
            if (hostAfterNs < hostBeforeNs || hostAfterNs - hostBeforeNs < 0) {
                throw new IllegalArgumentException(
                        "from " + hostBeforeNs + " to " + hostAfterNs + " ns is no interval");
            }
            if (deviceTicks < 0) {
                throw new IllegalArgumentException("deviceTicks " + deviceTicks + " is negative");
            }
        }

        /**
         * Returns the pair with the smallest error.
         *
         * @return the counter, and the middle of the host's readings
         */
        ClockConversion.Pair pair() {
            return new ClockConversion.Pair(hostBeforeNs + (hostAfterNs - hostBeforeNs) / 2, deviceTicks);
        }

        /**
         * Returns the largest distance of the counter's reading from the host time of {@link #pair()}.
         *
         * @return ns, 0 or more
         */
        long errorNs() {
            long widthNs = hostAfterNs - hostBeforeNs;
            return widthNs - widthNs / 2;
        }
    }
}
