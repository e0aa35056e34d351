package org.brickprofiler.device.cuda;

import static jcuda.driver.CUresult.CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
import static jcuda.driver.CUresult.CUDA_SUCCESS;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
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
 * Marks in the default stream while another stream is captured: which captures they spoil, and what keeps them from it.
 */
class CudaDefaultStreamTest {

    private static final String REFUSED = "cuEventRecord returned CUDA_ERROR_STREAM_CAPTURE_IMPLICIT (906)";

    private CudaEngine engine;

    @BeforeEach
    void start() {
        SimulatedCuda.start();
        engine = new CudaEngine(0);
    }

    @AfterEach
    void noThreadIsLeftInAnotherMode() {
        assertThat(SimulatedCuda.captureMode()).isEqualTo(CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL);
    }

    private static void beginCapture(CUstream stream, int mode) {
        assertThat(JCudaDriver.cuStreamBeginCapture(stream, mode)).isEqualTo(CUDA_SUCCESS);
    }

    private static void beginCapture(CUstream stream) {
        beginCapture(stream, CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL);
    }

    private static void endsWithAGraph(CUstream stream) {
        CUgraph graph = new CUgraph();
        assertThat(JCudaDriver.cuStreamEndCapture(stream, graph)).isEqualTo(CUDA_SUCCESS);
        assertThat(graph).isNotEqualTo(new CUgraph());
        assertThat(SimulatedCuda.spoiltCaptures()).isZero();
    }

    private static void endsSpoilt(CUstream stream) {
        CUgraph graph = new CUgraph();
        assertThat(JCudaDriver.cuStreamEndCapture(stream, graph)).isEqualTo(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
        assertThat(graph).isEqualTo(new CUgraph());
        assertThat(SimulatedCuda.spoiltCaptures()).isOne();
    }

    // ---- what spoils a capture ----

    @Spec("12.16")
    @ParameterizedTest
    @ValueSource(
            ints = {
                CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL,
                CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
                CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
            })
    void aMarkSpoilsTheCaptureOfAStreamThatWaitsForTheDefaultOne(int mode) {
        List<CudaStream.Builder> builders = List.of(
                CudaStream.onDefaultStream(0),
                CudaStream.on(engine.context(), null),
                CudaStream.on(engine.context(), JCudaDriver.CU_STREAM_LEGACY));
        for (CudaStream.Builder builder : builders) {
            long spoilt = SimulatedCuda.spoiltCaptures();
            try (CapturedLog log = new CapturedLog();
                    CudaStream stream = builder.marks(4, 4).open()) {
                beginCapture(engine.stream(), mode);
                assertThat(stream.mark()).isEqualTo(DeviceStream.NO_MARK);
                assertThat(stream.mark()).isEqualTo(DeviceStream.NO_MARK);
                assertThat(SimulatedCuda.spoiltCaptures() - spoilt).isOne();
                CUgraph graph = new CUgraph();
                assertThat(JCudaDriver.cuStreamEndCapture(engine.stream(), graph))
                        .isEqualTo(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
                assertThat(graph).isEqualTo(new CUgraph());
                assertThat(log.linesWith(REFUSED)).isOne();
                assertThat(log.linesWith("WARN")).isOne();
                assertThat(stream.failure().orElseThrow()).startsWith(REFUSED).endsWith("which this spoils");

                assertThat(stream.isUsable()).isTrue();
                int first = stream.mark();
                engine.spin(300);
                int second = stream.mark();
                assertThat(stream.waitFor(second)).isTrue();
                assertThat(stream.elapsedNs(first, second)).isEqualTo(300);
            }
        }
    }

    @Test
    void aTimerSpoilsTheCaptureToo() {
        try (CudaTimer timer = CudaTimer.on(engine.context(), null)) {
            beginCapture(engine.stream());
            timer.recordStart();
            timer.recordEnd();
            endsSpoilt(engine.stream());
            assertThat(timer.elapsedNs()).isZero();
            assertThat(timer.failure().orElseThrow()).startsWith(REFUSED);
        }
    }

    @Test
    void aBrickSpoilsTheCaptureTooAndIsUnresolved() {
        try (CudaStream stream = CudaStream.onDefaultStream(0).open()) {
            BrickProfiler profiler = profiler(stream);
            brick(profiler, BrickId.RMS_NORM, 700);
            beginCapture(engine.stream());
            profiler.stopBrick(profiler.startBrick(BrickId.LM_HEAD), 1);
            endsSpoilt(engine.stream());
            brick(profiler, BrickId.RMS_NORM, 40);
            profiler.endPass();
            assertThat(profiler.brickStats(BrickId.RMS_NORM).totalNs()).isEqualTo(740);
            assertThat(profiler.brickStats(BrickId.LM_HEAD).count()).isZero();
            assertThat(profiler.brickStats(BrickId.LM_HEAD).device().unresolved())
                    .isOne();
        }
    }

    private static BrickProfiler profiler(CudaStream stream) {
        BrickProfiler profiler = BrickProfiler.builder()
                .clock(SimulatedCuda::now)
                .deviceStream(stream)
                .build();
        profiler.enable();
        return profiler;
    }

    private void brick(BrickProfiler profiler, BrickId id, long ns) {
        long timer = profiler.startBrick(id);
        engine.spin(ns);
        profiler.stopBrick(timer, 1);
    }

    // ---- what does not ----

    @Test
    void aStreamThatDoesNotWaitForTheDefaultOneIsNotAffected() {
        CUstream captured = new CUstream();
        JCudaDriver.cuStreamCreate(captured, CUstream_flags.CU_STREAM_NON_BLOCKING);
        try (CudaStream stream = CudaStream.onDefaultStream(0).marks(4, 4).open()) {
            beginCapture(captured);
            int first = stream.mark();
            engine.spin(500);
            int second = stream.mark();
            assertThat(stream.waitFor(second)).isTrue();
            assertThat(stream.elapsedNs(first, second)).isEqualTo(500);
            assertThat(stream.failure()).isEmpty();
            endsWithAGraph(captured);
        }
    }

    @Test
    void marksInAStreamOfTheirOwnSpoilNothing() {
        try (CudaStream stream = CudaStream.onDevice(0).marks(4, 4).open()) {
            beginCapture(engine.stream());
            int first = stream.mark();
            engine.spin(500, stream);
            int second = stream.mark();
            assertThat(stream.waitFor(second)).isTrue();
            assertThat(stream.elapsedNs(first, second)).isEqualTo(500);
            endsWithAGraph(engine.stream());
        }
    }

    @Test
    void theDefaultStreamOfAnotherContextSpoilsNothing() {
        CudaEngine other = new CudaEngine(0, true);
        try (CudaStream stream =
                CudaStream.on(other.context(), null).marks(4, 4).open()) {
            engine.inContext(() -> beginCapture(engine.stream()));
            assertThat(stream.mark()).isNotEqualTo(DeviceStream.NO_MARK);
            engine.inContext(() -> endsWithAGraph(engine.stream()));
        }
    }

    @Test
    void aProfilerThatIsDisabledSpoilsNothing() {
        try (CudaStream stream = CudaStream.onDefaultStream(0).open()) {
            BrickProfiler profiler = profiler(stream);
            brick(profiler, BrickId.RMS_NORM, 700);
            beginCapture(engine.stream());
            profiler.disable();
            brick(profiler, BrickId.RMS_NORM, 5_000);
            profiler.enable();
            endsWithAGraph(engine.stream());
            profiler.endPass();
            assertThat(profiler.brickStats(BrickId.RMS_NORM).totalNs()).isEqualTo(700);
            assertThat(profiler.snapshot().unresolved()).isZero();
        }
    }
}
