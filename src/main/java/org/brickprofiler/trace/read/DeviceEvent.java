package org.brickprofiler.trace.read;

import java.util.Comparator;

/**
 * A slice that may count. Immutable.
 *
 * @param startNs when it began, on the trace's clock
 * @param endNs when it ended, not before
 * @param offset where it stands in the trace; no two slices have the same
 * @param amount bytes that it moved, 0 or more; of a brick in a trace of this library, its elements
 * @param row number of its process and thread
 * @param kernel number of its kernel
 */
record DeviceEvent(long startNs, long endNs, long offset, long amount, int row, int kernel) {

    /** By start; of those that begin together, the longest first, for it may hold the others. */
    static final Comparator<DeviceEvent> BY_TIME = (one, two) -> {
        int byStart = Long.compare(one.startNs, two.startNs);
        int byEnd = byStart != 0 ? byStart : Long.compare(two.endNs, one.endNs);
        return byEnd != 0 ? byEnd : Long.compare(one.offset, two.offset);
    };

    long elapsedNs() {
        return endNs - startNs;
    }
}
