package org.brickprofiler.internal.record;

/**
 * The times of a thread that the operating system reports. Only that thread calls the methods; tests have their own.
 */
public interface ThreadTimes {

    /** In place of a time that is not reported, ns. */
    long UNKNOWN = -1;

    /** Knows nothing. */
    ThreadTimes NONE = new ThreadTimes() {
        @Override
        public long ranNs() {
            return UNKNOWN;
        }

        @Override
        public long waitedNs() {
            return UNKNOWN;
        }
    };

    /**
     * Returns how long the calling thread has run on a processor.
     *
     * @return ns, or {@link #UNKNOWN}
     */
    long ranNs();

    /**
     * Returns how long the calling thread has been runnable without a processor.
     *
     * @return ns, or {@link #UNKNOWN}
     */
    long waitedNs();
}
