package org.brickprofiler.internal.record;

/**
 * The entries of a {@link SpanBuffer} at one moment. Immutable; any thread.
 *
 * <p>The entries are in the order of writing: a span is written at its end, so a span follows the spans inside it.
 */
public final class SpanCopy {

    private final long[] cells;
    private final long dropped;
    private final long threadId;
    private final String threadName;

    /** Takes ownership of the array. */
    SpanCopy(long[] cells, long dropped, long threadId, String threadName) {
        this.cells = cells;
        this.dropped = dropped;
        this.threadId = threadId;
        this.threadName = threadName;
    }

    /** Returns a single moment that has a name. */
    static SpanCopy ofInstant(int key, long atNs, long threadId, String threadName) {
        return new SpanCopy(SpanBuffer.cells(SpanKind.INSTANT, key, atNs), 0, threadId, threadName);
    }

    /**
     * Returns the thread that wrote.
     *
     * @return its id, never used twice in a virtual machine; negative for a buffer that virtual threads share
     */
    public long threadId() {
        return threadId;
    }

    /**
     * Returns the thread that wrote.
     *
     * @return its name when it wrote first
     */
    public String threadName() {
        return threadName;
    }

    /**
     * Returns how many entries are missing since the buffer was last emptied: overwritten by newer ones, or refused.
     *
     * @return 0 or more
     */
    public long dropped() {
        return dropped;
    }

    /**
     * Returns how many entries there are.
     *
     * @return 0 or more
     */
    public int size() {
        return cells.length / SpanBuffer.LONGS_EACH;
    }

    /**
     * Returns the kind of an entry.
     *
     * @param entry 0 to {@code size() - 1}
     * @return its kind
     */
    public SpanKind kind(int entry) {
        return SpanBuffer.kind(cells[entry * SpanBuffer.LONGS_EACH + 1]);
    }

    /**
     * Returns the name of an entry.
     *
     * @param entry 0 to {@code size() - 1}
     * @return the key of its name
     */
    public int key(int entry) {
        return SpanBuffer.key(cells[entry * SpanBuffer.LONGS_EACH + 1]);
    }

    /**
     * When an entry began.
     *
     * @param entry 0 to {@code size() - 1}
     * @return the clock, ns
     */
    public long startNs(int entry) {
        return cells[entry * SpanBuffer.LONGS_EACH];
    }

    /**
     * Returns the end of an entry.
     *
     * @param entry 0 to {@code size() - 1}
     * @return the clock, ns; the start if the entry is a moment
     */
    public long endNs(int entry) {
        return startNs(entry) + SpanBuffer.elapsedNs(cells[entry * SpanBuffer.LONGS_EACH + 1]);
    }

    /**
     * Returns the value of an entry.
     *
     * @param entry 0 to {@code size() - 1}
     * @return elements, or the bits of a counter's value
     */
    public long value(int entry) {
        return cells[entry * SpanBuffer.LONGS_EACH + 2];
    }
}
