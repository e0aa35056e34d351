package org.brickprofiler.testing;

import java.util.concurrent.locks.LockSupport;

/** The system's clock in tests that advance a clock: advancing it waits for that time. Any thread. */
public final class RunningClock extends FakeClock {

    private static final long SPIN_NS = 200_000;

    @Override
    public long nanoTime() {
        return System.nanoTime();
    }

    @Override
    public void set(long ns) {
        throw new UnsupportedOperationException("a clock that runs cannot be set to " + ns);
    }

    @Override
    public void advance(long ns) {
        waitUntil(now() + ns);
    }

    @Override
    public void waitUntil(long ns) {
        for (long leftNs = ns - now(); leftNs > 0; leftNs = ns - now()) {
            if (leftNs > SPIN_NS) {
                LockSupport.parkNanos(leftNs - SPIN_NS);
            } else {
                Thread.onSpinWait();
            }
        }
    }

    @Override
    public long now() {
        return System.nanoTime();
    }
}
