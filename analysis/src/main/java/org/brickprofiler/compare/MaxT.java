package org.brickprofiler.compare;

import java.util.Arrays;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;
import org.apache.commons.numbers.combinatorics.BinomialCoefficientDouble;
import org.apache.commons.numbers.combinatorics.Combinations;
import org.apache.commons.rng.sampling.CombinationSampler;
import org.apache.commons.rng.simple.RandomSource;
import org.apache.commons.statistics.descriptive.Median;
import org.apache.commons.statistics.descriptive.Quantile;

/**
 * Finds the variables that differ between two sides of runs, with one error rate for all variables: a permutation test
 * of the largest statistic, stepping down (Westfall and Young, <i>Resampling-Based Multiple Testing</i>, 1993,
 * algorithm 4.1). Whole runs are reassigned to the sides, so the dependence between the variables of one run is
 * preserved. If the runs are exchangeable, the probability that any variable without a difference is found is at most
 * the level, for every distribution.
 *
 * <p>The statistic is the difference of the {@linkplain Trimmed trimmed means} divided by its standard error (Yuen
 * 1974), so an outlying run neither makes a difference nor hides one. With few runs the standard error itself is
 * uncertain, and a variable whose error is small by chance looks different. Each variance is therefore shrunk towards
 * the median of its pool (empirical Bayes: Smyth, <i>Linear models and empirical Bayes methods</i>, 2004). The
 * shrinkage is stronger if the spread of the pool suggests a common variance. A variance that chance does not explain
 * is left out of the pool, because a brick with two modes differs from the others. Such a variable reaches larger
 * statistics by chance, and would raise the critical value for all variables. Its variance is therefore multiplied by
 * up to {@value #MOST_WILDNESS}, so that its difference must be larger. The variance of a brick's percentile is
 * multiplied only if that of the brick itself is, because a longer tail makes a percentile vary from run to run. The
 * permutation test is valid for any statistic.
 *
 * <p>Immutable; any thread.
 */
final class MaxT {

    /** The number of assignments above which random ones are drawn. */
    static final int MOST_ASSIGNMENTS = 9_999;

    /** Equal statistics may differ by rounding, as their terms are added in another order. */
    private static final double ROUNDING = 1e-9;

    /** The least number of variables whose common variance can be estimated. */
    private static final int FEWEST_ALIKE = 8;

    private static final double MOST_PRIOR_DEGREES = 100;

    /** A variance up to this many standard deviations above the median is within chance. */
    private static final double LIKELY_DEVIATIONS = 3;

    /** The range from the sixth to the third quantile of the standard normal distribution. */
    private static final double NORMAL_SIXTH = 0.5367;

    private static final double SMALLEST_VARIANCE = 1e-18;

    /**
     * A variance of more than this many times the median is wild; {@link #MOST_WILDNESS} limits the factor by which it
     * is then multiplied.
     */
    private static final double WILD = 2;

    private static final double MOST_WILDNESS = 4;

    /** A tested variable. */
    static final class Variable {

        /** The pool number of variables that use only their own variance. */
        static final int NO_POOL = -1;

        /** The leader number of a variable that follows none. */
        private static final int OWN = -1;

        private final double[] values;
        private final int pool;
        private final boolean speaks;
        private final int leader;

        /**
         * Creates a variable with one value for each run.
         *
         * @param values the values, those of the first side first
         * @param pool the number of the pool towards whose median its variance is shrunk, 0 or more; {@link #NO_POOL}
         *     for none
         * @param speaks whether its own variance contributes to that pool
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
         * Creates a variable with one value for each run. If chance does not explain its variance, the variance is
         * multiplied by the factor of another variable, its leader.
         *
         * @param values the values, those of the first side first
         * @param pool the number of its pool, to which its variance contributes
         * @param leader the index of the leader, which must precede this variable
         */
        static Variable following(double[] values, int pool, int leader) {
            return new Variable(values, pool, true, leader);
        }
    }

    /**
     * The common variance of the variables of one kind.
     *
     * @param variance the median of those variances that chance explains if all are equal
     * @param priorDegrees the degrees of freedom of this median; 0 if there is no common variance
     */
    private record Pool(double variance, double priorDegrees) {

        static final Pool NONE = new Pool(0, 0);
    }

    private final List<Variable> variables;
    private final double[][] values;
    /** For each variable, its runs by ascending value. */
    private final int[][] orders;
    /** For each variable, its values in ascending order. */
    private final double[][] ascending;

    private final Pool[] pools;
    /** For each variable, a lower bound of the standard error of its difference in all assignments. */
    private final double[] leastErrors;

    private final int runs;
    private final int firstRuns;
    private final int trimmed;
    private final double level;

    private final Statistic[] statistics;
    private final double[] probabilities;
    private final double critical;
    private final double lastCritical;

    /** The difference of one variable in one assignment. */
    private record Statistic(double difference, double error, double degrees) {

        double size() {
            return Math.abs(difference / error);
        }
    }

    /**
     * Performs the test.
     *
     * @param variables the tested variables, at least one
     * @param firstRuns the number of runs of the first side, at least 2; the second side has at least 2, too
     * @param level the error rate, above 0 and below 1
     * @param seed the seed of the random assignments
     */
    MaxT(List<Variable> variables, int firstRuns, double level, long seed) {
        this.variables = List.copyOf(variables);
        this.values =
                variables.stream().map(variable -> centred(variable.values)).toArray(double[][]::new);
        this.runs = values[0].length;
        this.firstRuns = firstRuns;
        this.level = level;
        trimmed = Trimmed.atEachEnd(firstRuns, runs - firstRuns);
        orders = Arrays.stream(values).map(MaxT::order).toArray(int[][]::new);
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
        int[] left = IntStream.range(0, values.length)
                .filter(variable -> probabilities[variable] > level)
                .toArray();
        lastCritical = assignments.lastCritical(left, level);
    }

    private static int[] order(double[] row) {
        return IntStream.range(0, row.length)
                .boxed()
                .sorted(Comparator.comparingDouble(run -> row[run]))
                .mapToInt(Integer::intValue)
                .toArray();
    }

    /**
     * Returns a pool. Its variances are computed over the runs of both sides together, so the pool is the same for
     * every assignment.
     */
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

    /** Returns the variance of one value, given the standard error of a mean of several. */
    private static double variance(Trimmed mean, int values) {
        return Math.max(mean.squaredError() * values, SMALLEST_VARIANCE);
    }

    private static double median(double[] values) {
        return Median.withDefaults().withCopy(true).evaluate(values);
    }

    /**
     * Returns the variances that chance explains if all are equal: up to a third of the variables may be wild, and must
     * not affect the others.
     */
    private static double[] likely(double[] variances, int degrees) {
        double most = mostLikely(median(variances), degrees);
        return Arrays.stream(variances).filter(variance -> variance <= most).toArray();
    }

    /**
     * Returns the largest variance that chance explains: a variance with d degrees of freedom has a relative standard
     * deviation of the root of 2/d.
     */
    private static double mostLikely(double variance, int degrees) {
        return variance * (1 + LIKELY_DEVIATIONS * Math.sqrt(2.0 / degrees));
    }

    private static double[] centred(double[] row) {
        double mean = Arrays.stream(row).average().orElse(0);
        return Arrays.stream(row).map(x -> x - mean).toArray();
    }

    /**
     * Returns the degrees of freedom of the median of the variances, judged by the spread of the variances. The
     * logarithm of a variance with {@code d} degrees of freedom has a variance of about {@code 2/d}; any further spread
     * is a true difference between variables. Only the lower variances are used, since a few of the others may be wild.
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
     * Returns the smallest probability that the numbers of runs can show: both tails of all assignments, or one tail if
     * the sides differ in size.
     */
    static double smallestProbability(int first, int second) {
        double assignments = BinomialCoefficientDouble.value(first + second, first);
        return (first == second ? 2 : 1) / assignments;
    }

    /**
     * Returns a lower bound of the standard error of a variable in all assignments. A variance that is shrunk towards
     * the pool is no less than the share of the pool in it. A variance that is not shrunk exceeds a bound for both
     * sides together, and the error is least if one side alone has all of this variance. The number of runs of a side
     * is the same in every assignment.
     *
     * @return the bound; 0 if the variable has no pool with a common variance
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

    /** The statistics of one variable at a time, in one assignment at a time. Used by one thread. */
    private final class Split {

        /** Space for the values of each side, with one more place than there are runs. */
        private final double[] firstSide = new double[runs + 1];

        private final double[] secondSide = new double[runs + 1];
        private int first;
        private int second;

        /** For each run, 1 if it is assigned to the first side, else 0. */
        private int[] isFirst = new int[runs];

        /**
         * For each variable that others follow, its factor in this assignment, or 0 as long as no variable asks for it.
         */
        private final double[] factors = new double[values.length];

        /** Begins an assignment. */
        void assign(int[] runsOfFirstSide) {
            isFirst = runsOfFirstSide;
            Arrays.fill(factors, 0);
        }

        /** Distributes the values of a variable to the sides, in ascending order. */
        private void put(int variable) {
            int[] order = orders[variable];
            double[] sorted = ascending[variable];
            int before = 0;
            int after = 0;
            // No branch: the side of a run is random, so half of the branches would be mispredicted.
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
         * Returns the absolute value of the statistic of a variable, or 0 if the statistic cannot reach that of another
         * variable. For most variables the difference and the bound of the error show this, without the variances.
         */
        double size(int variable, double reached) {
            put(variable);
            double difference = Trimmed.mean(secondSide, second, trimmed) - Trimmed.mean(firstSide, first, trimmed);
            if (Math.abs(difference) < reached * leastErrors[variable] * (1 - ROUNDING)) {
                return 0;
            }
            return statistic(variable).size();
        }

        /** Returns the statistic of the variable whose values {@link #put} has distributed. */
        private Statistic statistic(int variable) {
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
                return new Statistic(difference, Math.sqrt(own * wildness(variable, both, degrees)), degrees);
            }
            double mixed = (pool.priorDegrees() * pool.variance() + degrees * both) / (pool.priorDegrees() + degrees);
            return new Statistic(
                    difference, Math.sqrt(mixed * (1.0 / first + 1.0 / second)), pool.priorDegrees() + degrees);
        }

        /**
         * Returns the factor by which the variance of a variable is multiplied; {@code both} is the variance of both
         * sides together.
         */
        private double wildness(int variable, double both, int degrees) {
            Pool pool = poolOf(variable);
            if (pool.priorDegrees() == 0 || both <= mostLikely(pool.variance(), degrees)) {
                return 1;
            }
            int leader = variables.get(variable).leader;
            if (leader == Variable.OWN) {
                return Math.max(1, Math.min(MOST_WILDNESS, both / (WILD * pool.variance())));
            }
            if (factors[leader] == 0) {
                factors[leader] = wildnessOfLeader(leader, degrees);
            }
            return factors[leader];
        }

        private double wildnessOfLeader(int leader, int degrees) {
            put(leader);
            double firstVariance = variance(Trimmed.ofSorted(firstSide, first, trimmed), first);
            double secondVariance = variance(Trimmed.ofSorted(secondSide, second, trimmed), second);
            int firstDegrees = first - 2 * trimmed - 1;
            int secondDegrees = second - 2 * trimmed - 1;
            return wildness(leader, (firstVariance * firstDegrees + secondVariance * secondDegrees) / degrees, degrees);
        }

        Statistic of(int variable) {
            put(variable);
            return statistic(variable);
        }
    }

    /** The assignments of runs to sides, and the largest statistics in them. */
    private final class Assignments {

        private final Statistic[] observed;
        private final double[] sizes;
        private final int[] smallestFirst;
        private final long seed;
        private final Split split = new Split();
        private final double[] largest;

        /** For each variable, the number of assignments in which it or a smaller one reached its statistic. */
        private final int[] reached = new int[values.length];

        Assignments(int[] isFirst, long seed) {
            this.seed = seed;
            split.assign(isFirst);
            observed = IntStream.range(0, values.length).mapToObj(split::of).toArray(Statistic[]::new);
            sizes = Arrays.stream(observed).mapToDouble(Statistic::size).toArray();
            smallestFirst = smallestFirst(IntStream.range(0, observed.length));
            largest = largest(smallestFirst, variable -> reached[variable]++);
        }

        private int[] smallestFirst(IntStream some) {
            return some.boxed()
                    .sorted(Comparator.comparingDouble(variable -> sizes[variable]))
                    .mapToInt(Integer::intValue)
                    .toArray();
        }

        /**
         * Returns the largest statistic of some variables in each assignment, in ascending order. The assignments are
         * the same in every call.
         *
         * @param some the variables, the smallest statistic first
         * @param whenReached receives, for each assignment, the variables whose statistic it or a smaller one reached
         */
        private double[] largest(int[] some, IntConsumer whenReached) {
            double all = BinomialCoefficientDouble.value(runs, firstRuns);
            double[] maxima;
            if (all <= MOST_ASSIGNMENTS) {
                maxima = new double[(int) all];
                Iterator<int[]> each = Combinations.of(runs, firstRuns).iterator();
                Arrays.setAll(maxima, i -> maximum(each.next(), some, whenReached));
            } else {
                maxima = new double[MOST_ASSIGNMENTS + 1];
                CombinationSampler sampler =
                        new CombinationSampler(RandomSource.XO_RO_SHI_RO_128_PP.create(seed), runs, firstRuns);
                int[] asObserved = IntStream.range(0, firstRuns).toArray();
                Arrays.setAll(maxima, i -> maximum(i == 0 ? asObserved : sampler.sample(), some, whenReached));
            }
            Arrays.sort(maxima);
            return maxima;
        }

        private double maximum(int[] first, int[] some, IntConsumer whenReached) {
            int[] isFirst = new int[runs];
            for (int run : first) {
                isFirst[run] = 1;
            }
            split.assign(isFirst);
            double maximum = 0;
            for (int variable : some) {
                maximum = Math.max(maximum, split.size(variable, maximum));
                if (maximum >= sizes[variable] - ROUNDING) {
                    whenReached.accept(variable);
                }
            }
            return maximum;
        }

        double[] probabilities() {
            double[] adjusted = new double[values.length];
            double before = 0;
            for (int i = smallestFirst.length - 1; i >= 0; i--) {
                int variable = smallestFirst[i];
                before = Math.max(before, (double) reached[variable] / largest.length);
                adjusted[variable] = before;
            }
            return adjusted;
        }

        double critical(double level) {
            return critical(largest, level);
        }

        /**
         * Returns the critical value of the step at which the test ended: that of the variables that were not found. If
         * all were found, it is that of the one with the smallest statistic.
         */
        double lastCritical(int[] notFound, double level) {
            if (notFound.length == values.length) {
                return critical(level);
            }
            int[] last = notFound.length == 0 ? new int[] {smallestFirst[0]} : smallestFirst(Arrays.stream(notFound));
            return critical(largest(last, variable -> {}), level);
        }

        private static double critical(double[] maxima, double level) {
            int rank = (int) Math.ceil((1 - level) * maxima.length) - 1;
            return maxima[Math.max(0, Math.min(rank, maxima.length - 1))];
        }
    }

    /** Returns the trimmed mean of the second side minus that of the first, in the unit of the values. */
    double difference(int variable) {
        return statistics[variable].difference();
    }

    /** Returns the standard error of the difference. */
    double error(int variable) {
        return statistics[variable].error();
    }

    /** Returns the degrees of freedom of the standard error, including those of its pool. */
    double degrees(int variable) {
        return statistics[variable].degrees();
    }

    /**
     * Returns the adjusted p-value: the probability of a statistic this large in any variable if no variable differs.
     */
    double probability(int variable) {
        return probabilities[variable];
    }

    /** Returns the critical value of the largest statistic at the given level if no variable differs. */
    double critical() {
        return critical;
    }

    /**
     * Returns half of the width of a variable's confidence interval, which is centred at its difference. The interval
     * inverts the test: it contains the differences that the last step of the test does not reject. It therefore
     * contains 0 if and only if the variable is not found. The intervals of the variables that are not found hold
     * together with a probability of one minus the level; that of a variable that is found holds so by itself.
     */
    double halfWidth(int variable) {
        Statistic statistic = statistics[variable];
        double half = lastCritical * statistic.error();
        return probabilities[variable] > level ? Math.max(half, Math.abs(statistic.difference())) : half;
    }
}
