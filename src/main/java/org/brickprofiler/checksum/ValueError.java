package org.brickprofiler.checksum;

import java.util.Objects;

/**
 * A value of an output that is not the reference's. Immutable.
 *
 * @param entry the output
 * @param index which of its floats
 * @param expected the reference's value
 * @param got the value
 */
public record ValueError(ChecksumEntry entry, int index, float expected, float got) {

    /**
     * Refuses null.
     *
     * @throws NullPointerException when a component is null; the message names it
     */
    public ValueError {
        Objects.requireNonNull(entry, "entry");
    }

    /**
     * The difference.
     *
     * @return 0 or more; NaN or infinite where a value is
     */
    public double absolute() {
        return Math.abs((double) got - expected);
    }

    /**
     * The difference as a share of the expected value.
     *
     * @return 0 or more; infinite where 0 is expected and the value is another, NaN or infinite where a value is
     */
    public double relative() {
        return got == expected ? 0 : absolute() / Math.abs((double) expected);
    }

    /**
     * Whether it is a matter of size.
     *
     * @return false if one of the two values is NaN or infinite
     */
    public boolean isFinite() {
        return Float.isFinite(expected) && Float.isFinite(got);
    }
}
