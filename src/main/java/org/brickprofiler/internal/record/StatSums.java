package org.brickprofiler.internal.record;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** The sums of several tables, row by row. One thread fills it; afterwards it is only read. */
public final class StatSums {

    /** The sums of each phase, {@link PhaseKey#NO_PHASE} first; null if the phase has no sample. */
    private final @Nullable Part[] parts = new Part[PhaseKey.PHASES];

    /** The row of a table that was added last: a reading adds thousands, which need no object each. */
    private final StatRow.Builder latest = StatRow.builder();

    private int threads;
    private boolean virtualThreads;
    private int queuingThreads;
    private boolean queuingVirtualThreads;

    /** The sums of one phase. */
    private static final class Part {
        private StatRow.@Nullable Builder[] rows = new StatRow.Builder[0];
        private long[] @Nullable [] buckets = new long[0][];

        void add(Part other, int fromKey, int toKey, boolean withBuckets) {
            for (int key = fromKey; key < Math.min(toKey, other.rows.length); key++) {
                StatRow.Builder sum = other.rows[key];
                if (sum != null) {
                    add(key, sum);
                }
                long[] row = withBuckets ? other.buckets[key] : null;
                if (row != null) {
                    addAll(row, bucketsOf(key));
                }
            }
        }

        void add(int key, StatRow.Builder row) {
            if (row.count() > 0) {
                ensure(key);
                StatRow.Builder sum = rows[key];
                if (sum == null) {
                    sum = StatRow.builder();
                    rows[key] = sum;
                }
                sum.add(row);
            }
        }

        long[] bucketsOf(int key) {
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
                int length = Math.max(key + 1, rows.length + rows.length / 2);
                rows = Arrays.copyOf(rows, length);
                buckets = Arrays.copyOf(buckets, length);
            }
        }

        StatRow.@Nullable Builder sum(int key) {
            return key < rows.length ? rows[key] : null;
        }

        long @Nullable [] buckets(int key) {
            return key < buckets.length ? buckets[key] : null;
        }
    }

    /** Whether {@link #add} and {@link #addLive} add the counts of durations, too. */
    private final boolean withBuckets;

    StatSums() {
        this(true);
    }

    StatSums(boolean withBuckets) {
        this.withBuckets = withBuckets;
    }

    private Part part(int phase) {
        Part part = parts[phase];
        if (part == null) {
            part = new Part();
            parts[phase] = part;
        }
        return part;
    }

    /** Returns a copy that can be added to without changing this one. */
    StatSums copy() {
        StatSums copy = new StatSums();
        copy.add(this);
        return copy;
    }

    /** Adds all sums of another object. */
    void add(StatSums other) {
        add(other, 0, Integer.MAX_VALUE);
    }

    /** Adds the rows of another object from {@code fromKey} to before {@code toKey}. */
    void add(StatSums other, int fromKey, int toKey) {
        for (int phase = 0; phase < PhaseKey.PHASES; phase++) {
            Part added = other.parts[phase];
            if (added != null) {
                part(phase).add(added, fromKey, toKey, withBuckets);
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
     * @return the rows that were added, by phase and key
     */
    StatRow[][] add(StatTable table) {
        StatRow[][] added = new StatRow[PhaseKey.PHASES][];
        long samples = 0;
        for (int phase = 0; phase < added.length; phase++) {
            added[phase] = new StatRow[table.rowCount(phase)];
            for (int key = 0; key < added[phase].length; key++) {
                StatRow.Builder row = addRow(table, phase, key, true);
                added[phase][key] = row == null ? StatRow.EMPTY : row.build();
                samples += added[phase][key].count();
            }
        }
        addThread(table, samples);
        return added;
    }

    /** Adds the rows that a table has now, from {@code fromKey} to before {@code toKey}, while it may be written. */
    void addLive(StatTable table, int fromKey, int toKey) {
        long samples = 0;
        for (int phase = 0; phase < PhaseKey.PHASES; phase++) {
            int end = Math.min(toKey, table.rowCount(phase));
            for (int key = fromKey; key < end; key++) {
                StatRow.Builder row = addRow(table, phase, key, false);
                samples += row == null ? 0 : row.count();
            }
        }
        addThread(table, samples);
    }

    private void addThread(StatTable table, long samples) {
        boolean recorded = samples > table.foreignCount();
        if (recorded && table.owner() != null) {
            threads++;
        }
        virtualThreads |= recorded && table.owner() == null;
    }

    /** Adds a row of a table, and returns it until the next one is added; null if it never had a sample. */
    private StatRow.@Nullable Builder addRow(StatTable table, int phase, int key, boolean settling) {
        if (!table.isBegun(phase, key)) {
            return null;
        }
        long[] into = withBuckets && table.withBuckets() ? part(phase).bucketsOf(key) : null;
        RowReader.read(table, phase, key, into, settling, latest);
        part(phase).add(key, latest);
        return latest;
    }

    /** Counts the thread of a queue from which measurements were taken. */
    void addQueue(PendingQueue queue, boolean isVirtual) {
        boolean queued = queue.wasTakenFrom();
        if (queued && !isVirtual) {
            queuingThreads++;
        }
        queuingVirtualThreads |= queued && isVirtual;
    }

    /** Counts the thread of a queue, and begins a new interval of the queue. */
    void takeQueue(PendingQueue queue, boolean isVirtual) {
        addQueue(queue, isVirtual);
        queue.forgetTaken();
    }

    /**
     * Adds samples that were written to a table after a reset replaced it. In the buckets the latest sample counts at
     * its duration, and the others count at their mean.
     */
    void addSamples(int phase, int key, StatRow late, boolean withBuckets) {
        part(phase).add(key, late.toBuilder());
        if (withBuckets) {
            long[] row = part(phase).bucketsOf(key);
            row[LatencyBuckets.indexOf(late.lastNs())]++;
            long others = late.count() - 1;
            if (others > 0) {
                row[LatencyBuckets.indexOf((late.totalNs() - late.lastNs()) / others)] += others;
            }
        }
    }

    private static void addAll(long[] from, long[] into) {
        for (int i = 0; i < from.length; i++) {
            into[i] += from[i];
        }
    }

    /**
     * Adds the time of each row's samples of a phase to the sum of its key's tag. The sum of tag 0 is at {@code from}.
     *
     * @return a negative number if a sum has reached its limit; otherwise 0 or more
     */
    long addTotalsNs(int phase, byte[] tags, long[] totalsNs, int from) {
        Part part = parts[phase];
        if (part == null) {
            return 0;
        }
        long signs = 0;
        for (int key = 0; key < part.rows.length; key++) {
            StatRow.Builder sum = part.rows[key];
            if (sum != null) {
                signs |= StatTable.addExactly(totalsNs, from + tags[key], sum.totalNs());
            }
        }
        return signs;
    }

    /** Returns the number of rows of a phase: keys beyond it were not recorded in it. */
    int rowCount(int phase) {
        Part part = parts[phase];
        return part == null ? 0 : part.rows.length;
    }

    /**
     * Returns the sums of one row over all phases.
     *
     * @param key the row
     * @return its sums over all tables, {@link StatRow#EMPTY} if nothing was recorded
     */
    public StatRow row(int key) {
        StatRow.Builder sum = StatRow.builder();
        for (Part part : parts) {
            StatRow.Builder ofPhase = part == null ? null : part.sum(key);
            if (ofPhase != null) {
                sum.add(ofPhase);
            }
        }
        return sum.build();
    }

    /**
     * Returns the sums of one row of a phase.
     *
     * @param phase the number of the phase, or {@link PhaseKey#NO_PHASE}
     * @param key the row
     * @return its sums over all tables, {@link StatRow#EMPTY} if nothing was recorded
     */
    public StatRow row(int phase, int key) {
        Part part = parts[phase];
        StatRow.Builder sum = part == null ? null : part.sum(key);
        return sum == null ? StatRow.EMPTY : sum.build();
    }

    /**
     * Returns the duration counts of one row over all phases.
     *
     * @param key the row
     * @return {@link LatencyBuckets#COUNT} counts, not to be changed, or null if none were kept
     */
    public long @Nullable [] buckets(int key) {
        long[] sum = null;
        boolean isOwn = false;
        for (int phase = 0; phase < PhaseKey.PHASES; phase++) {
            long[] counts = buckets(phase, key);
            if (sum == null || counts == null) {
                sum = sum == null ? counts : sum;
                continue;
            }
            sum = isOwn ? sum : sum.clone();
            isOwn = true;
            addAll(counts, sum);
        }
        return sum;
    }

    /**
     * Returns the duration counts of one row of a phase.
     *
     * @param phase the number of the phase, or {@link PhaseKey#NO_PHASE}
     * @param key the row
     * @return {@link LatencyBuckets#COUNT} counts, not to be changed, or null if none were kept
     */
    public long @Nullable [] buckets(int phase, int key) {
        Part part = parts[phase];
        return part == null ? null : part.buckets(key);
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
     * Returns the number of platform threads that queued measurements, of any row, that were taken since the last
     * reset.
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
