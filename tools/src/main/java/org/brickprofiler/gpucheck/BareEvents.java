package org.brickprofiler.gpucheck;

import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import jcuda.driver.CUevent;
import jcuda.driver.CUresult;
import jcuda.driver.JCudaDriver;
import org.brickprofiler.demo.DevicePass;
import org.brickprofiler.demo.Gpu;
import org.brickprofiler.demo.PassCosts;

/**
 * The floor of device times: a pass with bare events of the driver around its kernels, and no profiler. Each kernel has
 * the events that a brick needs, and one reading of a time, or none. One thread.
 */
final class BareEvents implements AutoCloseable {

    /** The name of the way with two events for each kernel, and one reading. */
    static final String TWO = "two bare events, read";

    /** The name of the way with one event for each kernel, and one reading. */
    static final String ONE = "one bare event, read";

    private final Gpu gpu;
    private final List<DevicePass.Work> works;
    private final CUevent[] events;
    private final float[] ms = new float[1];

    private long refused;

    /** Creates the events. */
    BareEvents(Gpu gpu, DevicePass pass) {
        this.gpu = gpu;
        works = pass.layers().stream()
                .flatMap(List::stream)
                .map(DevicePass.Step::work)
                .toList();
        events = Stream.generate(BareEvents::event).limit(2L * works.size()).toArray(CUevent[]::new);
    }

    private static CUevent event() {
        CUevent event = new CUevent();
        Gpu.require("cuEventCreate", JCudaDriver.cuEventCreate(event, 0));
        return event;
    }

    /** Adds the ways to some others. */
    void addTo(Map<String, PassCosts.Way> ways) {
        ways.put("two bare events", () -> run(2, false));
        ways.put(TWO, () -> run(2, true));
        ways.put("one bare event", () -> run(1, false));
        ways.put(ONE, () -> run(1, true));
    }

    private void run(int each, boolean reads) {
        int recorded = 0;
        for (DevicePass.Work work : works) {
            for (int i = 1; i < each; i++) {
                record(recorded++);
            }
            work.enqueue();
            record(recorded++);
        }
        gpu.synchronize();
        for (int end = each; reads && end < recorded; end += each) {
            if (JCudaDriver.cuEventElapsedTime(ms, events[end - 1], events[end]) != CUresult.CUDA_SUCCESS) {
                refused++;
            }
        }
    }

    /** Returns the number of times that the driver refused to read. If it is above 0, the floor is invalid. */
    long refused() {
        return refused;
    }

    private void record(int event) {
        Gpu.require("cuEventRecord", JCudaDriver.cuEventRecord(events[event], gpu.handle()));
    }

    @Override
    public void close() {
        for (CUevent event : events) {
            JCudaDriver.cuEventDestroy(event);
        }
    }
}
