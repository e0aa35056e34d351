package org.brickprofiler.trace;

import java.util.List;
import org.brickprofiler.Attribution;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.testing.FakeClock;

/** A recorder of the bricks and tiles of a profiler, for tests to extend. */
abstract class TracedBricks {

    final FakeClock clock = new FakeClock();
    final TraceRecorder recorder =
            TraceRecorder.builder().clock(clock).tiles(true).build();
    final BrickProfiler profiler = profiler(recorder);
    final String thread = Thread.currentThread().getName();

    final BrickProfiler profiler(TraceRecorder sink) {
        BrickProfiler made = BrickProfiler.builder()
                .clock(clock)
                .attribution(Attribution.SEQUENTIAL)
                .tracing(sink)
                .build();
        made.enable();
        return made;
    }

    final long startAt(long ns, BrickId id) {
        clock.set(ns);
        return profiler.startBrick(id);
    }

    final void stopAt(long ns, long timer, long elements) {
        clock.set(ns);
        profiler.stopBrick(timer, elements);
    }

    final void brick(BrickId id, long startNs, long endNs) {
        stopAt(endNs, startAt(startNs, id), 1);
    }

    final List<String> events(String track) {
        return Replay.of(recorder.timeline(), track);
    }
}
