package org.brickprofiler.trace;

import org.brickprofiler.internal.record.ThreadTimes;

/**
 * The times of threads that the operating system and the virtual machine report. Any thread; tests inject their own.
 */
@FunctionalInterface
interface SystemTimes {

    /** Knows nothing. */
    SystemTimes NONE = () -> OfThread.NONE;

    /** The times of one thread, which alone calls the methods. */
    interface OfThread extends ThreadTimes {

        /** Knows nothing. */
        OfThread NONE = new OfThread() {};

        /** Returns how long garbage collections have stopped all threads, ns, or {@link #UNKNOWN}. */
        default long collectedNs() {
            return UNKNOWN;
        }
    }

    /** Returns the reader of the calling thread's times. */
    OfThread ofThisThread();
}
