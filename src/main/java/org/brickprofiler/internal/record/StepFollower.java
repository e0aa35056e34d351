package org.brickprofiler.internal.record;

/**
 * Follows the steps of a profiler for a timeline that keeps the spans of chosen steps. The thread of a step calls
 * {@link #beforeStep}, {@link #stepBegan} and {@link #stepEnded}, in this order. A step whose thread calls
 * {@code beforeStep} again has not ended and counts for nothing. Any thread.
 */
public interface StepFollower {

    /** In place of the number of a step: the thread has ended no step. */
    long NO_STEP = -1;

    /**
     * Makes the reader of the calling thread's times, unless the steps of the profiler have another one. Its times are
     * on the same scale as the clock of the steps.
     *
     * @return the new reader
     */
    ThreadTimes ofThisThread();

    /** The calling thread is about to begin a step: its clock has not been read yet. */
    void beforeStep();

    /**
     * The calling thread has begun a step.
     *
     * @param size the size of the step
     * @param startNs the clock at its beginning
     * @param line the timeline of the calling thread, as {@link TableRegistry#mark} returned it
     */
    void stepBegan(Size size, long startNs, long line);

    /**
     * The calling thread has ended a pass, and has written all that belongs to it.
     *
     * @param index the number of the step that ended; {@link #NO_STEP} if the pass was none, or its step was forgotten
     * @param endNs the clock at its end
     * @param ranNs how long the thread ran on a processor during the step, ns, or {@link ThreadTimes#UNKNOWN}
     * @param waitedNs how long it waited for one, ns, or {@link ThreadTimes#UNKNOWN}
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
