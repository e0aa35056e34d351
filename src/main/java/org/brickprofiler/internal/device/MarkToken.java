package org.brickprofiler.internal.device;

import org.brickprofiler.internal.record.PhaseKey;
import org.brickprofiler.internal.record.TimerToken;

/**
 * A running timer of a brick that may run on a device, as one {@code long}. Bit 13 distinguishes the two kinds.
 *
 * <pre>
 *            63        41 40       21 20     15  14  13  12  11        0
 *           +------------+-----------+---------+---+---+---+------------+
 *  device:  | generation |   mark    | stream  | t | 1 | 0 | key + 1    |   t: the host's side is timed
 *           +------------+-----------+---------+---+---+---+------------+
 *           +------------+---+---+---+---------+---+---+---+------------+   e: epoch, 17 bits
 *  device,  |     0      | 1 | e | p | stream  | o | 1 | 0 | key + 1    |   p: phase, 2 bits
 *  unmarked +------------+---+---+---+---------+---+---+---+------------+   o: of a row of its thread alone
 *  host:    | start: low 50 bits of the clock, ns  | 0 | 0 | key + 1    |
 *           +--------------------------------------+---+---+------------+
 * </pre>
 *
 * <p>Generation and mark are the mark's handle: see {@link Marks}. The handle of a timer for which no mark could be set
 * is {@link Marks#NONE}. Host intervals of up to 2<sup>49</sup> ns (6 days) are exact; longer ones are unresolved until
 * the start wraps, after 13 days, and lose 13 days or a multiple from then on. Bit 12 is {@link TimerToken#FOREIGN},
 * and is read as a part of the key: a tile's timer has a key that no brick has, and means nothing else here.
 */
public final class MarkToken {

    static final int MAX_STREAMS = 1 << 6;

    private static final int KEY_BITS = 13;
    private static final long KEY_MASK = (1L << KEY_BITS) - 1;
    private static final long DEVICE = 1L << KEY_BITS;
    private static final int START_SHIFT = KEY_BITS + 1;
    private static final long BELOW_START = (1L << START_SHIFT) - 1;

    /** The start of a host's token is stored modulo this. */
    private static final long RANGE_NS = 1L << (Long.SIZE - START_SHIFT);

    private static final long LONGEST_NS = RANGE_NS / 2;

    private static final long TIMED = 1L << 14;
    private static final int STREAM_SHIFT = 15;
    private static final int HANDLE_SHIFT = Long.SIZE - Marks.HANDLE_BITS;

    // An unmarked brick has a handle of generation 0, which no mark has, in whose number the highest bit is set.
    private static final int UNMARKED_SHIFT = 19;
    private static final int UNMARKED = 1 << UNMARKED_SHIFT;
    private static final long OWN = TIMED;
    private static final int PHASE_BITS = 2;
    private static final int EPOCH_MASK = (1 << (UNMARKED_SHIFT - PHASE_BITS)) - 1;

    private static final int PHASE_OF_ROW = PhaseKey.of((1 << PHASE_BITS) - 1, 0);

    /** The bits in which the timers of unmarked bricks of own rows differ in one epoch. */
    private static final long OF_ROW = ((1L << PHASE_BITS) - 1) << HANDLE_SHIFT | (KEY_MASK >> 1);

    private MarkToken() {}

    /**
     * Returns a timer of the host's clock.
     *
     * @param key the row, up to 4,094; not checked
     * @param startNs the clock at the start, ns
     * @return the token, never 0
     */
    public static long host(int key, long startNs) {
        return (startNs << START_SHIFT) | (key + 1);
    }

    /** Returns a timer that begins at a mark; its handle is {@link Marks#NONE} if none could be set. */
    static long device(int key, int stream, long handle, boolean timed) {
        return (handle << HANDLE_SHIFT) | ((long) stream << STREAM_SHIFT) | (timed ? TIMED : 0) | DEVICE | (key + 1);
    }

    /**
     * Returns what the timers of the bricks on a stream have in common that are counted, and not marked, in rows of a
     * thread alone.
     */
    static long unmarked(int stream, int epoch) {
        long handle = UNMARKED | ((epoch & EPOCH_MASK) << PHASE_BITS);
        return (handle << HANDLE_SHIFT) | ((long) stream << STREAM_SHIFT) | OWN | DEVICE;
    }

    /** Returns what the timers of the unmarked bricks in a row have in common: the row is a {@link PhaseKey}. */
    static long ofRow(int row) {
        return ((long) PhaseKey.phase(row) << HANDLE_SHIFT) | (PhaseKey.key(row) + 1);
    }

    /**
     * Returns a timer of an unmarked brick.
     *
     * @param common what {@link #unmarked(int, int)} returned
     * @param ofRow what {@link #ofRow} returned
     * @param isOwn whether the row is one of a thread alone
     */
    static long unmarked(long common, long ofRow, boolean isOwn) {
        return (isOwn ? common : common ^ OWN) | ofRow;
    }

    /** Returns whether a token is a timer of an unmarked brick with something in common. */
    static boolean isUnmarked(long token, long common) {
        return isUnmarkedOwn(token | OWN, common);
    }

    /** Returns whether a token is such a timer, and the row is one of a thread alone. */
    static boolean isUnmarkedOwn(long token, long common) {
        return ((token ^ common) & ~OF_ROW) == 0;
    }

    /** Returns whether an unmarked brick belongs to a row of one thread alone. */
    static boolean isOwn(long token) {
        return (token & OWN) != 0;
    }

    /** Returns whether a device's token is one of {@link #unmarked}. */
    static boolean isUnmarked(long token) {
        return token >>> (HANDLE_SHIFT + UNMARKED_SHIFT) == 1;
    }

    /** Returns the {@link PhaseKey} of an unmarked brick; a number of no brick if the token is none of its timers. */
    static int row(long token) {
        return ((int) (token >>> (HANDLE_SHIFT - PhaseKey.KEY_BITS)) & PHASE_OF_ROW) | key(token);
    }

    /**
     * Returns whether a token is the timer of a device.
     *
     * @param token any token
     * @return true for the timer of a device
     */
    public static boolean isDevice(long token) {
        return (token & DEVICE) != 0;
    }

    /**
     * Returns the row of a token.
     *
     * @param token any token
     * @return its key; -1 for 0, more than {@link TimerToken#MAX_KEY} if it is no timer of a brick
     */
    public static int key(long token) {
        return (int) (token & KEY_MASK) - 1;
    }

    static int stream(long token) {
        return (int) (token >>> STREAM_SHIFT) & (MAX_STREAMS - 1);
    }

    /** Returns the handle of the mark that a timer began at. */
    static long handle(long token) {
        return token >>> HANDLE_SHIFT;
    }

    /** Returns whether the host's clock is to be read at the end, too. */
    static boolean isTimed(long token) {
        return (token & TIMED) != 0;
    }

    /**
     * Returns the time from a host token's start to now.
     *
     * @param token a host's token
     * @param nowNs the clock now, ns
     * @return ns since the start, 0 if the clock ran backwards by up to a millisecond; {@link TimerToken#UNRESOLVED} if
     *     the token cannot hold the time
     */
    public static long elapsedNs(long token, long nowNs) {
        // All lower bits set in the minuend: the key in the subtrahend can then never borrow from the time.
        long passedNs = (((nowNs << START_SHIFT) | BELOW_START) - token) >>> START_SHIFT;
        return TimerToken.elapsedNs(passedNs, LONGEST_NS, RANGE_NS);
    }
}
