package org.brickprofiler.testing;

import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Collects garbage until an effect of the collection has happened. */
public final class Collected {

    /** Below the timeout of a test, whose message would not name the reason. */
    private static final long WITHIN_NS = Duration.ofSeconds(100).toNanos();

    private static final long LOOK_AGAIN_NS = 1_000_000;

    /** The checks between two collections, which leave the processor to the threads that act on a collection. */
    private static final int LOOKS = 20;

    private Collected() {}

    /** Collects garbage until an object is gone. */
    public static void until(WeakReference<?> gone) {
        until(() -> gone.get() == null);
    }

    /**
     * Collects garbage until something has happened.
     *
     * @throws AssertionError when it has not happened in 100 s
     */
    public static void until(BooleanSupplier happened) {
        long untilNs = System.nanoTime() + WITHIN_NS;
        for (int look = 0; !happened.getAsBoolean(); look++) {
            if (System.nanoTime() - untilNs > 0) {
                throw new AssertionError("not collected in time");
            }
            if (look % LOOKS == 0) {
                System.gc();
            }
            LockSupport.parkNanos(LOOK_AGAIN_NS);
        }
    }
}
