package org.brickprofiler.internal.device;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.brickprofiler.device.DeviceStream;
import org.jspecify.annotations.Nullable;

/**
 * The marks of one stream that a recorder has set: when each was set and in which pass, and how many hold it. The last
 * holder that lets go of a mark gives it back to the stream. Room is made as marks are set; nothing else is allocated.
 *
 * <pre>
 *           63       41 40  39  38  37  36      17 16     0
 *          +------------+---+---+---+---+---------+--------+
 *  state:  | generation | b | r | c | g | holders |  pass  |
 *          +------------+---+---+---+---+---------+--------+
 *           42              20 19      0
 *          +------------------+---------+
 *  handle: |    generation    |  mark   |
 *          +------------------+---------+
 * </pre>
 *
 * <p>The generation counts how often a number was used and given up. A <i>handle</i> names a mark and its generation,
 * so it shows whether the number has become another mark since. The holders of a mark are the running timer, the
 * samples that wait (after a lap, those of both bricks), the start of deferred measurements ({@link StartMarks}), a
 * thread that waits for the mark, and the sums of busy and idle time, which continue from it. The first sample of a
 * timer claims (c) the timer's hold; if the timer is stopped again, each further sample adds a hold. Flag b: a timer or
 * deferred measurements begin at the mark. Flag r: the host's clock was read. Flag g: before the mark lies a gap in
 * which a brick had no marks.
 *
 * <h2>Ownership of a mark</h2>
 *
 * A mark belongs to the thread that set it until this thread passes on the handle. From then on its state is changed by
 * atomic operations only, and its other cells do not change. The state is written last, with release, and read first,
 * with acquire: a thread that finds the generation of a handle also finds the other cells as they were written with it.
 * A mark without holders never gets one again: only the last holder knows the mark then, and gives its number up.
 *
 * <h2>Why room may be made while threads set marks</h2>
 *
 * Room is made in chunks of marks, and a chunk never moves: the thread that sets the first mark of a chunk adds the
 * chunk by compare-and-set, so no concurrent write is lost. A thread that received a mark's number with a
 * happens-before relation also finds its chunk. A thread that did not, for example with a timer of another profiler,
 * may find none.
 */
final class Marks {

    /** The handle of no mark: no mark ever has its generation. */
    static final long NONE = 0;

    /** The value of {@link #setNs} if the host's clock was not read when the mark was set. */
    static final long NOT_READ = DeviceRecorder.NO_TIME;

    /** The number of bits of a handle. */
    static final int HANDLE_BITS = 43;

    private static final VarHandle CHUNK = MethodHandles.arrayElementVarHandle(long[][].class);
    private static final VarHandle CELL = MethodHandles.arrayElementVarHandle(long[].class);
    private static final VarHandle PASS_NOW;

    static {
        try {
            PASS_NOW = MethodHandles.lookup().findVarHandle(Marks.class, "pass", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private static final int CHUNK_SHIFT = 10;
    private static final int CHUNK_MARKS = 1 << CHUNK_SHIFT;
    private static final int IN_CHUNK = CHUNK_MARKS - 1;

    // The cells of a mark, from its state on.
    private static final int CELLS_EACH = 6;
    private static final int TURN = 1;
    private static final int SET_NS = 2;
    private static final int READING = 3;
    private static final int LINE = 4;
    private static final int DRAW = 5;

    private static final int MARK_BITS = 20;
    private static final int MARK_MASK = (1 << MARK_BITS) - 1;
    private static final int GENERATION_MASK = (1 << (HANDLE_BITS - MARK_BITS)) - 1;

    private static final int GENERATION_SHIFT = 41;
    private static final long BEGINS = 1L << 40;
    private static final long READ = 1L << 39;
    private static final long CLAIMED = 1L << 38;
    private static final long GAP = 1L << 37;
    private static final long HOLDER = 1L << 17;
    private static final long HOLDERS = GAP - HOLDER;
    private static final long PASS = HOLDER - 1;

    /** A flag in {@link #pass}: a brick had no marks since the mark before. */
    private static final int MISSED = 1 << 31;

    private final DeviceStream stream;
    private final int bound;
    private final long[] @Nullable [] chunks;

    /** Written by any thread without ordering; a lost update puts a mark out of turn. */
    private long lastTurn;

    /** The pass that marks belong to now, and {@link #MISSED}. */
    private volatile int pass;

    /** The last turn before samples were given up. Used by one thread at a time. */
    private long givenUpTurn = Long.MIN_VALUE;

    // The last turns before the latest boundary and the one before it; and whether marks were taken back since.
    private long boundaryTurn;
    private long boundaryTurnBefore;
    private boolean hasTakenBack;

    /** Creates the state of a stream in which no mark was set so far. */
    Marks(DeviceStream stream) {
        this.stream = stream;
        this.bound = stream.maxMarks();
        this.chunks = new long[(bound + IN_CHUNK) >>> CHUNK_SHIFT][];
    }

    // ---- handles ----

    static int mark(long handle) {
        return (int) handle & MARK_MASK;
    }

    private static long handle(int mark, long state) {
        return (state >>> GENERATION_SHIFT << MARK_BITS) | mark;
    }

    private static boolean isOf(long state, long handle) {
        return state >>> GENERATION_SHIFT == handle >>> MARK_BITS;
    }

    // ---- by the thread that sets a mark ----

    /**
     * Notes that the stream has set a mark.
     *
     * @param mark its number
     * @param holders how many hold it
     * @param nowNs the host's clock right before, or {@link #NOT_READ}
     * @return its handle
     */
    long set(int mark, int holders, long nowNs) {
        return set(mark, holders * HOLDER, nowNs);
    }

    /**
     * Does the same for a mark at which a timer or deferred measurements begin; one of its holders is that timer, or
     * the start.
     */
    long setBeginning(int mark, int holders, long nowNs) {
        return set(mark, BEGINS | (holders * HOLDER), nowNs);
    }

    private long set(int mark, long flags, long nowNs) {
        long[] cells = cells(mark);
        int at = at(mark);
        int now = pass;
        cells[at + TURN] = ++lastTurn;
        long state = nextGeneration(cells[at]) | flags | (now & PASS);
        if (nowNs != NOT_READ) {
            cells[at + SET_NS] = nowNs;
            state |= READ;
        }
        if (now < 0) {
            state |= GAP;
            PASS_NOW.getAndBitwiseAnd(this, ~MISSED);
        }
        CELL.setRelease(cells, at, state);
        return handle(mark, state);
    }

    private static long nextGeneration(long state) {
        long next = ((state >>> GENERATION_SHIFT) + 1) & GENERATION_MASK;
        return Math.max(1, next) << GENERATION_SHIFT;
    }

    /**
     * Notes the reading of the start of a deferred measurement with the mark at its end, which belongs to the calling
     * thread.
     */
    void setReading(int mark, long readingNs) {
        cells(mark)[at(mark) + READING] = readingNs;
    }

    /**
     * Notes the thread line of a sample's launch with the mark at the sample's end, which belongs to the calling
     * thread.
     */
    void setLine(int mark, long line) {
        cells(mark)[at(mark) + LINE] = line;
    }

    /**
     * Notes the draw of the brick that begins at a mark, or of the deferred measurement that ends there; the mark
     * belongs to the calling thread.
     */
    void setDraw(int mark, int draw) {
        cells(mark)[at(mark) + DRAW] = draw;
    }

    /** Gives back a mark that only the calling thread knows. */
    void giveUp(int mark) {
        long[] cells = cells(mark);
        int at = at(mark);
        CELL.setRelease(cells, at, nextGeneration(cells[at]));
        stream.release(mark);
    }

    // ---- any thread ----

    /** Returns whether a handle still names its mark. */
    boolean isCurrent(long handle) {
        int mark = mark(handle);
        long[] cells = findCells(mark);
        return cells != null && isOf((long) CELL.getAcquire(cells, at(mark)), handle) && handle > MARK_MASK;
    }

    /**
     * Removes a hold of a mark, unless the mark was taken back from its holders. The last holder gives the mark back.
     */
    void letGo(long handle) {
        int mark = mark(handle);
        long[] cells = cells(mark);
        int at = at(mark);
        while (true) {
            long state = (long) CELL.getAcquire(cells, at);
            if (!isOf(state, handle) || (state & HOLDERS) == 0) {
                return;
            }
            if (CELL.compareAndSet(cells, at, state, state - HOLDER)) {
                if ((state & HOLDERS) == HOLDER) {
                    giveUp(mark);
                }
                return;
            }
        }
    }

    /**
     * Notes that samples were given up before the device reached their marks: the time before each mark that is set so
     * far, and before the next one, is not known to be idle.
     */
    void giveUpSamples() {
        givenUpTurn = lastTurn;
        miss();
    }

    /** Notes that a brick has no mark: the time between the marks around it is not known to be idle. */
    void miss() {
        PASS_NOW.getAndBitwiseOr(this, MISSED);
    }

    /** Ends the pass: marks that are set from now on belong to the next one. */
    void endPass() {
        int before;
        do {
            before = pass;
        } while (!PASS_NOW.compareAndSet(this, before, ((before + 1) & ~MISSED) | (before & MISSED)));
    }

    // ---- by holders of a mark ----

    private long state(int mark) {
        return (long) CELL.getAcquire(cells(mark), at(mark));
    }

    /** Returns the handle of a mark. */
    long handle(int mark) {
        return handle(mark, state(mark));
    }

    /** Returns the host's clock when a mark was set, ns, or {@link #NOT_READ}. */
    long setNs(int mark) {
        return (state(mark) & READ) == 0 ? NOT_READ : cells(mark)[at(mark) + SET_NS];
    }

    /** Returns the reading that was noted with a mark. */
    long reading(int mark) {
        return cells(mark)[at(mark) + READING];
    }

    /** Returns the thread line of the launch of the sample that ends at a mark. */
    long line(int mark) {
        return cells(mark)[at(mark) + LINE];
    }

    /** Returns the draw that was noted with a mark. */
    int draw(int mark) {
        return (int) cells(mark)[at(mark) + DRAW];
    }

    /** Returns the place of a mark in the order in which marks were set, as far as it is known. */
    long turn(int mark) {
        return cells(mark)[at(mark) + TURN];
    }

    /** Returns whether two marks were set in one pass. */
    boolean areOfOnePass(int one, int other) {
        return ((state(one) ^ state(other)) & PASS) == 0;
    }

    /** Returns whether a mark was set in the pass that is on, modulo 2^17. */
    boolean isOfPassNow(int mark) {
        return ((pass ^ state(mark)) & PASS) == 0;
    }

    /** Returns whether a brick without times may lie between the mark before and this one. */
    boolean followsGap(int mark) {
        return (state(mark) & GAP) != 0 || turn(mark) <= givenUpTurn;
    }

    /** Claims the hold of the timer that began at a mark. Returns false if an earlier sample of the timer did so. */
    boolean claim(int mark) {
        return ((long) CELL.getAndBitwiseOr(cells(mark), at(mark), CLAIMED) & CLAIMED) == 0;
    }

    /** Adds a hold of a mark. */
    void hold(int mark) {
        CELL.getAndAdd(cells(mark), at(mark), HOLDER);
    }

    /** Removes a hold of a mark, as {@link #letGo(long)} does for a handle. */
    void letGo(int mark) {
        if (letGoLast(mark)) {
            stream.release(mark);
        }
    }

    /**
     * Removes a hold of a mark. Returns true if it was the last one: the mark is given up then, and the caller has to
     * release it.
     */
    boolean letGoLast(int mark) {
        long[] cells = cells(mark);
        int at = at(mark);
        long state = (long) CELL.getAcquire(cells, at);
        while ((state & HOLDERS) != HOLDER) {
            if ((state & HOLDERS) == 0 || CELL.compareAndSet(cells, at, state, state - HOLDER)) {
                return false;
            }
            state = (long) CELL.getAcquire(cells, at);
        }
        // Only the caller holds the mark: no other thread changes it any more.
        CELL.setRelease(cells, at, nextGeneration(state));
        return true;
    }

    boolean isHeld(int mark) {
        return (state(mark) & HOLDERS) != 0;
    }

    // ---- one thread at a time ----

    /** Notes that a thread has ended a pass, or has finalized pending measurements. */
    void reachBoundary() {
        boundaryTurnBefore = boundaryTurn;
        boundaryTurn = lastTurn;
        hasTakenBack = false;
    }

    /**
     * Returns whether {@link #takeBackAbandoned} was not called since the latest boundary, so that it may find marks.
     */
    boolean mayHaveAbandoned() {
        return !hasTakenBack;
    }

    /**
     * Takes back the marks of running timers and of starts that were set two boundaries ago or earlier, such as those
     * of timers that were never stopped: see {@link #takeBackBeginnings}.
     */
    void takeBackAbandoned(boolean[] kept) {
        hasTakenBack = true;
        takeBackBeginnings(kept, boundaryTurnBefore);
    }

    /**
     * Takes back the marks of running timers and of starts, whose handles name no mark from then on. The marks of a
     * sample that waits are left alone: each has another holder, or only ends the sample.
     *
     * @param kept which marks to leave alone, by number
     */
    void takeBackBeginnings(boolean[] kept) {
        takeBackBeginnings(kept, Long.MAX_VALUE);
    }

    private void takeBackBeginnings(boolean[] kept, long lastTurnTaken) {
        for (int mark = 0; mark < kept.length; mark++) {
            long state = state(mark);
            boolean isRunning = (state & BEGINS) != 0 && (state & HOLDERS) == HOLDER;
            if (isRunning && !kept[mark] && turn(mark) <= lastTurnTaken && takeBack(mark, state)) {
                stream.release(mark);
            }
        }
    }

    /** Takes back all marks, whose holders are gone. */
    void takeBackAll() {
        int room = room();
        for (int mark = 0; mark < room; mark++) {
            if (takeBack(mark, state(mark))) {
                stream.release(mark);
            }
        }
    }

    /** Takes a mark back. Returns false if the mark has no holder, or if its state has just changed. */
    private boolean takeBack(int mark, long state) {
        return (state & HOLDERS) != 0 && CELL.compareAndSet(cells(mark), at(mark), state, nextGeneration(state));
    }

    /** Returns the most marks there may be. */
    int bound() {
        return bound;
    }

    /** Returns one more than the highest mark that there is room for. */
    int room() {
        int number = chunks.length;
        while (number > 0 && CHUNK.getAcquire(chunks, number - 1) == null) {
            number--;
        }
        return Math.min(bound, number << CHUNK_SHIFT);
    }

    // ---- where the cells of a mark are ----

    private static int at(int mark) {
        return CELLS_EACH * (mark & IN_CHUNK);
    }

    /** Returns the cells of a mark and its neighbours, which are made if there are none. */
    private long[] cells(int mark) {
        long[] chunk = chunks[mark >>> CHUNK_SHIFT];
        return chunk != null ? chunk : makeChunk(mark >>> CHUNK_SHIFT);
    }

    /** Returns the cells of a mark; null if they were never made, or if there is no such mark. */
    private long @Nullable [] findCells(int mark) {
        return mark < bound ? (long[]) CHUNK.getAcquire(chunks, mark >>> CHUNK_SHIFT) : null;
    }

    private long[] makeChunk(int number) {
        long[] made = new long[CELLS_EACH * Math.min(CHUNK_MARKS, bound - (number << CHUNK_SHIFT))];
        long[] before = (long[]) CHUNK.compareAndExchange(chunks, number, null, made);
        return before == null ? made : before;
    }
}
