package org.brickprofiler.compare;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BinaryOperator;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickStats;
import org.brickprofiler.DeviceTime;
import org.brickprofiler.Environment;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.RunFacts;
import org.brickprofiler.RunIdentity;
import org.brickprofiler.StepInfo;
import org.brickprofiler.StepStats;
import org.brickprofiler.internal.base.Plural;
import org.brickprofiler.internal.base.Sums;
import org.brickprofiler.request.RequestStats;

/**
 * The differences between two sides that prevent a comparison of their times, or that a reader must know: different
 * work, different environments, the order of the runs. Immutable; one thread.
 */
final class Differences {

    /** The relative difference up to which amounts of work count as equal. */
    private static final double SAME_WORK = 0.01;

    /**
     * The relative difference up to which arrival rates count as equal. A faster engine ends a run earlier, and so
     * raises its rate.
     */
    private static final double SAME_RATE = 0.1;

    /** Shares of samples that were timed in one way may differ by this part without a remark. */
    private static final double SAME_TIMING = 0.2;

    /** The largest share of missing measurements with which a brick is compared, %. */
    private static final double MOST_MISSING_PERCENT = 1;

    private static final double NS_PER_S = 1e9;

    /**
     * The difference between the sides in the share of garbage collection from which a remark is made, in % of a
     * virtual machine's life.
     */
    private static final double MOST_OTHER_GC_PERCENT = 2;

    /** The same limit for compilation, whose share of a short run is large. */
    private static final double MOST_OTHER_JIT_PERCENT = 10;

    /** The bricks whose time grows with the KV length. */
    private static final Set<String> GROWING = Stream.of(
                    BrickId.ATTENTION_SCORE,
                    BrickId.ATTENTION_SOFTMAX,
                    BrickId.ATTENTION_OUTPUT,
                    BrickId.FUSED_ATTENTION)
            .map(BrickId::displayName)
            .collect(Collectors.toUnmodifiableSet());

    private final TwoSides sides;
    private final List<ProfileSnapshot> runs;
    private final int firstRuns;
    private final RunComparison.Options options;
    private final boolean announced;
    private final String environments;

    Differences(TwoSides sides, RunComparison.Options options) {
        this.sides = sides;
        this.options = options;
        runs = sides.runs();
        firstRuns = sides.firstRuns();
        announced = sides.announced();
        environments = options.acrossEnvironments() ? "" : String.join("; ", environmentsThatDiffer());
    }

    /** Returns the differences between the environments, unless the sides are compared in spite of them. */
    String environments() {
        return environments;
    }

    /** Returns the differences in the work of an announced step of a phase; they change the time of the step. */
    String phaseWorkThatDiffers(StepInfo.Phase phase) {
        return joined(Stream.of(tokensThatDiffer(phase), lengthThatDiffers(phase)));
    }

    private String lengthThatDiffers(StepInfo.Phase phase) {
        String name = phase.displayName();
        return phaseWorkThatDiffers(phase, "KV length of a " + name + " step", StepStats::avgKvLength);
    }

    private String tokensThatDiffer(StepInfo.Phase phase) {
        String name = phase.displayName();
        return joined(Stream.of(
                phaseWorkThatDiffers(phase, "number of sequences in a " + name + " step", StepStats::avgBatch),
                phaseWorkThatDiffers(
                        phase,
                        "number of prompt tokens in a " + name + " step",
                        stats -> TwoSides.ratio(stats.prefillTokens(), stats.count()))));
    }

    private static String joined(Stream<String> reasons) {
        return reasons.filter(reason -> !reason.isEmpty()).distinct().collect(Collectors.joining("; "));
    }

    /**
     * Returns the differences in the work of a step that change the time of most bricks: in the mix of phases, or else
     * in the sequences and prompt tokens of a step. If a brick marks the steps, its elements are the work of a step.
     */
    String stepWorkThatDiffers() {
        if (announced) {
            String mix = phaseMixThatDiffers();
            return mix.isEmpty() ? joined(Arrays.stream(StepInfo.Phase.values()).map(this::tokensThatDiffer)) : mix;
        }
        return sides.stepBrick()
                .map(step -> joined(Stream.of(
                        missing(step),
                        workThatDiffers(
                                "number of elements in a step", run -> elementsPerSample(sides.brick(run, step))))))
                .orElse("");
    }

    /** Returns the reasons for which the brick time of a step cannot be compared; empty if there are none. */
    String brickTimeThatDiffers() {
        return joined(Stream.of(stepWorkThatDiffers(), missing(key -> true)));
    }

    private String missing(TwoSides.Key key) {
        // It is unknown how many of the missing samples have no phase, so those of all phases count for them.
        return missing(other -> other.name().equals(key.name())
                && other.category() == key.category()
                && (other.part() == key.part() || key.part() == TwoSides.Part.NO_PHASE));
    }

    /**
     * Returns the number of runs of each side in which measurements are missing from bricks, because their times are
     * unknown; empty if there is no such run.
     */
    private String missing(Predicate<TwoSides.Key> of) {
        long before = lacking(0, firstRuns, of);
        long after = lacking(firstRuns, runs.size(), of);
        return before + after == 0
                ? ""
                : "measurements missing in " + Plural.of(before, "run") + " before, " + after + " after";
    }

    private long lacking(int from, int to, Predicate<TwoSides.Key> of) {
        return IntStream.range(from, to)
                .filter(run -> runs.get(run).droppedPending() > 0
                        || sides.bricks().get(run).entrySet().stream()
                                .anyMatch(brick -> of.test(brick.getKey())
                                        && missingPercent(brick.getValue()) > MOST_MISSING_PERCENT))
                .count();
    }

    private static double missingPercent(BrickStats brick) {
        long unresolved = brick.device().unresolved();
        return unresolved == 0 ? 0 : 100.0 * unresolved / ((double) brick.count() + unresolved);
    }

    /** Returns a remark if bricks are not compared because runs lack measurements. */
    private Optional<String> missing() {
        String where = missing(key -> true);
        if (where.isEmpty()) {
            return Optional.empty();
        }
        Map<String, Double> most = new TreeMap<>();
        sides.bricks()
                .forEach(run -> run.forEach((key, brick) -> most.merge(key.name(), missingPercent(brick), Math::max)));
        String bricks = most.entrySet().stream()
                .filter(brick -> brick.getValue() > MOST_MISSING_PERCENT)
                .sorted(Map.Entry.<String, Double>comparingByValue().reversed())
                .map(brick -> String.format(Locale.ROOT, "up to %.1f %% of %s", brick.getValue(), brick.getKey()))
                .collect(Collectors.joining(", "));
        long dropped = runs.stream().mapToLong(ProfileSnapshot::droppedPending).reduce(0, Sums::limited);
        return Optional.of("Measurements without a known time are missing, "
                + where.replace("measurements missing ", "") + ": "
                + Stream.of(
                                bricks,
                                dropped == 0
                                        ? ""
                                        : String.format(Locale.ROOT, "%,d that were dropped, of any brick", dropped))
                        .filter(each -> !each.isEmpty())
                        .collect(Collectors.joining(", "))
                + ". Quantities that lack them are not compared.");
    }

    private String phaseWorkThatDiffers(StepInfo.Phase phase, String what, ToDoubleFunction<StepStats> ofStats) {
        return workThatDiffers(what, run -> {
            StepStats stats = sides.phase(run, phase);
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

    /** Returns a difference between names that the application gave; empty if one of the runs has no name. */
    private List<String> differingWhereKnown(String what, Function<RunIdentity, Optional<String>> name) {
        boolean known = runs.stream().allMatch(run -> name.apply(run.identity()).isPresent());
        return known ? differing(what, run -> name.apply(run.identity()).orElseThrow()) : List.of();
    }

    private Set<String> labels(Function<ProfileSnapshot, String> label, int from, int to) {
        return runs.subList(from, to).stream().map(label).collect(Collectors.toCollection(TreeSet::new));
    }

    private static String difference(String what, String before, String after) {
        return "different " + what + ": " + before + " before, " + after + " after";
    }

    /** Returns the work per unit of both sides, if it differs. */
    String workThatDiffers(String what, Function<Integer, Number> ofRun) {
        double before = sides.medianBefore(ofRun);
        double after = sides.medianAfter(ofRun);
        return same(before, after, SAME_WORK) ? "" : difference(what, number(before), number(after));
    }

    private static boolean same(double one, double two, double within) {
        return Math.abs(one - two) <= within * Math.max(Math.abs(one), Math.abs(two));
    }

    private static String number(double value) {
        return value == Math.rint(value)
                ? String.format(Locale.ROOT, "%,.0f", value)
                : String.format(Locale.ROOT, Math.abs(value) < 1 ? "%.4f" : "%,.2f", value);
    }

    /** Returns the differences in the requests that finished; they change the latencies of requests. */
    String requestsThatDiffer() {
        return joined(Stream.of(
                tokensThatDiffer("number of prompt tokens of a request", RequestStats.Tokens::prompt),
                tokensThatDiffer("number of cached tokens of a request", RequestStats.Tokens::cached),
                tokensThatDiffer("number of output tokens of a request", RequestStats.Tokens::output)));
    }

    /** Returns the differences in the requests that finished, and in the moments from which their time counts. */
    String firstTokensThatDiffer() {
        String before = countedFrom(runs.subList(0, sides.firstRuns()));
        String after = countedFrom(runs.subList(sides.firstRuns(), runs.size()));
        boolean areKnown = !before.isEmpty() && !after.isEmpty();
        return joined(Stream.of(
                requestsThatDiffer(),
                areKnown && !before.equals(after)
                        ? difference("moment from which requests count", before, after)
                        : ""));
    }

    /** Returns the moments from which the requests of some runs count; empty if they are not known. */
    private static String countedFrom(List<ProfileSnapshot> runs) {
        return runs.stream()
                .flatMap(run -> run.requests().countedFrom().stream())
                .distinct()
                .sorted()
                .collect(Collectors.joining(", "));
    }

    private String tokensThatDiffer(String what, ToLongFunction<RequestStats.Tokens> tokens) {
        return workThatDiffers(what, run -> {
            RequestStats requests = runs.get(run).requests();
            long finished = requests.counts().allFinished();
            return finished == 0 ? 0.0 : TwoSides.ratio(tokens.applyAsLong(requests.tokens()), finished);
        });
    }

    /** Returns a remark if requests arrived at another rate: their latencies depend on it. */
    private Optional<String> otherRate() {
        if (runs.stream().anyMatch(run -> run.requests().counts().arrived() == 0 || run.wallNs() == 0)) {
            return Optional.empty();
        }
        Function<Integer, Number> perSecond = run -> NS_PER_S
                * runs.get(run).requests().counts().arrived()
                / runs.get(run).wallNs();
        return ifApart(
                perSecond,
                SAME_RATE,
                (before, after) -> "Requests arrived at " + before + "/s before, and at " + after
                        + "/s after: their latencies depend on that.");
    }

    /** Returns a remark if a device timed other samples: the host's time of device work is that of its launch. */
    private Optional<String> otherClock() {
        Function<Integer, Number> onDevice = run -> 100
                * TwoSides.ratio(
                        sum(run, DeviceTime::measured) + sum(run, DeviceTime::unmarked),
                        Math.max(1, runs.get(run).samples()));
        return ifApart(
                onDevice,
                SAME_TIMING,
                (before, after) -> "A device timed " + before + " % of the samples before, and " + after
                        + " % after: the host timed the others, of work on a device only its launch.");
    }

    /** Returns a remark if another share of the samples of a device had marks: these take time of the device. */
    private Optional<String> otherMarks() {
        Function<Integer, Number> marked = run -> 100
                * TwoSides.ratio(
                        sum(run, DeviceTime::measured),
                        Math.max(1, sum(run, DeviceTime::measured) + sum(run, DeviceTime::unmarked)));
        return ifApart(
                marked,
                SAME_TIMING,
                (before, after) -> "Of the samples of devices, " + before + " % had marks before, and "
                        + after + " % after: marks take time of the device and of bricks around them, so part"
                        + " of a change may be due to that.");
    }

    /** Returns a remark on a figure of the runs, if its medians of both sides differ by more than a part. */
    private Optional<String> ifApart(
            Function<Integer, Number> figure, double part, BinaryOperator<String> beforeAndAfter) {
        double before = sides.medianBefore(figure);
        double after = sides.medianAfter(figure);
        return same(before, after, part)
                ? Optional.empty()
                : Optional.of(beforeAndAfter.apply(number(before), number(after)));
    }

    private long sum(int run, ToLongFunction<DeviceTime> samples) {
        return runs.get(run).bricks().stream()
                .mapToLong(brick -> samples.applyAsLong(brick.device()))
                .sum();
    }

    /** Returns the difference in KV length, if it is large enough to change the time of bricks that grow with it. */
    private String otherLength() {
        if (announced) {
            return joined(Arrays.stream(StepInfo.Phase.values()).map(this::lengthThatDiffers));
        }
        if (sides.stepBrick().isEmpty()) {
            return "";
        }
        double before = sides.medianBefore(sides::steps);
        double after = sides.medianAfter(sides::steps);
        return same(before, after, Math.max(SAME_WORK, options.floorPercent() / 100))
                ? ""
                : difference("number of steps, and so a different KV length", number(before), number(after));
    }

    /**
     * Returns remarks on the runs as a whole.
     *
     * @return one sentence each, most important first
     */
    List<String> remarks() {
        List<String> remarks = new ArrayList<>();
        if (!environments.isEmpty()) {
            remarks.add("The sides are not comparable: " + environments + ".");
        } else if (options.acrossEnvironments()) {
            environmentsThatDiffer().forEach(each -> remarks.add("Compared despite a " + each + "."));
        }
        if (runs.stream().anyMatch(ProfileSnapshot::isEstimated)) {
            remarks.add(
                    "Times are estimates where one brick in several had marks: each run's error of sampling is in the"
                            + " spread of the runs, so compare several runs of each side.");
        }
        otherClock().or(this::otherMarks).ifPresent(remarks::add);
        remarks.addAll(sides.remarksOnMarks());
        String work = announced ? stepWorkThatDiffers() : "";
        if (!work.isEmpty()) {
            remarks.add("The sides had a " + work
                    + (sides.byPhase()
                            ? ": brick times of steps, categories, tiles, and samples without a phase are not"
                                    + " compared, and bricks only within the phases that had the same work. "
                            : ": brick times, of steps, categories, bricks and tiles, are not compared. ")
                    + "Give all runs the same prompts and the same number of tokens.");
        }
        missing().ifPresent(remarks::add);
        remarks.addAll(sides.remarksOnPhases());
        String length = otherLength();
        if (!length.isEmpty()) {
            remarks.add("The sides had a " + length
                    + "; the whole includes that difference. Give all runs the same number of " + "tokens.");
        }
        otherRate().ifPresent(remarks::add);
        if (!sides.hasSteps()) {
            remarks.add("No brick is in all runs and marks a step, so the whole is not compared.");
        }
        if (firstRuns > 1 && runs.size() - firstRuns > 1 && sidesDidNotTakeTurns()) {
            remarks.add(
                    "All runs of one side preceded those of the other, so a change of the machine in between counts as"
                            + " a difference. Let the sides take turns, as brick run does.");
        }
        otherShare("Garbage collection", RunFacts.VirtualMachine::gcPercent, MOST_OTHER_GC_PERCENT)
                .ifPresent(remarks::add);
        otherShare("Compilation", RunFacts.VirtualMachine::jitPercent, MOST_OTHER_JIT_PERCENT)
                .ifPresent(remarks::add);
        return remarks;
    }

    /** Returns a remark if the virtual machines of one side spent a much larger share of their life on an activity. */
    private Optional<String> otherShare(String what, ToDoubleFunction<RunFacts.VirtualMachine> percent, double most) {
        if (runs.stream().anyMatch(run -> run.facts().virtualMachines().isEmpty())) {
            return Optional.empty();
        }
        Function<Integer, Number> ofRun = run -> runs.get(run).facts().virtualMachines().stream()
                .mapToDouble(percent)
                .max()
                .orElseThrow();
        double before = sides.medianBefore(ofRun);
        double after = sides.medianAfter(ofRun);
        return Math.abs(after - before) < most
                ? Optional.empty()
                : Optional.of(String.format(
                        Locale.ROOT,
                        "%s took %.1f %% of the life of the virtual machines before, and %.1f %% after: part of a"
                                + " change may be due to that.",
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

    /** Returns the difference in the mix of phases: a prefill step takes longer than a decode step. */
    String phaseMixThatDiffers() {
        return Arrays.stream(StepInfo.Phase.values())
                .map(phase -> workThatDiffers("share of steps that are " + phase.displayName(), run -> {
                    StepStats stats = sides.phase(run, phase);
                    return stats == null ? 0.0 : TwoSides.ratio(stats.count(), sides.steps(run));
                }))
                .filter(difference -> !difference.isEmpty())
                .collect(Collectors.joining("; "));
    }

    /** Returns the reasons for which the samples of a brick cannot be compared; empty if there are none. */
    String obstacle(TwoSides.Key key) {
        if (!sides.isInAllRuns(key)) {
            return "";
        }
        String elements =
                workThatDiffers("number of elements in a sample", run -> elementsPerSample(sides.brick(run, key)));
        Optional<StepInfo.Phase> phase = key.part().phase();
        if (phase.isPresent()) {
            return joined(Stream.of(Stream.of(missing(key)), obstacles(key, phase.get()).stream(), Stream.of(elements))
                    .flatMap(reasons -> reasons));
        }
        List<String> reasons = new ArrayList<>();
        reasons.add(missing(key));
        if (announced) {
            // The samples of a brick are from steps of all phases, and its elements need not show another mix.
            reasons.add(stepWorkThatDiffers());
        }
        reasons.add(elements);
        if (sides.hasSteps()) {
            reasons.add(workThatDiffers(
                    "number of samples in a step",
                    run -> TwoSides.ratio(sides.brick(run, key).count(), sides.steps(run))));
        }
        if (GROWING.contains(key.name())) {
            reasons.add(otherLength());
        }
        return joined(reasons.stream());
    }

    /** Returns the reasons in the steps of a phase for which samples of a brick in this phase cannot be compared. */
    private List<String> obstacles(TwoSides.Key key, StepInfo.Phase phase) {
        String name = phase.displayName();
        if (IntStream.range(0, runs.size()).anyMatch(run -> sides.phaseSteps(run, phase) == 0)) {
            return List.of("no complete " + name + " step in some runs");
        }
        return List.of(
                tokensThatDiffer(phase),
                workThatDiffers(
                        "number of samples in a " + name + " step",
                        run -> TwoSides.ratio(sides.brick(run, key).count(), sides.phaseSteps(run, phase))),
                GROWING.contains(key.name()) ? lengthThatDiffers(phase) : "");
    }

    /** Returns the reasons for which the time of a category in a step cannot be compared; empty if there are none. */
    String obstacle(BrickCategory category) {
        boolean isGrowing = sides.bricks().stream()
                .flatMap(run -> run.keySet().stream())
                .anyMatch(key -> key.category() == category && GROWING.contains(key.name()));
        return joined(Stream.of(
                stepWorkThatDiffers(), missing(key -> key.category() == category), isGrowing ? otherLength() : ""));
    }

    /** Returns the elements of a sample, on average; NaN without samples. */
    static double elementsPerSample(BrickStats brick) {
        return TwoSides.ratio(brick.totalElements(), brick.count());
    }
}
