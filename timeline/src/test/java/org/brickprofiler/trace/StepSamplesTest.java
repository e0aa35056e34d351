package org.brickprofiler.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.tuple;

import java.util.List;
import java.util.concurrent.Phaser;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.StepInfo;
import org.brickprofiler.report.Finding;
import org.brickprofiler.testing.Crew;
import org.brickprofiler.testing.FakeClock;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.testing.VirtualThreadStarter;
import org.brickprofiler.trace.SlowSteps.Explained;
import org.brickprofiler.trace.SlowSteps.Kind;
import org.brickprofiler.trace.SlowSteps.Part;
import org.brickprofiler.trace.SlowSteps.SampledMethod;
import org.brickprofiler.trace.SlowSteps.SamplesOfStep;
import org.brickprofiler.trace.SlowSteps.SamplesOfStep.State;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The samples of stacks in slow steps. Times are ns of a fake clock. */
final class StepSamplesTest {

    private final FakeClock clock = new FakeClock();
    private final long mine = Thread.currentThread().getId();
    private TraceRecorder recorder = recorder(1 << 10);
    private LineLog log = recorder.lineLog().orElseThrow();
    private BrickProfiler profiler = profiler();

    private TraceRecorder recorder(int capacity) {
        return TraceRecorder.builder()
                .clock(clock)
                .times(new FakeTimes())
                .keepSlowSteps(1)
                .lines(true)
                .threadCapacity(capacity)
                .build();
    }

    private BrickProfiler profiler() {
        BrickProfiler made =
                BrickProfiler.builder().clock(clock).tracing(recorder).build();
        made.enable();
        return made;
    }

    private void brick(BrickId id, long startNs, long endNs) {
        clock.set(startNs);
        long timer = profiler.startBrick(id);
        clock.set(endNs);
        profiler.stopBrick(timer, 1);
    }

    private void step(long startNs, long endNs, Crew.Body body) throws Exception {
        clock.set(startNs);
        profiler.beginStep(StepInfo.decode(100));
        body.run();
        clock.set(endNs);
        profiler.endPass();
    }

    private void sample(long threadId, long atNs, String method) {
        log.sample(threadId, atNs, false, List.of(new Frame(method, 88, "JIT compiled"), new Frame("a.B.run", 1, "")));
    }

    private void reported(long untilNs) {
        log.reported(untilNs, untilNs, 0);
    }

    private Explained slowest() {
        return recorder.slowSteps().orElseThrow().slowest().get(0);
    }

    private SamplesOfStep samples() {
        return slowest().samples().orElseThrow();
    }

    @Spec("13.18")
    @ParameterizedTest
    @CsvSource({
        "19, 12000, other stops of the virtual machine.",
        "20, 10400, other stops of the virtual machine.",
        "20, 12000, 'virtual machine. Of 20 samples, 75 % (53 to 89 %) are in VectorMath.dot of LmHead.'"
    })
    void theFindingOnSlowStepsNamesTheirHottestMethodIfEnoughSamplesHaveCome(
            int samples, long reportedNs, String ending) throws Exception {
        for (int i = 0; i < 8; i++) {
            long atNs = 1_000L * i;
            step(atNs, atNs + 100, () -> brick(BrickId.LM_HEAD, atNs, atNs + 100));
        }
        step(10_000, 10_600, () -> brick(BrickId.LM_HEAD, 10_000, 10_500));
        step(11_000, 11_100, () -> brick(BrickId.LM_HEAD, 11_000, 11_100));
        for (int i = 0; i < samples; i++) {
            sample(mine, 10_100 + i, i < 15 ? "a.VectorMath.dot" : "a.VectorMath.exp");
        }
        reported(reportedNs);
        List<Finding> findings = recorder.slowSteps().orElseThrow().candidates(profiler.snapshot());
        assertThat(findings.get(0).sentence()).endsWith(ending);
    }

    /** A step with nested bricks, a worker without bricks, and a worker of a pool with its own. */
    @Spec("13.18")
    @Test
    void aSlowStepHasTheSamplesOfItsBricksByMethod() throws Exception {
        long[] pool = new long[1];
        for (int i = 0; i < 8; i++) {
            long atNs = 1_000L * i;
            step(atNs, atNs + 100, () -> brick(BrickId.LM_HEAD, atNs, atNs + 100));
        }
        step(10_000, 10_600, () -> {
            clock.set(10_000);
            long outer = profiler.startBrick(BrickId.FUSED_ATTENTION);
            brick(BrickId.ATTENTION_SCORE, 10_100, 10_200);
            new Crew()
                    .run(() -> {
                        pool[0] = Thread.currentThread().getId();
                        brick(BrickId.ROPE_EMBEDDING, 10_300, 10_320);
                    })
                    .join();
            clock.set(10_500);
            profiler.stopBrick(outer, 1);
        });
        step(11_000, 11_100, () -> brick(BrickId.LM_HEAD, 11_000, 11_100));
        sample(mine, 7_050, "a.B.before");
        sample(mine, 10_050, "a.Attention.run");
        sample(mine, 10_060, "a.Attention.run");
        sample(mine, 10_150, "a.VectorMath.dot");
        sample(mine, 10_550, "a.B.between");
        sample(mine, 11_050, "a.B.after");
        sample(pool[0], 10_310, "a.Rope.rotate");
        sample(mine + 1_000, 10_400, "a.VectorMath.dot");
        sample(mine + 1_000, 10_550, "a.Other.work");
        reported(12_000);
        assertThat(samples())
                .isEqualTo(new SamplesOfStep(
                        State.COMPLETE,
                        5,
                        1,
                        0,
                        List.of(
                                new SampledMethod("FusedAttention", "a.Attention.run", 2),
                                new SampledMethod("AttentionScore", "a.VectorMath.dot", 1),
                                new SampledMethod("FusedAttention", "a.VectorMath.dot", 1),
                                new SampledMethod("RopeEmbedding", "a.Rope.rotate", 1))));
        assertThat(slowest().sentence())
                .endsWith(" 6 samples: 2 in FusedAttention (Attention.run), 1 in AttentionScore (VectorMath.dot), 1 in"
                        + " FusedAttention (VectorMath.dot), 1 in RopeEmbedding (Rope.rotate), 1 outside of bricks.");
        SlowSteps steps = recorder.slowSteps().orElseThrow();
        assertThat(SlowSteps.fromJson(steps.toJson())).isEqualTo(steps);

        // What is known of a step stays when its samples are no longer kept.
        SamplesOfStep known = samples();
        for (int i = 0; i < LineLog.MOST_LATEST + 10; i++) {
            long atNs = 20_000 + 10L * i;
            brick(BrickId.LM_HEAD, atNs, atNs + 10);
            sample(mine, atNs + 5, "a.B.later");
            if (i % 256 == 0) {
                reported(atNs + 10);
            }
        }
        assertThat(samples()).isEqualTo(known);
    }

    @Spec("13.18")
    @Test
    void samplesThatAreNotKnownAreSaidToBe() throws Exception {
        log.sampledFrom(50);
        step(0, 100, () -> brick(BrickId.LM_HEAD, 0, 100));
        assertThat(slowest().samples()).as("no samples yet").isEmpty();
        reported(110);
        assertThat(samples()).isEqualTo(new SamplesOfStep(State.BEGINNING_MISSING, 0, 0, 0, List.of()));
        assertThat(slowest().sentence()).endsWith(" Samples of its beginning are missing.");

        step(1_000, 2_000, () -> brick(BrickId.LM_HEAD, 1_000, 1_900));
        sample(mine, 1_400, "a.B.run");
        assertThat(samples().state()).isEqualTo(State.MORE_TO_COME);
        reported(1_500);
        assertThat(samples()).isEqualTo(new SamplesOfStep(State.MORE_TO_COME, 0, 0, 0, List.of()));
        assertThat(slowest().sentence()).endsWith(" Its samples have not all arrived.");
        sample(mine, 1_950, "a.B.end");
        reported(2_500);
        assertThat(samples())
                .isEqualTo(
                        new SamplesOfStep(State.COMPLETE, 1, 1, 0, List.of(new SampledMethod("LmHead", "a.B.run", 1))));

        recorder = recorder(4);
        log = recorder.lineLog().orElseThrow();
        profiler = profiler();
        step(3_000, 4_000, () -> {
            for (int i = 0; i < 10; i++) {
                brick(BrickId.RMS_NORM, 3_000 + 100L * i, 3_100 + 100L * i);
            }
        });
        sample(mine, 3_050, "a.B.run");
        sample(mine, 3_950, "a.B.run");
        reported(5_000);
        assertThat(samples())
                .isEqualTo(new SamplesOfStep(
                        State.COMPLETE, 1, 0, 1, List.of(new SampledMethod("RmsNorm", "a.B.run", 1))));
        assertThat(slowest().sentence())
                .endsWith(" 2 samples: 1 in RmsNorm (B.run), 1 too late or in bricks of several profilers.");
    }

    /** While two steps are under way, a brick of a third thread belongs to neither. */
    @Spec("13.18")
    @Test
    void aSampleOfAnotherStepIsNotOfThisOne() throws Exception {
        Phaser turn = new Phaser(2);
        long[] ids = new long[2];
        clock.set(0);
        profiler.beginStep(StepInfo.decode(100));
        Crew other = new Crew().run(() -> {
            ids[0] = Thread.currentThread().getId();
            clock.set(10);
            profiler.beginStep(StepInfo.decode(100));
            brick(BrickId.LM_HEAD, 10, 90);
            profiler.endPass();
            turn.arriveAndAwaitAdvance();
        });
        turn.arriveAndAwaitAdvance();
        other.join();
        new Crew()
                .run(() -> {
                    ids[1] = Thread.currentThread().getId();
                    brick(BrickId.ROPE_EMBEDDING, 100, 200);
                })
                .join();
        brick(BrickId.FUSED_ATTENTION, 200, 500);
        profiler.endPass();
        sample(ids[0], 50, "a.B.other");
        sample(ids[1], 150, "a.B.pool");
        sample(mine, 300, "a.B.mine");
        reported(600);
        assertThat(samples())
                .isEqualTo(new SamplesOfStep(
                        State.COMPLETE, 1, 0, 0, List.of(new SampledMethod("FusedAttention", "a.B.mine", 1))));
    }

    @Spec("13.18")
    @Test
    void aSlowStepOfAVirtualThreadHasItsSamplesAndItsLock() throws Exception {
        VirtualThreadStarter starter = VirtualThreadStarter.orSkip();
        long[] ids = new long[2];
        starter.start(() -> ids[1] = Thread.currentThread().getId()).join();
        starter.start(() -> {
                    ids[0] = Thread.currentThread().getId();
                    for (int i = 0; i < 8; i++) {
                        step(1_000L * i, 1_000L * i + 100);
                    }
                    step(10_000, 10_600);
                    step(11_000, 11_100);
                })
                .join();
        List<Frame> stack = List.of(new Frame("a.B.dot", 88, "JIT compiled"));
        log.sampleOfVirtualThread(ids[0], 10_010, false, stack);
        log.sampleOfVirtualThread(ids[0], 10_590, false, stack);
        log.sampleOfVirtualThread(ids[0], 11_050, false, stack);
        log.sampleOfVirtualThread(ids[1], 10_020, false, stack);
        recorder.threadBlocked(ids[0], 10_100, 300, "monitor of a.Cache");
        recorder.threadBlocked(ids[1], 10_400, 100, "monitor of a.Other");
        recorder.virtualMachineStopsReported(0, 12_000);
        reported(12_000);

        assertThat(samples())
                .isEqualTo(
                        new SamplesOfStep(State.COMPLETE, 1, 1, 0, List.of(new SampledMethod("LmHead", "a.B.dot", 1))));
        assertThat(slowest().parts())
                .filteredOn(part -> part.kind() == Kind.BLOCKED)
                .extracting(Part::name, Part::excessNs)
                .contains(tuple("blocked by monitor of a.Cache", 300L))
                .noneMatch(part -> part.toString().contains("a.Other"));
    }

    /** A step whose brick takes its first 90 ns. */
    private void step(long startNs, long endNs) {
        clock.set(startNs);
        profiler.beginStep(StepInfo.decode(100));
        brick(BrickId.LM_HEAD, startNs, startNs + 90);
        clock.set(endNs);
        profiler.endPass();
    }

    @Test
    void aSlowStepDoesNotNameMethodsInDoubt() throws Exception {
        log.doubt("loops lack safepoints");
        step(0, 100, () -> brick(BrickId.LM_HEAD, 0, 100));
        sample(mine, 50, "a.B.dot");
        reported(200);

        assertThat(samples().hottest()).containsExactly(new SampledMethod("LmHead", "", 1));
        assertThat(slowest().sentence()).endsWith(" 1 sample: 1 in LmHead.");
        assertThat(recorder.lines().orElseThrow().doubt()).contains("loops lack safepoints");
    }

    @Test
    void samplesOfAStepAreNotNegative() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new SamplesOfStep(State.COMPLETE, -1, 0, 0, List.of()))
                .withMessageContaining("inBricks");
    }
}
