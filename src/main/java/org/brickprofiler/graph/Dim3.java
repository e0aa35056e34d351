package org.brickprofiler.graph;

/**
 * The size of a grid in blocks, or of a block in threads. Immutable.
 *
 * @param x the first dimension, 1 or more
 * @param y the second dimension, 1 or more
 * @param z the third dimension, 1 or more
 */
public record Dim3(int x, int y, int z) {

    /**
     * Checks the size.
     *
     * @throws IllegalArgumentException when a dimension is below 1
     */
    public Dim3 {
        if (x < 1 || y < 1 || z < 1) {
            throw new IllegalArgumentException("dimensions " + x + " x " + y + " x " + z + " are not all 1 or more");
        }
    }

    /**
     * Returns a size of one dimension.
     *
     * @param x the first dimension
     * @return the size with 1 for the others
     * @throws IllegalArgumentException when it is below 1
     */
    public static Dim3 of(int x) {
        return new Dim3(x, 1, 1);
    }

    /**
     * Returns a size of two dimensions.
     *
     * @param x the first dimension
     * @param y the second dimension
     * @return the size with 1 for the third
     * @throws IllegalArgumentException when one is below 1
     */
    public static Dim3 of(int x, int y) {
        return new Dim3(x, y, 1);
    }

    /**
     * Returns the number of blocks or threads.
     *
     * @return the product of the dimensions
     * @throws ArithmeticException when it exceeds 2^63 - 1
     */
    public long count() {
        return Math.multiplyExact(Math.multiplyExact((long) x, (long) y), (long) z);
    }

    /** Returns the size as in {@code "32x8x1"}. */
    @Override
    public String toString() {
        return x + "x" + y + "x" + z;
    }
}
