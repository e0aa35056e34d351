package org.brickprofiler;

import java.time.Instant;
import java.time.temporal.ChronoUnit;

/**
 * How long the profiler has been on since the last reset, and what the clock's readings are in calendar time. Any
 * thread; rare calls, so a plain lock.
 */
final class RunPeriod {

    private final long originUnixNs;
    private final long originNs;

    private boolean running;
    private boolean begun;
    private long startedNs;
    private long resumedNs;
    private long coveredNs;

    RunPeriod(long nowNs) {
        Instant now = Instant.now();
        originUnixNs = ChronoUnit.NANOS.between(Instant.EPOCH, now);
        originNs = nowNs;
        startedNs = nowNs;
    }

    /** What the clock read when the profiler was made. */
    long originNs() {
        return originNs;
    }

    /** A part of the run: when the profiler was first on in it, when it ended, and how long the profiler was on. */
    record Part(Instant startedAt, Instant endedAt, long coveredNs) {}

    synchronized void resume(long nowNs) {
        if (!running) {
            running = true;
            resumedNs = nowNs;
            startedNs = begun ? startedNs : nowNs;
            begun = true;
        }
    }

    synchronized void pause(long nowNs) {
        coveredNs = coveredUntil(nowNs);
        running = false;
    }

    synchronized Part until(long nowNs) {
        return new Part(instant(startedNs), instant(nowNs), coveredUntil(nowNs));
    }

    synchronized Part endAndRestart(long nowNs) {
        Part ended = until(nowNs);
        startedNs = nowNs;
        resumedNs = nowNs;
        coveredNs = 0;
        begun = running;
        return ended;
    }

    private long coveredUntil(long nowNs) {
        return coveredNs + (running ? Math.max(0, nowNs - resumedNs) : 0);
    }

    /** A reading of the clock as ns since 1970. */
    long unixNs(long clockNs) {
        return originUnixNs + (clockNs - originNs);
    }

    private Instant instant(long clockNs) {
        return Instant.EPOCH.plusNanos(unixNs(clockNs));
    }
}
