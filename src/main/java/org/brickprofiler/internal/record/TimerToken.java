package org.brickprofiler.internal.record;

/**
 * A running timer as one {@code long}: its row and its start. Nothing is allocated, not even in interpreted code, and a
 * token may be stopped on any thread.
 *
 * <pre>
 *   63                              13  12  11         0
 *  +----------------------------------+---+------------+
 *  | start: low 51 bits of the clock  | 0 | key + 1    |
 *  +----------------------------------+---+------------+
 * </pre>
 *
 * <p>The start is stored modulo 2<sup>51</sup> ns, so intervals of up to 2<sup>50</sup> ns (13 days) are exact for
 * every origin of the clock. Longer ones are unresolved until the start wraps, after 26 days: an interval that is
 * longer still loses 26 days, or a multiple, unnoticed. The key is stored plus one: the all-zero token belongs to no
 * row and is {@link #VOID}.
 *
 * <p><b>Tokens of other kinds.</b> {@link #FOREIGN} is set in a timer that is not a brick's, such as a tile's, and is
 * read as a part of the key. Such a token therefore has a key above {@link #MAX_KEY}, for which no row exists. Every
 * stop checks whether its key has a row, and so refuses the token without a further check.
 */
public final class TimerToken {

    /** The token of a timer that measures nothing. */
    public static final long VOID = 0L;

    /** The largest key that fits. */
    public static final int MAX_KEY = 4_094;

    /** Set in timers of anything but bricks, such as tiles; clear in every timer of a brick. */
    public static final long FOREIGN = 1L << 12;

    private static final int KEY_BITS = 13;
    private static final long KEY_MASK = (1L << KEY_BITS) - 1;

    /** In place of an interval: the token cannot hold it, or the clock ran backwards by more than a moment. */
    public static final long UNRESOLVED = -1;

    /**
     * A clock that ran backwards by at most this much gives an interval of 0, as clocks of different processors may
     * differ by so much. The token cannot distinguish it from an interval that ends so shortly before the start wraps.
     */
    private static final long BACKWARDS_NS = 1L << 20;

    /** The start is stored modulo this. */
    private static final long RANGE_NS = 1L << (Long.SIZE - KEY_BITS);

    private static final long LONGEST_NS = RANGE_NS / 2;

    private TimerToken() {}

    /**
     * Packs a key and a start.
     *
     * @param key the row, 0 to {@link #MAX_KEY}; not checked
     * @param startNs the clock at the start, in ns
     * @return the token, never {@link #VOID}
     */
    public static long pack(int key, long startNs) {
        return (startNs << KEY_BITS) | (key + 1);
    }

    /**
     * Returns the row of a token.
     *
     * @param token any token
     * @return its key; -1 for {@link #VOID}, more than {@link #MAX_KEY} if {@link #FOREIGN} is set
     */
    public static int key(long token) {
        return (int) (token & KEY_MASK) - 1;
    }

    /**
     * Returns the time from a token's start to now.
     *
     * @param token any token but {@link #VOID}
     * @param nowNs the clock now, in ns
     * @return ns since the start, 0 if the clock ran backwards by up to a millisecond; {@link #UNRESOLVED} if the token
     *     cannot hold the time
     */
    public static long elapsedNs(long token, long nowNs) {
        return elapsedNs(passedNs(token, nowNs), LONGEST_NS, RANGE_NS);
    }

    /**
     * Returns the time from a token's start to now, modulo 2<sup>51</sup> ns. It is exact if it is short.
     *
     * @param token any token but {@link #VOID}
     * @param nowNs the clock now, in ns
     * @return ns, not negative
     */
    static long passedNs(long token, long nowNs) {
        // All key bits set in the minuend: the key in the subtrahend can then never borrow from the time.
        return (((nowNs << KEY_BITS) | KEY_MASK) - token) >>> KEY_BITS;
    }

    /**
     * Returns the interval of a token whose start is stored modulo a range. The same rule holds for tokens of each
     * kind.
     *
     * @param passedNs the time since the start, ns, modulo the range
     * @param longestNs the longest interval that the token holds, ns
     * @param rangeNs the range, ns
     * @return the interval, ns; 0 if the clock ran backwards by up to a millisecond, else {@link #UNRESOLVED} if it is
     *     longer than the longest
     */
    public static long elapsedNs(long passedNs, long longestNs, long rangeNs) {
        if (passedNs <= longestNs) {
            return passedNs;
        }
        return passedNs >= rangeNs - BACKWARDS_NS ? 0 : UNRESOLVED;
    }
}
