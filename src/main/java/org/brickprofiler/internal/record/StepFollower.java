package org.brickprofiler.internal.record;

/**
 * Follows the steps of a profiler for a timeline that keeps the spans of chosen steps. The thread of a step calls
 * {@link #beforeStep}, {@link #stepBegan} and {@link #stepEnded}, in this order. If a thread calls {@code beforeStep}
 * again before its step has ended, that step is discarded. Any thread.
 */
public interface StepFollower {

    /** In place of the number of a step: the thread has ended no step. */
    long NO_STEP = -1;

    /**
     * Creates the reader of the calling thread's times. It is not called if the steps of the profiler already have a
     * reader. The times are on the same scale as the clock of the steps.
     *
     * @return the new reader
     */
    ThreadTimes ofThisThread();

    /** Called before the calling thread begins a step, and before the clock is read for it. */
    void beforeStep();

    /**
     * Called after the calling thread has begun a step.
     *
     * @param size the size of the step
     * @param startNs the clock at its beginning
     * @param line the timeline of the calling thread, as {@link TableRegistry#mark} returned it
     * @param waitedNs the time that the thread waited for a processor since its previous step ended, ns, or
     *     {@link ThreadTimes#UNKNOWN}
     */
    void stepBegan(Size size, long startNs, long line, long waitedNs);

    /**
     * Called after the calling thread has ended a pass and has written all entries of it.
     *
     * @param index the number of the step that ended; {@link #NO_STEP} if the pass belongs to no step, or its step was
     *     forgotten
     * @param endNs the clock at its end
     * @param ranNs the time that the thread ran on a processor during the step, ns, or {@link ThreadTimes#UNKNOWN}
     * @param waitedNs the time that the thread waited for a processor, ns, or {@link ThreadTimes#UNKNOWN}
     * @param deferred whether deferred measurements of the profiler were pending: spans of the step, or of steps
     *     before, may come later
     */
    void stepEnded(long index, long endNs, long ranNs, long waitedNs, boolean deferred);

    /**
     * The phase, batch and tokens of a step. Immutable.
     *
     * @param phase the number of its phase
     * @param batch sequences, 1 or more
     * @param prefillTokens tokens of prompts, 0 or more
     * @param kvLength positions in the key-value cache, 0 or more
     * @param outputTokens tokens that it generates, 0 or more
     * @param draftedTokens drafted tokens that it checks, 0 or more
     */
    record Size(int phase, int batch, long prefillTokens, long kvLength, long outputTokens, long draftedTokens) {}
}
