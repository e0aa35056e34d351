package org.brickprofiler.metrics;

import java.time.Duration;
import java.util.Objects;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.spi.NanoClock;
import org.jspecify.annotations.Nullable;

/**
 * The snapshot of a profiler for a reader that asks value by value: taken once, and answered until it is too old, so
 * that the values of one reading belong together. Any thread; readers wait for each other.
 */
public final class RecentSnapshot {

    /**
     * How long a snapshot serves unless said otherwise: longer than a scrape takes, shorter than the time between two.
     */
    public static final Duration DEFAULT_AGE = Duration.ofSeconds(1);

    private final BrickProfiler profiler;
    private final long ageNs;
    private final NanoClock clock;

    private @Nullable ProfileSnapshot latest;
    private long takenNs;

    /**
     * Creates a source that has taken no snapshot.
     *
     * @param profiler the profiler
     * @param age how long a snapshot is reused, 0 or more; 0 takes a new snapshot for each reading
     * @param clock measures the age
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
     * Returns the snapshot.
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
     * Takes a snapshot that serves no reading: a reading that is under way goes on with its own.
     *
     * @return a new snapshot
     */
    public ProfileSnapshot takeAnother() {
        return profiler.snapshot();
    }

    /** Makes the next reading take a new one. */
    public synchronized void expire() {
        latest = null;
    }
}
