package org.brickprofiler.testing;

import java.util.concurrent.atomic.AtomicLong;
import org.brickprofiler.spi.NanoClock;

/** A clock that stands still until it is moved, and counts how often it is read. Any thread. */
public class FakeClock implements NanoClock {

    private final AtomicLong nowNs;
    private final AtomicLong reads = new AtomicLong();

    /** A clock that shows 0. */
    public FakeClock() {
        this(0);
    }

    /** A clock that shows the given time. */
    public FakeClock(long startNs) {
        nowNs = new AtomicLong(startNs);
    }

    @Override
    public long nanoTime() {
        reads.incrementAndGet();
        return nowNs.get();
    }

    /** Sets the time, backwards too. */
    public void set(long ns) {
        nowNs.set(ns);
    }

    /** Moves the time on. */
    public void advance(long ns) {
        nowNs.addAndGet(ns);
    }

    /** Moves the time on to a moment, unless it has passed. */
    public void waitUntil(long ns) {
        nowNs.accumulateAndGet(ns, Math::max);
    }

    /** Returns the reading of the clock; not counted as a read. */
    public long now() {
        return nowNs.get();
    }

    /** Returns how often the clock was read so far. */
    public final long reads() {
        return reads.get();
    }
}
