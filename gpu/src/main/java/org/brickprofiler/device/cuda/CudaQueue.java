package org.brickprofiler.device.cuda;

import static jcuda.driver.CUresult.CUDA_ERROR_NOT_READY;
import static jcuda.driver.CUresult.CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
import static jcuda.driver.CUresult.CUDA_SUCCESS;

import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.IntUnaryOperator;
import java.util.function.ToIntFunction;
import jcuda.driver.CUcontext;
import jcuda.driver.CUevent_record_flags;
import jcuda.driver.CUstream;
import jcuda.driver.CUstreamCaptureMode;
import jcuda.driver.CUstreamCaptureStatus;
import jcuda.driver.CUstream_flags;
import org.brickprofiler.device.DeviceStream;
import org.brickprofiler.device.cuda.CudaCalls.Answer;
import org.brickprofiler.device.polling.Polling;
import org.brickprofiler.internal.base.Plural;
import org.brickprofiler.internal.mark.GraphMarks;
import org.jspecify.annotations.Nullable;

/**
 * A stream in its context, and the driver's calls for the two. Any thread, whichever context is current there and
 * however JCuda reports errors. After the first error that means the loss of the device, no call is made.
 *
 * <h2>Why no query spoils a capture</h2>
 *
 * While the application captures a stream into a graph, some calls fail and make the capture fail with them.
 *
 * <ul>
 *   <li>Calls that no thread may make while some stream captures. The driver's documentation has no list of them; a
 *       query of an event is one, and the creation of an event may be one. All calls except recording are therefore
 *       made in the thread's mode {@code RELAXED}, and the mode is restored afterwards.
 *   <li>Calls about the captured stream itself, and about events that were recorded in it. No mode allows them, so a
 *       call first finds out whether the stream captures. An event that was recorded in a capture can be queried after
 *       the capture: it has no time. The default stream cannot be captured.
 * </ul>
 *
 * So one query takes four calls. They are made when results are fetched, and not when work is enqueued.
 *
 * <p>Recording in the default stream is therefore the exception: in every mode it spoils captures of the streams that
 * the default stream waits for, and a query before it would double the calls of each mark.
 *
 * <h2>Why no event has the time of an earlier mark</h2>
 *
 * An event that is recorded in a capture gets no time, and still has the time of its last use outside. Most drivers
 * answer a query for this time with an error. Whether this driver does so is tested once, in a capture of a separate
 * stream ({@link #learnCaptures}). If it does not, each mark queries before and after recording whether the stream
 * captures, and no mark is set during a capture.
 *
 * <h2>Making the context current</h2>
 *
 * A green context can be current on one thread at a time; while it is current here, the application's own attempt to
 * make it current fails. So it is made current only if the driver refuses a call without it, and only for a few calls
 * that do not wait: a wait polls, and restores the former context before each pause ({@link Polling}). If the context
 * is refused because it is current on another thread, the calling thread tries again for a while.
 *
 * <p>Objects of the queue are destroyed without making its context current if the driver allows this, and otherwise
 * with the context current. If the context is refused, the objects stay until the context is destroyed, which is
 * reported.
 */
final class CudaQueue {

    /** Takes the place of a driver's code: no call was made, because the stream captures. */
    private static final int CAPTURES = -1;

    /**
     * Takes the place of a driver's code: no call was made, because the device is lost or the context cannot be made
     * current.
     */
    static final int NOT_DONE = -2;

    /** Takes the place of a driver's code: no call was made, because the context cannot be made current now. */
    private static final int BUSY = -3;

    /** The most objects that are created or destroyed before the former context is restored. */
    private static final int SECTION = 64;

    /** The result of recording an event. */
    enum Recorded {
        /** The device records it when it reaches this place of the queue. */
        IN_STREAM,
        /** Each launch of the graph that the stream is captured into records it. */
        IN_GRAPH,
        /** The driver refused. */
        NOT
    }

    /** A call about events. */
    @FunctionalInterface
    private interface Question {
        int ask(CudaCalls calls, CudaHandle from, CudaHandle to, Answer answer);
    }

    private static final Question QUERY =
            (calls, from, to, answer) -> answer.of(DriverCall.EVENT_QUERY, calls.eventQuery(to));
    private static final Question WAIT =
            (calls, from, to, answer) -> answer.of(DriverCall.EVENT_SYNCHRONIZE, calls.eventSynchronize(to));
    private static final Question ELAPSED = (calls, from, to, answer) ->
            answer.of(DriverCall.EVENT_ELAPSED_TIME, calls.eventElapsedTime(answer.ms, from, to));

    private final CudaCalls calls;
    private final ThreadLocal<Answer> answers;
    private final CudaContext context;
    private final CudaFailures failures;

    /** The stream; a handle of 0 for the default stream. */
    private final CudaHandle stream;

    private final boolean isDefault;
    private final boolean ownsStream;

    /** Whether the driver reports the earlier time of an event that was recorded in a capture. */
    private boolean asksFirst;

    /** Whether a mark was found that was set in a capture outside of a scope. */
    private final AtomicBoolean stray = new AtomicBoolean();

    private CudaQueue(CudaContext context, CudaHandle stream, boolean ownsStream, CudaFailures failures) {
        this.calls = context.calls();
        this.answers = calls.answers();
        this.context = context;
        this.stream = stream;
        this.isDefault = isDefault(stream.address());
        this.ownsStream = ownsStream;
        this.failures = failures;
    }

    /** Makes a queue. */
    @FunctionalInterface
    interface Opening {
        CudaQueue open(CudaCalls calls, CudaFailures failures) throws CudaFailures.Refusal;
    }

    /** Opens a stream of the application, given as JCuda's object. */
    static Opening opening(CUcontext context, CUstream stream) {
        return (calls, failures) ->
                of(calls, JCudaCalls.handleOf(calls, context), JCudaCalls.handleOf(calls, stream), failures);
    }

    /**
     * Opens a stream of the application, given by the driver's addresses.
     *
     * @throws IllegalArgumentException if the context is 0
     */
    static Opening opening(long context, long stream) {
        if (context == 0) {
            throw new IllegalArgumentException("context 0x0: the address of a CUcontext is needed");
        }
        return (calls, failures) -> of(calls, JnaCalls.contextOf(context), JnaCalls.streamOf(stream), failures);
    }

    private static CudaQueue of(CudaCalls calls, CudaHandle context, CudaHandle stream, CudaFailures failures)
            throws CudaFailures.Refusal {
        return new CudaQueue(CudaContext.of(calls, context, failures), stream, false, failures);
    }

    /** Returns the default stream of a device's primary context, or a new stream in it. */
    static CudaQueue ofDevice(CudaCalls calls, int ordinal, boolean newStream, CudaFailures failures)
            throws CudaFailures.Refusal {
        CudaContext context = CudaContext.ofDevice(calls, ordinal, failures);
        CudaQueue inDefault = new CudaQueue(context, calls.newStream(), false, failures);
        if (!newStream) {
            return inDefault;
        }
        CudaHandle stream = calls.newStream();
        int code = inDefault.inContext(NOT_DONE, answer -> {
            int created = calls.streamCreate(stream, CUstream_flags.CU_STREAM_DEFAULT);
            inDefault.report(DriverCall.STREAM_CREATE, created);
            return created;
        });
        if (code != CUDA_SUCCESS) {
            inDefault.close(null);
            throw new CudaFailures.Refusal();
        }
        return new CudaQueue(context, stream, true, failures);
    }

    /** Refuses the handle of the per-thread default stream, which is a different queue on each thread. */
    static void checkIsOne(long stream) {
        if (stream == CudaCalls.STREAM_PER_THREAD) {
            throw new IllegalArgumentException(
                    "the default stream of each thread is not one queue: stream 0x" + Long.toHexString(stream));
        }
    }

    /** Returns whether a stream's address is one of those of the default stream. */
    static boolean isDefault(long stream) {
        return stream == 0 || stream == CudaCalls.STREAM_LEGACY;
    }

    CudaCalls calls() {
        return calls;
    }

    CudaContext context() {
        return context;
    }

    CudaHandle stream() {
        return stream;
    }

    // ---- enqueuing ----

    /**
     * Records an event at the end of the queue, by one call of the driver if the context is current.
     *
     * @return whether it was recorded
     */
    boolean record(CudaHandle event) {
        return asksFirst ? recordUnlessCaptured(event) : recordAnyway(event);
    }

    private boolean recordAnyway(CudaHandle event) {
        int code = calls.eventRecord(event, stream);
        return code == CUDA_SUCCESS || recordInContext(event, code);
    }

    /** Records an event unless the stream captures, even if another thread begins the capture meanwhile. */
    private boolean recordUnlessCaptured(CudaHandle event) {
        return !captures() && recordAnyway(event) && !captures();
    }

    private boolean captures() {
        boolean captures = inContext(NOT_DONE, this::captureCode) == CAPTURES;
        if (captures) {
            stray.set(true);
            failures.report(
                    DriverCall.STREAM_IS_CAPTURING,
                    "not marked, since the stream is being captured into a graph outside of a scope of CudaStream.capture()");
        }
        return captures;
    }

    /** Returns whether a mark was found since the last call that was set in a capture outside of a scope. */
    boolean takeStray() {
        return stray.get() && stray.getAndSet(false);
    }

    /** Returns whether the stream can be captured: the default stream never is. */
    boolean canBeCaptured() {
        return !isDefault;
    }

    /**
     * Records an event while a capture scope is open. If the stream is being captured, the event becomes a node that
     * each launch of the graph records; otherwise it is recorded as always.
     *
     * @return the result
     */
    Recorded recordInScope(CudaHandle event) {
        int done = inContext(NOT_DONE, answer -> {
            boolean captures = captureCode(answer) == CAPTURES;
            DriverCall call = captures ? DriverCall.EVENT_RECORD_WITH_FLAGS : DriverCall.EVENT_RECORD;
            int code = captures
                    ? calls.eventRecordWithFlags(event, stream, CUevent_record_flags.CU_EVENT_RECORD_EXTERNAL)
                    : calls.eventRecord(event, stream);
            report(call, code);
            return code == CUDA_SUCCESS && captures ? CAPTURES : code;
        });
        return done == CAPTURES ? Recorded.IN_GRAPH : done == CUDA_SUCCESS ? Recorded.IN_STREAM : Recorded.NOT;
    }

    private boolean recordInContext(CudaHandle event, int answered) {
        int code = answered;
        if (CudaErrors.isWrongContext(code)) {
            if (!context.push(failures)) {
                return false;
            }
            Answer answer = answers.get();
            try {
                code = calls.eventRecord(event, stream);
            } finally {
                context.pop(answer.popped, failures);
            }
        }
        report(DriverCall.EVENT_RECORD, code);
        return code == CUDA_SUCCESS;
    }

    // ---- queries ----

    /** Returns whether the device has reached an event, or will never report it. */
    boolean isReached(CudaHandle event) {
        int code = ask(QUERY, event, event);
        reportIfBusy(code);
        return code != CUDA_ERROR_NOT_READY && code != CAPTURES && code != BUSY;
    }

    /** Queries once, for a wait, whether the device has reached an event. */
    Polling.Answer poll(CudaHandle event) {
        int code = ask(QUERY, event, event);
        if (CudaErrors.isCaptured(code)) {
            failures.report(DriverCall.EVENT_QUERY, code);
        }
        return answer(code);
    }

    /**
     * Lets the calling thread sleep in the driver until the device has reached an event. Only for a thread on which
     * {@link #answersHere} is true: on another one, the context would stay current during the sleep.
     */
    Polling.Answer sleep(CudaHandle event) {
        return answer(ask(WAIT, event, event));
    }

    private Polling.Answer answer(int code) {
        if (code == CAPTURES) {
            failures.report(DriverCall.EVENT_QUERY, "not waited for, since a stream is being captured into a graph");
        }
        return switch (code) {
            case CUDA_SUCCESS -> Polling.Answer.REACHED;
            case CUDA_ERROR_NOT_READY -> Polling.Answer.NOT_YET;
            case BUSY -> Polling.Answer.BUSY;
            default -> Polling.Answer.REFUSED;
        };
    }

    /**
     * Reports that a wait ended without the event: after its timeout, or because the context was refused for too long.
     */
    void reportNotReached(Polling.Answer answer, long timeoutNs) {
        if (answer == Polling.Answer.NOT_YET) {
            failures.report(
                    DriverCall.EVENT_SYNCHRONIZE,
                    "the device did not reach a mark within the timeout of " + timeoutNs / 1_000_000
                            + " ms: waiting samples are unresolved. If work takes longer than that, set waitTimeout");
        } else {
            reportIfBusy(answer == Polling.Answer.BUSY ? BUSY : CUDA_SUCCESS);
        }
    }

    /** Reports that bricks of a captured graph are unresolved. */
    void reportLoss(GraphMarks.Loss loss, String reason) {
        failures.report(loss, reason);
    }

    /** Reports the events that remain when the marks close, because their graphs may still be launched. */
    void reportKept(int events) {
        failures.report(
                DriverCall.EVENT_DESTROY,
                Plural.of(events, "event of captured graphs stays", "events of captured graphs stay")
                        + " in the context, since these graphs may still be launched."
                        + " Release captures before the stream closes");
    }

    /** Reports that closing reached the timeout while another thread was in a call of the driver. */
    void reportInUse() {
        failures.report(
                DriverCall.EVENT_DESTROY,
                DriverCall.EVENT_DESTROY.function() + " not called for all events, since another thread did not return"
                        + " from the driver within the timeout: what is left goes with the context");
    }

    private void reportIfBusy(int code) {
        if (code == BUSY) {
            failures.report(DriverCall.CTX_PUSH_CURRENT, answers.get().pushCode);
        }
    }

    /**
     * Returns whether the calling thread can query the driver without a change of context: the queue's context is
     * current there, or the device is lost.
     */
    boolean answersHere() {
        return failures.isLost() || !context.isElsewhere(answers.get().popped, failures);
    }

    /**
     * Returns the time between two events.
     *
     * @return ns; {@link DeviceStream#NOT_REACHED} or {@link DeviceStream#UNRESOLVED}
     */
    long elapsedNs(CudaHandle from, CudaHandle to) {
        int code = ask(ELAPSED, from, to);
        reportIfBusy(code);
        return switch (code) {
            case CUDA_SUCCESS -> Math.round(answers.get().ms[0] * 1e6);
            case CUDA_ERROR_NOT_READY, CAPTURES, BUSY -> DeviceStream.NOT_REACHED;
            default -> DeviceStream.UNRESOLVED;
        };
    }

    /**
     * Finds the times from each of some marks to the next, by one call of the driver each. The calls around them are
     * made once, or once for each section if the context has to be made current. A time whose call fails is queried
     * again by itself.
     *
     * <p>The last time comes first. A driver remembers how far it knows the device to have come, and reads this from
     * the device for each later event: with a copy to the host in the pass, a call took 2.7 us from the first event on,
     * and 0.4 us from the last event on (NVIDIA H200, driver 580).
     */
    void elapsedNs(CudaMarks marks, int[] numbers, int count, long[] ns) {
        int next = failures.isLost() ? count - 1 : askElapsed(marks, numbers, count - 1, 0, ns);
        Answer answer = answers.get();
        while (next > 0) {
            ns[next] = elapsedNs(marks.event(numbers[next - 1]), marks.event(numbers[next]));
            next--;
            if (answer.wasElsewhere && !failures.isLost()) {
                next = askElapsedInContext(marks, numbers, next, Math.max(0, next - SECTION), ns);
            }
        }
    }

    /** Does the same as {@link #askElapsed} in this queue's context; queries nothing if the context is refused. */
    private int askElapsedInContext(CudaMarks marks, int[] numbers, int from, int downTo, long[] ns) {
        Answer answer = answers.get();
        if (from == downTo || context.push() != CUDA_SUCCESS) {
            return from;
        }
        try {
            return askElapsed(marks, numbers, from, downTo, ns);
        } finally {
            context.pop(answer.popped, failures);
        }
    }

    /**
     * Queries times from a position downwards. Returns the position of the first time that failed, or {@code downTo}.
     */
    private int askElapsed(CudaMarks marks, int[] numbers, int from, int downTo, long[] ns) {
        Answer answer = answers.get();
        boolean relaxed = relax(answer);
        try {
            if (!isDefault && captureCode(answer) != CUDA_SUCCESS) {
                return from;
            }
            int next = from;
            while (next > downTo
                    && calls.eventElapsedTime(answer.ms, marks.event(numbers[next - 1]), marks.event(numbers[next]))
                            == CUDA_SUCCESS) {
                ns[next] = Math.round(answer.ms[0] * 1e6);
                next--;
            }
            return next;
        } finally {
            restore(relaxed, answer);
        }
    }

    /** Makes a query in the thread's context or, if the driver refuses this, in the queue's own. */
    private int ask(Question question, CudaHandle from, CudaHandle to) {
        if (failures.isLost()) {
            return NOT_DONE;
        }
        Answer answer = answers.get();
        boolean relaxed = relax(answer);
        int code;
        try {
            code = askUnlessCaptured(question, from, to, answer);
            answer.wasElsewhere = CudaErrors.isWrongContext(code);
            if (answer.wasElsewhere) {
                answer.pushCode = context.push();
                if (answer.pushCode != CUDA_SUCCESS) {
                    return BUSY;
                }
                try {
                    code = askUnlessCaptured(question, from, to, answer);
                } finally {
                    context.pop(answer.popped, failures);
                }
            }
        } finally {
            restore(relaxed, answer);
        }
        boolean expected = code == CUDA_SUCCESS || code == CUDA_ERROR_NOT_READY || code == CAPTURES;
        if (CudaErrors.isCaptured(code)) {
            stray.set(true);
        }
        // A caller that learns that a captured event is reached queries its time next; the reason is reported then.
        if (!expected && !(CudaErrors.isCaptured(code) && question == QUERY)) {
            failures.report(answer.call, code);
        }
        return code;
    }

    private int askUnlessCaptured(Question question, CudaHandle from, CudaHandle to, Answer answer) {
        int code = isDefault ? CUDA_SUCCESS : captureCode(answer);
        return code == CUDA_SUCCESS ? question.ask(calls, from, to, answer) : code;
    }

    /**
     * Returns success if neither the stream captures nor one that the default stream waits for; otherwise another code.
     * Called in the context.
     */
    int captureAround(Answer answer) {
        int code = isDefault ? CUDA_SUCCESS : captureCode(answer);
        return code == CUDA_SUCCESS ? captureCode(calls.newStream(), answer) : code;
    }

    /** Returns success if the stream does not capture, {@link #CAPTURES} if it does, or the driver's code. */
    private int captureCode(Answer answer) {
        return captureCode(stream, answer);
    }

    private int captureCode(CudaHandle of, Answer answer) {
        int code = answer.of(DriverCall.STREAM_IS_CAPTURING, calls.streamIsCapturing(of, answer.captureStatus));
        boolean captures = code == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT
                || (code == CUDA_SUCCESS
                        && answer.captureStatus[0] != CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE);
        return captures ? CAPTURES : code;
    }

    // ---- objects ----

    /**
     * Creates events.
     *
     * @param flags of {@link jcuda.driver.CUevent_flags}
     * @param consequence the consequence if one cannot be created, for the reason in the log
     * @return how many of them were created, from the first on
     */
    int create(List<CudaHandle> events, int flags, String consequence) {
        int created = 0;
        int end;
        do {
            int from = created;
            int to = Math.min(events.size(), from + SECTION);
            end = to;
            created = inContext(from, answer -> create(events, from, to, flags, consequence));
        } while (created == end && created < events.size());
        return created;
    }

    /** Creates some of the events, and returns the position of the first that was not created. */
    private int create(List<CudaHandle> events, int from, int to, int flags, String consequence) {
        for (int number = from; number < to; number++) {
            int code = calls.eventCreate(events.get(number), flags);
            if (code != CUDA_SUCCESS) {
                failures.report(DriverCall.EVENT_CREATE, code, consequence);
                return number;
            }
        }
        return to;
    }

    /**
     * Finds out whether the driver refuses to report times of an event that was recorded in a capture; if this cannot
     * be found out, the driver counts as one that does not. Call it before the queue is used. The default stream is
     * never captured.
     *
     * @param event an event of this queue's context that no mark uses yet
     */
    void learnCaptures(CudaHandle event) {
        asksFirst = !isDefault && inContext(NOT_DONE, answer -> askForCaptured(event, answer)) != CUDA_SUCCESS;
    }

    /** Returns success if the driver refuses. */
    private int askForCaptured(CudaHandle event, Answer answer) {
        CudaHandle scratch = calls.newStream();
        int code = made(DriverCall.STREAM_CREATE, calls.streamCreate(scratch, CUstream_flags.CU_STREAM_NON_BLOCKING));
        if (code != CUDA_SUCCESS) {
            return code;
        }
        try {
            code = made(DriverCall.EVENT_RECORD, calls.eventRecord(event, scratch));
            code = code == CUDA_SUCCESS ? recordInCapture(event, scratch) : code;
            if (code != CUDA_SUCCESS) {
                return code;
            }
            int answered = calls.eventElapsedTime(answer.ms, event, event);
            if (!CudaErrors.isCaptured(answered) && answered != CUDA_ERROR_NOT_READY) {
                report(DriverCall.EVENT_ELAPSED_TIME, answered);
            }
            return CudaErrors.isCaptured(answered) ? CUDA_SUCCESS : NOT_DONE;
        } finally {
            report(DriverCall.STREAM_DESTROY, calls.streamDestroy(scratch));
        }
    }

    private int recordInCapture(CudaHandle event, CudaHandle scratch) {
        int code = made(
                DriverCall.STREAM_BEGIN_CAPTURE,
                calls.streamBeginCapture(scratch, CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED));
        if (code != CUDA_SUCCESS) {
            return code;
        }
        CudaHandle graph = calls.newGraph();
        code = made(DriverCall.EVENT_RECORD, calls.eventRecord(event, scratch));
        int ended = made(DriverCall.STREAM_END_CAPTURE, calls.streamEndCapture(scratch, graph));
        if (ended == CUDA_SUCCESS) {
            report(DriverCall.GRAPH_DESTROY, calls.graphDestroy(graph));
        }
        return code == CUDA_SUCCESS ? ended : code;
    }

    private int made(DriverCall call, int code) {
        report(call, code);
        return code;
    }

    /**
     * Destroys events; those of a lost device are gone with it. May pause, so the caller must hold no monitor.
     *
     * @return false if the context was refused and events are left
     */
    boolean destroy(List<CudaHandle> events) {
        return destroy(DriverCall.EVENT_DESTROY, events.size(), number -> calls.eventDestroy(events.get(number)));
    }

    /**
     * Gives back the stream and the context that were made for this queue, which must not be used afterwards. May
     * pause, so the caller must hold no monitor.
     *
     * @param keepsContext the reason why a primary context is not given back; null if it is. The driver would not
     *     return from this call if the device hangs; and a context that is refused may be gone, with another one in its
     *     place
     */
    void close(@Nullable String keepsContext) {
        if (ownsStream) {
            destroy(DriverCall.STREAM_DESTROY, 1, number -> calls.streamDestroy(stream));
        }
        if (keepsContext == null) {
            context.release(failures);
        } else if (context.isRetained()) {
            failures.report(
                    DriverCall.PRIMARY_CTX_RELEASE,
                    DriverCall.PRIMARY_CTX_RELEASE.function() + " not called, since " + keepsContext
                            + ": the primary context stays retained");
        }
    }

    /** Reports the code of a call unless it is success. */
    void report(DriverCall call, int code) {
        if (code != CUDA_SUCCESS) {
            failures.report(call, code);
        }
    }

    // ---- contexts of calls ----

    /**
     * Makes calls in this queue's context and in mode {@code RELAXED}. If the context is refused, makes no call and
     * returns {@code otherwise}.
     */
    int inContext(int otherwise, ToIntFunction<Answer> body) {
        Answer answer = answers.get();
        if (failures.isLost() || !context.push(failures)) {
            return otherwise;
        }
        try {
            boolean relaxed = relax(answer);
            try {
                return body.applyAsInt(answer);
            } finally {
                restore(relaxed, answer);
            }
        } finally {
            context.pop(answer.popped, failures);
        }
    }

    /**
     * Destroys several objects: in the thread's current context and, from the first object on that the driver refuses
     * to destroy there, in this queue's context. Returns false if the context was refused.
     */
    private boolean destroy(DriverCall call, int count, IntUnaryOperator destruction) {
        if (failures.isLost()) {
            return true;
        }
        int[] done = {destroyHere(call, count, destruction)};
        Polling.Answer answer = Polling.SYSTEM.await(
                any -> {
                    int code = done[0] < count ? destroySection(call, count, destruction, done) : CUDA_SUCCESS;
                    return code == CUDA_SUCCESS && done[0] < count ? Polling.Answer.NOT_YET : answer(code);
                },
                0,
                Long.MAX_VALUE);
        if (answer == Polling.Answer.BUSY) {
            reportIfBusy(BUSY);
            failures.report(
                    call,
                    call.function() + " not called " + (count - done[0]) + " times, since the context cannot be made"
                            + " current on the thread that closes: what is left goes with the context");
        }
        return answer != Polling.Answer.BUSY;
    }

    /**
     * Destroys objects up to the first that the driver refuses to destroy in the thread's context. Returns how many
     * were destroyed, or can never be destroyed.
     */
    private int destroyHere(DriverCall call, int count, IntUnaryOperator destruction) {
        Answer answer = answers.get();
        boolean relaxed = relax(answer);
        try {
            int done = 0;
            int code = CUDA_SUCCESS;
            while (done < count && !CudaErrors.isWrongContext(code)) {
                code = destruction.applyAsInt(done);
                if (!CudaErrors.isWrongContext(code)) {
                    report(call, code);
                    done++;
                }
            }
            return done;
        } finally {
            restore(relaxed, answer);
        }
    }

    /** Destroys some more in this queue's context. Returns {@link #BUSY} if the context is refused. */
    private int destroySection(DriverCall call, int count, IntUnaryOperator destruction, int[] done) {
        Answer answer = answers.get();
        if (failures.isLost()) {
            return NOT_DONE;
        }
        answer.pushCode = context.push();
        if (answer.pushCode != CUDA_SUCCESS) {
            return BUSY;
        }
        try {
            boolean relaxed = relax(answer);
            try {
                for (int end = Math.min(count, done[0] + SECTION); done[0] < end; done[0]++) {
                    report(call, destruction.applyAsInt(done[0]));
                }
                return CUDA_SUCCESS;
            } finally {
                restore(relaxed, answer);
            }
        } finally {
            context.pop(answer.popped, failures);
        }
    }

    /**
     * Changes the thread's capture mode to {@code RELAXED}. The thread must not block until {@link #restore}. Returns
     * whether the mode was changed.
     */
    private boolean relax(Answer answer) {
        CudaFailures.enter();
        answer.captureMode[0] = CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED;
        int code = calls.exchangeCaptureMode(answer.captureMode);
        report(DriverCall.THREAD_EXCHANGE_STREAM_CAPTURE_MODE, code);
        return code == CUDA_SUCCESS;
    }

    private void restore(boolean relaxed, Answer answer) {
        if (relaxed) {
            report(DriverCall.THREAD_EXCHANGE_STREAM_CAPTURE_MODE, calls.exchangeCaptureMode(answer.captureMode));
        }
        CudaFailures.leave();
    }
}
