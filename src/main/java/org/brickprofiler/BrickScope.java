package org.brickprofiler;

import org.brickprofiler.internal.record.TimerToken;

/**
 * A timer that stops when it is closed, for use in a {@code try} statement. Closing it twice counts once. It belongs to
 * the thread that opened it.
 */
public final class BrickScope implements AutoCloseable {

    private final BrickProfiler profiler;
    private final long elements;
    private long timer;

    BrickScope(BrickProfiler profiler, long timer, long elements) {
        this.profiler = profiler;
        this.timer = timer;
        this.elements = elements;
    }

    /** Stops the timer and records the sample. */
    @Override
    public void close() {
        long running = timer;
        timer = TimerToken.VOID;
        profiler.stopBrick(running, elements);
    }
}
