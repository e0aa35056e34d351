package org.brickprofiler.trace.jfr;

import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import org.brickprofiler.request.Wait;
import org.brickprofiler.request.WaitSource;
import org.brickprofiler.trace.internal.LatestTimes;

/**
 * The latest pauses and blocked threads, and the latest readings of a CPU quota: they split the waiting time of
 * requests. Of the times, at most {@value #MOST} are kept. Any thread.
 */
final class WaitLog implements WaitSource {

    private static final int MOST = 1 << 15;

    private static final int MOST_READINGS = 4_096;

    /** In place of the number of a thread: a pause of all threads. */
    private static final long ALL_THREADS = -1;

    private final String name;

    private final Processors processors;

    private final LatestTimes<Stop> stops = new LatestTimes<>(MOST);

    /** The time for which a quota has throttled the process since its start, ns, by moments. Guarded by this. */
    private final NavigableMap<Long, Long> throttledNs = new TreeMap<>();

    /**
     * A time in which a thread could not go on, or none could.
     *
     * @param why the lock; empty for a pause of all threads
     */
    private record Stop(long threadId, long startNs, long endNs, String why) implements LatestTimes.OfThread {

        long betweenNs(long fromNs, long toNs) {
            return Math.max(0, Math.min(endNs, toNs) - Math.max(startNs, fromNs));
        }
    }

    /** Knows how long threads waited for a processor. */
    interface Processors {

        /** Knows nothing. */
        Processors UNKNOWN = (threadId, fromNs, toNs) -> 0;

        /** Returns how long a thread waited between two times, ns, as far as it is known. */
        long waitedNs(long threadId, long fromNs, long toNs);
    }

    /**
     * Creates an empty log.
     *
     * @param name the name of the source in reports
     */
    WaitLog(String name, Processors processors) {
        this.name = name;
        this.processors = processors;
    }

    /** Adds a pause for a garbage collection. */
    void paused(long startNs, long endNs) {
        stops.add(new Stop(ALL_THREADS, startNs, endNs, ""));
    }

    /** Adds a time in which a thread waited for a lock. */
    void blocked(long threadId, long startNs, long endNs, String lock) {
        stops.add(new Stop(threadId, startNs, endNs, lock));
    }

    /** Adds a reading of the time for which a quota has throttled the process since its start, ns. */
    synchronized void throttled(long atNs, long sumNs) {
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

    // ---- the waits of a request ----

    @Override
    public String name() {
        return name;
    }

    @Override
    public synchronized Split split(List<Waiting> times) {
        if (times.isEmpty()) {
            return new Split(Map.of(), Optional.empty());
        }
        OfRequest request =
                new OfRequest(times.get(0).fromNs(), times.get(times.size() - 1).toNs());
        times.forEach(request::split);
        return request.waits();
    }

    /**
     * The waits of one request. A request has a time for each token, so what overlaps none of them is asked for once.
     */
    private final class OfRequest {
        private final long firstNs;
        private final long lastNs;
        private final List<Stop> pauses;
        private final Map<Wait, Long> sums = new EnumMap<>(Wait.class);
        private final Map<String, Long> locks = new HashMap<>();

        /** The thread of the latest time, and what stopped it during the request. */
        private long threadId = ALL_THREADS;

        private List<Stop> blocks = List.of();
        private boolean hasWaited;

        OfRequest(long firstNs, long lastNs) {
            this.firstNs = firstNs;
            this.lastNs = lastNs;
            this.pauses = stops.within(ALL_THREADS, firstNs, lastNs);
        }

        void split(Waiting time) {
            long fromNs = time.fromNs();
            long toNs = time.toNs();
            long leftNs = time.waitedNs();
            leftNs -= take(Wait.GC, leftNs, pausedNs(fromNs, toNs));
            if (time.threadId() < 0) {
                return;
            }
            if (time.threadId() != threadId) {
                threadId = time.threadId();
                blocks = stops.within(threadId, firstNs, lastNs);
                hasWaited = processors.waitedNs(threadId, firstNs, lastNs) > 0;
            }
            for (Stop block : blocks) {
                long startNs = Math.max(fromNs, block.startNs);
                long endNs = Math.min(toNs, block.endNs);
                if (startNs < endNs) {
                    long blockedNs = take(Wait.BLOCKED, leftNs, endNs - startNs - pausedNs(startNs, endNs));
                    locks.merge(block.why, blockedNs, Long::sum);
                    leftNs -= blockedNs;
                }
            }
            if (hasWaited) {
                long waitedNs = Math.min(leftNs, processors.waitedNs(threadId, fromNs, toNs));
                waitedNs -= take(Wait.THROTTLED, waitedNs, throttledNs(fromNs, toNs));
                take(Wait.NO_PROCESSOR, waitedNs, waitedNs);
            }
        }

        private long pausedNs(long fromNs, long toNs) {
            long sumNs = 0;
            for (Stop pause : pauses) {
                sumNs += pause.betweenNs(fromNs, toNs);
            }
            return sumNs;
        }

        private long take(Wait wait, long leftNs, long ns) {
            long takenNs = Math.max(0, Math.min(leftNs, ns));
            if (takenNs > 0) {
                sums.merge(wait, takenNs, Long::sum);
            }
            return takenNs;
        }

        Split waits() {
            Optional<String> lock = locks.entrySet().stream()
                    .max(Map.Entry.<String, Long>comparingByValue().thenComparing(Map.Entry.comparingByKey()))
                    .map(Map.Entry::getKey);
            return new Split(sums, lock);
        }
    }

    /** Returns by how much the throttled time grew between the readings around two moments. */
    private long throttledNs(long fromNs, long toNs) {
        Map.Entry<Long, Long> before = throttledNs.floorEntry(fromNs);
        Map.Entry<Long, Long> after = throttledNs.ceilingEntry(toNs);
        if (throttledNs.isEmpty()) {
            return 0;
        }
        long earlierNs = before == null ? throttledNs.firstEntry().getValue() : before.getValue();
        long laterNs = after == null ? throttledNs.lastEntry().getValue() : after.getValue();
        return Math.max(0, laterNs - earlierNs);
    }
}
