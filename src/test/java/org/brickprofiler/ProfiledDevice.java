package org.brickprofiler;

import org.brickprofiler.device.StreamTotals;
import org.brickprofiler.testing.DeviceBricks;
import org.brickprofiler.testing.SimulatedStream;

/** A profiler of two simulated streams that times every launch, for tests to extend. */
abstract class ProfiledDevice extends DeviceBricks {

    final SimulatedStream copies = new SimulatedStream("copies", clock);
    final BrickProfiler profiler = profiler(stream, copies);

    ProfiledDevice() {
        super(1_000_000);
    }

    @Override
    protected final BrickProfiler timing() {
        return profiler;
    }

    @Override
    protected final BrickProfilerBuilder options() {
        return BrickProfiler.builder().clock(clock).launchTimes(1);
    }

    final BrickStats stats(BrickId id) {
        return profiler.brickStats(id);
    }

    /** Returns the totals of the stream "decode". */
    final StreamTotals totals() {
        return profiler.snapshot().streams().stream()
                .filter(each -> each.stream().equals("decode"))
                .findFirst()
                .orElseThrow();
    }
}
