package org.brickprofiler;

import java.util.Arrays;
import org.brickprofiler.internal.record.LatencyBuckets;

/**
 * How the durations of a brick are spread: counts in buckets that are narrow for short durations and wide for long
 * ones, as in HdrHistogram (hdrhistogram.org). A percentile lies within {@link #RELATIVE_ERROR} of the true duration of
 * that rank, up to 2<sup>40</sup> ns (18 minutes). Immutable.
 */
public final class LatencyDistribution {

    /** The largest relative distance of a percentile from the duration it stands for. */
    public static final double RELATIVE_ERROR = LatencyBuckets.RELATIVE_ERROR;

    /** A distribution without samples. */
    public static final LatencyDistribution EMPTY = new LatencyDistribution(new long[0]);

    private final long[] counts;
    private final long count;

    private LatencyDistribution(long[] counts) {
        this.counts = counts;
        this.count = Arrays.stream(counts).sum();
    }

    /**
     * A distribution from its bucket counts.
     *
     * @param counts samples in each bucket, as {@link #counts()} gives them; buckets that are left out are empty
     * @return the distribution
     * @throws IllegalArgumentException when there are more counts than buckets, or one is negative
     */
    public static LatencyDistribution ofCounts(long[] counts) {
        if (counts.length > LatencyBuckets.COUNT) {
            throw new IllegalArgumentException(
                    counts.length + " counts, but there are only " + LatencyBuckets.COUNT + " buckets");
        }
        int used = 0;
        for (int i = 0; i < counts.length; i++) {
            if (counts[i] < 0) {
                throw new IllegalArgumentException("count " + counts[i] + " of bucket " + i + " is negative");
            }
            used = counts[i] == 0 ? used : i + 1;
        }
        return new LatencyDistribution(Arrays.copyOf(counts, used));
    }

    /**
     * Number of samples.
     *
     * @return 0 or more
     */
    public long count() {
        return count;
    }

    /**
     * Samples in each bucket.
     *
     * @return a copy, without the empty buckets at the end
     */
    public long[] counts() {
        return counts.clone();
    }

    /**
     * A duration that the given share of samples does not exceed, by nearest rank: the duration of sample number ⌈share
     * · count⌉ in ascending order.
     *
     * @param percent the share, 0 to 100
     * @return ns, the middle of the bucket; 0 without samples
     * @throws IllegalArgumentException when the share is not within 0 to 100
     */
    public long percentileNs(double percent) {
        requirePercentile(percent);
        // One step down first: a share such as 99.9 is no binary fraction, and the product must not exceed a
        // whole rank.
        long rank = Math.max(1, (long) Math.ceil(Math.nextDown(percent) * count / 100.0));
        long seen = 0;
        for (int i = 0; i < counts.length; i++) {
            seen += counts[i];
            if (seen >= rank) {
                return LatencyBuckets.valueNs(i);
            }
        }
        return 0;
    }

    private static void requirePercentile(double percent) {
        if (!(percent >= 0 && percent <= 100)) {
            throw new IllegalArgumentException("percentile " + percent + " is not within 0 to 100");
        }
    }

    /**
     * A duration that the given share of samples does not exceed, where the samples of a bucket are spread evenly over
     * it. Unlike {@link #percentileNs} it moves continuously with the samples, so it serves to compare distributions.
     *
     * @param percent the share, 0 to 100
     * @return ns; 0 without samples
     * @throws IllegalArgumentException when the share is not within 0 to 100
     */
    public double interpolatedPercentileNs(double percent) {
        requirePercentile(percent);
        double rank = percent * count / 100;
        double seen = 0;
        for (int i = 0; i < counts.length; i++) {
            if (counts[i] > 0 && seen + counts[i] >= rank) {
                double from = LatencyBuckets.lowestNs(i);
                return from + (LatencyBuckets.lowestNs(i + 1) - from) * (rank - seen) / counts[i];
            }
            seen += counts[i];
        }
        return 0;
    }

    /**
     * The mean of the samples between two shares, such as 25 and 75 for the middle half; of a sample that a share falls
     * into, its part counts.
     *
     * @param fromPercent the share of shorter samples that is left out, 0 to 100
     * @param toPercent the share up to which samples count, above {@code fromPercent}, up to 100
     * @return ns, from the middles of the buckets; 0 without samples
     * @throws IllegalArgumentException when the shares are not within 0 to 100 in ascending order
     */
    public double meanNs(double fromPercent, double toPercent) {
        if (!(fromPercent >= 0 && fromPercent < toPercent && toPercent <= 100)) {
            throw new IllegalArgumentException(
                    "shares " + fromPercent + " and " + toPercent + " are not within 0 to 100 in ascending order");
        }
        double from = fromPercent * count / 100;
        double to = toPercent * count / 100;
        double sum = 0;
        double seen = 0;
        for (int i = 0; i < counts.length; i++) {
            double within = Math.min(seen + counts[i], to) - Math.max(seen, from);
            sum += Math.max(0, within) * LatencyBuckets.valueNs(i);
            seen += counts[i];
        }
        return count == 0 ? 0 : sum / (to - from);
    }

    /**
     * Both together. Commutative and associative.
     *
     * @param other the other distribution
     * @return the distribution of all samples of both
     */
    public LatencyDistribution plus(LatencyDistribution other) {
        boolean longer = counts.length >= other.counts.length;
        long[] sum = (longer ? this : other).counts.clone();
        long[] added = (longer ? other : this).counts;
        for (int i = 0; i < added.length; i++) {
            sum[i] += added[i];
        }
        return new LatencyDistribution(sum);
    }

    /** The samples that came after an earlier state of the same distribution. */
    LatencyDistribution since(LatencyDistribution earlier) {
        long[] more = counts.clone();
        for (int i = 0; i < Math.min(more.length, earlier.counts.length); i++) {
            more[i] = Math.max(0, more[i] - earlier.counts[i]);
        }
        return ofCounts(more);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof LatencyDistribution that && Arrays.equals(counts, that.counts);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(counts);
    }

    @Override
    public String toString() {
        return "LatencyDistribution[count=" + count + ", p50=" + percentileNs(50) + " ns, p99=" + percentileNs(99)
                + " ns]";
    }
}
