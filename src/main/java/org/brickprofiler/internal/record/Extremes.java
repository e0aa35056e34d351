package org.brickprofiler.internal.record;

import java.util.OptionalLong;

/**
 * The shortest and the longest duration of some samples, or a bound of each if it is not known. A profiler records
 * extremes only since its last reset, so that a sample costs no second comparison. The samples between two readings
 * therefore have an extreme only if they set a new one, or if their sums leave no other value. Immutable.
 *
 * @param minNs shortest duration, ns; 0 if it is not known
 * @param maxNs longest duration, ns; 0 if it is not known
 * @param minAtLeastNs a lower bound of the shortest duration, ns; empty if that duration is known
 * @param maxAtMostNs an upper bound of the longest duration, ns; empty if that duration is known
 */
public record Extremes(long minNs, long maxNs, OptionalLong minAtLeastNs, OptionalLong maxAtMostNs) {

    /**
     * The facts about samples between two readings that leave the values of their extremes open.
     *
     * @param count number of samples, 1 or more
     * @param totalNs sum of their durations, ns
     * @param lastNs the duration of one of them, the last one; empty if it is not known
     * @param shortestNs the shortest duration by their distribution, ns; empty if there is none
     * @param longestNs the longest duration by their distribution, ns; empty if there is none
     */
    public record Sums(
            long count, long totalNs, OptionalLong lastNs, OptionalLong shortestNs, OptionalLong longestNs) {}

    /**
     * Returns extremes that are known.
     *
     * @param minNs shortest duration, ns
     * @param maxNs longest duration, ns
     * @return both
     */
    public static Extremes known(long minNs, long maxNs) {
        return new Extremes(minNs, maxNs, OptionalLong.empty(), OptionalLong.empty());
    }

    /**
     * Returns the extremes of the samples between two readings of a row.
     *
     * @param earlier the extremes of the earlier reading, which has samples
     * @param later the extremes of the later reading
     * @param sums of the samples between both
     * @return their extremes
     */
    public static Extremes between(Extremes earlier, Extremes later, Sums sums) {
        if (sums.count == 1) {
            return known(sums.totalNs, sums.totalNs);
        }
        if (sums.count == 2 && sums.lastNs.isPresent()) {
            long lastNs = sums.lastNs.getAsLong();
            long firstNs = sums.totalNs - lastNs;
            return known(Math.min(firstNs, lastNs), Math.max(firstNs, lastNs));
        }
        long meanNs = sums.totalNs / sums.count;
        long minAtMostNs = Math.min(meanNs, sums.lastNs.orElse(meanNs));
        long ceilingNs = sums.totalNs % sums.count == 0 ? meanNs : meanNs + 1;
        long maxAtLeastNs = Math.max(ceilingNs, sums.lastNs.orElse(ceilingNs));
        long maxAtMostNs = Math.min(later.longestNs(), sums.totalNs);
        OptionalLong min = later.shortestNs() < earlier.shortestNs()
                ? OptionalLong.of(later.shortestNs())
                : within(later.shortestNs(), minAtMostNs, sums.shortestNs);
        OptionalLong max = later.longestNs() > earlier.longestNs()
                ? OptionalLong.of(later.longestNs())
                : within(maxAtLeastNs, maxAtMostNs, sums.longestNs);
        return new Extremes(
                min.orElse(0),
                max.orElse(0),
                min.isPresent() ? OptionalLong.empty() : OptionalLong.of(later.shortestNs()),
                max.isPresent() ? OptionalLong.empty() : OptionalLong.of(maxAtMostNs));
    }

    /** Returns the value between two bounds: the only one, or the measured one if there is one. */
    private static OptionalLong within(long atLeastNs, long atMostNs, OptionalLong measuredNs) {
        if (atLeastNs >= atMostNs) {
            return OptionalLong.of(atMostNs);
        }
        return measuredNs.isEmpty()
                ? measuredNs
                : OptionalLong.of(Math.max(atLeastNs, Math.min(atMostNs, measuredNs.getAsLong())));
    }

    private long shortestNs() {
        return minAtLeastNs.orElse(minNs);
    }

    private long longestNs() {
        return maxAtMostNs.orElse(maxNs);
    }

    /**
     * Returns the extremes of these and other samples. Commutative and associative. An extreme is known if the bound of
     * no sample lies beyond it: the windows of a whole run give the extremes of the run.
     *
     * @param other the extremes of other samples
     * @return the extremes of both
     */
    public Extremes plus(Extremes other) {
        long leastNs = Math.min(shortestNs(), other.shortestNs());
        long mostNs = Math.max(longestNs(), other.longestNs());
        boolean isMinKnown = hasMin(leastNs) || other.hasMin(leastNs);
        boolean isMaxKnown = hasMax(mostNs) || other.hasMax(mostNs);
        return new Extremes(
                isMinKnown ? leastNs : 0,
                isMaxKnown ? mostNs : 0,
                isMinKnown ? OptionalLong.empty() : OptionalLong.of(leastNs),
                isMaxKnown ? OptionalLong.empty() : OptionalLong.of(mostNs));
    }

    private boolean hasMin(long ns) {
        return minAtLeastNs.isEmpty() && minNs == ns;
    }

    private boolean hasMax(long ns) {
        return maxAtMostNs.isEmpty() && maxNs == ns;
    }
}
