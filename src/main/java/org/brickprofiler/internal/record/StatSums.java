package org.brickprofiler.internal.record;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** The sums of several tables, row by row. One thread fills it; afterwards it is only read. */
public final class StatSums {

    private StatRow[] rows = new StatRow[0];
    private long[] @Nullable [] buckets = new long[0][];
    private int threads;
    private boolean virtualThreads;
    private int queuingThreads;
    private boolean queuingVirtualThreads;

    StatSums() {}

    /** Returns a copy that can be added to without changing this one. */
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
        queuingThreads += other.queuingThreads;
        queuingVirtualThreads |= other.queuingVirtualThreads;
    }

    /**
     * Adds all rows of a table whose writer is about to leave it or has left it.
     *
     * @return the rows that were added, by key
     */
    StatRow[] add(StatTable table) {
        return add(table, 0, table.rowCount(), true);
    }

    /** Adds the rows that a table has now, from one key to before another, while it may be written. */
    void addLive(StatTable table, int fromKey, int toKey) {
        add(table, fromKey, toKey, false);
    }

    private StatRow[] add(StatTable table, int fromKey, int toKey, boolean settling) {
        StatRow[] added = new StatRow[Math.max(0, Math.min(toKey, table.rowCount()) - fromKey)];
        long samples = 0;
        for (int i = 0; i < added.length; i++) {
            int key = fromKey + i;
            StatRow row = table.read(key);
            if (row.count() > 0 && table.hasBuckets(key)) {
                row = table.read(key, bucketsOf(key), settling);
            }
            added[i] = row;
            add(key, row);
            samples += row.count();
        }
        boolean recorded = samples > table.foreignCount();
        if (recorded && table.owner() != null) {
            threads++;
        }
        virtualThreads |= recorded && table.owner() == null;
        return added;
    }

    /** Counts the thread of a queue from which measurements were taken. */
    void addQueue(PendingQueue queue, boolean isVirtual) {
        boolean queued = queue.wasTakenFrom();
        if (queued && !isVirtual) {
            queuingThreads++;
        }
        queuingVirtualThreads |= queued && isVirtual;
    }

    /** Counts the thread of a queue, which begins anew. */
    void takeQueue(PendingQueue queue, boolean isVirtual) {
        addQueue(queue, isVirtual);
        queue.forgetTaken();
    }

    /** Adds samples that came too late for the table they were written to; a third one and more at their mean. */
    void addSamples(int key, StatRow late, boolean withBuckets) {
        add(key, late);
        if (withBuckets) {
            long[] row = bucketsOf(key);
            row[LatencyBuckets.indexOf(late.lastNs())]++;
            long others = late.count() - 1;
            if (others > 0) {
                row[LatencyBuckets.indexOf((late.totalNs() - late.lastNs()) / others)] += others;
            }
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

    /** Adds the time of each row's samples to the sum of its key's tag. */
    void addTotalsNs(NameTable keys, long[] totalsNs) {
        int rowCount = Math.min(keys.size(), rows.length);
        for (int key = 0; key < rowCount; key++) {
            totalsNs[keys.tag(key)] += rows[key].totalNs();
        }
    }

    /** Returns the number of rows: keys beyond it were not recorded. */
    int rowCount() {
        return rows.length;
    }

    /**
     * Returns the sums of one row.
     *
     * @param key the row
     * @return its sums over all tables, {@link StatRow#EMPTY} if nothing was recorded
     */
    public StatRow row(int key) {
        return key < rows.length ? rows[key] : StatRow.EMPTY;
    }

    /**
     * Returns the duration counts of one row.
     *
     * @param key the row
     * @return {@link LatencyBuckets#COUNT} counts, not to be changed, or null if none were kept
     */
    public long @Nullable [] buckets(int key) {
        return key < buckets.length ? buckets[key] : null;
    }

    /**
     * Returns the number of platform threads that recorded in the rows that were read; exact if all rows were read.
     * Deferred measurements count for the thread that resolved them; samples that were {@linkplain StatTable#addForeign
     * not the writer's own} count for no thread.
     *
     * @return 0 or more
     */
    public int threads() {
        return threads;
    }

    /**
     * Returns whether virtual threads recorded, which are not counted one by one.
     *
     * @return true if at least one did
     */
    public boolean virtualThreads() {
        return virtualThreads;
    }

    /**
     * Returns how many platform threads queued measurements that were taken since the last reset, of whichever row.
     *
     * @return 0 or more
     */
    public int queuingThreads() {
        return queuingThreads;
    }

    /**
     * Returns whether virtual threads queued measurements that were taken since the last reset.
     *
     * @return true if at least one did
     */
    public boolean queuingVirtualThreads() {
        return queuingVirtualThreads;
    }
}
