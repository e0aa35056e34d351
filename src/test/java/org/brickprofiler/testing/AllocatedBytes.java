package org.brickprofiler.testing;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.function.LongSupplier;

/**
 * The bytes that the calling thread allocates, as the virtual machine counts them: each one.
 *
 * <p>The virtual machine itself allocates on the thread now and then, when it throws compiled code away; the fewest
 * bytes of some stretches leave that out.
 */
public final class AllocatedBytes {

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private AllocatedBytes() {}

    /** The bytes of some code, run once. */
    public static long of(Runnable code) {
        return ofCalls(1, code);
    }

    /** The bytes of that many calls. */
    public static long ofCalls(int calls, Runnable call) {
        // The first reading of a thread's bytes may itself allocate.
        THREADS.getCurrentThreadAllocatedBytes();
        long before = THREADS.getCurrentThreadAllocatedBytes();
        for (int i = 0; i < calls; i++) {
            call.run();
        }
        return THREADS.getCurrentThreadAllocatedBytes() - before;
    }

    /** The fewest bytes of some stretches, each measured by itself; the first one without any is the last. */
    public static long fewest(int stretches, LongSupplier stretchBytes) {
        long fewest = Long.MAX_VALUE;
        for (int i = 0; i < stretches && fewest > 0; i++) {
            fewest = Math.min(fewest, stretchBytes.getAsLong());
        }
        return fewest;
    }
}
