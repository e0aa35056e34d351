package org.brickprofiler.device;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * Some longs for each mark of a stream, with room for as many marks as were set so far. Any thread.
 *
 * <h2>Why it may grow while threads set marks</h2>
 *
 * Room is made a chunk of marks at a time, and a chunk never moves: whoever sets the first mark of one puts it there by
 * compare-and-set, and what others wrote meanwhile stays where it is. A thread that got a mark's number from another one
 * in order finds its chunk too; one that did not, as with a token of another profiler, may find none.
 */
final class MarkColumns {

    private static final VarHandle CHUNK = MethodHandles.arrayElementVarHandle(long[][].class);

    private static final int CHUNK_SHIFT = 10;
    private static final int CHUNK_MARKS = 1 << CHUNK_SHIFT;
    private static final int IN_CHUNK = CHUNK_MARKS - 1;

    private final int stride;
    private final int marks;
    private final long[] @Nullable [] chunks;

    /**
     * No room yet.
     *
     * @param stride how many longs a mark has
     * @param marks the most marks there will be
     */
    MarkColumns(int stride, int marks) {
        this.stride = stride;
        this.marks = marks;
        this.chunks = new long[(marks + IN_CHUNK) >>> CHUNK_SHIFT][];
    }

    /** The longs of a mark and its neighbours, from {@link #at} on; made where there are none. */
    long[] of(int mark) {
        long[] chunk = chunks[mark >>> CHUNK_SHIFT];
        return chunk != null ? chunk : make(mark >>> CHUNK_SHIFT);
    }

    private long[] make(int number) {
        long[] made = new long[stride * Math.min(CHUNK_MARKS, marks - (number << CHUNK_SHIFT))];
        long[] before = (long[]) CHUNK.compareAndExchange(chunks, number, null, made);
        return before == null ? made : before;
    }

    /** The same where they were made before; null where they were not, or there is no such mark. */
    long @Nullable [] find(int mark) {
        return mark < marks ? (long[]) CHUNK.getAcquire(chunks, mark >>> CHUNK_SHIFT) : null;
    }

    /** Where the longs of a mark begin. */
    int at(int mark) {
        return stride * (mark & IN_CHUNK);
    }

    /** One more than the highest mark that there is room for. */
    int room() {
        int number = chunks.length;
        while (number > 0 && CHUNK.getAcquire(chunks, number - 1) == null) {
            number--;
        }
        return Math.min(marks, number << CHUNK_SHIFT);
    }
}
