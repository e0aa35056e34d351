package org.brickprofiler.device.cuda;

import java.lang.ref.Reference;
import java.time.Duration;
import java.util.Arrays;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import jcuda.driver.CUcontext;
import jcuda.driver.CUstream;
import org.brickprofiler.device.DeviceStream;
import org.brickprofiler.device.MarkCost;
import org.brickprofiler.device.polling.Polling;
import org.brickprofiler.internal.base.Abandonment;
import org.brickprofiler.internal.base.CloseActions;
import org.brickprofiler.internal.base.Log;
import org.brickprofiler.internal.base.Plural;
import org.brickprofiler.internal.mark.GraphMarks;
import org.brickprofiler.internal.mark.MarkPool;
import org.jspecify.annotations.Nullable;

/**
 * A CUDA stream whose marks are events of the driver. The stream and its context belong to the application, or are made
 * here and released by {@link #close()}.
 *
 * <p>Setting a mark is one call of the driver, {@code cuEventRecord}, on a thread on which the stream's context is
 * current; on other threads the context is made current for this call, and the former context is restored. It takes no
 * lock and allocates nothing unless the pool of marks grows. Any thread.
 *
 * <p>Times come from {@code cuEventElapsedTime}, as a float in milliseconds: exact to the nanosecond only up to 16 ms,
 * and the device's clock may be coarser. Measure from a mark nearby.
 *
 * <p>Single kernels, for {@code KernelTimings}, are timed by a {@link org.brickprofiler.device.DispatchTimer} over this
 * stream.
 *
 * <h2>Failures</h2>
 *
 * Nothing is thrown because of the driver, whether or not the application lets JCuda throw. If the stream or its events
 * cannot be created, it is not usable, and {@link #failure()} gives the reason. The first failed call of each kind is
 * logged. If no more events can be created, the stream continues with the events that it has, and tries again once in
 * each pass in which they do not suffice. When the device is lost, or the green context of the stream destroyed, the
 * stream is not usable any more, and the only further call of the driver gives back a primary context.
 *
 * <h2>Capture</h2>
 *
 * While the application captures the stream into a graph, marks are set as always, but launches of the graph do not set
 * them: such a mark has no time, {@link #UNRESOLVED}. To time the bricks of a graph in each launch, capture within a
 * scope of {@link #capture()}. With {@link org.brickprofiler.BrickProfilerBuilder#deviceSampling}, bricks without marks
 * in a capture outside of a scope are unresolved, together with those of their pass, once a marked one among them has
 * no time; if none is marked, they count as if they had run. Until the capture ends, no mark is reached and
 * {@link #waitFor} returns false, because a query would spoil the capture. If the driver reports the time of an earlier
 * use of the event, no mark is set in a capture; opening a stream tests this with a capture of another stream.
 *
 * <p>The capture of another stream is not disturbed, unless marks are set in the default stream: see
 * {@link #onDefaultStream}.
 *
 * <h2>Closing</h2>
 *
 * Any thread may close the stream at any time. {@link #close()} waits for calls of the driver that other threads have
 * made, but not for the device: pending events may be destroyed, and {@link #waitFor} returns false. Later calls do
 * nothing: no mark is set, every mark counts as reached, and no time is known. Events are destroyed whichever context
 * is current on the thread; if the driver requires the stream's context, it is made current for some events at a time.
 *
 * <p>If neither the stream nor a handle that {@link #context()} or {@link #stream()} returned is reachable any more,
 * the garbage collector closes the stream, with a warning, if it was made in a primary context. In a context of the
 * application, its events stay until this context is destroyed, because the context may not exist any more.
 *
 * <h2>Waiting</h2>
 *
 * {@link #waitFor} polls the driver ({@code cuEventQuery}), with pauses of 20 us that grow in long waits. During a
 * pause it holds neither a monitor nor the stream's context, and a virtual thread releases its carrier. It gives up
 * after {@link Builder#waitTimeout}; then the stream {@link #isStalled()}, and the waiting samples are unresolved. With
 * {@link Builder#blockingSynchronisation()} it sleeps in the driver instead.
 */
public final class CudaStream implements DeviceStream {

    private static final Log LOG = Log.of(CudaStream.class);

    private static final int FIRST_MARKS = 1_024;
    private static final int MAX_MARKS = 1 << 16;

    private static final AtomicInteger LAST_NUMBER = new AtomicInteger();

    static {
        GraphMarks.register(
                stream -> stream instanceof CudaStream cuda && cuda.marks != null ? cuda.marks.graphs() : null);
    }

    private final String name;
    private final int deviceIndex;
    private final String deviceName;
    private final Optional<String> deviceUuid;
    private final Optional<String> pciAddress;
    private final int maxMarks;
    private final CudaFailures failures;
    private final CudaSupport support;

    /** Null if the stream, or the first event, could not be made. */
    private final @Nullable CudaMarks marks;

    // The application's handles; null if the marks are null, or if they are no objects of JCuda.
    private final @Nullable CUcontext context;
    private final @Nullable CUstream stream;

    private final long contextAddress;
    private final long streamAddress;

    private final CloseActions beforeClose = new CloseActions();
    private final AtomicBoolean closing = new AtomicBoolean();

    private CudaStream(Builder builder) {
        name = builder.name;
        maxMarks = builder.maxMarks;
        failures = new CudaFailures("CUDA stream '" + name + "'");
        support = builder.byAddresses ? CudaSupport.ofAddresses() : CudaSupport.probe();
        CudaQueue queue = open(support, builder.opening, failures);
        CudaHandle copy = queue == null ? null : copyOfContext(queue, failures);
        marks = queue == null || copy == null ? null : marksOf(queue, builder);
        contextAddress = copy == null ? 0 : copy.address();
        streamAddress = queue == null ? 0 : queue.stream().address();
        boolean isMadeByJCuda = builder.context == null && queue != null && queue.calls() instanceof JCudaCalls;
        context = isMadeByJCuda && copy != null ? JCudaCalls.objectOf(copy) : builder.context;
        stream = isMadeByJCuda && queue != null ? JCudaCalls.copyOf(queue.stream()) : builder.stream;
        deviceIndex = queue == null ? builder.ordinal : queue.context().ordinal();
        deviceName = support.deviceName(deviceIndex);
        deviceUuid = queue == null ? Optional.empty() : queue.context().deviceUuid(deviceName, failures);
        pciAddress = queue == null ? Optional.empty() : queue.context().pciAddress(failures);
    }

    private static @Nullable CudaQueue open(CudaSupport support, CudaQueue.Opening opening, CudaFailures failures) {
        CudaCalls calls = support.calls();
        if (calls == null || !support.isAvailable()) {
            failures.report(DriverCall.INIT, support.toString());
            return null;
        }
        try {
            return opening.open(calls, failures);
        } catch (CudaFailures.Refusal reported) {
            return null;
        }
    }

    private static @Nullable CudaHandle copyOfContext(CudaQueue queue, CudaFailures failures) {
        try {
            return queue.context().copy(failures);
        } catch (CudaFailures.Refusal reported) {
            queue.close(null);
            return null;
        }
    }

    private static @Nullable CudaMarks marksOf(CudaQueue queue, Builder builder) {
        CudaMarks marks = new CudaMarks(
                queue,
                builder.firstMarks,
                builder.maxMarks,
                builder.waitTimeoutNs,
                builder.blockingSynchronisation,
                builder.measuresMarks);
        if (marks.made() > 0) {
            return marks;
        }
        marks.close();
        return null;
    }

    /**
     * Returns the builder of a device stream for a CUDA stream of the application.
     *
     * @param context the stream's context, which must live until the result is closed
     * @param stream a stream in it, which must live as long; null, or one that was never created, for the default
     *     stream, whose marks can spoil captures of other streams: see {@link #onDefaultStream}
     * @return the builder
     * @throws IllegalArgumentException for the per-thread default stream, which is a different queue on each thread
     */
    public static Builder on(CUcontext context, @Nullable CUstream stream) {
        Objects.requireNonNull(context, "context");
        CUstream handle = stream == null ? new CUstream() : stream;
        Builder builder = new Builder(nameOf(JCudaCalls.addressOf(handle)), 0, CudaQueue.opening(context, handle));
        builder.context = context;
        builder.stream = handle;
        return builder;
    }

    /**
     * Returns the builder of a device stream for a CUDA stream of the application that is given by the driver's
     * addresses, for applications without JCuda. The driver is called through JNA ({@code net.java.dev.jna:jna}). The
     * name differs from that of {@link #on(CUcontext, CUstream)}, because javac resolves the parameter types of all
     * methods of one name, and JCuda may not be on the class path.
     *
     * <p>The addresses are the driver's {@code CUcontext} and {@code CUstream}, as numbers. A {@code cudaStream_t} of
     * CUDA's runtime is a {@code CUstream}, and {@code cuCtxGetCurrent} gives the context. With LWJGL and in JNI, these
     * are {@code long}s already; with the Foreign Function and Memory API, {@code MemorySegment.address()} returns
     * them; with JavaCPP, {@code Pointer.address()}.
     *
     * @param context the address of the stream's context, which must live until the result is closed
     * @param stream the address of a stream in it, which must live as long; 0 or 1 for the default stream, whose marks
     *     can spoil captures of other streams: see {@link #onDefaultStream}
     * @return the builder
     * @throws IllegalArgumentException if the context is 0, and for the per-thread default stream, which is a different
     *     queue on each thread
     */
    public static Builder onAddresses(long context, long stream) {
        Builder builder = new Builder(nameOf(stream), 0, CudaQueue.opening(context, stream));
        builder.byAddresses = true;
        return builder;
    }

    private static String nameOf(long stream) {
        CudaQueue.checkIsOne(stream);
        return CudaQueue.isDefault(stream) ? "default stream" : nextName();
    }

    /**
     * Returns the builder of a new stream in the primary context of a device. The stream waits for the default stream,
     * as streams of {@code cuStreamCreate} without flags do.
     *
     * @param ordinal the device's number
     * @return the builder
     * @throws IllegalArgumentException when the number is negative
     */
    public static Builder onDevice(int ordinal) {
        checkOrdinal(ordinal);
        return new Builder(
                nextName(), ordinal, (calls, failures) -> CudaQueue.ofDevice(calls, ordinal, true, failures));
    }

    /**
     * Returns the builder of the default stream in the primary context of a device.
     *
     * <p><b>A mark in a default stream can spoil a capture.</b> The default stream waits for all streams of its context
     * that were not made with {@code CU_STREAM_NON_BLOCKING}. While one of those is captured into a graph, by whichever
     * thread, the driver refuses work in the default stream, and invalidates the capture. A mark is then not set
     * ({@code CUDA_ERROR_STREAM_CAPTURE_IMPLICIT}, 906), and {@code cuStreamEndCapture} returns no graph. Setting a
     * mark does not query first whether such a stream is captured, because each mark would then be two calls of the
     * driver. An application that captures should do one of these:
     *
     * <ul>
     *   <li>capture streams that were made with {@code CU_STREAM_NON_BLOCKING} only: these are not affected;
     *   <li>put the work and its marks into a stream of their own, from {@link #on} or {@link #onDevice};
     *   <li>set no marks here during a capture: start and stop no bricks, or disable the profiler meanwhile.
     * </ul>
     *
     * @param ordinal the device's number
     * @return the builder
     * @throws IllegalArgumentException when the number is negative
     */
    public static Builder onDefaultStream(int ordinal) {
        checkOrdinal(ordinal);
        return new Builder(
                "default stream", ordinal, (calls, failures) -> CudaQueue.ofDevice(calls, ordinal, false, failures));
    }

    private static void checkOrdinal(int ordinal) {
        if (ordinal < 0) {
            throw new IllegalArgumentException("device " + ordinal + ": expected 0 or more");
        }
    }

    private static String nextName() {
        return "stream " + LAST_NUMBER.incrementAndGet();
    }

    @Override
    public int mark() {
        return marks == null || failures.isOver() ? NO_MARK : marks.set();
    }

    @Override
    public void release(int mark) {
        if (marks != null) {
            marks.release(mark);
        }
    }

    @Override
    public void release(int[] numbers, int count) {
        Objects.requireNonNull(numbers, "numbers");
        if (marks != null) {
            marks.release(numbers, count);
        }
    }

    @Override
    public boolean isReached(int mark) {
        return marks == null || marks.isReached(mark);
    }

    @Override
    public long elapsedNs(int from, int to) {
        return marks == null ? UNRESOLVED : marks.elapsedNs(from, to);
    }

    @Override
    public void elapsedNs(int[] numbers, int count, long[] ns) {
        Objects.requireNonNull(numbers, "numbers");
        Objects.requireNonNull(ns, "ns");
        if (marks == null) {
            Arrays.fill(ns, 0, count, UNRESOLVED);
        } else {
            marks.elapsedNs(numbers, count, ns);
        }
    }

    /**
     * Opens a scope around the application's capture of this stream into a graph, so that the bricks within are timed
     * in each launch of the graph: see {@link CudaCapture}. Open it before {@code cuStreamBeginCapture}: otherwise the
     * bricks of the first launch are unresolved.
     *
     * @return the open scope. It has no effect if this stream is not {@linkplain #isUsable usable}, or if the driver
     *     supports only CUDA 11.0, which is reported
     * @throws IllegalStateException if a scope of this stream is open already, or for the default stream, which cannot
     *     be captured
     */
    public CudaCapture capture() {
        if (marks == null || !isUsable()) {
            return new CudaCapture(null, GraphMarks.NONE);
        }
        if (!marks.queue().canBeCaptured()) {
            throw new IllegalStateException(
                    "stream '" + name + "' is the default stream, which CUDA cannot capture: capture another stream");
        }
        if (!support.recordsInGraphs()) {
            failures.report(
                    DriverCall.EVENT_RECORD_WITH_FLAGS,
                    "bricks of captured graphs are unresolved: timing them needs a driver for CUDA 11.1 or later, and"
                            + " this is " + support);
            return new CudaCapture(null, GraphMarks.NONE);
        }
        int capture = marks.graphs().open();
        if (capture == GraphMarks.NONE) {
            throw new IllegalStateException(
                    "a capture scope of stream '" + name + "' is open already: close it before the next one is opened");
        }
        return new CudaCapture(marks.graphs(), capture);
    }

    /** Lets the next thread that needs an event try once more to create events, if that failed before. */
    @Override
    public void passEnded() {
        if (marks != null && !failures.isOver()) {
            marks.tryAgain();
        }
    }

    /**
     * Measures what marks add, once in a context: by some hundred empty kernels in a stream of its own, which takes
     * some milliseconds, and more if the driver has to compile them. It waits one second at most. Does nothing while
     * this stream, or one that the default stream waits for, is captured.
     */
    @Override
    public void measureMarks() {
        if (marks != null && !failures.isOver()) {
            marks.measure();
        }
    }

    @Override
    public MarkCost markCost() {
        return marks == null ? MarkCost.unknown("the stream is not usable") : marks.cost();
    }

    @Override
    public boolean waitFor(int mark) {
        try {
            return marks != null && marks.waitFor(mark);
        } finally {
            // Keeps the stream reachable: it would be closed during the wait otherwise.
            Reference.reachabilityFence(this);
        }
    }

    @Override
    public boolean isStalled() {
        return marks != null && marks.isStalled();
    }

    /** Returns false if a query would have to make the stream's context current on the calling thread. */
    @Override
    public boolean answersHere() {
        return marks == null || marks.isClosed() || marks.queue().answersHere();
    }

    @Override
    public void beforeClose(Runnable action) {
        Objects.requireNonNull(action, "action");
        beforeClose.add(action);
    }

    @Override
    public void close() {
        if (closing.compareAndSet(false, true)) {
            beforeClose.run();
            if (marks != null) {
                failures.end();
                marks.close();
            }
        }
    }

    @Override
    public boolean isUsable() {
        return marks != null && !failures.isLost() && !marks.isClosed();
    }

    @Override
    public Optional<String> failure() {
        return failures.latest().or(() -> isUsable() ? Optional.empty() : Optional.of("the stream is closed"));
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public String backend() {
        return "CUDA";
    }

    @Override
    public String deviceName() {
        return deviceName;
    }

    @Override
    public int deviceIndex() {
        return deviceIndex;
    }

    /**
     * Returns the UUID of the device. For a part of a GPU (MIG), it is that of the part, which only
     * {@code CUDA_VISIBLE_DEVICES} contains; empty if the variable does not contain it.
     */
    @Override
    public Optional<String> deviceUuid() {
        return deviceUuid;
    }

    @Override
    public Optional<String> pciAddress() {
        return pciAddress;
    }

    @Override
    public int maxMarks() {
        return maxMarks;
    }

    /**
     * Returns the context that the stream is in.
     *
     * @return the driver's handle. Do not destroy it and, if it was made here, do not use it after {@link #close()}.
     *     Keep this object, rather than the number in it, as long as the handle is used
     * @throws IllegalStateException if the stream could not be made, or is bound through JNA: see
     *     {@link #contextAddress()}
     */
    public CUcontext context() {
        return object(context, "contextAddress");
    }

    /**
     * Returns the stream to enqueue work in.
     *
     * @return the driver's handle, for the default stream one of 0; the rules of {@link #context()} apply
     * @throws IllegalStateException if the stream could not be made, or is bound through JNA: see
     *     {@link #streamAddress()}
     */
    public CUstream stream() {
        return object(stream, "streamAddress");
    }

    /**
     * Returns the address of the context that the stream is in, for other libraries than JCuda.
     *
     * @return the driver's {@code CUcontext}. Do not destroy it and, if it was made here, do not use it after
     *     {@link #close()}. Keep this stream as long as the address is used
     * @throws IllegalStateException if the stream could not be made
     */
    public long contextAddress() {
        checkIsMade();
        return contextAddress;
    }

    /**
     * Returns the address of the stream to enqueue work in, for other libraries than JCuda.
     *
     * @return the driver's {@code CUstream}, for the default stream 0 or 1; the rules of {@link #contextAddress()}
     *     apply
     * @throws IllegalStateException if the stream could not be made
     */
    public long streamAddress() {
        checkIsMade();
        return streamAddress;
    }

    private <T> T object(@Nullable T handle, String instead) {
        checkIsMade();
        if (handle == null) {
            throw new IllegalStateException(
                    name + " is not bound through JCuda, so there is no object of JCuda's: call " + instead + "()");
        }
        return handle;
    }

    private void checkIsMade() {
        if (marks == null) {
            throw new IllegalStateException(
                    "there is no " + name + ": " + failure().orElse("it could not be made"));
        }
    }

    /** Lets the garbage collector close a stream that was dropped, together with its handles, without being closed. */
    private void closeWhenAbandoned() {
        if (marks == null) {
            return;
        }
        Runnable action = new Abandoned(name, marks, failures);
        boolean isOurs = marks.queue().context().isRetained();
        if (isOurs && context != null && stream != null) {
            Abandonment.whenUnreachable(action, this, context, stream);
        } else {
            Abandonment.whenUnreachable(action, this);
        }
    }

    /**
     * Closes a garbage-collected stream that was never closed. It must not refer to the stream or its handles, which
     * would then stay reachable.
     */
    private record Abandoned(String name, CudaMarks marks, CudaFailures failures) implements Runnable {
        @Override
        public void run() {
            if (marks.isClosed()) {
                return;
            }
            boolean isOurs = marks.queue().context().isRetained();
            LOG.warn(
                    "CUDA stream '{}' was never closed and is unreachable: {}. Close streams",
                    name,
                    isOurs
                            ? "it is closed now"
                            : Plural.of(marks.made(), "event stays", "events stay")
                                    + " in the application's context until that is destroyed");
            if (isOurs) {
                failures.end();
                marks.close();
            }
        }
    }

    /** Settings of a stream that is to be made. One thread. */
    public static final class Builder {

        private final int ordinal;
        private final CudaQueue.Opening opening;

        // The application's objects, if there are any.
        private @Nullable CUcontext context;
        private @Nullable CUstream stream;

        private boolean byAddresses;
        private String name;
        private int firstMarks = FIRST_MARKS;
        private int maxMarks = MAX_MARKS;
        private long waitTimeoutNs = Polling.timeoutNs(DEFAULT_WAIT_TIMEOUT);
        private boolean blockingSynchronisation;
        private boolean measuresMarks = true;

        private Builder(String name, int ordinal, CudaQueue.Opening opening) {
            this.name = name;
            this.ordinal = ordinal;
            this.opening = opening;
        }

        /**
         * Sets the name of the stream in reports.
         *
         * @param streamName a name, unique among the streams of its device; by default "stream" and a number, or
         *     "default stream"
         * @return this
         */
        public Builder name(String streamName) {
            Objects.requireNonNull(streamName, "streamName");
            name = streamName;
            return this;
        }

        /**
         * Sets the number of marks.
         *
         * @param first the number that is made at once; by default 1,024
         * @param most the largest number, which is reached as needed; by default 65,536
         * @return this
         * @throws IllegalArgumentException when {@code most} is not in 1 to {@value MarkPool#MAX_BOUND}, or
         *     {@code first} not in 1 to {@code most}
         */
        public Builder marks(int first, int most) {
            MarkPool.requireNumbers(first, most);
            firstMarks = first;
            maxMarks = most;
            return this;
        }

        /**
         * Sets the timeout of a wait for the device. After it, the device seems to hang: the waiting samples are
         * unresolved, which is logged once, and the stream {@link #isStalled()}. Set a longer timeout if the work
         * between two boundaries takes longer.
         *
         * @param timeout more than zero; by default {@link DeviceStream#DEFAULT_WAIT_TIMEOUT}
         * @return this
         * @throws IllegalArgumentException when the timeout is zero or negative
         */
        public Builder waitTimeout(Duration timeout) {
            waitTimeoutNs = Polling.timeoutNs(Objects.requireNonNull(timeout, "timeout"));
            return this;
        }

        /**
         * Lets a thread that waits sleep in the driver until the device interrupts the host ({@code cuEventSynchronize}
         * of events with {@code CU_EVENT_BLOCKING_SYNC}), instead of polling. This costs the least CPU time, and a wait
         * ends without the delay of a pause. The driver has no timeout: if the device hangs, the thread hangs, and
         * {@link #close()} gives up after {@link #waitTimeout}. Virtual threads, and threads on which the stream's
         * context is not current, poll nevertheless.
         *
         * @return this
         */
        public Builder blockingSynchronisation() {
            blockingSynchronisation = true;
            return this;
        }

        /**
         * Does not {@linkplain CudaStream#measureMarks() measure} what marks add: the profiler launches no kernels
         * then, and there are no net times.
         *
         * @return this
         */
        public Builder withoutNetTimes() {
            measuresMarks = false;
            return this;
        }

        /**
         * Makes the stream and its first marks. Loads a binding and the driver if they are not loaded yet.
         *
         * @return a stream; if CUDA is not available or the driver refuses, one that is not usable and gives the reason
         */
        public CudaStream open() {
            CudaStream opened = new CudaStream(this);
            opened.closeWhenAbandoned();
            return opened;
        }
    }
}
