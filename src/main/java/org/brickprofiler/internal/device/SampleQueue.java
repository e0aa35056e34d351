package org.brickprofiler.internal.device;

import org.brickprofiler.internal.io.MarkPool;
import org.brickprofiler.internal.record.TableRegistry;

/**
 * Samples on their way from the threads that ended them to whoever resolves them, oldest first for each thread. Threads add
 * theirs without waiting for anybody; taking them out is for one thread at a time.
 *
 * <p>The queues are those of a registry's deferred measurements, which hold an {@code int} and two {@code long}s each. The
 * row is more than a brick's key here, and the origin is marks:
 *
 * <pre>
 *           31     19 18  17    12 11       0
 *          +---------+---+--------+---------+
 *  row:    |    0    | h | stream |   key   |   h: the sample holds its start
 *          +---------+---+--------+---------+
 *           63   62      43 42              0
 *          +---+-----------+----------------+
 *  origin: | 0 |    end    | start's handle |
 *          +---+-----------+----------------+
 * </pre>
 */
final class SampleQueue {

    /** Instead of the mark at the end: none could be set, and the start is to be let go. No mark has this number. */
    static final int NO_END = MarkPool.MAX_BOUND;

    private static final int KEY_BITS = 12;
    private static final int KEY_MASK = (1 << KEY_BITS) - 1;
    private static final int STREAM_MASK = MarkToken.MAX_STREAMS - 1;
    private static final int HOLDS_START = 1 << 18;
    private static final long START_MASK = (1L << Marks.HANDLE_BITS) - 1;

    /** Who resolves samples. */
    @FunctionalInterface
    interface Taker {
        /**
         * Takes one sample.
         *
         * @param owner which thread ended it, as {@link SampleQueue#caller()} reports it
         * @param stream on which stream
         * @param key the brick
         * @param holdsStart whether it holds the mark at its start itself, rather than to claim the hold of its timer
         * @param start the handle of that mark
         * @param end the mark at its end, or {@link SampleQueue#NO_END}
         * @param elements elements it processed
         */
        void take(long owner, int stream, int key, boolean holdsStart, long start, int end, long elements);
    }

    private final TableRegistry threads;

    /** Made once, so that taking samples allocates nothing. */
    private final TableRegistry.PendingConsumer unpacking;

    /** Queues of the threads of a registry, in which nothing else waits. */
    SampleQueue(TableRegistry threads, Taker taker) {
        this.threads = threads;
        this.unpacking = new TableRegistry.PendingConsumer() {
            private long owner;

            @Override
            public void from(long newOwner) {
                owner = newOwner;
            }

            /** The marks of a sample are where it began, and where it ended too. */
            @Override
            public void accept(int row, long marks, long elements) {
                taker.take(
                        owner,
                        (row >>> KEY_BITS) & STREAM_MASK,
                        row & KEY_MASK,
                        (row & HOLDS_START) != 0,
                        marks & START_MASK,
                        (int) (marks >>> Marks.HANDLE_BITS),
                        elements);
            }
        };
    }

    /** Adds a sample that the calling thread has ended. False where its queue is full, and nothing was added. */
    boolean offer(int stream, int key, boolean holdsStart, long start, int end, long elements) {
        int row = (holdsStart ? HOLDS_START : 0) | (stream << KEY_BITS) | key;
        return threads.defer(row, ((long) end << Marks.HANDLE_BITS) | start, elements);
    }

    /** Hands over every sample that was added before the call. One thread at a time. */
    void drain() {
        threads.drainPending(unpacking);
    }

    /** What stands for the calling thread as an owner of samples. */
    long caller() {
        return threads.caller();
    }

    /** How many samples nobody has taken; exact while none is added. */
    int size() {
        return threads.pendingCount();
    }
}
