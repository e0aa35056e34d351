package org.brickprofiler.testing;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Collects garbage until an effect of the collection has happened. */
public final class Collected {

    private static final long WITHIN_NS = Duration.ofSeconds(30).toNanos();
    private static final long LOOK_AGAIN_NS = 1_000_000;

    private Collected() {}

    /** Fails if the effect has not happened in half a minute. */
    public static void until(BooleanSupplier happened) {
        long untilNs = System.nanoTime() + WITHIN_NS;
        while (!happened.getAsBoolean()) {
            if (System.nanoTime() - untilNs > 0) {
                throw new AssertionError("not collected in time");
            }
            System.gc();
            LockSupport.parkNanos(LOOK_AGAIN_NS);
        }
    }
}
