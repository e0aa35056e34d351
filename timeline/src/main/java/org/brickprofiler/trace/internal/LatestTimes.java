package org.brickprofiler.trace.internal;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.TreeMap;

/**
 * The latest times of threads, at most a given number, found by thread and moment. Of two times of a thread with the
 * same end, the later one remains. Any thread.
 *
 * @param <T> the type of a time
 */
public final class LatestTimes<T extends LatestTimes.OfThread> {

    private final int most;
    private final Map<Long, NavigableMap<Long, T>> byEnd = new HashMap<>();
    private final Deque<T> oldestFirst = new ArrayDeque<>();

    /** A time of a thread. */
    public interface OfThread {

        /**
         * Returns the number of the thread.
         *
         * @return any number
         */
        long threadId();

        /**
         * Returns the beginning.
         *
         * @return ns
         */
        long startNs();

        /**
         * Returns the end.
         *
         * @return ns on the same clock
         */
        long endNs();
    }

    /**
     * Makes an empty log.
     *
     * @param most the number of times that are kept, at least 1
     */
    public LatestTimes(int most) {
        this.most = most;
    }

    /**
     * Adds a time. If there are too many, the one that was added first is forgotten.
     *
     * @param time the time
     */
    public synchronized void add(T time) {
        Objects.requireNonNull(time, "time");
        if (oldestFirst.size() == most) {
            T oldest = oldestFirst.removeFirst();
            NavigableMap<Long, T> ofThread = byEnd.get(oldest.threadId());
            if (ofThread != null && ofThread.remove(oldest.endNs(), oldest) && ofThread.isEmpty()) {
                byEnd.remove(oldest.threadId());
            }
        }
        oldestFirst.add(time);
        byEnd.computeIfAbsent(time.threadId(), first -> new TreeMap<>()).put(time.endNs(), time);
    }

    /**
     * Returns the times of a thread that overlap a period, up to the first that begins after it.
     *
     * @param threadId the number of the thread
     * @param fromNs the beginning of the period
     * @param toNs its end
     * @return the times by their end
     */
    public synchronized List<T> within(long threadId, long fromNs, long toNs) {
        List<T> found = new ArrayList<>();
        NavigableMap<Long, T> ofThread = byEnd.get(threadId);
        if (ofThread != null) {
            for (T time : ofThread.tailMap(fromNs, false).values()) {
                if (time.startNs() >= toNs) {
                    break;
                }
                found.add(time);
            }
        }
        return found;
    }
}
