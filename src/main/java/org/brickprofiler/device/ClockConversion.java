package org.brickprofiler.device;

import java.util.Objects;

/**
 * Converts a device's ticks to the host's nanoseconds, in whole numbers: the result is the line through two clock
 * pairs, rounded to the nearest nanosecond, halves up. A later tick never gives an earlier time. Immutable; any thread;
 * a conversion allocates nothing.
 *
 * <p>Ticks before the first pair and after the second lie on the same line. The rounding is at most half a nanosecond.
 * Only the driver knows how closely the two clocks of a pair were read together, and whether the counter ran evenly
 * between the pairs.
 */
public final class ClockConversion {

    /** One tick is one nanosecond, and both clocks have the same origin. */
    public static final ClockConversion IDENTITY = from(new Pair(0, 0));

    private static final int LONG_SIGN_SHIFT = Long.SIZE - 1;

    private final Pair origin;

    /** The nanoseconds that pass in {@code ticks} ticks; in lowest terms. */
    private final long ns;

    private final long ticks;

    private ClockConversion(Pair origin, long ns, long ticks) {
        this.origin = origin;
        long divisor = greatestCommonDivisor(ns, ticks);
        this.ns = ns / divisor;
        this.ticks = ticks / divisor;
    }

    /**
     * Returns the conversion of a device that counts nanoseconds from an origin of its own.
     *
     * @param pair one moment on both clocks
     * @return a conversion with one nanosecond per tick
     */
    public static ClockConversion from(Pair pair) {
        Objects.requireNonNull(pair, "pair");
        return new ClockConversion(pair, 1, 1);
    }

    /**
     * Returns the conversion by the line through two pairs.
     *
     * @param first the earlier moment
     * @param second the later moment
     * @return a conversion that maps the ticks of both pairs to their host times
     * @throws IllegalArgumentException when one of the clocks did not advance from the first pair to the second, or
     *     when the host's clock advanced by 2<sup>63</sup> ns or more
     */
    public static ClockConversion between(Pair first, Pair second) {
        if (second.deviceTicks() <= first.deviceTicks() || second.hostNs() <= first.hostNs()) {
            throw new IllegalArgumentException("no time passed from " + first + " to " + second);
        }
        long ns = second.hostNs() - first.hostNs();
        if (ns < 0) {
            throw new IllegalArgumentException("more than " + Long.MAX_VALUE + " ns from " + first + " to " + second);
        }
        return new ClockConversion(first, ns, second.deviceTicks() - first.deviceTicks());
    }

    /**
     * Returns the host's time at a reading of the device's counter.
     *
     * @param deviceTicks the device's counter, ticks, 0 or more
     * @return the host's clock, ns
     * @throws IllegalArgumentException when the ticks are negative, or when their time does not fit into a {@code long}
     */
    public long toHostNs(long deviceTicks) {
        if (deviceTicks < 0) {
            throw new IllegalArgumentException("deviceTicks " + deviceTicks + " is negative");
        }
        // Neither is negative, so the difference fits.
        long since = deviceTicks - origin.deviceTicks();
        long whole = Math.floorDiv(since, ticks);
        long rest = scaled(Math.floorMod(since, ticks));
        // whole * ns + rest + hostNs in 128 bits: the parts may leave the range of a long where their sum does not.
        long low = whole * ns;
        long high = Math.multiplyHigh(whole, ns);
        low += rest;
        high += carry(low, rest);
        low += origin.hostNs();
        high += carry(low, origin.hostNs()) + (origin.hostNs() >> LONG_SIGN_SHIFT);
        if (high != low >> LONG_SIGN_SHIFT) {
            throw new IllegalArgumentException(
                    "deviceTicks " + deviceTicks + " are outside the range of host time of " + this);
        }
        return low;
    }

    /**
     * Returns the host's time between two readings of the device's counter.
     *
     * @param startTicks the earlier reading, ticks, 0 or more
     * @param endTicks the later reading, ticks, {@code startTicks} or more
     * @return the difference of their host times, ns, 0 or more
     * @throws IllegalArgumentException when the readings are no interval, or when one of the times or their difference
     *     does not fit into a {@code long}
     */
    public long elapsedNs(long startTicks, long endTicks) {
        if (startTicks < 0 || endTicks < startTicks) {
            throw new IllegalArgumentException("from tick " + startTicks + " to tick " + endTicks + " is no interval");
        }
        long elapsedNs = toHostNs(endTicks) - toHostNs(startTicks);
        if (elapsedNs < 0) {
            throw new IllegalArgumentException("from tick " + startTicks + " to tick " + endTicks + " is more than "
                    + Long.MAX_VALUE + " ns by " + this);
        }
        return elapsedNs;
    }

    /** Returns the carry of an unsigned addition in the lower half. */
    private static long carry(long sum, long addend) {
        return Long.compareUnsigned(sum, addend) < 0 ? 1 : 0;
    }

    /** Returns the nanoseconds of fewer than {@link #ticks} ticks, rounded to the nearest, halves up. */
    private long scaled(long fewTicks) {
        long high = Math.multiplyHigh(fewTicks, ns);
        long low = fewTicks * ns;
        if (high == 0 && low >= 0) {
            return rounded(low / ticks, low % ticks);
        }
        // Long division, bit by bit. The remainder stays below ticks, a positive long: doubled, it fits 64 bits.
        long quotient = 0;
        long remainder = high;
        for (int bit = Long.SIZE - 1; bit >= 0; bit--) {
            remainder = remainder << 1 | (low >>> bit & 1);
            quotient <<= 1;
            if (Long.compareUnsigned(remainder, ticks) >= 0) {
                remainder -= ticks;
                quotient |= 1;
            }
        }
        return rounded(quotient, remainder);
    }

    private long rounded(long quotient, long remainder) {
        return remainder >= ticks - remainder ? quotient + 1 : quotient;
    }

    private static long greatestCommonDivisor(long one, long two) {
        long divisor = one;
        long rest = two;
        while (rest != 0) {
            long next = divisor % rest;
            divisor = rest;
            rest = next;
        }
        return divisor;
    }

    @Override
    public String toString() {
        return "ClockConversion[" + ns + " ns in " + ticks + " ticks, " + origin + "]";
    }

    /**
     * One moment on two clocks: the host's time and the device's counter, read as close together as the driver can. Two
     * pairs, from before and after the work, show how fast the counter runs. Immutable.
     *
     * @param hostNs the host's clock, ns since any fixed origin; may be negative, as {@link System#nanoTime()} may
     * @param deviceTicks the device's counter at the same moment, ticks, 0 or more
     */
    public record Pair(long hostNs, long deviceTicks) {

        /**
         * Creates a pair.
         *
         * @throws IllegalArgumentException when the ticks are negative
         */
        public Pair {
            if (deviceTicks < 0) {
                throw new IllegalArgumentException("deviceTicks " + deviceTicks + " is negative");
            }
        }
    }
}
