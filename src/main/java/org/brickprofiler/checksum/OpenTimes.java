package org.brickprofiler.checksum;

import org.brickprofiler.record.StatRow;
import org.brickprofiler.record.StatTable;
import org.jspecify.annotations.Nullable;

/**
 * Entries whose brick may still run: an output is there before its brick is stopped, or after. When an entry is recorded
 * nobody knows which of the two it is, so it gets the time of the brick that its thread has just timed, if that is its
 * own, and is looked at again later: where the next sample of its brick began before the entry was recorded, that one is
 * the entry's. Where too many samples have come by then, the entry has no time. Allocates nothing. The owner's lock guards
 * it.
 */
final class OpenTimes {

    /** Entries of all threads that are looked at again; the oldest one stays as it is where there are more. */
    private static final int ROOM = 64;

    private final @Nullable StatTable[] tables = new StatTable[ROOM];
    private final int[] keys = new int[ROOM];
    private final long[] counts = new long[ROOM];
    private final long[] notedNs = new long[ROOM];

    /** When the latest sample of the brick had ended by then: what is said to have begun before was timed elsewhere. */
    private final long[] endedNs = new long[ROOM];

    private final int[] rows = new int[ROOM];
    private int size;

    /**
     * Notes an entry of the calling thread.
     *
     * @param table the thread's samples
     * @param key the row of the entry's brick
     * @param nowNs the clock when the output was there
     * @param row the entry
     */
    void add(StatTable table, int key, long nowNs, int row) {
        if (size == ROOM) {
            remove(0);
        }
        tables[size] = table;
        keys[size] = key;
        counts[size] = table.count(key);
        notedNs[size] = nowNs;
        endedNs[size] = table.latestEndedNs(key);
        rows[size] = row;
        size++;
    }

    /** Looks at the entries of the calling thread again. */
    void settle(StatTable own, ChecksumColumns columns) {
        for (int i = size - 1; i >= 0; i--) {
            int key = keys[i];
            if (tables[i] == own) {
                long count = own.count(key);
                if (count != counts[i]) {
                    settle(i, count, own.latestBeganNs(key), own.latestNs(key), columns);
                } else if (own.hasBegunSince(notedNs[i])) {
                    // Another brick began meanwhile and ended: what ran when the entry was recorded is over.
                    remove(i);
                }
            }
        }
    }

    /** Looks at the entries of all threads again. */
    void settleAll(ChecksumColumns columns) {
        for (int i = size - 1; i >= 0; i--) {
            StatTable table = tables[i];
            StatRow row = table == null ? StatRow.EMPTY : table.read(keys[i]);
            if (row.count() != counts[i]) {
                settle(i, row.count(), row.lastAtNs() - row.lastNs(), row.lastNs(), columns);
            } else if (table == null || !table.isOwnerAlive()) {
                remove(i);
            }
        }
    }

    private void settle(int i, long count, long beganNs, long elapsedNs, ChecksumColumns columns) {
        int row = rows[i];
        boolean isNext = count == counts[i] + 1;
        long sinceNs = notedNs[i] - beganNs;
        boolean isElsewhere = counts[i] > 0 && beganNs - endedNs[i] < 0;
        if (!isNext) {
            columns.setElapsed(row, ChecksumColumns.UNKNOWN_NS);
        } else if (!isElsewhere && (sinceNs > 0 || (sinceNs == 0 && columns.elapsedNs(row) < 0))) {
            columns.setElapsed(row, elapsedNs);
        }
        remove(i);
    }

    private void remove(int i) {
        int after = size - i - 1;
        System.arraycopy(tables, i + 1, tables, i, after);
        System.arraycopy(keys, i + 1, keys, i, after);
        System.arraycopy(counts, i + 1, counts, i, after);
        System.arraycopy(notedNs, i + 1, notedNs, i, after);
        System.arraycopy(endedNs, i + 1, endedNs, i, after);
        System.arraycopy(rows, i + 1, rows, i, after);
        size--;
        tables[size] = null;
    }

    void clear() {
        while (size > 0) {
            remove(size - 1);
        }
    }
}
