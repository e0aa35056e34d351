package org.brickprofiler.compare;

import java.util.stream.IntStream;
import org.apache.commons.statistics.distribution.NormalDistribution;

/**
 * The smallest true change that a comparison finds with a given probability. A change is found if its estimate reaches
 * the floor and its statistic reaches the critical value. The estimate is normally distributed around the true change,
 * so a change of the size of the floor is found in at most half of the comparisons, and the smallest change is above
 * the floor. The standard error is itself estimated, from a variance with a chi-squared distribution. No state; any
 * thread.
 */
final class SmallestChange {

    private static final NormalDistribution NORMAL = NormalDistribution.of(0, 1);

    /** The number of quantiles at which the standard error is evaluated. */
    private static final int QUANTILES = 32;

    private static final double[] NORMAL_QUANTILES = IntStream.range(0, QUANTILES)
            .mapToDouble(i -> NORMAL.inverseCumulativeProbability((i + 0.5) / QUANTILES))
            .toArray();

    /** The number of halvings of the interval that contains the result. */
    private static final int HALVINGS = 40;

    /** A change this many standard errors above the required value is always found. */
    private static final double FOUND_FOR_CERTAIN = 6;

    private SmallestChange() {}

    /**
     * Computes the smallest change.
     *
     * @param floor the smallest difference that counts, 0 or more
     * @param critical the critical value of the statistic
     * @param error the estimated standard error of the difference
     * @param degrees its degrees of freedom
     * @param power the probability, above 0 and below 1
     * @return the change, in the unit of floor and error
     */
    static double of(double floor, double critical, double error, double degrees, double power) {
        double[] bounds = new double[QUANTILES];
        for (int i = 0; i < QUANTILES; i++) {
            bounds[i] =
                    Math.max(floor, critical * error * Math.sqrt(chiSquaredPerDegree(NORMAL_QUANTILES[i], degrees)));
        }
        double low = 0;
        double high = bounds[QUANTILES - 1] + FOUND_FOR_CERTAIN * error;
        for (int halving = 0; halving < HALVINGS; halving++) {
            double middle = (low + high) / 2;
            if (probability(middle, bounds, error) < power) {
                low = middle;
            } else {
                high = middle;
            }
        }
        return high;
    }

    private static double probability(double change, double[] bounds, double error) {
        double sum = 0;
        for (double bound : bounds) {
            sum += NORMAL.cumulativeProbability((change - bound) / error);
        }
        return sum / bounds.length;
    }

    /**
     * Returns a quantile of the chi-squared distribution divided by its degrees of freedom (Wilson and Hilferty, 1931).
     */
    private static double chiSquaredPerDegree(double normalQuantile, double degrees) {
        double variance = 2 / (9 * degrees);
        double root = Math.max(0, 1 - variance + normalQuantile * Math.sqrt(variance));
        return root * root * root;
    }
}
