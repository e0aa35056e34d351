package org.brickprofiler.trace;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.brickprofiler.internal.record.ThreadTimes;

/**
 * The latest steps, and the latest times between two steps of a thread, in which the thread waited for a processor; at
 * most {@value #MOST}. Any thread.
 */
final class ProcessorWaits {

    private static final int MOST = 1 << 14;

    /** Shorter waits are not kept, ns. */
    private static final long SHORTEST_NS = 1_000;

    private final Map<Long, NavigableMap<Long, Part>> byEnd = new HashMap<>();
    private final Deque<Part> oldestFirst = new ArrayDeque<>();

    /**
     * A part of the time of a thread.
     *
     * @param waitedNs how long it waited for a processor in this part
     * @param isStep whether it is a step, and not the time before one
     */
    private record Part(long threadId, long startNs, long endNs, long waitedNs, boolean isStep) {

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
    synchronized void add(long threadId, long startNs, long endNs, long waitedNs, boolean isStep) {
        if (waitedNs < SHORTEST_NS || endNs <= startNs) {
            return;
        }
        if (oldestFirst.size() == MOST) {
            Part oldest = oldestFirst.removeFirst();
            NavigableMap<Long, Part> ofThread = byEnd.get(oldest.threadId);
            if (ofThread != null && ofThread.remove(oldest.endNs, oldest) && ofThread.isEmpty()) {
                byEnd.remove(oldest.threadId);
            }
        }
        Part part = new Part(threadId, startNs, endNs, waitedNs, isStep);
        oldestFirst.add(part);
        byEnd.computeIfAbsent(threadId, first -> new TreeMap<>()).put(endNs, part);
    }

    /** Returns how long a thread waited for a processor between two times, as far as it is known, ns. */
    synchronized long betweenNs(long threadId, long fromNs, long toNs) {
        NavigableMap<Long, Part> ofThread = byEnd.get(threadId);
        long sumNs = 0;
        if (ofThread != null) {
            for (Part part : ofThread.tailMap(fromNs, false).values()) {
                if (part.startNs >= toNs) {
                    break;
                }
                sumNs += part.betweenNs(fromNs, toNs);
            }
        }
        return sumNs;
    }
}
