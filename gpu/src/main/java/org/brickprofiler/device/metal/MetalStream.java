package org.brickprofiler.device.metal;

import java.lang.ref.Reference;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.brickprofiler.device.DeviceStream;
import org.brickprofiler.device.MarkCost;
import org.brickprofiler.device.polling.Polling;
import org.brickprofiler.internal.base.Abandonment;
import org.brickprofiler.internal.base.CloseActions;
import org.brickprofiler.internal.base.Log;
import org.brickprofiler.internal.mark.MarkPool;
import org.jspecify.annotations.Nullable;

/**
 * A Metal command queue as a device stream, over the shim in {@code native/metal-shim}. Any thread; only
 * {@link #waitFor} waits, and it must not be called from a completed handler.
 *
 * <h2>Marks</h2>
 *
 * Metal executes command buffers, and offers no free event between them. The application therefore passes each command
 * buffer to the stream as soon as it is made ({@link #watch}), and the stream numbers the command buffers. A mark
 * records the highest number so far, and the time at which it was set, on the clock of the device's times. The device
 * reaches a mark when it has ended that command buffer and all earlier ones, but not before the mark was set. The time
 * of a mark is the later of the two, like that of an event in another device's queue. On an idle device, the time from
 * a mark to the end of the following work therefore includes the time in which the host encodes and commits this work;
 * {@link FinishedBuffer} reports the device's time alone.
 *
 * <p>A time that cannot be known is {@link #UNRESOLVED}, and each reason is logged once:
 *
 * <ul>
 *   <li>A mark that is set before a watched command buffer is committed lies inside of this command buffer, and Metal
 *       does not report when the device reached this place. Marks therefore cannot distinguish bricks that share a
 *       command buffer. Give each brick its own command buffer, or sample counters ({@link #sampleCounters}) and see
 *       {@link FinishedBuffer.Dispatch}.
 *   <li>A mark follows a command buffer whose end the device did not report, or that was evicted before the time of the
 *       mark was queried.
 *   <li>A command buffer between two marks ended with an error, so its work is not done. Both marks have times:
 *       intervals that end at the first mark or begin at the second are known.
 *   <li>A brick has no watched command buffer between its two marks, not counting forgotten ones ({@link #forget}). The
 *       time between the marks is then the host's and not the device's ({@link #hasWorkBetween}).
 * </ul>
 *
 * <p>A brick therefore consists of the command buffers that are watched between its two marks. Start and stop a brick
 * only when every watched command buffer is committed. An enclosing brick shares the command buffers of the bricks
 * nested in it.
 *
 * <p>Marks ignore a command buffer that is not watched. The stream cannot detect that a command buffer was watched only
 * after work was encoded into it: marks that were set in between count as set before all of its work.
 *
 * <h2>Command buffers and dispatches</h2>
 *
 * {@link #drain(Consumer, Consumer)} passes on the command buffers that have ended since the last call. One line
 * records them as kernel timings:
 *
 * <pre>{@code
 * stream.drain(Backend.METAL, timings::recordCommandBuffer, timings::recordDispatch);
 * }</pre>
 */
public final class MetalStream implements DeviceStream {

    private static final Log LOG = Log.of(MetalStream.class);

    /** The value of {@link #watch} for a command buffer that is not watched. */
    public static final long NOT_WATCHED = 0;

    private final long stream;
    private final String name;
    private final String deviceName;
    private final int maxMarks;
    private final MetalFailures failures;
    private final BufferReader finished;
    private final CounterReader counters;
    /** Null if the stream was refused. */
    private final @Nullable QueueMarks marks;

    /** The reason why the stream was refused. */
    private final @Nullable String refusal;

    private final CloseActions beforeClose = new CloseActions();

    /** Whether {@link #queue} has returned the address of the queue, so that the application may still use it. */
    private final AtomicBoolean queueIsGiven = new AtomicBoolean();

    private final long waitTimeoutNs;

    /** The condition of {@link #waitFor}: queries once whether the command buffers before a mark have ended. */
    private final Polling.Question beforeMark = this::pollFor;

    private volatile boolean closed;

    /** Whether a wait has timed out, and none has succeeded since. */
    private volatile boolean stalled;

    /** Creates the stream for a stream number of the shim, or a stream without effect if it was refused. */
    MetalStream(Builder builder, long stream, @Nullable String refusal, String queueLabel, String deviceName) {
        this.stream = stream;
        this.refusal = refusal;
        this.closed = refusal != null;
        this.name = builder.nameOr(queueLabel, stream);
        this.deviceName = deviceName.isEmpty() ? "Metal device" : deviceName;
        this.maxMarks = builder.maxMarks();
        this.waitTimeoutNs = builder.waitTimeoutNs;
        this.failures = new MetalFailures(name);
        this.finished = new BufferReader(stream, builder.buffers(), closed, failures);
        this.counters = new CounterReader(stream, closed, failures);
        this.marks = closed ? null : new QueueMarks(stream, builder.firstMarks(), maxMarks, finished, failures);
        if (refusal != null) {
            failures.report(MetalFailures.Kind.CALL, refusal);
        }
    }

    // ---- opening ----

    /**
     * Returns the builder of a stream with its own queue on the default device. Make command buffers from
     * {@link #queue()}.
     *
     * @return the builder
     */
    public static Builder onDevice() {
        return new Builder(0);
    }

    /**
     * Returns the builder of a stream that follows a queue of the application.
     *
     * @param commandQueue an {@code id<MTLCommandQueue>}; it is retained until the stream is closed
     * @return the builder
     * @throws IllegalArgumentException when the queue is 0
     */
    public static Builder on(long commandQueue) {
        if (commandQueue == 0) {
            throw new IllegalArgumentException("commandQueue must not be 0");
        }
        return new Builder(commandQueue);
    }

    /** Lets the garbage collector close a stream that was dropped without being closed. */
    private void closeWhenAbandoned(boolean ownsQueue) {
        Abandonment.whenUnreachable(new Abandoned(name, stream, finished, counters, ownsQueue, queueIsGiven), this);
    }

    /**
     * Closes a garbage-collected stream that was never closed. It must not refer to the stream, which would then stay
     * reachable.
     */
    private record Abandoned(
            String name,
            long stream,
            BufferReader finished,
            CounterReader counters,
            boolean ownsQueue,
            AtomicBoolean queueIsGiven)
            implements Runnable {
        @Override
        public void run() {
            if (finished.isClosed()) {
                return;
            }
            // The application may still use the address.
            boolean isLeft = ownsQueue && queueIsGiven.get();
            LOG.warn(
                    "Metal stream {} was never closed and is unreachable: {}. Close streams",
                    name,
                    isLeft ? "its queue, whose address the application has, is kept" : "it is closed now");
            if (!isLeft) {
                finished.close();
                counters.close();
                MetalShim.close(stream);
            }
        }
    }

    // ---- calls of the application ----

    /**
     * Returns the command queue that this stream follows.
     *
     * @return an {@code id<MTLCommandQueue>}, valid as long as the stream is open; 0 once it is closed
     */
    public long queue() {
        if (closed) {
            return 0;
        }
        queueIsGiven.set(true);
        return MetalShim.queue(stream);
    }

    /**
     * Watches a command buffer. Call it as soon as the command buffer is made, and before it is committed. Commit
     * command buffers in the order in which they are watched.
     *
     * @param commandBuffer an {@code id<MTLCommandBuffer>} of this queue; it is retained until it has ended
     * @param label its purpose, for reports; null or empty for the command buffer's own label
     * @return its number, from 1; {@link #NOT_WATCHED} if the stream is closed or the shim refused, and marks then
     *     ignore the command buffer
     */
    public long watch(long commandBuffer, @Nullable String label) {
        if (closed) {
            return NOT_WATCHED;
        }
        long sequence = MetalShim.watch(stream, commandBuffer, label);
        if (sequence < 0) {
            failures.report(MetalFailures.Kind.UNWATCHED, "a command buffer is not watched: " + MetalShim.failure());
            return NOT_WATCHED;
        }
        finished.makeRoom(sequence);
        return sequence;
    }

    /**
     * Stops watching a command buffer that will never be committed. Until this call, each new mark lies inside of this
     * command buffer, and its time is unresolved.
     *
     * @param sequence its number
     * @return false if it was committed, has ended or is not watched, or if the stream is closed
     */
    public boolean forget(long sequence) {
        return !closed && MetalShim.forget(stream, sequence) == MetalShim.OK;
    }

    /**
     * Starts sampling the device's counters. If the device cannot do this, only command buffers are timed, and a
     * warning is logged once.
     *
     * @param where the boundaries at which counters are sampled
     * @param dispatches the maximum number of passes or dispatches that wait to be drained, 1 to 2,048
     * @return false if counters are not sampled
     */
    public boolean sampleCounters(CounterSampling where, int dispatches) {
        return counters.begin(where, dispatches);
    }

    /**
     * Samples counters at the beginning and the end of a pass, with {@link CounterSampling#STAGE_BOUNDARY}.
     *
     * @param sequence the number of the watched command buffer
     * @param passDescriptor the {@code MTLComputePassDescriptor} that the encoder will be made with
     * @param operation the name of the pass; not empty
     * @return false if it is not sampled
     */
    public boolean samplePass(long sequence, long passDescriptor, String operation) {
        Objects.requireNonNull(operation, "operation");
        return counters.samplePass(sequence, passDescriptor, operation);
    }

    /**
     * Samples counters before a dispatch, with {@link CounterSampling#DISPATCH_BOUNDARY}.
     *
     * @param sequence the number of the watched command buffer
     * @param encoder an {@code id<MTLComputeCommandEncoder>} of that command buffer
     * @param operation the name of the dispatch; not empty
     * @return a ticket for {@link #endDispatch}; negative if it is not sampled
     */
    public long beginDispatch(long sequence, long encoder, String operation) {
        Objects.requireNonNull(operation, "operation");
        return counters.beginDispatch(sequence, encoder, operation);
    }

    /**
     * Samples counters after a dispatch.
     *
     * @param ticket the ticket that {@link #beginDispatch} returned; a negative ticket is ignored
     * @param encoder the same encoder
     */
    public void endDispatch(long ticket, long encoder) {
        counters.endDispatch(ticket, encoder);
    }

    // ---- marks ----

    @Override
    public int mark() {
        return marks != null && isUsable() ? marks.mark() : NO_MARK;
    }

    @Override
    public boolean isReached(int mark) {
        return closed || marks == null || marks.isReached(mark);
    }

    @Override
    public long elapsedNs(int from, int to) {
        return closed || marks == null ? UNRESOLVED : marks.elapsedNs(from, to);
    }

    @Override
    public boolean hasWorkBetween(int from, int to) {
        return closed || marks == null || marks.hasWorkBetween(from, to);
    }

    /**
     * Polls until the mark is reached or the timeout has passed, with pauses in which a virtual thread releases its
     * carrier.
     */
    @Override
    public boolean waitFor(int mark) {
        try {
            Polling.Answer answer = Polling.SYSTEM.await(beforeMark, mark, waitTimeoutNs);
            if (answer == Polling.Answer.REACHED) {
                stalled = false;
                finished.poll();
                return isUsable();
            }
            if (answer == Polling.Answer.NOT_YET) {
                stalled = true;
                failures.report(
                        MetalFailures.Kind.TIMEOUT,
                        "the device did not reach a mark within the timeout of " + waitTimeoutNs / 1_000_000 + " ms ("
                                + MetalShim.failure()
                                + "): waiting samples are unresolved. If work takes longer than that,"
                                + " set waitTimeout");
            }
            return false;
        } finally {
            // Keeps the stream reachable: it would be closed during the wait otherwise.
            Reference.reachabilityFence(this);
        }
    }

    private Polling.Answer pollFor(int mark) {
        if (marks == null || !isUsable()) {
            return Polling.Answer.REFUSED;
        }
        int code = MetalShim.pollFor(stream, marks.sequence(mark));
        if (code != MetalShim.OK && code != MetalShim.PENDING && !closed) {
            failures.report(MetalFailures.Kind.CALL, "could not wait: " + MetalShim.failure());
        }
        return switch (code) {
            case MetalShim.OK -> Polling.Answer.REACHED;
            case MetalShim.PENDING -> Polling.Answer.NOT_YET;
            default -> Polling.Answer.REFUSED;
        };
    }

    @Override
    public boolean isStalled() {
        return stalled;
    }

    @Override
    public void release(int mark) {
        if (marks != null) {
            marks.release(mark);
        }
    }

    @Override
    public int maxMarks() {
        return maxMarks;
    }

    // ---- finished command buffers ----

    /**
     * Passes on the command buffers that have ended since the last call, in order, and then their sampled dispatches.
     * The consumers run on the calling thread. If several threads call this method, one of them receives each command
     * buffer and each dispatch. After {@link #close()}, the method passes on only command buffers that had ended by
     * then, and no dispatches.
     *
     * @param buffers receives the command buffers, including those without times
     * @param dispatches receives the dispatches
     */
    public void drain(Consumer<? super FinishedBuffer> buffers, Consumer<? super FinishedBuffer.Dispatch> dispatches) {
        Objects.requireNonNull(dispatches, "dispatches");
        Objects.requireNonNull(buffers, "buffers");
        finished.poll();
        FinishedBuffer next = finished.next();
        while (next != null) {
            buffers.accept(next);
            next = finished.next();
        }
        counters.drain(dispatches);
    }

    /**
     * Passes on the same command buffers and dispatches as labels and times, for classes such as {@code KernelTimings}.
     * Skips command buffers without times.
     *
     * @param <B> the type that identifies a backend
     * @param backend the backend to pass on
     * @param timings receives the command buffers
     * @param dispatches receives the dispatches
     */
    public <B> void drain(B backend, BufferTimings<B> timings, DispatchTimings<B> dispatches) {
        Objects.requireNonNull(backend, "backend");
        Objects.requireNonNull(timings, "timings");
        Objects.requireNonNull(dispatches, "dispatches");
        drain(
                buffer -> {
                    if (buffer.isTimed()) {
                        timings.record(buffer.label(), backend, buffer.gpuStartNs(), buffer.gpuEndNs());
                    }
                },
                dispatch -> dispatches.record(
                        dispatch.label(),
                        backend,
                        dispatch.operation(),
                        dispatch.index(),
                        dispatch.startNs(),
                        dispatch.endNs()));
    }

    /**
     * Returns how many command buffers were evicted before they were drained.
     *
     * @return 0 or more
     */
    public long lostBuffers() {
        return finished.lost();
    }

    /**
     * Returns how many dispatches were not timed, because there was no room for them or the device reported no time.
     *
     * @return 0 or more
     */
    public long lostDispatches() {
        return counters.lost();
    }

    // ---- the stream ----

    @Override
    public String name() {
        return name;
    }

    @Override
    public String backend() {
        return "METAL";
    }

    @Override
    public MarkCost markCost() {
        return MarkCost.unknown("Metal reports no time between the dispatches of an encoder");
    }

    @Override
    public String deviceName() {
        return deviceName;
    }

    /** Returns 0, because Metal does not number devices. */
    @Override
    public int deviceIndex() {
        return 0;
    }

    @Override
    public boolean isUsable() {
        return !closed && !finished.deviceLost();
    }

    @Override
    public Optional<String> failure() {
        return closed && refusal == null ? Optional.of("the stream is closed") : failures.latest();
    }

    @Override
    public void beforeClose(Runnable action) {
        Objects.requireNonNull(action, "action");
        beforeClose.add(action);
    }

    @Override
    public void close() {
        beforeClose.run();
        if (!closed) {
            finished.close();
            counters.close();
            closed = true;
            MetalShim.close(stream);
        }
    }

    /** The boundaries at which a device can sample counters, to time parts of a command buffer. */
    public enum CounterSampling {

        /** The beginning and the end of a pass: each encoder is timed. Apple silicon supports this. */
        STAGE_BOUNDARY(0),

        /**
         * Before and after each dispatch of an encoder, with a barrier. The barriers keep dispatches from overlapping,
         * so the sum of their times is an upper bound of their time without barriers.
         */
        DISPATCH_BOUNDARY(1);

        private final int point;

        CounterSampling(int point) {
            this.point = point;
        }

        /** Returns the shim's number of this boundary. */
        int point() {
            return point;
        }
    }

    /**
     * Receives command buffers, as {@code KernelTimings.recordCommandBuffer} does.
     *
     * @param <B> the type that identifies a backend
     */
    @FunctionalInterface
    public interface BufferTimings<B> {
        /**
         * Records one command buffer.
         *
         * @param label its purpose; never empty
         * @param backend the backend on which it ran
         * @param startNs when the device began it, ns of the host's clock
         * @param endNs when the device ended it, ns, {@code startNs} or more
         */
        void record(String label, B backend, long startNs, long endNs);
    }

    /**
     * Receives dispatches, as {@code KernelTimings.recordDispatch} does.
     *
     * @param <B> the type that identifies a backend
     */
    @FunctionalInterface
    public interface DispatchTimings<B> {
        /**
         * Records one dispatch.
         *
         * @param label the purpose of its command buffer; never empty
         * @param backend the backend on which it ran
         * @param operation its name; never empty
         * @param index its place among the sampled dispatches of its command buffer, from 0
         * @param startNs when the device began it, ns of the host's clock
         * @param endNs when the device ended it, ns, {@code startNs} or more
         */
        void record(String label, B backend, String operation, int index, long startNs, long endNs);
    }

    /** Settings of a stream that is to be opened. One thread. */
    public static final class Builder {

        private static final int MAX_BUFFERS = 1 << 16;

        private final long commandQueue;

        private @Nullable String name;
        private int buffers = 4_096;
        private int firstMarks = 1_024;
        private int maxMarks = 1 << 16;
        private long waitTimeoutNs = Polling.timeoutNs(DEFAULT_WAIT_TIMEOUT);

        Builder(long commandQueue) {
            this.commandQueue = commandQueue;
        }

        /**
         * Sets the name of the stream in reports.
         *
         * @param streamName a name, unique among the streams of its device; by default the label of the queue or, if it
         *     has none, "queue" and a number
         * @return this
         */
        public Builder name(String streamName) {
            Objects.requireNonNull(streamName, "streamName");
            name = streamName;
            return this;
        }

        /**
         * Sets how many of the latest command buffers the stream keeps, for {@link #drain(Consumer, Consumer)} and for
         * the times of marks. It evicts older ones.
         *
         * @param count a power of two from 2 to 65,536; by default 4,096
         * @return this
         * @throws IllegalArgumentException when it is another number
         */
        public Builder buffers(int count) {
            if (count < 2 || count > MAX_BUFFERS || Integer.bitCount(count) != 1) {
                throw new IllegalArgumentException(
                        "buffers " + count + ": expected a power of two from 2 to " + MAX_BUFFERS);
            }
            buffers = count;
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
         * Opens the stream. Loads the library if it is not loaded yet.
         *
         * @return a stream; if Metal is not available or refuses, one that is not usable and gives the reason
         */
        public MetalStream open() {
            MetalSupport support = MetalSupport.probe();
            if (!support.isAvailable()) {
                return new MetalStream(this, 0, support.toString(), "", "");
            }
            long stream = MetalShim.open(commandQueue, buffers);
            if (stream < 0) {
                return new MetalStream(this, 0, MetalShim.failure(), "", "");
            }
            byte[] label = new byte[MetalShim.LABEL_BYTES];
            byte[] device = new byte[MetalShim.LABEL_BYTES];
            // Values that Metal does not report are left empty.
            MetalShim.names(stream, label, label.length, device, device.length);
            MetalStream opened = new MetalStream(this, stream, null, ShimRecords.text(label), ShimRecords.text(device));
            opened.closeWhenAbandoned(commandQueue == 0);
            return opened;
        }

        /**
         * Returns the name that was set; otherwise the queue's label or, if it has none, "queue" and the stream's
         * number.
         */
        String nameOr(String label, long stream) {
            if (name != null) {
                return name;
            }
            return label.isEmpty() ? "queue " + stream : label;
        }

        int buffers() {
            return buffers;
        }

        int firstMarks() {
            return firstMarks;
        }

        int maxMarks() {
            return maxMarks;
        }
    }
}
