package org.brickprofiler.trace;

import org.brickprofiler.internal.record.ThreadTimes;

/**
 * The times of threads that the operating system and the virtual machine report. The default of each method reports
 * that its time is unknown. Any thread; tests inject their own implementation.
 */
interface SystemTimes {

    /** Reports every time as unknown. */
    SystemTimes NONE = new SystemTimes() {};

    /** Returns the reader of the calling thread's times. */
    default ThreadTimes ofThisThread() {
        return ThreadTimes.NONE;
    }

    /** Returns how long processors have run a thread of this id, ns, or {@link ThreadTimes#UNKNOWN}. */
    default long ranNs(long threadId) {
        return ThreadTimes.UNKNOWN;
    }

    /** Returns how long garbage collections have stopped all threads, ns, or {@link ThreadTimes#UNKNOWN}. */
    default long collectedNs() {
        return ThreadTimes.UNKNOWN;
    }
}
