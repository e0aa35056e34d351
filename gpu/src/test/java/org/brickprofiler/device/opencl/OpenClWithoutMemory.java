package org.brickprofiler.device.opencl;

import com.sun.jna.Memory;
import com.sun.jna.Pointer;
import java.util.ArrayList;
import java.util.List;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;

/** A process that asks the driver for buffers until it has no more, and times bricks before and after that. */
final class OpenClWithoutMemory {

    private static final int OUT_OF_HOST_MEMORY = -6;
    private static final long READ_WRITE_IN_HOST_MEMORY = 0x11;
    private static final int DEVICE_MAX_MEM_ALLOC_SIZE = 0x1010;
    private static final int MOST_BUFFERS = 1_000;
    private static final int BRICKS = 10;

    private OpenClWithoutMemory() {}

    /**
     * Runs it.
     *
     * @param arguments none
     */
    public static void main(String[] arguments) {
        try (RealOpenCl opencl = new RealOpenCl()) {
            long queue = opencl.queue(RealOpenCl.IN_ORDER);
            try (OpenClStream stream = OpenClStream.on(queue).open()) {
                BrickProfiler profiler =
                        BrickProfiler.builder().deviceStream(stream).build();
                profiler.enable();
                List<Long> buffers = new ArrayList<>();
                for (int i = 0; i < BRICKS; i++) {
                    long timer = profiler.startBrick(BrickId.LM_HEAD);
                    opencl.work(queue, 20_000);
                    if (i == BRICKS / 2) {
                        exhaust(opencl, buffers);
                    }
                    profiler.stopBrick(timer, 1);
                }
                profiler.endPass();
                System.out.println(profiler.brickStats(BrickId.LM_HEAD).count() + " bricks, "
                        + profiler.snapshot().unresolved() + " unresolved, "
                        + stream.failure().orElse("no failure"));
                buffers.forEach(opencl.driver::clReleaseMemObject);
            }
        }
    }

    private static void exhaust(RealOpenCl opencl, List<Long> buffers) {
        Memory code = new Memory(Long.BYTES);
        long bytes = mostBytes(opencl);
        while (buffers.size() < MOST_BUFFERS) {
            long buffer = opencl.driver.clCreateBuffer(
                    opencl.context, READ_WRITE_IN_HOST_MEMORY, bytes, 0, Pointer.nativeValue(code));
            if (buffer == 0) {
                if (code.getInt(0) != OUT_OF_HOST_MEMORY) {
                    throw new IllegalStateException(OpenClFailures.describe(code.getInt(0)));
                }
                return;
            }
            buffers.add(buffer);
        }
        throw new IllegalStateException(
                MOST_BUFFERS + " buffers of " + bytes + " bytes, and the driver has memory left");
    }

    /** Returns the size of the largest buffer, which depends on the machine's memory. */
    private static long mostBytes(RealOpenCl opencl) {
        Memory bytes = new Memory(Long.BYTES);
        RealOpenCl.check(opencl.driver.clGetDeviceInfo(
                opencl.device, DEVICE_MAX_MEM_ALLOC_SIZE, Long.BYTES, Pointer.nativeValue(bytes), 0));
        return bytes.getLong(0);
    }
}
