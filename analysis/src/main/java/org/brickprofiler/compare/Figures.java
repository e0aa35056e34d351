package org.brickprofiler.compare;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.function.Function;
import java.util.function.IntToDoubleFunction;
import java.util.function.IntToLongFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.BrickStats;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.StepInfo;
import org.brickprofiler.StepStats;
import org.brickprofiler.compare.RunComparison.Kind;
import org.brickprofiler.compare.RunComparison.Statistic;
import org.brickprofiler.internal.base.Sums;
import org.brickprofiler.request.RequestStats;
import org.brickprofiler.stats.LatencyDistribution;
import org.brickprofiler.tile.TileLevel;
import org.brickprofiler.tile.TileStats;
import org.jspecify.annotations.Nullable;

/**
 * The figures of two sets of runs: for each compared quantity, one figure for each run. {@link Differences} lists the
 * reasons that prevent a comparison. Immutable; one thread.
 */
final class Figures {

    private static final int P50 = 50;
    private static final int P90 = 90;
    private static final int P99 = 99;

    /** A compared quantity. */
    static final class Figure {

        private final Kind kind;
        private final String name;
        private final Statistic statistic;
        private final double[] values;
        private final String obstacle;
        private final double sharePercent;
        private final TwoSides.@Nullable Key key;
        private final @Nullable Figure brick;

        private Figure(
                Kind kind,
                String name,
                Statistic statistic,
                double[] values,
                String obstacle,
                double sharePercent,
                TwoSides.@Nullable Key key,
                @Nullable Figure brick) {
            this.kind = kind;
            this.name = name;
            this.statistic = statistic;
            this.values = values;
            this.obstacle = obstacle;
            this.sharePercent = sharePercent;
            this.key = key;
            this.brick = brick;
        }

        /** Returns a copy of this figure with the key of a brick's samples. */
        private Figure of(TwoSides.Key samples) {
            return new Figure(kind, name, statistic, values, obstacle, sharePercent, samples, null);
        }

        /** Returns a copy of this figure as a percentile of the brick with the given figure. */
        private Figure of(Figure other) {
            return new Figure(kind, name, statistic, values, obstacle, sharePercent, other.key, other);
        }

        /** Returns the key of the brick's samples that this figure measures; empty for other figures. */
        Optional<TwoSides.Key> key() {
            return Optional.ofNullable(key);
        }

        /** Returns whether this is the figure of a brick with the given name, in any phase. */
        boolean isOfBrick(String brickName) {
            return kind == Kind.BRICK
                    && key().filter(samples -> samples.name().equals(brickName)).isPresent();
        }

        /** Returns the figure of this percentile's brick; null if this is no percentile. */
        @Nullable
        Figure brick() {
            return brick;
        }

        Kind kind() {
            return kind;
        }

        String name() {
            return name;
        }

        Statistic statistic() {
            return statistic;
        }

        /**
         * Returns the value of each run in the unit of the kind, the runs of the first side first; NaN if the run has
         * none.
         */
        double[] values() {
            return values.clone();
        }

        boolean isComparable() {
            return obstacle.isEmpty();
        }

        /** Returns the reason why the figure cannot be compared; empty if it can. */
        String obstacle() {
            return obstacle;
        }

        /** Returns the share of the brick time, %. */
        double sharePercent() {
            return sharePercent;
        }
    }

    private final TwoSides sides;
    private final Differences differences;
    private final List<ProfileSnapshot> runs;
    private final int firstRuns;
    private final List<Map<TwoSides.Key, BrickStats>> bricks;

    /**
     * For each brick, the ratio of the mean of the middle half to the mean of all samples in each run. A brick of which
     * a run has no percentiles is absent.
     */
    private final Map<TwoSides.Key, double[]> middleShares = new HashMap<>();

    private final List<Figure> all = new ArrayList<>();

    Figures(List<Run> before, List<Run> after, RunComparison.Options options) {
        sides = new TwoSides(before, after, options);
        differences = new Differences(sides, options);
        runs = sides.runs();
        firstRuns = sides.firstRuns();
        bricks = sides.bricks();
        bricks.stream().flatMap(run -> run.keySet().stream()).distinct().forEach(key -> middleShares(key)
                .ifPresent(shares -> middleShares.put(key, shares)));
        whole();
        categories();
        bricks().forEach((key, brick) -> {
            percentile(key, brick, Kind.BRICK_P50, P50, 1);
            percentile(key, brick, Kind.BRICK_P90, P90, RunComparison.FEWEST_FOR_P90);
            percentile(key, brick, Kind.BRICK_P99, P99, RunComparison.FEWEST_FOR_P99);
        });
        tiles();
    }

    /** Returns the runs of both sides, and their steps. */
    TwoSides sides() {
        return sides;
    }

    /** Returns the differences between the sides apart from their times. */
    Differences differences() {
        return differences;
    }

    List<Figure> all() {
        return all;
    }

    /**
     * The change in a brick's time per step on the second side, over all its samples.
     *
     * @param brick its name
     * @param ns the difference of the trimmed means, ns; below 0 if the brick takes less time
     */
    record Move(String brick, double ns) {}

    /** Returns the moves of all bricks, the largest first; empty if there are no steps. */
    List<Move> moves() {
        return !sides.hasSteps()
                ? List.of()
                : sides.compared().stream()
                        .map(key -> new Move(
                                key.label(), moveNs(run -> TwoSides.ratio(sides.ns(run, key), sides.steps(run)))))
                        .sorted(Comparator.comparingDouble((Move move) -> Math.abs(move.ns()))
                                .reversed()
                                .thenComparing(Move::brick))
                        .toList();
    }

    /** Returns the change in the brick time of a step: the difference of the trimmed means, ns. */
    double moveOfTheWholeNs() {
        return moveNs(run -> TwoSides.ratio(sides.wholeNs(run), sides.steps(run)));
    }

    private double moveNs(IntToDoubleFunction perStepNs) {
        double[] values = IntStream.range(0, runs.size()).mapToDouble(perStepNs).toArray();
        int trimmed = Trimmed.atEachEnd(firstRuns, values.length - firstRuns);
        return Trimmed.of(Arrays.copyOfRange(values, firstRuns, values.length), trimmed)
                        .mean()
                - Trimmed.of(Arrays.copyOf(values, firstRuns), trimmed).mean();
    }

    /**
     * Returns, for each run, the ratio of the mean of the middle half of the samples to the mean of all; empty if a run
     * has the brick without percentiles. Both means are computed from the same buckets, so the width of the buckets
     * cancels.
     */
    private Optional<double[]> middleShares(TwoSides.Key key) {
        double[] shares = new double[runs.size()];
        for (int run = 0; run < shares.length; run++) {
            BrickStats brick = sides.brick(run, key);
            LatencyDistribution latency = brick.latency().orElse(LatencyDistribution.EMPTY);
            if (brick.count() > 0 && latency.count() == 0) {
                return Optional.empty();
            }
            double meanNs = latency.meanNs(0, 100);
            shares[run] = meanNs == 0 ? 1 : latency.meanNs(25, 75) / meanNs;
        }
        return Optional.of(shares);
    }

    /** Returns the statistic of bricks that are compared by one figure: the middle half if all have percentiles. */
    private Statistic statistic(Collection<TwoSides.Key> keys) {
        return middleShares.keySet().containsAll(keys) ? Statistic.MIDDLE_HALF : Statistic.MEAN;
    }

    /** Returns the time of all samples of a brick if each took the time that a statistic gives, ns. */
    private double ns(int run, TwoSides.Key key, Statistic statistic) {
        double[] shares = statistic == Statistic.MIDDLE_HALF ? middleShares.get(key) : null;
        return Math.max(
                0, sides.brick(run, key).totalNs() * (shares == null ? 1 : shares[run]) - sides.marksNs(run, key));
    }

    // ---- the figures ----

    /** Adds a figure of the whole or of tiles, which is a mean or a rate. */
    private void add(Kind kind, String name, double sharePercent, String obstacle, Function<Integer, Number> ofRun) {
        Statistic statistic = kind == Kind.TOKENS_PER_SEC ? Statistic.RATE : Statistic.MEAN;
        all.add(figure(kind, name, statistic, sharePercent, obstacle, ofRun));
    }

    private Figure figure(
            Kind kind,
            String name,
            Statistic statistic,
            double sharePercent,
            String obstacle,
            Function<Integer, Number> ofRun) {
        double[] recorded = values(ofRun);
        double[] values = Arrays.stream(recorded)
                .map(value -> value > 0 ? value : Double.NaN)
                .toArray();
        return new Figure(kind, name, statistic, values, obstacle(recorded, obstacle), sharePercent, null, null);
    }

    private double[] values(Function<Integer, Number> ofRun) {
        return IntStream.range(0, runs.size())
                .mapToDouble(run -> ofRun.apply(run).doubleValue())
                .toArray();
    }

    /** Returns the obstacle for values in which 0 means no time and NaN means not recorded. */
    private String obstacle(double[] values, String own) {
        boolean before = isPresent(values, 0, firstRuns);
        boolean after = isPresent(values, firstRuns, values.length);
        boolean anyBefore = isAnywhere(values, 0, firstRuns);
        boolean anyAfter = isAnywhere(values, firstRuns, values.length);
        if (before && after && Arrays.stream(values).anyMatch(value -> value <= 0)) {
            boolean isAnyLonger = Arrays.stream(values).anyMatch(value -> value > 0);
            return isAnyLonger ? "took no time in some runs" : "took no time";
        }
        if (before && after) {
            return Stream.of(differences.environments(), own)
                    .filter(each -> !each.isEmpty())
                    .collect(Collectors.joining("; "));
        }
        if (!anyAfter) {
            return "only before";
        }
        return anyBefore ? "not in every run" : "only after";
    }

    private static boolean isPresent(double[] values, int from, int to) {
        return IntStream.range(from, to).noneMatch(run -> Double.isNaN(values[run]));
    }

    private static boolean isAnywhere(double[] values, int from, int to) {
        return !IntStream.range(from, to).allMatch(run -> Double.isNaN(values[run]));
    }

    private void whole() {
        if (sides.announced()) {
            announcedSteps();
        } else if (sides.stepBrick().isPresent()) {
            stepsOf(sides.stepBrick().get());
        }
        latency(
                "time to first token of a request",
                differences.firstTokensThatDiffer(),
                RequestStats.Latencies::timeToFirstToken);
        latency(
                "time per output token of a request",
                differences.requestsThatDiffer(),
                RequestStats.Latencies::timePerOutputToken);
    }

    /**
     * Adds the mean of a latency of requests, and its percentiles, if all runs have enough values for them.
     *
     * @param load the differences in the requests; empty if they are comparable
     */
    private void latency(String name, String load, Function<RequestStats.Latencies, LatencyDistribution> latency) {
        List<LatencyDistribution> ofRuns = runs.stream()
                .map(run -> latency.apply(run.requests().latencies()))
                .toList();
        long fewest =
                ofRuns.stream().mapToLong(LatencyDistribution::count).min().orElse(0);
        if (fewest == 0) {
            return;
        }
        add(Kind.STEP, name, 100, load, run -> ofRuns.get(run).meanNs(0, 100));
        if (fewest >= RunComparison.FEWEST_FOR_P90) {
            all.add(figure(Kind.STEP, name + ", p90", Statistic.P90, 100, load, run -> ofRuns.get(run)
                    .interpolatedPercentileNs(P90)));
        }
        if (fewest >= RunComparison.FEWEST_FOR_P99) {
            all.add(figure(Kind.STEP, name + ", p99", Statistic.P99, 100, load, run -> ofRuns.get(run)
                    .interpolatedPercentileNs(P99)));
        }
    }

    private void announcedSteps() {
        String mix = differences.phaseMixThatDiffers();
        add(
                Kind.TOTAL,
                "brick time of a step",
                100,
                differences.brickTimeThatDiffers(),
                run -> TwoSides.ratio(sides.wholeNs(run), sides.steps(run)));
        for (StepInfo.Phase phase : StepInfo.Phase.values()) {
            boolean anywhere =
                    runs.stream().anyMatch(run -> run.steps().phase(phase).isPresent());
            if (anywhere) {
                String name = "wall time of a " + phase.displayName() + " step";
                add(Kind.STEP, name, 100, differences.phaseWorkThatDiffers(phase), run -> {
                    StepStats stats = sides.phase(run, phase);
                    return stats == null ? Double.NaN : stats.avgNs();
                });
            }
        }
        if (runs.stream()
                .allMatch(run -> run.steps().timeToFirstTokenNs() > 0
                        && run.requests().latencies().timeToFirstToken().count() == 0)) {
            String prompts = differences.workThatDiffers(
                    "number of prompt tokens before a first token",
                    run -> TwoSides.ratio(
                            // Parts of a prompt may be in mixed steps.
                            runs.get(run).steps().phases().stream()
                                    .mapToLong(StepStats::prefillTokens)
                                    .sum(),
                            runs.get(run).steps().timeToFirstToken().count()));
            add(
                    Kind.STEP,
                    "time to first token",
                    100,
                    prompts,
                    run -> TwoSides.ratio(
                            runs.get(run).steps().timeToFirstTokenNs(),
                            runs.get(run).steps().timeToFirstToken().count()));
        }
        if (!addMeasuredRate()) {
            add(
                    Kind.TOKENS_PER_SEC,
                    "tokens/s, profiled",
                    100,
                    mix,
                    run -> 1e9
                            * TwoSides.ratio(
                                    outputTokens(runs.get(run)), runs.get(run).wallNs()));
        }
    }

    private void stepsOf(TwoSides.Key brick) {
        String batch = differences.stepWorkThatDiffers();
        add(
                Kind.TOTAL,
                "brick time of a step",
                100,
                differences.brickTimeThatDiffers(),
                run -> TwoSides.ratio(sides.wholeNs(run), sides.steps(run)));
        if (runs.stream().allMatch(run -> run.wallNs() > 0)) {
            add(
                    Kind.STEP,
                    "wall time of a step",
                    100,
                    batch,
                    run -> TwoSides.ratio(runs.get(run).wallNs(), sides.steps(run)));
        }
        if (!addMeasuredRate()
                && runs.stream().allMatch(run -> run.wallNs() > 0)
                && IntStream.range(0, runs.size())
                        .allMatch(run -> sides.brick(run, brick).totalElements() > 0)) {
            add(
                    Kind.TOKENS_PER_SEC,
                    "tokens/s, profiled",
                    100,
                    batch,
                    run -> sides.brick(run, brick).totalElements()
                            * 1e9
                            / runs.get(run).wallNs());
        }
    }

    private static long outputTokens(ProfileSnapshot run) {
        return run.steps().phases().stream().mapToLong(StepStats::outputTokens).sum();
    }

    /** Adds the rate that the application or its runner measured, if all runs have it. */
    private boolean addMeasuredRate() {
        return addRate("tokens/s", run -> sides.named().get(run).tokensPerSec())
                || addRate("tokens/s, unprofiled", run -> runs.get(run).facts().unprofiledTokensPerSec())
                || addRate("tokens/s, profiled", run -> runs.get(run).facts().tokensPerSec());
    }

    private boolean addRate(String name, Function<Integer, OptionalDouble> rate) {
        boolean known =
                IntStream.range(0, runs.size()).allMatch(run -> rate.apply(run).isPresent());
        if (known) {
            add(Kind.TOKENS_PER_SEC, name, 100, "", run -> rate.apply(run).getAsDouble());
        }
        return known;
    }

    private void categories() {
        if (!sides.hasSteps()) {
            return;
        }
        List<Figure> found = new ArrayList<>();
        for (BrickCategory category : BrickCategory.values()) {
            Set<TwoSides.Key> keys = keys(category);
            IntToLongFunction totalNs =
                    run -> keys.stream().mapToLong(key -> sides.ns(run, key)).reduce(0, Sums::limited);
            if (IntStream.range(0, runs.size()).anyMatch(run -> totalNs.applyAsLong(run) > 0)) {
                Statistic statistic = statistic(keys);
                found.add(figure(
                        Kind.CATEGORY,
                        category.displayName(),
                        statistic,
                        share(totalNs),
                        differences.obstacle(category),
                        run -> ns(run, category, statistic) / sides.steps(run)));
            }
        }
        addLargestFirst(found);
    }

    private Set<TwoSides.Key> keys(BrickCategory category) {
        return bricks.stream()
                .flatMap(run -> run.keySet().stream())
                .filter(key -> key.category() == category && key.part() == TwoSides.Part.ALL)
                .collect(Collectors.toSet());
    }

    private double ns(int run, BrickCategory category, Statistic statistic) {
        double sum = bricks.get(run).keySet().stream()
                .filter(key -> key.category() == category && key.part() == TwoSides.Part.ALL)
                .mapToDouble(key -> ns(run, key, statistic))
                .sum();
        return sum > 0 ? sum : Double.NaN;
    }

    private void addLargestFirst(List<Figure> found) {
        found.sort(Comparator.comparingDouble(Figure::sharePercent).reversed().thenComparing(Figure::name));
        all.addAll(found);
    }

    /** Returns the share of the first side's brick time, or of the second side's if the first side has none, %. */
    private double share(IntToLongFunction part) {
        double before = share(part, 0, firstRuns);
        return before > 0 ? before : share(part, firstRuns, runs.size());
    }

    private double share(IntToLongFunction part, int from, int to) {
        long wholeNs = IntStream.range(from, to).mapToLong(sides::wholeNs).sum();
        long ns = IntStream.range(from, to).mapToLong(part).sum();
        return wholeNs == 0 ? 0 : 100.0 * ns / wholeNs;
    }

    /** Adds a figure for each brick, and returns the figures in their order. */
    private Map<TwoSides.Key, Figure> bricks() {
        List<TwoSides.Key> sorted = sides.compared().stream()
                .sorted(Comparator.comparingDouble((TwoSides.Key key) -> share(key))
                        .reversed()
                        .thenComparing(TwoSides.Key::label)
                        .thenComparing(TwoSides.Key::category))
                .toList();
        Map<TwoSides.Key, Figure> found = new LinkedHashMap<>();
        for (TwoSides.Key key : sorted) {
            Statistic statistic = statistic(Set.of(key));
            found.put(
                    key,
                    figure(
                                    Kind.BRICK,
                                    key.label(),
                                    statistic,
                                    share(key),
                                    differences.obstacle(key),
                                    run -> ns(run, key, statistic)
                                            / sides.brick(run, key).count())
                            .of(key));
        }
        all.addAll(found.values());
        return found;
    }

    private double share(TwoSides.Key key) {
        return share(run -> sides.ns(run, key));
    }

    /**
     * Adds a percentile of a brick if all runs have enough samples for it. As for the middle half, the mean of all
     * samples is multiplied by a ratio from the same buckets, so that the width of the buckets cancels. Marks add the
     * same to each sample.
     */
    private void percentile(TwoSides.Key key, Figure ofBrick, Kind kind, int percent, int fewest) {
        boolean isKnown = IntStream.range(0, runs.size())
                .allMatch(run -> sides.brick(run, key)
                                .latency()
                                .orElse(LatencyDistribution.EMPTY)
                                .count()
                        >= fewest);
        if (!isKnown) {
            return;
        }
        String obstacle = differences.obstacle(key);
        Statistic statistic = percent == P50 ? Statistic.P50 : percent == P90 ? Statistic.P90 : Statistic.P99;
        all.add(figure(kind, key.label() + ", " + statistic.displayName(), statistic, share(key), obstacle, run -> {
                    BrickStats brick = sides.brick(run, key);
                    LatencyDistribution latency = brick.latency().orElseThrow();
                    double recordedNs = TwoSides.ratio(brick.totalNs(), brick.count())
                            * (latency.interpolatedPercentileNs(percent) / latency.meanNs(0, 100));
                    return Math.max(0, recordedNs - TwoSides.ratio(sides.marksNs(run, key), brick.count()));
                })
                .of(ofBrick));
    }

    private void tiles() {
        for (TileLevel level : TileLevel.values()) {
            List<TileStats> tiles = runs.stream().map(run -> tile(run, level)).toList();
            if (tiles.stream().anyMatch(tile -> tile.count() > 0)) {
                String work = tiles.stream().allMatch(tile -> tile.count() > 0)
                        ? differences.workThatDiffers(
                                "number of elements in a tile",
                                run -> TwoSides.ratio(
                                        tiles.get(run).totalElements(),
                                        tiles.get(run).count()))
                        : "";
                String ofSteps = sides.announced() ? differences.stepWorkThatDiffers() : "";
                add(
                        Kind.TILE,
                        level.displayName(),
                        share(run -> tiles.get(run).totalNs()),
                        ofSteps.isEmpty() ? work : ofSteps,
                        run -> TwoSides.ratio(
                                tiles.get(run).totalNs(), tiles.get(run).count()));
            }
        }
    }

    private static TileStats tile(ProfileSnapshot run, TileLevel level) {
        return run.tiles().stream()
                .filter(tile -> tile.level() == level)
                .findFirst()
                .orElseGet(() -> TileStats.empty(level));
    }
}
