package org.brickprofiler.record;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The sums of several tables, row by row. Filled by one thread; whoever is given one only reads it.
 */
public final class StatSums {

    private StatRow[] rows = new StatRow[0];
    private long[] @Nullable [] buckets = new long[0][];
    private int threads;
    private boolean virtualThreads;

    StatSums() {}

    /** A copy that can be added to without changing this one. */
    StatSums copy() {
        StatSums copy = new StatSums();
        copy.add(this);
        return copy;
    }

    /** Adds everything that another has. */
    void add(StatSums other) {
        add(other, 0, other.rows.length);
    }

    /** Adds the rows of another from one key to before another. */
    void add(StatSums other, int fromKey, int toKey) {
        for (int key = fromKey; key < Math.min(toKey, other.rows.length); key++) {
            add(key, other.rows[key]);
            long[] row = other.buckets[key];
            if (row != null) {
                addAll(row, bucketsOf(key));
            }
        }
        threads += other.threads;
        virtualThreads |= other.virtualThreads;
    }

    /**
     * Adds everything that a table has now.
     *
     * @return the rows that were added, by key
     */
    StatRow[] add(StatTable table) {
        return add(table, 0, table.rowCount());
    }

    /**
     * Adds the rows that a table has now, from one key to before another.
     *
     * @return the rows that were added, from the first key on
     */
    StatRow[] add(StatTable table, int fromKey, int toKey) {
        StatRow[] added = new StatRow[Math.max(0, Math.min(toKey, table.rowCount()) - fromKey)];
        boolean any = false;
        for (int i = 0; i < added.length; i++) {
            int key = fromKey + i;
            added[i] = read(table, key);
            add(key, added[i]);
            any |= added[i].count() > 0;
        }
        if (any && table.owner() != null) {
            threads++;
        }
        virtualThreads |= any && table.owner() == null;
        return added;
    }

    private StatRow read(StatTable table, int key) {
        if (!table.hasBuckets(key)) {
            StatRow row = table.read(key);
            // Buckets come with a row's first sample, which may have been recorded in between.
            if (row.count() == 0 || !table.hasBuckets(key)) {
                return row;
            }
        }
        return table.read(key, bucketsOf(key));
    }

    /** Adds one sample that came too late for the table it was written to. */
    void addSample(int key, StatRow sample, boolean withBuckets) {
        add(key, sample);
        if (withBuckets) {
            bucketsOf(key)[LatencyBuckets.indexOf(sample.lastNs())]++;
        }
    }

    private void add(int key, StatRow row) {
        if (row.count() > 0) {
            ensure(key);
            rows[key] = rows[key].plus(row);
        }
    }

    private long[] bucketsOf(int key) {
        ensure(key);
        long[] row = buckets[key];
        if (row == null) {
            row = new long[LatencyBuckets.COUNT];
            buckets[key] = row;
        }
        return row;
    }

    private void ensure(int key) {
        if (key >= rows.length) {
            int from = rows.length;
            int to = Math.max(key + 1, from + from / 2);
            rows = Arrays.copyOf(rows, to);
            Arrays.fill(rows, from, to, StatRow.EMPTY);
            buckets = Arrays.copyOf(buckets, to);
        }
    }

    private static void addAll(long[] from, long[] into) {
        for (int i = 0; i < from.length; i++) {
            into[i] += from[i];
        }
    }

    /**
     * The sums of one row.
     *
     * @param key the row
     * @return its sums over all tables, {@link StatRow#EMPTY} where nothing was recorded
     */
    public StatRow row(int key) {
        return key < rows.length ? rows[key] : StatRow.EMPTY;
    }

    /**
     * The duration counts of one row.
     *
     * @param key the row
     * @return {@link LatencyBuckets#COUNT} counts, not to be changed, or null where none were kept
     */
    public long @Nullable [] buckets(int key) {
        return key < buckets.length ? buckets[key] : null;
    }

    /**
     * How many platform threads recorded in the rows that were read.
     *
     * @return 0 or more
     */
    public int threads() {
        return threads;
    }

    /**
     * Whether virtual threads recorded, which are not counted one by one.
     *
     * @return true where at least one did
     */
    public boolean virtualThreads() {
        return virtualThreads;
    }
}
