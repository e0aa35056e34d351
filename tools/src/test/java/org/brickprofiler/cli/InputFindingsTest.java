package org.brickprofiler.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.BrickStats;
import org.brickprofiler.DeviceTime;
import org.brickprofiler.Environment;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.RunFacts;
import org.brickprofiler.Step;
import org.brickprofiler.StepInfo;
import org.brickprofiler.StepStats;
import org.brickprofiler.Steps;
import org.brickprofiler.Work;
import org.brickprofiler.graph.ExecutionGraph;
import org.brickprofiler.internal.record.LatencyBuckets;
import org.brickprofiler.report.Finding;
import org.brickprofiler.report.Finding.Kind;
import org.brickprofiler.report.FindingSource;
import org.brickprofiler.roofline.BrickRoofline;
import org.brickprofiler.roofline.MachineRoof;
import org.brickprofiler.roofline.MachineRoof.Bandwidth;
import org.brickprofiler.roofline.MachineRoof.Rate;
import org.brickprofiler.stats.LatencyDistribution;
import org.brickprofiler.testing.FakeClock;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.trace.read.ReadOptions;
import org.brickprofiler.trace.read.TraceProfile;
import org.brickprofiler.trace.read.TraceReader;
import org.junit.jupiter.api.Test;

/** The findings on a file: of its profile, its roofline and its trace. */
final class InputFindingsTest {

    private static final Environment MACHINE = new Environment("17", "VM", "OS", "arch", "cpu", 2, 1);
    private static final MachineRoof ROOF = new MachineRoof(
            MACHINE,
            Instant.EPOCH,
            List.of(new Bandwidth(Bandwidth.MEMORY, 1 << 26, rate(10), rate(10), rate(10), rate(10))),
            rate(1_000),
            rate(1_000));

    private static Rate rate(double highest) {
        return new Rate(highest, highest, highest);
    }

    private static ProfileSnapshot.Builder profile(long wallNs) {
        return ProfileSnapshot.builder(Instant.EPOCH, Instant.EPOCH.plusNanos(wallNs), wallNs)
                .threads(1, false)
                .environments(List.of(MACHINE));
    }

    private static List<Finding> findings(ProfileSnapshot snapshot, boolean withRoof) {
        return new ProfileInput("run.json", snapshot, Optional.empty(), Optional.empty())
                .findings(withRoof ? new FindingSource[] {BrickRoofline.of(snapshot, ROOF, 1)} : new FindingSource[0]);
    }

    /** Returns the kinds apart from doubts and from the largest brick. */
    private static List<Kind> kinds(ProfileSnapshot snapshot, boolean withRoof) {
        return findings(snapshot, withRoof).stream()
                .map(Finding::kind)
                .filter(kind -> !kind.of().equals("none") && kind != Kind.LARGEST_BRICK)
                .toList();
    }

    private static String sentence(ProfileSnapshot snapshot, Kind kind) {
        return findings(snapshot, kind == Kind.BELOW_ROOF).stream()
                .filter(finding -> finding.kind() == kind)
                .findFirst()
                .orElseThrow()
                .sentence();
    }

    /** Decode steps of 1 ms, a share of which is brick time, and some of which take longer. */
    private static Steps steps(long number, long brickNs, long slow, long slowNs) {
        long[] counts = new long[LatencyBuckets.COUNT];
        counts[LatencyBuckets.indexOf(1_000_000)] += number - slow;
        counts[LatencyBuckets.indexOf(slowNs)] += slow;
        long totalNs = slow * slowNs + (number - slow) * 1_000_000;
        StepStats decode = StepStats.builder(StepInfo.Phase.DECODE)
                .steps(number, totalNs)
                .durations(totalNs, 1_000_000, Math.max(slowNs, 1_000_000), LatencyDistribution.ofCounts(counts))
                .sequences(number)
                .tokens(0, number, 0, 0)
                .categories(number, Map.of(BrickCategory.FFN, brickNs))
                .build();
        return new Steps(List.of(decode), LatencyDistribution.EMPTY, 0, LatencyDistribution.EMPTY, 0, List.of());
    }

    private static BrickStats brick(long totalNs, long bytes) {
        return BrickStats.builder("QkvProjection", BrickCategory.ATTENTION)
                .samples(10, totalNs, totalNs / 10, totalNs / 10)
                .work(new Work(0, bytes, 1 << 26))
                .build();
    }

    @Spec("15.6")
    @Test
    void theBrickWithTheMostTimeAboveItsRoofIsNamed() {
        ProfileSnapshot slow =
                profile(1_000).bricks(List.of(brick(1_000, 4_000))).build();
        ProfileSnapshot fast =
                profile(1_000).bricks(List.of(brick(1_000, 9_500))).build();

        assertThat(sentence(slow, Kind.BELOW_ROOF))
                .isEqualTo(
                        "QkvProjection runs at 40 % of its roof, which is the memory's bandwidth: 60 % of brick time could"
                                + " be won there.");
        assertThat(findings(slow, true))
                .extracting(Finding::next)
                .contains("with --html OUT, the same command draws the roofline");
        assertThat(kinds(slow, false)).as("no roof, no number").isEmpty();
        assertThat(kinds(fast, true)).as("at 95 % of the roof").isEmpty();
        assertThat(kinds(
                        profile(1_000)
                                .environments(List.of(new Environment("17", "VM", "OS", "arch", "other", 8, 1)))
                                .bricks(List.of(brick(1_000, 4_000)))
                                .build(),
                        true))
                .as("the roof of another machine")
                .isEmpty();
        assertThat(kinds(
                        profile(1_000)
                                .environments(List.of())
                                .bricks(List.of(brick(1_000, 4_000)))
                                .build(),
                        true))
                .as("perhaps another machine")
                .isEmpty();
        BrickStats onDevice = brick(1_000, 4_000).toBuilder()
                .device(new DeviceTime(10, 0, 0, 0, 0, 0))
                .build();
        assertThat(kinds(profile(1_000).bricks(List.of(onDevice)).build(), true))
                .as("the time of a device")
                .isEmpty();
    }

    @Spec("15.6")
    @Test
    void theTimeBetweenBricksIsGivenIfOneThreadRanBricksThatDoNotNest() {
        Steps gaps = steps(10, 7_500_000, 0, 0);

        assertThat(sentence(profile(10_000_000).steps(gaps).build(), Kind.BETWEEN_BRICKS))
                .isEqualTo("Bricks cover 75 % of the time in steps; 2.5 ms are not marked.");
        assertThat(kinds(profile(10_000_000).threads(2, false).steps(gaps).build(), false))
                .as("bricks of two threads overlap")
                .isEmpty();
        assertThat(kinds(profile(10_000_000).deferred(0, 3, 0).steps(gaps).build(), false))
                .as("samples without a time")
                .isEmpty();
        assertThat(kinds(profile(10_000_000).steps(steps(10, 12_000_000, 0, 0)).build(), false))
                .as("bricks that nest")
                .isEmpty();
        RunFacts nested = new RunFacts(
                OptionalDouble.empty(),
                OptionalDouble.empty(),
                Map.of(),
                List.of(),
                List.of(),
                List.of(),
                Map.of("Attention", new ExecutionGraph.Nesting(10, 0, 30, 0)));
        assertThat(kinds(profile(10_000_000).facts(nested).steps(gaps).build(), false))
                .as("bricks that nest, and have less time than the steps")
                .isEmpty();
    }

    @Spec("15.6")
    @Test
    void slowStepsAreNamedIfTheyDoTheSameWork() {
        Steps spread = steps(200, 230_000_000, 10, 4_000_000);
        Steps mixed = new Steps(
                spread.phases(),
                LatencyDistribution.EMPTY,
                0,
                LatencyDistribution.EMPTY,
                0,
                List.of(step(0, 1), step(1, 8)));

        assertThat(kinds(profile(230_000_000).steps(spread).build(), false)).containsExactly(Kind.SLOW_STEPS);
        assertThat(kinds(profile(230_000_000).steps(mixed).build(), false))
                .as("steps of batches of 1 and 8")
                .isEmpty();
        assertThat(kinds(
                        profile(23_000_000)
                                .steps(steps(20, 23_000_000, 1, 4_000_000))
                                .build(),
                        false))
                .as("too few steps")
                .isEmpty();
    }

    /**
     * A text that grows from 100 to 1,000 tokens: its last steps are twice as long as its median, as all of them grow.
     */
    @Spec("15.6")
    @Test
    void aLongerContextIsNoSpread() {
        assertThat(kinds(growing(0), false)).isEmpty();
        assertThat(kinds(growing(16), false)).containsExactly(Kind.SLOW_STEPS);
    }

    private static ProfileSnapshot growing(int slowEvery) {
        FakeClock clock = new FakeClock();
        BrickProfiler profiler = BrickProfiler.builder().clock(clock).build();
        profiler.enable();
        for (int kvLength = 100; kvLength < 1_000; kvLength++) {
            profiler.beginStep(StepInfo.decode(kvLength));
            long timer = profiler.startBrick(BrickId.FUSED_ATTENTION);
            clock.advance(1_000L * (slowEvery > 0 && kvLength % slowEvery == 0 ? 4_000 : kvLength));
            profiler.stopBrick(timer, 1);
            profiler.endPass();
        }
        return profiler.snapshot();
    }

    private static Step step(long index, int batch) {
        return new Step(index, 0, 1_000_000, new StepInfo(StepInfo.Phase.DECODE, batch, 0, 5, batch, 0), 0, Map.of());
    }

    @Spec("15.6")
    @Test
    void aTraceHasItsIdleTime() throws IOException {
        TraceProfile trace =
                TraceReader.profile(Cli.TRACES.resolve("kineto-simple-add.json.gz"), ReadOptions.defaults());
        TraceProfile sums =
                TraceReader.profile(Cli.TRACES.resolve("trt-resnet-fp16.profile.json"), ReadOptions.defaults());

        List<Finding> ofTrace =
                new ProfileInput("t.json", trace.snapshot(), Optional.of(trace), Optional.empty()).findings();
        assertThat(ofTrace.get(0).sentence())
                .isEqualTo(
                        "99.7 % of the time nothing ran, 15.98 s of 16.03 s; for 11.75 s of it the device waited for its host: what ran next was not launched yet.");
        assertThat(new ProfileInput("t.json", trace.snapshot(), Optional.of(trace), Optional.empty()).findingsText(100))
                .contains("\nNext: brick convert t.json timeline.pftrace ");
        assertThat(new ProfileInput("s", sums.snapshot(), Optional.of(sums), Optional.empty()).findings())
                .as("sums have no idle time")
                .extracting(Finding::kind)
                .doesNotContain(Kind.IDLE);
    }
}
