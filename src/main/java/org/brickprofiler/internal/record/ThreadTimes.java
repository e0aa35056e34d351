package org.brickprofiler.internal.record;

/**
 * The times of a thread that the operating system reports; a time whose method is not overridden is unknown. Only that
 * thread calls the methods; tests have their own implementations.
 */
public interface ThreadTimes {

    /** In place of a time, ns: the time is not reported. */
    long UNKNOWN = -1;

    /** Reports no times. */
    ThreadTimes NONE = new ThreadTimes() {};

    /**
     * Returns the time between two readings.
     *
     * @param fromNs the earlier one, ns, or {@link #UNKNOWN}
     * @param toNs the later one
     * @return ns, 0 or more; {@link #UNKNOWN} if one of the readings is
     */
    static long betweenNs(long fromNs, long toNs) {
        return fromNs == UNKNOWN || toNs == UNKNOWN ? UNKNOWN : Math.max(0, toNs - fromNs);
    }

    /**
     * Returns how long the calling thread has run on a processor.
     *
     * @return ns, or {@link #UNKNOWN}
     */
    default long ranNs() {
        return UNKNOWN;
    }

    /**
     * Returns how long the calling thread has been runnable without a processor.
     *
     * @return ns, or {@link #UNKNOWN}
     */
    default long waitedNs() {
        return UNKNOWN;
    }
}
