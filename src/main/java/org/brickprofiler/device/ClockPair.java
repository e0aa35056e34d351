package org.brickprofiler.device;

/**
 * One moment on two clocks: the host's time and the device's counter, read as close together as the driver can. Two
 * pairs, from before and after the work, show how fast the counter runs. Immutable.
 *
 * @param hostNs the host's clock, ns since any fixed origin; may be negative, as {@link System#nanoTime()} may
 * @param deviceTicks the device's counter at the same moment, ticks, 0 or more
 */
public record ClockPair(long hostNs, long deviceTicks) {

    /**
     * A pair.
     *
     * @throws IllegalArgumentException when the ticks are negative
     */
    public ClockPair {
        if (deviceTicks < 0) {
            throw new IllegalArgumentException("deviceTicks " + deviceTicks + " is negative");
        }
    }
}
