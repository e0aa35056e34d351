package org.brickprofiler.device.cuda;

import static jcuda.driver.CUresult.CUDA_SUCCESS;
import static org.assertj.core.api.Assertions.assertThat;

import jcuda.driver.CUgraph;
import jcuda.driver.CUstream;
import jcuda.driver.CUstreamCaptureMode;
import jcuda.driver.CUstream_flags;
import jcuda.driver.JCudaDriver;
import org.brickprofiler.device.DeviceStream;
import org.brickprofiler.record.CapturedLog;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Whatever is marked and asked for, no capture of the application's is spoilt. What marks in the default stream do is in
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
        assertThat(JCudaDriver.cuStreamBeginCapture(
                        engine.stream(), CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL))
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
                CudaStream stream =
                        CudaStream.on(engine.context(), engine.stream()).marks(2, 64).open()) {
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
            assertThat(log.linesWith("CUDA_ERROR_CAPTURED_EVENT (907): set while the stream was captured"))
                    .isOne();
            assertThat(log.linesWith("WARN")).isOne();
            assertThat(stream.isUsable()).isTrue();
        }
    }

    @Test
    void marksThatAreSetAgainAfterACaptureHaveTheirTimes() {
        try (CudaStream stream = CudaStream.on(engine.context(), engine.stream()).marks(2, 2).open()) {
            beginCapture();
            stream.release(stream.mark());
            endCapture();
            int first = stream.mark();
            engine.spin(800);
            int second = stream.mark();
            stream.synchronize();
            assertThat(stream.elapsedNs(first, second)).isEqualTo(800);
        }
    }

    @Test
    void aStreamThatCapturesIsNotWaitedFor() {
        try (CapturedLog log = new CapturedLog();
                CudaStream stream =
                        CudaStream.on(engine.context(), engine.stream()).marks(2, 2).open()) {
            engine.spin(1_000);
            beginCapture();
            assertThat(stream.synchronize()).isFalse();
            assertThat(stream.synchronize()).isFalse();
            assertThat(SimulatedCuda.calls("cuStreamSynchronize")).isZero();
            assertThat(stream.failure().orElseThrow()).contains("captured into a graph");
            assertThat(log.linesWith("not waited for")).isOne();
            endCapture();
            assertThat(stream.synchronize()).isTrue();
            assertThat(stream.isUsable()).isTrue();
        }
    }

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
            assertThat(stream.synchronize()).isTrue();
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
    void theDefaultStreamIsNotWaitedForWhileOneThatItWaitsForCaptures() {
        try (CudaStream stream = CudaStream.on(engine.context(), null).marks(2, 2).open()) {
            int mark = stream.mark();
            beginCapture();
            assertThat(stream.synchronize()).isFalse();
            assertThat(stream.isReached(mark)).isTrue();
            endCapture();
            assertThat(stream.synchronize()).isTrue();
        }
    }

    @Test
    void closingSpoilsNoCaptureOfItsOwnStream() {
        CudaStream stream = CudaStream.on(engine.context(), engine.stream()).marks(2, 64).open();
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
