package org.brickprofiler.trace;

import org.brickprofiler.internal.record.ThreadTimes;

/**
 * The times of threads that the operating system and the virtual machine report. Any thread; tests inject their own.
 */
@FunctionalInterface
interface SystemTimes {

    /** In place of a time that is not reported, ns. */
    long UNKNOWN = ThreadTimes.UNKNOWN;

    /** Knows nothing. */
    SystemTimes NONE = () -> OfThread.NONE;

    /** The times of one thread, which alone calls the methods. */
    interface OfThread extends ThreadTimes {

        /** Knows nothing. */
        OfThread NONE = new OfThread() {
            @Override
            public long ranNs() {
                return UNKNOWN;
            }

            @Override
            public long waitedNs() {
                return UNKNOWN;
            }

            @Override
            public long collectedNs() {
                return UNKNOWN;
            }
        };

        /** Returns how long garbage collections have stopped all threads, ns. */
        long collectedNs();
    }

    /** Returns the reader of the calling thread's times. */
    OfThread ofThisThread();
}
