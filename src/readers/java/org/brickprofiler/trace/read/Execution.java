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
 * @param work the number of its {@link OperatorWork}
 */
record Execution(long startNs, long endNs, long offset, long amount, int row, int kernel, long detail, int work) {

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
                (int) event.deviceNs());
    }

    Execution(EventCollector.Slice slice, long endNs) {
        this(slice.startNs, endNs, slice.offset, slice.amount, slice.row, slice.name, slice.detail, (int)
                slice.deviceNs);
    }

    long elapsedNs() {
        return endNs - startNs;
    }
}
