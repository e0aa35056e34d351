package org.brickprofiler.internal.device;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Makes readings of the host's clock unique among all streams of a recorder, so that a start of a deferred measurement
 * names one mark of one stream. Any thread; no lock, and nothing is allocated.
 */
final class Readings {

    private static final VarHandle LATEST;

    static {
        try {
            LATEST = MethodHandles.lookup().findVarHandle(Readings.class, "latestNs", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private volatile long latestNs = Long.MIN_VALUE;

    /**
     * Returns a reading that no other call has returned. If the clock stands still between two calls, the later reading
     * is 1 ns greater.
     *
     * @param nowNs the host's clock, ns
     */
    long unique(long nowNs) {
        while (true) {
            long before = latestNs;
            long next = Math.max(nowNs, before + 1);
            if (LATEST.compareAndSet(this, before, next)) {
                return next;
            }
        }
    }
}
