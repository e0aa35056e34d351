package org.brickprofiler.device.metal;

import static org.brickprofiler.device.DeviceStream.NOT_REACHED;
import static org.brickprofiler.device.DeviceStream.UNRESOLVED;

/**
 * When the device had ended each of the latest command buffers of a stream and all before it, by number, and which of
 * them are broken. Everything is allocated at once. One thread at a time.
 */
final class BufferHistory {

    private static final long BEFORE_ALL = Long.MIN_VALUE;

    private final int mask;

    /** {@code UNRESOLVED} if it is not known. */
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

    /** A history of so many command buffers, a power of two. */
    BufferHistory(int capacity) {
        this.mask = capacity - 1;
        this.endedNs = new long[capacity];
        this.brokenUpTo = new long[capacity];
        this.emptyUpTo = new long[capacity];
    }

    /** Adds a command buffer that has ended. Numbers rise; those that are left out have no times. */
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
            // The device does one after the other: it does not matter whether an earlier one is not known.
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

    /** Returns the highest number that has ended, and all before it have; 0 if none has. */
    long ended() {
        return ended;
    }

    /** Returns whether the time of a number is kept no longer. */
    boolean isForgotten(long sequence) {
        return sequence > 0 && sequence <= ended - endedNs.length;
    }

    /**
     * When the device reached a mark: when it had ended a command buffer and all before it, and not before the mark was
     * set.
     *
     * @param sequence the number of the command buffer, 0 for none
     * @param setNs when the mark was set
     * @return ns of the host's clock; {@code NOT_REACHED} or {@code UNRESOLVED}, as of a device stream
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
     * Returns whether there is a broken command buffer behind one and up to another. Both have ended.
     *
     * @param from a number, 0 for none
     * @param to another; the order does not matter
     * @return true also where it is not known any more
     */
    boolean isBrokenBetween(long from, long to) {
        return isForgotten(from) || isForgotten(to) || broken(from) != broken(to);
    }

    /**
     * Returns whether any command buffer behind one and up to another was not given up.
     *
     * @param from a number, 0 for none
     * @param to another; the order does not matter
     * @return true also where it is not known yet or any more
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
