package org.brickprofiler.trace.internal;

import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.brickprofiler.request.Wait;
import org.brickprofiler.request.WaitSource;

/**
 * Splits the waiting time of requests by the pauses, blocked threads and readings of a CPU quota of a log, and by how
 * long threads waited for a processor. Any thread.
 */
public final class RequestWaits implements WaitSource {

    private static final long NO_THREAD = -1;

    private final String source;
    private final StopLog log;
    private final Processors processors;

    /** Knows how long threads waited for a processor. */
    @FunctionalInterface
    public interface Processors {

        /** Knows nothing. */
        Processors UNKNOWN = (threadId, fromNs, toNs) -> 0;

        /**
         * Returns how long a thread waited between two times.
         *
         * @param threadId the thread
         * @param fromNs the earlier time
         * @param toNs the later time
         * @return ns, as far as it is known
         */
        long waitedNs(long threadId, long fromNs, long toNs);
    }

    /**
     * Creates a source of waits.
     *
     * @param source the name of the source in reports
     * @param log the reported times
     * @param processors the waits for a processor, on the same clock
     */
    public RequestWaits(String source, StopLog log, Processors processors) {
        this.source = Objects.requireNonNull(source, "source");
        this.log = Objects.requireNonNull(log, "log");
        this.processors = Objects.requireNonNull(processors, "processors");
    }

    /** Returns the source, and states if it read no quota although it knows waits for a processor. */
    @Override
    public String name() {
        return processors == Processors.UNKNOWN || log.readsQuota()
                ? source
                : source + " (" + Wait.THROTTLED.unknown() + ")";
    }

    @Override
    public Split split(List<Waiting> times) {
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
        private final List<StopLog.Pause> pauses;
        private final Map<Wait, Long> sums = new EnumMap<>(Wait.class);
        private final Map<String, Long> locks = new HashMap<>();

        /** The thread of the latest time, and what stopped it during the request. */
        private long threadId = NO_THREAD;

        private List<StopLog.Block> blocks = List.of();
        private boolean hasWaited;

        OfRequest(long firstNs, long lastNs) {
            this.firstNs = firstNs;
            this.lastNs = lastNs;
            this.pauses = log.paused(firstNs, lastNs);
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
                blocks = log.blocked(threadId, firstNs, lastNs);
                hasWaited = processors.waitedNs(threadId, firstNs, lastNs) > 0;
            }
            for (StopLog.Block block : blocks) {
                long startNs = Math.max(fromNs, block.startNs());
                long endNs = Math.min(toNs, block.endNs());
                if (startNs < endNs) {
                    long blockedNs = take(Wait.BLOCKED, leftNs, endNs - startNs - pausedNs(startNs, endNs));
                    locks.merge(block.lock(), blockedNs, Long::sum);
                    leftNs -= blockedNs;
                }
            }
            if (hasWaited) {
                long waitedNs = Math.min(leftNs, processors.waitedNs(threadId, fromNs, toNs));
                waitedNs -= take(Wait.THROTTLED, waitedNs, log.throttledNs(fromNs, toNs));
                take(Wait.NO_PROCESSOR, waitedNs, waitedNs);
            }
        }

        private long pausedNs(long fromNs, long toNs) {
            long sumNs = 0;
            for (StopLog.Pause pause : pauses) {
                sumNs += Math.max(0, Math.min(pause.endNs(), toNs) - Math.max(pause.startNs(), fromNs));
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
}
