package org.brickprofiler.trace.read;

import java.util.Comparator;

/**
 * A slice that may count in a profile. Immutable.
 *
 * @param startNs when it began, on the trace's clock
 * @param endNs when it ended, not before
 * @param offset its place in the trace; no two executions have the same
 * @param amount the bytes that it moved, 0 or more; for a brick in a trace of this library, its elements
 * @param row number of its row
 * @param kernel number of its kernel
 * @param detail further data of its store
 * @param marks the number of its {@link OperatorWork}, and above 32 bits the number of its step; see {@link #work} and
 *     {@link #step}
 */
record Execution(long startNs, long endNs, long offset, long amount, int row, int kernel, long detail, long marks) {

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

    Execution(EventCollector.Slice slice, long endNs) {
        this(slice.startNs, endNs, slice.offset, slice.amount, slice.row, slice.name, slice.detail, slice.deviceNs);
    }

    long elapsedNs() {
        return endNs - startNs;
    }

    /** Returns the marks of an event with a step and without work. */
    static long marksOf(int step) {
        return (long) step << Integer.SIZE;
    }

    /** Returns the same event with the phase of its step, by its index among the phases. */
    Execution withPhase(int index) {
        return new Execution(startNs, endNs, offset, amount, row, kernel, detail, marksOf(index + 1));
    }

    /** Returns the number of its {@link OperatorWork}. */
    int work() {
        return (int) marks;
    }

    /**
     * Returns the number of its step, as {@link EngineSteps#add} counts them: in a trace of this library, the number of
     * the phase of the step; 0 if no step is known.
     */
    int step() {
        return (int) (marks >>> Integer.SIZE);
    }
}
