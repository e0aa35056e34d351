package org.brickprofiler.fleet;

import static org.brickprofiler.fleet.Stragglers.LEVEL;

import java.util.Arrays;
import org.apache.commons.statistics.descriptive.Median;
import org.apache.commons.statistics.distribution.HypergeometricDistribution;
import org.apache.commons.statistics.distribution.TDistribution;

/**
 * The statistics of the search for stragglers: robust location and spread, thresholds, and the choice between a drift
 * and a step. {@link Stragglers} names the sources. Stateless; any thread.
 */
final class RobustStatistics {

    /** The standard deviation of a normal distribution, divided by its median absolute deviation. */
    static final double NORMAL_DEVIATION = 1.4826;

    /** The degrees of freedom of the median absolute deviation for each value beyond the first. */
    private static final double EFFICIENCY = 0.37;

    /** Fewer slow windows than this count as chance, regardless of the rate of the peers. */
    static final int FEWEST_SLOW_WINDOWS = 6;

    private RobustStatistics() {}

    /** Returns the median of values, and leaves their order as it is. */
    static double median(double[] values) {
        return Median.withDefaults().withCopy(true).evaluate(values);
    }

    /** Returns the standard deviation that the median absolute deviation from a middle estimates. */
    static double spread(double[] values, double middle) {
        return NORMAL_DEVIATION
                * median(Arrays.stream(values)
                        .map(value -> Math.abs(value - middle))
                        .toArray());
    }

    /**
     * Returns the number of standard deviations beyond which a value is unusual, at a level that several tests share.
     */
    static double critical(double degrees, double tests) {
        return TDistribution.of(Math.min(Stragglers.MOST_DEGREES, degrees)).inverseSurvivalProbability(LEVEL / tests);
    }

    /** Returns the degrees of freedom of the spread of some values. */
    static double degrees(long values) {
        return EFFICIENCY * (values - 1);
    }

    /**
     * Returns the factor by which the spread of a rank's median exceeds that of its peers if the rank has fewer
     * windows. The factor is exact if windows differ by chance. If ranks differ for good, the factor is too large, and
     * the test is too careful.
     */
    static double fewer(double windows, double usualWindows) {
        return Math.max(1, Math.sqrt(usualWindows / windows));
    }

    /** Returns the excess part of a time, given the excess in millionths. */
    static double part(double ns, long beyondPpm) {
        return ns * beyondPpm / (1e6 + beyondPpm);
    }

    /** Returns the sum of the distances of values from the line through them, by Theil and Sen. */
    static double fromLine(double[] values) {
        double[] slopes = new double[values.length * (values.length - 1) / 2];
        int pairs = 0;
        for (int to = 1; to < values.length; to++) {
            for (int from = 0; from < to; from++) {
                slopes[pairs++] = (values[to] - values[from]) / (to - from);
            }
        }
        double slope = median(slopes);
        double[] beside = new double[values.length];
        for (int i = 0; i < values.length; i++) {
            beside[i] = values[i] - slope * i;
        }
        return fromMedian(beside);
    }

    /** Returns the sum of the distances of values from two levels; the second level begins at the best place. */
    static double fromStep(double[] values) {
        double least = Double.MAX_VALUE;
        for (int second = 1; second < values.length; second++) {
            least = Math.min(
                    least,
                    fromMedian(Arrays.copyOf(values, second))
                            + fromMedian(Arrays.copyOfRange(values, second, values.length)));
        }
        return least;
    }

    private static double fromMedian(double[] values) {
        double middle = median(values);
        return Arrays.stream(values).map(value -> Math.abs(value - middle)).sum();
    }

    /**
     * Tests whether a rank has more slow windows than chance gives it at the rate of its peers.
     *
     * @param own slow windows of the rank
     * @param ownWindows all windows of the rank
     * @param slow slow windows of the rank and its peers
     * @param windows all windows of the rank and its peers
     * @param tests how many such tests share the level
     */
    static boolean isMoreThanChance(int own, long ownWindows, long slow, long windows, double tests) {
        return own >= FEWEST_SLOW_WINDOWS && isRareEnough(own, ownWindows, slow, windows, tests);
    }

    /**
     * Tests the same for any number of slow windows, by Fisher's exact test, because few windows of few peers show
     * their rate only roughly.
     */
    static boolean isRareEnough(long own, long ownWindows, long slow, long windows, double tests) {
        return HypergeometricDistribution.of(
                                Math.toIntExact(windows),
                                Math.toIntExact(Math.min(slow, windows)),
                                Math.toIntExact(ownWindows))
                        .survivalProbability(Math.toIntExact(own) - 1)
                <= LEVEL / tests;
    }
}
