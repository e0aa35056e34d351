package org.brickprofiler.testing;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.function.LongSupplier;

/**
 * Measures the bytes that the calling thread allocates. The virtual machine counts every byte.
 *
 * <p>The virtual machine itself sometimes allocates on the thread, when it discards compiled code. The minimum over
 * several stretches excludes that.
 */
public final class AllocatedBytes {

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private AllocatedBytes() {}

    /** Returns the bytes that one run of some code allocates. */
    public static long of(Runnable code) {
        return ofCalls(1, code);
    }

    /** Returns the bytes that so many calls allocate. */
    public static long ofCalls(int calls, Runnable call) {
        // The first reading of a thread's bytes may itself allocate.
        THREADS.getCurrentThreadAllocatedBytes();
        long before = THREADS.getCurrentThreadAllocatedBytes();
        for (int i = 0; i < calls; i++) {
            call.run();
        }
        return THREADS.getCurrentThreadAllocatedBytes() - before;
    }

    /**
     * Returns the fewest bytes of several stretches, each measured separately. Stops at the first stretch that
     * allocates none.
     */
    public static long fewest(int stretches, LongSupplier stretchBytes) {
        long fewest = Long.MAX_VALUE;
        for (int i = 0; i < stretches && fewest > 0; i++) {
            fewest = Math.min(fewest, stretchBytes.getAsLong());
        }
        return fewest;
    }
}
