package org.brickprofiler.trace;

import org.brickprofiler.record.NanoClock;
import org.brickprofiler.record.SpanKind;
import org.brickprofiler.record.TableRegistry;

/**
 * A value that changes over time: tokens per second, pending measurements, bytes of memory. Made by
 * {@link TraceRecorder#counter}. Any thread; setting it allocates nothing and takes no lock.
 */
public final class TraceCounter {

    private final NanoClock clock;
    private final TableRegistry events;
    private final int key;

    TraceCounter(NanoClock clock, TableRegistry events, int key) {
        this.clock = clock;
        this.events = events;
        this.key = key;
    }

    /**
     * Says what the value is from now on.
     *
     * @param value the value, in the counter's unit
     */
    public void set(double value) {
        events.mark(SpanKind.COUNTER, key, clock.nanoTime(), 0, Double.doubleToRawLongBits(value));
    }
}
