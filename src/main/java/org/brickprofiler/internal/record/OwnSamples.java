package org.brickprofiler.internal.record;

import org.brickprofiler.spi.SampleTimes;
import org.jspecify.annotations.Nullable;

/**
 * Gives access to the calling thread's samples for a tool that records the outputs of the same thread. Every method may
 * be called from any thread, and allocates nothing but for a new name.
 */
public interface OwnSamples extends SampleTimes {

    /**
     * Returns the row of a name.
     *
     * @param name a name
     * @return its key, or -1 if it has none
     */
    int key(String name);

    /**
     * Returns the table of the calling thread's samples.
     *
     * @return the table, which another one replaces at a reset; null if the thread has none of its own, or samples get
     *     their times later
     */
    @Nullable
    StatTable table();

    /**
     * Returns the clock that samples are timed by.
     *
     * @return ns
     */
    long nowNs();
}
