package org.brickprofiler.device.cuda;

import static jcuda.driver.CUresult.CUDA_ERROR_ILLEGAL_ADDRESS;
import static jcuda.driver.CUresult.CUDA_ERROR_OUT_OF_MEMORY;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import jcuda.driver.CUstream;
import jcuda.driver.CUstream_flags;
import jcuda.driver.JCudaDriver;
import org.brickprofiler.testing.CapturedLog;
import org.brickprofiler.testing.Collected;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A pair of events times what lies between them, and waits for nothing else. */
class CudaTimerTest {

    private CudaEngine engine;

    @BeforeEach
    void start() {
        SimulatedCuda.start();
        engine = new CudaEngine(0);
    }

    private CudaTimer timer() {
        return CudaTimer.on(engine.context(), engine.stream());
    }

    @Test
    void readsZeroUntilBothEndsAreRecorded() {
        try (CudaTimer timer = timer()) {
            assertThat(timer.elapsedNs()).isZero();
            timer.recordEnd();
            assertThat(timer.elapsedNs()).isZero();
            timer.recordStart();
            engine.spin(1_000);
            assertThat(timer.elapsedNs()).isZero();
            assertThat(timer.elapsedMs()).isZero();
            timer.recordEnd();
            assertThat(timer.elapsedNs()).isEqualTo(1_000);
            assertThat(timer.elapsedMs()).isEqualTo(0.001);
            assertThat(timer.failure()).isEmpty();
        }
    }

    @Test
    void isUsedAgain() {
        try (CudaTimer timer = timer()) {
            for (long ns = 1_000; ns < 5_000; ns += 1_000) {
                timer.recordStart();
                assertThat(timer.elapsedNs()).isZero();
                engine.spin(ns);
                timer.recordEnd();
                assertThat(timer.elapsedNs()).isEqualTo(ns);
            }
            assertThat(SimulatedCuda.liveEvents()).isEqualTo(2);
        }
    }

    @Test
    void waitsForItsEndOnly() {
        CUstream other = new CUstream();
        JCudaDriver.cuStreamCreate(other, CUstream_flags.CU_STREAM_NON_BLOCKING);
        try (CudaTimer timer = timer()) {
            engine.spin(50_000_000, other);
            timer.recordStart();
            engine.spin(2_000);
            timer.recordEnd();
            engine.spin(70_000);
            long beganNs = SimulatedCuda.now();
            assertThat(timer.elapsedNs()).isEqualTo(2_000);
            assertThat(SimulatedCuda.now() - beganNs).isEqualTo(2_000);
            assertThat(SimulatedCuda.synchronisations()).isOne();
            assertThat(SimulatedCuda.calls("cuStreamSynchronize")).isZero();
        }
    }

    @Test
    void worksInTheDefaultStreamAndOnAnyThread() throws InterruptedException {
        try (CudaTimer timer = CudaTimer.on(engine.context(), null)) {
            Thread thread = new Thread(timer::recordStart);
            thread.start();
            thread.join();
            engine.spin(3_000, new CUstream());
            timer.recordEnd();
            new CudaEngine(0, true);
            assertThat(timer.elapsedNs()).isEqualTo(3_000);
        }
    }

    @Test
    void closesWithoutAThrowAndReadsZeroThen() {
        CudaTimer timer = timer();
        timer.recordStart();
        engine.spin(1_000);
        timer.recordEnd();
        timer.close();
        timer.close();
        assertThat(timer.elapsedNs()).isZero();
        timer.recordStart();
        timer.recordEnd();
        assertThat(timer.elapsedNs()).isZero();
        assertThat(SimulatedCuda.liveEvents()).isZero();
        assertThat(SimulatedCuda.staleHandles()).isZero();
    }

    @Test
    void withoutEventsItReadsZeroAndSaysWhy() {
        SimulatedCuda.failOnce("cuEventCreate", 2, CUDA_ERROR_OUT_OF_MEMORY);
        try (CapturedLog log = new CapturedLog();
                CudaTimer timer = timer()) {
            assertThat(SimulatedCuda.liveEvents()).isZero();
            timer.recordStart();
            timer.recordEnd();
            assertThat(timer.elapsedNs()).isZero();
            assertThat(timer.failure().orElseThrow()).isEqualTo("cuEventCreate returned CUDA_ERROR_OUT_OF_MEMORY (2)");
            assertThat(log.linesWith("CUDA timer: cuEventCreate")).isOne();
        }
    }

    @Test
    void anEndThatIsRefusedIsNoEnd() {
        try (CudaTimer timer = timer()) {
            timer.recordStart();
            engine.spin(1_000);
            SimulatedCuda.failOnce("cuEventRecord", 1, CUDA_ERROR_OUT_OF_MEMORY);
            timer.recordEnd();
            assertThat(timer.elapsedNs()).isZero();
            assertThat(timer.failure()).isNotEmpty();
        }
    }

    @Test
    void aLostDeviceIsCalledNoMore() {
        CudaTimer timer = timer();
        timer.recordStart();
        timer.recordEnd();
        SimulatedCuda.loseContexts(CUDA_ERROR_ILLEGAL_ADDRESS);
        assertThat(timer.elapsedNs()).isZero();
        assertThat(timer.failure().orElseThrow()).startsWith("the device is lost");
        long calls = SimulatedCuda.allCalls();
        timer.recordStart();
        timer.recordEnd();
        assertThat(timer.elapsedNs()).isZero();
        timer.close();
        assertThat(SimulatedCuda.allCalls()).isEqualTo(calls);
    }

    @Test
    void refusesTheDefaultStreamOfEachThread() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> CudaTimer.on(engine.context(), JCudaDriver.CU_STREAM_PER_THREAD));
    }

    /** Its events are left alone, because it is unknown whether the application's context still exists. */
    @Test
    void anUnreachableTimerIsReported() {
        try (CapturedLog log = new CapturedLog()) {
            timer().close();
            timer();
            Collected.until(() -> log.linesWith("a CUDA timer was never closed") > 0);
            assertThat(log.linesWith("a CUDA timer was never closed")).isOne();
            assertThat(SimulatedCuda.liveEvents()).isEqualTo(2);
        }
    }
}
