package org.brickprofiler.trace;

import java.util.List;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.BrickProfilerBuilder;
import org.brickprofiler.testing.DeviceBricks;
import org.brickprofiler.testing.SimulatedStream;

/** A recorder of events that a profiler times on a simulated stream, for tests to extend. */
abstract class TracedDevice extends DeviceBricks {

    final TraceRecorder recorder = TraceRecorder.builder().clock(clock).build();
    final BrickProfiler profiler = profiler(stream);
    final String thread = Thread.currentThread().getName();

    TracedDevice() {
        super(1_000);
    }

    @Override
    protected final BrickProfiler timing() {
        return profiler;
    }

    @Override
    protected final BrickProfilerBuilder options() {
        return BrickProfiler.builder().clock(clock).tracing(recorder);
    }

    /** A brick of 10 ns on the first stream of a profiler. */
    final void brickOf(BrickProfiler made, SimulatedStream itsStream) {
        long timer = made.startBrick(BrickId.RMS_NORM);
        itsStream.work(10);
        clock.advance(1);
        made.stopBrick(timer, 1);
        made.endPass();
    }

    final List<String> events(String track) {
        return Replay.of(recorder.timeline(), track);
    }
}
