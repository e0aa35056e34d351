package org.brickprofiler.trace;

import java.util.Arrays;
import java.util.OptionalLong;
import org.brickprofiler.trace.CallTree.Share;

/**
 * The samples of a method by the pass in which each was taken, from a first one in which the virtual machine
 * interpreted the method. Passes are kept with a relative error of a quarter, so the size is bounded. Not thread-safe.
 */
final class InterpretedPasses {

    private static final int FIRST_CAPACITY = 8;

    /** The logarithm of the number of buckets between two powers of two. */
    private static final int PRECISION = 2;

    /** Of the samples in the first passes, more are interpreted, by the lower end of the interval of their share. */
    private static final double LEAST_BEFORE = 0.5;

    /** Of the later samples, fewer are, by the upper end. */
    private static final double MOST_AFTER = 0.2;

    private long[] interpreted = new long[FIRST_CAPACITY];
    private long[] others = new long[FIRST_CAPACITY];

    /** The last pass with an interpreted sample of each bucket. */
    private long[] latest = new long[FIRST_CAPACITY];

    private boolean isPassUnknown;

    /**
     * Adds a sample.
     *
     * @param pass the number of the pass, from 0; negative if it is unknown
     * @param isInterpreted whether the virtual machine interpreted the method
     */
    void add(long pass, boolean isInterpreted) {
        if (pass < 0) {
            isPassUnknown = true;
            return;
        }
        int bucket = bucket(pass);
        if (bucket >= interpreted.length) {
            int room = Math.max(bucket + 1, 2 * interpreted.length);
            interpreted = Arrays.copyOf(interpreted, room);
            others = Arrays.copyOf(others, room);
            latest = Arrays.copyOf(latest, room);
        }
        if (isInterpreted) {
            interpreted[bucket]++;
            latest[bucket] = Math.max(latest[bucket], pass);
        } else {
            others[bucket]++;
        }
    }

    private static int bucket(long pass) {
        int exponent = Long.SIZE - 1 - Long.numberOfLeadingZeros(pass | 1);
        return exponent < PRECISION
                ? (int) pass
                : ((exponent - PRECISION + 1) << PRECISION)
                        + (int) (pass >>> (exponent - PRECISION))
                        - (1 << PRECISION);
    }

    /**
     * Returns the number of first passes in which the virtual machine interpreted the method, but for a few samples,
     * and after which it rarely did.
     *
     * @return 1 or more; empty if too few samples show it, or the pass of one is unknown
     */
    OptionalLong first() {
        long interpretedAfter = Arrays.stream(interpreted).sum();
        long after = interpretedAfter + Arrays.stream(others).sum();
        long interpretedBefore = 0;
        long before = 0;
        long passes = 0;
        long best = Long.MIN_VALUE;
        OptionalLong first = OptionalLong.empty();
        for (int bucket = 0; bucket < interpreted.length && !isPassUnknown; bucket++) {
            long all = interpreted[bucket] + others[bucket];
            interpretedBefore += interpreted[bucket];
            before += all;
            interpretedAfter -= interpreted[bucket];
            after -= all;
            passes = interpreted[bucket] > 0 ? latest[bucket] + 1 : passes;
            long asStated = interpretedBefore + after - interpretedAfter;
            if (all > 0 && asStated > best) {
                best = asStated;
                first = isShown(interpretedBefore, before, interpretedAfter, after)
                        ? OptionalLong.of(passes)
                        : OptionalLong.empty();
            }
        }
        return first;
    }

    private static boolean isShown(long interpretedBefore, long before, long interpretedAfter, long after) {
        return before > 0
                && after > 0
                && Share.of("", interpretedBefore, before).low() > LEAST_BEFORE
                && Share.of("", interpretedAfter, after).high() < MOST_AFTER;
    }
}
