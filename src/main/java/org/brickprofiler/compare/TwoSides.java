package org.brickprofiler.compare;

import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.commons.statistics.descriptive.Median;
import org.brickprofiler.Bottleneck;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.BrickStats;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.StepInfo;
import org.brickprofiler.StepStats;
import org.jspecify.annotations.Nullable;

/**
 * The runs of both sides of a comparison: the bricks of each run, and the steps that all runs have. Immutable; one
 * thread.
 */
final class TwoSides {

    /** Identifies a brick: the same name in another category is another brick. */
    record Key(String name, BrickCategory category) {
        static Key of(BrickStats brick) {
            return new Key(brick.name(), brick.category());
        }
    }

    private final List<Run> named;
    private final List<ProfileSnapshot> runs;
    private final int firstRuns;
    private final RunComparison.Options options;
    private final List<Map<Key, BrickStats>> bricks;
    private final boolean announced;
    private final Optional<Key> step;

    TwoSides(List<Run> before, List<Run> after, RunComparison.Options options) {
        this.options = options;
        named = Stream.concat(before.stream(), after.stream()).toList();
        runs = named.stream().map(Run::snapshot).toList();
        firstRuns = before.size();
        bricks = runs.stream()
                .map(run -> run.bricks().stream().collect(Collectors.toMap(Key::of, Function.identity())))
                .toList();
        announced = options.stepBrick().isEmpty()
                && runs.stream().allMatch(run -> run.steps().count() > 0);
        step = announced ? Optional.empty() : step();
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

    /** Returns the bricks of each run. */
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
        return runs.get(run).steps().phase(phase).orElse(null);
    }

    /** Returns a ratio; NaN if the count is 0. */
    static double ratio(long sum, long count) {
        return count == 0 ? Double.NaN : (double) sum / count;
    }
}
