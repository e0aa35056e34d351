package org.brickprofiler;

import static org.brickprofiler.internal.io.Checks.requireNotNegative;

import org.brickprofiler.internal.record.NameTable;
import org.brickprofiler.internal.record.StatRow;
import org.brickprofiler.internal.record.StatSums;
import org.brickprofiler.internal.record.StatTable;
import org.brickprofiler.internal.record.TableRegistry;
import org.jspecify.annotations.Nullable;

/**
 * The work of each brick, beside its samples: tables of the same kind, made when the first work is recorded, and as
 * free of locks. Any thread.
 *
 * <p>A row holds the working set as its longest duration. The sums of operations and bytes may exceed a {@code long}: a
 * device that does 10<sup>15</sup> operations in a second reaches its end in two and a half hours. Each sum is
 * therefore held in two halves, of which neither overflows before 2<sup>31</sup> records; the readers limit their sum
 * to 2<sup>63</sup> - 1. The halves of the bytes are the row's elements and work, those of the operations its bytes
 * before and after compression.
 */
final class WorkSums {

    private static final int HALF = 32;
    private static final long LOW_HALF = (1L << HALF) - 1;

    private final NameTable names;

    /** Made by the first record, while holding {@code this}. */
    private volatile @Nullable TableRegistry registry;

    WorkSums(NameTable names) {
        this.names = names;
    }

    static void require(long flops, long bytes) {
        requireNotNegative("flops", flops);
        requireNotNegative("bytes", bytes);
    }

    /** Adds to a brick's work. */
    void record(int key, long flops, long bytes, long workingSetBytes) {
        TableRegistry tables = registry;
        if (tables == null) {
            tables = made();
        }
        StatTable table = tables.acquire();
        table.addAmounts(key, workingSetBytes, bytes & LOW_HALF, flops & LOW_HALF, flops >>> HALF, bytes >>> HALF);
        tables.release(table);
    }

    private synchronized TableRegistry made() {
        TableRegistry made = registry;
        if (made == null) {
            made = new TableRegistry(BrickNames.FIXED, false, names, null, null);
            registry = made;
        }
        return made;
    }

    /** What was recorded from one key to before another; null where nothing ever was. */
    @Nullable
    StatSums read(int fromKey, int toKey) {
        TableRegistry tables = registry;
        return tables == null ? null : tables.read(fromKey, toKey);
    }

    /** What was recorded until now, which is forgotten. */
    @Nullable
    StatSums readAndReset() {
        TableRegistry tables = registry;
        return tables == null ? null : tables.readAndReset();
    }

    /** What a row means. */
    static Work work(StatRow row) {
        if (row.count() == 0) {
            return Work.NONE;
        }
        return new Work(limited(row.compressedBytes(), row.bytes()), limited(row.work(), row.elements()), row.maxNs());
    }

    /** The sum of two halves, at most 2<sup>63</sup> - 1. */
    private static long limited(long highHalf, long lowHalf) {
        long high = highHalf + (lowHalf >>> HALF);
        return high > Long.MAX_VALUE >>> HALF ? Long.MAX_VALUE : (high << HALF) + (lowHalf & LOW_HALF);
    }
}
