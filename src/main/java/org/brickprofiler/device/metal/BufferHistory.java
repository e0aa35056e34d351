package org.brickprofiler.device.metal;

import org.brickprofiler.device.DeviceStream;

/**
 * The times of the latest command buffers of a stream, by number: what lies between two of them. Everything is allocated
 * at once. One thread at a time.
 */
final class BufferHistory {

    private final int mask;
    private final boolean[] timed;
    private final long[] startNs;
    private final long[] endNs;

    /** The latest end of all command buffers before: the device may work on several at once. */
    private final long[] endBeforeNs;

    private long ended;
    private long latestEndNs = Long.MIN_VALUE;

    /** A history of so many command buffers, a power of two. */
    BufferHistory(int capacity) {
        this.mask = capacity - 1;
        this.timed = new boolean[capacity];
        this.startNs = new long[capacity];
        this.endNs = new long[capacity];
        this.endBeforeNs = new long[capacity];
    }

    /** Adds a command buffer that has ended. Numbers rise; those that are left out have no times. */
    void add(FinishedBuffer buffer) {
        long from = Math.max(ended + 1, buffer.sequence() - mask);
        for (long missing = from; missing < buffer.sequence(); missing++) {
            put(missing, false, 0, 0);
        }
        put(buffer.sequence(), buffer.isTimed(), buffer.gpuStartNs(), buffer.gpuEndNs());
        ended = buffer.sequence();
    }

    private void put(long sequence, boolean isTimed, long start, long end) {
        int at = (int) sequence & mask;
        timed[at] = isTimed;
        startNs[at] = start;
        endNs[at] = end;
        endBeforeNs[at] = latestEndNs;
        if (isTimed) {
            latestEndNs = Math.max(latestEndNs, end);
        }
    }

    /** The highest number that has ended, and all before it have; 0 where none has. */
    long ended() {
        return ended;
    }

    /** Whether the times of a number are kept no longer. */
    boolean isForgotten(long sequence) {
        return sequence <= ended - timed.length;
    }

    /**
     * How long the device was at the command buffers after one number up to another, with the idle time between them
     * and without that before the first, and without what it still did on those before.
     *
     * @return ns, 0 or more where {@code until} is higher than {@code after}, 0 or less where it is lower;
     *     {@link DeviceStream#NOT_REACHED} where the higher one has not ended; {@link DeviceStream#UNRESOLVED} where one of
     *     them has no times, and where there is none
     */
    long elapsedNs(long after, long until) {
        if (after > until) {
            long backwards = elapsedNs(until, after);
            return backwards < 0 ? backwards : -backwards;
        }
        if (until > ended) {
            return DeviceStream.NOT_REACHED;
        }
        if (after == until || isForgotten(after + 1)) {
            return DeviceStream.UNRESOLVED;
        }
        long firstNs = Long.MAX_VALUE;
        long lastNs = Long.MIN_VALUE;
        for (long sequence = after + 1; sequence <= until; sequence++) {
            int at = (int) sequence & mask;
            if (!timed[at]) {
                return DeviceStream.UNRESOLVED;
            }
            firstNs = Math.min(firstNs, startNs[at]);
            lastNs = Math.max(lastNs, endNs[at]);
        }
        long busyUntilNs = endBeforeNs[(int) (after + 1) & mask];
        return Math.max(0, lastNs - Math.max(firstNs, busyUntilNs));
    }
}
