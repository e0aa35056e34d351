package org.brickprofiler.demo;

import java.util.SplittableRandom;

/** A dense matrix, row after row. Not changed after construction. */
final class Matrix {

    private final int rows;
    private final int cols;
    private final float[] values;

    /**
     * Creates a matrix with the given values.
     *
     * @param values row after row; kept, not copied
     */
    Matrix(int rows, int cols, float[] values) {
        if (values.length != (long) rows * cols) {
            throw new IllegalArgumentException(values.length + " values are not " + rows + " x " + cols);
        }
        this.rows = rows;
        this.cols = cols;
        this.values = values;
    }

    /**
     * Returns a matrix of uniformly distributed random values. A product with a vector of unit root mean square has a
     * root mean square of about {@code gain}.
     */
    static Matrix random(int rows, int cols, double gain, SplittableRandom random) {
        // A uniform distribution within +-a has a standard deviation of a / sqrt(3).
        float bound = (float) (gain * Math.sqrt(3.0 / cols));
        float[] values = new float[rows * cols];
        for (int i = 0; i < values.length; i++) {
            values[i] = bound * symmetric(random);
        }
        return new Matrix(rows, cols, values);
    }

    /** Returns a number within -1 to 1, of 24 random bits: as many as a float holds. */
    static float symmetric(SplittableRandom random) {
        return (random.nextLong() >> 40) * 0x1p-23f;
    }

    int rows() {
        return rows;
    }

    int cols() {
        return cols;
    }

    /** Returns the values, row after row; not to be changed. */
    float[] values() {
        return values;
    }
}
