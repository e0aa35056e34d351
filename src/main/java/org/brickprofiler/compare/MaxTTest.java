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
 * and a variable that happens to show little of it looks different. So a variance is drawn to the median of its kind, as
 * much as their spread suggests that they are one and the same (Smyth, <i>Linear models and empirical Bayes methods</i>,
 * 2004). One that chance does not explain is left out of all that, for a brick with two modes is not like the others. What
 * such a variable shows reaches further by chance, and would raise the bar for all; its variance counts up to
 * {@value #MOST_WILDNESS} times, so that it has to show more itself. The permutation holds for any statistic.
 *
 * <p>Immutable; any thread.
 */
final class MaxTTest {

    /** Random assignments where there are more than that. */
    static final int MOST_ASSIGNMENTS = 9_999;

    /** Equal statistics may differ by rounding, as they are sums in another order. */
    private static final double ROUNDING = 1e-9;

    /** Of fewer variables nobody knows how alike they are. */
    private static final int FEWEST_ALIKE = 8;

    private static final double MOST_PRIOR_DEGREES = 100;

    /** Chance explains a variance up to so many standard deviations above the median. */
    private static final double LIKELY_DEVIATIONS = 3;

    /** From the sixth to the third of the standard normal distribution. */
    private static final double NORMAL_SIXTH = 0.5367;

    private static final double SMALLEST_VARIANCE = 1e-18;

    /** A variance so many times the median is wild; by how much at most it is then raised. */
    private static final double WILD = 2;

    private static final double MOST_WILDNESS = 4;

    private final double[][] values;
    private final int runs;
    private final int drawn;
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
     * @param alike how many variables from the first on may spread alike, being of one kind
     * @param drawn how many from the first on are drawn to what those show, at least as many
     * @param firstRuns runs of the first side, at least 2; as many at least are on the second
     * @param level the error rate, above 0 and below 1
     * @param seed of the random assignments
     */
    MaxTTest(List<double[]> variables, int alike, int drawn, int firstRuns, double level, long seed) {
        this.values = variables.stream().map(MaxTTest::centred).toArray(double[][]::new);
        this.runs = values.length == 0 ? 0 : values[0].length;
        this.drawn = alike < FEWEST_ALIKE ? 0 : drawn;
        this.firstRuns = firstRuns;
        sums = Arrays.stream(values).mapToDouble(row -> Arrays.stream(row).sum()).toArray();
        squares = Arrays.stream(values)
                .mapToDouble(row -> Arrays.stream(row).map(x -> x * x).sum())
                .toArray();
        double[] variances = likely(
                Arrays.stream(squares).limit(alike).map(square -> square / (runs - 1)).toArray(), runs - 1);
        pooledVariance = median(variances);
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

    private static double median(double[] values) {
        return values.length == 0 ? 0 : Median.withDefaults().withCopy(true).evaluate(values);
    }

    /** The variances that chance explains where all are one: wild variables, which may be a third, must not speak for the rest. */
    private static double[] likely(double[] variances, int degrees) {
        double most = mostLikely(median(variances), degrees);
        return Arrays.stream(variances).filter(variance -> variance <= most).toArray();
    }

    /** A variance of so many degrees of freedom has a standard deviation of the root of 2 in so many, in units of itself. */
    private static double mostLikely(double variance, int degrees) {
        return variance * (1 + LIKELY_DEVIATIONS * Math.sqrt(2.0 / degrees));
    }

    private static double[] centred(double[] row) {
        double mean = Arrays.stream(row).average().orElse(0);
        return Arrays.stream(row).map(x -> x - mean).toArray();
    }

    /**
     * How much the spread of the variances says that they are one: the degrees of freedom that their median is worth. The
     * log of a variance of {@code d} degrees has a variance of about {@code 2/d}; what is seen beyond that is a true
     * difference between variables. Of the lower variances, since a few of the others may still be wild.
     */
    private static double priorDegrees(double[] variances, int degrees) {
        if (variances.length < FEWEST_ALIKE) {
            return 0;
        }
        double[] logs = Arrays.stream(variances)
                .map(variance -> Math.log(Math.max(variance, SMALLEST_VARIANCE)))
                .toArray();
        double[] lower = Quantile.withDefaults().evaluate(logs, 1.0 / 6, 1.0 / 3);
        double deviation = (lower[1] - lower[0]) / NORMAL_SIXTH;
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
        double own = Math.max(firstVariance, SMALLEST_VARIANCE) / firstRuns
                + Math.max(secondVariance, SMALLEST_VARIANCE) / secondRuns;
        if (variable >= drawn) {
            return Math.sqrt(own);
        }
        int degrees = runs - 2;
        double both = (firstVariance * (firstRuns - 1) + secondVariance * (secondRuns - 1)) / degrees;
        if (both > mostLikely(pooledVariance, degrees)) {
            return Math.sqrt(own * Math.max(1, Math.min(MOST_WILDNESS, both / (WILD * pooledVariance))));
        }
        double mixed = (priorDegrees * pooledVariance + degrees * both) / (priorDegrees + degrees);
        return Math.sqrt(Math.max(mixed, SMALLEST_VARIANCE) * (1.0 / firstRuns + 1.0 / secondRuns));
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
