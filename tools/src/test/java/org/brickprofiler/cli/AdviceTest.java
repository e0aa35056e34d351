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

/** The lines at the end of a report. */
final class AdviceTest {

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

    private static String advice(ProfileSnapshot snapshot, boolean withRoof) {
        ProfileInput input = new ProfileInput("run.json", snapshot, Optional.empty(), Optional.empty());
        return Advice.of(input, withRoof ? BrickRoofline.of(snapshot, ROOF, 1) : null);
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
                profile(2_000).bricks(List.of(brick(1_000, 4_000))).build();
        ProfileSnapshot fast =
                profile(2_000).bricks(List.of(brick(1_000, 9_500))).build();

        assertThat(advice(slow, true))
                .isEqualTo(
                        "\nAdvice\n  QkvProjection is at 40 % of its roof, which is the memory's bandwidth: 60.0 % of"
                                + " brick time lie above it. brick report FILE --roofline ROOF --html OUT draws it.\n");
        assertThat(advice(slow, false)).as("no roof, no number").isEmpty();
        assertThat(advice(fast, true)).as("at 95 % of the roof").isEmpty();
        assertThat(advice(
                        profile(2_000)
                                .environments(List.of(new Environment("17", "VM", "OS", "arch", "other", 8, 1)))
                                .bricks(List.of(brick(1_000, 4_000)))
                                .build(),
                        true))
                .as("the roof of another machine")
                .isEmpty();
        assertThat(advice(
                        profile(2_000)
                                .environments(List.of())
                                .bricks(List.of(brick(1_000, 4_000)))
                                .build(),
                        true))
                .as("perhaps another machine")
                .isEmpty();
        BrickStats onDevice = brick(1_000, 4_000).toBuilder()
                .device(new DeviceTime(10, 0, 0, 0, 0, 0))
                .build();
        assertThat(advice(profile(2_000).bricks(List.of(onDevice)).build(), true))
                .as("the time of a device")
                .isEmpty();
    }

    @Spec("15.6")
    @Test
    void theTimeBetweenBricksIsGivenIfOneThreadRanBricksThatDoNotNest() {
        Steps gaps = steps(10, 7_500_000, 0, 0);

        assertThat(advice(profile(20_000_000).steps(gaps).build(), false))
                .isEqualTo(
                        "\nAdvice\n  Between bricks: 2.500 ms of decode steps, 25.0 % of their time. brick report FILE"
                                + " --html OUT shows the median and the slowest step.\n");
        assertThat(advice(profile(20_000_000).threads(2, false).steps(gaps).build(), false))
                .as("bricks of two threads overlap")
                .isEmpty();
        assertThat(advice(profile(20_000_000).deferred(0, 3, 0).steps(gaps).build(), false))
                .as("samples without a time")
                .isEmpty();
        assertThat(advice(profile(20_000_000).steps(steps(10, 12_000_000, 0, 0)).build(), false))
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
        assertThat(advice(profile(20_000_000).facts(nested).steps(gaps).build(), false))
                .as("bricks that nest, and have less time than the steps")
                .isEmpty();
    }

    @Spec("15.6")
    @Test
    void thePhaseWhoseStepsDifferMostIsNamedIfTheyDoTheSameWork() {
        Steps spread = steps(200, 209_000_000, 3, 4_000_000);
        Steps mixed = new Steps(
                spread.phases(),
                LatencyDistribution.EMPTY,
                0,
                LatencyDistribution.EMPTY,
                0,
                List.of(step(0, 1), step(1, 8)));

        assertThat(advice(profile(300_000_000).steps(spread).build(), false))
                .contains("The p99 of decode steps is 4.0 times their median, ")
                .contains("brick report FILE --html OUT shows the slowest one.");
        assertThat(advice(profile(300_000_000).steps(mixed).build(), false))
                .as("steps of batches of 1 and 8")
                .isEmpty();
        assertThat(advice(
                        profile(30_000_000)
                                .steps(steps(20, 23_000_000, 1, 4_000_000))
                                .build(),
                        false))
                .as("too few steps for a 99th percentile")
                .isEmpty();
    }

    /**
     * A text that grows from 100 to 1,000 tokens: its last steps are twice as long as its median, as all of them grow.
     */
    @Spec("15.6")
    @Test
    void aLongerContextIsNoSpread() {
        assertThat(advice(growing(0), false)).isEmpty();
        assertThat(advice(growing(16), false)).contains("of decode steps is").contains("times their median");
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
    void theAdviceOnATraceIsItsIdleTime() throws IOException {
        TraceProfile trace =
                TraceReader.profile(Cli.TRACES.resolve("kineto-simple-add.json.gz"), ReadOptions.defaults());
        TraceProfile sums =
                TraceReader.profile(Cli.TRACES.resolve("trt-resnet-fp16.profile.json"), ReadOptions.defaults());

        assertThat(Advice.of(new ProfileInput("t", trace.snapshot(), Optional.of(trace), Optional.empty()), null))
                .isEqualTo("\nAdvice\n  Between bricks: 15.98 s, 99.7 % of wall time. brick convert FILE"
                        + " timeline.pftrace shows where.\n");
        assertThat(Advice.of(new ProfileInput("s", sums.snapshot(), Optional.of(sums), Optional.empty()), null))
                .as("sums have no idle time")
                .isEmpty();
    }
}
