package org.brickprofiler.internal.record;

/**
 * Counts durations in {@link LatencyBuckets}, with a {@link BucketLog} of the latest ones, as the rows of a
 * {@link StatTable} do. One thread at a time.
 */
public final class DurationCounts {

    private final long[] log = new long[BucketLog.LONGS];
    private final long[] counts = new long[LatencyBuckets.COUNT];
    private long number;

    /** Creates counts of no duration. */
    public DurationCounts() {}

    /**
     * Counts a duration. Allocates nothing.
     *
     * @param elapsedNs the duration, ns, 0 or more
     */
    public void add(long elapsedNs) {
        number++;
        if (BucketLog.add(log, 0, number, LatencyBuckets.indexOf(elapsedNs))) {
            BucketLog.count(log, 0, BucketLog.CAPACITY, counts);
        }
    }

    /**
     * Returns the counts.
     *
     * @return {@link LatencyBuckets#COUNT} counts, the caller's own
     */
    public long[] counts() {
        long[] all = counts.clone();
        BucketLog.count(log, 0, BucketLog.size(number), all);
        return all;
    }
}
