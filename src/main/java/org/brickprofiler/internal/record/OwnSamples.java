package org.brickprofiler.internal.record;

import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.brickprofiler.spi.SampleTimes;
import org.jspecify.annotations.Nullable;

/**
 * Gives access to the calling thread's samples for a tool that records the outputs of the same thread. Every method may
 * be called from any thread, and allocates nothing.
 */
public interface OwnSamples extends SampleTimes {

    /**
     * Returns access to the samples of a registry.
     *
     * @param names the names and keys of the rows
     * @param registry the registry of the tables
     * @param timesLater whether samples get their times only at a later synchronisation
     * @param clock the clock that times the samples
     * @return access to the samples of the thread that calls it
     */
    static OwnSamples of(NameTable names, TableRegistry registry, BooleanSupplier timesLater, LongSupplier clock) {
        return new OwnSamples() {
            @Override
            public int key(String name) {
                return names.find(name);
            }

            /**
             * Returns null if samples get their times later: the thread's table then has samples that the thread
             * resolved for a device, which belong to an earlier pass or another thread.
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
     * @return the table, which a reset replaces by another one; null if the thread has no table of its own, or samples
     *     get their times later
     */
    @Nullable
    StatTable table();

    /**
     * Reads the clock that times the samples.
     *
     * @return ns
     */
    long nowNs();
}
