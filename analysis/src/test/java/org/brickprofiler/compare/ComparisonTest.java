package org.brickprofiler.compare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.BrickStats;
import org.brickprofiler.DeviceTime;
import org.brickprofiler.Environment;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.RunFacts;
import org.brickprofiler.RunIdentity;
import org.brickprofiler.StepInfo;
import org.brickprofiler.StepStats;
import org.brickprofiler.Steps;
import org.brickprofiler.compare.RunComparison.Change;
import org.brickprofiler.compare.RunComparison.Kind;
import org.brickprofiler.compare.RunComparison.Line;
import org.brickprofiler.compare.RunComparison.Options;
import org.brickprofiler.compare.RunComparison.Statistic;
import org.brickprofiler.compare.RunComparison.Verdict;
import org.brickprofiler.compare.SimulatedRuns.Behaviour;
import org.brickprofiler.compare.SimulatedRuns.Sides;
import org.brickprofiler.internal.record.LatencyBuckets;
import org.brickprofiler.request.Outcome;
import org.brickprofiler.request.RequestStats;
import org.brickprofiler.stats.LatencyDistribution;
import org.brickprofiler.testing.OneJdk;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.tile.TileLevel;
import org.brickprofiler.tile.TileStats;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

@OneJdk
class ComparisonTest {

    /** The notes of lines whose interval excludes 0 but which have no difference. */
    private static final Set<String> EXPLAINED = Set.of("below the floor", "did not change with the others");

    private static final Environment HERE = new Environment("17", "VM 17", "Linux 6", "amd64", "CPU", 8, 20);

    /** A brick of a run, whose samples all take the mean time. */
    private record Brick(String name, BrickCategory category, long count, double meanNs, long elements) {

        BrickStats stats() {
            return stats(Math.round(count * meanNs), Optional.empty());
        }

        /** Returns statistics with percentiles, in which {@code longer} samples are longer by a factor. */
        BrickStats stats(long longer, double factor) {
            long[] counts = new long[LatencyBuckets.COUNT];
            counts[LatencyBuckets.indexOf(Math.round(meanNs))] += count - longer;
            counts[LatencyBuckets.indexOf(Math.round(meanNs * factor))] += longer;
            long totalNs = Math.round(meanNs * (count - longer + longer * factor));
            return stats(totalNs, Optional.of(LatencyDistribution.ofCounts(counts)));
        }

        private BrickStats stats(long totalNs, Optional<LatencyDistribution> latency) {
            return BrickStats.builder(name, category)
                    .samples(count, totalNs, 1, 1_000_000_000)
                    .last(1, 1)
                    .elements(elements * count)
                    .latency(latency)
                    .build();
        }
    }

    /**
     * The work of a run, in which a step has one LmHead. Each brick varies a little from run to run, in its own way.
     */
    private static final class Work {
        private final List<Brick> bricks = new ArrayList<>();
        private double wallFactor = 1.02;
        private Environment environment = HERE;
        private int threads = 1;
        private Steps steps = Steps.NONE;
        private RequestStats requests = RequestStats.NONE;
        private int run;
        private boolean afterwards;

        /** By name, how many samples of a brick are longer than the others, and how many times as long. */
        private Map<String, Map.Entry<Long, Double>> longer = Map.of();

        Work(int run, double shift) {
            this.run = run;
            long steps = 100;
            brick("LmHead", BrickCategory.OTHER, steps, 900_000, shift);
            brick("Sampling", BrickCategory.OTHER, steps, 30_000, shift);
            brick("RmsNorm", BrickCategory.NORM, 9 * steps, 5_000, shift);
            brick("QkvProjection", BrickCategory.ATTENTION, 4 * steps, 80_000, shift);
            brick("AttentionScore", BrickCategory.ATTENTION, 4 * steps, 40_000, shift);
            brick("GateProjection", BrickCategory.FFN, 4 * steps, 120_000, shift);
            brick("DownProjection", BrickCategory.FFN, 4 * steps, 130_000, shift);
        }

        /** Announces 4 prompts and 96 tokens, which take longer by a factor. */
        Work announced(long kvLength, double factor) {
            return announced(4, 1, 128, kvLength, factor);
        }

        /**
         * Announces 100 steps of {@code sequences} sequences each. Of these, {@code prompts} are prefill, of
         * {@code prompt} tokens.
         */
        Work announced(long prompts, long sequences, long prompt, long kvLength, double factor) {
            double own = 1 + 0.004 * Math.sin(run * 1.9);
            return announced(
                    factor,
                    phase(StepInfo.Phase.PREFILL, prompts, 30_000_000 * own, sequences, prompt, 0),
                    phase(StepInfo.Phase.DECODE, 100 - prompts, 2_000_000 * own * factor, sequences, 0, kvLength));
        }

        /** Announces 4 prompts, after 8 mixed steps with parts of these prompts, and 88 tokens. */
        Work chunked(long mixedTokens, long mixedKvLength) {
            double own = 1 + 0.004 * Math.sin(run * 1.9);
            return announced(
                    1,
                    phase(StepInfo.Phase.PREFILL, 4, 30_000_000 * own, 1, 128, 0),
                    phase(StepInfo.Phase.MIXED, 8, 40_000_000 * own, 4, mixedTokens, mixedKvLength),
                    phase(StepInfo.Phase.DECODE, 88, 2_000_000 * own, 1, 0, 500));
        }

        private Work announced(double factor, StepStats... phases) {
            double own = 1 + 0.004 * Math.sin(run * 1.9);
            steps = new Steps(
                    List.of(phases),
                    LatencyDistribution.ofCounts(new long[] {0, 2, 2}),
                    Math.round(4 * 41_000_000 * own * factor),
                    LatencyDistribution.EMPTY,
                    0,
                    List.of());
            return this;
        }

        private List<String> from = List.of();

        /** Serves 50 requests of {@code tokens} output tokens each; one request in ten waits four times as long. */
        Work served(double firstTokenNs, double outputTokenNs, long tokens) {
            double own = 1 + 0.004 * Math.sin(run * 1.9);
            requests = new RequestStats(
                    new RequestStats.Counts(50, 0, 0, Map.of(Outcome.COMPLETED, 50L), 0, 0),
                    new RequestStats.Tokens(50 * 200, 0, 50 * tokens),
                    new RequestStats.Latencies(
                            LatencyDistribution.EMPTY,
                            waits(firstTokenNs * own),
                            LatencyDistribution.EMPTY,
                            waits(outputTokenNs * own),
                            LatencyDistribution.EMPTY),
                    Map.of(),
                    Collections.emptySortedMap(),
                    List.of(),
                    List.of(),
                    from);
            return this;
        }

        /** The requests count from a moment. */
        Work from(String moment) {
            from = List.of(moment);
            return this;
        }

        private static LatencyDistribution waits(double ns) {
            long[] counts = new long[LatencyBuckets.COUNT];
            counts[LatencyBuckets.indexOf(Math.round(ns))] = 45;
            counts[LatencyBuckets.indexOf(Math.round(4 * ns))] = 5;
            return LatencyDistribution.ofCounts(counts);
        }

        private static StepStats phase(
                StepInfo.Phase phase, long count, double meanNs, long sequences, long prompt, long kvLength) {
            long ns = Math.round(meanNs);
            return StepStats.builder(phase)
                    .steps(count, count * ns)
                    .durations(count * ns, ns, ns, LatencyDistribution.EMPTY)
                    .sequences(count * sequences)
                    .tokens(count * prompt, count, 0, 0)
                    .kvLength(count * kvLength)
                    .build();
        }

        private void brick(String name, BrickCategory category, long count, double meanNs, double shift) {
            double own = 0.004 * Math.sin(run * 2.3 + name.hashCode() % 97);
            double common = 0.006 * Math.cos(run * 1.7 + shift);
            bricks.add(new Brick(name, category, count, meanNs * Math.exp(own + common), 1));
        }

        Work longer(String name, long samples, double factor) {
            longer = Map.of(name, Map.entry(samples, factor));
            return this;
        }

        Work change(String name, UnaryOperator<Brick> how) {
            bricks.replaceAll(brick -> brick.name().equals(name) ? how.apply(brick) : brick);
            return this;
        }

        Work times(String name, double factor) {
            return change(name, b -> new Brick(b.name(), b.category(), b.count(), b.meanNs() * factor, b.elements()));
        }

        Work all(double factor) {
            bricks.replaceAll(b -> new Brick(b.name(), b.category(), b.count(), b.meanNs() * factor, b.elements()));
            return this;
        }

        Run run(String side) {
            List<BrickStats> stats = bricks.stream()
                    .map(brick -> Optional.ofNullable(longer.get(brick.name()))
                            .map(some -> brick.stats(some.getKey(), some.getValue()))
                            .orElseGet(brick::stats))
                    .toList();
            long totalNs = stats.stream().mapToLong(BrickStats::totalNs).sum();
            Instant start = Instant.parse("2026-01-01T00:00:00Z").plusSeconds(run * 100L + (afterwards ? 10_000 : 0));
            return Run.of(
                    side + "/" + run,
                    ProfileSnapshot.builder(start, start.plusSeconds(5), Math.round(totalNs * wallFactor))
                            .threads(threads, false)
                            .environments(List.of(environment))
                            .bricks(stats)
                            .tiles(List.of(TileStats.builder(TileLevel.MACRO)
                                    .samples(10, totalNs / 20, 1, totalNs)
                                    .work(640, 1_280)
                                    .slowest(0, 0)
                                    .build()))
                            .steps(steps)
                            .requests(requests)
                            .build());
        }
    }

    private static List<Run> side(String name, int runs, UnaryOperator<Work> change) {
        double shift = name.equals("before") ? 0 : 0.9;
        return IntStream.range(0, runs)
                .mapToObj(run -> change.apply(new Work(run * 2 + (shift > 0 ? 1 : 0), shift))
                        .run(name))
                .toList();
    }

    private static RunComparison compare(int runs, UnaryOperator<Work> change) {
        return RunComparison.of(
                side("before", runs, UnaryOperator.identity()), side("after", runs, change), Options.defaults());
    }

    private static Line line(RunComparison comparison, Kind kind, String name) {
        return comparison.lines().stream()
                .filter(line -> line.kind() == kind && line.name().startsWith(name))
                .findFirst()
                .orElseThrow();
    }

    private static Verdict verdict(RunComparison comparison, String brick) {
        return line(comparison, Kind.BRICK, brick).verdict();
    }

    @Test
    void announcedStepsAreComparedByPhase() {
        RunComparison comparison = RunComparison.of(
                side("before", 10, work -> work.announced(500, 1)),
                side("after", 10, work -> work.announced(500, 1.1)),
                Options.defaults());

        assertThat(comparison.stepBrick()).isEmpty();
        assertThat(line(comparison, Kind.STEP, "wall time of a prefill step").verdict())
                .isEqualTo(Verdict.NO_DIFFERENCE);
        Line decode = line(comparison, Kind.STEP, "wall time of a decode step");
        assertThat(decode.verdict()).isEqualTo(Verdict.SLOWER);
        assertThat(decode.change().orElseThrow().percent()).isCloseTo(10, within(0.5));
        Line first = line(comparison, Kind.STEP, "time to first token");
        assertThat(first.verdict()).isEqualTo(Verdict.SLOWER);
        assertThat(first.before().orElseThrow().value()).isCloseTo(41_000_000, within(200_000.0));
        assertThat(line(comparison, Kind.TOTAL, "brick time of a step").verdict())
                .isEqualTo(Verdict.NO_DIFFERENCE);
        assertThat(line(comparison, Kind.CATEGORY, "FFN").before()).isPresent();
        assertThat(line(comparison, Kind.TOKENS_PER_SEC, "tokens/s, profiled").before())
                .isPresent();
    }

    @Test
    void comparesTheLatenciesOfRequests() {
        RunComparison comparison = RunComparison.of(
                side("before", 10, work -> work.announced(500, 1).served(400e6, 20e6, 30)),
                side("after", 10, work -> work.announced(30, 1, 64, 500, 1).served(200e6, 20e6, 30)),
                Options.defaults());

        Line first = line(comparison, Kind.STEP, "time to first token of a request");
        assertThat(first.verdict()).isEqualTo(Verdict.FASTER);
        assertThat(first.change().orElseThrow().percent()).isCloseTo(-50, within(1.0));
        assertThat(line(comparison, Kind.STEP, "time to first token of a request, p90")
                        .verdict())
                .isEqualTo(Verdict.FASTER);
        assertThat(line(comparison, Kind.STEP, "time per output token of a request")
                        .verdict())
                .isEqualTo(Verdict.NO_DIFFERENCE);
        assertThat(line(comparison, Kind.STEP, "wall time of a prefill step").verdict())
                .isEqualTo(Verdict.NOT_COMPARABLE);
        assertThat(comparison.lines().stream().map(Line::name)).noneMatch(name -> name.endsWith("request, p99"));
    }

    @Test
    void givesNoVerdictOnRequestsOfOtherWorkOrOfFewRuns() {
        RunComparison other = RunComparison.of(
                side("before", 10, work -> work.announced(500, 1).served(400e6, 20e6, 30)),
                side("after", 10, work -> work.announced(500, 1).served(200e6, 20e6, 10)),
                Options.defaults());
        assertThat(line(other, Kind.STEP, "time to first token of a request").verdict())
                .isEqualTo(Verdict.NOT_COMPARABLE);
        assertThat(line(other, Kind.STEP, "time to first token of a request").note())
                .contains("number of output tokens of a request: 30 before, 10 after");

        RunComparison few = RunComparison.of(
                side("before", 1, work -> work.announced(500, 1).served(400e6, 20e6, 30)),
                side("after", 1, work -> work.announced(500, 1).served(200e6, 20e6, 30)),
                Options.defaults());
        assertThat(line(few, Kind.STEP, "time to first token of a request").verdict())
                .isEqualTo(Verdict.TOO_FEW_RUNS);
    }

    @Spec("25.19")
    @Test
    void givesNoVerdictOnFirstTokensThatCountFromOtherMoments() {
        RunComparison other = RunComparison.of(
                side("before", 10, work -> work.from("the call of Llama.generate")
                        .announced(500, 1)
                        .served(200e6, 20e6, 30)),
                side("after", 10, work -> work.from("the call of Server.complete")
                        .announced(500, 1)
                        .served(400e6, 20e6, 30)),
                Options.defaults());
        Line firstToken = line(other, Kind.STEP, "time to first token of a request");
        assertThat(firstToken.verdict()).isEqualTo(Verdict.NOT_COMPARABLE);
        assertThat(firstToken.note())
                .contains("moment from which requests count: the call of Llama.generate before, the call of"
                        + " Server.complete after");
        assertThat(line(other, Kind.STEP, "time per output token of a request").verdict())
                .isNotEqualTo(Verdict.NOT_COMPARABLE);
    }

    static Stream<Arguments> otherWork() {
        return Stream.of(
                Arguments.of(8, 1, 128, "different share of steps that are prefill: 0.0400 before, 0.0800 after"),
                Arguments.of(4, 2, 128, "different number of sequences in a prefill step: 1 before, 2 after"),
                Arguments.of(4, 1, 256, "different number of prompt tokens in a prefill step: 128 before, 256 after"));
    }

    /** The elements of its bricks need not show that a step had other work. */
    @ParameterizedTest
    @MethodSource("otherWork")
    void bricksOfStepsWithOtherWorkAreNotComparable(long prompts, long sequences, long prompt, String reason) {
        UnaryOperator<Work> percentiles = work -> work.longer("DownProjection", 1, 1);
        RunComparison comparison = RunComparison.of(
                side("before", 10, work -> percentiles.apply(work.announced(500, 1))),
                side("after", 10, work -> percentiles
                        .apply(work.announced(prompts, sequences, prompt, 500, 1))
                        .all(1.3)),
                Options.defaults());

        assertThat(comparison.remarks().get(0)).startsWith("The sides had a " + reason);
        assertThat(comparison.lines())
                .filteredOn(line -> line.kind() == Kind.BRICK
                        || line.kind() == Kind.BRICK_P90
                        || line.kind() == Kind.CATEGORY
                        || line.kind() == Kind.TILE
                        || line.kind() == Kind.TOTAL)
                .hasSizeGreaterThan(12)
                .allSatisfy(line -> {
                    assertThat(line.verdict()).as(line.name()).isEqualTo(Verdict.NOT_COMPARABLE);
                    assertThat(line.note()).startsWith(reason);
                });
        assertThat(ComparisonReport.toText(comparison)).containsOnlyOnce("RmsNorm, Sampling: " + reason);
    }

    @Test
    void announcedStepsOfOtherKvLengthAreNotComparable() {
        RunComparison comparison = RunComparison.of(
                side("before", 10, work -> work.announced(500, 1)),
                side("after", 10, work -> work.announced(600, 1.1)),
                Options.defaults());

        Line decode = line(comparison, Kind.STEP, "wall time of a decode step");
        assertThat(decode.verdict()).isEqualTo(Verdict.NOT_COMPARABLE);
        assertThat(decode.note()).isEqualTo("different KV length of a decode step: 500 before, 600 after");
        assertThat(line(comparison, Kind.BRICK, "AttentionScore").verdict()).isEqualTo(Verdict.NOT_COMPARABLE);
        assertThat(line(comparison, Kind.BRICK, "GateProjection").verdict()).isEqualTo(Verdict.NO_DIFFERENCE);
        assertThat(line(comparison, Kind.CATEGORY, "Attention").verdict()).isEqualTo(Verdict.NOT_COMPARABLE);
        assertThat(line(comparison, Kind.CATEGORY, "FFN").verdict()).isEqualTo(Verdict.NO_DIFFERENCE);
        assertThat(comparison.remarks()).anyMatch(remark -> remark.contains("different KV length of a decode step"));
    }

    @Test
    void mixedStepsOfOtherKvLengthAreNotComparable() {
        RunComparison comparison = RunComparison.of(
                side("before", 10, work -> work.chunked(64, 1_000)),
                side("after", 10, work -> work.chunked(64, 8_000).times("AttentionScore", 8)),
                Options.defaults());

        Line attention = line(comparison, Kind.BRICK, "AttentionScore");
        assertThat(attention.note()).isEqualTo("different KV length of a mixed step: 1,000 before, 8,000 after");
        assertThat(attention.verdict()).isEqualTo(Verdict.NOT_COMPARABLE);
        assertThat(line(comparison, Kind.CATEGORY, "Attention").verdict()).isEqualTo(Verdict.NOT_COMPARABLE);
        assertThat(line(comparison, Kind.BRICK, "GateProjection").verdict()).isEqualTo(Verdict.NO_DIFFERENCE);
        assertThat(comparison.remarks()).anyMatch(remark -> remark.contains("different KV length of a mixed step"));
    }

    @Test
    void partsOfPromptsInMixedStepsCountBeforeAFirstToken() {
        RunComparison comparison = RunComparison.of(
                side("before", 10, work -> work.chunked(64, 1_000)),
                side("after", 10, work -> work.chunked(576, 1_000)),
                Options.defaults());

        Line first = line(comparison, Kind.STEP, "time to first token");
        assertThat(first.note())
                .isEqualTo("different number of prompt tokens before a first token: 256 before, 1,280 after");
        assertThat(first.verdict()).isEqualTo(Verdict.NOT_COMPARABLE);
    }

    @Test
    void aNamedBrickIsTheStepEvenIfStepsWereAnnounced() {
        RunComparison comparison = RunComparison.of(
                side("before", 10, work -> work.announced(500, 1)),
                side("after", 10, work -> work.announced(500, 1.1)),
                new Options(2, Optional.of("Sampling"), false, 1, List.of()));

        assertThat(comparison.stepBrick()).contains("Sampling");
        assertThat(line(comparison, Kind.STEP, "wall time of a step").verdict()).isEqualTo(Verdict.NO_DIFFERENCE);
    }

    @Test
    void comparesNothingWithoutRuns() {
        List<Run> some = side("before", 2, UnaryOperator.identity());
        assertThatThrownBy(() -> RunComparison.of(List.of(), some, Options.defaults()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("nothing to compare: 0 runs before, 2 after");
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void givesNumbersAndNoVerdictForFewRuns(int runs) {
        RunComparison comparison = compare(runs, work -> work.times("GateProjection", 3));

        Line gate = line(comparison, Kind.BRICK, "GateProjection");
        assertThat(gate.verdict()).isEqualTo(Verdict.TOO_FEW_RUNS);
        assertThat(gate.change().orElseThrow().percent()).isCloseTo(200, within(10.0));
        assertThat(gate.change().orElseThrow().hasInterval())
                .as("an interval of a line without a test")
                .isFalse();
        assertThat(gate.speedUp().orElseThrow()).isCloseTo(1 / 3.0, within(0.02));
        assertThat(gate.smallestPercent()).isEmpty();
        assertThat(comparison.lines()).extracting(Line::verdict).containsOnly(Verdict.TOO_FEW_RUNS);
    }

    @Test
    void oneRunNeverMakesAVerdictHoweverManyTheOtherSideHas() {
        RunComparison comparison = RunComparison.of(
                side("before", 40, UnaryOperator.identity()),
                side("after", 1, work -> work.times("GateProjection", 3)),
                Options.defaults());

        assertThat(verdict(comparison, "GateProjection")).isEqualTo(Verdict.TOO_FEW_RUNS);
    }

    @Test
    void findsTheBrickThatChangedAndNoOther() {
        RunComparison slower = compare(8, work -> work.times("GateProjection", 1.05));
        RunComparison faster = compare(8, work -> work.times("GateProjection", 0.9));

        assertThat(verdict(slower, "GateProjection")).isEqualTo(Verdict.SLOWER);
        assertThat(verdict(faster, "GateProjection")).isEqualTo(Verdict.FASTER);
        for (RunComparison comparison : List.of(slower, faster)) {
            assertThat(comparison.lines())
                    .filteredOn(
                            line -> line.kind() == Kind.BRICK && !line.name().equals("GateProjection"))
                    .extracting(Line::verdict)
                    .hasSize(6)
                    .containsOnly(Verdict.NO_DIFFERENCE);
        }
        Line gate = line(slower, Kind.BRICK, "GateProjection");
        assertThat(gate.tested().orElseThrow().percent()).isCloseTo(5, within(0.7));
        assertThat(gate.tested().orElseThrow().lowPercent()).isBetween(3.5, 5.0);
        assertThat(gate.tested().orElseThrow().highPercent()).isBetween(5.0, 6.5);
        assertThat(gate.probability().orElseThrow()).isLessThan(0.01);
    }

    @ParameterizedTest
    @EnumSource(
            value = SimulatedRuns.Noise.class,
            names = {"BIMODAL", "SLOW", "DISTURBED", "HEAVY", "ONE_APART"})
    void aLineHasADifferenceIfAndOnlyIfItsIntervalExcludesZeroAndItIsNotBelowTheFloor(SimulatedRuns.Noise noise) {
        SimulatedRuns runs = new SimulatedRuns(new SimulatedRuns.Behaviour("with " + noise, 0.01, Set.of(noise)), 45);
        Map<Verdict, Integer> seen = new EnumMap<>(Verdict.class);
        for (double slower : new double[] {-20, 0, 1.5, 6, 40}) {
            for (int number : new int[] {5, 8, 12}) {
                for (Line line : runs.sides(number, new SimulatedRuns.Change(slower, 9, 0, 1))
                        .compare(2)
                        .lines()) {
                    Change tested = line.tested().orElseThrow();
                    boolean isApart = tested.lowPercent() > 0 || tested.highPercent() < 0;
                    boolean isFound = line.verdict() == Verdict.FASTER || line.verdict() == Verdict.SLOWER;
                    assertThat(tested.percent()).isBetween(tested.lowPercent(), tested.highPercent());
                    assertThat(isFound)
                            .as("%s", line)
                            .isEqualTo(isApart
                                    && Math.abs(tested.percent()) >= 2
                                    && line.note().isEmpty());
                    assertThat(isApart && !isFound).as("%s", line).isEqualTo(EXPLAINED.contains(line.note()));
                    seen.merge(line.verdict(), 1, Integer::sum);
                }
            }
        }
        assertThat(seen).containsOnlyKeys(Verdict.SLOWER, Verdict.FASTER, Verdict.NO_DIFFERENCE);
    }

    @Test
    void leavesChangesBelowTheFloorAlone() {
        UnaryOperator<Work> change = work -> work.times("GateProjection", 1.03);
        List<Run> before = side("before", 10, UnaryOperator.identity());
        List<Run> after = side("after", 10, change);

        assertThat(verdict(RunComparison.of(before, after, Options.defaults()), "GateProjection"))
                .isEqualTo(Verdict.SLOWER);
        RunComparison high = RunComparison.of(before, after, Options.defaults().withFloorPercent(4));
        assertThat(verdict(high, "GateProjection")).isEqualTo(Verdict.NO_DIFFERENCE);
        assertThat(high.lines())
                .allSatisfy(
                        line -> assertThat(line.smallestPercent().orElseThrow()).isGreaterThanOrEqualTo(4));
    }

    @Test
    void aChangeOfEverythingIsOneFindingOfTheWhole() {
        RunComparison comparison = compare(10, work -> work.all(0.9));

        assertThat(line(comparison, Kind.TOTAL, "").verdict()).isEqualTo(Verdict.FASTER);
        assertThat(line(comparison, Kind.STEP, "").verdict()).isEqualTo(Verdict.FASTER);
        Line tokens = line(comparison, Kind.TOKENS_PER_SEC, "tokens/s, profiled");
        assertThat(tokens.verdict()).isEqualTo(Verdict.FASTER);
        assertThat(tokens.change().orElseThrow().percent()).isCloseTo(11.1, within(1.0));
        assertThat(tokens.speedUp().orElseThrow()).isCloseTo(1.11, within(0.01));
        assertThat(line(comparison, Kind.COMMON, "").verdict()).isEqualTo(Verdict.FASTER);
        Line gate = line(comparison, Kind.BRICK, "GateProjection");
        assertThat(gate.verdict()).isEqualTo(Verdict.NO_DIFFERENCE);
        assertThat(gate.note()).isEqualTo("as all bricks");
        assertThat(gate.change().orElseThrow().percent()).isCloseTo(-10, within(1.0));
        assertThat(gate.beside().orElseThrow().percent()).isCloseTo(0, within(1.0));
    }

    @Test
    void doesNotBlameABrickThatStayedWhileMostChanged() {
        RunComparison comparison =
                compare(10, work -> work.all(0.8).times("RmsNorm", 1.25).times("Sampling", 1.25));

        Line norm = line(comparison, Kind.BRICK, "RmsNorm");
        assertThat(norm.beside().orElseThrow().percent()).isCloseTo(25, within(2.0));
        assertThat(norm.change().orElseThrow().percent()).isCloseTo(0, within(1.5));
        assertThat(norm.verdict()).isEqualTo(Verdict.NO_DIFFERENCE);
        assertThat(norm.note()).isEqualTo("did not change with the others");
    }

    @Test
    void comparesFewBricksAsTheyAre() {
        UnaryOperator<Work> few = work -> {
            work.bricks.removeIf(brick ->
                    brick.category() == BrickCategory.OTHER && !brick.name().equals("LmHead"));
            work.bricks.removeIf(brick -> brick.category() == BrickCategory.FFN);
            return work;
        };
        RunComparison comparison = RunComparison.of(
                side("before", 8, few), side("after", 8, work -> few.apply(work).all(1.2)), Options.defaults());

        assertThat(comparison.lines())
                .allSatisfy(line -> assertThat(line.beside()).isEmpty());
        assertThat(comparison.lines()).noneMatch(line -> line.kind() == Kind.COMMON);
        assertThat(verdict(comparison, "RmsNorm")).isEqualTo(Verdict.SLOWER);
    }

    @Test
    void namesBricksOfOneSideOnly() {
        RunComparison comparison = compare(8, work -> {
            work.bricks.removeIf(brick -> brick.name().equals("Sampling"));
            work.bricks.add(new Brick("my kernel", BrickCategory.FFN, 400, 10_000, 1));
            if (work.run == 3) {
                work.bricks.removeIf(brick -> brick.name().equals("RmsNorm"));
            }
            return work;
        });

        assertThat(line(comparison, Kind.BRICK, "Sampling").note()).isEqualTo("only before");
        assertThat(line(comparison, Kind.BRICK, "my kernel").note()).isEqualTo("only after");
        assertThat(line(comparison, Kind.BRICK, "my kernel").sharePercent()).isGreaterThan(0);
        assertThat(line(comparison, Kind.BRICK, "RmsNorm").note()).isEqualTo("not in every run");
        for (String name : List.of("Sampling", "my kernel", "RmsNorm")) {
            assertThat(verdict(comparison, name)).isEqualTo(Verdict.NOT_COMPARABLE);
        }
        assertThat(verdict(comparison, "DownProjection")).isEqualTo(Verdict.NO_DIFFERENCE);
    }

    @Test
    void doesNotCallABrickWithoutTimeMissing() {
        List<Run> before = side("before", 8, work -> work.times("Sampling", 0));
        List<Run> none = side("after", 8, work -> work.times("Sampling", 0));
        List<Run> some = side("after", 8, UnaryOperator.identity());

        assertThat(line(RunComparison.of(before, none, Options.defaults()), Kind.BRICK, "Sampling")
                        .note())
                .isEqualTo("took no time");
        assertThat(line(RunComparison.of(before, some, Options.defaults()), Kind.BRICK, "Sampling")
                        .note())
                .isEqualTo("took no time in some runs");
    }

    @Test
    void aFewInterruptedSamplesMakeNoDifference() {
        // In each run another number of its 400 samples is twenty times as long: 0 to 9 % of the mean.
        UnaryOperator<Work> interrupted = work -> work.longer("DownProjection", work.run * 7 % 3, 20);
        RunComparison same =
                RunComparison.of(side("before", 10, interrupted), side("after", 10, interrupted), Options.defaults());
        RunComparison slower = RunComparison.of(
                side("before", 10, interrupted),
                side("after", 10, work -> interrupted.apply(work).times("DownProjection", 1.04)),
                Options.defaults());

        Line changed = line(slower, Kind.BRICK, "DownProjection");
        assertThat(line(same, Kind.BRICK, "DownProjection").verdict()).isEqualTo(Verdict.NO_DIFFERENCE);
        assertThat(changed.verdict()).isEqualTo(Verdict.SLOWER);
        assertThat(changed.before().orElseThrow().spreadPercent()).isLessThan(1);
        assertThat(changed.beside().orElseThrow().percent()).isCloseTo(4, within(1.0));
        assertThat(line(slower, Kind.TOTAL, "").before().orElseThrow().spreadPercent())
                .as("the whole has all samples")
                .isGreaterThan(changed.before().orElseThrow().spreadPercent());
    }

    @Test
    void theTimeOfABrickKeepsItsMeaningWhereAFewSamplesHoldMostOfIt() {
        // 41 of 400 samples hold two thirds of the time, and become longer.
        RunComparison comparison = RunComparison.of(
                side("before", 10, work -> work.longer("DownProjection", 41, 20)),
                side("after", 10, work -> work.longer("DownProjection", 41, 23)),
                Options.defaults());

        Line brick = line(comparison, Kind.BRICK, "DownProjection");
        assertThat(brick.statistic()).isEqualTo(Statistic.MIDDLE_HALF);
        assertThat(brick.verdict()).isEqualTo(Verdict.NO_DIFFERENCE);
        assertThat(brick.change().orElseThrow().percent()).isCloseTo(0, within(1.0));
        assertThat(line(comparison, Kind.BRICK_P90, "DownProjection, p90").verdict())
                .isEqualTo(Verdict.SLOWER);
        assertThat(line(comparison, Kind.TOTAL, "").verdict()).isEqualTo(Verdict.SLOWER);
    }

    @Test
    void theMedianIsShownBesideThePercentilesAndNotTested() {
        RunComparison comparison = RunComparison.of(
                side("before", 10, work -> work.longer("DownProjection", 0, 1)),
                side("after", 10, work -> work.longer("DownProjection", 0, 1).times("DownProjection", 1.2)),
                Options.defaults());

        Line median = line(comparison, Kind.BRICK_P50, "DownProjection, p50");
        assertThat(median.verdict()).isEqualTo(Verdict.NOT_TESTED);
        assertThat(median.probability()).isEmpty();
        assertThat(median.change().orElseThrow().percent()).isCloseTo(20, within(2.0));
        assertThat(ComparisonReport.toText(comparison))
                .containsPattern("DownProjection, p50 +p50 .* not tested")
                .containsPattern("DownProjection +middle half ")
                .containsPattern("RmsNorm +mean ");
    }

    /** Two thirds of the time are one brick's, of which one sample in ten takes 1.8 times as long afterwards. */
    private static RunComparison longerTail() {
        UnaryOperator<Work> dominated = work -> work.times("DownProjection", 6).longer("DownProjection", 0, 1);
        return RunComparison.of(
                side("before", 10, dominated),
                side("after", 10, work -> dominated.apply(work).longer("DownProjection", 41, 1.8)),
                Options.defaults());
    }

    @Test
    void findsALongerTailThatTheMiddleHalfDoesNotSee() {
        RunComparison comparison = longerTail();

        assertThat(verdict(comparison, "DownProjection")).isEqualTo(Verdict.NO_DIFFERENCE);
        Line p90 = line(comparison, Kind.BRICK_P90, "DownProjection, p90");
        assertThat(p90.verdict()).isEqualTo(Verdict.SLOWER);
        assertThat(p90.change().orElseThrow().percent()).isCloseTo(80, within(3.0));
        assertThat(p90.sharePercent())
                .isEqualTo(line(comparison, Kind.BRICK, "DownProjection").sharePercent());
        assertThat(line(comparison, Kind.BRICK_P99, "DownProjection, p99").verdict())
                .isEqualTo(Verdict.SLOWER);
        assertThat(line(comparison, Kind.TOTAL, "").verdict()).isEqualTo(Verdict.SLOWER);
        assertThat(comparison.remarks()).as("the tail explains the whole").isEmpty();
    }

    @Test
    void comparesPercentilesOnlyOfEnoughSamples() {
        UnaryOperator<Work> known = work -> {
            work.longer = work.bricks.stream().collect(Collectors.toMap(Brick::name, brick -> Map.entry(0L, 1.0)));
            return work;
        };
        RunComparison all = RunComparison.of(side("before", 10, known), side("after", 10, known), Options.defaults());
        assertThat(all.lines())
                .filteredOn(line -> line.kind() == Kind.BRICK_P90)
                .hasSize(7);
        assertThat(all.lines())
                .filteredOn(line -> line.kind() == Kind.BRICK_P99)
                .extracting(Line::name)
                .as("LmHead and Sampling have 100 samples")
                .containsExactlyInAnyOrder(
                        "RmsNorm, p99",
                        "QkvProjection, p99",
                        "AttentionScore, p99",
                        "GateProjection, p99",
                        "DownProjection, p99");
        assertThat(all.lines())
                .filteredOn(line -> line.kind().isTail())
                .extracting(Line::verdict)
                .containsOnly(Verdict.NO_DIFFERENCE);
        RunComparison oneSide = RunComparison.of(
                side("before", 10, known), side("after", 10, UnaryOperator.identity()), Options.defaults());
        assertThat(oneSide.lines()).noneMatch(line -> line.kind().isTail());
    }

    @Test
    void namesTheBricksOfAChangeThatNoLineExplains() {
        RunComparison rare = RunComparison.of(
                side("before", 10, work -> work.longer("DownProjection", 0, 1)),
                // Two samples of 400: the 99th percentile does not see them.
                side("after", 10, work -> work.longer("DownProjection", 2, 35)),
                Options.defaults());
        assertThat(line(rare, Kind.TOTAL, "").verdict()).isEqualTo(Verdict.SLOWER);
        assertThat(rare.lines())
                .filteredOn(line -> line.kind() == Kind.BRICK || line.kind().isTail())
                .extracting(Line::verdict)
                .containsOnly(Verdict.NO_DIFFERENCE);
        assertThat(rare.remarks())
                .singleElement()
                .asString()
                .matches(
                        "The brick time of a step is slower \\(\\+3\\.\\d %\\), and no line explains it\\. The totals of these bricks "
                                + "moved, with their share of the difference: DownProjection \\(\\d+ %\\)\\.");
    }

    @Test
    void saysThatTheTimeLiesOutsideBricks() {
        RunComparison comparison = compare(10, work -> {
            work.wallFactor = 1.2;
            return work;
        });
        assertThat(comparison.remarks())
                .singleElement()
                .asString()
                .startsWith("wall time of a step: slower (+17.")
                .contains("the time lies outside bricks");
    }

    @Test
    void oneRunThatIsApartHidesNothingAndIsNamed() {
        UnaryOperator<Work> apart = work -> work.run == 4
                ? work.times("GateProjection", 2)
                        .times("QkvProjection", 2)
                        .times("RmsNorm", 2)
                        .times("LmHead", 2)
                : work;
        UnaryOperator<Work> slower = work -> work.times("DownProjection", 1.05);
        RunComparison comparison =
                RunComparison.of(side("before", 10, apart), side("after", 10, slower), Options.defaults());

        assertThat(verdict(comparison, "DownProjection")).isEqualTo(Verdict.SLOWER);
        Line gate = line(comparison, Kind.BRICK, "GateProjection");
        assertThat(gate.verdict()).isEqualTo(Verdict.NO_DIFFERENCE);
        assertThat(gate.change().orElseThrow().percent())
                .as("without the run that is apart")
                .isCloseTo(0, within(1.0));
        assertThat(gate.before().orElseThrow().spreadPercent()).as("with it").isGreaterThan(10);
        assertThat(comparison.trimmedRuns()).isEqualTo(1);
        assertThat(comparison.remarks())
                .singleElement()
                .asString()
                .startsWith("before/4 is far from the other runs of its side, in ")
                .endsWith("Verdicts and changes leave it out, with the lowest and the highest run of each side.");
        RunComparison few = RunComparison.of(side("before", 6, apart), side("after", 6, slower), Options.defaults());
        assertThat(few.remarks())
                .anyMatch(remark -> remark.startsWith("before/4 is far")
                        && remark.endsWith(
                                "With fewer than ten runs a side it counts in full: find the cause, and run again."));
    }

    @Test
    void comparesBesideABaseline() {
        UnaryOperator<Work> most =
                work -> work.all(1.1).times("RmsNorm", 1 / 1.1).times("Sampling", 1 / 1.1);
        List<Run> before = side("before", 10, UnaryOperator.identity());
        List<Run> after = side("after", 10, most);

        RunComparison besideAll = RunComparison.of(before, after, Options.defaults());
        assertThat(verdict(besideAll, "GateProjection")).isEqualTo(Verdict.NO_DIFFERENCE);
        Options options = Options.defaults().withBaseline(List.of("RmsNorm", "Sampling"));
        RunComparison comparison = RunComparison.of(before, after, options);
        assertThat(line(comparison, Kind.COMMON, "baseline bricks alike").verdict())
                .isEqualTo(Verdict.NO_DIFFERENCE);
        assertThat(comparison.lines())
                .filteredOn(line -> line.kind() == Kind.BRICK && line.verdict() == Verdict.SLOWER)
                .extracting(Line::name)
                .containsExactlyInAnyOrder(
                        "LmHead", "QkvProjection", "AttentionScore", "GateProjection", "DownProjection");
        assertThat(verdict(comparison, "RmsNorm")).isEqualTo(Verdict.NO_DIFFERENCE);
        // A slower machine is slower in the baseline, too: only the change beside it counts.
        RunComparison onSlower = RunComparison.of(
                before, side("after", 10, work -> most.apply(work).all(1.25)), options);
        assertThat(verdict(onSlower, "GateProjection")).isEqualTo(Verdict.SLOWER);
        assertThat(line(onSlower, Kind.BRICK, "GateProjection")
                        .beside()
                        .orElseThrow()
                        .percent())
                .isCloseTo(10, within(1.0));
        assertThat(line(onSlower, Kind.COMMON, "").verdict()).isEqualTo(Verdict.SLOWER);
    }

    @Test
    void refusesABaselineThatCannotBeOne() {
        List<Run> before = side("before", 10, UnaryOperator.identity());
        List<Run> after = side("after", 10, work -> work.times("LmHead", 1.2)
                .change("RmsNorm", b -> new Brick(b.name(), b.category(), b.count() * 2, b.meanNs(), 1)));

        assertThatIllegalArgumentException()
                .isThrownBy(
                        () -> RunComparison.of(before, after, Options.defaults().withBaseline(List.of("Nothing"))))
                .withMessage("no run has a brick 'Nothing' for the baseline");
        assertThatIllegalArgumentException()
                .isThrownBy(
                        () -> RunComparison.of(before, after, Options.defaults().withBaseline(List.of("RmsNorm"))))
                .withMessage(
                        "brick 'RmsNorm' cannot be the baseline: it is not comparable, different number of samples in a"
                                + " step: 9 before, 18 after");
        assertThat(RunComparison.of(
                                before,
                                after,
                                Options.defaults()
                                        .withBaseline(List.of("LmHead", "QkvProjection", "AttentionScore", "Sampling")))
                        .remarks())
                .contains("The baseline is not constant: beside its other bricks, LmHead changed.");
    }

    @Test
    void proposesABaselineIfManyBricksChanged() {
        assertThat(compare(10, work -> work.times("RmsNorm", 1.1).times("Sampling", 1.1))
                        .remarks())
                .singleElement()
                .asString()
                .startsWith("2 of 7 bricks changed beside the others:")
                .endsWith("Name bricks that the change cannot have touched (--baseline).");
        assertThat(compare(10, work -> work.times("RmsNorm", 1.1)).remarks()).isEmpty();
    }

    @Test
    void namesOtherWork() {
        RunComparison comparison = compare(8, work -> work.change(
                        "QkvProjection", b -> new Brick(b.name(), b.category(), b.count(), b.meanNs(), 8))
                .change("DownProjection", b -> new Brick(b.name(), b.category(), b.count() * 2, b.meanNs(), 1)));

        assertThat(line(comparison, Kind.BRICK, "QkvProjection").note())
                .isEqualTo("different number of elements in a sample: 1 before, 8 after");
        assertThat(line(comparison, Kind.BRICK, "DownProjection").note())
                .isEqualTo("different number of samples in a step: 4 before, 8 after");
        assertThat(line(comparison, Kind.TOTAL, "").verdict()).isEqualTo(Verdict.SLOWER);
    }

    @Test
    void namesAnotherBatch() {
        RunComparison comparison = compare(
                8, work -> work.change("LmHead", b -> new Brick(b.name(), b.category(), b.count(), b.meanNs(), 8))
                        .change("Sampling", b -> new Brick(b.name(), b.category(), b.count(), b.meanNs(), 8)));

        assertThat(line(comparison, Kind.TOTAL, "").note())
                .isEqualTo("different number of elements in a step: 1 before, 8 after");
        assertThat(line(comparison, Kind.TOTAL, "").verdict()).isEqualTo(Verdict.NOT_COMPARABLE);
    }

    @Test
    void namesAnotherLength() {
        RunComparison comparison = compare(8, work -> {
            work.bricks.replaceAll(b -> new Brick(b.name(), b.category(), b.count() * 2, b.meanNs(), 1));
            return work;
        });

        assertThat(comparison.remarks())
                .first()
                .asString()
                .startsWith("The sides had a different number of steps, and so a different KV length: 100 before,"
                        + " 200 after;");
        assertThat(verdict(comparison, "AttentionScore")).isEqualTo(Verdict.NOT_COMPARABLE);
        assertThat(verdict(comparison, "GateProjection")).isEqualTo(Verdict.NO_DIFFERENCE);
    }

    @Test
    void namesAnotherEnvironment() {
        Environment jdk25 = new Environment("25", "VM 25", "Linux 6", "amd64", "CPU", 8, 20);
        Environment other = new Environment("17", "VM 17", "Linux 6", "amd64", "other CPU", 8, 20);
        List<Run> before = side("before", 8, UnaryOperator.identity());
        UnaryOperator<Work> slower = work -> work.times("RmsNorm", 2);
        List<Run> newer = side("after", 8, work -> {
            slower.apply(work).environment = jdk25;
            return work;
        });
        List<Run> elsewhere = side("after", 8, work -> {
            slower.apply(work).environment = other;
            work.threads = 2;
            return work;
        });

        RunComparison comparison = RunComparison.of(before, newer, Options.defaults());
        assertThat(comparison.remarks())
                .containsExactly("The sides are not comparable: different JVM: VM 17 before, VM 25 after.");
        assertThat(comparison.lines())
                .filteredOn(line -> line.kind() != Kind.COMMON)
                .extracting(Line::verdict)
                .containsOnly(Verdict.NOT_COMPARABLE);
        assertThat(RunComparison.of(before, elsewhere, Options.defaults()).remarks())
                .first()
                .asString()
                .contains("different machine: CPU (8 processors, Linux 6) before, other CPU ")
                .contains("different number of threads: 1 before, 2 after");
        RunComparison meant = RunComparison.of(before, newer, Options.defaults().withAcrossEnvironments(true));
        assertThat(verdict(meant, "RmsNorm")).isEqualTo(Verdict.SLOWER);
        assertThat(meant.remarks()).containsExactly("Compared despite a different JVM: VM 17 before, VM 25 after.");
    }

    @Spec("23.5")
    @Test
    void namesAnotherModelOrPrecision() {
        List<Run> before = named(side("before", 8, UnaryOperator.identity()), "llama", "bf16");
        List<Run> slower = side("after", 8, work -> work.times("RmsNorm", 2));
        List<Run> quantised = named(slower, "llama", "int8");

        RunComparison comparison = RunComparison.of(before, quantised, Options.defaults());
        assertThat(comparison.remarks())
                .containsExactly("The sides are not comparable: different precision: bf16 before, int8 after.");
        assertThat(verdict(comparison, "RmsNorm")).isEqualTo(Verdict.NOT_COMPARABLE);
        assertThat(RunComparison.of(before, named(slower, "qwen", "bf16"), Options.defaults())
                        .remarks())
                .containsExactly("The sides are not comparable: different model: llama before, qwen after.");
        assertThat(verdict(RunComparison.of(before, named(slower, "llama", "bf16"), Options.defaults()), "RmsNorm"))
                .isEqualTo(Verdict.SLOWER);
        assertThat(RunComparison.of(before, slower, Options.defaults()).remarks())
                .as("not known of one side")
                .isEmpty();
        assertThat(verdict(
                        RunComparison.of(before, quantised, Options.defaults().withAcrossEnvironments(true)),
                        "RmsNorm"))
                .isEqualTo(Verdict.SLOWER);
    }

    private static List<Run> named(List<Run> runs, String model, String precision) {
        RunIdentity identity =
                RunIdentity.builder().model(model).precision(precision).build();
        return runs.stream()
                .map(run -> Run.of(run.name(), run.snapshot().withIdentity(identity)))
                .toList();
    }

    @Test
    void saysFirstThatTokensPerSecondDisagree() {
        RunComparison comparison = compare(10, work -> {
            work.all(0.8).wallFactor = 1.5;
            return work;
        });

        assertThat(line(comparison, Kind.TOTAL, "").verdict()).isEqualTo(Verdict.FASTER);
        assertThat(line(comparison, Kind.TOKENS_PER_SEC, "").verdict()).isEqualTo(Verdict.SLOWER);
        assertThat(comparison.remarks())
                .first()
                .asString()
                .startsWith("Brick times and tokens per second disagree: the brick time of a step is faster (-20");
    }

    @Test
    void believesTheApplicationsOwnRate() {
        List<Run> before = measured(side("before", 8, UnaryOperator.identity()), 100);
        List<Run> after = measured(side("after", 8, work -> work.all(0.8)), 90);

        RunComparison comparison = RunComparison.of(before, after, Options.defaults());
        assertThat(line(comparison, Kind.TOKENS_PER_SEC, "").name()).isEqualTo("tokens/s");
        assertThat(line(comparison, Kind.TOKENS_PER_SEC, "").verdict()).isEqualTo(Verdict.SLOWER);
        assertThat(comparison.remarks()).first().asString().contains("tokens/s are slower (-1");
    }

    @Test
    void namesSidesWhoseBricksWereTimedInOtherWays() {
        List<Run> host = side("host", 3, UnaryOperator.identity());
        List<Run> marked = timed(side("marked", 3, UnaryOperator.identity()), 1);
        List<Run> sampled = timed(side("sampled", 3, UnaryOperator.identity()), 10);

        assertThat(RunComparison.of(host, marked, Options.defaults()).remarks())
                .first()
                .asString()
                .startsWith("A device timed 0 % of the samples before, and 100 % after");
        assertThat(RunComparison.of(marked, sampled, Options.defaults()).remarks())
                .anyMatch(remark ->
                        remark.startsWith("Of the samples of devices, 100 % had marks before, and 10 % after"));
        assertThat(RunComparison.of(sampled, timed(side("other", 3, UnaryOperator.identity()), 9), Options.defaults())
                        .remarks())
                .noneMatch(remark -> remark.contains("marks before"));
    }

    /** Returns runs of which a device timed all samples, and one in {@code every} had marks. */
    private static List<Run> timed(List<Run> runs, long every) {
        return changed(runs, brick -> brick.toBuilder()
                .device(ofDevice(
                        brick.count() / every, brick.count() - brick.count() / every, DeviceTime.MarkTime.NONE)));
    }

    /** Marks of one side add more than those of the other; the work is the same, but for one brick. */
    @Spec("12.54")
    @Test
    void marksOfADeviceAreNoChangeIfTheirTimeIsKnown() {
        List<Run> before = side("before", 3, UnaryOperator.identity());
        List<Run> after = side("after", 3, work -> work.all(1.1));
        RunComparison truth = RunComparison.of(before, after, Options.defaults());

        List<Run> marked = timed(lengthened(before, 3_000), 1);
        List<Run> recorded = timed(lengthened(after, 700), 1);
        RunComparison net = RunComparison.of(withMarks(marked, 3_000), withMarks(recorded, 700), Options.defaults());
        assertThat(net.lines())
                .filteredOn(line -> line.kind() != Kind.TILE)
                .zipSatisfy(
                        truth.lines().stream()
                                .filter(line -> line.kind() != Kind.TILE)
                                .toList(),
                        (line, like) -> {
                            assertThat(line.name()).isEqualTo(like.name());
                            assertThat(line.before()).isEqualTo(like.before());
                            assertThat(line.after()).isEqualTo(like.after());
                            assertThat(line.sharePercent()).isEqualTo(like.sharePercent());
                        });
        assertThat(net.remarks()).anyMatch(remark -> remark.startsWith("Net times, without what the marks"));

        RunComparison mixed = RunComparison.of(withMarks(marked, 3_000), recorded, Options.defaults());
        RunComparison unknown = RunComparison.of(marked, recorded, Options.defaults());
        assertThat(mixed.lines()).isEqualTo(unknown.lines());
        assertThat(mixed.remarks()).anyMatch(remark -> remark.startsWith("Recorded times are compared of "));
        assertThat(unknown.remarks()).noneMatch(remark -> remark.contains("times are compared"));
        assertThat(truth.remarks()).noneMatch(remark -> remark.contains("are compared of"));
    }

    /** Marks add the same to each sample: the shape of a distribution does not scale with the mean. */
    @Test
    void marksAreTakenOutOfEachSampleOfADistribution() {
        String name = "DownProjection";
        List<Run> runs = side("before", 2, work -> work.longer(name, 8, 3));
        RunComparison recorded = RunComparison.of(runs.subList(0, 1), runs.subList(1, 2), Options.defaults());
        List<Run> known = withMarks(runs, 400);
        RunComparison net = RunComparison.of(known.subList(0, 1), known.subList(1, 2), Options.defaults());

        for (Kind kind : List.of(Kind.BRICK, Kind.BRICK_P50)) {
            assertThat(line(net, kind, name).before().orElseThrow().value())
                    .isCloseTo(line(recorded, kind, name).before().orElseThrow().value() - 400, within(1e-6));
        }
    }

    private static List<Run> lengthened(List<Run> runs, long eachNs) {
        return changed(runs, brick -> brick.toBuilder()
                .samples(brick.count(), brick.totalNs() + eachNs * brick.count(), brick.minNs(), brick.maxNs()));
    }

    private static List<Run> withMarks(List<Run> runs, long eachNs) {
        return changed(runs, brick -> brick.toBuilder()
                .device(ofDevice(brick.count(), 0, new DeviceTime.MarkTime(brick.count(), eachNs * brick.count(), 0))));
    }

    private static List<Run> changed(List<Run> runs, Function<BrickStats, BrickStats.Builder> change) {
        return runs.stream()
                .map(run -> Run.of(
                        run.name(),
                        run.snapshot().toBuilder()
                                .bricks(run.snapshot().bricks().stream()
                                        .map(brick -> change.apply(brick).build())
                                        .toList())
                                .build()))
                .toList();
    }

    private static DeviceTime ofDevice(long measured, long unmarked, DeviceTime.MarkTime marks) {
        return new DeviceTime(measured, 0, 0, 0, 0, 0, 0, unmarked, 0, 0, 0, 0, marks);
    }

    private static List<Run> measured(List<Run> runs, double rate) {
        return IntStream.range(0, runs.size())
                .mapToObj(i -> new Run(
                        runs.get(i).name(), runs.get(i).snapshot(), OptionalDouble.of(rate + i % 3 / 10.0), List.of()))
                .toList();
    }

    private static Run with(Run run, RunFacts facts) {
        return Run.of(run.name(), run.snapshot().withFacts(facts));
    }

    private static RunFacts facts(OptionalDouble own, OptionalDouble unprofiled, double gcPercent) {
        return new RunFacts(
                own,
                unprofiled,
                Map.of(),
                List.of(),
                List.of(new RunFacts.VirtualMachine(
                        1, Instant.EPOCH, 1_000_000, Math.round(gcPercent * 10_000), 300_000)),
                List.of(),
                Map.of());
    }

    @Test
    void takesTheRateThatAllRunsHave() {
        List<Run> before = side("before", 6, UnaryOperator.identity());
        List<Run> after = side("after", 6, UnaryOperator.identity());
        OptionalDouble none = OptionalDouble.empty();
        OptionalDouble own = OptionalDouble.of(90);
        OptionalDouble unprofiled = OptionalDouble.of(100);
        UnaryOperator<Run> both = run -> with(run, facts(own, unprofiled, 1));
        UnaryOperator<Run> onlyOwn = run -> with(run, facts(own, none, 1));
        assertThat(tokens(before, both, after, both)).isEqualTo("tokens/s, unprofiled 100.0 100.0");
        assertThat(tokens(before, both, after, onlyOwn)).isEqualTo("tokens/s, profiled 90.0 90.0");
        assertThat(tokens(before, both, after, UnaryOperator.identity()))
                .startsWith("tokens/s, profiled ")
                .doesNotContain("90.0");
    }

    private static String tokens(List<Run> before, UnaryOperator<Run> one, List<Run> after, UnaryOperator<Run> other) {
        RunComparison comparison = RunComparison.of(
                before.stream().map(one).toList(), after.stream().map(other).toList(), Options.defaults());
        Line line = line(comparison, Kind.TOKENS_PER_SEC, "");
        return String.format(
                Locale.ROOT,
                "%s %.1f %.1f",
                line.name(),
                line.before().orElseThrow().value(),
                line.after().orElseThrow().value());
    }

    @Test
    void remarksOnSidesOfWhichOneCollectsMoreGarbage() {
        List<Run> before = side("before", 6, UnaryOperator.identity()).stream()
                .map(run -> with(run, facts(OptionalDouble.empty(), OptionalDouble.empty(), 1)))
                .toList();
        List<Run> after = side("after", 6, UnaryOperator.identity()).stream()
                .map(run -> with(run, facts(OptionalDouble.empty(), OptionalDouble.empty(), 4.5)))
                .toList();
        assertThat(RunComparison.of(before, after, Options.defaults()).remarks())
                .containsExactly(
                        "Garbage collection took 1.0 % of the life of the virtual machines before, and 4.5 % after: part of a "
                                + "change may be due to that.");
        assertThat(RunComparison.of(before, before, Options.defaults()).remarks())
                .isEmpty();
    }

    @Test
    void theChangeOfFiguresHasWelchsInterval() {
        // Of the logarithms: difference 0.13197, standard error 0.05553, 3.1769 degrees, whose quantile is 3.0845.
        RunComparison.Change change =
                RunComparison.Change.between(new double[] {10, 10.5, 11}, new double[] {11, 12, 13});
        assertThat(change.percent()).isCloseTo(14.107, within(0.01));
        assertThat(change.lowPercent()).isCloseTo(-3.857, within(0.01));
        assertThat(change.highPercent()).isCloseTo(35.427, within(0.01));
        assertThat(RunComparison.Change.between(new double[] {4, 400}, new double[] {5, 9, 8})
                        .hasInterval())
                .isFalse();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RunComparison.Change.between(new double[] {1, -1}, new double[] {1}))
                .withMessage("before -1.0 is not a finite number above 0");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RunComparison.Change.between(new double[] {1}, new double[0]))
                .withMessage("after has no run");
    }

    @Test
    void theChangeOfPairsHasStudentsInterval() {
        // Of the logarithms: mean 0.13197, standard error 0.02073, 2 degrees, whose quantile is 4.3027.
        RunComparison.Change change =
                RunComparison.Change.ofPairs(new double[] {10, 10.5, 11}, new double[] {11, 12, 13});
        assertThat(change.percent()).isCloseTo(14.107, within(0.01));
        assertThat(change.lowPercent()).isCloseTo(4.372, within(0.01));
        assertThat(change.highPercent()).isCloseTo(24.750, within(0.01));
        assertThat(RunComparison.Change.ofPairs(new double[] {4, 7}, new double[] {5, 6})
                        .hasInterval())
                .isFalse();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RunComparison.Change.ofPairs(new double[] {1, 2}, new double[] {1}))
                .withMessage("2 and 1 figures form no pairs");
    }

    @Test
    void remarksOnSidesThatDidNotTakeTurnsAndOnDisturbedRuns() {
        RunComparison comparison = compare(5, work -> {
            work.afterwards = true;
            return work;
        });
        assertThat(comparison.remarks()).first().asString().startsWith("All runs of one side preceded");

        List<Run> before = new ArrayList<>(side("before", 5, UnaryOperator.identity()));
        before.set(2, new Run("before/4", before.get(2).snapshot(), OptionalDouble.empty(), List.of("steal 7 %")));
        RunComparison disturbed =
                RunComparison.of(before, side("after", 5, UnaryOperator.identity()), Options.defaults());
        assertThat(disturbed.remarks()).containsExactly("1 of 10 runs were disturbed: before/4 (steal 7 %).");
    }

    @Test
    void findsTheBrickThatMarksSteps() {
        UnaryOperator<Work> prefill = work -> {
            work.bricks.add(new Brick("Prefill", BrickCategory.OTHER, 1, 1_000_000, 512));
            return work;
        };
        List<Run> before = side("before", 4, prefill);
        List<Run> after = side("after", 4, prefill);

        RunComparison found = RunComparison.of(before, after, Options.defaults());
        assertThat(found.stepBrick()).contains("LmHead");
        assertThat(line(found, Kind.TOTAL, "").before().orElseThrow().value()).isCloseTo(2_465_000, within(40_000.0));
        assertThat(RunComparison.of(before, after, Options.defaults().withStepBrick("RmsNorm"))
                        .stepBrick())
                .contains("RmsNorm");
        assertThatThrownBy(
                        () -> RunComparison.of(before, after, Options.defaults().withStepBrick("Nothing")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("not every run has a brick 'Nothing'");
    }

    @Test
    void comparesNoWholeWithoutASharedBrick() {
        RunComparison comparison = compare(6, work -> {
            work.bricks.replaceAll(b -> new Brick("new " + b.name(), b.category(), b.count(), b.meanNs(), 1));
            return work;
        });

        assertThat(comparison.stepBrick()).isEmpty();
        assertThat(comparison.remarks())
                .contains("No brick is in all runs and marks a step, so the whole is not compared.");
        assertThat(comparison.lines()).hasSize(15).noneMatch(line -> line.kind() == Kind.TOTAL);
    }

    @Test
    void learnsTheFloorFromRunsOfTheSameCode() {
        Sides same = new SimulatedRuns(Behaviour.WIDE, 5).sides(10, 0);
        List<Run> all = new ArrayList<>(same.before());
        all.addAll(same.after());

        double floor = RunComparison.noiseFloorPercent(all, Options.defaults());
        // The largest of 36 differences of means of 10, each of a standard deviation of 3 % x sqrt(2 / 10).
        assertThat(floor).isBetween(3.0, 6.0);
        assertThatThrownBy(() -> RunComparison.noiseFloorPercent(all.subList(0, 3), Options.defaults()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("at least 4 runs of the same code, not 3");
    }

    @Test
    void moreRunsShowSmallerChanges() {
        double[] smallest = IntStream.of(5, 10, 20)
                .mapToDouble(runs -> new SimulatedRuns(Behaviour.WIDE, 3)
                        .sides(runs, 0)
                        .compare(0)
                        .smallestPercent()
                        .orElseThrow())
                .toArray();
        assertThat(smallest[0]).isGreaterThan(1.3 * smallest[1]);
        assertThat(smallest[1]).isGreaterThan(1.2 * smallest[2]);
    }

    @Test
    void aChangeOfTheSmallestSizeIsFoundInFourOfFive() {
        Behaviour behaviour = Behaviour.QUIET;
        double smallest = ComparisonStudy.smallest(behaviour, 20, 0, 10, 0);
        assertThat(ComparisonStudy.cell(behaviour, 40, 11, 10, smallest, 0).found())
                .isBetween(65.0, 92.5);
    }

    @Test
    void namesBadOptions() {
        assertThatThrownBy(() -> Options.defaults().withFloorPercent(-1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("floorPercent -1.0 is not a finite number of 0 or more");
        ProfileSnapshot snapshot =
                side("before", 1, UnaryOperator.identity()).get(0).snapshot();
        assertThatThrownBy(() -> new Run("x", snapshot, OptionalDouble.of(0), List.of()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("tokensPerSec 0.0 of run x is not a finite number above 0");
    }

    @Test
    void theSameRunsGiveTheSameVerdicts() {
        Sides sides = new SimulatedRuns(Behaviour.ALL, 9).sides(10, 5);
        assertThat(sides.compare(2)).isEqualTo(sides.compare(2));
    }
}
