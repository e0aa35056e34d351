package org.brickprofiler.internal.record;

import java.util.Arrays;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/**
 * The entries of a {@link SpanBuffer} at one moment. Immutable; any thread.
 *
 * <p>The entries are in the order of writing: a span is written at its end, so a span follows the spans inside it.
 */
public final class SpanCopy {

    private final long[] cells;

    /** The threads that wrote the entries; null if one thread wrote all, or no thread is known. */
    private final long @Nullable [] writers;

    private final long dropped;
    private final long threadId;
    private final String threadName;

    /** The number of the first entry among all that were ever written to the buffer, from 0; 0 in a selection. */
    private final long first;

    /** The numbers of the entries of a selection; null if the numbers are consecutive. */
    private final long @Nullable [] numbers;

    /** The identity of the buffer; this copy if there is no buffer. */
    private final Object buffer;

    /** Takes ownership of the arrays. */
    SpanCopy(long[] cells, long @Nullable [] writers, long dropped, SpanBuffer buffer, long first) {
        this.cells = cells;
        this.writers = writers;
        this.dropped = dropped;
        this.threadId = buffer.threadId();
        this.threadName = buffer.threadName();
        this.first = first;
        this.numbers = null;
        this.buffer = buffer.identity();
    }

    /** Creates a copy with one entry, which belongs to no buffer. */
    private SpanCopy(long[] cells, long threadId, String threadName) {
        this.cells = cells;
        this.writers = null;
        this.dropped = 0;
        this.threadId = threadId;
        this.threadName = threadName;
        this.first = 0;
        this.numbers = null;
        this.buffer = this;
    }

    private SpanCopy(SpanCopy all, long[] cells, long @Nullable [] writers, long[] numbers) {
        this.cells = cells;
        this.writers = writers;
        this.dropped = 0;
        this.threadId = all.threadId;
        this.threadName = all.threadName;
        this.first = 0;
        this.numbers = numbers;
        this.buffer = all.buffer;
    }

    /**
     * Returns a copy of some entries.
     *
     * @param chosen returns whether to copy an entry of this copy
     * @return the chosen entries in the same order, none of which counts as dropped
     */
    public SpanCopy select(IntPredicate chosen) {
        long[] kept = new long[cells.length];
        long[] keptNumbers = new long[size()];
        long @Nullable [] keptWriters = writers == null ? null : new long[size()];
        int count = 0;
        for (int entry = 0; entry < size(); entry++) {
            if (chosen.test(entry)) {
                System.arraycopy(
                        cells,
                        entry * SpanBuffer.LONGS_EACH,
                        kept,
                        count * SpanBuffer.LONGS_EACH,
                        SpanBuffer.LONGS_EACH);
                if (keptWriters != null) {
                    keptWriters[count] = writer(entry);
                }
                keptNumbers[count++] = number(entry);
            }
        }
        return new SpanCopy(
                this,
                Arrays.copyOf(kept, count * SpanBuffer.LONGS_EACH),
                keptWriters == null ? null : Arrays.copyOf(keptWriters, count),
                Arrays.copyOf(keptNumbers, count));
    }

    /**
     * Returns the buffer that the entries were written to.
     *
     * @return an object that all copies of one buffer share
     */
    public Object buffer() {
        return buffer;
    }

    /**
     * Returns the number of an entry among all that were ever written to the buffer.
     *
     * @param entry 0 to {@code size() - 1}
     * @return 0 or more
     */
    public long number(int entry) {
        return numbers == null ? first + entry : numbers[entry];
    }

    /** Creates a copy with a single instant. */
    static SpanCopy ofInstant(int key, long atNs, long threadId, String threadName) {
        return new SpanCopy(SpanBuffer.cells(SpanKind.INSTANT, key, atNs), threadId, threadName);
    }

    /**
     * Returns the thread that wrote.
     *
     * @return its id, never used twice in a virtual machine; negative for a buffer that threads share
     */
    public long threadId() {
        return threadId;
    }

    /**
     * Returns the thread that wrote an entry.
     *
     * @param entry 0 to {@code size() - 1}
     * @return its id, also in a buffer that virtual threads share; negative in other shared buffers, such as those of
     *     devices
     */
    public long writer(int entry) {
        return writers == null ? threadId : writers[entry];
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
     * Returns the number of entries that were lost since the buffer was last emptied: overwritten by newer ones, or
     * refused.
     *
     * @return 0 or more
     */
    public long dropped() {
        return dropped;
    }

    /**
     * Returns the number of entries.
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
        return PhaseKey.key(row(entry));
    }

    /**
     * Returns the phase of a sample.
     *
     * @param entry 0 to {@code size() - 1}
     * @return its number, or {@link PhaseKey#NO_PHASE}
     */
    public int phase(int entry) {
        return PhaseKey.phase(row(entry));
    }

    private int row(int entry) {
        return SpanBuffer.row(cells[entry * SpanBuffer.LONGS_EACH + 1]);
    }

    /**
     * Returns when an entry began.
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
     * @return the clock, ns; the start if the entry has no duration
     */
    public long endNs(int entry) {
        return startNs(entry) + SpanBuffer.elapsedNs(cells, entry * SpanBuffer.LONGS_EACH);
    }

    /**
     * Returns the value of an entry.
     *
     * @param entry 0 to {@code size() - 1}
     * @return elements, or the bits of a counter's value
     */
    public long value(int entry) {
        return SpanBuffer.value(cells, entry * SpanBuffer.LONGS_EACH);
    }
}
