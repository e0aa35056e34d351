package org.brickprofiler.internal.base;

/** Sums of numbers of 0 or more, which stay at 2<sup>63</sup> - 1 instead of wrapping. Stateless; any thread. */
public final class Sums {

    private Sums() {}

    /**
     * Adds two numbers.
     *
     * @param one a number of 0 or more
     * @param two a number of 0 or more
     * @return their sum, at most {@link Long#MAX_VALUE}
     */
    public static long limited(long one, long two) {
        return limited(one + two);
    }

    /**
     * Reads a sum that may have passed 2<sup>63</sup> - 1 once.
     *
     * @param sum the sum, negative if it has wrapped
     * @return the sum, {@link Long#MAX_VALUE} if it is negative
     */
    public static long limited(long sum) {
        return sum < 0 ? Long.MAX_VALUE : sum;
    }
}
