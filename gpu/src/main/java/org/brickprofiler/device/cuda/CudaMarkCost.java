package org.brickprofiler.device.cuda;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static jcuda.driver.CUresult.CUDA_ERROR_NOT_READY;
import static jcuda.driver.CUresult.CUDA_SUCCESS;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.ToIntFunction;
import java.util.stream.Stream;
import jcuda.driver.CUevent_flags;
import jcuda.driver.CUstream_flags;
import org.brickprofiler.device.MarkCost;
import org.brickprofiler.device.cuda.CudaCalls.Answer;
import org.brickprofiler.device.polling.Polling;

/**
 * The device time that marks add in a context, measured once for all its streams. Any thread; while one measures, the
 * others go on without.
 *
 * <p>The measurement runs in a non-blocking stream of its own, in the thread's capture mode {@code RELAXED}, so it
 * neither waits for the application's streams nor spoils their captures. It is put off while the profiled stream, or a
 * stream that the default stream waits for, is captured. Everything that it made in the context is destroyed at its
 * end. The events are enqueued behind a kernel that is still running when the last one is enqueued; otherwise the round
 * is repeated behind a longer kernel, because the device would have waited for the host.
 */
final class CudaMarkCost {

    /** An empty kernel, and one that lasts a given time. Both have a parameter, so that they are launched alike. */
    private static final byte[] KERNELS = ("""
            .version 6.0
            .target sm_50
            .address_size 64

            .visible .entry brick_profiler_empty(.param .u64 unused)
            {
                ret;
            }

            .visible .entry brick_profiler_spin_ns(.param .u64 duration_ns)
            {
                .reg .u64 %duration;
                .reg .u64 %begin;
                .reg .u64 %passed;
                .reg .pred %goes_on;

                ld.param.u64 %duration, [duration_ns];
                mov.u64 %begin, %globaltimer;
            AGAIN:
                mov.u64 %passed, %globaltimer;
                sub.u64 %passed, %passed, %begin;
                setp.lt.u64 %goes_on, %passed, %duration;
                @%goes_on bra AGAIN;
                ret;
            }
            """ + "\0").getBytes(US_ASCII);

    private static final MarkCost NOT_MEASURED =
            MarkCost.unknown("neither endPass() outside of a capture nor calibrate() was called");

    private static final long TIMEOUT_NS = 1_000_000_000;

    private static final int BRICKS = 16;
    private static final int ROUNDS = 5;
    private static final int IDLE_BRICKS = 32;
    private static final long FIRST_SPIN_NS = 400_000;
    private static final long LONGEST_SPIN_NS = 50_000_000;

    /** One in this many of the smallest values and of the largest is left out of a mean. */
    private static final int TRIMMED = 8;

    // The events: of bricks, of a pass without marks inside, and at the end of the long kernel.
    private static final int PASS_BEGIN = 2 * BRICKS;
    private static final int PASS_END = PASS_BEGIN + 1;
    private static final int SPUN = PASS_END + 1;

    private static final Map<Key, CudaMarkCost> OF_CONTEXTS = new HashMap<>();

    private record Key(long context, int device) {}

    /** Ends a measurement, with the reason. */
    private static final class Failure extends Exception {
        private static final long serialVersionUID = 1L;

        private final boolean isForNow;

        Failure(String reason, boolean isForNow) {
            super(reason, null, false, false);
            this.isForNow = isForNow;
        }
    }

    private final Key key;
    private final AtomicBoolean isMeasuring = new AtomicBoolean();
    private volatile MarkCost cost = NOT_MEASURED;
    private volatile boolean isSettled;

    /** The open streams of the context; guarded by the map. */
    private int users;

    private CudaMarkCost(Key key) {
        this.key = key;
    }

    /** Returns the cost in a context, for one more user. */
    static CudaMarkCost in(CudaContext context) {
        synchronized (OF_CONTEXTS) {
            CudaMarkCost found =
                    OF_CONTEXTS.computeIfAbsent(new Key(context.address(), context.ordinal()), CudaMarkCost::new);
            found.users++;
            return found;
        }
    }

    /** Ends the use by one user. The context of the next first user may be another one at the same address. */
    void close() {
        synchronized (OF_CONTEXTS) {
            users--;
            if (users == 0) {
                OF_CONTEXTS.remove(key);
            }
        }
    }

    MarkCost cost() {
        return cost;
    }

    /** Measures the cost from a queue of the context, unless that was done; again if it was put off. */
    void measure(CudaQueue queue) {
        if (isSettled || !isMeasuring.compareAndSet(false, true)) {
            return;
        }
        try {
            cost = new Measurement(queue).run();
            isSettled = true;
        } catch (Failure e) {
            isSettled = !e.isForNow;
            cost = e.isForNow ? NOT_MEASURED : MarkCost.unknown(String.valueOf(e.getMessage()));
        } finally {
            isMeasuring.set(false);
        }
    }

    /** One measurement. One thread. */
    private static final class Measurement {

        private final CudaQueue queue;
        private final CudaCalls calls;
        private final CudaHandle module;
        private final CudaHandle empty;
        private final CudaHandle spin;
        private final CudaHandle stream;
        private final List<CudaHandle> events;

        // These say what exists in the context, and whether the device is known to be done with it.
        private boolean hasModule;
        private boolean hasStream;
        private int eventsMade;
        private boolean isDone = true;

        private DriverCall failed = DriverCall.MODULE_LOAD_DATA;
        private long spinNs = FIRST_SPIN_NS;

        Measurement(CudaQueue queue) {
            this.queue = queue;
            this.calls = queue.calls();
            this.module = calls.newModule();
            this.empty = calls.newFunction();
            this.spin = calls.newFunction();
            this.stream = calls.newStream();
            this.events = Stream.generate(calls::newEvent).limit(SPUN + 1L).toList();
        }

        MarkCost run() throws Failure {
            try {
                require(this::make);
                List<Double> bricks = new ArrayList<>();
                List<Double> marks = new ArrayList<>();
                while (marks.size() < ROUNDS) {
                    measureFull(bricks, marks);
                }
                List<Double> idle = new ArrayList<>();
                for (int brick = 0; brick < IDLE_BRICKS; brick++) {
                    require(answer -> enqueueBrick(0));
                    await(1);
                    idle.add(elapsedNs(0, 1));
                }
                double brickNs = mean(bricks);
                return new MarkCost(
                        brickNs,
                        Math.max(0, mean(marks)),
                        Math.abs(mean(idle.subList(IDLE_BRICKS / 2, IDLE_BRICKS)) - brickNs),
                        "");
            } finally {
                if (queue.inContext(CudaQueue.NOT_DONE, answer -> destroy()) == CudaQueue.NOT_DONE) {
                    // A context that is refused again keeps what was made.
                    queue.inContext(CudaQueue.NOT_DONE, answer -> destroy());
                }
            }
        }

        private int make(Answer answer) {
            int code = queue.captureAround(answer);
            code = code == CUDA_SUCCESS
                    ? made(DriverCall.MODULE_LOAD_DATA, calls.moduleLoadData(module, KERNELS))
                    : code;
            hasModule = code == CUDA_SUCCESS;
            code = code == CUDA_SUCCESS ? function(empty, "brick_profiler_empty") : code;
            code = code == CUDA_SUCCESS ? function(spin, "brick_profiler_spin_ns") : code;
            code = code == CUDA_SUCCESS
                    ? made(DriverCall.STREAM_CREATE, calls.streamCreate(stream, CUstream_flags.CU_STREAM_NON_BLOCKING))
                    : code;
            hasStream = code == CUDA_SUCCESS;
            while (code == CUDA_SUCCESS && eventsMade < events.size()) {
                code = made(
                        DriverCall.EVENT_CREATE,
                        calls.eventCreate(events.get(eventsMade), CUevent_flags.CU_EVENT_DEFAULT));
                eventsMade += code == CUDA_SUCCESS ? 1 : 0;
            }
            return code;
        }

        private int function(CudaHandle function, String name) {
            return made(DriverCall.MODULE_GET_FUNCTION, calls.moduleGetFunction(function, module, name));
        }

        /** Measures bricks, and a pass without marks inside, in a full queue. */
        private void measureFull(List<Double> bricks, List<Double> marks) throws Failure {
            boolean[] isFull = {false};
            require(answer -> {
                int code = enqueueRound();
                if (code == CUDA_SUCCESS) {
                    code = made(DriverCall.EVENT_QUERY, calls.eventQuery(events.get(SPUN)));
                    isFull[0] = code == CUDA_ERROR_NOT_READY;
                }
                return isFull[0] ? CUDA_SUCCESS : code;
            });
            await(PASS_END);
            if (!isFull[0]) {
                spinNs *= 2;
                if (spinNs > LONGEST_SPIN_NS) {
                    throw new Failure("the host is too slow to keep the device's queue full", false);
                }
                return;
            }
            for (int brick = 0; brick < BRICKS; brick++) {
                bricks.add(elapsedNs(2 * brick, 2 * brick + 1));
            }
            double longerNs = elapsedNs(0, 2 * BRICKS - 1) - elapsedNs(PASS_BEGIN, PASS_END);
            marks.add(longerNs / (2 * BRICKS - 2));
        }

        private int enqueueRound() {
            int code = launch(spin, spinNs);
            code = code == CUDA_SUCCESS ? record(SPUN) : code;
            for (int brick = 0; brick < BRICKS && code == CUDA_SUCCESS; brick++) {
                code = enqueueBrick(2 * brick);
            }
            code = code == CUDA_SUCCESS ? record(PASS_BEGIN) : code;
            for (int kernel = 0; kernel < BRICKS && code == CUDA_SUCCESS; kernel++) {
                code = launch(empty, 0);
            }
            return code == CUDA_SUCCESS ? record(PASS_END) : code;
        }

        private int enqueueBrick(int event) {
            int code = record(event);
            code = code == CUDA_SUCCESS ? launch(empty, 0) : code;
            return code == CUDA_SUCCESS ? record(event + 1) : code;
        }

        private int launch(CudaHandle kernel, long parameter) {
            isDone = false;
            return made(DriverCall.LAUNCH_KERNEL, calls.launchKernel(kernel, stream, parameter));
        }

        private int record(int event) {
            return made(DriverCall.EVENT_RECORD, calls.eventRecord(events.get(event), stream));
        }

        private void await(int event) throws Failure {
            int[] code = {CUDA_SUCCESS};
            Polling.Answer reached = Polling.SYSTEM.await(
                    any -> {
                        code[0] = queue.inContext(
                                CudaQueue.NOT_DONE,
                                answer -> made(DriverCall.EVENT_QUERY, calls.eventQuery(events.get(event))));
                        return code[0] == CUDA_SUCCESS
                                ? Polling.Answer.REACHED
                                : code[0] == CUDA_ERROR_NOT_READY ? Polling.Answer.NOT_YET : Polling.Answer.REFUSED;
                    },
                    event,
                    TIMEOUT_NS);
            isDone = reached == Polling.Answer.REACHED;
            if (reached == Polling.Answer.NOT_YET) {
                throw new Failure(
                        "the device did not finish empty kernels within " + TIMEOUT_NS / 1_000_000 + " ms", false);
            }
            require(answer -> code[0]);
        }

        private double elapsedNs(int from, int to) throws Failure {
            float[] ms = {0};
            require(answer ->
                    made(DriverCall.EVENT_ELAPSED_TIME, calls.eventElapsedTime(ms, events.get(from), events.get(to))));
            return Math.round(ms[0] * 1e6);
        }

        private int made(DriverCall call, int code) {
            failed = call;
            return code;
        }

        /** Makes calls in the context, and ends the measurement if one fails. */
        private void require(ToIntFunction<Answer> body) throws Failure {
            int code = queue.inContext(CudaQueue.NOT_DONE, body);
            if (code == CUDA_SUCCESS) {
                return;
            }
            boolean isForNow = code < 0 || CudaErrors.isOfCapture(code);
            if (CudaErrors.isLoss(code)) {
                queue.report(failed, code);
            }
            throw new Failure(CudaErrors.describe(failed, code), isForNow);
        }

        private int destroy() {
            for (CudaHandle event : events.subList(0, eventsMade)) {
                calls.eventDestroy(event);
            }
            if (hasStream) {
                calls.streamDestroy(stream);
            }
            // A driver would wait here for a kernel that still runs.
            if (hasModule && isDone) {
                calls.moduleUnload(module);
            }
            return CUDA_SUCCESS;
        }

        /** Returns the mean of the values without the smallest and largest ones; events have a coarse resolution. */
        private static double mean(List<Double> values) {
            double[] sorted =
                    values.stream().mapToDouble(value -> value).sorted().toArray();
            int out = sorted.length / TRIMMED;
            return Arrays.stream(sorted, out, sorted.length - out).average().orElse(0);
        }
    }
}
