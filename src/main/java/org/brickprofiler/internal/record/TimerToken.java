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
 * every origin of the clock. The key is stored plus one: the all-zero token belongs to no row and is {@link #VOID}.
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

    /** The longest valid interval: a longer one means that the clock ran backwards. */
    private static final long LONGEST_NS = 1L << (Long.SIZE - KEY_BITS - 1);

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
     * @return ns since the start, 0 if the clock ran backwards
     */
    public static long elapsedNs(long token, long nowNs) {
        // All key bits set in the minuend: the key in the subtrahend can then never borrow from the time.
        long elapsedNs = (((nowNs << KEY_BITS) | KEY_MASK) - token) >>> KEY_BITS;
        return elapsedNs <= LONGEST_NS ? elapsedNs : 0;
    }
}
