package org.brickprofiler.compare;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.commons.statistics.descriptive.Median;
import org.brickprofiler.Bottleneck;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.BrickStats;
import org.brickprofiler.DeviceTime;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.StepInfo;
import org.brickprofiler.StepStats;
import org.brickprofiler.internal.base.Sums;
import org.brickprofiler.stats.LatencyDistribution;
import org.jspecify.annotations.Nullable;

/**
 * The runs of both sides of a comparison: the bricks of each run, and the steps that all runs have. Immutable; one
 * thread.
 */
final class TwoSides {

    /** The least share of a side's brick time, %, from which the bricks of a phase are compared. */
    static final double LEAST_PERCENT_OF_PHASE = 1;

    /** A part of the samples of a brick. */
    enum Part {
        /** All samples. */
        ALL(null, ""),
        /** The samples that belong to PREFILL steps. */
        PREFILL(StepInfo.Phase.PREFILL, ", prefill"),
        /** The samples that belong to DECODE steps. */
        DECODE(StepInfo.Phase.DECODE, ", decode"),
        /** The samples that belong to MIXED steps. */
        MIXED(StepInfo.Phase.MIXED, ", mixed"),
        /** The samples without a phase, in runs that have phases. */
        NO_PHASE(null, ", no phase");

        private static final List<Part> OF_PHASES = List.of(PREFILL, DECODE, MIXED);

        private final Optional<StepInfo.Phase> phase;
        private final String suffix;

        Part(StepInfo.@Nullable Phase phase, String suffix) {
            this.phase = Optional.ofNullable(phase);
            this.suffix = suffix;
        }

        /** Returns the phase; empty for all samples, and for those without a phase. */
        Optional<StepInfo.Phase> phase() {
            return phase;
        }

        /** Returns the number of this part; this method alone reads the ordinal. */
        @SuppressWarnings("EnumOrdinal") // this method wraps the ordinal
        int index() {
            return ordinal();
        }

        private List<BrickStats> of(ProfileSnapshot run) {
            return phase.map(run::bricks).orElseGet(run::bricks);
        }
    }

    /**
     * Identifies samples of a brick: the same name in another category is another brick, and prefill's samples are
     * another quantity than decode's.
     */
    record Key(String name, BrickCategory category, Part part) {
        private static Key of(BrickStats brick, Part part) {
            return new Key(brick.name(), brick.category(), part);
        }

        /** Returns the name in lines, such as {@code "RmsNorm"} or {@code "RmsNorm, prefill"}. */
        String label() {
            return name + part.suffix;
        }

        private Key whole() {
            return new Key(name, category, Part.ALL);
        }
    }

    private final List<Run> named;
    private final List<ProfileSnapshot> runs;
    private final int firstRuns;
    private final RunComparison.Options options;
    private final List<Map<Key, BrickStats>> bricks;
    private final boolean announced;
    private final Optional<Key> step;
    private final Set<Part> parts;
    private final Set<Key> netBricks;

    TwoSides(List<Run> before, List<Run> after, RunComparison.Options options) {
        this.options = options;
        named = Stream.concat(before.stream(), after.stream()).toList();
        runs = named.stream().map(Run::snapshot).toList();
        firstRuns = before.size();
        bricks = runs.stream().map(TwoSides::bricksOf).toList();
        netBricks = netBricks(true);
        netBricks.removeAll(netBricks(false));
        announced = options.stepBrick().isEmpty()
                && runs.stream().allMatch(run -> run.steps().count() > 0);
        step = announced ? Optional.empty() : step();
        parts = announced && runs.stream().noneMatch(run -> run.phases().isEmpty())
                ? partsByPhase()
                : EnumSet.of(Part.ALL);
    }

    /** Returns the bricks of a run, as a whole, by phase, and without a phase. */
    private static Map<Key, BrickStats> bricksOf(ProfileSnapshot run) {
        Map<Key, BrickStats> bricks = new HashMap<>();
        for (Part part : Part.OF_PHASES) {
            part.of(run).forEach(brick -> bricks.put(Key.of(brick, part), brick));
        }
        for (BrickStats whole : run.bricks()) {
            List<BrickStats> inPhases = Part.OF_PHASES.stream()
                    .map(part -> bricks.get(Key.of(whole, part)))
                    .filter(Objects::nonNull)
                    .toList();
            bricks.put(Key.of(whole, Part.ALL), whole);
            rest(whole, inPhases).ifPresent(rest -> bricks.put(Key.of(whole, Part.NO_PHASE), rest));
        }
        return bricks;
    }

    /** Returns the bricks of which samples have a known net time in a run, or of which samples have none in a run. */
    private Set<Key> netBricks(boolean isKnown) {
        return bricks.stream()
                .flatMap(run -> run.entrySet().stream())
                .filter(brick ->
                        brick.getValue().count() > 0 && brick.getValue().netNs().isPresent() == isKnown)
                .map(brick -> brick.getKey().whole())
                .collect(Collectors.toSet());
    }

    /** Returns the samples of a brick that belong to no phase; they have percentiles if the whole and all phases do. */
    private static Optional<BrickStats> rest(BrickStats whole, List<BrickStats> inPhases) {
        long count = whole.count() - sum(inPhases, BrickStats::count);
        if (count <= 0) {
            return Optional.empty();
        }
        boolean hasPercentiles =
                inPhases.stream().allMatch(brick -> brick.latency().isPresent());
        return Optional.of(BrickStats.builder(whole.name(), whole.category())
                .samples(count, Math.max(whole.totalNs() - sum(inPhases, BrickStats::totalNs), 0), 0, 0)
                .elements(whole.totalElements() - sum(inPhases, BrickStats::totalElements))
                .device(rest(whole.device(), inPhases))
                .latency(whole.latency()
                        .filter(all -> hasPercentiles)
                        .map(all -> all.since(inPhases.stream()
                                .flatMap(brick -> brick.latency().stream())
                                .reduce(LatencyDistribution.EMPTY, LatencyDistribution::plus))))
                .build());
    }

    /** Returns the samples of devices that belong to no phase, without their launches and errors. */
    private static DeviceTime rest(DeviceTime whole, List<BrickStats> inPhases) {
        ToLongFunction<ToLongFunction<DeviceTime>> rest = figure ->
                Math.max(0, figure.applyAsLong(whole) - sum(inPhases, brick -> figure.applyAsLong(brick.device())));
        return new DeviceTime(
                rest.applyAsLong(DeviceTime::measured),
                0,
                0,
                0,
                0,
                0,
                0,
                rest.applyAsLong(DeviceTime::unmarked),
                0,
                0,
                0,
                0,
                new DeviceTime.MarkTime(
                        rest.applyAsLong(device -> device.marks().samples()),
                        rest.applyAsLong(device -> device.marks().ns()),
                        rest.applyAsLong(device -> device.marks().errorNs())));
    }

    private static long sum(List<BrickStats> bricks, ToLongFunction<BrickStats> figure) {
        return bricks.stream().mapToLong(figure).sum();
    }

    private Set<Part> partsByPhase() {
        Set<Part> found = EnumSet.of(Part.NO_PHASE);
        Part.OF_PHASES.stream()
                .filter(part -> sharePercent(part, 0, firstRuns) >= LEAST_PERCENT_OF_PHASE
                        || sharePercent(part, firstRuns, runs.size()) >= LEAST_PERCENT_OF_PHASE)
                .forEach(found::add);
        return found;
    }

    private double sharePercent(Part part, int from, int to) {
        long wholeNs = IntStream.range(from, to).mapToLong(this::wholeNs).sum();
        long ns = IntStream.range(from, to).mapToLong(run -> ns(run, part)).sum();
        return wholeNs == 0 ? 0 : 100.0 * ns / wholeNs;
    }

    /** Returns whether the net times of a brick are compared: those of every run that has the brick are known. */
    boolean isNet(Key key) {
        return netBricks.contains(key.whole());
    }

    /** Returns the compared time of a brick in a run, ns: net in all runs, or recorded in all. */
    long ns(int run, Key key) {
        BrickStats brick = brick(run, key);
        return isNet(key) ? brick.netOrTotalNs() : brick.totalNs();
    }

    /** Returns the time by which the compared time of a brick in a run is less than the recorded one, ns. */
    long marksNs(int run, Key key) {
        return brick(run, key).totalNs() - ns(run, key);
    }

    /** Returns the sum of the compared times of a run's bricks, ns. */
    long wholeNs(int run) {
        return ns(run, Part.ALL);
    }

    private long ns(int run, Part part) {
        return bricks.get(run).keySet().stream()
                .filter(key -> key.part() == part)
                .mapToLong(key -> ns(run, key))
                .reduce(0, Sums::limited);
    }

    /** Returns remarks on the times of bricks that devices timed, if what marks add to them is known in some runs. */
    List<String> remarksOnMarks() {
        Set<Key> recorded = netBricks(true);
        recorded.removeAll(netBricks);
        List<String> remarks = new ArrayList<>();
        if (!netBricks.isEmpty()) {
            remarks.add("Net times, without what the marks of devices add, are compared of " + names(netBricks) + ".");
        }
        if (!recorded.isEmpty()) {
            remarks.add(
                    "Recorded times are compared of " + names(recorded)
                            + ": some runs do not state what the marks of devices add, so part of a change may be due to these.");
        }
        return remarks;
    }

    private static String names(Set<Key> keys) {
        return keys.stream().map(Key::name).distinct().sorted().collect(Collectors.joining(", "));
    }

    /** Returns whether bricks are compared within each phase. */
    boolean byPhase() {
        return !parts.contains(Part.ALL);
    }

    /** Returns the bricks to compare, of all runs: as a whole, or by phase if all runs have phases. */
    Set<Key> compared() {
        return bricks.stream()
                .flatMap(run -> run.keySet().stream())
                .filter(key -> parts.contains(key.part()))
                .collect(Collectors.toSet());
    }

    /** Returns remarks on phases that are not compared, one sentence each. */
    List<String> remarksOnPhases() {
        if (!byPhase()) {
            return overAllPhases().stream().toList();
        }
        return Part.OF_PHASES.stream().flatMap(part -> remark(part).stream()).toList();
    }

    private Optional<String> remark(Part part) {
        boolean before = sharePercent(part, 0, firstRuns) > 0;
        boolean after = sharePercent(part, firstRuns, runs.size()) > 0;
        String phase = part.name().toLowerCase(Locale.ROOT);
        if (before != after) {
            return Optional.of("Only the runs " + (before ? "before" : "after") + " have bricks in " + phase
                    + " steps: the bricks of this phase are not compared.");
        }
        return before && !parts.contains(part)
                ? Optional.of(String.format(
                        Locale.ROOT,
                        "Bricks in %s steps took less than %.0f %% of the brick time on both sides, and are not compared.",
                        phase,
                        LEAST_PERCENT_OF_PHASE))
                : Optional.empty();
    }

    /** Returns the reason why bricks are compared over all phases although runs have phases. */
    private Optional<String> overAllPhases() {
        long before = runs.subList(0, firstRuns).stream()
                .filter(run -> !run.phases().isEmpty())
                .count();
        long after = runs.stream().filter(run -> !run.phases().isEmpty()).count() - before;
        if (before + after == 0) {
            return Optional.empty();
        }
        return Optional.of("Bricks are compared over all phases, because "
                + (before + after < runs.size()
                        ? String.format(
                                Locale.ROOT,
                                "%d of %d runs before and %d of %d after have bricks by phase.",
                                before,
                                firstRuns,
                                after,
                                runs.size() - firstRuns)
                        : "the steps are not those that every run announced."));
    }

    /** Returns the runs of the first side and then those of the second side, with their names. */
    List<Run> named() {
        return named;
    }

    /** Returns the snapshots of {@link #named()}. */
    List<ProfileSnapshot> runs() {
        return runs;
    }

    /** Returns the number of runs of the first side. */
    int firstRuns() {
        return firstRuns;
    }

    /** Returns the bricks of each run, as a whole and in parts. */
    List<Map<Key, BrickStats>> bricks() {
        return bricks;
    }

    /** Returns whether the steps are those that every run announced. */
    boolean announced() {
        return announced;
    }

    /** Returns the brick whose samples are the steps; empty if the steps were announced, or if there are none. */
    Optional<Key> stepBrick() {
        return step;
    }

    /** Returns the brick that the options name, otherwise the rarest brick that all runs share. */
    private Optional<Key> step() {
        List<Key> common = bricks.get(0).keySet().stream()
                .filter(key -> key.part() == Part.ALL && isInAllRuns(key))
                .toList();
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
                .filter(key -> samples.applyAsDouble(key) * RunComparison.RAREST_STEP >= most)
                .min(Comparator.comparingDouble(samples)
                        .thenComparing(Key::name)
                        .thenComparing(Key::category));
    }

    /** Tests whether every run has samples of a brick. */
    boolean isInAllRuns(Key key) {
        return IntStream.range(0, runs.size()).allMatch(run -> brick(run, key).count() > 0);
    }

    /** Returns the sums of a brick in a run; they have no samples if the run did not record the brick. */
    BrickStats brick(int run, Key key) {
        BrickStats recorded = bricks.get(run).get(key);
        return recorded != null ? recorded : BrickStats.empty(key.name(), key.category(), Bottleneck.UNKNOWN);
    }

    /** Returns the median over all runs. */
    double median(Function<Integer, Number> ofRun) {
        return median(ofRun, 0, runs.size());
    }

    /** Returns the median over the runs of the first side. */
    double medianBefore(Function<Integer, Number> ofRun) {
        return median(ofRun, 0, firstRuns);
    }

    /** Returns the median over the runs of the second side. */
    double medianAfter(Function<Integer, Number> ofRun) {
        return median(ofRun, firstRuns, runs.size());
    }

    private static double median(Function<Integer, Number> ofRun, int from, int to) {
        return Median.withDefaults()
                .evaluate(IntStream.range(from, to)
                        .mapToDouble(run -> ofRun.apply(run).doubleValue())
                        .toArray());
    }

    /** Tests whether steps were announced, or a brick marks them. */
    boolean hasSteps() {
        return announced || step.isPresent();
    }

    /** Returns the number of steps of a run. */
    long steps(int run) {
        return step.isPresent()
                ? brick(run, step.get()).count()
                : runs.get(run).steps().count();
    }

    /** Returns the announced steps of a phase in a run; null if the run had none. */
    @Nullable
    StepStats phase(int run, StepInfo.Phase phase) {
        return runs.get(run)
                .steps()
                .phase(phase)
                .filter(stats -> stats.count() > 0)
                .orElse(null);
    }

    /** Returns the number of complete steps of a phase in a run. */
    long phaseSteps(int run, StepInfo.Phase phase) {
        StepStats stats = phase(run, phase);
        return stats == null ? 0 : stats.count();
    }

    /** Returns a ratio; NaN if the count is 0. */
    static double ratio(long sum, long count) {
        return count == 0 ? Double.NaN : (double) sum / count;
    }
}
