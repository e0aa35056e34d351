package org.brickprofiler;

/**
 * Hears what a profiler records, on the thread that records it and as soon as it is recorded: see
 * {@link BrickProfiler#addListener}. It must be quick, and must not call the profiler's methods that record. One that
 * throws is removed, which is logged; what was recorded stays.
 *
 * <p>A profiler without listeners costs nothing more. Listeners of steps cost a call for each step, listeners of bricks
 * one for each sample.
 */
public interface ProfilerListener {

    /**
     * Whether {@link #brickRecorded} is to be called. Asked once, when the listener is added.
     *
     * @return true for samples and steps, false for steps alone
     */
    boolean wantsBricks();

    /**
     * A sample was recorded: one that the host's clock timed, or that was timed elsewhere. Deferred measurements and
     * what devices time are not reported.
     *
     * @param brick its name
     * @param category its category
     * @param endNs the profiler's clock when it ended
     * @param elapsedNs its duration, ns
     * @param elements elements it processed
     */
    void brickRecorded(String brick, BrickCategory category, long endNs, long elapsedNs, long elements);

    /**
     * A step has begun on the calling thread. One that began before on this thread and has not ended is abandoned.
     *
     * @param info what it works on
     */
    void stepBegan(StepInfo info);

    /**
     * The step of the calling thread has ended.
     *
     * @param step the step
     */
    void stepEnded(Step step);
}
