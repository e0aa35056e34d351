package org.brickprofiler.internal.record;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The replaced tables of a {@link TableRegistry} whose thread may still finish a sample there, and the sums of such
 * samples since the last reset. The Javadoc of that class explains why they are kept. One thread at a time.
 */
final class LateTables {

    private final List<LateTable> tables = new ArrayList<>();
    private StatSums sums = new StatSums();

    /**
     * Keeps a table that was replaced.
     *
     * @param table the table
     * @param counted which of its samples are counted already, by phase and row
     */
    void add(StatTable table, StatRow[][] counted) {
        tables.add(new LateTable(table, counted));
    }

    /**
     * Adds the samples that have arrived since the last call to the sums, and drops tables to which their thread no
     * longer writes.
     */
    void count(PerThread.Slots<StatTable, ?> now) {
        tables.removeIf(late -> {
            // Checked first: everything that such a thread wrote to its old table is then visible.
            boolean finished = hasLeft(late.table, now);
            late.countInto(sums);
            return finished;
        });
    }

    /** Returns whether it is certain that the writer of an old table no longer writes to it. */
    static boolean hasLeft(StatTable old, PerThread.Slots<StatTable, ?> now) {
        Thread owner = old.owner();
        StatTable current = owner == null ? null : now.search(owner);
        return current == null ? owner == null || !owner.isAlive() : current != old && current.isWritten();
    }

    int size() {
        return tables.size();
    }

    /** Returns the late samples since the last reset; only read. */
    StatSums sums() {
        return sums;
    }

    /** Returns the late samples since the last reset, and begins new sums. */
    StatSums takeSums() {
        StatSums taken = sums;
        sums = new StatSums();
        return taken;
    }

    /** A replaced table, and which of its samples are counted already. */
    private static final class LateTable {
        private final StatTable table;
        private final StatRow[][] counted;

        LateTable(StatTable table, StatRow[][] counted) {
            this.table = table;
            this.counted = counted;
        }

        void countInto(StatSums sums) {
            for (int phase = 0; phase < counted.length; phase++) {
                countInto(sums, phase);
            }
        }

        private void countInto(StatSums sums, int phase) {
            int known = counted[phase].length;
            StatRow[] rows = Arrays.copyOf(counted[phase], Math.max(known, table.rowCount(phase)));
            Arrays.fill(rows, known, rows.length, StatRow.EMPTY);
            counted[phase] = rows;
            for (int key = 0; key < rows.length; key++) {
                StatRow now = table.read(phase, key);
                StatRow samples = now.samplesSince(rows[key]);
                if (samples.count() > 0) {
                    sums.addSamples(phase, key, samples, table.withBuckets());
                    rows[key] = now;
                }
            }
        }
    }
}
