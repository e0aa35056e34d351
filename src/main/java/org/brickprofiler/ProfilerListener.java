package org.brickprofiler;

import java.util.Objects;
import java.util.Optional;
import org.brickprofiler.request.RequestRecord;
import org.brickprofiler.request.RequestTrace;

/**
 * Receives samples and steps of a profiler on the recording thread, as soon as they are recorded: see
 * {@link BrickProfiler#addListener}. A listener must be quick, and must not call methods of the profiler that record. A
 * listener that throws is removed, which is logged; its samples stay recorded.
 *
 * <p>A profiler without listeners has no additional cost. A listener of steps costs a call for each step, a listener of
 * bricks a call for each sample.
 */
public interface ProfilerListener {

    /**
     * Returns whether {@link #brickRecorded} is to be called. The profiler asks once, when the listener is added.
     *
     * @return true for samples and steps, false for steps alone
     */
    boolean wantsBricks();

    /**
     * Receives a sample that the host's clock timed, or that was timed elsewhere. Deferred measurements and samples
     * that devices time are not reported.
     *
     * @param brick its name
     * @param category its category
     * @param phase the phase in which the profiler counts it; empty if it belongs to none
     * @param endNs the profiler's clock when it ended
     * @param elapsedNs its duration, ns
     * @param elements elements it processed
     */
    void brickRecorded(
            String brick,
            BrickCategory category,
            Optional<StepInfo.Phase> phase,
            long endNs,
            long elapsedNs,
            long elements);

    /**
     * Receives the beginning of a step on the calling thread. An earlier step of this thread that has not ended is
     * abandoned.
     *
     * @param info the phase, batch and lengths of the step
     */
    void stepBegan(StepInfo info);

    /**
     * Receives the end of the step of the calling thread.
     *
     * @param step the step
     */
    void stepEnded(Step step);

    /**
     * Receives the end of the step of the calling thread, with its relation to other steps; this default calls
     * {@link #stepEnded(Step)}.
     *
     * @param step the step
     * @param follows whether its time to tokens counts from an earlier step of the thread; false for the first step,
     *     and after a step that was abandoned or not recorded
     * @param isAttributed whether its brick time by category is known
     */
    default void stepEnded(Step step, boolean follows, boolean isAttributed) {
        stepEnded(Objects.requireNonNull(step, "step"));
    }

    /**
     * Receives a request that has finished; this default ignores it. The recorder of requests is locked meanwhile, so
     * this method must be short, and must not wait for a thread that uses the recorder.
     *
     * @param request the request
     */
    default void requestFinished(RequestRecord request) {
        Objects.requireNonNull(request, "request");
    }

    /**
     * Receives a request that has finished, with its trace; this default calls {@link #requestFinished(RequestRecord)}.
     *
     * @param request the request
     * @param trace the trace in which it was submitted; empty if none is known
     */
    default void requestFinished(RequestRecord request, Optional<RequestTrace> trace) {
        Objects.requireNonNull(trace, "trace");
        requestFinished(request);
    }
}
