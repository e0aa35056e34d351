package org.brickprofiler;

import static org.brickprofiler.internal.base.Sums.limited;

import java.util.Collection;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import org.brickprofiler.internal.device.Estimate;

/**
 * The sums of all bricks of a category. Immutable.
 *
 * @param totalNs sum of the durations, ns; an estimate if samples have no marks
 * @param totalElements sum of the elements
 * @param count number of samples
 * @param unmarked number of the samples whose time is estimated, see {@link BrickProfilerBuilder#deviceSampling}
 * @param standardErrorNs the standard error of the total, ns; 0 for an exact total, and if it is not known
 * @param degreesOfFreedom the degrees of freedom of the standard error; 0 if there is none
 * @param netOrTotalNs sum of the bricks' {@linkplain BrickStats#netOrTotalNs times} for shares and rates, ns
 */
public record CategoryStats(
        long totalNs,
        long totalElements,
        long count,
        long unmarked,
        double standardErrorNs,
        double degreesOfFreedom,
        long netOrTotalNs) {

    /** A category without samples. */
    public static final CategoryStats EMPTY = new CategoryStats(0, 0, 0);

    /**
     * Creates exact sums.
     *
     * @param totalNs sum of the durations, ns
     * @param totalElements sum of the elements
     * @param count number of samples
     */
    public CategoryStats(long totalNs, long totalElements, long count) {
        this(totalNs, totalElements, count, 0, 0, 0, totalNs);
    }

    /**
     * Returns the sums of one brick.
     *
     * @param brick the brick
     * @return its sums
     */
    public static CategoryStats of(BrickStats brick) {
        DeviceTime device = brick.device();
        return new CategoryStats(
                brick.totalNs(),
                brick.totalElements(),
                brick.count(),
                device.unmarked(),
                device.standardErrorNs(),
                device.degreesOfFreedom(),
                brick.netOrTotalNs());
    }

    /**
     * Returns whether the total contains an estimate.
     *
     * @return true if samples had no marks
     */
    public boolean isEstimated() {
        return unmarked > 0;
    }

    /**
     * Returns half of the 95 % confidence interval of the total.
     *
     * @return ns; 0 for an exact total, empty if the standard error is not known
     */
    public OptionalDouble halfIntervalNs() {
        return DeviceTime.halfIntervalNs(unmarked, standardErrorNs, degreesOfFreedom);
    }

    /**
     * Returns the mean duration of a sample.
     *
     * @return µs, 0 without samples
     */
    public double avgUs() {
        return count == 0 ? 0.0 : totalNs / 1e3 / count;
    }

    /**
     * Returns elements per second of brick time.
     *
     * @return elements/s, 0 if no time was measured
     */
    public double throughput() {
        return netOrTotalNs == 0 ? 0.0 : totalElements * 1e9 / netOrTotalNs;
    }

    /**
     * Returns the share of {@link #netOrTotalNs} in a total that the caller chooses: the sum of brick time, or the wall
     * time.
     *
     * @param totalNs the total, ns
     * @return percent, 0 if the total is 0
     */
    public double percentage(long totalNs) {
        return totalNs == 0 ? 0.0 : 100.0 * netOrTotalNs / totalNs;
    }

    /**
     * Returns the sums of both.
     *
     * @param other the sums of other bricks
     * @return the sums; the standard error is not known if that of an estimate is not
     */
    public CategoryStats plus(CategoryStats other) {
        double degrees = Estimate.degreesOfSum(
                unmarked,
                standardErrorNs * standardErrorNs,
                degreesOfFreedom,
                other.unmarked,
                other.standardErrorNs * other.standardErrorNs,
                other.degreesOfFreedom);
        return new CategoryStats(
                limited(totalNs, other.totalNs),
                limited(totalElements, other.totalElements),
                limited(count, other.count),
                limited(unmarked, other.unmarked),
                degrees == 0 ? 0 : Math.hypot(standardErrorNs, other.standardErrorNs),
                degrees,
                limited(netOrTotalNs, other.netOrTotalNs));
    }

    /**
     * Returns the sums of some categories.
     *
     * @param parts the categories
     * @return their sums
     */
    public static CategoryStats sum(Collection<CategoryStats> parts) {
        return parts.stream().reduce(EMPTY, CategoryStats::plus);
    }

    static Map<BrickCategory, CategoryStats> byCategory(List<BrickStats> bricks) {
        Map<BrickCategory, CategoryStats> sums = new EnumMap<>(BrickCategory.class);
        for (BrickCategory category : BrickCategory.values()) {
            sums.put(category, EMPTY);
        }
        for (BrickStats brick : bricks) {
            sums.merge(brick.category(), of(brick), CategoryStats::plus);
        }
        return sums;
    }
}
