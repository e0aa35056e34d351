package org.brickprofiler.compare;

import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.commons.numbers.combinatorics.BinomialCoefficientDouble;
import org.apache.commons.numbers.combinatorics.Combinations;
import org.apache.commons.rng.sampling.CombinationSampler;
import org.apache.commons.rng.simple.RandomSource;
import org.apache.commons.statistics.descriptive.Median;
import org.apache.commons.statistics.descriptive.Quantile;

/**
 * Which of several variables differ between two sides of runs, with one error rate for all of them: the permutation of
 * the largest statistic, stepping down (Westfall and Young, <i>Resampling-Based Multiple Testing</i>, 1993, algorithm
 * 4.1). Runs are assigned to the sides anew, as wholes, so that whatever ties variables of one run together is kept. Where
 * the runs could have been on either side, the chance that any variable without a difference is found is at most the
 * level, whatever the distribution.
 *
 * <p>The statistic is the difference of the means over its standard error. With few runs the error itself is uncertain,
 * and a variable that happens to show little of it looks different. So a variance below the median of all is drawn up to it, as
 * much as the spread of the lower ones suggests that they are one and the same (the idea is Smyth's, <i>Linear models and
 * empirical Bayes methods</i>, 2004; here larger ones stay as they are, for a brick with two modes is not like the others).
 * The permutation holds for any statistic.
 *
 * <p>Immutable; any thread.
 */
final class MaxTTest {

    /** Random assignments where there are more than that. */
    static final int MOST_ASSIGNMENTS = 9_999;

    /** Equal statistics may differ by rounding, as they are sums in another order. */
    private static final double ROUNDING = 1e-9;

    /** Of fewer variables nobody knows how alike they are. */
    private static final int FEWEST_FOR_PRIOR = 8;

    private static final double MOST_PRIOR_DEGREES = 100;

    /** Where the upper quarter of the normal distribution begins. */
    private static final double NORMAL_QUARTILE = 0.6745;

    private static final double SMALLEST_VARIANCE = 1e-18;

    private final double[][] values;
    private final int runs;
    private final int firstRuns;
    private final double[] sums;
    private final double[] squares;
    private final double pooledVariance;
    private final double priorDegrees;

    private final double[] differences;
    private final double[] errors;
    private final double[] probabilities;
    private final double critical;

    /**
     * Tests.
     *
     * @param variables for each variable its value in every run, those of the first side first
     * @param firstRuns runs of the first side, at least 2; as many at least are on the second
     * @param level the error rate, above 0 and below 1
     * @param seed of the random assignments
     */
    MaxTTest(List<double[]> variables, int firstRuns, double level, long seed) {
        this.values = variables.stream().map(MaxTTest::centred).toArray(double[][]::new);
        this.runs = values.length == 0 ? 0 : values[0].length;
        this.firstRuns = firstRuns;
        sums = Arrays.stream(values).mapToDouble(row -> Arrays.stream(row).sum()).toArray();
        squares = Arrays.stream(values)
                .mapToDouble(row -> Arrays.stream(row).map(x -> x * x).sum())
                .toArray();
        double[] variances = Arrays.stream(squares).map(square -> square / (runs - 1)).toArray();
        pooledVariance = variances.length == 0 ? 0 : Median.withDefaults().evaluate(variances);
        priorDegrees = priorDegrees(variances, runs - 1);

        int[] observed = IntStream.range(0, firstRuns).toArray();
        differences = new double[values.length];
        errors = new double[values.length];
        for (int variable = 0; variable < values.length; variable++) {
            differences[variable] = difference(variable, observed);
            errors[variable] = error(variable, observed);
        }
        Assignments assignments = new Assignments(seed);
        probabilities = assignments.probabilities();
        critical = assignments.critical(level);
    }

    private static double[] centred(double[] row) {
        double mean = Arrays.stream(row).average().orElse(0);
        return Arrays.stream(row).map(x -> x - mean).toArray();
    }

    /**
     * How much the spread of the variances says that they are one: the degrees of freedom that their median is worth. The
     * log of a variance of {@code d} degrees has a variance of about {@code 2/d}; what is seen beyond that is a true
     * difference between variables. The lower half is used, since a few wild variables must not speak for the rest.
     */
    private static double priorDegrees(double[] variances, int degrees) {
        if (variances.length < FEWEST_FOR_PRIOR) {
            return 0;
        }
        double[] logs = Arrays.stream(variances)
                .map(variance -> Math.log(Math.max(variance, SMALLEST_VARIANCE)))
                .toArray();
        double[] quartiles = Quantile.withDefaults().evaluate(logs, 0.25, 0.5);
        double deviation = (quartiles[1] - quartiles[0]) / NORMAL_QUARTILE;
        double beyond = deviation * deviation - 2.0 / degrees;
        return Math.min(MOST_PRIOR_DEGREES, beyond <= 0 ? MOST_PRIOR_DEGREES : 2 / beyond);
    }

    /**
     * The smallest probability that so many runs can show: both ends of all assignments, or one end where the sides
     * differ in size.
     */
    static double smallestProbability(int first, int second) {
        double assignments = BinomialCoefficientDouble.value(first + second, first);
        return (first == second ? 2 : 1) / assignments;
    }

    private double difference(int variable, int[] first) {
        double sum = sumOfFirst(variable, first);
        return (sums[variable] - sum) / (runs - firstRuns) - sum / firstRuns;
    }

    private double sumOfFirst(int variable, int[] first) {
        double sum = 0;
        for (int run : first) {
            sum += values[variable][run];
        }
        return sum;
    }

    private double error(int variable, int[] first) {
        double sum = 0;
        double square = 0;
        double[] row = values[variable];
        for (int run : first) {
            sum += row[run];
            square += row[run] * row[run];
        }
        int secondRuns = runs - firstRuns;
        double secondSum = sums[variable] - sum;
        double firstVariance = (square - sum * sum / firstRuns) / (firstRuns - 1);
        double secondVariance = (squares[variable] - square - secondSum * secondSum / secondRuns) / (secondRuns - 1);
        return Math.sqrt(moderated(firstVariance, firstRuns) + moderated(secondVariance, secondRuns));
    }

    private double moderated(double variance, int count) {
        double own = Math.max(variance, SMALLEST_VARIANCE);
        // The prior is of both sides together, and each has half of it.
        double weight = priorDegrees / 2;
        double mixed = (weight * pooledVariance + (count - 1) * own) / (weight + count - 1);
        return Math.max(mixed, own) / count;
    }

    /** The assignments of runs to sides, and what the largest statistics were in them. */
    private final class Assignments {

        private final double[] observed = new double[values.length];
        private final Integer[] smallestFirst;
        /** For each variable, how often it or a smaller one reached its statistic. */
        private final int[] reached = new int[values.length];

        private final double[] largest;
        private int count;

        Assignments(long seed) {
            for (int i = 0; i < observed.length; i++) {
                observed[i] = Math.abs(differences[i] / errors[i]);
            }
            smallestFirst = IntStream.range(0, observed.length)
                    .boxed()
                    .sorted(Comparator.comparingDouble(i -> observed[i]))
                    .toArray(Integer[]::new);
            double all = BinomialCoefficientDouble.value(runs, firstRuns);
            if (all <= MOST_ASSIGNMENTS) {
                largest = new double[(int) all];
                Combinations.of(runs, firstRuns).forEach(this::add);
            } else {
                largest = new double[MOST_ASSIGNMENTS + 1];
                CombinationSampler sampler =
                        new CombinationSampler(RandomSource.XO_RO_SHI_RO_128_PP.create(seed), runs, firstRuns);
                add(IntStream.range(0, firstRuns).toArray());
                while (count < largest.length) {
                    add(sampler.sample());
                }
            }
            Arrays.sort(largest);
        }

        private void add(int[] first) {
            double maximum = 0;
            for (int variable : smallestFirst) {
                double statistic = Math.abs(difference(variable, first) / error(variable, first));
                maximum = Math.max(maximum, statistic);
                if (maximum >= observed[variable] - ROUNDING) {
                    reached[variable]++;
                }
            }
            largest[count++] = maximum;
        }

        double[] probabilities() {
            double[] adjusted = new double[values.length];
            double before = 0;
            for (int i = smallestFirst.length - 1; i >= 0; i--) {
                int variable = smallestFirst[i];
                before = Math.max(before, (double) reached[variable] / count);
                adjusted[variable] = before;
            }
            return adjusted;
        }

        double critical(double level) {
            int rank = (int) Math.ceil((1 - level) * largest.length) - 1;
            return largest[Math.max(0, Math.min(rank, largest.length - 1))];
        }
    }

    /** The mean of the second side less that of the first, in the unit of the values. */
    double difference(int variable) {
        return differences[variable];
    }

    /** The standard error of the difference. */
    double error(int variable) {
        return errors[variable];
    }

    /** The chance of so large a statistic anywhere, without any difference. */
    double probability(int variable) {
        return probabilities[variable];
    }

    /** What the largest statistic stays below, without any difference, at the given level. */
    double critical() {
        return critical;
    }
}
