package org.brickprofiler.testing;

import java.util.List;
import org.brickprofiler.internal.record.LatencyBuckets;
import org.brickprofiler.stats.LatencyDistribution;

/** The number of some durations, their sum and their extremes, ns. */
public record Times(long count, long totalNs, long minNs, long maxNs) {

    /** Returns times that agree with each other; the sum is the first of three random numbers. */
    public static Times of(long count, List<Long> n) {
        if (count == 0) {
            return new Times(0, 0, 0, 0);
        }
        long averageNs = n.get(0) / count;
        return new Times(count, n.get(0), averageNs - n.get(1) % (averageNs + 1), averageNs + 1 + n.get(2));
    }

    /** Returns the times of durations that are the shortest ones of their buckets. */
    public static Times of(LatencyDistribution spread) {
        long[] counts = spread.counts();
        long totalNs = 0;
        for (int bucket = 0; bucket < counts.length; bucket++) {
            totalNs += counts[bucket] * LatencyBuckets.lowestNs(bucket);
        }
        return spread.count() == 0
                ? new Times(0, 0, 0, 0)
                : new Times(
                        spread.count(),
                        totalNs,
                        LatencyBuckets.lowestNs(spread.firstBucket()),
                        LatencyBuckets.lowestNs(counts.length - 1));
    }
}
