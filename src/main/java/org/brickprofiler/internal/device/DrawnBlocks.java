package org.brickprofiler.internal.device;

/**
 * The blocks of successive occurrences of a row, and the occurrence that is drawn from each: the first 32 blocks have
 * one occurrence, 16 blocks each have 2, 4, 8 and so on, and all further ones have as many as the sampling says. Which
 * occurrence is drawn depends on the row's seed and the number of the occurrence alone, so threads need not agree on
 * it. Immutable; any thread.
 */
final class DrawnBlocks {

    private static final int EXACT = 32;
    private static final int BLOCKS_OF_A_SIZE = 16;

    // By level: the first occurrence, and the number of occurrences in each block.
    private final long[] from;
    private final int[] sizes;

    /**
     * Creates blocks.
     *
     * @param every the size of the blocks at last, 1 or more
     */
    DrawnBlocks(int every) {
        int levels = every == 1 ? 1 : 1 + Integer.SIZE - Integer.numberOfLeadingZeros(every - 1);
        from = new long[levels];
        sizes = new int[levels];
        sizes[0] = 1;
        for (int level = 1; level < levels; level++) {
            from[level] = from[level - 1] + (level == 1 ? EXACT : (long) BLOCKS_OF_A_SIZE * sizes[level - 1]);
            sizes[level] = Math.min(2 * sizes[level - 1], every);
        }
    }

    private int level(long occurrence) {
        int level = from.length - 1;
        while (from[level] > occurrence) {
            level--;
        }
        return level;
    }

    /** Returns the number of occurrences in the block of one, which is the weight of the one that is drawn there. */
    int size(long occurrence) {
        return sizes[level(occurrence)];
    }

    /**
     * Returns the first drawn occurrence from a given one on.
     *
     * @param seed of the row
     * @param occurrence its number, from 0 on
     */
    long next(long seed, long occurrence) {
        long drawn = drawn(seed, occurrence);
        return drawn >= occurrence ? drawn : drawn(seed, end(occurrence));
    }

    private long end(long occurrence) {
        int level = level(occurrence);
        return occurrence - (occurrence - from[level]) % sizes[level] + sizes[level];
    }

    /** Returns the drawn occurrence of the block of one. */
    private long drawn(long seed, long occurrence) {
        int level = level(occurrence);
        long start = occurrence - (occurrence - from[level]) % sizes[level];
        long random = mixed(seed + start) >>> Integer.SIZE;
        return start + ((random * sizes[level]) >>> Integer.SIZE);
    }

    /** Returns a number whose bits each depend on all bits of the given one (the finaliser of SplitMix64). */
    static long mixed(long number) {
        long mixed = (number + 0x9e3779b97f4a7c15L) * 0xbf58476d1ce4e5b9L;
        mixed = (mixed ^ (mixed >>> 27)) * 0x94d049bb133111ebL;
        return mixed ^ (mixed >>> 31);
    }
}
