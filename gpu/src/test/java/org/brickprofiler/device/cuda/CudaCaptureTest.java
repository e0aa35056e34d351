package org.brickprofiler.device.cuda;

import static jcuda.driver.CUresult.CUDA_ERROR_CAPTURED_EVENT;
import static jcuda.driver.CUresult.CUDA_ERROR_INVALID_VALUE;
import static jcuda.driver.CUresult.CUDA_SUCCESS;
import static org.assertj.core.api.Assertions.assertThat;

import jcuda.driver.CUgraph;
import jcuda.driver.CUstream;
import jcuda.driver.CUstreamCaptureMode;
import jcuda.driver.CUstream_flags;
import jcuda.driver.JCudaDriver;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.device.DeviceStream;
import org.brickprofiler.testing.CapturedLog;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Neither marking nor querying spoils a capture of the application. Marks in the default stream are tested in
 * {@link CudaDefaultStreamTest}.
 */
class CudaCaptureTest {

    private CudaEngine engine;

    @BeforeEach
    void start() {
        SimulatedCuda.start();
        engine = new CudaEngine(0);
    }

    @AfterEach
    void noCaptureIsSpoiltAndNoThreadLeftInAnotherMode() {
        assertThat(SimulatedCuda.spoiltCaptures()).isZero();
        assertThat(SimulatedCuda.captureMode()).isEqualTo(CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL);
    }

    private void beginCapture() {
        assertThat(JCudaDriver.cuStreamBeginCapture(engine.stream(), CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL))
                .isEqualTo(CUDA_SUCCESS);
    }

    private void endCapture() {
        CUgraph graph = new CUgraph();
        assertThat(JCudaDriver.cuStreamEndCapture(engine.stream(), graph)).isEqualTo(CUDA_SUCCESS);
        assertThat(graph).isNotEqualTo(new CUgraph());
    }

    @Test
    void marksOfACapturedStreamHaveNoTime() {
        try (CapturedLog log = new CapturedLog();
                CudaStream stream = CudaStream.on(engine.context(), engine.stream())
                        .marks(2, 64)
                        .open()) {
            int before = stream.mark();
            beginCapture();
            int first = stream.mark();
            engine.spin(1_000);
            int second = stream.mark();
            assertThat(second).isNotEqualTo(DeviceStream.NO_MARK);
            assertThat(stream.isReached(second)).isFalse();
            assertThat(stream.elapsedNs(first, second)).isEqualTo(DeviceStream.NOT_REACHED);
            assertThat(stream.isReached(before)).isFalse();
            endCapture();

            assertThat(stream.isReached(before)).isTrue();
            assertThat(stream.isReached(second)).isTrue();
            assertThat(stream.elapsedNs(first, second)).isEqualTo(DeviceStream.UNRESOLVED);
            assertThat(stream.elapsedNs(before, second)).isEqualTo(DeviceStream.UNRESOLVED);
            assertThat(log.linesWith("CUDA_ERROR_CAPTURED_EVENT (907): set while the stream was captured into a graph,"
                            + " a mark has no time outside of a scope of CudaStream.capture()"))
                    .isOne();
            assertThat(log.linesWith("WARN")).isOne();
            assertThat(stream.isUsable()).isTrue();
        }
    }

    @Test
    void thatAnEventOfACaptureIsNoValidArgumentIsExplained() {
        SimulatedCuda.setCapturedCode(CUDA_ERROR_INVALID_VALUE);
        try (CapturedLog log = new CapturedLog();
                CudaStream stream = CudaStream.on(engine.context(), engine.stream())
                        .marks(2, 64)
                        .open()) {
            beginCapture();
            int first = stream.mark();
            int second = stream.mark();
            endCapture();

            assertThat(stream.isReached(second)).isTrue();
            assertThat(stream.elapsedNs(first, second)).isEqualTo(DeviceStream.UNRESOLVED);
            assertThat(log.linesWith("CUDA_ERROR_INVALID_VALUE (1): drivers return this for a mark that was set while"
                            + " the stream was captured into a graph"))
                    .isOne();
            assertThat(log.linesWith("WARN")).isOne();
            assertThat(stream.isUsable()).isTrue();
        }
    }

    /** Marks are reused in later passes, so the driver could return their earlier times. */
    @Spec("12.16")
    @ParameterizedTest
    @ValueSource(ints = {CUDA_ERROR_CAPTURED_EVENT, CUDA_ERROR_INVALID_VALUE, CUDA_SUCCESS})
    void whateverTheDriverAnswersNoBrickOfACaptureHasATime(int code) {
        SimulatedCuda.setCapturedCode(code);
        try (CudaStream stream =
                CudaStream.on(engine.context(), engine.stream()).marks(16, 64).open()) {
            BrickProfiler profiler = BrickProfiler.builder()
                    .clock(SimulatedCuda::now)
                    .deviceStream(stream)
                    .build();
            profiler.enable();
            int bricks = 5;
            for (int pass = 0; pass < 3; pass++) {
                bricks(profiler, BrickId.ACTIVATION, bricks);
                beginCapture();
                bricks(profiler, BrickId.ROPE_EMBEDDING, bricks);
                endCapture();
                long across = profiler.startBrick(BrickId.SAMPLING);
                beginCapture();
                profiler.stopBrick(across, 1);
                across = profiler.startBrick(BrickId.SAMPLING);
                endCapture();
                profiler.stopBrick(across, 1);
                profiler.endPass();
            }

            assertThat(profiler.brickStats(BrickId.ACTIVATION).count()).isEqualTo(3L * bricks);
            assertThat(profiler.brickStats(BrickId.ACTIVATION).minNs()).isEqualTo(1_000);
            assertThat(profiler.brickStats(BrickId.ACTIVATION).maxNs()).isEqualTo(1_000);
            assertThat(profiler.brickStats(BrickId.ROPE_EMBEDDING).count()).isZero();
            assertThat(profiler.brickStats(BrickId.ROPE_EMBEDDING).device().unresolved())
                    .isEqualTo(3L * bricks);
            assertThat(profiler.brickStats(BrickId.SAMPLING).count()).isZero();
            assertThat(profiler.brickStats(BrickId.SAMPLING).device().unresolved())
                    .isEqualTo(6);
        }
    }

    private void bricks(BrickProfiler profiler, BrickId id, int count) {
        for (int i = 0; i < count; i++) {
            long timer = profiler.startBrick(id);
            engine.spin(1_000);
            profiler.stopBrick(timer, 1);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {CUDA_ERROR_CAPTURED_EVENT, CUDA_ERROR_INVALID_VALUE, CUDA_SUCCESS})
    void whateverTheDriverAnswersATimerThatWasCapturedReadsZero(int code) {
        SimulatedCuda.setCapturedCode(code);
        try (CudaTimer timer = CudaTimer.on(engine.context(), engine.stream())) {
            timer.recordStart();
            engine.spin(1_000);
            timer.recordEnd();
            assertThat(timer.elapsedNs()).isEqualTo(1_000);
            beginCapture();
            timer.recordStart();
            engine.spin(500);
            timer.recordEnd();
            endCapture();
            assertThat(timer.elapsedNs()).isZero();
            assertThat(timer.failure().orElseThrow()).contains("captured into a graph");
        }
    }

    @Test
    void onlyADriverThatWouldReturnEarlierTimesIsAskedBeforeAndAfterEachMark() {
        long[] asked = new long[2];
        for (int code : new int[] {CUDA_ERROR_INVALID_VALUE, CUDA_SUCCESS}) {
            SimulatedCuda.setCapturedCode(code);
            try (CudaStream stream =
                    CudaStream.on(engine.context(), engine.stream()).marks(2, 2).open()) {
                long before = SimulatedCuda.calls("cuStreamIsCapturing");
                stream.mark();
                asked[code] = SimulatedCuda.calls("cuStreamIsCapturing") - before;
            }
        }
        assertThat(asked[CUDA_ERROR_INVALID_VALUE]).isZero();
        assertThat(asked[CUDA_SUCCESS]).isEqualTo(2);
    }

    @Test
    void marksThatAreSetAgainAfterACaptureHaveTheirTimes() {
        try (CudaStream stream =
                CudaStream.on(engine.context(), engine.stream()).marks(2, 2).open()) {
            beginCapture();
            stream.release(stream.mark());
            endCapture();
            int first = stream.mark();
            engine.spin(800);
            int second = stream.mark();
            stream.waitFor(second);
            assertThat(stream.elapsedNs(first, second)).isEqualTo(800);
        }
    }

    @Test
    void aStreamThatCapturesIsNotWaitedFor() {
        try (CapturedLog log = new CapturedLog();
                CudaStream stream = CudaStream.on(engine.context(), engine.stream())
                        .marks(2, 2)
                        .open()) {
            engine.spin(1_000);
            int mark = stream.mark();
            beginCapture();
            assertThat(stream.waitFor(mark)).isFalse();
            assertThat(stream.waitFor(mark)).isFalse();
            assertThat(SimulatedCuda.calls("cuEventSynchronize")).isZero();
            assertThat(stream.failure().orElseThrow()).contains("captured into a graph");
            assertThat(log.linesWith("not waited for")).isOne();
            endCapture();
            assertThat(stream.waitFor(mark)).isTrue();
            assertThat(stream.isUsable()).isTrue();
        }
    }

    @Spec("12.16")
    @Test
    void theCaptureOfAnotherStreamIsNotDisturbed() throws InterruptedException {
        CUstream other = new CUstream();
        JCudaDriver.cuStreamCreate(other, CUstream_flags.CU_STREAM_NON_BLOCKING);
        CudaStream stream = CudaStream.on(engine.context(), other).marks(1, 64).open();
        beginCapture();
        Runnable use = () -> {
            int first = stream.mark();
            int second = stream.mark();
            assertThat(stream.isReached(second)).isTrue();
            assertThat(stream.elapsedNs(first, second)).isNotNegative();
            assertThat(stream.waitFor(second)).isTrue();
        };
        use.run();
        Thread thread = new Thread(use);
        thread.start();
        thread.join();
        try (CudaTimer timer = CudaTimer.on(engine.context(), other)) {
            timer.recordStart();
            timer.recordEnd();
            assertThat(timer.elapsedNs()).isZero();
            assertThat(timer.failure()).isEmpty();
        }
        stream.close();
        endCapture();

        assertThat(stream.failure()).contains("the stream is closed");
        assertThat(SimulatedCuda.liveEvents()).isZero();
    }

    @Test
    void aMarkOfTheDefaultStreamIsWaitedForWhileAStreamThatItWaitsForCaptures() {
        try (CudaStream stream =
                CudaStream.on(engine.context(), null).marks(2, 2).open()) {
            int mark = stream.mark();
            beginCapture();
            assertThat(stream.waitFor(mark)).isTrue();
            assertThat(stream.isReached(mark)).isTrue();
            endCapture();
            assertThat(stream.failure()).isEmpty();
        }
    }

    @Test
    void closingSpoilsNoCaptureOfItsOwnStream() {
        CudaStream stream =
                CudaStream.on(engine.context(), engine.stream()).marks(2, 64).open();
        beginCapture();
        stream.mark();
        stream.close();
        endCapture();
        assertThat(SimulatedCuda.liveEvents()).isZero();
    }

    @Test
    void aTimerOfACapturedStreamReadsZero() {
        try (CapturedLog log = new CapturedLog();
                CudaTimer timer = CudaTimer.on(engine.context(), engine.stream())) {
            beginCapture();
            timer.recordStart();
            engine.spin(1_000);
            timer.recordEnd();
            assertThat(timer.elapsedNs()).isZero();
            endCapture();
            assertThat(timer.elapsedNs()).isZero();
            assertThat(timer.failure().orElseThrow()).contains("907");
            assertThat(log.linesWith("WARN")).isOne();
        }
    }
}
