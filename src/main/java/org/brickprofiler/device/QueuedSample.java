package org.brickprofiler.device;

/**
 * A sample on its way from the thread that stopped it to the one that resolves it, as the queue of deferred measurements
 * holds it: an {@code int} and a {@code long}.
 *
 * <pre>
 *           31     19 18  17    12 11       0
 *          +---------+---+--------+---------+
 *  row:    |    0    | h | stream |   key   |   h: the sample holds its start
 *          +---------+---+--------+---------+
 *           63           40 39   20 19      0
 *          +---------------+-------+--------+
 *  marks:  | generation    |  end  | start  |   the generation is the start's
 *          +---------------+-------+--------+
 * </pre>
 */
final class QueuedSample {

    /** Instead of the mark at the end: none could be set, and the start is to be let go. No mark has this number. */
    static final int NO_END = MarkPool.MAX_BOUND;

    private static final int KEY_BITS = 12;
    private static final int STREAM_MASK = MarkToken.MAX_STREAMS - 1;
    private static final int HOLDS_START = 1 << 18;
    private static final int KEY_MASK = (1 << KEY_BITS) - 1;
    private static final int MARK_BITS = 20;
    private static final int MARK_MASK = (1 << MARK_BITS) - 1;

    private QueuedSample() {}

    static int row(int stream, int key) {
        return (stream << KEY_BITS) | key;
    }

    static int stream(int row) {
        return (row >>> KEY_BITS) & STREAM_MASK;
    }

    /** The row of a sample that holds the mark at its start itself, rather than to claim the hold of its timer. */
    static int holdingRow(int stream, int key) {
        return HOLDS_START | row(stream, key);
    }

    static boolean holdsStart(int row) {
        return (row & HOLDS_START) != 0;
    }

    static int key(int row) {
        return row & KEY_MASK;
    }

    /** The sample of a timer that was stopped at a mark or {@link #NO_END}. */
    static long marks(long timer, int end) {
        return marks(MarkToken.mark(timer), MarkToken.generation(timer), end);
    }

    /** The sample from a mark, of a generation, to another or {@link #NO_END}. */
    static long marks(int start, int generation, int end) {
        return ((long) generation << (2 * MARK_BITS)) | ((long) end << MARK_BITS) | start;
    }

    static int start(long marks) {
        return (int) marks & MARK_MASK;
    }

    static int end(long marks) {
        return (int) (marks >>> MARK_BITS) & MARK_MASK;
    }

    /** Whether a mark of a generation is the one that a sample began at. */
    static boolean isOf(long marks, int generation) {
        return (int) (marks >>> (2 * MARK_BITS)) == generation;
    }
}
