package org.brickprofiler.internal.record;

import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.concurrent.locks.LockSupport;
import org.brickprofiler.internal.base.Sums;
import org.jspecify.annotations.Nullable;

/**
 * Reads rows of a {@link StatTable} while its writer continues. If a row is being written, it is read again. The
 * Javadoc of that class explains why the values of a row belong together. Stateless; any thread.
 */
final class RowReader {

    private static final int READS_BEFORE_PAUSE = 64;
    private static final long PAUSE_NS = 100_000;

    /** Ten seconds of pauses: far longer than a thread waits for a processor. */
    private static final int READS_OF_A_STUCK_ROW = 100_000;

    private static final int READS_WITH_BUCKETS = 16;

    private RowReader() {}

    /**
     * Returns the consistent values of a row at one moment.
     *
     * @param table the table of the row
     * @param phase the phase of the row
     * @param key the row
     * @param into the target to which its buckets are added, {@link LatencyBuckets#COUNT} longs, or null. While the row
     *     is written without a pause, the buckets can miss the latest samples; they agree with the count once the
     *     writer pauses.
     * @param settling whether the writer is about to leave this table, or has left it: the buckets then always agree
     *     with the count
     */
    static StatRow.Builder read(StatTable table, int phase, int key, long @Nullable [] into, boolean settling) {
        return read(table, phase, key, into, settling, StatRow.builder());
    }

    /** Does the same with a builder of the caller, whose earlier values are lost, and returns it. */
    static StatRow.Builder read(
            StatTable table, int phase, int key, long @Nullable [] into, boolean settling, StatRow.Builder row) {
        long[] spread = null;
        long[] log = null;
        long stuckAt = -1;
        int stuckReads = 0;
        for (int reads = 1; ; reads++) {
            long[] cells = table.cells(phase);
            int base = table.base(key);
            row.clear();
            if (base >= cells.length) {
                return row;
            }
            long before = 0;
            boolean copies = into != null && (settling || reads <= READS_WITH_BUCKETS);
            if (copies) {
                // The buckets are copied before the log: samples that leave the log in between are missed, but none is
                // counted twice.
                before = (long) StatTable.CELL.getAcquire(cells, base + StatTable.COUNT);
                long[] live = table.buckets(phase, key);
                spread = live == null ? null : live.clone();
                VarHandle.loadLoadFence();
            }
            long count = (long) StatTable.CELL.getAcquire(cells, base + StatTable.COUNT);
            if (count != 0) {
                copy(table, phase, key, cells, count, row);
            }
            if (spread != null) {
                log = Arrays.copyOfRange(cells, table.log(key), table.log(key) + BucketLog.LONGS);
            }
            VarHandle.loadLoadFence();
            long begun = (long) StatTable.CELL.getOpaque(cells, base + StatTable.BEGUN);
            // If an error stopped a writer between its two counts, readers must not wait forever.
            stuckReads = begun == stuckAt ? stuckReads + 1 : 0;
            stuckAt = begun;
            boolean agrees =
                    !copies || (spread == null ? before == count : BucketLog.fills(before) == BucketLog.fills(count));
            // If the table grew, the buckets and further columns may be those of the longer rows. So the rows that were
            // read must still be the current ones.
            boolean isCurrent = table.cells(phase) == cells;
            if (isCurrent && agrees && (begun == count || (begun == count + 1 && stuckReads >= READS_OF_A_STUCK_ROW))) {
                addBuckets(spread, log, BucketLog.size(count), into);
                return row;
            }
            if (reads < READS_BEFORE_PAUSE) {
                Thread.onSpinWait();
            } else {
                LockSupport.parkNanos(PAUSE_NS);
            }
        }
    }

    private static void copy(StatTable table, int phase, int key, long[] cells, long count, StatRow.Builder row) {
        int base = table.base(key);
        row.samples(
                        count,
                        Sums.limited(cells[base + StatTable.TOTAL_NS]),
                        cells[base + StatTable.MIN_NS],
                        cells[base + StatTable.MAX_NS])
                .last(cells[base + StatTable.LAST_NS], cells[base + StatTable.LAST_AT_NS])
                .elements(Sums.limited(cells[base + StatTable.ELEMENTS]));
        long[] extras = table.extras(phase);
        int further = StatTable.extrasBase(key);
        if (extras != null && further < extras.length) {
            row.bytes(extras[further + StatTable.BYTES], extras[further + StatTable.COMPRESSED_BYTES])
                    .cycles(
                            extras[further + StatTable.CYCLES],
                            extras[further + StatTable.CYCLE_SAMPLES],
                            extras[further + StatTable.MIN_CYCLES],
                            extras[further + StatTable.MAX_CYCLES])
                    .work(extras[further + StatTable.WORK])
                    .maxTag(extras[further + StatTable.MAX_TAG]);
        }
    }

    private static void addBuckets(
            long @Nullable [] spread, long @Nullable [] log, int logged, long @Nullable [] into) {
        if (spread != null && log != null && into != null) {
            for (int i = 0; i < spread.length; i++) {
                into[i] += spread[i];
            }
            BucketLog.count(log, 0, logged, into);
        }
    }
}
