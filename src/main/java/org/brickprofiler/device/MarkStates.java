package org.brickprofiler.device;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * What is known of each mark of a stream: when and in which turn and pass it was set, how many hold it, and which
 * generation of its number it is. Room is made as marks are set.
 *
 * <pre>
 *           63          40  39  38  37  36      17 16     0
 *          +--------------+---+---+---+-----------+--------+
 *  state:  |  generation  | r | c | g |  holders  |  pass  |
 *          +--------------+---+---+---+-----------+--------+
 * </pre>
 *
 * <p>The generation counts how often a number was used and given up. Those who hold a mark are the timer that runs or the
 * samples that wait, after a lap the next ones too, those who may find it by its value ({@link StartMarks}), whoever waits
 * for it, and whoever adds up time from there on. A timer's hold is claimed (c) by its first sample; where it is stopped
 * again, each further sample holds the mark once more. The host's clock was read (r). Before the mark lies a gap (g) in
 * which a brick had no marks.
 *
 * <h2>Who may touch it</h2>
 *
 * A mark belongs to the thread that set it until it has handed on what names it; from then on its state is changed by
 * atomic operations alone, and the rest of it not at all. Its state is written last, with release, and read first, with
 * acquire: a thread that finds the generation of a token also finds the rest as it was written with it. Nobody holds a
 * mark again that nobody holds: whoever lets go last is the only one who knows of it then, and gives the number up.
 */
final class MarkStates {

    /** Instead of the host's clock when a mark was set: it was not read. */
    static final long NOT_READ = DeviceRecorder.NO_TIME;

    private static final VarHandle STATE = MethodHandles.arrayElementVarHandle(long[].class);

    // What lies in a mark's columns, from its state on.
    private static final int STRIDE = 4;
    private static final int TURN = 1;
    private static final int SET_NS = 2;
    private static final int VALUE = 3;

    private static final int GENERATION_SHIFT = 40;
    private static final long READ = 1L << 39;
    private static final long CLAIMED = 1L << 38;
    private static final long GAP = 1L << 37;
    private static final long HOLDER = 1L << 17;
    private static final long HOLDERS = GAP - HOLDER;
    private static final long PASS = HOLDER - 1;

    private final MarkColumns columns;
    private final int count;

    /** Written by any thread without order: what gets lost puts a mark out of turn. */
    private long lastTurn;

    /** The states of marks that were never set. */
    MarkStates(int marks) {
        columns = new MarkColumns(STRIDE, marks);
        count = marks;
    }

    // ---- by the thread that sets a mark ----

    /**
     * A mark was set.
     *
     * @param holders how many hold it
     * @param pass in which pass
     * @param gap whether a brick had no marks since the mark before
     * @param nowNs the host's clock, or {@link #NOT_READ}
     */
    void set(int mark, int holders, int pass, boolean gap, long nowNs) {
        long[] cells = columns.of(mark);
        int at = columns.at(mark);
        cells[at + TURN] = ++lastTurn;
        long state = nextGeneration(cells[at]) | (holders * HOLDER) | (pass & PASS) | (gap ? GAP : 0);
        if (nowNs != NOT_READ) {
            cells[at + SET_NS] = nowNs;
            state |= READ;
        }
        STATE.setRelease(cells, at, state);
    }

    private static long nextGeneration(long state) {
        return (long) MarkToken.next(generationOf(state)) << GENERATION_SHIFT;
    }

    /** The generation of a mark that belongs to the calling thread, or that it holds. */
    int generation(int mark) {
        return generationOf(columns.of(mark)[columns.at(mark)]);
    }

    /** Notes a time of the host with a mark that belongs to the calling thread: what it is found by, or who began when. */
    void setValue(int mark, long value) {
        columns.of(mark)[columns.at(mark) + VALUE] = value;
    }

    // ---- any thread ----

    /** Whether a token's mark is still the one that it was made for; false for a token of another profiler. */
    boolean isCurrent(long token) {
        int mark = MarkToken.mark(token);
        long[] cells = columns.find(mark);
        return cells != null
                && MarkToken.generation(token) == generationOf((long) STATE.getAcquire(cells, columns.at(mark)));
    }

    private static int generationOf(long state) {
        return (int) (state >>> GENERATION_SHIFT);
    }

    /** The value that was noted with a mark; anything where the caller does not hold it. */
    long value(int mark) {
        long[] cells = columns.find(mark);
        return cells == null ? 0 : (long) STATE.getOpaque(cells, columns.at(mark) + VALUE);
    }

    /** One more holds a mark, unless it was given up and is another generation by now. */
    boolean tryHold(int mark, int generation) {
        long[] cells = columns.find(mark);
        int at = columns.at(mark);
        while (cells != null) {
            long state = (long) STATE.getAcquire(cells, at);
            if (generationOf(state) != generation || (state & HOLDERS) == 0) {
                return false;
            }
            if (STATE.compareAndSet(cells, at, state, state + HOLDER)) {
                return true;
            }
        }
        return false;
    }

    /**
     * One less holds a mark; not where it was taken back from those who held it, and is another generation by now.
     *
     * @return whether it was the last one, who has to give the mark up
     */
    boolean letGo(int mark, int generation) {
        long[] cells = columns.of(mark);
        int at = columns.at(mark);
        while (true) {
            long state = (long) STATE.getAcquire(cells, at);
            if (generationOf(state) != generation || (state & HOLDERS) == 0) {
                return false;
            }
            if (STATE.compareAndSet(cells, at, state, state - HOLDER)) {
                return (state & HOLDERS) == HOLDER;
            }
        }
    }

    // ---- by those who hold a mark ----

    /** The host's clock when a mark was set, ns, or {@link #NOT_READ}. */
    long setNs(int mark) {
        long[] cells = columns.of(mark);
        int at = columns.at(mark);
        return (cells[at] & READ) == 0 ? NOT_READ : cells[at + SET_NS];
    }

    private long state(int mark) {
        return columns.of(mark)[columns.at(mark)];
    }

    /** Whether two marks were set in one pass. */
    boolean areOfOnePass(int one, int other) {
        return ((state(one) ^ state(other)) & PASS) == 0;
    }

    /** Whether a mark was set in a pass, modulo 2^17. */
    boolean isOfPass(int mark, int pass) {
        return ((pass ^ state(mark)) & PASS) == 0;
    }

    /** Whether a brick had no marks between the mark before and this one. */
    boolean followsGap(int mark) {
        return (state(mark) & GAP) != 0;
    }

    /** Claims the hold of the timer that began at a mark. False where a sample of it did so before. */
    boolean claim(int mark) {
        return ((long) STATE.getAndBitwiseOr(columns.of(mark), columns.at(mark), CLAIMED) & CLAIMED) == 0;
    }

    /** In which order marks were set, as far as that is known. */
    long turn(int mark) {
        return columns.of(mark)[columns.at(mark) + TURN];
    }

    /** The turn of the mark that was set last, as far as that is known. */
    long lastTurn() {
        return lastTurn;
    }

    boolean isHeld(int mark) {
        return (state(mark) & HOLDERS) != 0;
    }

    /** One more holds a mark. */
    void hold(int mark) {
        STATE.getAndAdd(columns.of(mark), columns.at(mark), HOLDER);
    }

    /**
     * One less holds a mark; not less than nobody, where a mark was taken back from those who held it.
     *
     * @return whether it was the last one, who has to give the mark up
     */
    boolean letGo(int mark) {
        return letGo(mark, generation(mark));
    }

    /** By whoever let go of a mark last: what names it from now on names another. */
    void retire(int mark) {
        long[] cells = columns.of(mark);
        int at = columns.at(mark);
        STATE.setRelease(cells, at, nextGeneration(cells[at]));
    }

    /**
     * Takes a mark away from those who hold it, unless they change now.
     *
     * @return whether nobody holds it any more, and the caller has to give it up
     */
    boolean takeBack(int mark) {
        long[] cells = columns.of(mark);
        int at = columns.at(mark);
        long state = (long) STATE.getAcquire(cells, at);
        return (state & HOLDERS) != 0 && STATE.compareAndSet(cells, at, state, nextGeneration(state));
    }

    /** How many marks there may be. */
    int count() {
        return count;
    }

    /** One more than the highest mark that may have been set. */
    int room() {
        return columns.room();
    }
}
