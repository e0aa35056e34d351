package org.brickprofiler.trace;

import org.brickprofiler.internal.record.SpanKind;
import org.brickprofiler.spi.NanoClock;

/**
 * A value that changes over time: tokens per second, pending measurements, bytes of memory. Made by
 * {@link TraceRecorder#counter}. Any thread; setting it allocates nothing and takes no lock.
 */
public final class TraceCounter {

    private final NanoClock clock;
    private final TraceRecorder.ThreadEvents events;
    private final int key;

    TraceCounter(NanoClock clock, TraceRecorder.ThreadEvents events, int key) {
        this.clock = clock;
        this.events = events;
        this.key = key;
    }

    /**
     * Sets the value from now on.
     *
     * @param value the value, in the counter's unit
     */
    public void set(double value) {
        events.mark(SpanKind.COUNTER, key, clock.nanoTime(), 0, Double.doubleToRawLongBits(value));
    }
}
