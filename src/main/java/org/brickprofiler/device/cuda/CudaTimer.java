package org.brickprofiler.device.cuda;

import java.util.List;
import java.util.Objects;
import java.util.Optional;
import jcuda.driver.CUcontext;
import jcuda.driver.CUevent;
import jcuda.driver.CUstream;
import org.brickprofiler.device.DeviceTimer;
import org.jspecify.annotations.Nullable;

/**
 * Times one piece of work in a CUDA stream by a pair of events. Where the driver refuses something, or the work is
 * captured into a graph, the timer reads 0 and {@link #failure()} says why; nothing is thrown because of it. Any thread,
 * which takes turns with others. Allocates nothing once it is made.
 */
public final class CudaTimer implements DeviceTimer {

    private static final int EVENTS = 2;

    private final CudaFailures failures = new CudaFailures("CUDA timer");
    private final CUevent start = new CUevent();
    private final CUevent end = new CUevent();

    /** Null where the events could not be made, and after closing. */
    private @Nullable CudaQueue queue;

    private boolean started;
    private boolean ended;

    private CudaTimer(CUcontext context, @Nullable CUstream stream) {
        CudaSupport support = CudaSupport.probe();
        if (!support.isAvailable()) {
            failures.report(DriverCall.INIT, support.toString());
            return;
        }
        CudaQueue.checkIsOne(stream);
        try {
            queue = withEvents(CudaQueue.of(context, stream, failures));
        } catch (CudaFailures.Refusal reported) {
            queue = null;
        }
    }

    private @Nullable CudaQueue withEvents(CudaQueue made) {
        List<CUevent> events = List.of(start, end);
        int created = made.create(events, "");
        if (created == EVENTS) {
            made.learnCaptures(start);
            return made;
        }
        made.destroy(events.subList(0, created));
        made.close();
        return null;
    }

    /**
     * A timer in one of the application's streams.
     *
     * @param context the stream's context, which must live until the timer is closed
     * @param stream a stream in it, which must live as long; null, or one that was never created, for the default one,
     *     where a timer can spoil captures of others as marks do: see {@link CudaStream#onDefaultStream}
     * @return a timer
     * @throws IllegalArgumentException for the default stream of each thread, which is another queue on each
     */
    public static CudaTimer on(CUcontext context, @Nullable CUstream stream) {
        Objects.requireNonNull(context, "context");
        return new CudaTimer(context, stream);
    }

    @Override
    public synchronized void recordStart() {
        ended = false;
        started = record(start);
    }

    @Override
    public synchronized void recordEnd() {
        if (started) {
            ended = record(end);
        }
    }

    private boolean record(CUevent event) {
        return queue != null && !failures.isLost() && queue.record(event);
    }

    @Override
    public double elapsedMs() {
        return elapsedNs() / 1e6;
    }

    /**
     * How long the work took. Waits until the device has done it, and for nothing else.
     *
     * @return ns; 0 until both ends were recorded, and where the device reports no time
     */
    @Override
    public synchronized long elapsedNs() {
        if (queue == null || !ended || !queue.await(end)) {
            return 0;
        }
        // What the stream answers instead of a time is negative.
        return Math.max(0, queue.elapsedNs(start, end));
    }

    /**
     * Why the timer reads 0, or what it could not do.
     *
     * @return the latest reason, or empty where there was no failure
     */
    public Optional<String> failure() {
        return failures.latest();
    }

    @Override
    public synchronized void close() {
        CudaQueue open = queue;
        queue = null;
        started = false;
        ended = false;
        if (open != null) {
            open.destroy(List.of(start, end));
            open.close();
        }
    }
}
