package org.brickprofiler.metrics;

import java.time.Duration;
import java.util.Objects;
import java.util.function.Supplier;
import org.brickprofiler.spi.NanoClock;
import org.jspecify.annotations.Nullable;

/**
 * Caches a reading of a profiler for readers that ask for one value at a time. A reading is reused until it is too old,
 * so that values that are read together are consistent. Any thread; readers wait for each other.
 *
 * @param <T> the type of a reading
 */
public final class Recent<T> {

    /**
     * The default time for which a reading is reused: longer than a scrape takes, shorter than the time between two.
     */
    public static final Duration DEFAULT_AGE = Duration.ofSeconds(1);

    private final Supplier<T> source;
    private final long ageNs;
    private final NanoClock clock;

    private @Nullable T latest;
    private long takenNs;

    /**
     * Creates a cache without a reading.
     *
     * @param source takes a reading
     * @param age the time for which a reading is reused, 0 or more; with 0, each call of {@link #read} takes a new one
     * @param clock the clock that measures the age
     * @throws IllegalArgumentException when the age is negative
     */
    public Recent(Supplier<T> source, Duration age, NanoClock clock) {
        this.source = Objects.requireNonNull(source, "source");
        this.clock = Objects.requireNonNull(clock, "clock");
        if (age.isNegative()) {
            throw new IllegalArgumentException("age " + age + " of a reading is negative");
        }
        this.ageNs = age.toNanos();
    }

    /**
     * Returns the cached reading, or takes a new one if it is too old.
     *
     * @return the same object until it is too old
     */
    public synchronized T read() {
        long nowNs = clock.nanoTime();
        T recent = latest;
        if (recent == null || nowNs - takenNs >= ageNs) {
            recent = source.get();
            latest = recent;
            takenNs = nowNs;
        }
        return recent;
    }

    /**
     * Takes a reading without caching it, so that readers that ask for one value at a time keep theirs.
     *
     * @return a new reading
     */
    public T takeAnother() {
        return source.get();
    }

    /** Makes the next call of {@link #read} take a new reading. */
    public synchronized void expire() {
        latest = null;
    }
}
