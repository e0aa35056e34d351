package org.brickprofiler.metrics;

import java.time.Duration;
import java.util.Objects;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.spi.NanoClock;
import org.jspecify.annotations.Nullable;

/**
 * Caches the snapshot of a profiler for readers that ask for one value at a time. A snapshot is reused until it is too
 * old, so that the values of one reading are consistent. Any thread; readers wait for each other.
 */
public final class RecentSnapshot {

    /**
     * The default time for which a snapshot is reused: longer than a scrape takes, shorter than the time between two
     * scrapes.
     */
    public static final Duration DEFAULT_AGE = Duration.ofSeconds(1);

    private final BrickProfiler profiler;
    private final long ageNs;
    private final NanoClock clock;

    private @Nullable ProfileSnapshot latest;
    private long takenNs;

    /**
     * Creates a cache without a snapshot.
     *
     * @param profiler the profiler
     * @param age the time for which a snapshot is reused, 0 or more; with 0, each call of {@link #read} takes a new one
     * @param clock the clock that measures the age
     * @throws IllegalArgumentException when the age is negative
     */
    public RecentSnapshot(BrickProfiler profiler, Duration age, NanoClock clock) {
        this.profiler = Objects.requireNonNull(profiler, "profiler");
        this.clock = Objects.requireNonNull(clock, "clock");
        if (age.isNegative()) {
            throw new IllegalArgumentException("age " + age + " of a snapshot is negative");
        }
        this.ageNs = age.toNanos();
    }

    /**
     * Returns the cached snapshot, or takes a new one if it is too old.
     *
     * @return the same object until it is too old
     */
    public synchronized ProfileSnapshot read() {
        long nowNs = clock.nanoTime();
        ProfileSnapshot recent = latest;
        if (recent == null || nowNs - takenNs >= ageNs) {
            recent = profiler.snapshot();
            latest = recent;
            takenNs = nowNs;
        }
        return recent;
    }

    /**
     * Takes a snapshot without caching it, so that a reading that is under way keeps its snapshot.
     *
     * @return a new snapshot
     */
    public ProfileSnapshot takeAnother() {
        return profiler.snapshot();
    }

    /** Makes the next call of {@link #read} take a new snapshot. */
    public synchronized void expire() {
        latest = null;
    }
}
