package org.brickprofiler.internal.device;

import org.brickprofiler.internal.mark.MarkPool;
import org.brickprofiler.internal.record.PhaseKey;
import org.brickprofiler.internal.record.TableRegistry;

/**
 * Samples on their way from the threads that ended them to the thread that resolves them, oldest first for each thread.
 * Threads add samples without waiting; one thread at a time takes them out.
 *
 * <p>The queues are those of a registry's deferred measurements, which hold an {@code int} and two {@code long}s each.
 * Here the row contains more than a brick's key, and the origin contains marks:
 *
 * <pre>
 *           31   22 21   20 19  18  17    12 11       0
 *          +-------+-------+---+---+--------+---------+   d: a deferred measurement, l: a launch of a graph,
 *  row:    |   0   | phase | l | d | stream |   key   |   phase: of a {@link PhaseKey}
 *          +-------+-------+---+---+--------+---------+
 *           63   62      43 42              0
 *          +---+-----------+----------------+
 *  origin: | 0 |    end    | start's handle |   of a deferred measurement or a launch, 0 for the start
 *          +---+-----------+----------------+
 * </pre>
 *
 * <p>A launch has the number of the graph's capture in place of elements.
 *
 * <p>The starts of deferred measurements have queues of their own, with the stream, the handle and the reading by which
 * each is found. They are taken out first. If a measurement is found without its start, they are taken out again,
 * because a start is queued before any measurement that begins there.
 */
final class SampleQueue {

    /**
     * Takes the place of the mark at the end if none could be set; the hold of the start is then removed. No mark has
     * this number.
     */
    static final int NO_END = MarkPool.MAX_BOUND;

    private static final int KEY_BITS = PhaseKey.KEY_BITS;
    private static final int STREAM_MASK = MarkToken.MAX_STREAMS - 1;
    private static final int DEFERRED = 1 << 18;
    private static final int LAUNCH = 1 << 19;
    private static final int PHASE_SHIFT = 20;
    private static final long START_MASK = (1L << Marks.HANDLE_BITS) - 1;

    /** Receives samples from the queues. */
    interface Taker {
        /**
         * Takes the sample of a timer.
         *
         * @param owner the thread that ended it, as {@link SampleQueue#caller()} returns it
         * @param stream the number of the stream
         * @param row the {@link PhaseKey} of the brick
         * @param start the handle of the mark at its start
         * @param end the mark at its end, or {@link SampleQueue#NO_END}
         * @param elements elements it processed
         */
        void take(long owner, int stream, int row, long start, int end, long elements);

        /**
         * Takes a deferred measurement.
         *
         * @param owner the thread that ended it
         * @param stream the number of the stream
         * @param row the {@link PhaseKey} of the brick
         * @param end the mark at its end, with which the reading of its start is noted
         * @param elements elements it processed
         */
        void takeDeferred(long owner, int stream, int row, int end, long elements);

        /**
         * Takes a launch of a captured graph.
         *
         * @param owner the thread that launched
         * @param stream the number of the stream
         * @param phase the number of the phase of its samples
         * @param capture the number of the graph's capture
         * @param end the mark behind it, or {@link SampleQueue#NO_END}
         */
        void takeLaunch(long owner, int stream, int phase, int capture, int end);

        /**
         * Takes the start of deferred measurements, or the news that one of them has no mark at its end.
         *
         * @param stream the number of the stream
         * @param start the handle of its mark; {@link Marks#NONE} for a measurement without an end
         * @param readingNs the reading of the host's clock by which it is found
         */
        void takeStart(int stream, long start, long readingNs);
    }

    private final TableRegistry threads;

    /** The queues of starts; nothing else is in there. */
    private final TableRegistry starts = new TableRegistry(0, false);

    // Made once, so that taking samples allocates nothing.
    private final TableRegistry.PendingConsumer unpacking;
    private final TableRegistry.PendingConsumer unpackingStarts;

    /** Creates queues of the threads of a registry, in which nothing else waits. */
    SampleQueue(TableRegistry threads, Taker taker) {
        this.threads = threads;
        this.unpackingStarts = taker::takeStart;
        this.unpacking = new TableRegistry.PendingConsumer() {
            private long owner;

            @Override
            public void from(long newOwner) {
                owner = newOwner;
            }

            /** Unpacks the marks at the start and at the end of a sample. */
            @Override
            public void accept(int row, long marks, long elements) {
                int stream = (row >>> KEY_BITS) & STREAM_MASK;
                int phase = row >>> PHASE_SHIFT;
                int brick = PhaseKey.of(phase, PhaseKey.key(row));
                int end = (int) (marks >>> Marks.HANDLE_BITS);
                if ((row & (DEFERRED | LAUNCH)) == 0) {
                    taker.take(owner, stream, brick, marks & START_MASK, end, elements);
                } else if ((row & DEFERRED) != 0) {
                    taker.takeDeferred(owner, stream, brick, end, elements);
                } else {
                    taker.takeLaunch(owner, stream, phase, (int) elements, end);
                }
            }
        };
    }

    /** Adds a sample that the calling thread has ended. Returns false, and adds nothing, if its queue is full. */
    boolean offer(int stream, int row, long start, int end, long elements) {
        return threads.defer(packed(stream, row), ((long) end << Marks.HANDLE_BITS) | start, elements);
    }

    /** Adds a deferred measurement that the calling thread has ended, in the same way. */
    boolean offerDeferred(int stream, int row, int end, long elements) {
        return threads.defer(DEFERRED | packed(stream, row), (long) end << Marks.HANDLE_BITS, elements);
    }

    /** Adds a launch that the calling thread has enqueued, in the same way. */
    boolean offerLaunch(int stream, int phase, int capture, int end) {
        int row = PhaseKey.of(phase, 0);
        return threads.defer(LAUNCH | packed(stream, row), (long) end << Marks.HANDLE_BITS, capture);
    }

    private static int packed(int stream, int row) {
        return (PhaseKey.phase(row) << PHASE_SHIFT) | (stream << KEY_BITS) | PhaseKey.key(row);
    }

    /** Adds a start of the calling thread for {@link Taker#takeStart}, in the same way. */
    boolean offerStart(int stream, long start, long readingNs) {
        return starts.defer(stream, start, readingNs);
    }

    /** Hands over every sample that was added before the call, each after its start. One thread at a time. */
    void drain() {
        drainStarts();
        threads.drainPending(unpacking);
    }

    /** Hands over the starts that were added before the call. One thread at a time. */
    void drainStarts() {
        starts.drainPending(unpackingStarts);
    }

    /** Returns the number of the calling thread as an owner of samples. */
    long caller() {
        return threads.caller();
    }

    /** Returns the number of samples in the queues; exact while none is added. */
    int size() {
        return threads.pendingCount();
    }
}
