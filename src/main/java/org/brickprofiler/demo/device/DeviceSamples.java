package org.brickprofiler.demo.device;

import org.brickprofiler.BrickProfiler;
import org.brickprofiler.BrickStats;
import org.brickprofiler.device.DeviceStream;

/** The device's samples of one brick, one after the other as they are resolved. One thread. */
final class DeviceSamples {

    private final BrickProfiler profiler;
    private final String brick;
    private final DeviceStream stream;

    private long samples;
    private long totalNs;

    /** From now on; the stream says why there is none, where that is so. */
    DeviceSamples(BrickProfiler profiler, String brick, DeviceStream stream) {
        this.profiler = profiler;
        this.brick = brick;
        this.stream = stream;
        profiler.stats(brick).ifPresent(this::take);
    }

    private void take(BrickStats stats) {
        samples = stats.device().samples();
        totalNs = stats.totalNs();
    }

    /**
     * How long the one sample took that was resolved since this was called last.
     *
     * @return ns
     * @throws DeviceFailure where the device timed none, or more than one
     */
    long nextNs() {
        long samplesBefore = samples;
        long totalBeforeNs = totalNs;
        profiler.stats(brick).ifPresent(this::take);
        if (samples != samplesBefore + 1) {
            throw new DeviceFailure("of one brick '" + brick + "' the device timed " + (samples - samplesBefore) + ": "
                    + stream.failure().orElse("no reason is known"));
        }
        return totalNs - totalBeforeNs;
    }
}
