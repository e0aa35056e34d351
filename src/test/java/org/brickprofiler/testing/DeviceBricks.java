package org.brickprofiler.testing;

import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.BrickProfilerBuilder;

/**
 * Bricks on a simulated device, for tests to extend: the host launches each in 5 ns, and the stream "decode" does its
 * work in the time that the test gives.
 */
public abstract class DeviceBricks {

    protected static final long LAUNCH_NS = 5;

    protected final FakeClock clock;
    protected final SimulatedStream stream;

    protected DeviceBricks(long startNs) {
        clock = new FakeClock(startNs);
        stream = new SimulatedStream("decode", clock);
    }

    /** The profiler that times the bricks. */
    protected abstract BrickProfiler timing();

    /** Returns a builder with the options of every profiler of the test. */
    protected abstract BrickProfilerBuilder options();

    /** An enabled profiler of streams. */
    protected final BrickProfiler profiler(SimulatedStream... streams) {
        BrickProfilerBuilder options = options();
        for (SimulatedStream each : streams) {
            options.deviceStream(each);
        }
        BrickProfiler made = options.build();
        made.enable();
        return made;
    }

    /** A brick that the host launches in 5 ns and the device does in the given time. */
    protected final void brick(BrickId id, long deviceNs) {
        long timer = timing().startBrick(id);
        launch(deviceNs);
        timing().stopBrick(timer, 2);
    }

    protected final void launch(long deviceNs) {
        stream.work(deviceNs);
        clock.advance(LAUNCH_NS);
    }
}
