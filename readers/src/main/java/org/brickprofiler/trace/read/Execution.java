package org.brickprofiler.trace.read;

import java.util.Comparator;

/**
 * A slice that may count in a profile. Immutable.
 *
 * @param startNs when it began, on the trace's clock
 * @param endNs when it ended, not before
 * @param offset its place in the trace; no two executions have the same
 * @param amount its elements if its marks are {@link #withElements}, otherwise its bytes; see {@link #elements} and
 *     {@link #bytes}
 * @param row number of its row
 * @param kernel number of its kernel
 * @param detail further data of its store
 * @param marks the number of its {@link OperatorWork}, or for a device's work the time since its launch, in the low 32
 *     bits; the number of its step and the flags of its launch and its amount in the high 32 bits; see {@link #work},
 *     {@link #launchNs}, {@link #step}, {@link #isIn} and {@link #elements}
 */
record Execution(long startNs, long endNs, long offset, long amount, int row, int kernel, long detail, long marks) {

    private static final long HAS_ELEMENTS = 1L << 63;
    private static final long HAS_LAUNCH = 1L << 62;
    private static final long IS_SKIPPED = 1L << 61;
    private static final int STEP_BITS = 29;
    private static final long LAG_MASK = (1L << Integer.SIZE) - 1;

    /** The order of {@link EventStore}. */
    static final Comparator<Execution> BY_TIME = (one, two) -> {
        int byStart = Long.compare(one.startNs, two.startNs);
        int byEnd = byStart != 0 ? byStart : Long.compare(two.endNs, one.endNs);
        return byEnd != 0 ? byEnd : Long.compare(one.offset, two.offset);
    };

    Execution(EventStore.Event event) {
        this(
                event.startNs(),
                event.endNs(),
                event.offset(),
                event.amount(),
                event.row(),
                event.name(),
                event.detail(),
                event.deviceNs());
    }

    long elapsedNs() {
        return endNs - startNs;
    }

    /** Returns the marks of an event with a step and without work. */
    static long marksOf(int step) {
        return (long) step << Integer.SIZE;
    }

    /**
     * Returns the marks of an event with a step, without work, and with a launch.
     *
     * @param isSkipped whether the launch began before the first step that is kept
     */
    static long marksOf(int step, boolean isSkipped) {
        return marksOf(step) | HAS_LAUNCH | (isSkipped ? IS_SKIPPED : 0);
    }

    /**
     * Returns the same marks of an event that began some time after its launch. A time below 0, or from 2<sup>32</sup>
     * - 1 ns (four seconds) on, stays unknown.
     */
    static long withLag(long marks, long lagNs) {
        boolean isKept = (marks & HAS_LAUNCH) != 0 && lagNs >= 0 && lagNs < LAG_MASK;
        return isKept ? marks | (lagNs + 1) : marks;
    }

    /** Returns the same marks of an event whose amount is its elements. */
    static long withElements(long marks) {
        return marks | HAS_ELEMENTS;
    }

    /** Returns the same marks without a step. */
    static long withoutStep(long marks) {
        return marks & ~marksOf((1 << STEP_BITS) - 1);
    }

    /** Returns whether two marks have the same flags of a launch. */
    static boolean haveSameLaunch(long marks, long others) {
        return ((marks ^ others) & (HAS_LAUNCH | IS_SKIPPED)) == 0;
    }

    /** Returns whether the launch of a device's work is known. */
    boolean hasLaunch() {
        return (marks & HAS_LAUNCH) != 0;
    }

    /**
     * Returns whether it belongs to the steps from a moment on: it was launched in them or, if its launch is unknown,
     * began in them.
     *
     * @param firstKeptNs the moment for which its marks were made
     */
    boolean isIn(long firstKeptNs) {
        return hasLaunch() ? (marks & IS_SKIPPED) == 0 : startNs >= firstKeptNs;
    }

    /** Returns its elements; 0 if none are known. */
    long elements() {
        return (marks & HAS_ELEMENTS) != 0 ? amount : 0;
    }

    /** Returns the bytes that it moved; {@link TraceEvent#NONE} if they are unknown. */
    long bytes() {
        return (marks & HAS_ELEMENTS) != 0 ? TraceEvent.NONE : amount;
    }

    /** Returns the begin of its launch; {@link Long#MIN_VALUE} if it is unknown. */
    long launchNs() {
        long lag = hasLaunch() ? marks & LAG_MASK : 0;
        return lag == 0 ? Long.MIN_VALUE : startNs - (lag - 1);
    }

    /** Returns the number of its {@link OperatorWork}. */
    int work() {
        return hasLaunch() ? OperatorWork.UNKNOWN : (int) marks;
    }

    /**
     * Returns the number of its step, as {@link EngineSteps#add} counts them: in a trace of this library, the
     * {@linkplain org.brickprofiler.trace.Span.StatedPhase#number() number} of its phase; 0 if no step is known.
     */
    int step() {
        return (int) (marks >>> Integer.SIZE) & ((1 << STEP_BITS) - 1);
    }
}
