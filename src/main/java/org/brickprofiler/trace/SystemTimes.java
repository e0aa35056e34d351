package org.brickprofiler.trace;

/**
 * The times of threads that the operating system and the virtual machine report. Any thread; tests inject their own.
 */
@FunctionalInterface
interface SystemTimes {

    /** In place of a time that is not reported, ns. */
    long UNKNOWN = -1;

    /** Knows nothing. */
    SystemTimes NONE = () -> OfThread.NONE;

    /** The times of one thread, which alone calls the methods. */
    interface OfThread {

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

        /** Returns how long the calling thread has run on a processor, ns. */
        long ranNs();

        /** Returns how long the calling thread has been runnable without a processor, ns. */
        long waitedNs();

        /** Returns how long garbage collections have stopped all threads, ns. */
        long collectedNs();
    }

    /** Returns the reader of the calling thread's times. */
    OfThread ofThisThread();
}
