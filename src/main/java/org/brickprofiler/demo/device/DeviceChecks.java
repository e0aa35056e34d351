package org.brickprofiler.demo.device;

import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The checks of this package. Stateless; any thread. */
public final class DeviceChecks {

    private DeviceChecks() {}

    /**
     * All of them, in the order in which they are to be made.
     *
     * @param gpu the device; used by nobody else meanwhile
     * @param rounds how often each way of watching is measured
     * @param marks how many marks are set
     * @param torch what PyTorch's profiler costs; null for unknown
     * @return the checks, not yet made
     * @throws DeviceFailure when the device refuses what they need
     */
    public static List<Check> on(Gpu gpu, int rounds, long marks, @Nullable Path torch) {
        return List.of(
                new SpinCheck(gpu),
                new CostCheck(gpu, rounds),
                new SpanCheck(gpu),
                new MarksCheck(gpu, marks),
                new TorchCost(torch));
    }
}
