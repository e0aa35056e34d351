package org.brickprofiler.internal.record;

import java.util.function.LongSupplier;
import java.util.function.LongUnaryOperator;

/**
 * Converts readings of {@link System#nanoTime()} to the time of day by the system's clock, to within 2 ms. Both clocks
 * are compared again after a second, so that a step of the system's clock, or a sleep of the machine, counts from then
 * on. Not thread-safe: its user guards it. Allocates nothing.
 */
public final class WallClock implements LongUnaryOperator {

    /** Returned if the time of day is not known. */
    public static final long UNKNOWN = Long.MIN_VALUE;

    private static final long NS_PER_MS = 1_000_000;

    /** The age after which a comparison is repeated. */
    private static final long FRESH_NS = 1_000 * NS_PER_MS;

    /** The time between the two readings of the fast clock beyond which a comparison is discarded. */
    private static final long MOST_APART_NS = NS_PER_MS;

    private static final int TRIES = 3;

    private final LongSupplier nanoTime;
    private final LongSupplier unixMs;

    /** The latest comparison. */
    private boolean isKnown;

    private long comparedNs;
    private long comparedMs;

    /** Creates a converter between the clocks of the system. */
    public WallClock() {
        this(System::nanoTime, System::currentTimeMillis);
    }

    /**
     * Creates a converter.
     *
     * @param nanoTime the clock whose readings are converted, ns
     * @param unixMs the time of day, ms since 1970
     */
    WallClock(LongSupplier nanoTime, LongSupplier unixMs) {
        this.nanoTime = nanoTime;
        this.unixMs = unixMs;
    }

    /**
     * Converts a reading.
     *
     * @param clockNs a reading of the clock in the past, ns
     * @return ms since 1970; {@link #UNKNOWN} if each attempt to read both clocks took longer than a millisecond
     */
    @Override
    public long applyAsLong(long clockNs) {
        if (!isKnown || nanoTime.getAsLong() - comparedNs >= FRESH_NS) {
            compare();
        }
        return isKnown ? comparedMs + Math.floorDiv(clockNs - comparedNs, NS_PER_MS) : UNKNOWN;
    }

    private void compare() {
        isKnown = false;
        for (int i = 0; i < TRIES && !isKnown; i++) {
            long beforeNs = nanoTime.getAsLong();
            comparedMs = unixMs.getAsLong();
            long apartNs = nanoTime.getAsLong() - beforeNs;
            comparedNs = beforeNs + apartNs / 2;
            isKnown = apartNs <= MOST_APART_NS;
        }
    }
}
