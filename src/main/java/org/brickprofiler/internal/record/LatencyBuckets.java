package org.brickprofiler.internal.record;

/**
 * The bucket scheme behind percentiles: 64 linear buckets per power of two, so that a duration is known to within 1/128
 * (0.8 %) of itself, and exactly below 128 ns. Durations from 2<sup>40</sup> ns (18 minutes) share the last bucket.
 * Stateless; any thread.
 */
public final class LatencyBuckets {

    /** Number of buckets. */
    public static final int COUNT = 2_240;

    /**
     * The largest relative distance of a duration below 2<sup>40</sup> ns from the value that represents its bucket.
     */
    public static final double RELATIVE_ERROR = 1.0 / 128.0;

    private static final int SUB_BUCKET_BITS = 6;
    private static final int SUB_BUCKETS = 1 << SUB_BUCKET_BITS;
    private static final int LEADING_ZEROS_OF_SUB_BUCKETS = Long.numberOfLeadingZeros(SUB_BUCKETS);
    private static final long LARGEST_NS = (1L << 40) - 1;

    private LatencyBuckets() {}

    /**
     * Returns the bucket of a duration.
     *
     * @param elapsedNs a duration in ns, 0 or more
     * @return its bucket, 0 to {@link #COUNT} - 1
     */
    public static int indexOf(long elapsedNs) {
        long ns = Math.min(elapsedNs, LARGEST_NS);
        int shift = LEADING_ZEROS_OF_SUB_BUCKETS - Long.numberOfLeadingZeros(ns | SUB_BUCKETS);
        return (shift << SUB_BUCKET_BITS) + (int) (ns >>> shift);
    }

    /**
     * Returns the value that represents a bucket, its middle.
     *
     * @param index a bucket, 0 to {@link #COUNT} - 1
     * @return ns
     */
    public static long valueNs(int index) {
        if (index < 0 || index >= COUNT) {
            throw new IllegalArgumentException("bucket " + index + " is not in 0.." + (COUNT - 1));
        }
        return lowestNs(index) + ((1L << shift(index)) >>> 1);
    }

    /**
     * Returns the shortest duration of a bucket.
     *
     * @param index a bucket, or {@link #COUNT} for the end of the last one
     * @return ns
     */
    public static long lowestNs(int index) {
        int shift = shift(index);
        return (long) (index - (shift << SUB_BUCKET_BITS)) << shift;
    }

    private static int shift(int index) {
        return Math.max(0, (index >>> SUB_BUCKET_BITS) - 1);
    }
}
