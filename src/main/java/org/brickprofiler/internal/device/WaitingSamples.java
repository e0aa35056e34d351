package org.brickprofiler.internal.device;

import java.util.Arrays;
import org.brickprofiler.device.DeviceStream;
import org.brickprofiler.internal.record.PhaseKey;

/**
 * The samples of one stream that wait for their time; those of one thread are in the order in which the thread ended
 * them. Each holds the marks at its ends until it is dropped. One thread at a time; allocates nothing once it has held
 * its largest number of samples.
 */
final class WaitingSamples {

    private static final int FIRST_CAPACITY = 256;

    /** Takes the place of a start that is not known. */
    static final long NO_START = Long.MIN_VALUE;

    // The cells of a sample: its owner; its elements; its row and its marks in one; and its start if that is a time.
    private static final int CELLS_EACH = 4;
    private static final int ELEMENTS = 1;
    private static final int ROW_AND_MARKS = 2;
    private static final int START_NS = 3;

    /** A flag in the cell of the row: the sample is a launch of a captured graph. */
    private static final long LAUNCH = 1L << 63;

    /** The row of a pass, above those of all bricks. */
    private static final int PASS = 1 << 14;

    private static final int MARK_BITS = 20;
    private static final int MARK_MASK = (1 << MARK_BITS) - 1;

    private final DeviceStream stream;
    private final Marks marks;

    private int size;
    private long[] cells = new long[CELLS_EACH * FIRST_CAPACITY];

    /** Buffer for the marks that lose their last hold when samples are dropped. */
    private int[] released = {};

    /** How many samples have a start that is a time. */
    private int times;

    /** How many are launches of captured graphs. */
    private int launches;

    /** How many are passes. */
    private int passes;

    /** Buffer for samples that must come after others; at least as long as {@link #cells} when it is used. */
    private long[] behind = {};

    /**
     * Creates the state without samples.
     *
     * @param stream reports which marks are reached
     * @param marks holds them, and knows in which order they were set
     */
    WaitingSamples(DeviceStream stream, Marks marks) {
        this.stream = stream;
        this.marks = marks;
    }

    /**
     * Adds a sample at the end, and takes over one hold of each of its marks.
     *
     * @param row the {@link PhaseKey} of the brick
     * @param start the mark at its start
     * @param end the mark at its end
     * @param elements elements it processed
     * @param owner the thread that ended it
     */
    void add(int row, int start, int end, long elements, long owner) {
        int at = CELLS_EACH * size;
        if (at == cells.length) {
            cells = Arrays.copyOf(cells, 2 * at);
        }
        cells[at] = owner;
        cells[at + ELEMENTS] = elements;
        cells[at + ROW_AND_MARKS] = ((long) row << (2 * MARK_BITS)) | ((long) start << MARK_BITS) | end;
        size++;
    }

    /**
     * Adds a sample whose start is a time at the end, and takes over one hold of its mark.
     *
     * @param row the {@link PhaseKey} of the brick
     * @param startNs its start on the stream's timeline, ns
     * @param end the mark at its end
     * @param elements elements it processed
     * @param owner the thread that ended it
     */
    void addSince(int row, long startNs, int end, long elements, long owner) {
        add(row, end, end, elements, owner);
        cells[CELLS_EACH * (size - 1) + START_NS] = startNs;
        times++;
    }

    /**
     * Adds a launch of a captured graph, which stands for one sample of each of its bricks, and takes over one hold of
     * each of its marks.
     *
     * @param phase the number of the phase of its samples
     * @param capture the capture of the graph
     * @param launch the number of the launch
     * @param before the mark before it
     * @param end the mark behind it, different from {@code before}
     * @param owner the thread that launched
     */
    void addLaunch(int phase, int capture, int launch, int before, int end, long owner) {
        add(PhaseKey.of(phase, 0), before, end, ((long) launch << Integer.SIZE) | capture, owner);
        cells[CELLS_EACH * (size - 1) + ROW_AND_MARKS] |= LAUNCH;
        launches++;
    }

    /**
     * Adds a pass, which is no sample, and takes over one hold of each of its marks.
     *
     * @param start the mark at its start
     * @param end the mark at its end, different from {@code start}
     * @param owner the thread that ended it
     */
    void addPass(int start, int end, long owner) {
        add(PASS, start, end, 0, owner);
        passes++;
    }

    /** Returns how many of the samples are passes. */
    int passes() {
        return passes;
    }

    /** Returns whether a sample is a pass. */
    boolean isPass(int i) {
        return row(i) == PASS;
    }

    int size() {
        return size;
    }

    /** Returns how many of the samples are launches. */
    int launches() {
        return launches;
    }

    /**
     * Returns whether a sample is a launch; it has {@link #capture} and {@link #launch}, a row without a brick, no
     * elements.
     */
    boolean isLaunch(int i) {
        return cells[CELLS_EACH * i + ROW_AND_MARKS] < 0;
    }

    int capture(int i) {
        return (int) elements(i);
    }

    int launch(int i) {
        return (int) (elements(i) >>> Integer.SIZE);
    }

    /** Returns the row of a sample; of a launch, key 0 in its phase. */
    int row(int i) {
        return (int) ((cells[CELLS_EACH * i + ROW_AND_MARKS] & ~LAUNCH) >>> (2 * MARK_BITS));
    }

    int start(int i) {
        return (int) (cells[CELLS_EACH * i + ROW_AND_MARKS] >>> MARK_BITS) & MARK_MASK;
    }

    int end(int i) {
        return (int) cells[CELLS_EACH * i + ROW_AND_MARKS] & MARK_MASK;
    }

    long elements(int i) {
        return cells[CELLS_EACH * i + ELEMENTS];
    }

    /** Returns the start of a sample without a mark there, ns on the stream's timeline; or {@link #NO_START}. */
    long startNs(int i) {
        return cells[CELLS_EACH * i + START_NS];
    }

    /** Returns whether some sample has a start that is a time, known or not. */
    boolean hasTimes() {
        return times > 0;
    }

    /** Forgets the starts that are times, because the timeline has ended. */
    void forgetStarts() {
        for (int i = 0; times > 0 && i < size; i++) {
            cells[CELLS_EACH * i + START_NS] = NO_START;
        }
    }

    /** Returns whether a sample has a mark at its start, too; otherwise its start is a time. */
    boolean hasStart(int i) {
        return start(i) != end(i);
    }

    private boolean isOf(int i, long owner) {
        return owner == DeviceRecorder.EVERYBODY || cells[CELLS_EACH * i] == owner;
    }

    // ---- which mark to wait for ----

    /**
     * Returns the mark that a thread has to wait for: the one at the end of its last sample or, for all threads, the
     * one that was set last.
     *
     * @param owner the thread, or {@link DeviceRecorder#EVERYBODY}
     * @return the mark; {@link DeviceStream#NO_MARK} if none of its samples waits
     */
    int endToAwait(long owner) {
        if (owner == DeviceRecorder.EVERYBODY) {
            return newestEnd();
        }
        int last = size - 1;
        while (last >= 0 && !isOf(last, owner)) {
            last--;
        }
        return last < 0 ? DeviceStream.NO_MARK : end(last);
    }

    /**
     * Returns the mark at the end of the last sample of a thread that is not reached, or {@link DeviceStream#NO_MARK}.
     */
    int lastUnreachedEnd(long owner) {
        int last = size - 1;
        while (last >= 0 && (!isOf(last, owner) || stream.isReached(end(last)))) {
            last--;
        }
        return last < 0 ? DeviceStream.NO_MARK : end(last);
    }

    /** Returns the mark that was set last of those at the ends of samples, as far as that is known; or none. */
    private int newestEnd() {
        int newest = DeviceStream.NO_MARK;
        for (int i = 0; i < size; i++) {
            if (newest == DeviceStream.NO_MARK || marks.turn(end(i)) > marks.turn(newest)) {
                newest = end(i);
            }
        }
        return newest;
    }

    // ---- finished samples ----

    /**
     * Moves the samples that the device has finished to the front. Marks are reached in the order in which they were
     * set: if the newest is reached, all are; after one that is not reached, no later one is.
     *
     * @return how many are done
     */
    int moveReachedToFront() {
        if (size == 0 || stream.isReached(newestEnd())) {
            return size;
        }
        long unreached = Long.MAX_VALUE;
        int front = 0;
        for (int i = 0; i < size; i++) {
            long turn = marks.turn(end(i));
            boolean isDone = turn < unreached && stream.isReached(end(i));
            unreached = isDone ? unreached : Math.min(unreached, turn);
            front = move(i, front, isDone);
        }
        return fetchBehind(front);
    }

    /**
     * Moves the samples of a thread, whose last mark is reached, to the front; all samples, if the newest mark is
     * reached. For one thread, queries the device at most once, and leaves other finished samples to a later call.
     *
     * @param owner the thread, or {@link DeviceRecorder#EVERYBODY}
     * @return how many are done
     */
    int moveDoneToFront(long owner) {
        if (owner == DeviceRecorder.EVERYBODY) {
            return moveReachedToFront();
        }
        int own = 0;
        for (int i = 0; i < size; i++) {
            own += isOf(i, owner) ? 1 : 0;
        }
        return own == size || stream.isReached(newestEnd()) ? size : moveOwnToFront(owner);
    }

    /**
     * Moves the samples of a thread to the front.
     *
     * @param owner the thread, or {@link DeviceRecorder#EVERYBODY}
     * @return how many there are
     */
    int moveOwnToFront(long owner) {
        int front = 0;
        for (int i = 0; i < size; i++) {
            front = move(i, front, isOf(i, owner));
        }
        return fetchBehind(front);
    }

    /** Moves a sample to the front or behind all that stay; returns how many are in front. */
    private int move(int i, int front, boolean isFront) {
        if (!isFront && behind.length < cells.length) {
            behind = new long[cells.length];
        }
        System.arraycopy(
                cells,
                CELLS_EACH * i,
                isFront ? cells : behind,
                CELLS_EACH * (isFront ? front : i - front),
                CELLS_EACH);
        return isFront ? front + 1 : front;
    }

    private int fetchBehind(int front) {
        System.arraycopy(behind, 0, cells, CELLS_EACH * front, CELLS_EACH * (size - front));
        return front;
    }

    // ---- dropping ----

    /** Forgets the first samples, and lets go of their marks. */
    void drop(int count) {
        if (released.length < 2 * count) {
            released = new int[2 * size];
        }
        int free = 0;
        for (int i = 0; i < count; i++) {
            int start = start(i);
            int end = end(i);
            launches -= isLaunch(i) ? 1 : 0;
            passes -= isPass(i) ? 1 : 0;
            if (start == end) {
                times--;
            } else if (marks.letGoLast(start)) {
                released[free++] = start;
            }
            if (marks.letGoLast(end)) {
                released[free++] = end;
            }
        }
        stream.release(released, free);
        size -= count;
        System.arraycopy(cells, CELLS_EACH * count, cells, 0, CELLS_EACH * size);
    }
}
