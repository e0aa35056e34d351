package org.brickprofiler.cli;

import java.io.IOException;

/** A profiler of another process, which is read and stays as it is. One thread reads; any thread closes. */
interface TopSource extends AutoCloseable {

    /** The profiler of a process cannot be read: the message says why. */
    final class Refused extends IOException {
        private static final long serialVersionUID = 1;

        Refused(String message) {
            super(message);
        }
    }

    /** Returns the process and its profiler in a few words. */
    String name();

    /**
     * Reads the sums, which are newer than those of the reading before.
     *
     * @throws Refused if there is no profiler that can be read
     * @throws IOException when the process does not answer, or has ended
     */
    TopReading read() throws IOException;

    /** Leaves the process as it was: a profiler that was off is switched off. Does nothing the second time. */
    @Override
    void close();
}
