package org.brickprofiler.internal.record;

import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.brickprofiler.spi.SampleTimes;
import org.jspecify.annotations.Nullable;

/**
 * Gives access to the calling thread's samples for a tool that records the outputs of the same thread. Every method may
 * be called from any thread, and allocates nothing but for a new name.
 */
public interface OwnSamples extends SampleTimes {

    /**
     * Returns access to the samples of a registry.
     *
     * @param names have the keys of the rows
     * @param registry has the tables
     * @param timesLater whether samples get their times later
     * @param clock that samples are timed by
     * @return the samples of whichever thread asks
     */
    static OwnSamples of(NameTable names, TableRegistry registry, BooleanSupplier timesLater, LongSupplier clock) {
        return new OwnSamples() {
            @Override
            public int key(String name) {
                return names.find(name);
            }

            /**
             * Skips samples that the thread resolved for a device: they belong to an earlier pass or another thread.
             */
            @Override
            public @Nullable StatTable table() {
                return timesLater.getAsBoolean() ? null : registry.ownTable();
            }

            @Override
            public long nowNs() {
                return clock.getAsLong();
            }
        };
    }

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
