package org.brickprofiler.compare;

import static org.brickprofiler.compare.RunComparison.FEWEST_FOR_COMMON;
import static org.brickprofiler.compare.RunComparison.FEWEST_FOR_INTERVAL;
import static org.brickprofiler.compare.RunComparison.LEVEL;
import static org.brickprofiler.compare.RunComparison.POWER;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;
import org.apache.commons.rng.UniformRandomProvider;
import org.apache.commons.rng.sampling.PermutationSampler;
import org.apache.commons.rng.simple.RandomSource;
import org.apache.commons.statistics.descriptive.Median;
import org.apache.commons.statistics.descriptive.Quantile;
import org.apache.commons.statistics.descriptive.Variance;
import org.apache.commons.statistics.distribution.TDistribution;
import org.brickprofiler.compare.Figures.Figure;
import org.brickprofiler.compare.RunComparison.Change;
import org.brickprofiler.compare.RunComparison.Kind;
import org.brickprofiler.compare.RunComparison.Line;
import org.brickprofiler.compare.RunComparison.Side;
import org.brickprofiler.compare.RunComparison.Verdict;
import org.jspecify.annotations.Nullable;

/**
 * Compares the figures of runs. All tests use logarithms, because a factor then becomes a sum, and slow and fast runs
 * have the same spread. One thread.
 */
final class Comparer {

    private static final int SPLITS = 500;

    /** The number of rounds in which the common part and the usual times are computed from each other. */
    private static final int POLISHES = 4;

    /** The largest weight of a brick, as a multiple of the usual weight. */
    private static final double MOST_WEIGHT = 4;

    /** The tolerance for rounding: the sum of equal weights depends on their order. */
    private static final double ROUNDING = 1e-9;

    /** The confidence of intervals, and of a floor. */
    private static final double CONFIDENCE = 0.95;

    /**
     * The pool of variances of bricks, and of categories and tiles if they are compared beside the common part; each
     * percentile has its own pool.
     */
    private static final int POOL_OF_BRICKS = 0;

    private static final int POOL_OF_P90 = 1;
    private static final int POOL_OF_P99 = 2;
    private static final int POOLS = 3;

    private final Figures figures;
    private final int firstRuns;
    private final int runs;
    private final RunComparison.Options options;

    /** The number of runs of each side that are left out at each end. */
    private final int trimmed;

    /** The common part of all bricks of a run, as a logarithm; null if there are too few bricks. */
    private final double @Nullable [] common;

    private Comparer(List<Run> before, List<Run> after, RunComparison.Options options) {
        if (before.isEmpty() || after.isEmpty()) {
            throw new IllegalArgumentException(
                    "nothing to compare: " + before.size() + " runs before, " + after.size() + " after");
        }
        this.figures = new Figures(before, after, options);
        this.firstRuns = before.size();
        this.runs = before.size() + after.size();
        this.options = options;
        this.trimmed = Trimmed.atEachEnd(firstRuns, runs - firstRuns);
        this.common = common(options.baseline().isEmpty() ? comparableBricks() : baseline(), runs);
    }

    static RunComparison compare(List<Run> before, List<Run> after, RunComparison.Options options) {
        Comparer comparer = new Comparer(before, after, options);
        List<Line> lines = comparer.lines();
        Doubts doubts = new Doubts(comparer.figures, before, after, options, lines);
        List<String> remarks = doubts.remarks(comparer.comparedBricks(), Optional.ofNullable(comparer.common));
        return new RunComparison(
                before,
                after,
                options,
                comparer.figures.sides().stepBrick().map(TwoSides.Key::name),
                remarks,
                lines,
                List.of());
    }

    private List<Figure> comparableBricks() {
        return figures.all().stream()
                .filter(figure -> figure.kind() == Kind.BRICK && figure.isComparable())
                .toList();
    }

    private List<Figure> baseline() {
        List<Figure> baseline = new ArrayList<>();
        for (String name : options.baseline()) {
            List<Figure> named = figures.all().stream()
                    .filter(figure -> figure.isOfBrick(name))
                    .toList();
            if (named.isEmpty()) {
                throw new IllegalArgumentException("no run has a brick '" + name + "' for the baseline");
            }
            for (Figure figure : named) {
                if (!figure.isComparable()) {
                    throw new IllegalArgumentException("brick '" + figure.name()
                            + "' cannot be the baseline: it is not comparable, " + figure.obstacle());
                }
                baseline.add(figure);
            }
        }
        return baseline;
    }

    /** Returns the variables of the test: the logarithms of each brick, minus the common part. */
    private List<double[]> comparedBricks() {
        return comparableBricks().stream()
                .map(figure -> besideCommon(logs(figure)))
                .toList();
    }

    /**
     * Returns the distance of each run from the usual run, computed by median polish: the distance of a run is the
     * median over its bricks, the usual time of a brick is the median over the runs, and each of the two is computed
     * from the residuals of the other, in turns (Tukey, <i>Exploratory Data Analysis</i>, 1977, chapter 11). The weight
     * of a brick grows as its spread shrinks. All figures are of all runs, so the side of a run does not matter.
     */
    private double @Nullable [] common(List<Figure> figures, int runs) {
        List<double[]> bricks = figures.stream().map(Comparer::logs).toList();
        // Prefill and decode of one brick are no independent evidence of a common part.
        long names = figures.stream()
                .flatMap(figure -> figure.key().stream())
                .map(TwoSides.Key::name)
                .distinct()
                .count();
        if (names < FEWEST_FOR_COMMON && options.baseline().isEmpty()) {
            return null;
        }
        double[] common = new double[runs];
        for (int round = 0; round < POLISHES; round++) {
            double[] known = common;
            double[] usual = bricks.stream()
                    .mapToDouble(logs -> median(less(logs, known)))
                    .toArray();
            double[] spreads = IntStream.range(0, usual.length)
                    .mapToDouble(brick -> median(Arrays.stream(less(bricks.get(brick), known))
                            .map(log -> Math.abs(log - usual[brick]))
                            .toArray()))
                    .toArray();
            double least = Math.max(median(spreads) / MOST_WEIGHT, Double.MIN_NORMAL);
            // At first the spread of a brick includes the part that most bricks have in common, and bricks without that
            // part would get the largest weights.
            boolean isFirst = round == 0;
            double[] weights = Arrays.stream(spreads)
                    .map(spread -> isFirst ? 1 : least / Math.max(spread, least))
                    .toArray();
            common = IntStream.range(0, runs)
                    .mapToDouble(run -> weightedMedian(
                            IntStream.range(0, usual.length)
                                    .mapToDouble(brick -> bricks.get(brick)[run] - usual[brick])
                                    .toArray(),
                            weights))
                    .toArray();
        }
        return common;
    }

    private static double[] less(double[] values, double[] subtracted) {
        return IntStream.range(0, values.length)
                .mapToDouble(i -> values[i] - subtracted[i])
                .toArray();
    }

    /**
     * Returns the weighted median: the value at which half of the weights is reached, or the mean of two values if half
     * is reached exactly between them.
     */
    private static double weightedMedian(double[] values, double[] weights) {
        int[] order = IntStream.range(0, values.length)
                .boxed()
                .sorted(Comparator.comparingDouble(i -> values[i]))
                .mapToInt(Integer::intValue)
                .toArray();
        double half = DoubleStream.of(weights).sum() / 2;
        double rounding = half * ROUNDING;
        int at = 0;
        double reached = weights[order[0]];
        while (reached < half - rounding) {
            at++;
            reached += weights[order[at]];
        }
        int next = reached > half + rounding ? at : Math.min(at + 1, order.length - 1);
        return (values[order[at]] + values[order[next]]) / 2;
    }

    private static double[] logs(Figure figure) {
        return logs(figure.values());
    }

    private static double[] logs(double[] values) {
        return Arrays.stream(values).map(Math::log).toArray();
    }

    private static double median(double[] values) {
        return Median.withDefaults().withCopy(true).evaluate(values);
    }

    // ---- lines ----

    private boolean isBeside(Kind kind) {
        return common != null
                && (kind == Kind.BRICK
                        || kind == Kind.BRICK_P50
                        || kind.isTail()
                        || kind == Kind.CATEGORY
                        || kind == Kind.TILE);
    }

    private double[] besideCommon(double[] logs) {
        return common == null ? logs : less(logs, common);
    }

    private List<Line> lines() {
        List<Figure> tested = figures.all().stream()
                .filter(figure -> figure.isComparable() && figure.kind() != Kind.BRICK_P50)
                .toList();
        List<MaxT.Variable> variables = new ArrayList<>();
        for (Figure figure : tested) {
            Kind kind = figure.kind();
            double[] logs = isBeside(kind) ? besideCommon(logs(figure)) : logs(figure);
            variables.add(
                    kind.isTail()
                            ? MaxT.Variable.following(logs, pool(figure), tested.indexOf(figure.brick()))
                            : new MaxT.Variable(logs, pool(figure), kind == Kind.BRICK));
        }
        int commonAt = variables.size();
        if (common != null) {
            variables.add(new MaxT.Variable(common, MaxT.Variable.NO_POOL, false));
        }
        boolean enough =
                firstRuns > 1 && runs - firstRuns > 1 && MaxT.smallestProbability(firstRuns, runs - firstRuns) <= LEVEL;
        @Nullable
        MaxT test = enough && !variables.isEmpty() ? new MaxT(variables, firstRuns, LEVEL, options.seed()) : null;
        // A baseline is assumed unchanged: if it is slower, the machine was slower, and only the change beside the
        // baseline counts.
        double commonShift = common != null && options.baseline().isEmpty() && test != null && isFound(test, commonAt)
                ? test.difference(commonAt)
                : 0;

        List<Line> lines = new ArrayList<>();
        boolean commonIsOut = common == null;
        for (Figure figure : figures.all()) {
            if (!commonIsOut && isBeside(figure.kind())) {
                lines.add(common(test, commonAt));
                commonIsOut = true;
            }
            int at = tested.indexOf(figure);
            lines.add(at < 0 ? notTested(figure) : line(figure, test, at, commonShift));
        }
        return lines;
    }

    /** Returns the pool of a figure. Each phase has its own pools, since prefill has fewer samples than decode. */
    private int pool(Figure figure) {
        int pool = pool(figure.kind());
        int part = figure.key().map(key -> key.part().index()).orElse(0);
        return pool == MaxT.Variable.NO_POOL ? pool : part * POOLS + pool;
    }

    private int pool(Kind kind) {
        return switch (kind) {
            case BRICK -> POOL_OF_BRICKS;
            case BRICK_P90 -> POOL_OF_P90;
            case BRICK_P99 -> POOL_OF_P99;
            case CATEGORY, TILE -> isBeside(kind) ? POOL_OF_BRICKS : MaxT.Variable.NO_POOL;
            case TOTAL, STEP, TOKENS_PER_SEC, COMMON, BRICK_P50, METHOD -> MaxT.Variable.NO_POOL;
        };
    }

    private boolean isFound(MaxT test, int at) {
        return test.probability(at) <= LEVEL && isAboveFloor(test.difference(at));
    }

    private boolean isAboveFloor(double log) {
        return Math.abs(percent(log)) >= options.floorPercent();
    }

    private static double percent(double log) {
        return 100 * Math.expm1(log);
    }

    private Line common(@Nullable MaxT test, int at) {
        double[] shared = common == null ? new double[runs] : common;
        Change change = changeOf(shared, test, at);
        return Line.builder(
                        Kind.COMMON,
                        options.baseline().isEmpty() ? "all bricks alike" : "baseline bricks alike",
                        RunComparison.Statistic.COMMON_PART,
                        100)
                .change(Optional.of(change), Optional.empty())
                .verdict(verdict(Kind.COMMON, test, at), note(test, at))
                .smallestPercent(smallest(test, at))
                .probability(probability(test, at))
                .build();
    }

    private Verdict verdict(Kind kind, @Nullable MaxT test, int at) {
        if (test == null) {
            return Verdict.TOO_FEW_RUNS;
        }
        if (!isFound(test, at)) {
            return Verdict.NO_DIFFERENCE;
        }
        boolean more = test.difference(at) > 0;
        return more == (kind == Kind.TOKENS_PER_SEC) ? Verdict.FASTER : Verdict.SLOWER;
    }

    private String note(@Nullable MaxT test, int at) {
        return test != null && test.probability(at) <= LEVEL && !isFound(test, at) ? "below the floor" : "";
    }

    private Line notTested(Figure figure) {
        boolean both = Arrays.stream(figure.values()).noneMatch(Double::isNaN);
        boolean isBeside = both && figure.isComparable() && isBeside(figure.kind());
        return builder(figure)
                .change(
                        both ? Optional.of(estimateOf(logs(figure))) : Optional.empty(),
                        isBeside ? Optional.of(estimateOf(besideCommon(logs(figure)))) : Optional.empty())
                .verdict(figure.isComparable() ? Verdict.NOT_TESTED : Verdict.NOT_COMPARABLE, figure.obstacle())
                .build();
    }

    private Line.Builder builder(Figure figure) {
        return Line.builder(figure.kind(), figure.name(), figure.statistic(), figure.sharePercent())
                .phase(figure.key().flatMap(key -> key.part().phase()))
                .sides(side(figure.values(), 0, firstRuns), side(figure.values(), firstRuns, runs));
    }

    private Line line(Figure figure, @Nullable MaxT test, int at, double commonShift) {
        double[] logs = logs(figure);
        boolean beside = isBeside(figure.kind());
        Verdict verdict = verdict(figure.kind(), test, at);
        String note = note(test, at);
        if (beside && commonShift != 0 && test != null) {
            double whole = test.difference(at) + commonShift;
            boolean found = verdict == Verdict.FASTER || verdict == Verdict.SLOWER;
            if (found && !(isAboveFloor(whole) && whole > 0 == test.difference(at) > 0)) {
                // A brick that stayed constant while the others changed has changed only relative to them.
                verdict = Verdict.NO_DIFFERENCE;
                note = "did not change with the others";
            } else if (!found) {
                note = "as all bricks";
            }
        }
        return builder(figure)
                .change(
                        Optional.of(beside ? estimateOf(logs) : changeOf(logs, test, at)),
                        beside ? Optional.of(changeOf(besideCommon(logs), test, at)) : Optional.empty())
                .verdict(verdict, note)
                .smallestPercent(smallest(test, at))
                .probability(probability(test, at))
                .build();
    }

    private OptionalDouble probability(@Nullable MaxT test, int at) {
        return test == null ? OptionalDouble.empty() : OptionalDouble.of(test.probability(at));
    }

    private OptionalDouble smallest(@Nullable MaxT test, int at) {
        if (test == null) {
            return OptionalDouble.empty();
        }
        double floor = Math.log1p(options.floorPercent() / 100);
        return OptionalDouble.of(
                percent(SmallestChange.of(floor, test.critical(), test.error(at), test.degrees(at), POWER)));
    }

    private Optional<Side> side(double[] values, int from, int to) {
        double[] logs = Arrays.stream(values, from, to).map(Math::log).toArray();
        if (Arrays.stream(logs).anyMatch(Double::isNaN)) {
            return Optional.empty();
        }
        // This holds for a log-normal variable, which the figure approximately is.
        double spread = logs.length == 1 ? 0 : Math.sqrt(Math.expm1(variance(logs)));
        return Optional.of(new Side(Math.exp(Trimmed.of(logs, trimmed).mean()), 100 * spread, logs.length));
    }

    private static double variance(double[] values) {
        return Variance.of(values).getAsDouble();
    }

    /** Returns the change of a tested variable, with the interval that inverts the test; without a test, none. */
    private Change changeOf(double[] logs, @Nullable MaxT test, int at) {
        if (test == null) {
            return estimateOf(logs);
        }
        double half = test.halfWidth(at);
        double difference = test.difference(at);
        return new Change(percent(difference), percent(difference - half), percent(difference + half));
    }

    /** Returns a change without an interval. */
    private Change estimateOf(double[] logs) {
        double before =
                Trimmed.of(Arrays.copyOfRange(logs, 0, firstRuns), trimmed).mean();
        double after =
                Trimmed.of(Arrays.copyOfRange(logs, firstRuns, runs), trimmed).mean();
        return new Change(percent(after - before), Double.NaN, Double.NaN);
    }

    /**
     * Returns the difference of the means with Welch's interval, by Student's distribution with Satterthwaite's degrees
     * of freedom.
     */
    static Change change(double[] before, double[] after) {
        Trimmed first = Trimmed.of(before, 0);
        Trimmed second = Trimmed.of(after, 0);
        double error = first.squaredError() + second.squaredError();
        double degrees = error
                * error
                / (first.squaredError() * first.squaredError() / first.degrees()
                        + second.squaredError() * second.squaredError() / second.degrees());
        boolean isEnough = Math.min(first.degrees(), second.degrees()) >= FEWEST_FOR_INTERVAL - 1;
        return change(second.mean() - first.mean(), Math.sqrt(error), degrees, isEnough);
    }

    /** Returns the mean of the differences of pairs with Student's interval. */
    static Change changeOfPairs(double[] differences) {
        Trimmed all = Trimmed.of(differences, 0);
        return change(
                all.mean(), Math.sqrt(all.squaredError()), all.degrees(), all.degrees() >= FEWEST_FOR_INTERVAL - 1);
    }

    private static Change change(double difference, double error, double degrees, boolean hasInterval) {
        if (!hasInterval) {
            return new Change(percent(difference), Double.NaN, Double.NaN);
        }
        double half =
                error > 0 ? TDistribution.of(degrees).inverseSurvivalProbability((1 - CONFIDENCE) / 2) * error : 0;
        return new Change(percent(difference), percent(difference - half), percent(difference + half));
    }

    // ---- the floor ----

    static double noiseFloorPercent(List<Run> same, RunComparison.Options options) {
        if (same.size() < 4) {
            throw new IllegalArgumentException(
                    "a noise floor needs at least 4 runs of the same code, not " + same.size());
        }
        int half = same.size() / 2;
        Comparer comparer = new Comparer(same.subList(0, half), same.subList(half, same.size()), options);
        List<double[]> variables = comparer.figures.all().stream()
                .filter(figure -> figure.isComparable()
                        && comparer.isBeside(figure.kind())
                        && !figure.kind().isTail())
                .map(figure -> comparer.besideCommon(logs(figure)))
                .toList();
        if (variables.isEmpty()) {
            throw new IllegalArgumentException("nothing in these " + same.size() + " runs can be compared: fewer than "
                    + FEWEST_FOR_COMMON + " bricks are in all of them");
        }
        UniformRandomProvider random = RandomSource.XO_RO_SHI_RO_128_PP.create(options.seed());
        PermutationSampler sampler = new PermutationSampler(random, same.size(), half);
        double[] largest = new double[SPLITS];
        for (int split = 0; split < SPLITS; split++) {
            boolean[] isFirst = new boolean[same.size()];
            Arrays.stream(sampler.sample()).forEach(run -> isFirst[run] = true);
            largest[split] = variables.stream()
                    .mapToDouble(values -> Math.abs(difference(values, isFirst)))
                    .max()
                    .orElseThrow();
        }
        return percent(Quantile.withDefaults().evaluate(largest, CONFIDENCE));
    }

    private static double difference(double[] values, boolean[] isFirst) {
        double[] first = IntStream.range(0, values.length)
                .filter(run -> isFirst[run])
                .mapToDouble(run -> values[run])
                .toArray();
        double[] second = IntStream.range(0, values.length)
                .filter(run -> !isFirst[run])
                .mapToDouble(run -> values[run])
                .toArray();
        int trimmed = Trimmed.atEachEnd(first.length, second.length);
        return Trimmed.of(second, trimmed).mean() - Trimmed.of(first, trimmed).mean();
    }
}
