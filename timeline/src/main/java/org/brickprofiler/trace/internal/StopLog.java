package org.brickprofiler.trace.internal;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.TreeMap;

/**
 * The times in which threads of a process did not run, as its application reports them: the newest {@value #MOST} stops
 * of all threads by the virtual machine, the newest {@value #MOST_OF_THREADS} garbage collections, as many times in
 * which a thread waited for a lock, and the latest readings of a CPU quota. The stops do not include garbage
 * collections. All times are on one clock. Any thread.
 */
public final class StopLog {

    /** The number of stops that are kept. */
    public static final int MOST = 4_096;

    private static final int MOST_OF_THREADS = 1 << 15;

    private static final int MOST_READINGS = 4_096;

    private final Deque<Stop> stops = new ArrayDeque<>();
    private final LatestTimes<Pause> pauses = new LatestTimes<>(MOST_OF_THREADS);
    private final LatestTimes<Block> blocks = new LatestTimes<>(MOST_OF_THREADS);

    /** The time for which a quota has throttled the process since its start, ns, by moments. */
    private final NavigableMap<Long, Long> throttledNs = new TreeMap<>();

    private boolean isReported;

    /** The latest end of a stop that is no longer kept. */
    private long forgottenNs = Long.MIN_VALUE;

    /** The period for which all stops were reported, if the application has stated one. */
    private boolean hasTime;

    private long fromNs;
    private long untilNs;

    /** Creates an empty log. */
    public StopLog() {}

    /**
     * A stop.
     *
     * @param startNs its beginning
     * @param endNs its end
     */
    public record Stop(long startNs, long endNs) {}

    /**
     * A garbage collection that had stopped all threads.
     *
     * @param startNs its beginning
     * @param endNs its end
     */
    public record Pause(long startNs, long endNs) implements LatestTimes.OfThread {

        /** The number in place of that of a thread. */
        private static final long ALL_THREADS = -1;

        @Override
        public long threadId() {
            return ALL_THREADS;
        }
    }

    /**
     * A time in which a thread waited for a lock.
     *
     * @param threadId the thread
     * @param startNs its beginning
     * @param endNs its end
     * @param lock the lock
     */
    public record Block(long threadId, long startNs, long endNs, String lock) implements LatestTimes.OfThread {

        /** Checks that the lock is not null. */
        public Block {
            Objects.requireNonNull(lock, "lock");
        }
    }

    /**
     * Adds a garbage collection.
     *
     * @param pause the collection
     */
    public void add(Pause pause) {
        pauses.add(Objects.requireNonNull(pause, "pause"));
    }

    /**
     * Adds a time in which a thread waited for a lock.
     *
     * @param block the time
     */
    public void add(Block block) {
        blocks.add(Objects.requireNonNull(block, "block"));
    }

    /**
     * Adds a stop.
     *
     * @param stop the stop
     */
    public synchronized void add(Stop stop) {
        Objects.requireNonNull(stop, "stop");
        isReported = true;
        if (stops.size() == MOST) {
            forgottenNs = Math.max(forgottenNs, stops.removeFirst().endNs());
        }
        stops.add(stop);
    }

    /**
     * Records that all stops between two times were reported. A period that neither adjoins nor overlaps the recorded
     * one replaces it.
     *
     * @param startNs the earlier time
     * @param endNs the later time
     */
    public synchronized void reported(long startNs, long endNs) {
        boolean adjoins = hasTime && startNs <= untilNs && endNs >= fromNs;
        fromNs = adjoins ? Math.min(fromNs, startNs) : startNs;
        untilNs = adjoins ? Math.max(untilNs, endNs) : endNs;
        hasTime = true;
    }

    /**
     * Adds a reading of a CPU quota.
     *
     * @param atNs its moment
     * @param sumNs the time for which the quota has throttled the process since its start, ns
     */
    public synchronized void throttled(long atNs, long sumNs) {
        // Of readings in a row with the same sum, the first and the last one suffice.
        Map.Entry<Long, Long> last = throttledNs.lastEntry();
        Map.Entry<Long, Long> before = last == null ? null : throttledNs.lowerEntry(last.getKey());
        if (before != null && before.getValue() == sumNs && last.getValue() == sumNs) {
            throttledNs.remove(last.getKey());
        }
        if (throttledNs.size() == MOST_READINGS) {
            throttledNs.pollFirstEntry();
        }
        throttledNs.put(atNs, sumNs);
    }

    // ---- queries ----

    /**
     * Returns whether all stops between two times are known, and no further one will be reported.
     *
     * @param startNs the earlier time
     * @param endNs the later time
     * @return true if an application has stated so
     */
    public synchronized boolean isComplete(long startNs, long endNs) {
        return hasTime && startNs >= fromNs && endNs <= untilNs && startNs >= forgottenNs;
    }

    /**
     * Returns whether all stops between two times are known. An application that reports stops, but no periods, is
     * assumed to report all stops.
     *
     * @param startNs the earlier time
     * @param endNs the later time
     * @return false if some may be unknown
     */
    public synchronized boolean isKnown(long startNs, long endNs) {
        return hasTime ? isComplete(startNs, endNs) : isReported && startNs >= forgottenNs;
    }

    /**
     * Returns the stops that overlap the period between two times.
     *
     * @param startNs the earlier time
     * @param endNs the later time
     * @return the stops as they were added
     */
    public synchronized List<Stop> within(long startNs, long endNs) {
        return stops.stream()
                .filter(stop -> stop.endNs() > startNs && stop.startNs() < endNs)
                .toList();
    }

    /**
     * Returns the garbage collections that overlap the period between two times.
     *
     * @param startNs the earlier time
     * @param endNs the later time
     * @return the collections by their end
     */
    public List<Pause> paused(long startNs, long endNs) {
        return pauses.within(Pause.ALL_THREADS, startNs, endNs);
    }

    /**
     * Returns when a thread waited for a lock between two times.
     *
     * @param threadId the thread
     * @param startNs the earlier time
     * @param endNs the later time
     * @return the times by their end
     */
    public List<Block> blocked(long threadId, long startNs, long endNs) {
        return blocks.within(threadId, startNs, endNs);
    }

    /**
     * Returns whether a quota was read.
     *
     * @return false if throttling is unknown
     */
    public synchronized boolean readsQuota() {
        return !throttledNs.isEmpty();
    }

    /**
     * Returns whether a quota was read before and after a period.
     *
     * @param startNs the beginning of the period
     * @param endNs its end
     * @return false if some throttling may be unknown
     */
    public synchronized boolean knowsThrottling(long startNs, long endNs) {
        return throttledNs.floorKey(startNs) != null && throttledNs.ceilingKey(endNs) != null;
    }

    /**
     * Returns by how much the throttled time grew between the readings around a period. The process may have been
     * throttled before or after the period, so this is the most.
     *
     * @param startNs the beginning of the period
     * @param endNs its end
     * @return ns, as far as the quota was read
     */
    public synchronized long throttledNs(long startNs, long endNs) {
        if (throttledNs.isEmpty()) {
            return 0;
        }
        Map.Entry<Long, Long> before = throttledNs.floorEntry(startNs);
        Map.Entry<Long, Long> after = throttledNs.ceilingEntry(endNs);
        long earlierNs = before == null ? throttledNs.firstEntry().getValue() : before.getValue();
        long laterNs = after == null ? throttledNs.lastEntry().getValue() : after.getValue();
        return Math.max(0, laterNs - earlierNs);
    }
}
