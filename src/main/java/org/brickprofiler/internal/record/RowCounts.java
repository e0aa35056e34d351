package org.brickprofiler.internal.record;

import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * A count for each row of each phase, for events that are rare, such as samples whose time is unknown. Takes no memory
 * until something is counted. Any thread.
 */
public final class RowCounts {

    private static final int CHUNK_SHIFT = 6;
    private static final int CHUNK = 1 << CHUNK_SHIFT;

    /** One array for each chunk of rows, created when the first of its rows is counted; null until then. */
    private volatile @Nullable AtomicReferenceArray<@Nullable AtomicLongArray> chunks;

    /** Creates counts of 0. */
    public RowCounts() {}

    /** The counts of some rows at one moment. Immutable. */
    public static final class Reading {

        /** Nothing was counted. */
        static final Reading NONE = new Reading(0, new long[PhaseKey.PHASES][0]);

        private final int fromKey;

        /** By phase, and from the first row on; empty if nothing was ever counted. */
        private final long[][] counts;

        private Reading(int fromKey, long[][] counts) {
            this.fromKey = fromKey;
            this.counts = counts;
        }

        /**
         * Returns the count of a row in a phase.
         *
         * @param phase the number of the phase, or {@link PhaseKey#NO_PHASE}
         * @param key a row that was asked for
         * @return 0 or more
         */
        public long of(int phase, int key) {
            long[] ofPhase = counts[phase];
            return ofPhase.length == 0 ? 0 : ofPhase[key - fromKey];
        }

        /**
         * Returns the count of a row in all phases.
         *
         * @param key a row that was asked for
         * @return 0 or more
         */
        public long of(int key) {
            long sum = 0;
            for (int phase = 0; phase < counts.length; phase++) {
                sum += of(phase, key);
            }
            return sum;
        }
    }

    /**
     * Adds one to the count of a row. Allocates only for the first of adjacent rows.
     *
     * @param row a {@link PhaseKey}
     */
    public void increment(int row) {
        add(row, 1);
    }

    /**
     * Adds to the count of a row. Allocates only for the first of adjacent rows.
     *
     * @param row a {@link PhaseKey}
     * @param events how many
     */
    public void add(int row, long events) {
        AtomicReferenceArray<@Nullable AtomicLongArray> all = chunks;
        if (all == null) {
            all = created();
        }
        int number = row >>> CHUNK_SHIFT;
        AtomicLongArray chunk = all.get(number);
        if (chunk == null) {
            AtomicLongArray created = new AtomicLongArray(CHUNK);
            AtomicLongArray before = all.compareAndExchange(number, null, created);
            chunk = before == null ? created : before;
        }
        chunk.addAndGet(row & (CHUNK - 1), events);
    }

    private synchronized AtomicReferenceArray<@Nullable AtomicLongArray> created() {
        AtomicReferenceArray<@Nullable AtomicLongArray> all = chunks;
        if (all == null) {
            all = new AtomicReferenceArray<>(1 << (PhaseKey.BITS - CHUNK_SHIFT));
            chunks = all;
        }
        return all;
    }

    /**
     * Returns the counts of some rows.
     *
     * @param fromKey the first row
     * @param toKey the row after the last one
     * @return their counts in each phase
     */
    public Reading read(int fromKey, int toKey) {
        return read(fromKey, toKey, false);
    }

    /**
     * Returns the counts of all rows, and resets them. Each event is in exactly one of consecutive readings.
     *
     * @return the counts since the last reset
     */
    public Reading readAndReset() {
        return read(0, TimerToken.MAX_KEY + 1, true);
    }

    private Reading read(int fromKey, int toKey, boolean resets) {
        AtomicReferenceArray<@Nullable AtomicLongArray> all = chunks;
        if (all == null) {
            return Reading.NONE;
        }
        long[][] counts = new long[PhaseKey.PHASES][toKey - fromKey];
        for (int phase = 0; phase < counts.length; phase++) {
            for (int key = fromKey; key < toKey; key++) {
                int row = PhaseKey.of(phase, key);
                AtomicLongArray chunk = all.get(row >>> CHUNK_SHIFT);
                if (chunk != null) {
                    int at = row & (CHUNK - 1);
                    counts[phase][key - fromKey] = resets ? chunk.getAndSet(at, 0) : chunk.get(at);
                }
            }
        }
        return new Reading(fromKey, counts);
    }
}
