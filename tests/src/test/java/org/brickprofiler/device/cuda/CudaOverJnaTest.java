package org.brickprofiler.device.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.time.Duration;
import jcuda.driver.JCudaDriver;
import org.brickprofiler.demo.DeviceFailure;
import org.brickprofiler.demo.Gpu;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Repeats tests over JNA that run over JCuda otherwise: the contract, each failure of the driver, times, captures,
 * graphs, closing, timeouts, timers and allocation.
 */
@Spec("12.45")
@ExtendWith(ThroughJna.class)
class CudaOverJnaTest {

    @BeforeEach
    void start() {
        SimulatedCuda.start();
        // The simulated driver starts anew for each test; a process initialises the driver once.
        JCudaDriver.cuInit(0);
    }

    @Test
    void aStreamHasNoObjectOfJCudas() {
        try (CudaStream stream = CudaStream.onDevice(0).name("decode").open()) {
            assertThatIllegalStateException()
                    .isThrownBy(stream::stream)
                    .withMessage("decode is not bound through JCuda, so there is no object of JCuda's: call"
                            + " streamAddress()");
            assertThatIllegalStateException()
                    .isThrownBy(stream::context)
                    .withMessageContaining("call contextAddress()");
        }
    }

    /** The demonstration is an application that computes through JCuda. */
    @Test
    void theDemonstrationSaysThatItNeedsJCuda() {
        assertThatExceptionOfType(DeviceFailure.class)
                .isThrownBy(() -> Gpu.open(0))
                .withMessage("the demonstration computes through JCuda, and the driver is bound otherwise: "
                        + CudaSupport.probe());
        assertThat(SimulatedCuda.liveEvents()).isZero();
    }

    @Nested
    class Contract extends CudaStreamContractTest {}

    @Nested
    class Failures extends CudaFailuresTest {}

    @Nested
    class RealClock extends CudaRealClockTest {
        @Override
        Duration budget() {
            return Duration.ofMillis(100);
        }
    }

    @Nested
    class Capture extends CudaCaptureTest {}

    @Nested
    class Graph extends CudaGraphTest {}

    @Nested
    class GraphRealClock extends CudaGraphRealClockTest {}

    @Nested
    class Close extends CudaCloseTest {}

    @Nested
    class Timeout extends CudaTimeoutTest {}

    @Nested
    class Timer extends CudaTimerTest {}

    @Nested
    class Allocation extends CudaAllocationTest {
        /** Not a test here, because it takes longer than all others together. */
        @Override
        void noPassAllocatesInInterpretedCode() {}
    }
}
