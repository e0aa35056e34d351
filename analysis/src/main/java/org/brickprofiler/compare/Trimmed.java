package org.brickprofiler.compare;

import java.util.Arrays;
import org.apache.commons.numbers.combinatorics.BinomialCoefficientDouble;

/**
 * The mean of the values of one side without the lowest and the highest ones, and its standard error (Yuen, <i>The
 * two-sample trimmed t for unequal population variances</i>, Biometrika 61, 1974). If nothing is trimmed, the figures
 * are those of Welch's test. Immutable; any thread.
 *
 * @param mean the mean of the values that are kept
 * @param squaredError the squared standard error of that mean, from the winsorised variance, in which each trimmed
 *     value counts as the nearest kept value; 0 for one value
 * @param degrees degrees of freedom of the squared error, one less than the number of kept values
 */
record Trimmed(double mean, double squaredError, int degrees) {

    /** At most one value in this many is trimmed at each end. */
    private static final int ONE_IN = 5;

    /** The largest share of assignments of runs to sides that may look like two separate sides. */
    private static final double MOST_ALIKE = RunComparison.LEVEL / 10;

    /**
     * Returns the number of values that are trimmed at each end of each side: up to a fifth, and no more than a
     * permutation test permits. If two sides differ, an assignment that exchanges as many runs as are trimmed shows the
     * same difference as the true one, so the probability of the test is at least the share of such assignments. With
     * ten runs a side this share is 0.1 % for one run, and 2.3 % for two.
     *
     * @param first number of runs of one side
     * @param second number of runs of the other side
     * @return 0 or more; 0 for fewer than ten runs a side
     */
    static int atEachEnd(int first, int second) {
        double all = BinomialCoefficientDouble.value(first + second, first);
        double alike = first == second ? 2 : 1;
        int trimmed = 0;
        while ((trimmed + 1) * ONE_IN <= Math.min(first, second)) {
            int more = trimmed + 1;
            alike += (first == second ? 2 : 1)
                    * BinomialCoefficientDouble.value(first, more)
                    * BinomialCoefficientDouble.value(second, more);
            if (alike > MOST_ALIKE * all) {
                break;
            }
            trimmed = more;
        }
        return trimmed;
    }

    /**
     * Returns the figures of one side.
     *
     * @param values the values, in any order
     * @param trimmed the number of values trimmed at each end, less than half of all
     */
    static Trimmed of(double[] values, int trimmed) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return ofSorted(sorted, sorted.length, trimmed);
    }

    /** Returns only the trimmed mean of the first values of an array, which are in ascending order. */
    static double mean(double[] sorted, int values, int trimmed) {
        double sum = 0;
        for (int i = trimmed; i < values - trimmed; i++) {
            sum += sorted[i];
        }
        return sum / (values - 2 * trimmed);
    }

    /** Returns all figures of the first values of an array, which are in ascending order. */
    static Trimmed ofSorted(double[] sorted, int values, int trimmed) {
        int kept = values - 2 * trimmed;
        double sum = 0;
        for (int i = trimmed; i < values - trimmed; i++) {
            sum += sorted[i];
        }
        double lowest = sorted[trimmed];
        double highest = sorted[values - trimmed - 1];
        double winsorised = (sum + trimmed * (lowest + highest)) / values;
        double squares = trimmed
                * ((lowest - winsorised) * (lowest - winsorised) + (highest - winsorised) * (highest - winsorised));
        for (int i = trimmed; i < values - trimmed; i++) {
            squares += (sorted[i] - winsorised) * (sorted[i] - winsorised);
        }
        return new Trimmed(sum / kept, kept == 1 ? 0 : squares / ((double) kept * (kept - 1)), kept - 1);
    }
}
