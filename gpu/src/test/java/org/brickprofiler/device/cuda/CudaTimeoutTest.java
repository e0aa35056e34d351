package org.brickprofiler.device.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import jcuda.driver.CUevent_flags;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.SyncMode;
import org.brickprofiler.device.DeviceStream;
import org.brickprofiler.device.StreamTotals;
import org.brickprofiler.testing.CapturedLog;
import org.brickprofiler.testing.Crew;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Waits for a device that hangs: they end after a timeout, and meanwhile they block no other thread. */
class CudaTimeoutTest {

    private static final Duration SHORT = Duration.ofMillis(30);

    /**
     * On a busy machine, a thread may lose its processor for longer than {@link #SHORT} after a device has recovered.
     */
    private static final Duration LONGER = Duration.ofMillis(150);

    private static final long WORK_NS = 1_000_000;

    private CudaEngine engine;

    @BeforeEach
    void start() {
        SimulatedCuda.start();
        SimulatedCuda.useRealClock(1);
        engine = new CudaEngine(0);
    }

    @AfterEach
    void goOn() {
        SimulatedCuda.hang(0);
        assertThat(SimulatedCuda.staleHandles()).isZero();
    }

    private CudaStream.Builder builder() {
        return CudaStream.on(engine.context(), engine.stream()).name("decode").marks(64, 64);
    }

    private static BrickProfiler profiler(DeviceStream stream) {
        BrickProfiler profiler = BrickProfiler.builder().deviceStream(stream).build();
        profiler.enable();
        return profiler;
    }

    private void brick(BrickProfiler profiler, BrickId id) {
        long timer = profiler.startBrick(id);
        engine.inContext(() -> engine.spin(WORK_NS));
        profiler.stopBrick(timer, 1);
    }

    @Spec("12.30")
    @ParameterizedTest
    @EnumSource(
            value = SyncMode.class,
            names = {"IMMEDIATE", "PER_LAYER", "DEFERRED"})
    void whatWaitsForADeviceThatHangsIsUnresolvedAfterTheTimeout(SyncMode mode) throws Exception {
        try (CapturedLog log = new CapturedLog();
                CudaStream stream = builder().waitTimeout(LONGER).open()) {
            BrickProfiler profiler = profiler(stream);
            profiler.setSyncMode(mode);
            brick(profiler, BrickId.LM_HEAD);
            profiler.endLayer();
            profiler.endPass();
            assertThat(profiler.brickStats(BrickId.LM_HEAD).count()).isOne();
            assertThat(stream.isStalled()).isFalse();

            SimulatedCuda.hang(1);
            Crew.runOnNewThread(
                    () -> brick(profiler, mode == SyncMode.IMMEDIATE ? BrickId.LM_HEAD : BrickId.EMBEDDING));
            int others = profiler.pendingCount();
            brick(profiler, BrickId.RMS_NORM);
            brick(profiler, BrickId.RMS_NORM);
            profiler.endLayer();
            profiler.endPass();
            brick(profiler, BrickId.RMS_NORM);
            profiler.endLayer();
            profiler.endPass();

            assertThat(stream.isStalled()).isTrue();
            assertThat(stream.isUsable()).isTrue();
            assertThat(stream.failure().orElseThrow()).contains("within the timeout of 150 ms", "waitTimeout");
            assertThat(log.linesWith("within the timeout of 150 ms")).isOne();
            assertThat(profiler.brickStats(BrickId.RMS_NORM).count()).isZero();
            assertThat(profiler.snapshot().unresolved()).isEqualTo(mode == SyncMode.IMMEDIATE ? 4 : 3);
            // Only the other thread waits for its brick.
            assertThat(profiler.pendingCount()).isEqualTo(others).isEqualTo(mode == SyncMode.IMMEDIATE ? 0 : 1);

            SimulatedCuda.hang(0);
            brick(profiler, BrickId.DOWN_PROJECTION);
            // The device finishes before the boundary, which would wait for it for 150 ms of real time only.
            SimulatedCuda.advance(1_000_000_000);
            profiler.endLayer();
            profiler.endPass();
            assertThat(stream.isStalled()).isFalse();
            assertThat(profiler.brickStats(BrickId.DOWN_PROJECTION).count()).isOne();
            assertThat(profiler.pendingCount()).isZero();
            assertThat(profiler.snapshot().unresolved()).isEqualTo(mode == SyncMode.IMMEDIATE ? 4 : 3);
        }
    }

    /** The time in which a device hung is neither busy nor idle. */
    @Spec("12.7")
    @Test
    void theTimeOfWhatWasGivenUpIsNotIdle() {
        try (CudaStream stream = builder().waitTimeout(SHORT).open()) {
            BrickProfiler profiler = profiler(stream);
            profiler.setSyncMode(SyncMode.PER_LAYER);
            brick(profiler, BrickId.LM_HEAD);
            profiler.endLayer();
            SimulatedCuda.hang(1);
            brick(profiler, BrickId.RMS_NORM);
            profiler.endLayer();
            SimulatedCuda.hang(0);
            brick(profiler, BrickId.LM_HEAD);
            profiler.endLayer();
            profiler.endPass();
            StreamTotals totals = profiler.snapshot().streams().get(0);
            assertThat(totals.samples()).isEqualTo(2);
            assertThat(totals.idleNs()).isZero();
        }
    }

    /** The others' marks were set before the wait gave up. */
    @Spec("12.7")
    @Test
    void theTimeOfWhatWasGivenUpIsNotIdleBetweenBricksOfOtherThreads() throws Exception {
        try (CudaStream stream = builder().waitTimeout(SHORT).open()) {
            BrickProfiler profiler = profiler(stream);
            profiler.setSyncMode(SyncMode.PER_LAYER);
            Crew.runOnNewThread(() -> brick(profiler, BrickId.LM_HEAD));
            SimulatedCuda.hang(1);
            brick(profiler, BrickId.RMS_NORM);
            Crew.runOnNewThread(() -> brick(profiler, BrickId.EMBEDDING));
            profiler.endLayer();
            SimulatedCuda.hang(0);
            brick(profiler, BrickId.LM_HEAD);
            profiler.endPass();
            StreamTotals totals = profiler.snapshot().streams().get(0);
            assertThat(profiler.snapshot().unresolved()).isOne();
            assertThat(totals.samples()).isEqualTo(3);
            assertThat(totals.idleNs()).isZero();
        }
    }

    @Spec("12.30")
    @Test
    void closingWaitsForNoDeviceAndEndsTheWaitsOfOthers() throws Exception {
        CudaStream stream = builder().waitTimeout(Duration.ofDays(1)).open();
        BrickProfiler profiler = profiler(stream);
        SimulatedCuda.hang(1);
        long before = SimulatedCuda.synchronisations();
        Crew crew = new Crew().run(() -> {
            brick(profiler, BrickId.RMS_NORM);
            profiler.endPass();
        });
        while (SimulatedCuda.synchronisations() == before) {
            Thread.onSpinWait();
        }
        stream.close();
        crew.join();
        assertThat(SimulatedCuda.liveEvents()).isZero();
    }

    @Test
    void thePrimaryContextOfADeviceThatHangsIsKeptSinceGivingItUpWouldHangToo() {
        CudaStream stream =
                CudaStream.onDevice(0).marks(8, 8).waitTimeout(SHORT).open();
        int retains = SimulatedCuda.retains();
        SimulatedCuda.hang(1);
        int first = stream.mark();
        engine.spin(WORK_NS, stream);
        int mark = stream.mark();
        assertThat(stream.waitFor(mark)).isFalse();
        assertThat(stream.isStalled()).isTrue();
        assertThat(stream.elapsedNs(first, mark)).isEqualTo(DeviceStream.NOT_REACHED);
        stream.close();
        assertThat(SimulatedCuda.liveEvents()).isZero();
        assertThat(SimulatedCuda.retains()).isEqualTo(retains);
        assertThat(stream.failure().orElseThrow()).contains("cuDevicePrimaryCtxRelease not called");
    }

    @Test
    void aTimerOfADeviceThatHangsReadsZero() throws Exception {
        SimulatedCuda.hang(1);
        try (CudaTimer timer = CudaTimer.on(engine.context(), engine.stream(), SHORT)) {
            timer.recordStart();
            engine.spin(WORK_NS);
            timer.recordEnd();
            assertThat(timer.elapsedNs()).isZero();
            assertThat(timer.failure().orElseThrow()).contains("within the timeout of 30 ms");
            SimulatedCuda.hang(0);
            assertThat(timer.elapsedNs()).isGreaterThanOrEqualTo(WORK_NS);
        }
    }

    @Test
    void aTimerCanBeClosedWhileAnotherThreadReadsIt() throws Exception {
        SimulatedCuda.hang(1);
        CudaTimer timer = CudaTimer.on(engine.context(), engine.stream(), Duration.ofDays(1));
        timer.recordStart();
        engine.spin(WORK_NS);
        timer.recordEnd();
        long before = SimulatedCuda.synchronisations();
        Crew crew = new Crew().run(() -> assertThat(timer.elapsedNs()).isZero());
        while (SimulatedCuda.synchronisations() == before) {
            Thread.onSpinWait();
        }
        timer.close();
        crew.join();
        assertThat(SimulatedCuda.liveEvents()).isZero();
    }

    @Test
    void refusesATimeoutThatIsNone() {
        for (Duration none : new Duration[] {Duration.ZERO, Duration.ofNanos(-1)}) {
            assertThatThrownBy(() -> builder().waitTimeout(none))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining(none.toString());
            assertThatThrownBy(() -> CudaTimer.on(engine.context(), engine.stream(), none))
                    .isInstanceOf(IllegalArgumentException.class);
        }
        builder().waitTimeout(Duration.ofSeconds(Long.MAX_VALUE)).open().close();
    }

    @Spec("12.31")
    @Test
    void aGreenContextIsNotKeptCurrentDuringAWaitElsewhere() throws Exception {
        CudaEngine green = new CudaEngine(0, true);
        SimulatedCuda.makeGreen();
        CudaStream stream =
                CudaStream.on(green.context(), green.stream()).marks(8, 64).open();
        BrickProfiler profiler = profiler(stream);
        long timer = profiler.startBrick(BrickId.RMS_NORM);
        green.spin(300_000_000);
        profiler.stopBrick(timer, 1);
        // The thread that made the context pops it for a while.
        green.giveUp();
        CountDownLatch waits = new CountDownLatch(1);
        long before = SimulatedCuda.synchronisations();
        Crew crew = new Crew().run(() -> {
            long own = profiler.startBrick(BrickId.LM_HEAD);
            profiler.stopBrick(own, 1);
            waits.countDown();
            profiler.endPass();
            assertThat(profiler.brickStats(BrickId.LM_HEAD).count()).isOne();
            assertThat(SimulatedCuda.contextDepth()).isZero();
        });
        waits.await();
        while (SimulatedCuda.synchronisations() == before) {
            Thread.onSpinWait();
        }
        // While the other thread waits: if it is preempted during a call, pushes fail until it continues.
        int pushed = 0;
        while (pushed < 150 && profiler.brickStats(BrickId.LM_HEAD).count() == 0) {
            pushed += green.tryPushAndPop() ? 1 : 0;
        }
        assertThat(pushed).isEqualTo(150);
        crew.join();
        stream.close();
    }

    /**
     * If the driver refuses to push a green context, a thread can neither query, wait nor resolve, but no time is lost.
     */
    @Spec("12.31")
    @Test
    void marksWhoseContextCannotBePushedAreResolvedLater() throws Exception {
        CudaEngine green = new CudaEngine(0, true);
        SimulatedCuda.makeGreen();
        try (CudaStream stream =
                CudaStream.on(green.context(), green.stream()).marks(8, 64).open()) {
            int first = stream.mark();
            green.spin(WORK_NS);
            int second = stream.mark();
            Crew.runOnNewThread(() -> {
                assertThat(stream.waitFor(second)).isFalse();
                assertThat(stream.isStalled()).isFalse();
                assertThat(stream.isReached(second)).isFalse();
                assertThat(stream.elapsedNs(first, second)).isEqualTo(DeviceStream.NOT_REACHED);
                assertThat(stream.failure().orElseThrow()).contains("cuCtxPushCurrent returned");
            });
            assertThat(stream.waitFor(second)).isTrue();
            assertThat(stream.elapsedNs(first, second)).isGreaterThanOrEqualTo(WORK_NS);
        }
    }

    // ---- sleeping in the driver ----

    @Spec("12.30")
    @Test
    void aThreadSleepsInTheDriverWhereThatIsAskedForAndItsContextIsCurrent() throws Exception {
        try (CudaStream asking = builder().open()) {
            assertThat(SimulatedCuda.lastEventFlags()).isEqualTo(CUevent_flags.CU_EVENT_DEFAULT);
            engine.spin(WORK_NS);
            assertThat(asking.waitFor(asking.mark())).isTrue();
            assertThat(SimulatedCuda.calls("cuEventSynchronize")).isZero();
        }
        try (CudaStream sleeping = builder().blockingSynchronisation().open()) {
            assertThat(SimulatedCuda.lastEventFlags()).isEqualTo(CUevent_flags.CU_EVENT_BLOCKING_SYNC);
            int first = sleeping.mark();
            engine.spin(WORK_NS);
            int second = sleeping.mark();
            assertThat(sleeping.waitFor(second)).isTrue();
            assertThat(SimulatedCuda.calls("cuEventSynchronize")).isOne();
            assertThat(sleeping.elapsedNs(first, second)).isGreaterThanOrEqualTo(WORK_NS);
            Crew.runOnNewThread(() -> assertThat(sleeping.waitFor(second)).isTrue());
            assertThat(SimulatedCuda.calls("cuEventSynchronize")).isOne();
        }
    }

    @Test
    void closingGivesUpWhereAThreadSleepsInTheDriverOfADeviceThatHangs() throws Exception {
        CudaStream stream =
                builder().blockingSynchronisation().waitTimeout(SHORT).open();
        SimulatedCuda.hang(1);
        engine.spin(WORK_NS);
        int mark = stream.mark();
        CountDownLatch sleeps = new CountDownLatch(1);
        Crew crew = new Crew()
                .run(() -> engine.inContext(() -> {
                    sleeps.countDown();
                    stream.waitFor(mark);
                }));
        sleeps.await();
        while (SimulatedCuda.calls("cuEventSynchronize") == 0) {
            Thread.onSpinWait();
        }
        stream.close();
        assertThat(stream.failure().orElseThrow()).contains("did not return from the driver within the timeout");
        assertThat(SimulatedCuda.liveEvents()).isEqualTo(64);
        SimulatedCuda.hang(0);
        crew.join();
    }

    // ---- virtual threads ----

    private static void startVirtually(Runnable body) throws Throwable {
        MethodHandles.publicLookup()
                .findStatic(Thread.class, "startVirtualThread", MethodType.methodType(Thread.class, Runnable.class))
                .invoke(body);
    }

    @Spec("12.30")
    @Test
    @EnabledForJreRange(min = JRE.JAVA_21)
    void virtualThreadsThatWaitLeaveTheirCarriers() throws Throwable {
        int waiting = 2 * Runtime.getRuntime().availableProcessors();
        CountDownLatch ended = new CountDownLatch(waiting);
        try (CudaStream stream = builder()
                .blockingSynchronisation()
                .waitTimeout(Duration.ofDays(1))
                .open()) {
            BrickProfiler profiler = profiler(stream);
            SimulatedCuda.hang(1);
            long before = SimulatedCuda.synchronisations();
            for (int i = 0; i < waiting; i++) {
                startVirtually(() -> {
                    brick(profiler, BrickId.RMS_NORM);
                    profiler.endPass();
                    ended.countDown();
                });
            }
            while (SimulatedCuda.synchronisations() < before + waiting) {
                Thread.onSpinWait();
            }
            CountDownLatch ran = new CountDownLatch(1);
            startVirtually(ran::countDown);
            assertThat(ran.await(20, TimeUnit.SECONDS)).isTrue();
            assertThat(ended.getCount()).isEqualTo(waiting);
            SimulatedCuda.hang(0);
            assertThat(ended.await(20, TimeUnit.SECONDS)).isTrue();
            assertThat(profiler.brickStats(BrickId.RMS_NORM).count()).isEqualTo(waiting);
        }
    }
}
