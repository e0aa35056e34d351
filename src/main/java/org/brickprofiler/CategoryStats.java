package org.brickprofiler;

import static org.brickprofiler.internal.base.Sums.limited;

import java.util.Collection;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * The sums of all bricks of a category. Immutable.
 *
 * @param totalNs sum of the durations, ns
 * @param totalElements sum of the elements
 * @param count number of samples
 */
public record CategoryStats(long totalNs, long totalElements, long count) {

    /** A category without samples. */
    public static final CategoryStats EMPTY = new CategoryStats(0, 0, 0);

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
        return totalNs == 0 ? 0.0 : totalElements * 1e9 / totalNs;
    }

    /**
     * Returns the share of a total, which the caller chooses: the sum of brick time, or the wall time.
     *
     * @param totalNs the total, ns
     * @return percent, 0 if the total is 0
     */
    public double percentage(long totalNs) {
        return totalNs == 0 ? 0.0 : 100.0 * this.totalNs / totalNs;
    }

    CategoryStats plus(CategoryStats other) {
        return new CategoryStats(
                limited(totalNs, other.totalNs),
                limited(totalElements, other.totalElements),
                limited(count, other.count));
    }

    static CategoryStats sum(Collection<CategoryStats> parts) {
        return parts.stream().reduce(EMPTY, CategoryStats::plus);
    }

    static Map<BrickCategory, CategoryStats> byCategory(List<BrickStats> bricks) {
        Map<BrickCategory, CategoryStats> sums = new EnumMap<>(BrickCategory.class);
        for (BrickCategory category : BrickCategory.values()) {
            sums.put(category, EMPTY);
        }
        for (BrickStats brick : bricks) {
            CategoryStats part = new CategoryStats(brick.totalNs(), brick.totalElements(), brick.count());
            sums.merge(brick.category(), part, CategoryStats::plus);
        }
        return sums;
    }
}
