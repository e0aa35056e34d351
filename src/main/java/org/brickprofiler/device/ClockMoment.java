package org.brickprofiler.device;

/**
 * A reading of a device's counter between two readings of the host's clock: when exactly, nobody knows. Immutable.
 *
 * @param hostBeforeNs the host's clock before, ns since any fixed origin
 * @param hostAfterNs the host's clock after, ns, {@code hostBeforeNs} or more
 * @param deviceTicks the device's counter, ticks, 0 or more
 */
public record ClockMoment(long hostBeforeNs, long hostAfterNs, long deviceTicks) {

    /**
     * A moment.
     *
     * @throws IllegalArgumentException when the host's clock went back or on by more than 2<sup>63</sup> ns, or the
     *     ticks are negative
     */
    public ClockMoment {
        if (hostAfterNs < hostBeforeNs || hostAfterNs - hostBeforeNs < 0) {
            throw new IllegalArgumentException("from " + hostBeforeNs + " to " + hostAfterNs + " ns is no interval");
        }
        if (deviceTicks < 0) {
            throw new IllegalArgumentException("deviceTicks " + deviceTicks + " is negative");
        }
    }

    /**
     * The pair that is wrong by as little as possible.
     *
     * @return the counter, and the middle of the host's readings
     */
    public ClockPair pair() {
        return new ClockPair(hostBeforeNs + (hostAfterNs - hostBeforeNs) / 2, deviceTicks);
    }

    /**
     * How far the counter may have been read from the host time of {@link #pair()}.
     *
     * @return ns, 0 or more
     */
    public long errorNs() {
        long widthNs = hostAfterNs - hostBeforeNs;
        return widthNs - widthNs / 2;
    }
}
