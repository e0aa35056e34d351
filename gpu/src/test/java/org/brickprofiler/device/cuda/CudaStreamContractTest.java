package org.brickprofiler.device.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import jcuda.driver.JCudaDriver;
import org.brickprofiler.device.DeviceStream;
import org.brickprofiler.testing.DeviceStreamContract;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Nested;

/** CUDA streams keep the contract of streams, however they are made and however JCuda reports errors. */
class CudaStreamContractTest {

    private static final int FIRST_MARKS = 4;
    private static final int MAX_MARKS = 64;

    @Nested
    class OnTheApplicationsStream extends Kit {
        @Override
        CudaStream.Builder builder(CudaEngine engine) {
            return CudaStream.on(engine.context(), engine.stream());
        }
    }

    @Nested
    class OnTheApplicationsDefaultStream extends Kit {
        @Override
        CudaStream.Builder builder(CudaEngine engine) {
            return CudaStream.on(engine.context(), null);
        }
    }

    @Nested
    class OnAddresses extends Kit {
        @Override
        CudaStream.Builder builder(CudaEngine engine) {
            CudaStream lent =
                    CudaStream.on(engine.context(), engine.stream()).marks(1, 1).open();
            try (lent) {
                return CudaStream.onAddresses(lent.contextAddress(), lent.streamAddress());
            }
        }
    }

    @Nested
    class OnAContextThatIsNotPrimary extends Kit {
        @Override
        CudaEngine engine() {
            return new CudaEngine(0, true);
        }

        @Override
        CudaStream.Builder builder(CudaEngine engine) {
            return CudaStream.on(engine.context(), engine.stream());
        }
    }

    @Nested
    class OnADevice extends Kit {
        @Override
        CudaStream.Builder builder(CudaEngine engine) {
            return CudaStream.onDevice(0);
        }
    }

    @Nested
    class OnTheDefaultStreamOfADevice extends Kit {
        @Override
        CudaStream.Builder builder(CudaEngine engine) {
            return CudaStream.onDefaultStream(0);
        }
    }

    @Nested
    class OnTheRealClock extends Kit {
        @Override
        CudaStream.Builder builder(CudaEngine engine) {
            return CudaStream.on(engine.context(), engine.stream());
        }

        @Override
        boolean isExact() {
            return false;
        }
    }

    @Nested
    class WhereJCudaThrows extends Kit {
        @Override
        CudaStream.Builder builder(CudaEngine engine) {
            JCudaDriver.setExceptionsEnabled(true);
            return CudaStream.on(engine.context(), engine.stream());
        }

        @AfterEach
        void returnCodesAgain() {
            JCudaDriver.setExceptionsEnabled(false);
        }
    }

    @Nested
    class WhereAnotherContextIsCurrent extends Kit {
        private long foreign;

        @Override
        CudaStream.Builder builder(CudaEngine engine) {
            new CudaEngine(0, true);
            foreign = SimulatedCuda.currentContext();
            return CudaStream.on(engine.context(), engine.stream());
        }

        @AfterEach
        void theOtherContextIsStillCurrent() {
            assertThat(SimulatedCuda.currentContext()).isEqualTo(foreign);
            assertThat(SimulatedCuda.contextDepth()).isEqualTo(2);
        }
    }

    /** The contract over the simulated driver, whose clock is virtual unless a kit says otherwise. */
    abstract static class Kit extends DeviceStreamContract {

        boolean isExact() {
            return true;
        }

        abstract CudaStream.Builder builder(CudaEngine engine);

        CudaEngine engine() {
            return new CudaEngine(0);
        }

        @Override
        protected Device device() {
            SimulatedCuda.start();
            SimulatedCuda.useRealClock(isExact() ? 0 : 1);
            return new SimulatedDevice(this);
        }

        @AfterEach
        void noEventWasUsedAfterItWasDestroyed() {
            assertThat(SimulatedCuda.staleHandles()).isZero();
            assertThat(SimulatedCuda.captureMode()).isZero();
        }
    }

    private static final class SimulatedDevice implements DeviceStreamContract.Device {

        private final CudaEngine engine;
        private final CudaStream stream;
        private final boolean isExact;

        SimulatedDevice(Kit kit) {
            isExact = kit.isExact();
            engine = kit.engine();
            stream = kit.builder(engine).marks(FIRST_MARKS, MAX_MARKS).open();
        }

        @Override
        public DeviceStream open() {
            return stream;
        }

        @Override
        public void work(long ns) {
            engine.inContext(() -> engine.spin(ns, stream));
        }

        @Override
        public void pass(long ns) {
            if (isExact) {
                SimulatedCuda.advance(ns);
            } else {
                long untilNs = System.nanoTime() + ns;
                while (System.nanoTime() < untilNs) {
                    Thread.onSpinWait();
                }
            }
        }

        @Override
        public boolean isExact() {
            return isExact;
        }

        @Override
        public boolean worksLater() {
            return true;
        }

        @Override
        public int liveMarks() {
            return SimulatedCuda.liveEvents();
        }
    }
}
