package org.brickprofiler.compare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.BrickStats;
import org.brickprofiler.Environment;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.StepInfo.Phase;
import org.brickprofiler.StepStats;
import org.brickprofiler.Steps;
import org.brickprofiler.compare.RunComparison.Kind;
import org.brickprofiler.compare.RunComparison.Line;
import org.brickprofiler.compare.RunComparison.Options;
import org.brickprofiler.compare.RunComparison.Verdict;
import org.brickprofiler.internal.record.LatencyBuckets;
import org.brickprofiler.stats.LatencyDistribution;
import org.brickprofiler.testing.OneJdk;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Comparisons of runs whose bricks have phases: a prompt takes some twenty times as long as a token. */
@OneJdk
class ComparisonByPhaseTest {

    private static final Environment HERE = new Environment("17", "VM 17", "Linux 6", "amd64", "CPU", 8, 20);
    private static final int RUNS = 10;
    private static final int DECODE_STEPS = 90;

    /** The samples of a brick in one step. */
    private static final int PER_STEP = 4;

    /**
     * The work of one run.
     *
     * @param bricks how many bricks it has
     * @param prompts how many prefill steps
     * @param promptTokens of each of them
     * @param kvLength of a decode step
     * @param mixedFactor how many times as long as in decode a sample in the mixed step takes; 0 for no mixed step
     * @param slower how many times as long samples take, by the name of their line
     * @param hasPhases whether the bricks have phases
     */
    private record Work(
            int bricks,
            int prompts,
            long promptTokens,
            long kvLength,
            double mixedFactor,
            Map<String, Double> slower,
            boolean hasPhases) {

        static final Work USUAL = new Work(7, 10, 128, 500, 0, Map.of(), true);

        Work slower(Map<String, Double> lines) {
            return new Work(bricks, prompts, promptTokens, kvLength, mixedFactor, lines, hasPhases);
        }

        Work mixed(double factor) {
            return new Work(bricks, prompts, promptTokens, kvLength, factor, slower, hasPhases);
        }

        Work bricks(int number) {
            return new Work(number, prompts, promptTokens, kvLength, mixedFactor, slower, hasPhases);
        }

        Work withoutPhases() {
            return new Work(bricks, prompts, promptTokens, kvLength, mixedFactor, slower, false);
        }

        Run run(String name, int number, Random random) {
            Map<Phase, List<BrickStats>> phases = new EnumMap<>(Phase.class);
            List<BrickStats> wholes = new ArrayList<>();
            double common = 0.01 * random.nextGaussian();
            for (int i = 0; i < bricks; i++) {
                String brick = brickName(i);
                double tokenNs = 10_000 * (1 + i) * Math.exp(common);
                List<BrickStats> parts = new ArrayList<>();
                for (Phase phase : Phase.values()) {
                    double spread = phase == Phase.PREFILL ? 0.02 : 0.005;
                    double factor = phase == Phase.PREFILL ? 20 : phase == Phase.DECODE ? 1 : mixedFactor;
                    long steps = steps(phase);
                    if (steps > 0) {
                        String line = brick + ", " + phase.name().toLowerCase(Locale.ROOT);
                        double ns = tokenNs * factor * slower.getOrDefault(line, 1.0);
                        parts.add(stats(brick, PER_STEP * steps, ns * Math.exp(spread * random.nextGaussian())));
                        phases.computeIfAbsent(phase, any -> new ArrayList<>()).add(parts.get(parts.size() - 1));
                    }
                }
                if (i == 0) {
                    double ns = 30_000 * slower.getOrDefault(brick + ", no phase", 1.0);
                    parts.add(stats(brick, 100, ns * Math.exp(common + 0.005 * random.nextGaussian())));
                }
                wholes.add(sum(brick, parts));
            }
            Instant start = Instant.parse("2026-01-01T00:00:00Z").plusSeconds(number * 100L);
            return Run.of(
                    name,
                    ProfileSnapshot.builder(start, start.plusSeconds(5), 5_000_000_000L)
                            .threads(1, false)
                            .environments(List.of(HERE))
                            .bricks(wholes)
                            .phases(hasPhases ? phases : Map.of())
                            .steps(new Steps(
                                    Stream.of(Phase.values())
                                            .filter(phase -> steps(phase) > 0)
                                            .map(this::stepStats)
                                            .toList(),
                                    LatencyDistribution.EMPTY,
                                    0,
                                    LatencyDistribution.EMPTY,
                                    0,
                                    List.of()))
                            .build());
        }

        private long steps(Phase phase) {
            return phase == Phase.PREFILL ? prompts : phase == Phase.DECODE ? DECODE_STEPS : mixedFactor > 0 ? 1 : 0;
        }

        private StepStats stepStats(Phase phase) {
            long steps = steps(phase);
            return StepStats.builder(phase)
                    .steps(steps, steps * 3_000_000)
                    .durations(steps * 3_000_000, 3_000_000, 3_000_000, LatencyDistribution.EMPTY)
                    .sequences(steps)
                    .tokens(phase == Phase.PREFILL ? steps * promptTokens : 0, steps, 0, 0)
                    .kvLength(steps * (phase == Phase.DECODE ? kvLength : 0))
                    .build();
        }
    }

    private static String brickName(int number) {
        return number == 1 ? "FusedAttention" : "brick " + number;
    }

    private static BrickStats stats(String name, long count, double meanNs) {
        long[] counts = new long[LatencyBuckets.COUNT];
        counts[LatencyBuckets.indexOf(Math.round(meanNs))] = count;
        return stats(name, count, Math.round(count * meanNs), LatencyDistribution.ofCounts(counts));
    }

    private static BrickStats stats(String name, long count, long totalNs, LatencyDistribution latency) {
        return BrickStats.builder(name, BrickCategory.FFN)
                .samples(count, totalNs, 1, 1_000_000_000)
                .last(1, 1)
                .elements(count)
                .latency(Optional.of(latency))
                .build();
    }

    private static BrickStats sum(String name, List<BrickStats> parts) {
        return stats(
                name,
                total(parts.stream().mapToLong(BrickStats::count)),
                total(parts.stream().mapToLong(BrickStats::totalNs)),
                parts.stream()
                        .map(part -> part.latency().orElseThrow())
                        .reduce(LatencyDistribution.EMPTY, LatencyDistribution::plus));
    }

    private static long total(LongStream values) {
        return values.sum();
    }

    private static RunComparison compare(Work before, Work after) {
        return compare(before, after, 1, UnaryOperator.identity());
    }

    private static RunComparison compare(Work before, Work after, long seed, UnaryOperator<Options> options) {
        Random random = new Random(seed);
        List<Run> first = new ArrayList<>();
        List<Run> second = new ArrayList<>();
        IntStream.range(0, RUNS).forEach(run -> {
            first.add(before.run("before/" + run, 2 * run, random));
            second.add(after.run("after/" + run, 2 * run + 1, random));
        });
        return RunComparison.of(first, second, options.apply(Options.defaults()));
    }

    private static Line line(RunComparison comparison, String name) {
        return comparison.lines().stream()
                .filter(line -> line.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new AssertionError(name + " is not in " + comparison.lines()));
    }

    private static List<String> found(RunComparison comparison) {
        return comparison.lines().stream()
                .filter(line -> line.kind() == Kind.BRICK)
                .filter(line -> line.verdict() == Verdict.FASTER || line.verdict() == Verdict.SLOWER)
                .map(Line::name)
                .toList();
    }

    private static Stream<String> bricks(RunComparison comparison) {
        return comparison.lines().stream()
                .filter(line -> line.kind() == Kind.BRICK)
                .map(Line::name);
    }

    @ParameterizedTest
    @ValueSource(strings = {"brick 3, decode", "FusedAttention, prefill", "brick 0, no phase"})
    void findsTheChangeInItsPhaseAndInNoOther(String name) {
        RunComparison comparison = compare(Work.USUAL, Work.USUAL.slower(Map.of(name, 1.2)));

        assertThat(found(comparison)).containsExactly(name);
        assertThat(line(comparison, name).verdict()).isEqualTo(Verdict.SLOWER);
        assertThat(line(comparison, name).tested().orElseThrow().percent()).isCloseTo(20, within(3.0));
        assertThat(bricks(comparison)).hasSize(15).doesNotHaveDuplicates();
    }

    @Test
    void reportsThePhaseOfEachBrick() {
        RunComparison comparison = compare(Work.USUAL, Work.USUAL.slower(Map.of("brick 3, decode", 1.2)));

        assertThat(line(comparison, "brick 3, decode").phase()).contains(Phase.DECODE);
        assertThat(line(comparison, "brick 3, decode, p90").phase()).contains(Phase.DECODE);
        assertThat(line(comparison, "brick 0, no phase").phase()).isEmpty();
        assertThat(line(comparison, "FFN").phase()).isEmpty();
        assertThat(ComparisonReport.toText(comparison))
                .contains(
                        "of the bricks by phase 1 slower",
                        "brick 3, prefill",
                        "No phase: its samples outside of steps");
        assertThat(ComparisonReport.toJson(comparison).replaceAll("\\s+", " "))
                .contains("\"name\": \"brick 3, decode\", \"statistic\": \"middle half\", \"phase\": \"decode\"")
                .contains("\"name\": \"brick 0, no phase\", \"statistic\": \"middle half\", \"verdict\"");
        assertThat(ComparisonReport.toMarkdown(comparison)).contains("| brick 3, decode |");
    }

    /** Another mix changes the time of a step, but no sample in a phase. */
    @Test
    void comparesWithinAPhaseAlthoughTheMixDiffers() {
        Work more = new Work(7, 20, 128, 500, 0, Map.of("brick 3, decode", 1.2), true);
        RunComparison comparison = compare(Work.USUAL, more);

        assertThat(found(comparison)).containsExactly("brick 3, decode");
        assertThat(line(comparison, "brick 3, prefill").verdict()).isEqualTo(Verdict.NO_DIFFERENCE);
        assertThat(line(comparison, "brick time of a step").verdict()).isEqualTo(Verdict.NOT_COMPARABLE);
        assertThat(line(comparison, "brick 0, no phase").verdict()).isEqualTo(Verdict.NOT_COMPARABLE);
        assertThat(comparison.remarks().get(0))
                .startsWith("The sides had a different share of steps that are prefill")
                .contains("bricks only within the phases that had the same work");
    }

    @Test
    void doesNotCompareAPhaseWithOtherWork() {
        RunComparison prompts = compare(Work.USUAL, new Work(7, 10, 256, 500, 0, Map.of(), true));
        assertThat(line(prompts, "brick 3, prefill").verdict()).isEqualTo(Verdict.NOT_COMPARABLE);
        assertThat(line(prompts, "brick 3, prefill").note())
                .isEqualTo("different number of prompt tokens in a prefill step: 128 before, 256 after");
        assertThat(line(prompts, "brick 3, decode").verdict()).isEqualTo(Verdict.NO_DIFFERENCE);

        RunComparison texts = compare(Work.USUAL, new Work(7, 10, 128, 600, 0, Map.of(), true));
        assertThat(line(texts, "FusedAttention, decode").note())
                .isEqualTo("different KV length of a decode step: 500 before, 600 after");
        assertThat(line(texts, "FusedAttention, prefill").verdict()).isEqualTo(Verdict.NO_DIFFERENCE);
        assertThat(line(texts, "brick 3, decode").verdict()).isEqualTo(Verdict.NO_DIFFERENCE);
    }

    @Test
    void namesAPhaseOfOneSideAndAPhaseThatTakesLittle() {
        RunComparison one = compare(Work.USUAL.mixed(20), Work.USUAL);
        assertThat(one.remarks())
                .contains(
                        "Only the runs before have bricks in mixed steps: the bricks of this phase are not compared.");
        assertThat(line(one, "brick 3, mixed").verdict()).isEqualTo(Verdict.NOT_COMPARABLE);
        assertThat(line(one, "brick 3, mixed").note()).isEqualTo("only before");
        assertThat(line(one, "brick 3, decode").verdict()).isEqualTo(Verdict.NO_DIFFERENCE);

        RunComparison little = compare(Work.USUAL.mixed(1), Work.USUAL.mixed(1));
        assertThat(little.remarks())
                .containsExactly(
                        "Bricks in mixed steps took less than 1 % of the brick time on both sides, and are not compared.");
        assertThat(bricks(little)).noneMatch(name -> name.endsWith(", mixed"));
        assertThat(compare(Work.USUAL, Work.USUAL).remarks()).isEmpty();
    }

    @Test
    void comparesOverAllPhasesIfSomeRunsHaveNone() {
        RunComparison oneSide = compare(Work.USUAL, Work.USUAL.withoutPhases());
        assertThat(oneSide.remarks())
                .containsExactly(
                        "Bricks are compared over all phases, because 10 of 10 runs before and 0 of 10 after have "
                                + "bricks by phase.");
        assertThat(bricks(oneSide)).hasSize(7).contains("brick 3", "FusedAttention");

        RunComparison named = compare(Work.USUAL, Work.USUAL, 1, options -> options.withStepBrick("brick 3"));
        assertThat(named.remarks())
                .containsExactly("Bricks are compared over all phases, because the steps are not those that every run "
                        + "announced.");
        assertThat(bricks(named)).hasSize(7).contains("brick 3");

        RunComparison none = compare(Work.USUAL.withoutPhases(), Work.USUAL.withoutPhases());
        assertThat(none.remarks()).isEmpty();
        assertThat(ComparisonReport.toText(none)).doesNotContain("phase");
    }

    /**
     * The phases of a brick are no further evidence of a common part, and a brick of the baseline counts in all phases.
     */
    @Test
    void theCommonPartIsOfBricksAndNotOfTheirPhases() {
        RunComparison few = compare(Work.USUAL.bricks(4), Work.USUAL.bricks(4));
        assertThat(bricks(few)).hasSize(9);
        assertThat(few.lines()).noneMatch(line -> line.kind() == Kind.COMMON);

        Work most = Work.USUAL.slower(Map.of("brick 3, decode", 1.2, "brick 2, decode", 1.1));
        RunComparison beside =
                compare(Work.USUAL, most, 1, options -> options.withBaseline(List.of("brick 5", "brick 2")));
        assertThat(found(beside)).contains("brick 3, decode");
        assertThat(beside.remarks())
                .contains("The baseline is not constant: beside its other bricks, brick 2, decode changed.");
    }

    /** There are twice as many lines of bricks as without phases, and each phase has its own spread. */
    @Test
    void phasesRaiseNoMoreAlarms() {
        long alarms = LongStream.rangeClosed(1, 12)
                .mapToObj(seed -> compare(Work.USUAL, Work.USUAL, seed, options -> options.withFloorPercent(0)))
                .filter(comparison -> comparison.lines().stream()
                        .anyMatch(line -> line.verdict() == Verdict.FASTER || line.verdict() == Verdict.SLOWER))
                .count();
        assertThat(alarms).isLessThanOrEqualTo(1);
    }
}
