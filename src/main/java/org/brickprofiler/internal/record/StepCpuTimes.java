package org.brickprofiler.internal.record;

import org.brickprofiler.spi.NanoClock;

/**
 * Measures how long a thread ran and waited for a processor during its latest step, from two readings of its times.
 * Only that thread calls the methods.
 */
public final class StepCpuTimes {

    /** A thread that loses its processor does not run again within this time: two context switches take longer. */
    private static final long RUNS_ON_NS = 3_000;

    private final ThreadTimes times;
    private final NanoClock clock;
    private long waitedBetweenNs = ThreadTimes.UNKNOWN;
    private long startReadNs;
    private long endReadNs;
    private long startRanNs = ThreadTimes.UNKNOWN;
    private long startWaitedNs = ThreadTimes.UNKNOWN;
    private long endRanNs = ThreadTimes.UNKNOWN;
    private long endWaitedNs = ThreadTimes.UNKNOWN;

    /**
     * Creates the times of the calling thread, which has ended no step.
     *
     * @param times reads the thread's times
     * @param clock the clock of the steps
     */
    public StepCpuTimes(ThreadTimes times, NanoClock clock) {
        this.times = times;
        this.clock = clock;
    }

    /**
     * Reads the times before a step, which takes a microsecond. When the kernel reports how long a thread has run, it
     * may also preempt the thread. Therefore this time is read first here, and last in {@link #end}. If the thread has
     * only just ended its previous step, it has run since then, and the kernel is not called.
     */
    public void begin() {
        long nowNs = clock.nanoTime();
        long gapNs = nowNs - endReadNs;
        if (endRanNs != ThreadTimes.UNKNOWN && gapNs >= 0 && gapNs <= RUNS_ON_NS) {
            startRanNs = endRanNs + gapNs;
            startReadNs = nowNs;
            startWaitedNs = endWaitedNs;
            waitedBetweenNs = 0;
            return;
        }
        startRanNs = times.ranNs();
        startReadNs = clock.nanoTime();
        startWaitedNs = times.waitedNs();
        waitedBetweenNs = ThreadTimes.betweenNs(endWaitedNs, startWaitedNs);
    }

    /** Reads the times after a step. */
    public void end() {
        endWaitedNs = times.waitedNs();
        endReadNs = clock.nanoTime();
        endRanNs = times.ranNs();
    }

    /**
     * Returns the time between both readings.
     *
     * @return ns, 0 or more
     */
    public long readNs() {
        return Math.max(0, endReadNs - startReadNs);
    }

    /**
     * Returns how long the thread ran during the step.
     *
     * @return ns, or {@link ThreadTimes#UNKNOWN}
     */
    public long ranNs() {
        return Math.min(ThreadTimes.betweenNs(startRanNs, endRanNs), readNs());
    }

    /**
     * Returns how long it waited for a processor.
     *
     * @return ns, or {@link ThreadTimes#UNKNOWN}
     */
    public long waitedNs() {
        return ThreadTimes.betweenNs(startWaitedNs, endWaitedNs);
    }

    /**
     * Returns how long it waited for a processor between the end of its previous step and the beginning of this one.
     *
     * @return ns, or {@link ThreadTimes#UNKNOWN}
     */
    public long waitedBetweenNs() {
        return waitedBetweenNs;
    }
}
