package org.brickprofiler.device.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import jcuda.driver.JCudaDriver;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.SyncMode;
import org.brickprofiler.internal.base.Log;
import org.brickprofiler.testing.Crew;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The waits of threads, over the simulated driver's real clock. Work that no thread may wait for takes much longer than
 * anything else here, and is still running when a test asserts that nobody waited.
 */
class CudaWaitsTest {

    private static final long SHORT_NS = 1_000_000;
    private static final long LONG_NS = 1_500_000_000;

    private CudaEngine engine;
    private CudaStream decode;
    private CudaStream peer;
    private BrickProfiler profiler;
    private long begunNs;

    @BeforeEach
    void start() {
        SimulatedCuda.start();
        SimulatedCuda.useRealClock(1);
        engine = new CudaEngine(0);
        decode = CudaStream.on(engine.context(), engine.stream()).name("decode").open();
        peer = CudaStream.onDevice(0).name("peer").open();
        profiler =
                BrickProfiler.builder().deviceStream(decode).deviceStream(peer).build();
        profiler.enable();
        begunNs = System.nanoTime();
    }

    @AfterEach
    void stop() {
        assertThat(SimulatedCuda.staleHandles()).isZero();
        decode.close();
        peer.close();
    }

    private void brick(BrickId id, long ns) {
        long timer = profiler.startBrick(id);
        engine.inContext(() -> engine.spin(ns));
        profiler.stopBrick(timer, 1);
    }

    private void peerBrick(long ns) {
        long timer = profiler.stream("peer").startBrick(BrickId.ALL_REDUCE);
        engine.inContext(() -> engine.spin(ns, peer));
        profiler.stopBrick(timer, 1);
    }

    /** Asserts that the long work is not over, so that no call so far has waited for it. */
    private void assertNobodyWaited() {
        assertThat(System.nanoTime() - begunNs).isLessThan(LONG_NS);
    }

    // ---- whose work is waited for ----

    /** As in an application whose other stream waits for work that this thread launches after its pass. */
    @Test
    void aPassDoesNotWaitForTheStreamOfAnotherThread() throws Exception {
        Crew.runOnNewThread(() -> peerBrick(LONG_NS));
        brick(BrickId.RMS_NORM, SHORT_NS);
        profiler.endPass();
        assertThat(profiler.brickStats(BrickId.RMS_NORM).count()).isEqualTo(1);
        assertThat(profiler.snapshot().samples()).isEqualTo(1);
        assertThat(profiler.pendingCount()).isEqualTo(1);
        assertNobodyWaited();
    }

    @ParameterizedTest
    @EnumSource(
            value = SyncMode.class,
            names = {"IMMEDIATE", "PER_LAYER"})
    void aBrickOrLayerDoesNotWaitForTheStreamOfAnotherThread(SyncMode mode) throws Exception {
        Crew.runOnNewThread(() -> peerBrick(LONG_NS));
        profiler.setSyncMode(mode);
        brick(BrickId.RMS_NORM, SHORT_NS);
        profiler.endLayer();
        assertThat(profiler.brickStats(BrickId.RMS_NORM).count()).isEqualTo(1);
        assertNobodyWaited();
    }

    @Test
    void aStreamsPassCanBeEndedAlone() {
        peerBrick(LONG_NS);
        brick(BrickId.RMS_NORM, SHORT_NS);
        profiler.stream("decode").endPass();
        assertThat(profiler.brickStats(BrickId.RMS_NORM).count()).isEqualTo(1);
        assertNobodyWaited();
        profiler.stream("peer").endPass();
        // The host may be late between the mark of the begin and the work.
        assertThat(profiler.brickStats(BrickId.ALL_REDUCE).minNs())
                .isBetween(LONG_NS - 100, System.nanoTime() - begunNs);
    }

    @Spec("12.3")
    @Test
    void workBehindTheLastMarkIsNotWaitedFor() {
        brick(BrickId.RMS_NORM, SHORT_NS);
        engine.spin(LONG_NS);
        profiler.endPass();
        assertThat(profiler.brickStats(BrickId.RMS_NORM).count()).isEqualTo(1);
        assertNobodyWaited();
    }

    @Test
    void aBrickOfAnotherThreadBehindTheOwnIsNotWaitedFor() throws Exception {
        brick(BrickId.RMS_NORM, SHORT_NS);
        Crew.runOnNewThread(() -> brick(BrickId.LM_HEAD, LONG_NS));
        profiler.endPass();
        assertThat(profiler.brickStats(BrickId.RMS_NORM).count()).isEqualTo(1);
        assertThat(profiler.brickStats(BrickId.LM_HEAD).count()).isZero();
        assertNobodyWaited();
    }

    // ---- who waits while another thread does ----

    private void whileAnotherThreadWaits(Runnable body) throws Exception {
        CountDownLatch marked = new CountDownLatch(1);
        Crew crew = new Crew().run(() -> {
            peerBrick(LONG_NS);
            marked.countDown();
            profiler.endPass();
            assertThat(profiler.brickStats(BrickId.ALL_REDUCE).count()).isEqualTo(1);
        });
        marked.await();
        while (SimulatedCuda.synchronisations() == 0) {
            assertNobodyWaited();
            Thread.onSpinWait();
        }
        body.run();
        assertNobodyWaited();
        crew.join();
    }

    @Spec("12.4")
    @Test
    void noReaderWaitsForADevice() throws Exception {
        whileAnotherThreadWaits(() -> {
            assertThat(profiler.pendingCount()).isEqualTo(1);
            assertThat(profiler.hasPending()).isTrue();
            assertThat(profiler.snapshot().samples()).isZero();
            assertThat(profiler.brickStats(BrickId.ALL_REDUCE).count()).isZero();
            assertThat(profiler.allBrickStats()).isEmpty();
        });
    }

    @Test
    void aPassEndsWhileAnotherThreadWaitsForItsOwn() throws Exception {
        whileAnotherThreadWaits(() -> {
            brick(BrickId.RMS_NORM, SHORT_NS);
            profiler.endPass();
            assertThat(profiler.brickStats(BrickId.RMS_NORM).count()).isEqualTo(1);
            brick(BrickId.RMS_NORM, 1_000);
            JCudaDriver.cuStreamSynchronize(engine.stream());
            profiler.finalize(profiler.elapsedNs());
            assertThat(profiler.brickStats(BrickId.RMS_NORM).count()).isEqualTo(2);
        });
    }

    // ---- contexts ----

    private long pushes() {
        return SimulatedCuda.calls("cuCtxPushCurrent_v2");
    }

    @Test
    void readersMakeNoContextCurrent() throws Exception {
        CudaStream own =
                CudaStream.on(engine.context(), engine.stream()).name("own").open();
        BrickProfiler alone = BrickProfiler.builder().deviceStream(own).build();
        alone.enable();
        long timer = alone.startBrick(BrickId.RMS_NORM);
        engine.spin(SHORT_NS);
        alone.stopBrick(timer, 1);
        alone.endPass();
        timer = alone.startBrick(BrickId.LM_HEAD);
        alone.stopBrick(timer, 1);
        long before = pushes();
        Crew.runOnNewThread(() -> {
            assertThat(SimulatedCuda.currentContext()).isZero();
            assertThat(alone.snapshot().samples()).isEqualTo(1);
            assertThat(alone.brickStats(BrickId.RMS_NORM).count()).isEqualTo(1);
            assertThat(alone.pendingCount()).isEqualTo(1);
            alone.endPass();
            assertThat(alone.pendingCount()).isEqualTo(1);
        });
        assertThat(pushes()).isEqualTo(before);
        own.close();
    }

    @Test
    void aThreadThatMarksOrWaitsMakesTheContextCurrentForThat() throws Exception {
        Crew.runOnNewThread(() -> {
            assertThat(SimulatedCuda.currentContext()).isZero();
            brick(BrickId.RMS_NORM, SHORT_NS);
            profiler.endPass();
            assertThat(profiler.brickStats(BrickId.RMS_NORM).count()).isEqualTo(1);
            assertThat(SimulatedCuda.contextDepth()).isZero();
        });
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "cuEventCreate",
                "cuEventRecord",
                "cuEventQuery",
                "cuEventElapsedTime",
                "cuStreamIsCapturing",
                "cuThreadExchangeStreamCaptureMode",
                "cuEventDestroy_v2"
            })
    void contextAndCaptureModeAreRestoredBeforeAnythingIsLogged(String call) throws Exception {
        List<String> places = Collections.synchronizedList(new ArrayList<>());
        Log.sendTo(
                System.Logger.Level.WARNING,
                (level, logger, message, thrown) ->
                        places.add(SimulatedCuda.contextDepth() + " " + SimulatedCuda.captureMode() + " " + message));
        try {
            Crew.runOnNewThread(() -> {
                try (CudaStream stream = CudaStream.onDevice(0).marks(2, 64).open()) {
                    SimulatedCuda.failAlways(call, 999);
                    BrickProfiler logged =
                            BrickProfiler.builder().deviceStream(stream).build();
                    logged.enable();
                    for (int i = 0; i < 8; i++) {
                        long timer = logged.startBrick(BrickId.RMS_NORM);
                        engine.inContext(() -> engine.spin(SHORT_NS, stream));
                        logged.stopBrick(timer, 1);
                    }
                    logged.endPass();
                }
            });
        } finally {
            Log.sendToPlatform();
        }
        assertThat(places).isNotEmpty().allMatch(place -> place.startsWith("0 0 "));
    }
}
