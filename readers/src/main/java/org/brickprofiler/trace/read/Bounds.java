package org.brickprofiler.trace.read;

import java.math.BigDecimal;

/**
 * The bounds of the numbers that a file may state. Every reader checks them before it computes with a number; a number
 * beyond them is a fault of its place in the file, and no part of a sum. Stateless; any thread.
 */
final class Bounds {

    /** The longest duration: 10 years, ns. */
    static final long LONGEST_NS = 10L * 8_766 * 3_600 * 1_000_000_000;

    /** The latest time: the end of the year 2199, ns since 1970. */
    static final long LATEST_NS = 7_258_118_400L * 1_000_000_000;

    /** The earliest time: 62 years before the 0 of a clock, ns. The distance of two times fits a {@code long}. */
    static final long EARLIEST_NS = LATEST_NS - Long.MAX_VALUE;

    /** The largest count, and the largest number of bytes or elements. A double holds all smaller whole numbers. */
    static final long MOST_COUNT = 1L << 53;

    /** The most digits before or after the point of a number that is expanded to whole units. */
    private static final int MOST_DIGITS = 40;

    private Bounds() {}

    /** Returns whether a number of ns is a time. */
    static boolean isTime(long ns) {
        return ns >= EARLIEST_NS && ns <= LATEST_NS;
    }

    /** Returns whether a number of ns is a duration. */
    static boolean isDuration(long ns) {
        return ns >= 0 && ns <= LONGEST_NS;
    }

    /** Returns whether a number of ns, possibly with decimals, is a duration. */
    static boolean isDuration(BigDecimal ns) {
        return ns.signum() >= 0 && ns.compareTo(BigDecimal.valueOf(LONGEST_NS)) <= 0;
    }

    /** Returns whether a number is a count. */
    static boolean isCount(long number) {
        return number >= 0 && number <= MOST_COUNT;
    }

    /**
     * Returns a time as a reader passes it on.
     *
     * @param ns a number of ns, or a special value of {@link Microseconds}
     * @return the same, or {@link Microseconds#OUT_OF_RANGE} if the number is no time
     */
    static long time(long ns) {
        return !Microseconds.isTime(ns) || isTime(ns) ? ns : Microseconds.OUT_OF_RANGE;
    }

    /**
     * Returns a duration as a reader passes it on; a negative one is a fault of another kind.
     *
     * @param ns a number of ns, or a special value of {@link Microseconds}
     * @return the same, or {@link Microseconds#OUT_OF_RANGE} if the number is no duration in either direction
     */
    static long duration(long ns) {
        return !Microseconds.isTime(ns) || Math.abs(ns) <= LONGEST_NS ? ns : Microseconds.OUT_OF_RANGE;
    }

    /**
     * Returns the sum of a time and a distance.
     *
     * @return ns, or {@link Microseconds#OUT_OF_RANGE} if the sum is no time
     */
    static long timeOf(long ns, long distanceNs) {
        long sum = ns + distanceNs;
        boolean isTooLarge = ((ns ^ sum) & (distanceNs ^ sum)) < 0;
        return isTooLarge || !isTime(sum) ? Microseconds.OUT_OF_RANGE : sum;
    }

    /**
     * Returns whether a decimal number can be computed with: neither its digits nor its exponent ask for more memory
     * than a number of a real file.
     */
    static boolean isShort(BigDecimal number) {
        return number.precision() <= MOST_DIGITS && Math.abs((long) number.scale()) <= MOST_DIGITS;
    }
}
