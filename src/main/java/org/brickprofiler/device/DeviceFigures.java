package org.brickprofiler.device;

import java.util.List;
import org.brickprofiler.record.StatRow;
import org.brickprofiler.record.StatSums;

/** What devices told besides the times of some bricks: a reading of a {@link DeviceRecorder}. Immutable; any thread. */
public final class DeviceFigures {

    private final StatSums launches;
    private final int fromKey;

    /** From the first key on. */
    private final long[] samples;

    /** From the first key on. */
    private final long[] unresolved;
    private final List<StreamTotals> streams;

    DeviceFigures(
            StatSums launches, int fromKey, long[] samples, long[] unresolved, List<StreamTotals> streams) {
        this.launches = launches;
        this.fromKey = fromKey;
        this.samples = samples;
        this.unresolved = unresolved;
        this.streams = streams;
    }

    /**
     * The host's side of a row: how long it took between setting the marks, for the samples of which that was timed.
     *
     * @param key the row
     * @return its sums, {@link StatRow#EMPTY} without such samples
     */
    public StatRow launches(int key) {
        return launches.row(key);
    }

    /**
     * How many samples of a row a device timed.
     *
     * @param key a row that was asked for
     * @return 0 or more
     */
    public long samples(int key) {
        return samples[key - fromKey];
    }

    /**
     * How many samples of a row have no time.
     *
     * @param key a row that was asked for
     * @return 0 or more
     */
    public long unresolved(int key) {
        return unresolved[key - fromKey];
    }

    /**
     * How many platform threads set the marks of samples that were taken to be resolved.
     *
     * @return 0 or more
     */
    public int threads() {
        return launches.queuingThreads();
    }

    /**
     * Whether virtual threads did, which are not counted one by one.
     *
     * @return true where at least one did
     */
    public boolean virtualThreads() {
        return launches.queuingVirtualThreads();
    }

    /**
     * The streams.
     *
     * @return totals of each, in the order in which the recorder was given them; cannot be changed
     */
    public List<StreamTotals> streams() {
        return streams;
    }
}
