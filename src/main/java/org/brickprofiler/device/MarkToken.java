package org.brickprofiler.device;

import org.brickprofiler.record.TimerToken;

/**
 * A running timer of a brick that may run on a device, as one {@code long}. Bit 13 tells the two kinds apart.
 *
 * <pre>
 *            63        41  40  39       20 19     14  13  12  11        0
 *           +------------+----+-----------+---------+---+---+------------+
 *  device:  | generation | t  | mark      | stream  | 1 | 0 | key + 1    |   t: the host's side is timed
 *           +------------+----+-----------+---------+---+---+------------+
 *  host:    | start: low 50 bits of the clock, ns   | 0 | 0 | key + 1    |
 *           +---------------------------------------+---+---+------------+
 * </pre>
 *
 * <p>The generation counts how often the mark's number was used: a token whose mark was given to somebody else meanwhile
 * does not fit it any more. Generation 0 is that of no mark. Host intervals of up to 2<sup>49</sup> ns (6 days) are
 * exact. Bit 12 is {@link TimerToken#FOREIGN}, and is read as a part of the key: a tile's timer has a key that no brick
 * has, and means nothing else here.
 */
public final class MarkToken {

    static final int MAX_STREAMS = 1 << 6;

    /** The generation of a timer for which no mark could be set. */
    static final int NO_GENERATION = 0;

    private static final int KEY_BITS = 13;
    private static final long KEY_MASK = (1L << KEY_BITS) - 1;
    private static final long DEVICE = 1L << KEY_BITS;
    private static final int START_SHIFT = KEY_BITS + 1;
    private static final long BELOW_START = (1L << START_SHIFT) - 1;
    private static final int STREAM_SHIFT = START_SHIFT;
    private static final int MARK_SHIFT = 20;
    private static final int MARK_MASK = (1 << 20) - 1;
    private static final long TIMED = 1L << 40;
    private static final int GENERATION_SHIFT = 41;
    private static final int GENERATION_MASK = (1 << 23) - 1;

    private MarkToken() {}

    /**
     * A timer of the host's clock.
     *
     * @param key the row, up to 4,094; not checked
     * @param startNs the clock at the start, ns
     * @return the token, never 0
     */
    public static long host(int key, long startNs) {
        return (startNs << START_SHIFT) | (key + 1);
    }

    static long device(int key, int stream, int mark, int generation, boolean timed) {
        return ((long) generation << GENERATION_SHIFT)
                | (timed ? TIMED : 0)
                | ((long) mark << MARK_SHIFT)
                | ((long) stream << STREAM_SHIFT)
                | DEVICE
                | (key + 1);
    }

    /**
     * Which of the two kinds a token is.
     *
     * @param token any token
     * @return true for a device's
     */
    public static boolean isDevice(long token) {
        return (token & DEVICE) != 0;
    }

    /**
     * The row of a token.
     *
     * @param token any token
     * @return its key; -1 for 0, more than {@link TimerToken#MAX_KEY} where it is no timer of a brick
     */
    public static int key(long token) {
        return (int) (token & KEY_MASK) - 1;
    }

    static int stream(long token) {
        return (int) (token >>> STREAM_SHIFT) & (MAX_STREAMS - 1);
    }

    static int mark(long token) {
        return (int) (token >>> MARK_SHIFT) & MARK_MASK;
    }

    /** Whether the host's clock is to be read at the end, too. */
    static boolean isTimed(long token) {
        return (token & TIMED) != 0;
    }

    static int generation(long token) {
        return (int) (token >>> GENERATION_SHIFT);
    }

    /** The generation after one; never {@link #NO_GENERATION}. */
    static int next(int generation) {
        int next = (generation + 1) & GENERATION_MASK;
        return next == NO_GENERATION ? 1 : next;
    }

    /**
     * The time from a host token's start to now.
     *
     * @param token a host's token
     * @param nowNs the clock now, ns
     * @return ns since the start, 0 where the clock ran backwards
     */
    public static long elapsedNs(long token, long nowNs) {
        // All lower bits set in the minuend: the key in the subtrahend can then never borrow from the time.
        return Math.max(0L, (((nowNs << START_SHIFT) | BELOW_START) - token) >> START_SHIFT);
    }
}
