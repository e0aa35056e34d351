package org.brickprofiler.device;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * What is known of each mark of a stream: when and in which turn and pass it was set, how many hold it, and which
 * generation of its number it is.
 *
 * <pre>
 *           63          40  39  38  37  36      17 16     0
 *          +--------------+---+---+---+-----------+--------+
 *  state:  |  generation  | r | c | g |  holders  |  pass  |
 *          +--------------+---+---+---+-----------+--------+
 * </pre>
 *
 * <p>The generation counts how often a number was used and given up. Those who hold a mark are the timer that runs or the
 * samples that wait, after a lap the next ones too, and whoever adds up time from there on. A timer's hold is claimed (c)
 * by its first sample; where it is stopped again, each further sample holds the mark once more. The host's clock was read
 * (r). Before the mark lies a gap (g) in which a brick had no marks.
 *
 * <h2>Who may touch it</h2>
 *
 * A mark belongs to the thread that set it, until the token or the sample that names it is handed on; after that to the
 * thread that resolves. Its state is written last, with release, and read first, with acquire: a thread that finds the
 * generation of a token also finds the rest as it was written with it. A sample reaches the resolving thread through a
 * queue that orders in the same way.
 */
final class MarkStates {

    /** Instead of the host's clock when a mark was set: it was not read. */
    static final long NOT_READ = DeviceRecorder.NO_TIME;

    private static final VarHandle STATE = MethodHandles.arrayElementVarHandle(long[].class);

    private static final int STRIDE = 2;
    private static final int TURN = 1;

    private static final int GENERATION_SHIFT = 40;
    private static final long READ = 1L << 39;
    private static final long CLAIMED = 1L << 38;
    private static final long GAP = 1L << 37;
    private static final long HOLDER = 1L << 17;
    private static final long HOLDERS = GAP - HOLDER;
    private static final long PASS = HOLDER - 1;

    /** The state of each mark, and next to it its turn. */
    private final long[] cells;

    private final long[] setNs;

    /** Written by any thread without order: what gets lost puts a mark out of turn. */
    private long lastTurn;

    /** The states of marks that were never set. */
    MarkStates(int marks) {
        cells = new long[STRIDE * marks];
        setNs = new long[marks];
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
        cells[STRIDE * mark + TURN] = ++lastTurn;
        long state = nextGeneration(mark) | (holders * HOLDER) | (pass & PASS) | (gap ? GAP : 0);
        if (nowNs != NOT_READ) {
            setNs[mark] = nowNs;
            state |= READ;
        }
        STATE.setRelease(cells, STRIDE * mark, state);
    }

    private long nextGeneration(int mark) {
        return (long) MarkToken.next(generation(mark)) << GENERATION_SHIFT;
    }

    /** The generation of a mark that belongs to the calling thread. */
    int generation(int mark) {
        return generationOf(cells[STRIDE * mark]);
    }

    // ---- any thread ----

    /** Whether a token's mark is still the one that it was made for; false for a token of another profiler. */
    boolean isCurrent(long token) {
        int mark = MarkToken.mark(token);
        return mark < setNs.length
                && MarkToken.generation(token) == generationOf((long) STATE.getAcquire(cells, STRIDE * mark));
    }

    private static int generationOf(long state) {
        return (int) (state >>> GENERATION_SHIFT);
    }

    // ---- by whoever a mark belongs to ----

    /** The host's clock when a mark was set, ns, or {@link #NOT_READ}. */
    long setNs(int mark) {
        return (cells[STRIDE * mark] & READ) == 0 ? NOT_READ : setNs[mark];
    }

    /** Whether two marks were set in one pass. */
    boolean areOfOnePass(int one, int other) {
        return ((cells[STRIDE * one] ^ cells[STRIDE * other]) & PASS) == 0;
    }

    /** How many passes ended since a mark was set, modulo 2^17. */
    int passesSince(int mark, int pass) {
        return (int) ((pass - cells[STRIDE * mark]) & PASS);
    }

    /** Whether a brick had no marks between the mark before and this one. */
    boolean followsGap(int mark) {
        return (cells[STRIDE * mark] & GAP) != 0;
    }

    /** Claims the hold of the timer that began at a mark. False where a sample of it did so before. */
    boolean claim(int mark) {
        boolean first = (cells[STRIDE * mark] & CLAIMED) == 0;
        STATE.setRelease(cells, STRIDE * mark, cells[STRIDE * mark] | CLAIMED);
        return first;
    }

    /** In which order marks were set, as far as that is known. */
    long turn(int mark) {
        return cells[STRIDE * mark + TURN];
    }

    boolean isHeld(int mark) {
        return (cells[STRIDE * mark] & HOLDERS) != 0;
    }

    /** One more holds a mark. */
    void hold(int mark) {
        STATE.setRelease(cells, STRIDE * mark, cells[STRIDE * mark] + HOLDER);
    }

    /**
     * One less holds a mark; not less than nobody, where a mark was taken back from those who held it.
     *
     * @return whether it was the last one
     */
    boolean letGo(int mark) {
        if (!isHeld(mark)) {
            return false;
        }
        STATE.setRelease(cells, STRIDE * mark, cells[STRIDE * mark] - HOLDER);
        return !isHeld(mark);
    }

    /** Nobody holds a mark any more: whatever names it from now on names another. */
    void retire(int mark) {
        STATE.setRelease(cells, STRIDE * mark, nextGeneration(mark));
    }

    /** How many marks there may be. */
    int count() {
        return setNs.length;
    }
}
