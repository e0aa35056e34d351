package org.brickprofiler.cli;

import java.io.IOException;

/**
 * Reads a profiler of another process, and restores the profiler's state in the end. One thread reads; any thread may
 * close.
 */
interface TopSource extends AutoCloseable {

    /** Thrown if the profiler of a process cannot be read; the message states the reason. */
    final class Refused extends IOException {
        private static final long serialVersionUID = 1;

        Refused(String message) {
            super(message);
        }
    }

    /** Returns a short name of the process and its profiler. */
    String name();

    /**
     * Reads sums that are newer than those of the previous reading.
     *
     * @throws Refused if there is no profiler that can be read
     * @throws IOException when the process does not answer, or has ended
     */
    TopReading read() throws IOException;

    /** Restores the state of the process: a profiler that was off is switched off again. A second call does nothing. */
    @Override
    void close();
}
