package org.brickprofiler.trace;

import org.brickprofiler.internal.record.ThreadTimes;

/**
 * The times of threads that the operating system and the virtual machine report; a time without a method of its own is
 * not known. Any thread; tests inject their own.
 */
interface SystemTimes {

    /** Knows nothing. */
    SystemTimes NONE = new SystemTimes() {};

    /** Returns the reader of the calling thread's times. */
    default ThreadTimes ofThisThread() {
        return ThreadTimes.NONE;
    }

    /** Returns how long garbage collections have stopped all threads, ns, or {@link ThreadTimes#UNKNOWN}. */
    default long collectedNs() {
        return ThreadTimes.UNKNOWN;
    }
}
