package org.brickprofiler.checksum;

import static org.brickprofiler.internal.base.Checks.requireFinite;

import java.util.Objects;

/**
 * The largest difference between values of two correct runs. A value is within the tolerance if {@code |value -
 * expected| <= absolute + relative * |expected|}, as in {@code numpy.isclose} and {@code torch.testing.assert_close};
 * 0.0 equals -0.0, an infinity equals itself, and a NaN equals any NaN (their {@code equal_nan=True}), so two runs that
 * both give NaN do not diverge. Immutable.
 *
 * <p>The tolerances by type of number are the defaults of {@code torch.testing.assert_close}. They suit one operation;
 * errors add up over the layers of a model.
 *
 * @param name its name in reports
 * @param absolute the largest difference if 0 is expected, 0 or more
 * @param relative the largest difference as a share of the expected value, 0 or more
 */
public record Tolerance(String name, double absolute, double relative) {

    /** No tolerance: checksums are compared, and so every bit that they cover. */
    public static final Tolerance EXACT = new Tolerance("exact", 0, 0);

    /** For single precision. */
    public static final Tolerance FLOAT32 = new Tolerance("float32", 1e-5, 1.3e-6);

    /** For half precision. */
    public static final Tolerance FLOAT16 = new Tolerance("float16", 1e-5, 1e-3);

    /** For bfloat16, which has 8 significant bits. */
    public static final Tolerance BFLOAT16 = new Tolerance("bfloat16", 1e-5, 1.6e-2);

    /**
     * Checks the bounds.
     *
     * @throws IllegalArgumentException when one is negative, infinite or NaN
     */
    public Tolerance {
        Objects.requireNonNull(name, "name");
        requireFinite("absolute tolerance", absolute);
        requireFinite("relative tolerance", relative);
    }

    /**
     * Creates a tolerance. With two zeros it still compares values, so that 0.0 equals -0.0.
     *
     * @param absolute the largest difference if 0 is expected, 0 or more
     * @param relative the largest difference as a share of the expected value, 0 or more
     * @return the tolerance
     * @throws IllegalArgumentException when a bound is negative, infinite or NaN
     */
    public static Tolerance of(double absolute, double relative) {
        return new Tolerance("custom", absolute, relative);
    }

    /**
     * Returns whether checksums are compared instead of values.
     *
     * @return true for {@link #EXACT}
     */
    public boolean isExact() {
        return equals(EXACT);
    }

    /**
     * Returns whether a value is within the tolerance.
     *
     * @param value the value
     * @param expected the reference's value
     * @return true if both are the same, or their difference is within the bounds
     */
    public boolean accepts(float value, float expected) {
        return excess(value, expected) <= 0;
    }

    /**
     * Returns by how much a value exceeds the bounds.
     *
     * @param value the value
     * @param expected the reference's value
     * @return 0 or less for a value within the bounds; infinite if exactly one of the two is finite
     */
    double excess(float value, float expected) {
        if (value == expected || (Float.isNaN(value) && Float.isNaN(expected))) {
            return Double.NEGATIVE_INFINITY;
        }
        if (!Float.isFinite(value) || !Float.isFinite(expected)) {
            return Double.POSITIVE_INFINITY;
        }
        return Math.abs((double) value - expected) - (absolute + relative * Math.abs((double) expected));
    }
}
