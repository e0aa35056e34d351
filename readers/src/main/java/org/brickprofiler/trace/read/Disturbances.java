package org.brickprofiler.trace.read;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.brickprofiler.internal.record.LatencyBuckets;
import org.brickprofiler.stats.LatencyDistribution;
import org.brickprofiler.trace.read.TraceProfile.Disturbance;
import org.brickprofiler.trace.read.TraceProfile.Disturbance.Cause;
import org.eclipse.collections.impl.list.mutable.primitive.LongArrayList;
import org.eclipse.collections.impl.map.mutable.primitive.IntObjectHashMap;
import org.jspecify.annotations.Nullable;

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

    /** The overlaps of an execution without any. */
    private static final long[] NONE = {};

    /** The intervals of each row, by the number of the cause; null without intervals of the cause. */
    private final @Nullable IntObjectHashMap<Intervals>[] intervals = newIntervals();

    /** Those of each row and of all threads, once an execution of the row has come. */
    private final IntObjectHashMap<OfCause[]> ofRows = new IntObjectHashMap<>();

    private final Map<String, ByDuration> sums = new HashMap<>();
    private final long[] overlapsNs = new long[CAUSES.length];
    private boolean isEmpty = true;

    /** Intervals, and the number of their cause. */
    private record OfCause(int cause, Intervals intervals) {}

    @SuppressWarnings({"unchecked", "rawtypes"}) // an array of a generic type
    private static @Nullable IntObjectHashMap<Intervals>[] newIntervals() {
        return new IntObjectHashMap[CAUSES.length];
    }

    /** Adds an interval of a cause. */
    void add(Cause cause, int row, long startNs, long endNs) {
        IntObjectHashMap<Intervals> byRow = intervals[cause.index()];
        if (byRow == null) {
            byRow = new IntObjectHashMap<>();
            intervals[cause.index()] = byRow;
        }
        byRow.getIfAbsentPut(row, Intervals::new).add(startNs, endNs);
        isEmpty = false;
    }

    /**
     * Returns whether an interval of all threads overlaps the given time span. After this call, no interval of the
     * cause may be added.
     */
    boolean isIn(Cause cause, long startNs, long endNs) {
        return overlapNs(cause.index(), ALL_ROWS, startNs, endNs) > 0;
    }

    /** Compares an execution of a brick, or a step, with all intervals. */
    void count(String name, int row, long startNs, long endNs) {
        if (isEmpty) {
            return;
        }
        boolean isDisturbed = false;
        Arrays.fill(overlapsNs, 0);
        for (OfCause each : ofRow(row)) {
            long overlapNs = each.intervals.overlapNs(startNs, endNs);
            overlapsNs[each.cause] += overlapNs;
            isDisturbed |= overlapNs > 0;
        }
        sums.computeIfAbsent(name, added -> new ByDuration()).add(endNs - startNs, isDisturbed ? overlapsNs : NONE);
    }

    /** Returns the intervals of a row and of all threads. */
    private OfCause[] ofRow(int row) {
        OfCause[] known = ofRows.get(row);
        if (known == null) {
            List<OfCause> found = new ArrayList<>();
            for (int cause = 0; cause < intervals.length; cause++) {
                IntObjectHashMap<Intervals> byRow = intervals[cause];
                for (int each : new int[] {ALL_ROWS, row}) {
                    Intervals ofEach = byRow == null ? null : byRow.get(each);
                    if (ofEach != null) {
                        found.add(new OfCause(cause, ofEach));
                    }
                }
            }
            known = found.toArray(OfCause[]::new);
            ofRows.put(row, known);
        }
        return known;
    }

    private long overlapNs(int cause, int row, long startNs, long endNs) {
        IntObjectHashMap<Intervals> byRow = intervals[cause];
        Intervals ofRow = byRow == null ? null : byRow.get(row);
        return ofRow == null ? 0 : ofRow.overlapNs(startNs, endNs);
    }

    /** Returns the disturbances, most time first. */
    List<Disturbance> list() {
        List<Disturbance> found = new ArrayList<>();
        sums.forEach((name, ofName) -> {
            Sum sum = ofName.all;
            Sum tail = ofName.tail();
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

        /** The last part of the union before the latest query, -1 before the first part; executions come by time. */
        private int latest = -1;

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
            return isBetween(fromNs, toNs) ? 0 : coveredBefore(toNs) - coveredBefore(fromNs);
        }

        /** Returns whether a time span is between the latest part and the next one, as those of most executions. */
        private boolean isBetween(long fromNs, long toNs) {
            return (latest < 0 || fromNs >= union[1][latest])
                    && (latest + 1 == union[0].length || toNs < union[0][latest + 1]);
        }

        private long coveredBefore(long atNs) {
            if (!isLatest(atNs)) {
                int place = Arrays.binarySearch(union[0], atNs);
                latest = place < 0 ? -place - 2 : place;
            }
            return latest < 0 ? 0 : union[2][latest] + Math.min(atNs, union[1][latest]) - union[0][latest];
        }

        /** Returns whether the latest part is the last one that begins at or before a moment. */
        private boolean isLatest(long atNs) {
            long[] starts = union[0];
            return (latest < 0 || starts[latest] <= atNs) && (latest + 1 == starts.length || atNs < starts[latest + 1]);
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

    /** The executions of one name, in all and by the buckets of their durations. */
    private static final class ByDuration {
        private final Sum all = new Sum();
        private @Nullable Sum[] buckets = {};

        void add(long ns, long[] overlaps) {
            all.plus(ns, 1, overlaps);
            int bucket = LatencyBuckets.indexOf(ns);
            if (bucket >= buckets.length) {
                buckets = Arrays.copyOf(buckets, bucket + 1);
            }
            Sum ofBucket = buckets[bucket];
            if (ofBucket == null) {
                ofBucket = new Sum();
                buckets[bucket] = ofBucket;
            }
            ofBucket.plus(ns, 1, overlaps);
        }

        /** Returns the executions at or above the 99th percentile. */
        Sum tail() {
            long[] counts = Arrays.stream(buckets)
                    .mapToLong(ofBucket -> ofBucket == null ? 0 : ofBucket.count)
                    .toArray();
            int first =
                    LatencyBuckets.indexOf(LatencyDistribution.ofCounts(counts).percentileNs(TAIL_PERCENT));
            Sum tail = new Sum();
            for (int bucket = first; bucket < buckets.length; bucket++) {
                Sum ofBucket = buckets[bucket];
                if (ofBucket != null) {
                    tail.plus(ofBucket.elapsedNs, ofBucket.count, ofBucket.overlapsNs);
                }
            }
            return tail;
        }
    }

    /** Executions, and the time in which they were disturbed. */
    private static final class Sum {
        private final long[] overlapsNs = new long[CAUSES.length];
        private long elapsedNs;
        private long count;

        private void plus(long ns, long executions, long[] overlaps) {
            elapsedNs += ns;
            count += executions;
            for (int i = 0; i < overlaps.length; i++) {
                overlapsNs[i] += overlaps[i];
            }
        }

        double share(Cause cause) {
            return elapsedNs == 0 ? 0.0 : (double) overlapsNs[cause.index()] / elapsedNs;
        }
    }
}
