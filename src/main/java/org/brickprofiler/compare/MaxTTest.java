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
 * 4.1). Runs are assigned to the sides anew, as wholes, so that whatever ties variables of one run together is kept. If
 * the runs are exchangeable, the probability that any variable without a difference is found is at most the level, for
 * every distribution.
 *
 * <p>The statistic is the difference of the {@linkplain Trimmed trimmed means} over its standard error (Yuen 1974), so
 * that a run that is far from the others of its side neither makes a difference nor hides one. With few runs the error
 * itself is uncertain, and a variable that happens to show little of it looks different. So a variance is drawn to the
 * median of its pool, as much as their spread suggests that they are one and the same (Smyth, <i>Linear models and
 * empirical Bayes methods</i>, 2004). A variance that chance does not explain is left out of the pool, for a brick with
 * two modes is not like the others. Such a variable reaches further by chance, and would raise the bar for all; its
 * variance counts up to {@value #MOST_WILDNESS} times, so that it has to show more itself. A percentile of a brick
 * counts so only if the brick itself does, for a longer tail makes a percentile vary from run to run. The permutation
 * holds for any statistic.
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

    /** Something that is tested. */
    static final class Variable {

        /** Of variables whose variance is their own alone. */
        static final int NO_POOL = -1;

        /** The leader of a variable that follows none. */
        private static final int OWN = -1;

        private final double[] values;
        private final int pool;
        private final boolean speaks;
        private final int leader;

        /**
         * Of one value in every run.
         *
         * @param values those of the first side first
         * @param pool the number of the pool whose median its variance is drawn to, 0 or more; {@link #NO_POOL} for
         *     none
         * @param speaks whether its own variance counts for that pool
         */
        Variable(double[] values, int pool, boolean speaks) {
            this(values, pool, speaks, OWN);
        }

        private Variable(double[] values, int pool, boolean speaks, int leader) {
            this.values = values.clone();
            this.pool = pool;
            this.speaks = speaks;
            this.leader = leader;
        }

        /**
         * Of one value in every run, which counts as wild as another variable.
         *
         * @param values those of the first side first
         * @param pool the number of its pool, for which its variance counts
         * @param leader the place of the other variable, before this one
         */
        static Variable following(double[] values, int pool, int leader) {
            return new Variable(values, pool, true, leader);
        }
    }

    /**
     * The common variance of the variables of one kind.
     *
     * @param variance the median of the variances that chance explains where all are one
     * @param priorDegrees the degrees of freedom that this median is worth; 0 where it is worth nothing
     */
    private record Pool(double variance, double priorDegrees) {

        static final Pool NONE = new Pool(0, 0);
    }

    private final List<Variable> variables;
    private final double[][] values;
    /** For each variable its runs by ascending value. */
    private final int[][] orders;
    /** For each variable its values in that order. */
    private final double[][] ascending;

    private final Pool[] pools;
    /** For each variable the least standard error that its difference can have in any assignment. */
    private final double[] leastErrors;

    private final int runs;
    private final int firstRuns;
    private final int trimmed;

    private final Statistic[] statistics;
    private final double[] probabilities;
    private final double critical;

    /** The difference of one variable in one assignment. */
    private record Statistic(double difference, double error, double degrees) {

        double size() {
            return Math.abs(difference / error);
        }
    }

    /**
     * Tests.
     *
     * @param variables what is tested, one at least
     * @param firstRuns runs of the first side, at least 2; as many at least are on the second
     * @param level the error rate, above 0 and below 1
     * @param seed of the random assignments
     */
    MaxTTest(List<Variable> variables, int firstRuns, double level, long seed) {
        this.variables = List.copyOf(variables);
        this.values =
                variables.stream().map(variable -> centred(variable.values)).toArray(double[][]::new);
        this.runs = values[0].length;
        this.firstRuns = firstRuns;
        trimmed = Trimmed.atEachEnd(firstRuns, runs - firstRuns);
        orders = Arrays.stream(values).map(MaxTTest::order).toArray(int[][]::new);
        ascending = Arrays.stream(values)
                .map(row -> Arrays.stream(row).sorted().toArray())
                .toArray(double[][]::new);
        int last = variables.stream().mapToInt(variable -> variable.pool).max().orElseThrow();
        pools = IntStream.rangeClosed(0, last).mapToObj(this::pool).toArray(Pool[]::new);
        leastErrors =
                IntStream.range(0, values.length).mapToDouble(this::leastError).toArray();

        int[] observed = new int[runs];
        Arrays.fill(observed, 0, firstRuns, 1);
        Assignments assignments = new Assignments(observed, seed);
        statistics = assignments.observed;
        probabilities = assignments.probabilities();
        critical = assignments.critical(level);
    }

    private static int[] order(double[] row) {
        return IntStream.range(0, row.length)
                .boxed()
                .sorted(Comparator.comparingDouble(run -> row[run]))
                .mapToInt(Integer::intValue)
                .toArray();
    }

    /** Returns the pool of a number: of the variances of all runs together, so that no assignment changes it. */
    private Pool pool(int number) {
        double[] all = IntStream.range(0, values.length)
                .filter(at -> variables.get(at).pool == number && variables.get(at).speaks)
                .mapToDouble(at -> variance(Trimmed.of(values[at], 2 * trimmed), runs))
                .toArray();
        if (all.length < FEWEST_ALIKE) {
            return Pool.NONE;
        }
        int degrees = runs - 4 * trimmed - 1;
        double[] likely = likely(all, degrees);
        return new Pool(median(likely), priorDegrees(likely, degrees));
    }

    /** Returns the variance of one value that makes such an error of the mean of so many. */
    private static double variance(Trimmed mean, int values) {
        return Math.max(mean.squaredError() * values, SMALLEST_VARIANCE);
    }

    private static double median(double[] values) {
        return Median.withDefaults().withCopy(true).evaluate(values);
    }

    /**
     * Returns the variances that chance explains where all are one: wild variables, which may be a third, must not
     * speak for the rest.
     */
    private static double[] likely(double[] variances, int degrees) {
        double most = mostLikely(median(variances), degrees);
        return Arrays.stream(variances).filter(variance -> variance <= most).toArray();
    }

    /**
     * A variance of so many degrees of freedom has a standard deviation of the root of 2 in so many, in units of
     * itself.
     */
    private static double mostLikely(double variance, int degrees) {
        return variance * (1 + LIKELY_DEVIATIONS * Math.sqrt(2.0 / degrees));
    }

    private static double[] centred(double[] row) {
        double mean = Arrays.stream(row).average().orElse(0);
        return Arrays.stream(row).map(x -> x - mean).toArray();
    }

    /**
     * Returns how much the spread of the variances says that they are one: the degrees of freedom that their median is
     * worth. The log of a variance of {@code d} degrees has a variance of about {@code 2/d}; what is seen beyond that
     * is a true difference between variables. Of the lower variances, since a few of the others may still be wild.
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
     * Returns the smallest probability that so many runs can show: both ends of all assignments, or one end where the
     * sides differ in size.
     */
    static double smallestProbability(int first, int second) {
        double assignments = BinomialCoefficientDouble.value(first + second, first);
        return (first == second ? 2 : 1) / assignments;
    }

    /**
     * Returns the least standard error of a variable: drawn to its pool, its variance is no less than the share of the
     * pool. Where the pool does not explain it, both sides together are above a bound, and the error is least if that
     * is the variance of one side alone. No assignment changes how many runs are on a side.
     *
     * @return 0 where there is no pool to bound it
     */
    private double leastError(int variable) {
        Pool pool = poolOf(variable);
        if (pool.priorDegrees() == 0) {
            return 0;
        }
        int secondRuns = runs - firstRuns;
        int firstDegrees = firstRuns - 2 * trimmed - 1;
        int secondDegrees = secondRuns - 2 * trimmed - 1;
        int degrees = firstDegrees + secondDegrees;
        double drawn = pool.priorDegrees() * pool.variance() / (pool.priorDegrees() + degrees);
        double wild = mostLikely(pool.variance(), degrees)
                * degrees
                / Math.max((double) firstRuns * firstDegrees, (double) secondRuns * secondDegrees);
        return Math.sqrt(Math.min(drawn * (1.0 / firstRuns + 1.0 / secondRuns), wild));
    }

    private Pool poolOf(int variable) {
        int number = variables.get(variable).pool;
        return number < 0 ? Pool.NONE : pools[number];
    }

    /** One variable in one assignment after another. Used by one thread. */
    private final class Split {

        /** Room for the values of the two sides, one more than there are runs each. */
        private final double[] firstSide = new double[runs + 1];

        private final double[] secondSide = new double[runs + 1];
        private int first;
        private int second;

        /** Puts the values of a variable on their sides, in ascending order; 1 stands for the first side. */
        private void put(int variable, int[] isFirst) {
            int[] order = orders[variable];
            double[] sorted = ascending[variable];
            int before = 0;
            int after = 0;
            // No branch: which side a run is on is random, so that half of the branches would be mispredicted.
            for (int i = 0; i < order.length; i++) {
                double value = sorted[i];
                int one = isFirst[order[i]];
                firstSide[before] = value;
                secondSide[after] = value;
                before += one;
                after += 1 - one;
            }
            first = before;
            second = after;
        }

        /**
         * Returns the size of the statistic of a variable, or 0 if it is less than what another one reached: most are,
         * and their difference alone shows it, by the least error.
         */
        double size(int variable, int[] isFirst, double reached) {
            put(variable, isFirst);
            double difference = Trimmed.mean(secondSide, second, trimmed) - Trimmed.mean(firstSide, first, trimmed);
            if (Math.abs(difference) < reached * leastErrors[variable] * (1 - ROUNDING)) {
                return 0;
            }
            return statistic(variable, isFirst).size();
        }

        /** Returns the statistic of the variable that is on the sides. */
        private Statistic statistic(int variable, int[] isFirst) {
            Trimmed before = Trimmed.ofSorted(firstSide, first, trimmed);
            Trimmed after = Trimmed.ofSorted(secondSide, second, trimmed);
            double difference = after.mean() - before.mean();
            double firstVariance = variance(before, first);
            double secondVariance = variance(after, second);
            int degrees = before.degrees() + after.degrees();
            Pool pool = poolOf(variable);
            double both = (firstVariance * before.degrees() + secondVariance * after.degrees()) / degrees;
            if (pool.priorDegrees() == 0 || both > mostLikely(pool.variance(), degrees)) {
                double own = firstVariance / first + secondVariance / second;
                return new Statistic(difference, Math.sqrt(own * wildness(variable, isFirst, both, degrees)), degrees);
            }
            double mixed = (pool.priorDegrees() * pool.variance() + degrees * both) / (pool.priorDegrees() + degrees);
            return new Statistic(
                    difference, Math.sqrt(mixed * (1.0 / first + 1.0 / second)), pool.priorDegrees() + degrees);
        }

        /** Returns how many times a variance counts that is {@code both} sides' own. */
        private double wildness(int variable, int[] isFirst, double both, int degrees) {
            Pool pool = poolOf(variable);
            if (pool.priorDegrees() == 0 || both <= mostLikely(pool.variance(), degrees)) {
                return 1;
            }
            int leader = variables.get(variable).leader;
            if (leader == Variable.OWN) {
                return Math.max(1, Math.min(MOST_WILDNESS, both / (WILD * pool.variance())));
            }
            put(leader, isFirst);
            double firstVariance = variance(Trimmed.ofSorted(firstSide, first, trimmed), first);
            double secondVariance = variance(Trimmed.ofSorted(secondSide, second, trimmed), second);
            int firstDegrees = first - 2 * trimmed - 1;
            int secondDegrees = second - 2 * trimmed - 1;
            return wildness(
                    leader,
                    isFirst,
                    (firstVariance * firstDegrees + secondVariance * secondDegrees) / degrees,
                    degrees);
        }

        Statistic of(int variable, int[] isFirst) {
            put(variable, isFirst);
            return statistic(variable, isFirst);
        }
    }

    /** The assignments of runs to sides, and what the largest statistics were in them. */
    private final class Assignments {

        private final Statistic[] observed;
        private final double[] sizes;
        private final Integer[] smallestFirst;
        /** For each variable, how often it or a smaller one reached its statistic. */
        private final int[] reached = new int[values.length];

        private final Split split = new Split();
        private final double[] largest;
        private int count;

        Assignments(int[] isFirst, long seed) {
            observed = IntStream.range(0, values.length)
                    .mapToObj(variable -> split.of(variable, isFirst))
                    .toArray(Statistic[]::new);
            sizes = Arrays.stream(observed).mapToDouble(Statistic::size).toArray();
            smallestFirst = IntStream.range(0, observed.length)
                    .boxed()
                    .sorted(Comparator.comparingDouble(variable -> sizes[variable]))
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
            int[] isFirst = new int[runs];
            for (int run : first) {
                isFirst[run] = 1;
            }
            double maximum = 0;
            for (int variable : smallestFirst) {
                maximum = Math.max(maximum, split.size(variable, isFirst, maximum));
                if (maximum >= sizes[variable] - ROUNDING) {
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

    /** Returns the trimmed mean of the second side less that of the first, in the unit of the values. */
    double difference(int variable) {
        return statistics[variable].difference();
    }

    /** Returns the standard error of the difference. */
    double error(int variable) {
        return statistics[variable].error();
    }

    /** Returns the degrees of freedom of the standard error, those of its pool included. */
    double degrees(int variable) {
        return statistics[variable].degrees();
    }

    /** Returns the chance of so large a statistic anywhere, without any difference. */
    double probability(int variable) {
        return probabilities[variable];
    }

    /** Returns the critical value of the largest statistic without any difference, at the given level. */
    double critical() {
        return critical;
    }
}
