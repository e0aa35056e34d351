package org.brickprofiler.trace;

import java.util.List;

/** The stops and waits that the operating system and the virtual machine report. Any thread; tests inject their own. */
interface SystemTimes {

    /** In place of a time that is not reported, ns. */
    long UNKNOWN = -1;

    /** Knows nothing. */
    SystemTimes NONE = new SystemTimes() {
        @Override
        public OfThread ofThisThread() {
            return OfThread.NONE;
        }

        @Override
        public List<Stop> stops(long startNs, long endNs) {
            return List.of();
        }

        @Override
        public boolean knows(SlowSteps.Kind kind) {
            return false;
        }
    };

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
        };

        /** Returns how long the calling thread has run on a processor, ns. */
        long ranNs();

        /** Returns how long the calling thread has been runnable without a processor, ns. */
        long waitedNs();
    }

    /** A time in which the virtual machine stopped all threads. */
    record Stop(SlowSteps.Kind kind, long startNs, long endNs) {}

    /** Returns the reader of the calling thread's times. */
    OfThread ofThisThread();

    /** Returns the stops that overlap a time on the recorder's clock, by their starts. */
    List<Stop> stops(long startNs, long endNs);

    /** Returns whether stops of a kind are reported. */
    boolean knows(SlowSteps.Kind kind);
}
