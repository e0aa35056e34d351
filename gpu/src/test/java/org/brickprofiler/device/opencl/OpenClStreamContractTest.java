package org.brickprofiler.device.opencl;

import java.util.Set;
import org.brickprofiler.device.DeviceStream;
import org.brickprofiler.testing.DeviceStreamContract;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Nested;

/** OpenCL streams keep the contract of streams on a real driver, by either kind of mark. */
class OpenClStreamContractTest {

    private static final int FIRST_MARKS = 4;
    private static final int MAX_MARKS = 64;

    private @Nullable RealOpenCl opencl;

    @AfterEach
    void close() {
        if (opencl != null) {
            opencl.close();
        }
    }

    @Nested
    class ByMarkers extends DeviceStreamContract {
        @Override
        protected Device device() {
            RealOpenCl real = new RealOpenCl();
            opencl = real;
            return new RealDevice(real, new FaultyOpenCl(real.driver), "clEnqueueMarkerWithWaitList");
        }
    }

    @Nested
    class ByFills extends DeviceStreamContract {
        @Override
        protected Device device() {
            RealOpenCl real = new RealOpenCl();
            opencl = real;
            FaultyOpenCl layer = new FaultyOpenCl(real.driver);
            layer.stampedOnEntry = Set.of("clEnqueueMarkerWithWaitList");
            return new RealDevice(real, layer, "clEnqueueFillBuffer");
        }
    }

    private static final class RealDevice implements DeviceStreamContract.Device {

        private final RealOpenCl opencl;
        private final FaultyOpenCl layer;
        private final String function;
        private final long queue;
        private final OpenClStream stream;
        private final int before;
        private final int releasedBefore;

        RealDevice(RealOpenCl opencl, FaultyOpenCl layer, String function) {
            this.opencl = opencl;
            this.layer = layer;
            this.function = function;
            this.queue = opencl.queue(RealOpenCl.IN_ORDER);
            this.stream = OpenClStream.on(queue).marks(FIRST_MARKS, MAX_MARKS).open(layer.support());
            this.before = layer.calls(function);
            this.releasedBefore = layer.calls("clReleaseEvent");
        }

        @Override
        public DeviceStream open() {
            return stream;
        }

        @Override
        public void work(long ns) {
            opencl.work(queue, ns);
        }

        @Override
        public void pass(long ns) {
            opencl.finish(queue);
        }

        @Override
        public boolean worksLater() {
            return true;
        }

        @Override
        public boolean isExact() {
            return false;
        }

        /** The events that were made and are not released. */
        @Override
        public int liveMarks() {
            return layer.calls(function) - before - (layer.calls("clReleaseEvent") - releasedBefore);
        }
    }
}
