package org.brickprofiler.device.metal;

import java.lang.ref.Reference;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.brickprofiler.device.DeviceStream;
import org.brickprofiler.internal.io.Abandonment;
import org.brickprofiler.internal.io.CloseActions;
import org.brickprofiler.internal.io.MarkPool;
import org.brickprofiler.internal.io.Polling;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A Metal command queue as a device stream, over the shim in {@code native/metal-shim}. Any thread; only
 * {@link #waitFor} waits, and it must not be called from a completed handler.
 *
 * <h2>Marks</h2>
 *
 * Metal works in command buffers, and has no event between them that costs nothing. So the application passes each
 * command buffer to the stream as soon as it is made ({@link #watch}), and the stream numbers them. A mark holds the
 * highest number so far and the time at which it was set, on the clock of the device's times. It is reached when the
 * device has ended this command buffer and all before it, but not before it was set: at the later of the two times,
 * like an event in another device's queue. On an idle device, the time from a mark to the end of the following work
 * therefore includes the time in which the host encodes and commits it; {@link FinishedBuffer} has the device's time
 * alone.
 *
 * <p>A time that cannot be known is {@link #UNRESOLVED}, and each reason is logged once:
 *
 * <ul>
 *   <li>A mark that is set while a watched command buffer is not committed lies inside of it, and Metal does not report
 *       when the device reached this place. So marks cannot distinguish bricks that share a command buffer. Give each
 *       brick its own, or sample counters ({@link #sampleCounters}) and see {@link FinishedBuffer.Dispatch}.
 *   <li>A mark behind a command buffer whose end the device did not report, or which was evicted before its time was
 *       queried.
 *   <li>The time between two marks if a command buffer between them ended with an error: its work is not done. Both
 *       marks have times, so the times before and behind them are known.
 *   <li>A brick without a watched command buffer between its two marks, apart from abandoned ones: the time between
 *       them is the host's and not the device's ({@link #hasWorkBetween}).
 * </ul>
 *
 * <p>So a brick consists of the command buffers that are watched between its two marks. Start and stop it when every
 * watched command buffer is committed. A brick around others shares their command buffers.
 *
 * <p>A command buffer that is not watched does not count. The stream cannot detect that a command buffer was watched
 * only after work was encoded into it: marks that were set in between count as set before all of its work.
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

    private static final Logger LOG = LoggerFactory.getLogger(MetalStream.class);

    /** Takes the place of the number of a command buffer that is not watched. */
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

    /** Whether the application has the address of a queue that is this stream's own. */
    private final AtomicBoolean queueIsGiven = new AtomicBoolean();

    private final long waitTimeoutNs;

    /** Queries once, for a wait, whether the command buffers before a mark have ended. */
    private final Polling.Question beforeMark = this::pollFor;

    private volatile boolean closed;

    /** Whether the latest wait ended after its timeout. */
    private volatile boolean stalled;

    /** Makes the stream of a number of the shim, or one without effect if Metal refused it. */
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
     * Returns a stream with a queue of its own on the default device; make command buffers from {@link #queue()}.
     *
     * @return its builder
     */
    public static Builder onDevice() {
        return new Builder(0);
    }

    /**
     * Returns a stream that follows a queue of the application.
     *
     * @param commandQueue an {@code id<MTLCommandQueue>}; it is retained until the stream is closed
     * @return its builder
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

    /** Closes a stream that is garbage collected; refers to nothing that the application holds. */
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
                    "Metal stream {} was never closed and nobody has it any more: {}. Close streams",
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
     * Returns the queue that is followed.
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
     * @param label its purpose, for reports; null for its own label
     * @return its number, from 1; {@link #NOT_WATCHED} if Metal refused, and marks do not count it
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
     * Gives up a watched command buffer that will never be committed. Until this call, marks lie inside of it.
     *
     * @param sequence its number
     * @return false if it was committed, has ended, or is not watched
     */
    public boolean forget(long sequence) {
        return !closed && MetalShim.forget(stream, sequence) == MetalShim.OK;
    }

    /**
     * Begins to sample counters. If the device cannot do this, the times of command buffers are used, and a warning is
     * logged once.
     *
     * @param where the boundaries
     * @param dispatches the most passes or dispatches that wait to be drained, 1 to 2,048
     * @return false if they are not sampled
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
     * @param ticket what {@link #beginDispatch} returned; a negative one does nothing
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

    /** Polls until the timeout, with pauses in which a virtual thread releases its carrier. */
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
                        "the device did not come to a mark within the timeout of " + waitTimeoutNs / 1_000_000 + " ms ("
                                + MetalShim.failure()
                                + "): what waits for it is unresolved. Where work takes longer than"
                                + " that, set waitTimeout");
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
     * Hands over the command buffers that have ended since the last call, in order, and then their sampled dispatches.
     * Each goes to one caller, on its thread. After {@link #close()}, only command buffers that had ended by then.
     *
     * @param buffers gets the command buffers, also those without times
     * @param dispatches gets the dispatches
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
     * Hands over the same to code that takes labels and times, such as {@code KernelTimings}. Command buffers without
     * times are left out.
     *
     * @param <B> how backends are named
     * @param backend passed on
     * @param timings gets the command buffers
     * @param dispatches gets the dispatches
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
         * Between the dispatches of an encoder, each behind a barrier. The barriers keep dispatches from overlapping,
         * so the sum of their times is an upper bound of their time without barriers.
         */
        DISPATCH_BOUNDARY(1);

        private final int point;

        CounterSampling(int point) {
            this.point = point;
        }

        /** Returns the shim's number for it. */
        int point() {
            return point;
        }
    }

    /**
     * Takes command buffers, as {@code KernelTimings.recordCommandBuffer} does.
     *
     * @param <B> how backends are named
     */
    @FunctionalInterface
    public interface BufferTimings<B> {
        /**
         * Takes one command buffer.
         *
         * @param label its purpose; never empty
         * @param backend where it ran
         * @param startNs when the device began it, ns of the host's clock
         * @param endNs when the device ended it, ns, {@code startNs} or more
         */
        void record(String label, B backend, long startNs, long endNs);
    }

    /**
     * Takes dispatches, as {@code KernelTimings.recordDispatch} does.
     *
     * @param <B> how backends are named
     */
    @FunctionalInterface
    public interface DispatchTimings<B> {
        /**
         * Takes one dispatch.
         *
         * @param label what its command buffer is for; never empty
         * @param backend where it ran
         * @param operation its name; never empty
         * @param index its place in the command buffer, from 0
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
         * Sets the name of the stream for people.
         *
         * @param streamName a name, one among the streams of its device; without it the label of the queue, or "queue"
         *     and a number
         * @return this
         */
        public Builder name(String streamName) {
            Objects.requireNonNull(streamName, "streamName");
            name = streamName;
            return this;
        }

        /**
         * Sets how many command buffers are kept: the most that are watched and not asked for at once.
         *
         * @param count a power of two from 2 to 65,536; without it 4,096
         * @return this
         * @throws IllegalArgumentException when it is another number
         */
        public Builder buffers(int count) {
            if (count < 2 || count > MAX_BUFFERS || Integer.bitCount(count) != 1) {
                throw new IllegalArgumentException(count + " buffers: a power of two from 2 to " + MAX_BUFFERS);
            }
            buffers = count;
            return this;
        }

        /**
         * Sets how many marks there are.
         *
         * @param first made at once; without it 1,024
         * @param most there will be, as they are needed; without it 65,536
         * @return this
         * @throws IllegalArgumentException when {@code most} is not in 1 to {@value MarkPool#MAX_BOUND}, or
         *     {@code first} not in 1 to {@code most}
         */
        public Builder marks(int first, int most) {
            if (most < 1 || most > MarkPool.MAX_BOUND) {
                throw new IllegalArgumentException("at most " + most + " marks: 1 to " + MarkPool.MAX_BOUND);
            }
            if (first < 1 || first > most) {
                throw new IllegalArgumentException(first + " marks at first: 1 to " + most);
            }
            firstMarks = first;
            maxMarks = most;
            return this;
        }

        /**
         * Sets how long a wait for the device takes at most. Then the device seems to hang: the samples that waited are
         * unresolved, which is logged once, and the stream {@link #isStalled()}. Set a longer timeout where the work
         * between two boundaries takes longer.
         *
         * @param timeout more than zero; without it {@link DeviceStream#DEFAULT_WAIT_TIMEOUT}
         * @return this
         * @throws IllegalArgumentException when the timeout is zero or negative
         */
        public Builder waitTimeout(Duration timeout) {
            waitTimeoutNs = Polling.timeoutNs(Objects.requireNonNull(timeout, "timeout"));
            return this;
        }

        /**
         * Opens the stream. Loads the library, where nobody did before.
         *
         * @return a stream; where Metal is not available or refuses, one that is not usable and says why
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

        /** Returns the name that was set, or the queue's own, or one that is made. */
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
