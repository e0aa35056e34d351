package org.brickprofiler.compare;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.IntToDoubleFunction;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.commons.statistics.descriptive.Median;
import org.brickprofiler.Bottleneck;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickStats;
import org.brickprofiler.CategoryStats;
import org.brickprofiler.Environment;
import org.brickprofiler.LatencyDistribution;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.RunFacts;
import org.brickprofiler.RunIdentity;
import org.brickprofiler.StepInfo;
import org.brickprofiler.StepStats;
import org.brickprofiler.compare.Comparison.Kind;
import org.brickprofiler.tile.TileLevel;
import org.brickprofiler.tile.TileStats;
import org.jspecify.annotations.Nullable;

/**
 * What there is to compare in two sets of runs: a figure of each run for everything, and what stands against comparing
 * it. Immutable; one thread.
 */
final class Figures {

    /** Work that differs by less is the same. */
    private static final double SAME_WORK = 0.01;

    /** Of the life of a virtual machine, what its collectors may take more or less on one side. */
    private static final double MOST_OTHER_GC_PERCENT = 2;

    /** The same of its compilers, whose share of a short run is large. */
    private static final double MOST_OTHER_JIT_PERCENT = 10;

    private static final int P90 = 90;
    private static final int P99 = 99;

    /** What takes longer, the longer the text is. */
    private static final Set<String> GROWING = Stream.of(
                    BrickId.ATTENTION_SCORE,
                    BrickId.ATTENTION_SOFTMAX,
                    BrickId.ATTENTION_OUTPUT,
                    BrickId.FUSED_ATTENTION)
            .map(BrickId::displayName)
            .collect(Collectors.toUnmodifiableSet());

    /** A brick is known by both: the same name in another category is another one. */
    private record Key(String name, BrickCategory category) {
        static Key of(BrickStats brick) {
            return new Key(brick.name(), brick.category());
        }
    }

    /** Something to compare. */
    static final class Figure {

        private final Kind kind;
        private final String name;
        private final double[] values;
        private final double[] steadyValues;
        private final String obstacle;
        private final double sharePercent;
        private final @Nullable Figure brick;

        private Figure(
                Kind kind,
                String name,
                double[] values,
                double[] steadyValues,
                String obstacle,
                double sharePercent,
                @Nullable Figure brick) {
            this.kind = kind;
            this.name = name;
            this.values = values;
            this.steadyValues = steadyValues;
            this.obstacle = obstacle;
            this.sharePercent = sharePercent;
            this.brick = brick;
        }

        /** The same, as a percentile of a brick. */
        private Figure of(Figure other) {
            return new Figure(kind, name, values, steadyValues, obstacle, sharePercent, other);
        }

        /** The figure of the brick that this is a percentile of; null if it is none. */
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

        /** Of each run, those of the first side first, in the unit of the kind; NaN where the run has none. */
        double[] values() {
            return values.clone();
        }

        /**
         * The values that the common part of a run is made of: of a brick with percentiles those of the middle half.
         */
        double[] steadyValues() {
            return steadyValues.clone();
        }

        boolean isComparable() {
            return obstacle.isEmpty();
        }

        /** Why it cannot be compared; empty where it can. */
        String obstacle() {
            return obstacle;
        }

        /** Of the brick time, %. */
        double sharePercent() {
            return sharePercent;
        }
    }

    private final List<ProfileSnapshot> runs;
    private final List<Run> named;
    private final int firstRuns;
    private final Comparison.Options options;
    private final List<Map<Key, BrickStats>> bricks;

    /** Whether the steps are those that every run announced. */
    private final boolean announced;

    /** The brick whose samples are the steps, where they were not announced. */
    private final Optional<Key> step;

    /**
     * For each brick what the mean of the middle half is of its mean in each run; 1 where that is not known of all
     * runs.
     */
    private final Map<Key, double[]> middleShares;

    /** For each brick what its figure in each run is of its mean there. */
    private final Map<Key, double[]> usualShares;

    private final String environments;
    private final List<Figure> all = new ArrayList<>();

    Figures(List<Run> before, List<Run> after, Comparison.Options options) {
        this.options = options;
        named = Stream.concat(before.stream(), after.stream()).toList();
        runs = named.stream().map(Run::snapshot).toList();
        firstRuns = before.size();
        bricks = runs.stream()
                .map(run -> run.bricks().stream().collect(Collectors.toMap(Key::of, Function.identity())))
                .toList();
        middleShares = bricks.stream()
                .flatMap(run -> run.keySet().stream())
                .distinct()
                .collect(Collectors.toMap(Function.identity(), this::middleShares));
        usualShares = middleShares.entrySet().stream()
                .collect(Collectors.toMap(Map.Entry::getKey, entry -> usualShares(entry.getValue())));
        announced = options.stepBrick().isEmpty()
                && runs.stream().allMatch(run -> run.steps().count() > 0);
        step = announced ? Optional.empty() : step();
        environments = options.acrossEnvironments() ? "" : String.join("; ", environmentsThatDiffer());
        whole();
        categories();
        bricks().forEach((key, brick) -> {
            tail(key, brick, Kind.BRICK_P90, P90, Comparison.FEWEST_FOR_P90);
            tail(key, brick, Kind.BRICK_P99, P99, Comparison.FEWEST_FOR_P99);
        });
        tiles();
    }

    List<Figure> all() {
        return all;
    }

    /**
     * How many ns more a brick takes in a step of the second side, all its samples together.
     *
     * @param brick its name
     * @param ns the difference of the trimmed means; below 0 if it takes less
     */
    record Move(String brick, double ns) {}

    /** The moves of all bricks, the largest first; empty where nothing is a step. */
    List<Move> moves() {
        return !hasSteps()
                ? List.of()
                : bricks.stream()
                        .flatMap(run -> run.keySet().stream())
                        .distinct()
                        .map(key -> new Move(
                                key.name(), moveNs(run -> ratio(brick(run, key).totalNs(), steps(run)))))
                        .sorted(Comparator.comparingDouble((Move move) -> Math.abs(move.ns()))
                                .reversed()
                                .thenComparing(Move::brick))
                        .toList();
    }

    /** The move of all bricks together, ns. */
    double moveOfTheWholeNs() {
        return moveNs(run -> ratio(runs.get(run).totalNs(), steps(run)));
    }

    private double moveNs(IntToDoubleFunction perStepNs) {
        double[] values = IntStream.range(0, runs.size()).mapToDouble(perStepNs).toArray();
        int trimmed = Trimmed.atEachEnd(firstRuns, values.length - firstRuns);
        return Trimmed.of(Arrays.copyOfRange(values, firstRuns, values.length), trimmed)
                        .mean()
                - Trimmed.of(Arrays.copyOf(values, firstRuns), trimmed).mean();
    }

    Optional<String> stepBrick() {
        return step.map(Key::name);
    }

    // ---- what a step is, and what differs around the bricks ----

    private Optional<Key> step() {
        List<Key> common =
                bricks.get(0).keySet().stream().filter(this::isInAllRuns).toList();
        if (options.stepBrick().isPresent()) {
            String name = options.stepBrick().get();
            return Optional.of(common.stream()
                    .filter(key -> key.name().equals(name))
                    .findFirst()
                    .orElseThrow(() -> new IllegalArgumentException("not every run has a brick '" + name + "'")));
        }
        ToDoubleFunction<Key> samples = key -> median(run -> brick(run, key).count());
        double most = common.stream().mapToDouble(samples).max().orElse(0);
        return common.stream()
                .filter(key -> samples.applyAsDouble(key) * Comparison.RAREST_STEP >= most)
                .min(Comparator.comparingDouble(samples)
                        .thenComparing(Key::name)
                        .thenComparing(Key::category));
    }

    private boolean isInAllRuns(Key key) {
        return IntStream.range(0, runs.size()).allMatch(run -> brick(run, key).count() > 0);
    }

    /** What a run recorded of a brick; without samples where it did not. */
    private BrickStats brick(int run, Key key) {
        BrickStats recorded = bricks.get(run).get(key);
        return recorded != null ? recorded : BrickStats.empty(key.name(), key.category(), Bottleneck.UNKNOWN);
    }

    /**
     * In each run, what the mean of the middle half of the samples is of the mean of all; 1 where not all runs have
     * percentiles. A ratio of two means of the same buckets: so their width is not in the figure.
     */
    private double[] middleShares(Key key) {
        double[] shares = IntStream.range(0, runs.size())
                .mapToObj(run -> brick(run, key).latency().orElse(LatencyDistribution.EMPTY))
                .mapToDouble(latency -> latency.meanNs(25, 75) / latency.meanNs(0, 100))
                .toArray();
        if (Arrays.stream(shares).anyMatch(share -> !(share > 0))) {
            Arrays.fill(shares, 1);
        }
        return shares;
    }

    /** The shares of the middle half where it stands for all samples; else 1. */
    private static double[] usualShares(double[] middleShares) {
        double[] shares = middleShares.clone();
        if (Median.withDefaults().withCopy(true).evaluate(shares) < Comparison.LEAST_USUAL_PERCENT / 100.0) {
            Arrays.fill(shares, 1);
        }
        return shares;
    }

    /** What all samples of a brick take, each being a usual one, ns. */
    private double usualNs(int run, Key key) {
        double[] shares = Objects.requireNonNull(usualShares.get(key), "a brick of no run");
        return brick(run, key).totalNs() * shares[run];
    }

    private double median(Function<Integer, Number> ofRun) {
        return median(ofRun, 0, runs.size());
    }

    private static double median(Function<Integer, Number> ofRun, int from, int to) {
        return Median.withDefaults()
                .evaluate(IntStream.range(from, to)
                        .mapToDouble(run -> ofRun.apply(run).doubleValue())
                        .toArray());
    }

    private boolean hasSteps() {
        return announced || step.isPresent();
    }

    private long steps(int run) {
        return step.isPresent()
                ? brick(run, step.get()).count()
                : runs.get(run).steps().count();
    }

    /** The announced steps of a phase; null of a run that had none. */
    private @Nullable StepStats phase(int run, StepInfo.Phase phase) {
        return runs.get(run).steps().phase(phase).orElse(null);
    }

    /** What an announced step of a phase does, of which a difference makes its time another one. */
    private String phaseWorkThatDiffers(StepInfo.Phase phase) {
        String name = phase.name().toLowerCase(Locale.ROOT);
        return Stream.of(
                        phaseWorkThatDiffers(phase, "number of sequences in a " + name + " step", StepStats::avgBatch),
                        phaseWorkThatDiffers(
                                phase,
                                "number of prompt tokens in a " + name + " step",
                                stats -> ratio(stats.prefillTokens(), stats.count())),
                        phaseWorkThatDiffers(phase, "KV length of a " + name + " step", StepStats::avgKvLength))
                .filter(difference -> !difference.isEmpty())
                .collect(Collectors.joining("; "));
    }

    private String phaseWorkThatDiffers(StepInfo.Phase phase, String what, ToDoubleFunction<StepStats> ofStats) {
        return workThatDiffers(what, run -> {
            StepStats stats = phase(run, phase);
            return stats == null ? 0.0 : ofStats.applyAsDouble(stats);
        });
    }

    private List<String> environmentsThatDiffer() {
        List<String> differing = new ArrayList<>();
        differing.addAll(differing("JVM", run -> each(run, Environment::jvm)));
        differing.addAll(differing(
                "machine",
                run -> each(
                        run, where -> where.cpu() + " (" + where.processors() + " processors, " + where.os() + ")")));
        Set<String> before = labels(run -> Integer.toString(run.threads()), 0, firstRuns);
        Set<String> after = labels(run -> Integer.toString(run.threads()), firstRuns, runs.size());
        if (before.stream().noneMatch(after::contains)) {
            differing.add(difference("number of threads", String.join(", ", before), String.join(", ", after)));
        }
        differing.addAll(differingWhereKnown("model", RunIdentity::model));
        differing.addAll(differingWhereKnown("precision", RunIdentity::precision));
        differing.addAll(differingWhereKnown("device", RunIdentity::device));
        differing.addAll(differingWhereKnown(
                "number of ranks",
                identity -> identity.worldSize().isPresent()
                        ? Optional.of(Integer.toString(identity.worldSize().getAsInt()))
                        : Optional.empty()));
        return differing;
    }

    private static String each(ProfileSnapshot run, Function<Environment, String> label) {
        return run.environments().stream().map(label).distinct().collect(Collectors.joining(" and "));
    }

    private List<String> differing(String what, Function<ProfileSnapshot, String> label) {
        Set<String> before = labels(label, 0, firstRuns);
        Set<String> after = labels(label, firstRuns, runs.size());
        return before.equals(after)
                ? List.of()
                : List.of(difference(what, String.join(", ", before), String.join(", ", after)));
    }

    /** What differs of what the application names; not where one of the runs names nothing. */
    private List<String> differingWhereKnown(String what, Function<RunIdentity, Optional<String>> name) {
        boolean known = runs.stream().allMatch(run -> name.apply(run.identity()).isPresent());
        return known ? differing(what, run -> name.apply(run.identity()).orElseThrow()) : List.of();
    }

    private Set<String> labels(Function<ProfileSnapshot, String> label, int from, int to) {
        return runs.subList(from, to).stream().map(label).collect(Collectors.toCollection(TreeSet::new));
    }

    private static String difference(String what, String before, String after) {
        return "other " + what + ": " + before + " before, " + after + " after";
    }

    /** What the two sides did per something, where that differs. */
    private String workThatDiffers(String what, Function<Integer, Number> ofRun) {
        double before = median(ofRun, 0, firstRuns);
        double after = median(ofRun, firstRuns, runs.size());
        return same(before, after, SAME_WORK) ? "" : difference(what, number(before), number(after));
    }

    private static boolean same(double one, double two, double within) {
        return Math.abs(one - two) <= within * Math.max(Math.abs(one), Math.abs(two));
    }

    private static String number(double value) {
        return value == Math.rint(value)
                ? String.format(Locale.ROOT, "%,.0f", value)
                : String.format(Locale.ROOT, "%,.2f", value);
    }

    /** Whether the sides went so far apart in their texts that bricks that grow with it differ. */
    private String otherLength() {
        if (announced) {
            return phaseWorkThatDiffers(StepInfo.Phase.DECODE, "KV length of a decode step", StepStats::avgKvLength);
        }
        if (step.isEmpty()) {
            return "";
        }
        double before = median(this::steps, 0, firstRuns);
        double after = median(this::steps, firstRuns, runs.size());
        return same(before, after, Math.max(SAME_WORK, options.floorPercent() / 100))
                ? ""
                : difference("number of steps, and so other KV length", number(before), number(after));
    }

    /**
     * What to know of the runs as a whole.
     *
     * @return one sentence each, most important first
     */
    List<String> remarks() {
        List<String> remarks = new ArrayList<>();
        if (!environments.isEmpty()) {
            remarks.add("The sides are not comparable: " + environments + ".");
        } else if (options.acrossEnvironments()) {
            environmentsThatDiffer().forEach(each -> remarks.add("Compared although it differs: " + each + "."));
        }
        String length = otherLength();
        if (!length.isEmpty()) {
            remarks.add("The sides had " + length
                    + "; the whole holds that difference. Give all runs the same number of " + "tokens.");
        }
        if (!hasSteps()) {
            remarks.add("No brick is in all runs and marks a step, so the whole is not compared.");
        }
        if (firstRuns > 1 && runs.size() - firstRuns > 1 && sidesDidNotTakeTurns()) {
            remarks.add(
                    "All runs of one side were before those of the other: what the machine did meanwhile counts as a "
                            + "difference. Let the sides take turns, as brick run does.");
        }
        otherShare("Garbage collection", RunFacts.VirtualMachine::gcPercent, MOST_OTHER_GC_PERCENT)
                .ifPresent(remarks::add);
        otherShare("Compilation", RunFacts.VirtualMachine::jitPercent, MOST_OTHER_JIT_PERCENT)
                .ifPresent(remarks::add);
        return remarks;
    }

    /** Says that the virtual machines of one side had more of something to do than those of the other. */
    private Optional<String> otherShare(String what, ToDoubleFunction<RunFacts.VirtualMachine> percent, double most) {
        if (runs.stream().anyMatch(run -> run.facts().virtualMachines().isEmpty())) {
            return Optional.empty();
        }
        Function<Integer, Number> ofRun = run -> runs.get(run).facts().virtualMachines().stream()
                .mapToDouble(percent)
                .max()
                .orElseThrow();
        double before = median(ofRun, 0, firstRuns);
        double after = median(ofRun, firstRuns, runs.size());
        return Math.abs(after - before) < most
                ? Optional.empty()
                : Optional.of(String.format(
                        Locale.ROOT,
                        "%s took %.1f %% of the life of the virtual machines before, and %.1f %% after: part of a change "
                                + "may be that.",
                        what,
                        before,
                        after));
    }

    private boolean sidesDidNotTakeTurns() {
        List<ProfileSnapshot> before = runs.subList(0, firstRuns);
        List<ProfileSnapshot> after = runs.subList(firstRuns, runs.size());
        return isBefore(before, after) || isBefore(after, before);
    }

    private static boolean isBefore(List<ProfileSnapshot> one, List<ProfileSnapshot> other) {
        return one.stream().allMatch(first -> other.stream()
                .allMatch(second -> first.endedAt().isBefore(second.startedAt())));
    }

    // ---- the figures ----

    private void add(Kind kind, String name, double sharePercent, String obstacle, Function<Integer, Number> ofRun) {
        all.add(figure(kind, name, sharePercent, obstacle, ofRun));
    }

    private Figure figure(
            Kind kind, String name, double sharePercent, String obstacle, Function<Integer, Number> ofRun) {
        return figure(kind, name, sharePercent, obstacle, ofRun, ofRun);
    }

    private Figure figure(
            Kind kind,
            String name,
            double sharePercent,
            String obstacle,
            Function<Integer, Number> ofRun,
            Function<Integer, Number> steady) {
        double[] recorded = values(ofRun);
        double[] values = Arrays.stream(recorded)
                .map(value -> value > 0 ? value : Double.NaN)
                .toArray();
        return new Figure(kind, name, values, values(steady), obstacle(recorded, obstacle), sharePercent, null);
    }

    private double[] values(Function<Integer, Number> ofRun) {
        return IntStream.range(0, runs.size())
                .mapToDouble(run -> ofRun.apply(run).doubleValue())
                .toArray();
    }

    /** Of values of which 0 was recorded without any time, and NaN was not recorded. */
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
            return Stream.of(environments, own).filter(each -> !each.isEmpty()).collect(Collectors.joining("; "));
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
        if (announced) {
            announcedSteps();
        } else if (step.isPresent()) {
            stepsOf(step.get());
        }
    }

    /** Other shares of prompts among the announced steps: samples of prompts are longer than others. */
    private String phaseMixThatDiffers() {
        return Arrays.stream(StepInfo.Phase.values())
                .map(phase -> workThatDiffers(
                        "share of steps that are " + phase.name().toLowerCase(Locale.ROOT), run -> {
                            StepStats stats = phase(run, phase);
                            return stats == null ? 0.0 : ratio(stats.count(), steps(run));
                        }))
                .filter(difference -> !difference.isEmpty())
                .collect(Collectors.joining("; "));
    }

    private void announcedSteps() {
        String mix = phaseMixThatDiffers();
        add(
                Kind.TOTAL,
                "brick time of a step",
                100,
                mix,
                run -> ratio(runs.get(run).totalNs(), steps(run)));
        for (StepInfo.Phase phase : StepInfo.Phase.values()) {
            boolean anywhere =
                    runs.stream().anyMatch(run -> run.steps().phase(phase).isPresent());
            if (anywhere) {
                String name = "wall time of a " + phase.name().toLowerCase(Locale.ROOT) + " step";
                add(Kind.STEP, name, 100, phaseWorkThatDiffers(phase), run -> {
                    StepStats stats = phase(run, phase);
                    return stats == null ? Double.NaN : stats.avgNs();
                });
            }
        }
        if (runs.stream().allMatch(run -> run.steps().timeToFirstTokenNs() > 0)) {
            String prompts = workThatDiffers(
                    "number of prompt tokens before a first token",
                    run -> ratio(
                            runs.get(run)
                                    .steps()
                                    .phase(StepInfo.Phase.PREFILL)
                                    .map(StepStats::prefillTokens)
                                    .orElse(0L),
                            runs.get(run).steps().timeToFirstToken().count()));
            add(
                    Kind.STEP,
                    "time to first token",
                    100,
                    prompts,
                    run -> ratio(
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
                            * ratio(outputTokens(runs.get(run)), runs.get(run).wallNs()));
        }
    }

    private void stepsOf(Key brick) {
        String batch = workThatDiffers("number of elements in a step", run -> elementsPerSample(brick(run, brick)));
        add(
                Kind.TOTAL,
                "brick time of a step",
                100,
                batch,
                run -> ratio(runs.get(run).totalNs(), steps(run)));
        if (runs.stream().allMatch(run -> run.wallNs() > 0)) {
            add(
                    Kind.STEP,
                    "wall time of a step",
                    100,
                    batch,
                    run -> ratio(runs.get(run).wallNs(), steps(run)));
        }
        if (!addMeasuredRate()
                && runs.stream().allMatch(run -> run.wallNs() > 0)
                && IntStream.range(0, runs.size())
                        .allMatch(run -> brick(run, brick).totalElements() > 0)) {
            add(
                    Kind.TOKENS_PER_SEC,
                    "tokens/s, profiled",
                    100,
                    batch,
                    run -> brick(run, brick).totalElements()
                            * 1e9
                            / runs.get(run).wallNs());
        }
    }

    private static long outputTokens(ProfileSnapshot run) {
        return run.steps().phases().stream().mapToLong(StepStats::outputTokens).sum();
    }

    /** Adds what the application or its runner measured itself, where all runs have it. */
    private boolean addMeasuredRate() {
        return addRate("tokens/s", run -> named.get(run).tokensPerSec())
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

    private static double ratio(long sum, long count) {
        return count == 0 ? Double.NaN : (double) sum / count;
    }

    private static double elementsPerSample(BrickStats brick) {
        return ratio(brick.totalElements(), brick.count());
    }

    private void categories() {
        if (!hasSteps()) {
            return;
        }
        List<Figure> found = new ArrayList<>();
        for (BrickCategory category : BrickCategory.values()) {
            ToLongFunction<ProfileSnapshot> totalNs = run ->
                    run.categories().getOrDefault(category, CategoryStats.EMPTY).totalNs();
            if (runs.stream().anyMatch(run -> totalNs.applyAsLong(run) > 0)) {
                found.add(figure(
                        Kind.CATEGORY,
                        category.displayName(),
                        share(totalNs),
                        "",
                        run -> usualNs(run, category) / steps(run)));
            }
        }
        addLargestFirst(found);
    }

    private double usualNs(int run, BrickCategory category) {
        double sum = bricks.get(run).keySet().stream()
                .filter(key -> key.category() == category)
                .mapToDouble(key -> usualNs(run, key))
                .sum();
        return sum > 0 ? sum : Double.NaN;
    }

    private void addLargestFirst(List<Figure> found) {
        found.sort(Comparator.comparingDouble(Figure::sharePercent).reversed().thenComparing(Figure::name));
        all.addAll(found);
    }

    /** The share of the first side's brick time, or of the second's where the first has none, %. */
    private double share(ToLongFunction<ProfileSnapshot> part) {
        double before = share(part, runs.subList(0, firstRuns));
        return before > 0 ? before : share(part, runs.subList(firstRuns, runs.size()));
    }

    private static double share(ToLongFunction<ProfileSnapshot> part, List<ProfileSnapshot> side) {
        long whole = side.stream().mapToLong(ProfileSnapshot::totalNs).sum();
        return whole == 0 ? 0 : 100.0 * side.stream().mapToLong(part).sum() / whole;
    }

    /** Adds a figure of each brick, and returns them in their order. */
    private Map<Key, Figure> bricks() {
        Set<Key> keys = bricks.stream().flatMap(run -> run.keySet().stream()).collect(Collectors.toSet());
        List<Key> sorted = keys.stream()
                .sorted(Comparator.comparingDouble((Key key) -> share(key))
                        .reversed()
                        .thenComparing(Key::name)
                        .thenComparing(Key::category))
                .toList();
        Map<Key, Figure> found = new LinkedHashMap<>();
        for (Key key : sorted) {
            double[] middle = Objects.requireNonNull(middleShares.get(key), "a brick of no run");
            found.put(
                    key,
                    figure(
                            Kind.BRICK,
                            key.name(),
                            share(key),
                            obstacle(key),
                            run -> usualNs(run, key) / brick(run, key).count(),
                            run -> brick(run, key).totalNs()
                                    * middle[run]
                                    / brick(run, key).count()));
        }
        all.addAll(found.values());
        return found;
    }

    private double share(Key key) {
        return share(run -> run.bricks().stream()
                .filter(brick -> Key.of(brick).equals(key))
                .mapToLong(BrickStats::totalNs)
                .sum());
    }

    /**
     * Adds a percentile of a brick where all runs have enough samples for it. As for the middle half, the mean of all
     * samples is multiplied by a ratio of the same buckets, so that their width is not in the figure.
     */
    private void tail(Key key, Figure ofBrick, Kind kind, int percent, int fewest) {
        boolean isKnown = IntStream.range(0, runs.size())
                .allMatch(run -> brick(run, key)
                                .latency()
                                .orElse(LatencyDistribution.EMPTY)
                                .count()
                        >= fewest);
        if (!isKnown) {
            return;
        }
        String obstacle = Stream.of(obstacle(key), announced ? phaseMixThatDiffers() : "")
                .filter(reason -> !reason.isEmpty())
                .collect(Collectors.joining("; "));
        all.add(figure(kind, key.name() + ", p" + percent, share(key), obstacle, run -> {
                    BrickStats brick = brick(run, key);
                    LatencyDistribution latency = brick.latency().orElseThrow();
                    return ratio(brick.totalNs(), brick.count())
                            * (latency.interpolatedPercentileNs(percent) / latency.meanNs(0, 100));
                })
                .of(ofBrick));
    }

    private String obstacle(Key key) {
        if (!isInAllRuns(key)) {
            return "";
        }
        List<String> reasons = new ArrayList<>();
        reasons.add(workThatDiffers("number of elements in a sample", run -> elementsPerSample(brick(run, key))));
        if (hasSteps()) {
            reasons.add(workThatDiffers(
                    "number of samples in a step", run -> ratio(brick(run, key).count(), steps(run))));
        }
        if (GROWING.contains(key.name())) {
            reasons.add(otherLength());
        }
        return reasons.stream().filter(reason -> !reason.isEmpty()).collect(Collectors.joining("; "));
    }

    private void tiles() {
        for (TileLevel level : TileLevel.values()) {
            List<TileStats> tiles = runs.stream().map(run -> tile(run, level)).toList();
            if (tiles.stream().anyMatch(tile -> tile.count() > 0)) {
                String work = tiles.stream().allMatch(tile -> tile.count() > 0)
                        ? workThatDiffers(
                                "number of elements in a tile",
                                run -> ratio(
                                        tiles.get(run).totalElements(),
                                        tiles.get(run).count()))
                        : "";
                add(
                        Kind.TILE,
                        level.displayName(),
                        share(run -> tile(run, level).totalNs()),
                        work,
                        run -> ratio(tiles.get(run).totalNs(), tiles.get(run).count()));
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
