package org.brickprofiler.device.cuda;

import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * What is tested over JCuda holds over JNA: the contract, each failure of the driver, times, captures, closing, waiting
 * and allocation.
 */
@Spec("12.45")
@ExtendWith(ThroughJna.class)
class CudaOverJnaTest {

    @Nested
    class Contract extends CudaStreamContractTest {}

    @Nested
    class Failures extends CudaFailuresTest {}

    @Nested
    class RealClock extends CudaRealClockTest {}

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
    class Waits extends CudaWaitsTest {}

    @Nested
    class Allocation extends CudaAllocationTest {}
}
