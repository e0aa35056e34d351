package org.brickprofiler.trace.read;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.brickprofiler.internal.record.LatencyBuckets;
import org.brickprofiler.stats.LatencyDistribution;
import org.brickprofiler.trace.read.TraceProfile.Disturbance;
import org.brickprofiler.trace.read.TraceProfile.Disturbance.Cause;
import org.eclipse.collections.impl.list.mutable.primitive.LongArrayList;

/**
 * Measures the share of the bricks' time that coincided with pauses and other activity of the virtual machine. All
 * intervals must be added before the first execution is counted; each execution is compared with two unions for each
 * cause: that of the intervals of all threads, and that of the intervals of its own row. At most {@value #MOST}
 * intervals of a cause are kept for all threads, and as many for each row. One thread.
 */
final class Disturbances {

    static final int MOST = 1 << 20;

    /** Stands for the row of intervals that concern all threads. */
    static final int ALL_ROWS = -1;

    private static final double TAIL_PERCENT = 99;

    private static final Cause[] CAUSES = Cause.values();

    private final Map<Cause, Map<Integer, Intervals>> intervals = new EnumMap<>(Cause.class);
    private final Map<String, Sum> sums = new HashMap<>();

    /** Adds an interval of a cause. */
    void add(Cause cause, int row, long startNs, long endNs) {
        intervals
                .computeIfAbsent(cause, added -> new HashMap<>())
                .computeIfAbsent(row, added -> new Intervals())
                .add(startNs, endNs);
    }

    /**
     * Returns whether an interval of all threads overlaps the given time span. After this call, no interval of the
     * cause may be added.
     */
    boolean isIn(Cause cause, long startNs, long endNs) {
        Intervals all = intervals.getOrDefault(cause, Map.of()).get(ALL_ROWS);
        return all != null && all.overlapNs(startNs, endNs) > 0;
    }

    /** Compares an execution of a brick, or a step, with all intervals. */
    void count(String name, int row, long startNs, long endNs) {
        if (intervals.isEmpty()) {
            return;
        }
        long[] overlapsNs = new long[CAUSES.length];
        intervals.forEach((cause, byRow) -> {
            Intervals all = byRow.get(ALL_ROWS);
            Intervals own = byRow.get(row);
            overlapsNs[cause.index()] = (all == null ? 0 : all.overlapNs(startNs, endNs))
                    + (own == null ? 0 : own.overlapNs(startNs, endNs));
        });
        sums.computeIfAbsent(name, added -> new Sum()).add(endNs - startNs, overlapsNs);
    }

    /** Returns the disturbances, most time first. */
    List<Disturbance> list() {
        List<Disturbance> found = new ArrayList<>();
        sums.forEach((name, sum) -> {
            Sum tail = sum.tail();
            for (Cause cause : CAUSES) {
                if (sum.overlapsNs[cause.index()] > 0) {
                    found.add(new Disturbance(
                            name, cause, sum.overlapsNs[cause.index()], sum.share(cause), tail.share(cause)));
                }
            }
        });
        found.sort(Comparator.comparingLong(Disturbance::elapsedNs)
                .reversed()
                .thenComparing(Disturbance::brick)
                .thenComparing(Disturbance::cause));
        return found;
    }

    /** The intervals of one cause on one row, or on all threads; only their union counts. */
    private static final class Intervals {
        private final LongArrayList starts = new LongArrayList();
        private final LongArrayList ends = new LongArrayList();

        /**
         * The parts of the union in order: their starts, their ends, and the time of the union before each part. Empty
         * until the first query.
         */
        private long[][] union = {};

        void add(long startNs, long endNs) {
            if (endNs > startNs && starts.size() < MOST) {
                starts.add(startNs);
                ends.add(endNs);
            }
        }

        long overlapNs(long fromNs, long toNs) {
            if (union.length == 0) {
                union = union();
            }
            return coveredBefore(toNs) - coveredBefore(fromNs);
        }

        private long coveredBefore(long atNs) {
            int place = Arrays.binarySearch(union[0], atNs);
            int last = place < 0 ? -place - 2 : place;
            return last < 0 ? 0 : union[2][last] + Math.min(atNs, union[1][last]) - union[0][last];
        }

        private long[][] union() {
            Integer[] order = new Integer[starts.size()];
            Arrays.setAll(order, i -> i);
            Arrays.sort(order, Comparator.comparingLong(starts::get));
            long[] from = new long[order.length];
            long[] to = new long[order.length];
            long[] before = new long[order.length];
            int size = 0;
            for (int each : order) {
                if (size > 0 && starts.get(each) <= to[size - 1]) {
                    to[size - 1] = Math.max(to[size - 1], ends.get(each));
                } else {
                    from[size] = starts.get(each);
                    to[size] = ends.get(each);
                    before[size] = size == 0 ? 0 : before[size - 1] + to[size - 1] - from[size - 1];
                    size++;
                }
            }
            for (int i = 1; i < size; i++) {
                before[i] = before[i - 1] + to[i - 1] - from[i - 1];
            }
            return new long[][] {Arrays.copyOf(from, size), Arrays.copyOf(to, size), Arrays.copyOf(before, size)};
        }
    }

    /** The executions of one name and their disturbed time, also by buckets of the durations. */
    private static final class Sum {
        private final long[] overlapsNs = new long[CAUSES.length];
        private long elapsedNs;
        private long count;
        private final TreeMap<Integer, Sum> buckets = new TreeMap<>();

        void add(long ns, long[] overlaps) {
            plus(ns, 1, overlaps);
            buckets.computeIfAbsent(LatencyBuckets.indexOf(ns), added -> new Sum())
                    .plus(ns, 1, overlaps);
        }

        private void plus(long ns, long executions, long[] overlaps) {
            elapsedNs += ns;
            count += executions;
            for (int i = 0; i < overlaps.length; i++) {
                overlapsNs[i] += overlaps[i];
            }
        }

        /** Returns the executions at or above the 99th percentile. */
        Sum tail() {
            long[] counts = new long[buckets.isEmpty() ? 0 : buckets.lastKey() + 1];
            buckets.forEach((bucket, sum) -> counts[bucket] = sum.count);
            long percentileNs = LatencyDistribution.ofCounts(counts).percentileNs(TAIL_PERCENT);
            Sum tail = new Sum();
            buckets.tailMap(LatencyBuckets.indexOf(percentileNs))
                    .values()
                    .forEach(sum -> tail.plus(sum.elapsedNs, sum.count, sum.overlapsNs));
            return tail;
        }

        double share(Cause cause) {
            return elapsedNs == 0 ? 0.0 : (double) overlapsNs[cause.index()] / elapsedNs;
        }
    }
}
