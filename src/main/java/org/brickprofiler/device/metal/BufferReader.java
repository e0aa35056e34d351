package org.brickprofiler.device.metal;

import java.util.ArrayDeque;
import java.util.Queue;
import org.brickprofiler.device.DeviceStream;
import org.jspecify.annotations.Nullable;

/**
 * The command buffers of a stream that have ended: taken from the shim whenever somebody asks, kept for marks, and
 * handed over once. Any thread; waits for nothing but another thread that takes.
 */
final class BufferReader {

    private final long stream;
    private final int capacity;
    private final MetalFailures failures;

    /** Guarded by this, as the three after it. */
    private final ShimRecords records = new ShimRecords();

    private final BufferHistory history;
    private final Queue<FinishedBuffer> undrained = new ArrayDeque<>();
    private long dropped;

    private volatile long ended;
    private volatile boolean deviceLost;
    private volatile boolean closed;

    BufferReader(long stream, int capacity, boolean closed, MetalFailures failures) {
        this.closed = closed;
        this.stream = stream;
        this.capacity = capacity;
        this.failures = failures;
        this.history = new BufferHistory(capacity);
    }

    /** Returns whether a command buffer and all before it have ended. */
    boolean hasEnded(long sequence) {
        if (sequence > ended) {
            poll();
        }
        return sequence <= ended;
    }

    /** Takes the buffers that have ended, before the ring of the shim is full. */
    void makeRoom(long sequence) {
        if (sequence - ended > capacity / 2) {
            poll();
        }
    }

    /** Takes the buffers that have ended. */
    synchronized void poll() {
        if (!closed && records.drainBuffers(stream, this::take) < 0) {
            failures.report(MetalFailures.Kind.CALL, "nothing could be drained: " + MetalShim.failure());
        }
        ended = history.ended();
    }

    private void take(FinishedBuffer buffer) {
        long missing = buffer.sequence() - history.ended() - 1;
        if (missing > 0) {
            failures.report(
                    MetalFailures.Kind.LOST,
                    missing + " command buffers before number " + buffer.sequence() + " were lost");
        }
        if (buffer.outcome() == FinishedBuffer.Outcome.FAILED) {
            failures.report(
                    buffer.lostDevice() ? MetalFailures.Kind.DEVICE : MetalFailures.Kind.NO_TIME,
                    "command buffer " + buffer.sequence() + " (" + buffer.label() + ") failed with error "
                            + buffer.errorCode());
            deviceLost |= buffer.lostDevice();
        }
        history.add(buffer);
        if (undrained.size() == capacity) {
            undrained.remove();
            dropped++;
        }
        undrained.add(buffer);
    }

    /**
     * Returns when the device reached a mark; see {@link BufferHistory#reachedNs}. Reports the reason if the time is
     * not known.
     */
    synchronized long reachedNs(long sequence, long setNs) {
        long reachedNs = history.reachedNs(sequence, setNs);
        if (reachedNs == DeviceStream.UNRESOLVED) {
            if (history.isForgotten(sequence)) {
                failures.report(
                        MetalFailures.Kind.OLD,
                        "when command buffer " + sequence + " ended is not kept any more: the last " + capacity
                                + " are");
            } else {
                failures.report(
                        MetalFailures.Kind.NO_TIME,
                        "when command buffer " + sequence + " ended was not reported, or was lost");
            }
        }
        return reachedNs;
    }

    /**
     * Returns whether there is a broken command buffer behind one that has ended and up to another; see
     * {@link BufferHistory}.
     */
    synchronized boolean isBrokenBetween(long from, long to) {
        return history.isBrokenBetween(from, to);
    }

    /**
     * Returns whether a command buffer behind one that has ended and up to another had work; see {@link BufferHistory}.
     */
    synchronized boolean hasWorkBetween(long from, long to) {
        return history.hasWorkBetween(from, to);
    }

    /** Returns the next command buffer to hand over. */
    synchronized @Nullable FinishedBuffer next() {
        return undrained.poll();
    }

    /** Returns how many were evicted from the ring of the shim, or were not handed over in time. */
    synchronized long lost() {
        return dropped + (closed ? 0 : MetalShim.lost(stream, MetalShim.LOST_BUFFERS));
    }

    boolean isClosed() {
        return closed;
    }

    boolean deviceLost() {
        return deviceLost;
    }

    /** Takes the buffers that have ended, and the counted values, for the last time. */
    synchronized void close() {
        poll();
        dropped = lost();
        closed = true;
    }
}
