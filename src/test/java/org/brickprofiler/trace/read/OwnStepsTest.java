package org.brickprofiler.trace.read;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.StepInfo;
import org.brickprofiler.StepInfo.Phase;
import org.brickprofiler.internal.record.FakeClock;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.trace.TraceRecorder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The phases of bricks in traces of this library are those that the profiler counted, or there are none. */
class OwnStepsTest {

    private final FakeClock clock = new FakeClock(5_000);
    private final TraceRecorder recorder = TraceRecorder.builder().clock(clock).build();
    private final BrickProfiler profiler =
            BrickProfiler.builder().clock(clock).tracing(recorder).build();

    OwnStepsTest() {
        profiler.enable();
    }

    private void brick(BrickId id, long elapsedNs) {
        long timer = profiler.startBrick(id);
        clock.advance(elapsedNs);
        profiler.stopBrick(timer, 3);
        clock.advance(1);
    }

    private void step(StepInfo info, long elapsedNs) {
        profiler.beginStep(info);
        brick(BrickId.RMS_NORM, elapsedNs);
        brick(BrickId.LM_HEAD, 2 * elapsedNs);
        profiler.endPass();
    }

    private static void inThread(Runnable work) throws InterruptedException {
        Thread thread = new Thread(work);
        thread.start();
        thread.join();
    }

    private static Map<Phase, List<RoundTrip.Brick>> phases(ProfileSnapshot snapshot) {
        Map<Phase, List<RoundTrip.Brick>> phases = new EnumMap<>(Phase.class);
        snapshot.phases().forEach((phase, bricks) -> phases.put(phase, RoundTrip.bricks(bricks)));
        return phases;
    }

    private void assertSamePhases(RoundTrip.Format format) throws IOException {
        ProfileSnapshot read = format.read(recorder.timeline()).snapshot();
        assertThat(phases(read)).isEqualTo(phases(profiler.snapshot()));
        assertThat(RoundTrip.bricks(read)).isEqualTo(RoundTrip.bricks(profiler.snapshot()));
    }

    @Spec("14.30")
    @ParameterizedTest
    @EnumSource
    void aBrickHasThePhaseOfTheStepInWhichItEnds(RoundTrip.Format format) throws IOException {
        brick(BrickId.EMBEDDING, 7);
        step(StepInfo.prefill(8), 100);
        brick(BrickId.SAMPLING, 9);
        long timer = profiler.startBrick(BrickId.FUSED_ATTENTION);
        clock.advance(60);
        profiler.beginStep(StepInfo.decode(8));
        clock.advance(5);
        profiler.stopBrick(timer, 1);
        clock.advance(1);
        profiler.endPass();
        step(new StepInfo(Phase.MIXED, 2, 4, 9, 1, 0), 30);

        assertThat(profiler.snapshot().phases()).hasSize(3);
        assertSamePhases(format);
    }

    /** The other thread has steps too, so its row shows when it is in none. */
    @Spec("14.30")
    @ParameterizedTest
    @EnumSource
    void aBrickOutsideOfItsThreadsStepsHasThePhaseOfThoseUnderWay(RoundTrip.Format format) throws Exception {
        profiler.beginStep(StepInfo.prefill(8));
        brick(BrickId.RMS_NORM, 100);
        inThread(() -> {
            brick(BrickId.SAMPLING, 4);
            step(StepInfo.decode(3), 10);
            brick(BrickId.SAMPLING, 6);
        });
        brick(BrickId.RMS_NORM, 100);
        profiler.endPass();

        assertThat(profiler.brickStats(BrickId.SAMPLING, Phase.PREFILL).totalNs())
                .isEqualTo(10);
        assertSamePhases(format);
    }

    /** The step is drawn from the end of a brick that ran mostly in the step before. */
    @Spec("14.30")
    @Test
    void aBrickThatRanMostlyInTheStepBeforeHasNoPhase() throws Exception {
        profiler.beginStep(StepInfo.prefill(8));
        brick(BrickId.RMS_NORM, 10);
        long timer = profiler.startBrick(BrickId.FUSED_ATTENTION);
        clock.advance(60);
        profiler.endPass();
        profiler.beginStep(StepInfo.decode(8));
        clock.advance(5);
        profiler.stopBrick(timer, 1);
        brick(BrickId.SAMPLING, 3);
        profiler.endPass();

        assertThat(profiler.brickStats(BrickId.FUSED_ATTENTION, Phase.DECODE).count())
                .isEqualTo(1);
        assertThat(phasesRead().get(Phase.PREFILL))
                .extracting(RoundTrip.Brick::name)
                .containsExactly("RmsNorm");
        assertThat(phasesRead().get(Phase.DECODE))
                .extracting(RoundTrip.Brick::name)
                .containsExactly("Sampling");
    }

    /** The step is drawn up to the end of a brick that was stopped after it. */
    @Spec("14.30")
    @ParameterizedTest
    @EnumSource
    void aBrickThatEndedAfterItsStepHasNoPhase(RoundTrip.Format format) throws Exception {
        profiler.beginStep(StepInfo.prefill(8));
        brick(BrickId.RMS_NORM, 10);
        long timer = profiler.startBrick(BrickId.FUSED_ATTENTION);
        clock.advance(60);
        profiler.endPass();
        clock.advance(5);
        profiler.stopBrick(timer, 1);
        clock.advance(1);
        step(StepInfo.decode(8), 7);

        assertThat(profiler.brickStats(BrickId.FUSED_ATTENTION, Phase.PREFILL).count())
                .isZero();
        assertSamePhases(format);
    }

    @Spec("14.30")
    @Test
    void aDeferredBrickLeavesTheTraceWithoutPhases() throws Exception {
        step(StepInfo.prefill(8), 100);
        assertThat(phasesRead()).containsOnlyKeys(Phase.PREFILL);
        profiler.beginStep(StepInfo.decode(8));
        profiler.recordDeferred(BrickId.RMS_NORM, profiler.elapsedNs(), 1);
        clock.advance(40);
        profiler.endPass();
        assertThat(profiler.snapshot().phases()).hasSize(2);
        assertThat(phasesRead()).isEmpty();
    }

    @Spec("14.30")
    @Test
    void aBrickOfAWorkerLeavesTheTraceWithoutPhases() throws Exception {
        step(StepInfo.prefill(8), 100);
        inThread(() -> brick(BrickId.RMS_NORM, 10));
        assertThat(phasesRead()).isEmpty();
    }

    private Map<Phase, List<RoundTrip.Brick>> phasesRead() throws IOException {
        return phases(RoundTrip.Format.PERFETTO.read(recorder.timeline()).snapshot());
    }
}
