package org.brickprofiler.internal.record;

import org.brickprofiler.spi.SampleTimes;
import org.jspecify.annotations.Nullable;

/**
 * What is to be known of the calling thread's samples by whoever keeps what the same thread computed. Every method may
 * be called from any thread, and allocates nothing but for a new name.
 */
public interface OwnSamples extends SampleTimes {

    /**
     * The row of a name.
     *
     * @param name a name
     * @return its key, or -1 where it has none
     */
    int key(String name);

    /**
     * Where the calling thread's samples go.
     *
     * @return the table, which another one replaces at a reset; null where the thread has none of its own, or samples
     *     get their times later
     */
    @Nullable
    StatTable table();

    /**
     * The clock that samples are timed by.
     *
     * @return ns
     */
    long nowNs();
}
