package org.brickprofiler.record;

import java.util.concurrent.atomic.AtomicLong;

/** A clock that stands still until it is told otherwise, and counts how often it is read. Any thread. */
public final class FakeClock implements NanoClock {

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

    /** What the clock shows; not counted as a read. */
    public long now() {
        return nowNs.get();
    }

    /** How often the clock was read so far. */
    public long reads() {
        return reads.get();
    }
}
