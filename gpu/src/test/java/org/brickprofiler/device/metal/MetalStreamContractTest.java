package org.brickprofiler.device.metal;

import com.sun.jna.Pointer;
import org.brickprofiler.device.DeviceStream;
import org.brickprofiler.testing.DeviceStreamContract;
import org.junit.jupiter.api.Nested;

/** Metal streams keep the contract of streams, on a queue of the application and on one of their own. */
class MetalStreamContractTest {

    private static final int FIRST_MARKS = 4;
    private static final int MAX_MARKS = 64;

    @Nested
    class OnTheApplicationsQueue extends DeviceStreamContract {
        @Override
        protected Device device() {
            SimulatedMetal.start();
            return new SimulatedDevice(MetalStream.on(Pointer.nativeValue(SimulatedMetal.queueNew("decode"))));
        }
    }

    @Nested
    class OnAQueueOfItsOwn extends DeviceStreamContract {
        @Override
        protected Device device() {
            SimulatedMetal.start();
            return new SimulatedDevice(MetalStream.onDevice());
        }
    }

    private static final class SimulatedDevice implements DeviceStreamContract.Device {

        private final MetalStream stream;

        SimulatedDevice(MetalStream.Builder builder) {
            stream = builder.marks(FIRST_MARKS, MAX_MARKS).open();
        }

        @Override
        public DeviceStream open() {
            return stream;
        }

        @Override
        public void work(long ns) {
            Pointer buffer = SimulatedMetal.bufferNew(new Pointer(stream.queue()), "work");
            stream.watch(Pointer.nativeValue(buffer), null);
            SimulatedMetal.work(buffer, ns);
            SimulatedMetal.commit(buffer);
            SimulatedMetal.release(buffer);
        }

        @Override
        public void pass(long ns) {
            long untilNs = SimulatedMetal.nowNs() + ns;
            SimulatedMetal.run(-1);
            SimulatedMetal.advance(Math.max(0, untilNs - SimulatedMetal.nowNs()));
        }

        @Override
        public boolean worksLater() {
            return true;
        }

        /** Marks are numbers here: nothing of Metal's exists for them. */
        @Override
        public int liveMarks() {
            return 0;
        }
    }
}
