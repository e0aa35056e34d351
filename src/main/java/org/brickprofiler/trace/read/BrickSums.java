package org.brickprofiler.trace.read;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.brickprofiler.Bottleneck;
import org.brickprofiler.BrickStats;

/** Adds events up by brick. One thread. */
final class BrickSums {

    private final Map<RuleTarget, Sum> sums = new HashMap<>();
    private final Spread.Supply buckets = new Spread.Supply();
    private long totalNs;
    private long totalElements;
    private long totalBytes;

    private static final class Sum {
        private final Spread spread;
        private long count;
        private long totalNs;
        private long minNs = Long.MAX_VALUE;
        private long maxNs;
        private long lastNs;
        private long lastEndNs = Long.MIN_VALUE;
        private long totalElements;
        private long totalBytes;

        Sum(Spread.Supply buckets) {
            spread = new Spread(buckets);
        }

        void add(DeviceEvent event, long selfNs, long elements, long bytes) {
            count++;
            totalNs += selfNs;
            minNs = Math.min(minNs, selfNs);
            maxNs = Math.max(maxNs, selfNs);
            if (event.endNs() > lastEndNs || (event.endNs() == lastEndNs && selfNs > lastNs)) {
                lastEndNs = event.endNs();
                lastNs = selfNs;
            }
            totalElements += elements;
            totalBytes += bytes;
            spread.add(selfNs);
        }

        BrickStats stats(RuleTarget brick, TraceClock clock) {
            return new BrickStats(
                    brick.name(), brick.category(), Bottleneck.UNKNOWN, count, totalNs, minNs, maxNs, lastNs,
                    clock.unixNs(lastEndNs), totalElements, totalBytes, 0, 0, 0, 0, spread.distribution());
        }
    }

    /**
     * Adds an event.
     *
     * @param brick what it counts as
     * @param event the event
     * @param selfNs its own time, ns
     * @param elements its elements
     * @param bytes its bytes
     * @throws ArithmeticException when the sum over all bricks of one of these no longer fits a {@code long}
     */
    void add(RuleTarget brick, DeviceEvent event, long selfNs, long elements, long bytes) {
        totalNs = Math.addExact(totalNs, selfNs);
        totalElements = Math.addExact(totalElements, elements);
        totalBytes = Math.addExact(totalBytes, bytes);
        sums.computeIfAbsent(brick, added -> new Sum(buckets)).add(event, selfNs, elements, bytes);
    }

    /** The sums, with the times of the last events in calendar time where the clock tells it. */
    List<BrickStats> stats(TraceClock clock) {
        return sums.entrySet().stream()
                .map(entry -> entry.getValue().stats(entry.getKey(), clock))
                .toList();
    }
}
