package org.brickprofiler.device.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import jcuda.driver.CUgraph;
import jcuda.driver.CUgraphExec;
import jcuda.driver.CUresult;
import jcuda.driver.CUstream;
import jcuda.driver.CUstream_flags;
import jcuda.driver.JCudaDriver;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.BrickStats;
import org.brickprofiler.StepInfo;
import org.brickprofiler.SyncMode;
import org.brickprofiler.device.DeviceStream;
import org.brickprofiler.device.StreamTimer;
import org.brickprofiler.device.StreamTotals;
import org.brickprofiler.report.JsonReport;
import org.brickprofiler.testing.CapturedLog;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.trace.Span;
import org.brickprofiler.trace.Timeline;
import org.brickprofiler.trace.TimelineVisitor;
import org.brickprofiler.trace.TraceRecorder;
import org.brickprofiler.trace.Track;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Bricks of captured graphs over the simulated driver, whose virtual clock is also the host's: each launch must have
 * times that are exact to the nanosecond, or none.
 */
class CudaGraphTest {

    private static final long NORM_NS = 1_000;
    private static final long GATE_NS = 2_500;
    private static final long UP_NS = 700;
    private static final long BRICKS_NS = NORM_NS + GATE_NS + UP_NS;

    /** What lies between the bricks of a step. */
    private static final long BETWEEN_NS = 40;

    private static final long NEVER = 1_000_000_000;

    private CudaEngine engine;
    private CudaStream stream;
    private BrickProfiler profiler;

    /** Captures that the test itself spoils. */
    private int spoilt;

    @BeforeEach
    void open() {
        SimulatedCuda.start();
        engine = new CudaEngine(0);
        stream = CudaStream.on(engine.context(), engine.stream())
                .name("decode")
                .marks(8, 512)
                .open();
        profiler = profiler(stream);
    }

    @AfterEach
    void nothingIsSpoilt() {
        assertThat(SimulatedCuda.spoiltCaptures()).isEqualTo(spoilt);
        assertThat(SimulatedCuda.staleHandles()).isZero();
        assertThat(SimulatedCuda.contextDepth()).isOne();
        stream.close();
    }

    private static BrickProfiler profiler(CudaStream on) {
        BrickProfiler made = BrickProfiler.builder()
                .clock(SimulatedCuda::now)
                .deviceStream(on)
                .build();
        made.enable();
        return made;
    }

    private CapturedStep captured(Consumer<BrickProfiler> work) {
        return CapturedStep.of(engine, stream, () -> work.accept(profiler));
    }

    /** Three bricks, of which the first two share a mark. */
    private void bricks(BrickProfiler on) {
        long timer = on.startBrick(BrickId.RMS_NORM);
        engine.spin(NORM_NS);
        timer = on.lap(timer, 3, BrickId.GATE_PROJECTION);
        engine.spin(GATE_NS);
        on.stopBrick(timer, 5);
        engine.spin(BETWEEN_NS);
        timer = on.startBrick(BrickId.UP_PROJECTION);
        engine.spin(UP_NS);
        on.stopBrick(timer, 7);
    }

    private void brick(BrickId id, long ns) {
        long timer = profiler.startBrick(id);
        engine.spin(ns);
        profiler.stopBrick(timer, 1);
    }

    private static long unresolved(BrickProfiler of, BrickId id) {
        return of.brickStats(id).device().unresolved();
    }

    private void assertTimed(long launches) {
        assertBrick(BrickId.RMS_NORM, launches, NORM_NS, 3);
        assertBrick(BrickId.GATE_PROJECTION, launches, GATE_NS, 5);
        assertBrick(BrickId.UP_PROJECTION, launches, UP_NS, 7);
    }

    private void assertBrick(BrickId id, long launches, long ns, long elements) {
        BrickStats stats = profiler.brickStats(id);
        assertThat(stats.count()).isEqualTo(launches);
        assertThat(stats.totalNs()).isEqualTo(launches * ns);
        assertThat(stats.maxNs()).isEqualTo(launches == 0 ? 0 : ns);
        assertThat(stats.totalElements()).isEqualTo(launches * elements);
    }

    private void assertUnresolved(long launches) {
        assertThat(unresolved(profiler, BrickId.RMS_NORM)).isEqualTo(launches);
        assertThat(unresolved(profiler, BrickId.GATE_PROJECTION)).isEqualTo(launches);
        assertThat(unresolved(profiler, BrickId.UP_PROJECTION)).isEqualTo(launches);
    }

    // ---- launches that are timed ----

    @Spec("12.38")
    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void eachLaunchIsOneSampleOfEachBrick(int keepsUntilReached) {
        SimulatedCuda.setKeepsUntilReached(keepsUntilReached);
        try (CapturedLog log = new CapturedLog()) {
            CapturedStep step = captured(this::bricks);
            profiler.endPass();
            assertThat(profiler.pendingCount()).isZero();
            assertTimed(0);
            assertUnresolved(0);

            for (int launch = 1; launch <= 5; launch++) {
                step.launch();
                assertThat(profiler.pendingCount()).isEqualTo(3);
                profiler.endPass();
                assertTimed(launch);
            }
            assertUnresolved(0);
            assertThat(profiler.pendingCount()).isZero();
            assertThat(log.linesWith("WARN")).isZero();
        }
    }

    @Spec("12.38")
    @Test
    void whatLiesBetweenTheBricksOfALaunchIsIdle() {
        CapturedStep step = captured(this::bricks);
        for (int launch = 0; launch < 3; launch++) {
            step.launch();
            SimulatedCuda.advance(100_000);
            profiler.endPass();
        }
        StreamTotals totals = profiler.snapshot().streams().get(0);
        assertThat(totals.samples()).isEqualTo(9);
        assertThat(totals.busyNs()).isEqualTo(3 * BRICKS_NS);
        assertThat(totals.idleNs()).isEqualTo(3 * BETWEEN_NS);
    }

    @Test
    void bricksAroundAndBesideALaunchAreTimedWithIt() {
        CapturedStep step = captured(this::bricks);
        for (int launch = 1; launch <= 3; launch++) {
            brick(BrickId.EMBEDDING, 300);
            long around = profiler.startBrick(BrickId.FUSED_ATTENTION);
            step.launch();
            profiler.stopBrick(around, 1);
            brick(BrickId.SAMPLING, 200);
            profiler.endPass();
            assertTimed(launch);
        }
        assertBrick(BrickId.EMBEDDING, 3, 300, 1);
        assertBrick(BrickId.SAMPLING, 3, 200, 1);
        assertBrick(BrickId.FUSED_ATTENTION, 3, BRICKS_NS + BETWEEN_NS, 1);
        StreamTotals totals = profiler.snapshot().streams().get(0);
        assertThat(totals.busyNs()).isEqualTo(3 * (BRICKS_NS + BETWEEN_NS + 500));
        assertThat(totals.idleNs()).isZero();
    }

    @Test
    void aMarkOfAnotherThreadBetweenALaunchAndItsAnnouncementDisturbsNothing() throws InterruptedException {
        CapturedStep step = captured(this::bricks);
        engine.launch(step.exec());
        Thread other = new Thread(() -> engine.inContext(() -> brick(BrickId.SAMPLING, 200)));
        other.start();
        other.join();
        step.capture().launched(step.exec());
        profiler.stream("decode").endPass();

        assertTimed(1);
        assertBrick(BrickId.SAMPLING, 1, 200, 1);
        assertThat(profiler.snapshot().streams().get(0).busyNs()).isEqualTo(BRICKS_NS + 200);
    }

    @Spec("12.40")
    @Test
    void twoGraphsInTurnMayBothBeUnderWay() {
        CapturedStep even = captured(this::bricks);
        CapturedStep odd = captured(this::bricks);
        for (int pair = 1; pair <= 4; pair++) {
            even.launch();
            odd.launch();
            profiler.endPass();
            assertTimed(2L * pair);
        }
        assertUnresolved(0);
    }

    @ParameterizedTest
    @EnumSource(
            value = SyncMode.class,
            names = {"IMMEDIATE", "PER_LAYER"})
    void theEndOfALayerResolvesALaunch(SyncMode mode) {
        profiler.setSyncMode(mode);
        CapturedStep step = captured(on -> {
            on.startLayer();
            bricks(on);
            on.endLayer();
        });
        profiler.startLayer();
        step.launch();
        profiler.endLayer();
        assertTimed(1);
    }

    @Test
    void anApplicationThatWaitsItselfNeedsNoOtherWait() {
        CapturedStep step = captured(this::bricks);
        for (int launch = 1; launch <= 3; launch++) {
            step.launch();
            engine.synchronize();
            long waits = SimulatedCuda.synchronisations();
            profiler.endPassAsync();
            assertThat(SimulatedCuda.synchronisations()).isEqualTo(waits);
            assertTimed(launch);
        }
    }

    @Spec("12.38")
    @Test
    void samplesBelongToTheStepInWhichTheLaunchIsAnnounced() {
        List<Long> stepTimesNs = new ArrayList<>();
        CapturedStep step = captured(this::bricks);
        profiler.endPass();
        for (int token = 0; token < 2; token++) {
            profiler.beginStep(StepInfo.decode(1));
            step.launch();
            profiler.endPass();
            stepTimesNs.add(profiler.snapshot().totalNs());
        }
        assertThat(stepTimesNs).containsExactly(BRICKS_NS, 2 * BRICKS_NS);
    }

    @Test
    void theThreadThatAnnouncesALaunchOwnsItsSamples() throws InterruptedException {
        CapturedStep step = captured(this::bricks);
        Thread decoder = new Thread(() -> engine.inContext(() -> {
            step.launch();
            profiler.endPass();
        }));
        decoder.start();
        decoder.join();
        assertTimed(1);
    }

    @Test
    void everyProfilerOfAStreamHasItsOwnTemplate() {
        BrickProfiler second = profiler(stream);
        CapturedStep step = captured(on -> {
            bricks(on);
            bricks(second);
            bricks(second);
        });
        step.launch();
        profiler.endPass();
        second.endPass();
        assertTimed(1);
        assertThat(second.brickStats(BrickId.GATE_PROJECTION).count()).isEqualTo(2);
        assertThat(second.brickStats(BrickId.GATE_PROJECTION).totalNs()).isEqualTo(2 * GATE_NS);
    }

    @Test
    void anotherThreadsBricksInACaptureAreOfTheGraphToo() {
        CapturedStep step = captured(on -> {
            Thread other = new Thread(() -> engine.inContext(() -> bricks(on)));
            other.start();
            try {
                other.join();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        });
        step.launch();
        profiler.endPass();
        assertTimed(1);
    }

    @Test
    void aScopeWithoutACaptureChangesNothing() {
        try (CudaCapture capture = stream.capture()) {
            bricks(profiler);
            profiler.endPass();
            assertTimed(1);
            capture.release();
        }
        bricks(profiler);
        profiler.endPass();
        assertTimed(2);
    }

    @Test
    void aLaunchBeforeTheScopeClosesIsTimed() {
        CudaCapture capture = stream.capture();
        try (capture) {
            CUgraphExec exec = engine.instantiate(engine.capture(() -> bricks(profiler)));
            new CapturedStep(engine, capture, exec).launch();
            brick(BrickId.SAMPLING, 200);
            profiler.endPass();
        }
        assertTimed(1);
        assertBrick(BrickId.SAMPLING, 1, 200, 1);
    }

    @Test
    void anExecutableGraphThatIsUpdatedBelongsToTheOtherCapture() {
        CapturedStep first = captured(this::bricks);
        first.launch();
        profiler.endPass();
        CudaCapture second = stream.capture();
        CUgraph graph;
        try (second) {
            graph = engine.capture(() -> bricks(profiler));
        }
        assertThat(SimulatedCuda.updateExec(first.exec(), graph)).isEqualTo(CUresult.CUDA_SUCCESS);
        first.capture().release();
        new CapturedStep(engine, second, first.exec()).launch();
        profiler.endPass();
        assertTimed(2);
        assertUnresolved(0);
    }

    @Test
    void aGraphThatIsDestroyedLeavesWhatWasInstantiatedOfIt() {
        CudaCapture capture = stream.capture();
        CUgraph graph;
        try (capture) {
            graph = engine.capture(() -> bricks(profiler));
        }
        CUgraphExec exec = engine.instantiate(graph);
        JCudaDriver.cuGraphDestroy(graph);
        new CapturedStep(engine, capture, exec).launch();
        profiler.endPass();
        assertTimed(1);
    }

    @Spec("12.38")
    @Test
    void onTheTimelineALaunchLiesOnTheStreamAndInNoLayer() {
        TraceRecorder recorder = TraceRecorder.builder().build();
        try (CudaStream traced =
                CudaStream.on(engine.context(), engine.stream()).name("traced").open()) {
            BrickProfiler tracing = BrickProfiler.builder()
                    .clock(SimulatedCuda::now)
                    .deviceStream(traced)
                    .tracing(recorder)
                    .build();
            tracing.enable();
            CudaCapture capture = traced.capture();
            CUgraphExec exec;
            try (capture) {
                exec = engine.instantiate(engine.capture(() -> bricks(tracing)));
            }
            List<Long> expected = new ArrayList<>();
            for (int launch = 0; launch < 2; launch++) {
                SimulatedCuda.advance(5_000);
                long startNs = SimulatedCuda.now();
                long gateNs = startNs + NORM_NS;
                long upNs = gateNs + GATE_NS + BETWEEN_NS;
                expected.addAll(List.of(startNs, gateNs, gateNs, gateNs + GATE_NS, upNs, upNs + UP_NS));
                tracing.startLayer();
                engine.launch(exec);
                capture.launched(exec);
                tracing.endLayer();
                tracing.endPass();
            }
            Timeline timeline = recorder.timeline();
            int track = timeline.tracks().stream().map(Track::name).toList().indexOf("traced");
            List<Long> found = new ArrayList<>();
            timeline.replay(track, new TimelineVisitor() {
                @Override
                public void span(Span span) {
                    found.addAll(List.of(span.startNs(), span.endNs()));
                    assertThat(span.layer()).isNegative();
                    assertThat(span.flowIn()).isZero();
                }

                @Override
                public void instant(long atNs, int name) {
                    throw new AssertionError("an instant on a stream");
                }

                @Override
                public void counter(long atNs, double value) {
                    throw new AssertionError("a counter on a stream");
                }
            });
            assertThat(found).isEqualTo(expected);
            // It is only known that the device did not begin before the launch.
            assertThat(timeline.info().clockErrorNs()).hasValue(BRICKS_NS + BETWEEN_NS);
        }
    }

    // ---- launches without times ----

    @Spec("12.40")
    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void aLaunchIsUnresolvedIfTheNextIsAnnouncedBefore(int keepsUntilReached) {
        SimulatedCuda.setKeepsUntilReached(keepsUntilReached);
        try (CapturedLog log = new CapturedLog()) {
            CapturedStep step = captured(this::bricks);
            step.launch();
            step.launch();
            step.launch();
            assertThat(profiler.pendingCount()).isEqualTo(3);
            profiler.endPass();
            assertTimed(1);
            assertUnresolved(2);
            assertThat(log.linesWith("the 3 bricks of launch 2 of captured graph 1 are unresolved: the next launch was"
                            + " announced before this one was resolved"))
                    .isOne();
            assertThat(log.linesWith("WARN")).isOne();
            step.launch();
            profiler.endPass();
            assertTimed(2);
            assertThat(profiler.snapshot().streams().get(0).failure().orElseThrow())
                    .contains("launch 2 of captured graph 1");
        }
    }

    @Spec("12.40")
    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void aLaunchThatWasNotAnnouncedTakesTheTimesOfTheOneBefore(int keepsUntilReached) {
        SimulatedCuda.setKeepsUntilReached(keepsUntilReached);
        try (CapturedLog log = new CapturedLog()) {
            CapturedStep step = captured(this::bricks);
            step.launch();
            engine.launch(step.exec());
            engine.synchronize();
            profiler.endPass();
            assertTimed(0);
            assertUnresolved(1);
            assertThat(log.linesWith("a later launch has recorded its events again"))
                    .isOne();
        }
    }

    @Spec("12.40")
    @Test
    void aLaunchThatIsHalfOverwrittenIsUnresolved() {
        SimulatedCuda.setKeepsUntilReached(1);
        CapturedStep step = captured(this::bricks);
        step.launch();
        engine.launch(step.exec());
        SimulatedCuda.advance(BRICKS_NS + BETWEEN_NS + NORM_NS + 1);
        profiler.endPassAsync();
        assertTimed(0);
        assertUnresolved(1);
    }

    @Spec("12.40")
    @Test
    void aLaunchThatIsAnnouncedToAnotherCaptureIsUnresolved() {
        CapturedStep step = captured(this::bricks);
        CapturedStep other = captured(this::bricks);
        step.launch();
        other.launch();
        profiler.endPass();
        engine.launch(step.exec());
        other.capture().launched(step.exec());
        profiler.endPass();
        assertTimed(2);
        assertUnresolved(1);
        assertThat(stream.failure().orElseThrow()).contains("events have no times of this launch");
    }

    /** All events of the pool were used before, so every event of the capture has an earlier time. */
    @Spec("12.40")
    @Test
    void whatIsAnnouncedAndWasNotLaunchedHasNoEarlierTime() {
        for (int pass = 0; pass < 100; pass++) {
            bricks(profiler);
            profiler.endPass();
        }
        CapturedStep step = captured(this::bricks);
        step.capture().launched(step.exec());
        profiler.endPass();
        assertTimed(100);
        assertUnresolved(1);
    }

    @Test
    void aLaunchInAnotherStreamIsUnresolvedOrRight() {
        CUstream other = new CUstream();
        JCudaDriver.cuStreamCreate(other, CUstream_flags.CU_STREAM_NON_BLOCKING);
        CapturedStep step = captured(this::bricks);
        engine.spin(10 * BRICKS_NS);
        JCudaDriver.cuGraphLaunch(step.exec(), other);
        step.capture().launched(step.exec());
        profiler.endPass();
        assertTimed(1);
        engine.launch(step.exec());
        engine.synchronize();
        engine.spin(1);
        step.capture().launched(step.exec());
        JCudaDriver.cuGraphLaunch(step.exec(), other);
        engine.synchronize();
        profiler.endPass();
        assertTimed(1);
        assertUnresolved(1);
    }

    @Test
    void withoutAMarkBehindItALaunchAndTheNextAreUnresolved() {
        try (CapturedLog log = new CapturedLog()) {
            CapturedStep step = captured(this::bricks);
            engine.launch(step.exec());
            SimulatedCuda.failAlways("cuEventRecord", CUresult.CUDA_ERROR_OUT_OF_MEMORY);
            step.capture().launched(step.exec());
            SimulatedCuda.failOnce("cuEventRecord", NEVER, CUresult.CUDA_ERROR_OUT_OF_MEMORY);
            profiler.endPass();
            assertUnresolved(1);
            step.launch();
            profiler.endPass();
            assertUnresolved(2);
            step.launch();
            profiler.endPass();
            assertTimed(1);
            assertThat(log.linesWith("no mark could be set around it")).isOne();
        }
    }

    @Test
    void aScopeThatIsOpenedWithinACaptureLosesTheFirstLaunchOnly() {
        engine.beginCapture();
        CudaCapture capture = stream.capture();
        try (capture) {
            bricks(profiler);
        }
        CapturedStep step = new CapturedStep(engine, capture, engine.instantiate(engine.endCapture()));
        step.launch();
        profiler.endPass();
        assertUnresolved(1);
        step.launch();
        profiler.endPass();
        assertTimed(1);
    }

    @Test
    void marksBehindAScopeThatClosesBeforeItsCaptureHaveNoTime() {
        CudaCapture capture = stream.capture();
        engine.beginCapture();
        bricks(profiler);
        capture.close();
        brick(BrickId.SAMPLING, 200);
        CapturedStep step = new CapturedStep(engine, capture, engine.instantiate(engine.endCapture()));
        step.launch();
        profiler.endPass();
        assertTimed(1);
        assertThat(unresolved(profiler, BrickId.SAMPLING)).isOne();
    }

    @Spec("12.39")
    @Test
    void aBrickAcrossTheBeginningOrEndOfACaptureIsUnresolved() {
        CudaCapture capture = stream.capture();
        long into = profiler.startBrick(BrickId.EMBEDDING);
        long[] out = new long[1];
        CUgraph graph = engine.capture(() -> {
            profiler.stopBrick(into, 1);
            bricks(profiler);
            out[0] = profiler.startBrick(BrickId.SAMPLING);
        });
        profiler.stopBrick(out[0], 1);
        capture.close();
        CapturedStep step = new CapturedStep(engine, capture, engine.instantiate(graph));
        step.launch();
        profiler.endPass();
        assertTimed(1);
        assertThat(unresolved(profiler, BrickId.EMBEDDING)).isOne();
        assertThat(unresolved(profiler, BrickId.SAMPLING)).isOne();
        assertThat(profiler.brickStats(BrickId.EMBEDDING).count()).isZero();
        assertThat(profiler.brickStats(BrickId.SAMPLING).count()).isZero();
    }

    /** All events of the pool were used before, so every event of the capture has an earlier time. */
    @Spec("12.39")
    @Test
    void deferredMeasurementsAndTimersOfACaptureHaveNoTimes() {
        StreamTimer timer = new StreamTimer(stream);
        for (int pass = 0; pass < 100; pass++) {
            bricks(profiler);
            profiler.endPass();
        }
        CapturedStep step = captured(on -> {
            long startNs = on.elapsedNs();
            timer.recordStart();
            engine.spin(1_000);
            timer.recordEnd();
            on.recordDeferred(BrickId.SAMPLING, startNs, 1);
        });
        profiler.endPass();
        assertThat(timer.elapsedNs()).isZero();
        step.launch();
        profiler.endPass();
        assertThat(timer.elapsedNs()).isZero();
        assertThat(profiler.brickStats(BrickId.SAMPLING).count()).isZero();
        assertThat(unresolved(profiler, BrickId.SAMPLING)).isOne();
        bricks(profiler);
        profiler.endPass();
        assertTimed(101);
    }

    @Test
    void aStreamAnswersThatMarksOfAGraphHaveNoTime() {
        int[] marks = new int[2];
        CapturedStep step = captured(on -> {
            marks[0] = stream.mark();
            engine.spin(1_000);
            marks[1] = stream.mark();
        });
        step.launch();
        engine.synchronize();
        long[] ns = new long[2];
        stream.elapsedNs(marks, 2, ns);
        assertThat(stream.isReached(marks[1])).isTrue();
        assertThat(stream.waitFor(marks[1])).isFalse();
        assertThat(stream.elapsedNs(marks[0], marks[1])).isEqualTo(DeviceStream.UNRESOLVED);
        assertThat(ns[1]).isEqualTo(DeviceStream.UNRESOLVED);
    }

    @Test
    void aCaptureThatFailsHasNoSamples() {
        CudaCapture capture = stream.capture();
        try (capture) {
            engine.beginCapture();
            bricks(profiler);
            JCudaDriver.cuStreamSynchronize(engine.stream());
            profiler.stopBrick(profiler.startBrick(BrickId.SAMPLING), 1);
            assertThat(JCudaDriver.cuStreamEndCapture(engine.stream(), new CUgraph()))
                    .isEqualTo(CUresult.CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
        }
        profiler.endPass();
        assertTimed(0);
        assertUnresolved(0);
        assertThat(unresolved(profiler, BrickId.SAMPLING)).isOne();
        capture.release();
        spoilt = 1;
    }

    // ---- the profiler's own life between a capture and a launch ----

    @Spec("12.41")
    @Test
    void resetAndDisableKeepTheTemplate() {
        CapturedStep step = captured(this::bricks);
        profiler.disable();
        step.launch();
        profiler.endPass();
        profiler.enable();
        assertTimed(0);
        assertUnresolved(0);
        step.launch();
        profiler.endPass();
        assertTimed(1);
        step.launch();
        profiler.reset();
        assertThat(profiler.pendingCount()).isZero();
        assertTimed(0);
        step.launch();
        profiler.endPass();
        assertTimed(1);
        assertUnresolved(0);
    }

    @Test
    void withoutMarksNothingIsTimed() {
        profiler.setSyncMode(SyncMode.NONE);
        CapturedStep host = captured(this::bricks);
        host.launch();
        profiler.endPass();
        assertThat(profiler.brickStats(BrickId.RMS_NORM).device().measured()).isZero();
        profiler.setSyncMode(SyncMode.DEFERRED);
        host.launch();
        profiler.endPass();
        assertThat(profiler.brickStats(BrickId.RMS_NORM).device().measured()).isZero();
        assertUnresolved(0);
    }

    @Spec("12.41")
    @Test
    void marksOfManyGraphsComeBackWhenTheyAreReleased() {
        int held = -1;
        for (int cycle = 1; cycle <= 200; cycle++) {
            CapturedStep step = captured(this::bricks);
            step.launch();
            if (cycle % 2 == 0) {
                profiler.endPass();
                step.capture().release();
            } else {
                // Its launch is still to be resolved.
                step.capture().release();
                profiler.endPass();
            }
            JCudaDriver.cuGraphExecDestroy(step.exec());
            assertTimed(cycle);
            held = held < 0 ? SimulatedCuda.liveEvents() : held;
            assertThat(SimulatedCuda.liveEvents()).isEqualTo(held);
        }
        assertUnresolved(0);
        stream.close();
        assertThat(SimulatedCuda.liveEvents()).isZero();
    }

    /** A garbage-collected profiler releases its marks like this, while a graph may still record the events. */
    @Spec("12.41")
    @Test
    void aMarkThatIsGivenBackIsNoOtherMarkUntilTheGraphIsReleased() {
        try (CudaStream small =
                CudaStream.on(engine.context(), engine.stream()).marks(4, 4).open()) {
            int[] marks = new int[3];
            CudaCapture capture = small.capture();
            engine.capture(() -> {
                for (int i = 0; i < marks.length; i++) {
                    marks[i] = small.mark();
                }
            });
            capture.close();
            small.release(marks[0]);
            small.release(marks, 2);
            int last = small.mark();
            assertThat(last).isNotIn(marks[0], marks[1], marks[2]);
            assertThat(small.mark()).isEqualTo(DeviceStream.NO_MARK);
            capture.release();
            small.release(marks[2]);
            assertThat(List.of(small.mark(), small.mark(), small.mark()))
                    .containsExactlyInAnyOrder(marks[0], marks[1], marks[2]);
            assertThat(small.mark()).isEqualTo(DeviceStream.NO_MARK);
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5})
    void aMarkThatTheDriverRefusesCostsItsBricksAlone(long nth) {
        SimulatedCuda.failOnce("cuEventRecordWithFlags", nth, CUresult.CUDA_ERROR_OUT_OF_MEMORY);
        CapturedStep step = captured(this::bricks);
        step.launch();
        profiler.endPass();
        long samples = profiler.snapshot().bricks().stream()
                .mapToLong(brick -> brick.device().measured())
                .sum();
        long lost = profiler.snapshot().unresolved();
        assertThat(samples + lost).isEqualTo(3);
        assertThat(lost).isLessThanOrEqualTo(1);
        step.launch();
        profiler.endPass();
        assertThat(profiler.snapshot().unresolved()).isEqualTo(lost);
        assertBrick(BrickId.GATE_PROJECTION, 2, GATE_NS, 5);
    }

    @Spec("12.41")
    @Test
    void graphsThatAreNotReleasedUseUpTheMarksOfTheStream() {
        try (CapturedLog log = new CapturedLog()) {
            List<CapturedStep> steps = new ArrayList<>();
            for (int i = 0; i < 200; i++) {
                steps.add(captured(this::bricks));
            }
            assertThat(SimulatedCuda.liveEvents()).isEqualTo(512);
            assertThat(unresolved(profiler, BrickId.RMS_NORM)).isPositive();
            assertThat(log.linesWith("all 512 marks of stream 'decode' wait for their bricks or are part of captured"
                            + " graphs"))
                    .isOne();
            steps.forEach(step -> step.capture().release());
            long lost = unresolved(profiler, BrickId.RMS_NORM);
            CapturedStep step = captured(this::bricks);
            step.launch();
            profiler.endPass();
            assertTimed(1);
            assertThat(unresolved(profiler, BrickId.RMS_NORM)).isEqualTo(lost);
        }
    }

    @Spec("12.41")
    @Test
    void eventsOfAGraphOutliveTheStreamAndOthersDoNot() {
        try (CapturedLog log = new CapturedLog()) {
            CapturedStep kept = captured(this::bricks);
            CapturedStep gone = captured(this::bricks);
            gone.capture().release();
            kept.launch();
            profiler.endPass();
            stream.close();
            int events = 5;
            assertThat(SimulatedCuda.liveEvents()).isEqualTo(events);
            assertThat(log.linesWith(events + " events of captured graphs stay in the context"))
                    .isOne();
            engine.launch(kept.exec());
            kept.capture().launched(kept.exec());
            profiler.endPass();
            kept.capture().release();
            assertTimed(1);
            assertThat(log.linesWith("WARN")).isOne();
        }
    }

    @Test
    void aLaunchThatIsPendingWhenTheStreamClosesIsResolvedBefore() {
        CapturedStep step = captured(this::bricks);
        step.launch();
        engine.synchronize();
        stream.close();
        profiler.endPass();
        assertTimed(1);
    }

    // ---- what is refused ----

    @Test
    void oneScopeIsOpenAtATime() {
        try (CudaCapture capture = stream.capture()) {
            assertThatThrownBy(stream::capture)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage("a capture scope of stream 'decode' is open already: close it before the next one is"
                            + " opened");
            capture.close();
            stream.capture().release();
        }
        stream.capture().close();
    }

    @Test
    void theDefaultStreamHasNoScope() {
        try (CudaStream inDefault = CudaStream.on(engine.context(), null).open()) {
            assertThatThrownBy(inDefault::capture)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("'default stream' is the default stream, which CUDA cannot capture");
        }
    }

    @Test
    void launchesOfAGraphThatWasNeverInstantiatedAreRefused() {
        try (CudaCapture capture = stream.capture()) {
            assertThatThrownBy(() -> capture.launched(new CUgraphExec()))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("no graph was instantiated");
            assertThatThrownBy(() -> capture.launchedAddress(0))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("no graph was instantiated");
        }
    }

    @Test
    void anAddressDoesAsWellAsAHandle() {
        CapturedStep step = captured(this::bricks);
        engine.launch(step.exec());
        step.capture().launchedAddress(SimulatedCuda.address(step.exec()));
        profiler.endPass();
        assertTimed(1);
    }

    @Test
    void aLaunchAfterTheReleaseIsReported() {
        try (CapturedLog log = new CapturedLog()) {
            CapturedStep step = captured(this::bricks);
            step.capture().release();
            step.capture().release();
            step.launch();
            profiler.endPass();
            assertTimed(0);
            assertThat(log.linesWith("a launch of captured graph 1 was announced after its release"))
                    .isOne();
        }
    }

    /** Another profiler may watch the same stream, one for each request for instance. */
    @Spec("12.40")
    @Test
    void launchesHaveNoSamplesInAProfilerThatWasMadeAfterTheCaptureAndTheLogSaysSo() {
        try (CapturedLog log = new CapturedLog()) {
            CapturedStep step = captured(this::bricks);
            BrickProfiler late = profiler(stream);
            for (int i = 0; i < 2; i++) {
                step.launch();
                profiler.endPass();
                late.endPass();
            }
            assertTimed(2);
            assertThat(late.allBrickStats()).isEmpty();
            assertThat(log.linesWith("the launches of captured graph 1 have no samples in this profiler"))
                    .isOne();
        }
    }

    @Spec("17.10")
    @Test
    void unresolvedLaunchesAndBricksCountInTheirPhase() throws IOException {
        CapturedStep step = captured(this::bricks);
        profiler.beginStep(StepInfo.decode(1));
        step.launch();
        step.launch();
        profiler.endPass();
        profiler.beginStep(StepInfo.prefill(1));
        long across = profiler.startBrick(BrickId.UP_PROJECTION);
        captured(on -> profiler.stopBrick(across, 1));
        profiler.endPass();

        assertThat(unresolved(profiler, BrickId.UP_PROJECTION)).isEqualTo(2);
        assertThat(List.of(
                        unresolvedIn(StepInfo.Phase.DECODE),
                        unresolvedIn(StepInfo.Phase.PREFILL),
                        unresolvedIn(StepInfo.Phase.MIXED)))
                .isEqualTo(List.of(1L, 1L, 0L));
        assertThat(JsonReport.fromJson(JsonReport.toJson(profiler.snapshot())).bricks(StepInfo.Phase.PREFILL))
                .extracting(brick -> brick.device().unresolved())
                .containsExactly(1L);
    }

    private long unresolvedIn(StepInfo.Phase phase) {
        return profiler.brickStats(BrickId.UP_PROJECTION, phase).device().unresolved();
    }

    @Test
    void aScopeOfAStreamThatIsNotUsableHasNoEffect() {
        CapturedStep step = captured(this::bricks);
        stream.close();
        try (CudaCapture capture = stream.capture()) {
            capture.launched(step.exec());
            capture.release();
        }
        assertThat(profiler.pendingCount()).isZero();
    }

    // ---- controls: a driver that does otherwise ----

    /** Bricks of such a driver must not pass for timed ones. */
    @Spec("12.40")
    @Test
    void overADriverWithoutExternalEventsEveryBrickIsUnresolved() {
        SimulatedCuda.setIgnoresExternal(1);
        CapturedStep step = captured(this::bricks);
        for (int launch = 1; launch <= 3; launch++) {
            step.launch();
            profiler.endPass();
            assertTimed(0);
            assertUnresolved(launch);
        }
    }

    /** Without the check, the times of the first launch would be taken for those of each launch. */
    @Spec("12.40")
    @Test
    void overADriverThatRecordsOnceOnlyTheFirstLaunchIsTimed() {
        SimulatedCuda.setRecordsOnce(1);
        CapturedStep step = captured(this::bricks);
        for (int launch = 0; launch < 4; launch++) {
            step.launch();
            profiler.endPass();
        }
        assertTimed(1);
        assertUnresolved(3);
    }

    /** Whatever is launched, announced and resolved in whichever order, a time is right or there is none. */
    @Spec("12.40")
    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void launchesInAnyOrderAreTimedRightlyOrNotAtAll(int keepsUntilReached) {
        try (CapturedLog quiet = new CapturedLog()) {
            for (int seed = 0; seed < 60; seed++) {
                launchesInAnyOrder(seed, keepsUntilReached == 1);
            }
            assertThat(quiet.linesWith("of captured graph")).isPositive();
        }
    }

    private void launchesInAnyOrder(int seed, boolean keepsUntilReached) {
        stream.close();
        SimulatedCuda.start();
        SimulatedCuda.setKeepsUntilReached(keepsUntilReached ? 1 : 0);
        engine = new CudaEngine(0);
        stream = CudaStream.on(engine.context(), engine.stream()).open();
        profiler = profiler(stream);
        Random random = new Random(seed);
        List<CapturedStep> steps = List.of(captured(this::bricks), captured(this::bricks));
        long announced = 0;
        for (int i = 0; i < 60; i++) {
            CapturedStep step = steps.get(random.nextInt(2));
            switch (random.nextInt(7)) {
                case 0, 1 -> {
                    step.launch();
                    announced++;
                }
                case 2 -> engine.launch(step.exec());
                case 3 -> {
                    step.capture().launched(step.exec());
                    announced++;
                }
                case 4 -> SimulatedCuda.advance(random.nextInt(3 * (int) BRICKS_NS));
                case 5 -> profiler.endPassAsync();
                default -> brick(BrickId.SAMPLING, 333);
            }
            if (keepsUntilReached && i % 8 == 7) {
                engine.synchronize();
            }
        }
        profiler.endPass();
        BrickStats norm = profiler.brickStats(BrickId.RMS_NORM);
        assertThat(norm.count() + unresolved(profiler, BrickId.RMS_NORM))
                .as("seed %d", seed)
                .isEqualTo(announced);
        assertTimed(norm.count());
        assertUnresolved(announced - norm.count());
        BrickStats sampling = profiler.brickStats(BrickId.SAMPLING);
        assertThat(sampling.totalNs()).isEqualTo(sampling.count() * 333);
    }
}
