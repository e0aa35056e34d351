package org.brickprofiler.trace;

import org.brickprofiler.internal.record.ThreadTimes;
import org.brickprofiler.trace.internal.LatestTimes;

/**
 * The latest steps, and the latest times between two steps of a thread, in which the thread waited for a processor; at
 * most {@value #MOST}. Any thread.
 */
final class ProcessorWaits {

    private static final int MOST = 1 << 14;

    /** Shorter waits are not kept, ns. */
    private static final long SHORTEST_NS = 1_000;

    private final LatestTimes<Part> parts = new LatestTimes<>(MOST);

    /**
     * A part of the time of a thread.
     *
     * @param waitedNs how long it waited for a processor in this part
     * @param isStep whether it is a step, and not the time before one
     */
    private record Part(long threadId, long startNs, long endNs, long waitedNs, boolean isStep)
            implements LatestTimes.OfThread {

        /**
         * Returns how much of the wait lies between two times. Its place within the part is unknown. A step is assumed
         * to wait evenly, and a thread that is between two steps to wait only when it has something to do, which is at
         * the end.
         */
        long betweenNs(long fromNs, long toNs) {
            long overlapNs = Math.min(endNs, toNs) - Math.max(startNs, fromNs);
            return isStep
                    ? Math.round((double) waitedNs * overlapNs / (endNs - startNs))
                    : Math.min(waitedNs, overlapNs);
        }
    }

    /**
     * Adds a step, or the time before one.
     *
     * @param waitedNs how long the thread waited for a processor, ns, or {@link ThreadTimes#UNKNOWN}
     */
    void add(long threadId, long startNs, long endNs, long waitedNs, boolean isStep) {
        if (waitedNs >= SHORTEST_NS && endNs > startNs) {
            parts.add(new Part(threadId, startNs, endNs, waitedNs, isStep));
        }
    }

    /** Returns how long a thread waited for a processor between two times, as far as it is known, ns. */
    long betweenNs(long threadId, long fromNs, long toNs) {
        return parts.within(threadId, fromNs, toNs).stream()
                .mapToLong(part -> part.betweenNs(fromNs, toNs))
                .sum();
    }
}
