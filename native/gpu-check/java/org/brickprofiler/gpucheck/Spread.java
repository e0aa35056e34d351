package org.brickprofiler.gpucheck;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The median of repeated measurements: the median itself, and an interval that holds the true one in 95 of 100 cases,
 * whatever the distribution. With fewer than six values it is all of them, which says less. Immutable.
 *
 * @param count how many values there are
 * @param low the lower end of the interval
 * @param median half of the values are below
 * @param high the upper end
 */
record Spread(int count, double low, double median, double high) {

    private static final double OUTSIDE_ON_EACH_SIDE = 0.025;

    /** So many values, from which on the binomial distribution is taken for a normal one. */
    private static final int MANY = 500;

    private static final double NORMAL_QUANTILE = 1.96;

    /**
     * The spread of some values.
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
     * How many of the smallest values lie outside: as many of a number of fair coins show heads with a probability that
     * is still small enough, for each value is below the true median with one half.
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
        // The sum has passed the bound with 'below' values, and with one less it had not.
        return Math.max(0, below - 1);
    }

    /** Whether the median is at most a bound. */
    Outcome.Status atMost(double bound) {
        if (high <= bound) {
            return Outcome.Status.HELD;
        }
        return low > bound ? Outcome.Status.MISSED : Outcome.Status.UNCLEAR;
    }

    /** Whether the median is no farther from 0 than a bound. */
    Outcome.Status within(double bound) {
        if (low >= -bound && high <= bound) {
            return Outcome.Status.HELD;
        }
        return low > bound || high < -bound ? Outcome.Status.MISSED : Outcome.Status.UNCLEAR;
    }

    /** For a file. */
    Map<String, Object> figures() {
        Map<String, Object> figures = new LinkedHashMap<>();
        figures.put("values", count);
        figures.put("low", low);
        figures.put("median", median);
        figures.put("high", high);
        return figures;
    }
}
