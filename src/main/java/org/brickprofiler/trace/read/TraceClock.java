package org.brickprofiler.trace.read;

import java.time.Instant;

/**
 * What the times of a trace are in calendar time, if that can be told. Immutable.
 *
 * @param known whether it can
 * @param baseNs the time since 1970 that the trace's times are relative to, ns
 */
record TraceClock(boolean known, long baseNs) {

    private static final long SECOND_NS = 1_000_000_000L;
    private static final long EARLIEST_NS =
            Instant.parse("2000-01-01T00:00:00Z").getEpochSecond() * SECOND_NS;
    private static final long LATEST_NS = Instant.parse("2100-01-01T00:00:00Z").getEpochSecond() * SECOND_NS;

    /**
     * Tells it from a time of the trace. Traces give times relative to a base that they name, or since 1970 without
     * one, or since something that nobody knows.
     *
     * @param baseNs the base that the trace names, or 0
     * @param timeNs one of its times
     */
    static TraceClock of(long baseNs, long timeNs) {
        boolean isBase = baseNs >= EARLIEST_NS && baseNs < LATEST_NS;
        if (isBase && isThisCentury(baseNs + timeNs)) {
            return new TraceClock(true, baseNs);
        }
        return new TraceClock(isThisCentury(timeNs), 0);
    }

    private static boolean isThisCentury(long unixNs) {
        return unixNs >= EARLIEST_NS && unixNs < LATEST_NS;
    }

    /** A time of the trace since 1970, ns; 0 where that is not known. */
    long unixNs(long timeNs) {
        return known ? baseNs + timeNs : 0;
    }

    /** A time of the trace as a moment; that of 1970 where it is not known. */
    Instant instant(long timeNs) {
        return Instant.EPOCH.plusNanos(unixNs(timeNs));
    }
}
