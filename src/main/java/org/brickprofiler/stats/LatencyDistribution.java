package org.brickprofiler.stats;

import java.util.Arrays;
import java.util.Objects;
import org.brickprofiler.internal.record.LatencyBuckets;

/**
 * The distribution of durations, such as those of a brick's samples: counts in buckets that are narrow for short
 * durations and wide for long ones, as in HdrHistogram (hdrhistogram.org). A percentile lies within
 * {@link #RELATIVE_ERROR} of the true duration of that rank, up to 2<sup>40</sup> ns (18 minutes). Immutable.
 */
public final class LatencyDistribution {

    /** The largest relative error of a percentile. */
    public static final double RELATIVE_ERROR = LatencyBuckets.RELATIVE_ERROR;

    /** The longest percentile, ns: it stands for a duration of about 2<sup>40</sup> ns or for any longer one. */
    public static final long LONGEST_NS = LatencyBuckets.valueNs(LatencyBuckets.COUNT - 1);

    /** A distribution without samples. */
    public static final LatencyDistribution EMPTY = new LatencyDistribution(0, new long[0]);

    /** The first bucket that has samples; 0 without samples. */
    private final int first;

    /** The buckets from the first one that has samples to the last one that has samples. */
    private final long[] counts;

    private final long count;

    private LatencyDistribution(int first, long[] counts) {
        this.first = first;
        this.counts = counts;
        long sum = 0;
        for (long samples : counts) {
            sum += samples;
        }
        this.count = sum;
    }

    /**
     * Returns the distribution that has these counts in its first buckets.
     *
     * @param counts samples in each bucket, as {@link #counts()} gives them; buckets that are left out are empty
     * @return the distribution
     * @throws IllegalArgumentException when there are more counts than buckets, one is negative, or their sum exceeds
     *     2<sup>63</sup> - 1
     */
    public static LatencyDistribution ofCounts(long[] counts) {
        Objects.requireNonNull(counts, "counts");
        return ofCounts(0, counts);
    }

    /**
     * Returns the distribution that has these counts in neighbouring buckets.
     *
     * @param firstBucket the bucket of the first count
     * @param counts samples in that bucket and those after it, as {@link #usedCounts()} gives them; all other buckets
     *     are empty
     * @return the distribution
     * @throws IllegalArgumentException when a bucket does not exist, a count is negative, or their sum exceeds
     *     2<sup>63</sup> - 1
     */
    public static LatencyDistribution ofCounts(int firstBucket, long[] counts) {
        if (firstBucket < 0 || counts.length > LatencyBuckets.COUNT - firstBucket) {
            throw new IllegalArgumentException(counts.length + " counts from bucket " + firstBucket
                    + " on, but there are only " + LatencyBuckets.COUNT + " buckets");
        }
        int from = counts.length;
        int to = 0;
        long sum = 0;
        for (int i = 0; i < counts.length; i++) {
            long samples = counts[i];
            if (samples != 0) {
                if (samples < 0) {
                    throw new IllegalArgumentException(
                            "count " + samples + " of bucket " + (firstBucket + i) + " is negative");
                }
                sum += samples;
                if (sum < 0) {
                    throw new IllegalArgumentException("the counts up to count " + samples + " of bucket "
                            + (firstBucket + i) + " add up to more than 2^63 - 1");
                }
                from = Math.min(from, i);
                to = i + 1;
            }
        }
        return to == 0 ? EMPTY : new LatencyDistribution(firstBucket + from, Arrays.copyOfRange(counts, from, to));
    }

    /**
     * Returns the number of samples.
     *
     * @return 0 or more
     */
    public long count() {
        return count;
    }

    /**
     * Returns the samples in each bucket.
     *
     * @return a copy, without the empty buckets at the end
     */
    public long[] counts() {
        long[] all = new long[first + counts.length];
        System.arraycopy(counts, 0, all, first, counts.length);
        return all;
    }

    /**
     * Returns the first bucket that has samples.
     *
     * @return its number in {@link #counts()}; 0 without samples
     */
    public int firstBucket() {
        return first;
    }

    /**
     * Returns the samples of each bucket from {@link #firstBucket()} to the last one that has samples.
     *
     * @return a copy; empty without samples
     */
    public long[] usedCounts() {
        return counts.clone();
    }

    /**
     * Returns a percentile by nearest rank, which the given share of samples does not exceed: the duration of sample
     * number ⌈share · count⌉ in ascending order.
     *
     * @param percent the share, 0 to 100
     * @return ns, the middle of the bucket; 0 without samples
     * @throws IllegalArgumentException when the share is not within 0 to 100
     */
    public long percentileNs(double percent) {
        requirePercentile(percent);
        // A share such as 99.9 is not a binary fraction: rounding down keeps the product from exceeding a whole rank.
        long rank = Math.max(1, (long) Math.ceil(Math.nextDown(percent) * count / 100.0));
        long seen = 0;
        for (int i = 0; i < counts.length; i++) {
            seen += counts[i];
            if (seen >= rank) {
                return LatencyBuckets.valueNs(first + i);
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
     * Returns a percentile that is interpolated as if the samples of a bucket were spread evenly over the bucket.
     * Unlike {@link #percentileNs} it changes continuously with the samples, which makes it fit for comparing
     * distributions.
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
                double from = LatencyBuckets.lowestNs(first + i);
                return from + (LatencyBuckets.lowestNs(first + i + 1) - from) * (rank - seen) / counts[i];
            }
            seen += counts[i];
        }
        return 0;
    }

    /**
     * Returns the mean of the samples between two shares, such as 25 and 75 for the middle half. A sample that a share
     * divides counts in part.
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
            sum += Math.max(0, within) * LatencyBuckets.valueNs(first + i);
            seen += counts[i];
        }
        return count == 0 ? 0 : sum / (to - from);
    }

    /**
     * Returns the distribution of both. Commutative and associative.
     *
     * @param other the other distribution
     * @return the distribution of all samples of both
     * @throws IllegalArgumentException when both together have more than 2<sup>63</sup> - 1 samples
     */
    public LatencyDistribution plus(LatencyDistribution other) {
        Objects.requireNonNull(other, "other");
        if (count == 0 || other.count == 0) {
            return count == 0 ? other : this;
        }
        if (count + other.count < 0) {
            throw new IllegalArgumentException("distributions of " + count + " and " + other.count
                    + " samples cannot be added: these are more than 2^63 - 1");
        }
        int from = Math.min(first, other.first);
        long[] sum = new long[Math.max(first + counts.length, other.first + other.counts.length) - from];
        System.arraycopy(counts, 0, sum, first - from, counts.length);
        for (int i = 0; i < other.counts.length; i++) {
            sum[other.first - from + i] += other.counts[i];
        }
        return new LatencyDistribution(from, sum);
    }

    /**
     * Returns the samples that were added since an earlier state of the same distribution.
     *
     * @param earlier the earlier state
     * @return the difference; a bucket that has fewer samples than before counts as empty
     */
    public LatencyDistribution since(LatencyDistribution earlier) {
        Objects.requireNonNull(earlier, "earlier");
        long[] more = counts.clone();
        for (int i = 0; i < more.length; i++) {
            int before = first + i - earlier.first;
            if (before >= 0 && before < earlier.counts.length) {
                more[i] = Math.max(0, more[i] - earlier.counts[before]);
            }
        }
        return ofCounts(first, more);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof LatencyDistribution that && first == that.first && Arrays.equals(counts, that.counts);
    }

    @Override
    public int hashCode() {
        return 31 * first + Arrays.hashCode(counts);
    }

    @Override
    public String toString() {
        return "LatencyDistribution[count=" + count + ", p50=" + percentileNs(50) + " ns, p99=" + percentileNs(99)
                + " ns]";
    }
}
