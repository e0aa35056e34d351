package org.brickprofiler.gpucheck;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The median of repeated measurements, and an interval that contains the true median in 95 of 100 cases, for every
 * distribution. With fewer than six values the interval is their whole range, with a lower confidence. Immutable.
 *
 * @param count the number of values
 * @param low the lower end of the interval
 * @param median the median
 * @param high the upper end
 */
record Spread(int count, double low, double median, double high) {

    private static final double OUTSIDE_ON_EACH_SIDE = 0.025;

    /** The number of values from which the binomial distribution is approximated by a normal one. */
    private static final int MANY = 500;

    private static final double NORMAL_QUANTILE = 1.96;

    /**
     * Returns the spread of some values.
     *
     * @param values at least one; their order does not matter
     * @throws IllegalArgumentException when there is none
     */
    static Spread of(double... values) {
        if (values.length == 0) {
            throw new IllegalArgumentException("a spread of no values");
        }
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        int below = valuesBelow(sorted.length);
        int last = sorted.length - 1;
        double median = (sorted[last / 2] + sorted[sorted.length / 2]) / 2;
        return new Spread(sorted.length, sorted[below], median, sorted[last - below]);
    }

    static Spread of(long... values) {
        return of(Arrays.stream(values).asDoubleStream().toArray());
    }

    /**
     * Returns the number of the smallest values outside the interval: each value is below the true median with
     * probability one half, so the number of such values has a binomial distribution.
     */
    private static int valuesBelow(int count) {
        if (count > MANY) {
            return Math.max(0, (int) Math.floor((count - NORMAL_QUANTILE * Math.sqrt(count)) / 2) - 1);
        }
        double probability = Math.pow(0.5, count);
        double sum = probability;
        int below = 0;
        while (sum <= OUTSIDE_ON_EACH_SIDE) {
            below++;
            probability *= (double) (count - below + 1) / below;
            sum += probability;
        }
        // The sum has passed the bound with 'below' values, and had not with one less.
        return Math.max(0, below - 1);
    }

    /** Returns whether the median is at most a bound. */
    Outcome.Status atMost(double bound) {
        if (high <= bound) {
            return Outcome.Status.HELD;
        }
        return low > bound ? Outcome.Status.MISSED : Outcome.Status.UNCLEAR;
    }

    /** Returns whether the absolute value of the median is at most a bound. */
    Outcome.Status within(double bound) {
        if (low >= -bound && high <= bound) {
            return Outcome.Status.HELD;
        }
        return low > bound || high < -bound ? Outcome.Status.MISSED : Outcome.Status.UNCLEAR;
    }

    /** Returns the figures for a file. */
    Map<String, Object> figures() {
        Map<String, Object> figures = new LinkedHashMap<>();
        figures.put("values", count);
        figures.put("low", low);
        figures.put("median", median);
        figures.put("high", high);
        return figures;
    }
}
