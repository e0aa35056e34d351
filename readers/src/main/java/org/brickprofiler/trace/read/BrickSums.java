package org.brickprofiler.trace.read;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.brickprofiler.BrickStats;
import org.brickprofiler.Work;
import org.brickprofiler.internal.record.LatencyBuckets;
import org.brickprofiler.stats.LatencyDistribution;

/** Sums the events of each brick. One thread. */
final class BrickSums {

    private final Map<TraceRule.Target, Sum> sums = new HashMap<>();
    private final Spread.Supply buckets = new Spread.Supply();
    private long totalNs;
    /** The number of executions in events that each stand for several. */
    private long totalCount;

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
        private boolean isEachWithBytes = true;
        private Work work = Work.NONE;
        private boolean isWorkKnown = true;

        /**
         * Whether the time of each sample is known; {@code hasExtremes} states whether at least the shortest and the
         * longest time are.
         */
        private boolean hasSamples = true;

        private boolean hasExtremes = true;

        Sum(Spread.Supply buckets) {
            spread = new Spread(buckets);
        }

        void add(Execution event, long selfNs, long elements, long bytes, Work done) {
            count++;
            isWorkKnown &= !done.equals(Work.NONE);
            work = isWorkKnown ? work.plus(done) : Work.NONE;
            totalNs += selfNs;
            minNs = Math.min(minNs, selfNs);
            maxNs = Math.max(maxNs, selfNs);
            if (event.endNs() > lastEndNs || (event.endNs() == lastEndNs && selfNs > lastNs)) {
                lastEndNs = event.endNs();
                lastNs = selfNs;
            }
            totalElements += elements;
            addBytes(bytes);
            spread.add(selfNs);
        }

        void add(TraceEvent.Sum sum, long sumNs, long elements, long bytes) {
            count += sum.executions();
            totalNs += sumNs;
            hasSamples = false;
            isWorkKnown = false;
            hasExtremes &= sum.shortestNs() >= 0 && sum.longestNs() >= 0;
            minNs = Math.min(minNs, sum.shortestNs());
            maxNs = Math.max(maxNs, sum.longestNs());
            totalElements += elements;
            addBytes(bytes);
        }

        private void addBytes(long bytes) {
            isEachWithBytes &= bytes >= 0;
            totalBytes += Math.max(0, bytes);
        }

        BrickStats stats(TraceRule.Target brick, TraceHead.Clock clock) {
            BrickStats.Builder stats = BrickStats.builder(brick.name(), brick.category())
                    .samples(count, totalNs, hasExtremes ? minNs : 0, hasExtremes ? maxNs : 0)
                    .elements(totalElements)
                    .bytes(isEachWithBytes ? totalBytes : 0, 0)
                    .work(isWorkKnown ? work : Work.NONE);
            return hasSamples
                    ? stats.last(lastNs, clock.unixNs(lastEndNs))
                            .latency(spread.distribution())
                            .build()
                    : stats.build();
        }
    }

    /**
     * Adds an event.
     *
     * @param brick the brick that the event counts as
     * @param event the event
     * @param selfNs its self time, ns
     * @param elements its elements
     * @param bytes its bytes, negative if they are unknown; the bytes of the whole brick are then unknown, too
     * @param work its work; if it is unknown, the work of the whole brick is unknown, too
     * @throws ArithmeticException if one of these sums over all bricks no longer fits a {@code long}
     */
    void add(TraceRule.Target brick, Execution event, long selfNs, long elements, long bytes, Work work) {
        totalNs = Math.addExact(totalNs, selfNs);
        totalElements = Math.addExact(totalElements, elements);
        totalBytes = Math.addExact(totalBytes, Math.max(0, bytes));
        sums.computeIfAbsent(brick, added -> new Sum(buckets)).add(event, selfNs, elements, bytes, work);
    }

    /**
     * Adds the sum of several events, whose individual times are unknown.
     *
     * @param brick the brick that they count as
     * @param sum their number, the shortest and the longest of them
     * @param sumNs the sum of their times, ns
     * @param elements their elements
     * @param bytes their bytes, negative if they are unknown; the bytes of the whole brick are then unknown, too
     * @throws ArithmeticException if one of these sums over all bricks no longer fits a {@code long}
     */
    void add(TraceRule.Target brick, TraceEvent.Sum sum, long sumNs, long elements, long bytes) {
        totalNs = Math.addExact(totalNs, sumNs);
        totalCount = Math.addExact(totalCount, sum.executions());
        totalElements = Math.addExact(totalElements, elements);
        totalBytes = Math.addExact(totalBytes, Math.max(0, bytes));
        sums.computeIfAbsent(brick, added -> new Sum(buckets)).add(sum, sumNs, elements, bytes);
    }

    /** Returns the sums. The times of the last events are in calendar time if the calendar time is known. */
    List<BrickStats> stats(TraceHead.Clock clock) {
        return sums.entrySet().stream()
                .map(entry -> entry.getValue().stats(entry.getKey(), clock))
                .toList();
    }

    /**
     * The distribution of a brick's durations. It allocates buckets as it needs them, from a supply shared by all
     * bricks of a reading; a brick for which the supply is exhausted has no percentiles. One thread.
     */
    static final class Spread {

        private static final int STEP = 64;

        private final Supply supply;
        private int first;
        private long[] counts = {};
        private boolean complete = true;

        /** The buckets that are left for all bricks, 8 bytes each. */
        static final class Supply {
            private int left = 1 << 20;

            private boolean take(int buckets) {
                boolean enough = buckets <= left;
                left -= enough ? buckets : 0;
                return enough;
            }
        }

        Spread(Supply supply) {
            this.supply = supply;
        }

        void add(long elapsedNs) {
            int bucket = LatencyBuckets.indexOf(elapsedNs);
            if (complete && (bucket < first || bucket >= first + counts.length)) {
                widen(bucket);
            }
            if (complete) {
                counts[bucket - first]++;
            }
        }

        private void widen(int bucket) {
            int from = bucket / STEP * STEP;
            int to = from + STEP;
            if (counts.length > 0) {
                from = Math.min(from, first);
                to = Math.max(to, first + counts.length);
            }
            if (!supply.take(to - from - counts.length)) {
                supply.left += counts.length;
                counts = new long[0];
                complete = false;
                return;
            }
            long[] wider = new long[to - from];
            if (counts.length > 0) {
                System.arraycopy(counts, 0, wider, first - from, counts.length);
            }
            first = from;
            counts = wider;
        }

        /** Returns the distribution; empty if the supply was exhausted. */
        Optional<LatencyDistribution> distribution() {
            if (!complete) {
                return Optional.empty();
            }
            long[] all = new long[Math.min(LatencyBuckets.COUNT, first + counts.length)];
            System.arraycopy(counts, 0, all, first, all.length - first);
            return Optional.of(LatencyDistribution.ofCounts(all));
        }
    }
}
