package org.brickprofiler.device.metal;

import java.util.ArrayDeque;
import java.util.Queue;
import org.brickprofiler.device.DeviceStream;
import org.jspecify.annotations.Nullable;

/**
 * The command buffers of a stream that have ended. Each query reads new ones from the shim; they are stored for marks,
 * and passed on once. Any thread; waits only for another thread that reads.
 */
final class BufferReader {

    private final long stream;
    private final int capacity;
    private final MetalFailures failures;

    /** Guarded by this, like the next three fields. */
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

    /** Reads the buffers that have ended from the shim once more than half of its ring may be in use. */
    void makeRoom(long sequence) {
        if (sequence - ended > capacity / 2) {
            poll();
        }
    }

    /** Reads the buffers that have ended from the shim. */
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
                        "the end time of command buffer " + sequence + " was evicted: only the last " + capacity
                                + " are kept");
            } else {
                failures.report(
                        MetalFailures.Kind.NO_TIME,
                        "the end time of command buffer " + sequence + " was not reported, or was lost");
            }
        }
        return reachedNs;
    }

    /**
     * Returns whether a command buffer after one that has ended and up to another is broken; see {@link BufferHistory}.
     */
    synchronized boolean isBrokenBetween(long from, long to) {
        return history.isBrokenBetween(from, to);
    }

    /**
     * Returns whether a command buffer after one that has ended and up to another had work; see {@link BufferHistory}.
     */
    synchronized boolean hasWorkBetween(long from, long to) {
        return history.hasWorkBetween(from, to);
    }

    /** Returns the next command buffer to pass on; null if there is none. */
    synchronized @Nullable FinishedBuffer next() {
        return undrained.poll();
    }

    /** Returns how many command buffers were evicted from the ring of the shim, or were not passed on in time. */
    synchronized long lost() {
        return dropped + (closed ? 0 : MetalShim.lost(stream, MetalShim.LOST_BUFFERS));
    }

    boolean isClosed() {
        return closed;
    }

    boolean deviceLost() {
        return deviceLost;
    }

    /** Reads the buffers that have ended, and the number of lost ones, for the last time. */
    synchronized void close() {
        poll();
        dropped = lost();
        closed = true;
    }
}
