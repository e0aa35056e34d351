package org.brickprofiler.device.metal;

import static org.brickprofiler.device.DeviceStream.NOT_REACHED;
import static org.brickprofiler.device.DeviceStream.UNRESOLVED;

/**
 * The times at which the device had ended each of the latest command buffers of a stream and all before it, by number,
 * with the counts of broken and of forgotten command buffers. The constructor allocates all memory. One thread at a
 * time.
 */
final class BufferHistory {

    private static final long BEFORE_ALL = Long.MIN_VALUE;

    private final int mask;

    /** By number; {@code UNRESOLVED} if the time is not known. */
    private final long[] endedNs;

    /** How many command buffers up to each are broken. */
    private final long[] brokenUpTo;

    /** How many command buffers up to each were given up before they were committed. */
    private final long[] emptyUpTo;

    private long broken;
    private long empty;
    private long ended;
    private long latestEndNs = BEFORE_ALL;
    private boolean latestKnown = true;

    /** Creates a history of the latest command buffers, as many as the capacity, which is a power of two. */
    BufferHistory(int capacity) {
        this.mask = capacity - 1;
        this.endedNs = new long[capacity];
        this.brokenUpTo = new long[capacity];
        this.emptyUpTo = new long[capacity];
    }

    /** Adds a command buffer that has ended. Numbers increase; the times of skipped numbers are not known. */
    void add(FinishedBuffer buffer) {
        long sequence = buffer.sequence();
        if (sequence > ended + 1) {
            latestKnown = false;
        }
        for (long missing = Math.max(ended + 1, sequence - mask); missing < sequence; missing++) {
            put(missing);
        }
        if (buffer.outcome() == FinishedBuffer.Outcome.FORGOTTEN) {
            empty++;
        } else {
            // The device ends command buffers in order: a known end is valid even if an earlier one is not known.
            latestKnown = buffer.gpuEndNs() != FinishedBuffer.NO_TIME;
            latestEndNs = Math.max(latestEndNs, buffer.gpuEndNs());
        }
        broken += buffer.isBroken() ? 1 : 0;
        put(sequence);
        ended = sequence;
    }

    private void put(long sequence) {
        endedNs[(int) sequence & mask] = latestKnown ? latestEndNs : UNRESOLVED;
        brokenUpTo[(int) sequence & mask] = broken;
        emptyUpTo[(int) sequence & mask] = empty;
    }

    /** Returns the highest number up to which all command buffers have ended; 0 if none has. */
    long ended() {
        return ended;
    }

    /** Returns whether the time of a number was evicted. */
    boolean isForgotten(long sequence) {
        return sequence > 0 && sequence <= ended - endedNs.length;
    }

    /**
     * Returns the time at which the device reached a mark: when it had ended a command buffer and all before it, but
     * not before the mark was set.
     *
     * @param sequence the number of the command buffer, 0 for none
     * @param setNs when the mark was set
     * @return ns of the host's clock; {@code NOT_REACHED} or {@code UNRESOLVED} of a device stream
     */
    long reachedNs(long sequence, long setNs) {
        if (sequence == 0) {
            return setNs;
        }
        if (sequence > ended) {
            return NOT_REACHED;
        }
        long ns = isForgotten(sequence) ? UNRESOLVED : endedNs[(int) sequence & mask];
        return ns == UNRESOLVED ? UNRESOLVED : Math.max(ns, setNs);
    }

    /**
     * Returns whether a command buffer after one number and up to another is broken. Both have ended.
     *
     * @param from a number, 0 for none
     * @param to another; the order does not matter
     * @return true also if one of them was evicted
     */
    boolean isBrokenBetween(long from, long to) {
        return isForgotten(from) || isForgotten(to) || broken(from) != broken(to);
    }

    /**
     * Returns whether any command buffer after one number and up to another was not given up.
     *
     * @param from a number, 0 for none
     * @param to another; the order does not matter
     * @return true also if one of them has not ended or was evicted
     */
    boolean hasWorkBetween(long from, long to) {
        return isUnknown(from) || isUnknown(to) || to - from != empty(to) - empty(from);
    }

    private boolean isUnknown(long sequence) {
        return sequence > ended || isForgotten(sequence);
    }

    private long empty(long sequence) {
        return sequence == 0 ? 0 : emptyUpTo[(int) sequence & mask];
    }

    private long broken(long sequence) {
        return sequence == 0 ? 0 : brokenUpTo[(int) sequence & mask];
    }
}
