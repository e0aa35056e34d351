package org.brickprofiler.internal.record;

/**
 * The buckets of the latest samples of a row, in eight longs beside its columns. A sample costs one store to the log.
 * Only one sample in 32 touches the row's buckets, which are on other pages.
 *
 * <p>A long holds four buckets, 16 bits each, the latest in the lowest bits. The number of logged samples follows from
 * the count of the row, so every sample of the row has to be logged. Stateless; only the writer of the row may add, and
 * readers validate their copy with the counts of the row: whatever a long holds, each 16 bits are a bucket.
 */
final class BucketLog {

    /** The number of samples in a full log. */
    static final int CAPACITY = 32;

    /** The number of longs in a log. */
    static final int LONGS = 8;

    private static final int CAPACITY_SHIFT = 5;
    private static final int A_LONG_SHIFT = 2;
    private static final int A_LONG = 1 << A_LONG_SHIFT;
    private static final int BITS = Long.SIZE / A_LONG;
    private static final int MASK = (1 << BITS) - 1;

    private BucketLog() {}

    /**
     * Adds a sample.
     *
     * @param cells holds the log
     * @param from its first cell
     * @param number the number of the sample in its row, from 1
     * @param bucket its bucket
     * @return whether the log is full now: its samples have to be {@linkplain #count counted} before the next one
     */
    static boolean add(long[] cells, int from, long number, int bucket) {
        int at = (int) (number - 1) & (CAPACITY - 1);
        int cell = from + (at >>> A_LONG_SHIFT);
        cells[cell] = cells[cell] << BITS | bucket;
        return at == CAPACITY - 1;
    }

    /**
     * Returns whether the next sample of a row needs the row's buckets: the first sample, which creates them, and each
     * sample that fills the log.
     *
     * @param count the count of the row
     */
    static boolean needsBuckets(long count) {
        return count == 0 || size(count + 1) == 0;
    }

    /** Returns how many samples of a row are in its log, and not in its buckets. */
    static int size(long count) {
        return (int) count & (CAPACITY - 1);
    }

    /** Returns how often the log of a row has been full. */
    static long fills(long count) {
        return count >>> CAPACITY_SHIFT;
    }

    /** Adds the samples of a log to counts by bucket. */
    static void count(long[] cells, int from, int size, long[] counts) {
        for (int at = 0; at < size; at += A_LONG) {
            long buckets = cells[from + (at >>> A_LONG_SHIFT)];
            for (int i = Math.min(A_LONG, size - at); i > 0; i--) {
                counts[(int) buckets & MASK]++;
                buckets >>>= BITS;
            }
        }
    }
}
