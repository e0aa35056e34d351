package org.brickprofiler.tile;

import static org.brickprofiler.internal.base.Sums.limited;

import java.util.Objects;
import java.util.OptionalLong;
import org.brickprofiler.internal.record.Extremes;

/**
 * The statistics of the tiles of one level. Immutable.
 *
 * @param level the level
 * @param count number of tiles
 * @param totalNs sum of their durations, ns
 * @param minNs shortest duration, ns; 0 without samples, and if it is not known
 * @param maxNs longest duration, ns; 0 if it is not known
 * @param minAtLeastNs a lower bound of the shortest duration, ns, if a window does not have that duration itself
 * @param maxAtMostNs an upper bound of the longest duration, ns, if a window does not have that duration itself
 * @param totalElements sum of the elements they read or wrote
 * @param totalFlops sum of their floating-point operations
 * @param slowestRow row of the tile that took {@code maxNs}; {@link #UNKNOWN} without samples
 * @param slowestCol column of that tile; {@link #UNKNOWN} without samples
 * @param unresolved tiles whose timer could not hold their time; they are in no sum
 */
public record TileStats(
        TileLevel level,
        long count,
        long totalNs,
        long minNs,
        long maxNs,
        OptionalLong minAtLeastNs,
        OptionalLong maxAtMostNs,
        long totalElements,
        long totalFlops,
        int slowestRow,
        int slowestCol,
        long unresolved) {

    /** The row and column of the slowest tile if none is known. */
    public static final int UNKNOWN = -1;

    private static final double BYTES_PER_ELEMENT = 4.0;

    /**
     * Refuses null.
     *
     * @throws NullPointerException when a component is null; the message names it
     */
    public TileStats {
        Objects.requireNonNull(level, "level");
        Objects.requireNonNull(minAtLeastNs, "minAtLeastNs");
        Objects.requireNonNull(maxAtMostNs, "maxAtMostNs");
    }

    /**
     * Returns a builder of the statistics of a level without samples.
     *
     * @param level the level
     * @return a builder
     */
    public static Builder builder(TileLevel level) {
        return new Builder(level);
    }

    /**
     * Returns the statistics of a level without samples.
     *
     * @param level the level
     * @return stats that are zero throughout
     */
    public static TileStats empty(TileLevel level) {
        return builder(level).build();
    }

    /**
     * Returns the mean duration.
     *
     * @return µs, 0 without samples
     */
    public double avgUs() {
        return count == 0 ? 0.0 : totalNs / 1e3 / count;
    }

    /**
     * Returns the shortest duration.
     *
     * @return µs, 0 without samples
     */
    public double minUs() {
        return minNs / 1e3;
    }

    /**
     * Returns the longest duration.
     *
     * @return µs, 0 without samples
     */
    public double maxUs() {
        return maxNs / 1e3;
    }

    /**
     * Returns the elements per second of tile time.
     *
     * @return elements/s, 0 if no time was measured
     */
    public double throughput() {
        return totalNs == 0 ? 0.0 : totalElements * 1e9 / totalNs;
    }

    /**
     * Returns the floating-point operations per tile time. If each worker times its own tiles, the result is the rate
     * of one worker, and several workers together reach a multiple of it. If a tile is timed around a parallel loop,
     * the result is the rate of all workers.
     *
     * @return GFLOP/s, 0 if no time was measured
     */
    public double gflops() {
        // Operations per ns are 10^9 operations per s.
        return totalNs == 0 ? 0.0 : (double) totalFlops / totalNs;
    }

    /**
     * Returns the floating-point operations per byte, at four bytes an element: the x axis of the roofline model
     * (Williams, Waterman and Patterson, 2009). If elements have another size, use
     * {@link #arithmeticIntensity(double)}; this value is then wrong by a factor.
     *
     * @return FLOP/byte, 0 without elements
     */
    public double arithmeticIntensity() {
        return arithmeticIntensity(BYTES_PER_ELEMENT);
    }

    /**
     * Returns the floating-point operations per byte, for elements of a known size.
     *
     * @param bytesPerElement bytes that an element takes, more than 0: 2 for a half float, about 0.56 for a weight of 4
     *     bits in blocks with their scales
     * @return FLOP/byte, 0 without elements
     * @throws IllegalArgumentException when {@code bytesPerElement} is not a number above 0
     */
    public double arithmeticIntensity(double bytesPerElement) {
        requireBytesPerElement(bytesPerElement);
        return totalElements == 0 ? 0.0 : totalFlops / (bytesPerElement * totalElements);
    }

    /**
     * Refuses a size that is not positive.
     *
     * @param bytesPerElement bytes
     * @throws IllegalArgumentException when it is not a number above 0
     */
    public static void requireBytesPerElement(double bytesPerElement) {
        if (!(bytesPerElement > 0) || Double.isInfinite(bytesPerElement)) {
            throw new IllegalArgumentException("bytesPerElement " + bytesPerElement + " is not a number above 0");
        }
    }

    /**
     * Returns the share of a peak rate that was reached.
     *
     * @param peakGflops the peak of the workers of a tile, GFLOP/s: of one worker, or of all that share a tile
     * @return 0 to 1; a rate above the peak counts as 1; 0 for a peak of 0
     * @throws IllegalArgumentException when the peak is negative or not a number
     */
    public double cacheEfficiency(double peakGflops) {
        if (!(peakGflops >= 0)) {
            throw new IllegalArgumentException("peak of " + peakGflops + " GFLOP/s is not 0 or more");
        }
        return peakGflops == 0 ? 0.0 : Math.min(1.0, gflops() / peakGflops);
    }

    /**
     * Returns the sum of these and other statistics. Commutative and associative.
     *
     * @param other stats of the same level
     * @return the sums of both
     * @throws IllegalArgumentException when the levels differ
     */
    public TileStats plus(TileStats other) {
        if (level != other.level) {
            throw new IllegalArgumentException("levels " + level + " and " + other.level + " cannot be added");
        }
        long unknown = limited(unresolved, other.unresolved);
        if (count == 0 || other.count == 0) {
            return (count == 0 ? other : this).withUnresolved(unknown);
        }
        Extremes extremes = extremes().plus(other.extremes());
        boolean otherIsSlower = other.maxNs > maxNs
                || (other.maxNs == maxNs
                        && (other.slowestRow > slowestRow
                                || (other.slowestRow == slowestRow && other.slowestCol > slowestCol)));
        boolean isPlaceKnown = extremes.maxAtMostNs().isEmpty();
        return builder(level)
                .samples(
                        limited(count, other.count),
                        limited(totalNs, other.totalNs),
                        extremes.minNs(),
                        extremes.maxNs())
                .bounds(extremes.minAtLeastNs(), extremes.maxAtMostNs())
                .work(limited(totalElements, other.totalElements), limited(totalFlops, other.totalFlops))
                .slowest(
                        isPlaceKnown ? otherIsSlower ? other.slowestRow : slowestRow : UNKNOWN,
                        isPlaceKnown ? otherIsSlower ? other.slowestCol : slowestCol : UNKNOWN)
                .unresolved(unknown)
                .build();
    }

    /**
     * Returns these statistics with another number of tiles whose timer could not hold their time.
     *
     * @param number 0 or more
     * @return the statistics
     */
    public TileStats withUnresolved(long number) {
        return builder(level)
                .samples(count, totalNs, minNs, maxNs)
                .bounds(minAtLeastNs, maxAtMostNs)
                .work(totalElements, totalFlops)
                .slowest(slowestRow, slowestCol)
                .unresolved(number)
                .build();
    }

    private Extremes extremes() {
        return new Extremes(minNs, maxNs, minAtLeastNs, maxAtMostNs);
    }

    /** Sets the values by name; the others stay at 0, empty or unknown. Not thread-safe. */
    public static final class Builder {
        private final TileLevel level;
        private long count;
        private long totalNs;
        private long minNs;
        private long maxNs;
        private OptionalLong minAtLeastNs = OptionalLong.empty();
        private OptionalLong maxAtMostNs = OptionalLong.empty();
        private long totalElements;
        private long totalFlops;
        private int slowestRow = UNKNOWN;
        private int slowestCol = UNKNOWN;
        private long unresolved;

        private Builder(TileLevel level) {
            this.level = Objects.requireNonNull(level, "level");
        }

        /**
         * Sets the number of tiles and their durations.
         *
         * @param number of tiles
         * @param sumNs sum of the durations, ns
         * @param shortestNs shortest duration, ns
         * @param longestNs longest duration, ns
         * @return this
         */
        public Builder samples(long number, long sumNs, long shortestNs, long longestNs) {
            count = number;
            totalNs = sumNs;
            minNs = shortestNs;
            maxNs = longestNs;
            return this;
        }

        /**
         * Sets bounds of extremes that are not known.
         *
         * @param shortestAtLeastNs a lower bound of the shortest duration, ns; empty if that duration is known
         * @param longestAtMostNs an upper bound of the longest duration, ns; empty if that duration is known
         * @return this
         */
        public Builder bounds(OptionalLong shortestAtLeastNs, OptionalLong longestAtMostNs) {
            minAtLeastNs = Objects.requireNonNull(shortestAtLeastNs, "shortestAtLeastNs");
            maxAtMostNs = Objects.requireNonNull(longestAtMostNs, "longestAtMostNs");
            return this;
        }

        /**
         * Sets the work of the tiles.
         *
         * @param elements sum of the elements that they read or wrote
         * @param flops sum of their floating-point operations
         * @return this
         */
        public Builder work(long elements, long flops) {
            totalElements = elements;
            totalFlops = flops;
            return this;
        }

        /**
         * Sets the place of the slowest tile.
         *
         * @param row its row
         * @param col its column
         * @return this
         */
        public Builder slowest(int row, int col) {
            slowestRow = row;
            slowestCol = col;
            return this;
        }

        /**
         * Sets the number of tiles whose timer could not hold their time.
         *
         * @param number of tiles; they are in no sum
         * @return this
         */
        public Builder unresolved(long number) {
            unresolved = number;
            return this;
        }

        /**
         * Makes the statistics.
         *
         * @return the statistics
         */
        public TileStats build() {
            return new TileStats(
                    level,
                    count,
                    totalNs,
                    minNs,
                    maxNs,
                    minAtLeastNs,
                    maxAtMostNs,
                    totalElements,
                    totalFlops,
                    slowestRow,
                    slowestCol,
                    unresolved);
        }
    }
}
