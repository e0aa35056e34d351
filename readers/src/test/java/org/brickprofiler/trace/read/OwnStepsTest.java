package org.brickprofiler.trace.read;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.Map;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.BrickStats;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.StepInfo;
import org.brickprofiler.StepInfo.Phase;
import org.brickprofiler.testing.FakeClock;
import org.brickprofiler.trace.SpanName;
import org.brickprofiler.trace.TraceRecorder;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** The phases of bricks in traces of this library are those that the profiler counted, or are stated as unknown. */
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

    private void assertSamePhases(RoundTrip.Format format) throws IOException {
        ProfileSnapshot read = format.read(recorder.timeline()).snapshot();
        assertThat(RoundTrip.phases(read)).isEqualTo(RoundTrip.phases(profiler.snapshot()));
        assertThat(RoundTrip.bricks(read)).isEqualTo(RoundTrip.bricks(profiler.snapshot()));
    }

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

    @ParameterizedTest
    @EnumSource
    void aBrickOutsideOfStepsHasThePhaseOfTheStepsUnderWayUntilItsThreadBeginsOne(RoundTrip.Format format)
            throws Exception {
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
                .isEqualTo(4);
        assertThat(profiler.brickStats(BrickId.SAMPLING).totalNs()).isEqualTo(10);
        assertSamePhases(format);
    }

    /** The step is drawn from the end of a brick that ran mostly in the step before. */
    @ParameterizedTest
    @EnumSource
    void aBrickThatRanMostlyInTheStepBeforeHasThePhaseInWhichItEnds(RoundTrip.Format format) throws Exception {
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
        assertSamePhases(format);
    }

    /** The step is drawn up to the end of a brick that was stopped after it. */
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

    @ParameterizedTest
    @EnumSource
    void aDeferredBrickHasThePhaseInWhichItWasQueued(RoundTrip.Format format) throws Exception {
        step(StepInfo.prefill(8), 100);
        profiler.beginStep(StepInfo.decode(8));
        profiler.recordDeferred(BrickId.RMS_NORM, profiler.elapsedNs(), 1);
        clock.advance(40);
        profiler.endPass();

        assertThat(profiler.brickStats(BrickId.RMS_NORM, Phase.DECODE).count()).isOne();
        assertSamePhases(format);
    }

    /** Workers without a step of their own, between two steps and during one. */
    @ParameterizedTest
    @EnumSource
    void aBrickOfAWorkerHasThePhaseOfTheStepItWorksFor(RoundTrip.Format format) throws Exception {
        step(StepInfo.prefill(8), 100);
        inThread(() -> brick(BrickId.RMS_NORM, 10));
        profiler.beginStep(StepInfo.decode(8));
        inThread(() -> {
            brick(BrickId.RMS_NORM, 20);
            brick(BrickId.SAMPLING, 30);
        });
        profiler.endPass();

        assertThat(profiler.brickStats(BrickId.RMS_NORM, Phase.DECODE).totalNs())
                .isEqualTo(20);
        assertSamePhases(format);
    }

    @ParameterizedTest
    @EnumSource
    void workForALayerHasThePhaseOfTheLayersStep(RoundTrip.Format format) throws Exception {
        profiler.beginStep(StepInfo.prefill(8));
        profiler.startLayer();
        long layer = profiler.layerToken();
        inThread(() -> {
            profiler.beginStep(StepInfo.decode(3));
            brick(BrickId.SAMPLING, 10);
            profiler.workFor(layer);
            brick(BrickId.RMS_NORM, 20);
            profiler.endPass();
        });
        profiler.endLayer();
        profiler.endPass();

        assertThat(profiler.brickStats(BrickId.RMS_NORM, Phase.PREFILL).totalNs())
                .isEqualTo(20);
        assertSamePhases(format);
    }

    @ParameterizedTest
    @EnumSource
    void profilersThatShareARecorderHaveThePhasesOfTheirOwnSteps(RoundTrip.Format format) throws Exception {
        BrickProfiler draft =
                BrickProfiler.builder().clock(clock).tracing(recorder).build();
        draft.enable();
        profiler.beginStep(StepInfo.prefill(8));
        brick(BrickId.RMS_NORM, 10);
        draft.beginStep(StepInfo.decode(8));
        draft.record(BrickId.SAMPLING, 4, 1);
        clock.advance(10);
        brick(BrickId.RMS_NORM, 10);
        draft.endPass();
        profiler.endPass();
        draft.record(BrickId.SAMPLING, 5, 1);

        ProfileSnapshot both = profiler.snapshot().merge(draft.snapshot());
        assertThat(both.phases().get(Phase.DECODE)).singleElement().returns(4L, BrickStats::totalNs);
        assertThat(RoundTrip.phases(format.read(recorder.timeline()).snapshot()))
                .isEqualTo(RoundTrip.phases(both));
    }

    @ParameterizedTest
    @EnumSource
    void aStepThatHasNotEndedGivesItsPhase(RoundTrip.Format format) throws Exception {
        step(StepInfo.prefill(8), 100);
        profiler.beginStep(StepInfo.decode(8));
        brick(BrickId.SAMPLING, 10);

        assertThat(profiler.brickStats(BrickId.SAMPLING, Phase.DECODE).count()).isOne();
        assertSamePhases(format);
    }

    @ParameterizedTest
    @EnumSource
    void aBrickAfterAResetWithinAStepHasNoPhase(RoundTrip.Format format) throws Exception {
        profiler.beginStep(StepInfo.decode(8));
        profiler.reset();
        recorder.clear();
        brick(BrickId.RMS_NORM, 10);
        brick(BrickId.LM_HEAD, 10);
        profiler.endPass();
        step(StepInfo.decode(8), 20);

        assertThat(profiler.brickStats(BrickId.RMS_NORM, Phase.DECODE).totalNs())
                .isEqualTo(20);
        assertSamePhases(format);
    }

    /** The application's own spans are no steps of the library, whatever their names. */
    @ParameterizedTest
    @EnumSource
    void aSpanOfTheApplicationGivesNoPhase(RoundTrip.Format format) throws Exception {
        brick(BrickId.RMS_NORM, 10);
        recorder.span("decode", SpanName.STEP, 5_000, 10_000);

        assertThat(RoundTrip.phases(format.read(recorder.timeline()).snapshot()))
                .isEmpty();
        TraceTimeline read = timeline(format.written(recorder.timeline()));
        assertThat(read.timeline().names()).contains(new SpanName("decode", SpanName.STEP));
        assertThat(RoundTrip.phases(format.read(read.timeline()).snapshot())).isEmpty();
    }

    /** A file of each format, read as a timeline and written in each format. */
    @ParameterizedTest
    @EnumSource
    void aConvertedTraceKeepsThePhases(RoundTrip.Format format) throws Exception {
        brick(BrickId.EMBEDDING, 7);
        step(StepInfo.prefill(8), 100);
        profiler.beginStep(StepInfo.decode(8));
        inThread(() -> brick(BrickId.RMS_NORM, 20));
        profiler.endPass();
        TraceTimeline read = timeline(format.written(recorder.timeline()));

        for (RoundTrip.Format other : RoundTrip.Format.values()) {
            assertThat(RoundTrip.phases(other.read(read.timeline()).snapshot()))
                    .isEqualTo(RoundTrip.phases(profiler.snapshot()));
        }
    }

    /** Files of former versions do not state phases, and the positions of steps do not always show them. */
    @ParameterizedTest
    @CsvSource({"PERFETTO, 3, 2", "CHROME, 2, 1"})
    void aFileThatStatesNoPhasesHasNoneAndSaysSo(RoundTrip.Format format, String now, String before) throws Exception {
        brick(BrickId.EMBEDDING, 7);
        byte[] withoutSteps = former(format, now, before);
        assertThat(Omissions.counted(Traces.read(withoutSteps, ReadOptions.defaults())))
                .isEmpty();
        step(StepInfo.prefill(8), 100);
        step(StepInfo.decode(8), 10);
        byte[] former = former(format, now, before);
        TraceProfile profile = Traces.read(former, ReadOptions.defaults());

        assertThat(profile.snapshot().phases()).isEmpty();
        assertThat(RoundTrip.bricks(profile.snapshot())).isEqualTo(RoundTrip.bricks(profiler.snapshot()));
        assertThat(Omissions.counted(profile)).containsExactly(Map.entry(Omission.Reason.NO_KNOWN_PHASE, 5L));
        assertThat(profile.summary()).contains("5 without a known phase: the file does not state it");
        TraceTimeline read = timeline(former);
        for (RoundTrip.Format other : RoundTrip.Format.values()) {
            TraceProfile converted = other.read(read.timeline());
            assertThat(converted.snapshot().phases()).isEmpty();
            assertThat(Omissions.counted(converted)).isEqualTo(Omissions.counted(profile));
        }
    }

    private byte[] former(RoundTrip.Format format, String now, String before) throws IOException {
        return new String(format.written(recorder.timeline()), ISO_8859_1)
                .replace("brick-profiler " + now, "brick-profiler " + before)
                .getBytes(ISO_8859_1);
    }

    private static TraceTimeline timeline(byte[] trace) throws IOException {
        return TraceReader.timeline(new ByteArrayInputStream(trace), ReadOptions.defaults());
    }
}
