package org.brickprofiler.demo.device;

import java.nio.file.Path;
import java.util.List;
import org.brickprofiler.record.NanoClock;
import org.jspecify.annotations.Nullable;

/** The checks of this package. Stateless; any thread. */
public final class DeviceChecks {

    private DeviceChecks() {}

    /**
     * All of them, in the order in which they are to be made.
     *
     * @param gpu the device; used by nobody else meanwhile, and of no use to anybody after the last check
     * @param clock the host's
     * @param rounds how often each way of watching is measured
     * @param marks how many marks are set
     * @param torch what PyTorch's profiler costs; null for unknown
     * @return the checks, not yet made
     * @throws DeviceFailure when the device refuses what they need
     */
    public static List<Check> on(Gpu gpu, NanoClock clock, int rounds, long marks, @Nullable Path torch) {
        return List.of(
                new SpinCheck(gpu),
                new SpanCheck(gpu),
                new DeferredCheck(gpu, clock),
                new StreamsCheck(gpu),
                new CaptureCheck(gpu),
                new ErrorsCheck(gpu),
                new ClockCheck(gpu, clock),
                new CostCheck(gpu, rounds, clock),
                new MarksCheck(gpu, marks),
                new TorchCost(torch),
                new LossCheck(gpu));
    }
}
