package org.brickprofiler.internal.record;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import org.brickprofiler.internal.base.Sums;

/**
 * Measures how long the profiler has been on since the last reset, and converts readings of the clock to calendar time.
 * Any thread; calls are rare, so a plain lock suffices.
 */
public final class RunPeriod {

    private static final long NS_PER_MS = 1_000_000;

    private final long originUnixNs;
    private final long originNs;

    private boolean running;
    private boolean begun;
    private long startedNs;
    private long resumedNs;
    private long coveredNs;

    /**
     * Ties the clock to calendar time. The profiler is off until {@link #resume}.
     *
     * @param nowNs the clock now, ns
     */
    public RunPeriod(long nowNs) {
        Instant now = Instant.now();
        originUnixNs = ChronoUnit.NANOS.between(Instant.EPOCH, now);
        originNs = nowNs;
        startedNs = nowNs;
    }

    /**
     * Returns the clock at the construction of the profiler.
     *
     * @return a reading of the clock, ns
     */
    public long originNs() {
        return originNs;
    }

    /**
     * A part of the run.
     *
     * @param startedAt when the profiler was first on in this part; the beginning of the part if it was never on
     * @param endedAt when the part ended
     * @param coveredNs how long the profiler was on in this part, ns
     */
    public record Part(Instant startedAt, Instant endedAt, long coveredNs) {}

    /**
     * Notes that the profiler is on from now. Does nothing if it already was.
     *
     * @param nowNs the clock now, ns
     */
    public synchronized void resume(long nowNs) {
        if (!running) {
            running = true;
            resumedNs = nowNs;
            startedNs = begun ? startedNs : nowNs;
            begun = true;
        }
    }

    /**
     * Notes that the profiler is off from now.
     *
     * @param nowNs the clock now, ns
     */
    public synchronized void pause(long nowNs) {
        coveredNs = coveredUntil(nowNs);
        running = false;
    }

    /**
     * Returns the part from the last reset to now, without ending it.
     *
     * @param nowNs the clock now, ns
     * @return the part so far
     */
    public synchronized Part until(long nowNs) {
        return new Part(instant(startedNs), instant(nowNs), coveredUntil(nowNs));
    }

    /**
     * Ends the part from the last reset to now, and begins the next one.
     *
     * @param nowNs the clock now, ns
     * @return the part that ended
     */
    public synchronized Part endAndRestart(long nowNs) {
        Part ended = until(nowNs);
        startedNs = nowNs;
        resumedNs = nowNs;
        coveredNs = 0;
        begun = running;
        return ended;
    }

    private long coveredUntil(long nowNs) {
        return Sums.limited(coveredNs, running ? Math.max(0, nowNs - resumedNs) : 0);
    }

    /**
     * Converts a reading of the clock to calendar time.
     *
     * @param clockNs a reading of the clock, ns
     * @return ns since 1970
     */
    public long unixNs(long clockNs) {
        return originUnixNs + (clockNs - originNs);
    }

    /**
     * Converts a reading of the clock to calendar time.
     *
     * @param clockNs a reading of the clock, ns
     * @return ms since 1970
     */
    public long unixMs(long clockNs) {
        return Math.floorDiv(unixNs(clockNs), NS_PER_MS);
    }

    private Instant instant(long clockNs) {
        return Instant.EPOCH.plusNanos(unixNs(clockNs));
    }
}
