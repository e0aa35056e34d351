package org.brickprofiler.device.cuda;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import jcuda.driver.CUcontext;
import jcuda.driver.CUevent_flags;
import jcuda.driver.CUstream;
import org.brickprofiler.device.DeviceStream;
import org.brickprofiler.device.DeviceTimer;
import org.brickprofiler.device.polling.Polling;
import org.brickprofiler.internal.base.Abandonment;
import org.brickprofiler.internal.base.Log;
import org.jspecify.annotations.Nullable;

/**
 * Times one piece of work in a CUDA stream by a pair of events. If the driver refuses a call, or the work is captured
 * into a graph, the timer reads 0, {@link #failure()} gives the reason, and nothing is thrown. Any thread; threads take
 * turns, except while they wait for the device. Allocates nothing once it is made. A timer that was never closed is
 * reported in the log when the garbage collector finds it.
 */
public final class CudaTimer implements DeviceTimer {

    private static final Log LOG = Log.of(CudaTimer.class);

    private static final int EVENTS = 2;
    private static final int START = 0;
    private static final int END = 1;

    private final CudaFailures failures = new CudaFailures("CUDA timer");

    /** The events of the start and of the end, once they are made. */
    private List<CudaHandle> events = List.of();

    /** Null if the events could not be made, and after closing. */
    private @Nullable CudaQueue queue;

    private final long timeoutNs;

    /** Queries once whether the end is reached, for a wait that holds no monitor. */
    private final Polling.Question atEnd = number -> pollEnd();

    private boolean started;
    private boolean ended;

    /** Whether the driver has events of this timer; a separate object, which outlives the timer. */
    private final AtomicBoolean holdsEvents = new AtomicBoolean();

    private CudaTimer(CudaSupport support, CudaQueue.Opening opening, Duration waitTimeout) {
        timeoutNs = Polling.timeoutNs(waitTimeout);
        CudaCalls calls = support.calls();
        if (calls == null || !support.isAvailable()) {
            failures.report(DriverCall.INIT, support.toString());
            return;
        }
        try {
            queue = withEvents(opening.open(calls, failures));
        } catch (CudaFailures.Refusal reported) {
            queue = null;
        }
        if (queue != null) {
            holdsEvents.set(true);
            Abandonment.whenUnreachable(new Abandoned(holdsEvents), this);
        }
    }

    /**
     * Reports a timer that was never closed. Its events are kept, because the application's context may not exist any
     * more.
     */
    private record Abandoned(AtomicBoolean holdsEvents) implements Runnable {
        @Override
        public void run() {
            if (holdsEvents.get()) {
                LOG.warn(
                        "a CUDA timer was never closed and is unreachable: its {} events stay in the application's"
                                + " context until that is destroyed. Close timers",
                        EVENTS);
            }
        }
    }

    private @Nullable CudaQueue withEvents(CudaQueue made) {
        events = List.of(made.calls().newEvent(), made.calls().newEvent());
        int created = made.create(events, CUevent_flags.CU_EVENT_DEFAULT, "");
        if (created == EVENTS) {
            made.learnCaptures(events.get(START));
            return made;
        }
        made.destroy(events.subList(0, created));
        made.close(null);
        return null;
    }

    /**
     * Returns a timer in one of the application's streams.
     *
     * @param context the stream's context, which must live until the timer is closed
     * @param stream a stream in it, which must live as long; null, or one that was never created, for the default
     *     stream, where a timer can spoil captures of other streams, as marks do: see
     *     {@link CudaStream#onDefaultStream}
     * @return a timer
     * @throws IllegalArgumentException for the per-thread default stream, which is a different queue on each thread
     */
    public static CudaTimer on(CUcontext context, @Nullable CUstream stream) {
        return on(context, stream, DeviceStream.DEFAULT_WAIT_TIMEOUT);
    }

    /**
     * Returns a timer in one of the application's streams, with a timeout.
     *
     * @param context the stream's context, which must live until the timer is closed
     * @param stream a stream in it, which must live as long; null for the default stream, as in {@link #on(CUcontext,
     *     CUstream)}
     * @param waitTimeout the timeout of the wait for the device when the timer is read; {@link #on(CUcontext,
     *     CUstream)} uses {@link DeviceStream#DEFAULT_WAIT_TIMEOUT}
     * @return a timer
     * @throws IllegalArgumentException for the per-thread default stream, and when the timeout is zero or negative
     */
    public static CudaTimer on(CUcontext context, @Nullable CUstream stream, Duration waitTimeout) {
        Objects.requireNonNull(context, "context");
        Objects.requireNonNull(waitTimeout, "waitTimeout");
        CUstream handle = stream == null ? new CUstream() : stream;
        CudaQueue.checkIsOne(JCudaCalls.addressOf(handle));
        return new CudaTimer(CudaSupport.probe(), CudaQueue.opening(context, handle), waitTimeout);
    }

    /**
     * Returns a timer in one of the application's streams, for applications without JCuda; see
     * {@link CudaStream#onAddresses}.
     *
     * @param context the address of the stream's context, which must live until the timer is closed
     * @param stream the address of a stream in it, which must live as long; 0 or 1 for the default stream, as in
     *     {@link #on(CUcontext, CUstream)}
     * @param waitTimeout the timeout of the wait for the device when the timer is read
     * @return a timer
     * @throws IllegalArgumentException if the context is 0, if the timeout is zero or negative, and for the per-thread
     *     default stream
     */
    public static CudaTimer onAddresses(long context, long stream, Duration waitTimeout) {
        Objects.requireNonNull(waitTimeout, "waitTimeout");
        CudaQueue.checkIsOne(stream);
        return new CudaTimer(CudaSupport.ofAddresses(), CudaQueue.opening(context, stream), waitTimeout);
    }

    @Override
    public synchronized void recordStart() {
        ended = false;
        started = record(START);
    }

    @Override
    public synchronized void recordEnd() {
        if (started) {
            ended = record(END);
        }
    }

    private boolean record(int event) {
        return queue != null && !failures.isLost() && queue.record(events.get(event));
    }

    @Override
    public double elapsedMs() {
        return elapsedNs() / 1e6;
    }

    /**
     * Returns the duration of the work. Waits until the device has done the work, but no longer than the timeout.
     * Another thread may start or close the timer meanwhile.
     *
     * @return ns; 0 until both ends were recorded, if the device reports no time, and after the timeout
     */
    @Override
    public long elapsedNs() {
        Polling.Answer answer = Polling.SYSTEM.await(atEnd, 0, timeoutNs);
        return answer == Polling.Answer.REACHED ? elapsedWhenReachedNs() : notReached(answer);
    }

    private synchronized Polling.Answer pollEnd() {
        return queue == null || !ended ? Polling.Answer.REFUSED : queue.poll(events.get(END));
    }

    private synchronized long elapsedWhenReachedNs() {
        // The answers of the stream that are no time are negative.
        return queue == null || !ended ? 0 : Math.max(0, queue.elapsedNs(events.get(START), events.get(END)));
    }

    private synchronized long notReached(Polling.Answer answer) {
        if (queue != null && ended) {
            queue.reportNotReached(answer, timeoutNs);
        }
        return 0;
    }

    /**
     * Returns why the timer reads 0, or the call that failed.
     *
     * @return the latest reason, or empty if there was no failure
     */
    public Optional<String> failure() {
        return failures.latest();
    }

    @Override
    public void close() {
        CudaQueue open;
        synchronized (this) {
            open = queue;
            queue = null;
            started = false;
            ended = false;
        }
        if (open != null) {
            holdsEvents.set(false);
            open.destroy(events);
            open.close(null);
        }
    }
}
