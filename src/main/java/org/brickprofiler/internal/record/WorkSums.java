package org.brickprofiler.internal.record;

import static org.brickprofiler.internal.base.Checks.requireNotNegative;

import org.jspecify.annotations.Nullable;

/**
 * The work of each brick, in separate tables beside its samples: tables of the same kind, created when the first work
 * is recorded, and equally lock-free. Any thread.
 *
 * <p>A row holds the working set as its longest duration. The sums of operations and bytes may exceed a {@code long}: a
 * device with 10<sup>15</sup> operations per second reaches the limit in two and a half hours. Each sum is therefore
 * split into two halves, neither of which overflows before 2<sup>31</sup> records; the sum that readers compute
 * saturates at 2<sup>63</sup> - 1. The halves of the bytes are stored in the row's columns for elements and work, those
 * of the operations in its columns for bytes before and after compression.
 */
public final class WorkSums {

    private static final int HALF = 32;
    private static final long LOW_HALF = (1L << HALF) - 1;

    private final NameTable names;
    private final int fixedRows;

    /** Created by the first record, while holding {@code this}. */
    private volatile @Nullable TableRegistry registry;

    /**
     * Creates sums without work.
     *
     * @param names the names of the profiler's bricks
     * @param fixedRows the number of bricks that have a constant
     */
    public WorkSums(NameTable names, int fixedRows) {
        this.names = names;
        this.fixedRows = fixedRows;
    }

    /**
     * Refuses negative work.
     *
     * @param flops floating-point operations
     * @param bytes bytes moved
     * @throws IllegalArgumentException if one of them is negative
     */
    public static void require(long flops, long bytes) {
        requireNotNegative("flops", flops);
        requireNotNegative("bytes", bytes);
    }

    /**
     * Adds to a brick's work. Allocates only for the first record of a thread, or of a brick in a phase.
     *
     * @param phase the number of the phase of the work, or {@link PhaseKey#NO_PHASE}
     * @param key the brick's row
     * @param flops floating-point operations, not negative
     * @param bytes bytes moved, not negative
     * @param workingSetBytes bytes of the data that the work touches
     */
    public void record(int phase, int key, long flops, long bytes, long workingSetBytes) {
        TableRegistry tables = registry;
        if (tables == null) {
            tables = made();
        }
        StatTable table = tables.acquire(phase);
        table.addAmounts(key, workingSetBytes, bytes & LOW_HALF, flops & LOW_HALF, flops >>> HALF, bytes >>> HALF);
        tables.release(table);
    }

    private synchronized TableRegistry made() {
        TableRegistry made = registry;
        if (made == null) {
            made = new TableRegistry(fixedRows, false, names, null, null);
            registry = made;
        }
        return made;
    }

    /**
     * Returns the sums of some bricks.
     *
     * @param fromKey the first row
     * @param toKey the row after the last one
     * @return their sums, or null if no work was ever recorded
     */
    public @Nullable StatSums read(int fromKey, int toKey) {
        TableRegistry tables = registry;
        return tables == null ? null : tables.read(fromKey, toKey);
    }

    /**
     * Returns the sums of all bricks and forgets them.
     *
     * @return the sums, or null if no work was ever recorded
     */
    public @Nullable StatSums readAndReset() {
        TableRegistry tables = registry;
        return tables == null ? null : tables.readAndReset();
    }

    /**
     * Returns the operations of a row.
     *
     * @param row a row of these sums
     * @return floating-point operations, at most 2<sup>63</sup> - 1
     */
    public static long flops(StatRow row) {
        return limited(row.compressedBytes(), row.bytes());
    }

    /**
     * Returns the bytes of a row.
     *
     * @param row a row of these sums
     * @return bytes, at most 2<sup>63</sup> - 1
     */
    public static long bytes(StatRow row) {
        return limited(row.work(), row.elements());
    }

    /** Returns the sum of two halves, at most 2<sup>63</sup> - 1. */
    private static long limited(long highHalf, long lowHalf) {
        long high = highHalf + (lowHalf >>> HALF);
        return high > Long.MAX_VALUE >>> HALF ? Long.MAX_VALUE : (high << HALF) + (lowHalf & LOW_HALF);
    }
}
