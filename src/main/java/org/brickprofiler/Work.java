package org.brickprofiler;

import static org.brickprofiler.internal.base.Checks.requireNotNegative;
import static org.brickprofiler.internal.base.Sums.limited;

/**
 * The work of a brick, independent of its time: its operations, and the fewest bytes that it can move. Immutable.
 *
 * <p>A byte that a sample uses several times counts once. The speed of its access depends on its place in the memory
 * hierarchy, and so on the working set: the bytes that were used since it was used last. While a model decodes, the
 * working set of each weight is the whole model, however small the matrix; the working set of an output that the next
 * brick reads is the output alone.
 *
 * @param flops floating-point operations; a multiplication with an addition counts as two
 * @param bytes bytes read and written
 * @param workingSetBytes the largest working set, bytes
 */
public record Work(long flops, long bytes, long workingSetBytes) {

    /** No work, or unknown work. */
    public static final Work NONE = new Work(0, 0, 0);

    /**
     * Checks the values.
     *
     * @throws IllegalArgumentException when one is negative
     */
    public Work {
        requireNotNegative("flops", flops);
        requireNotNegative("bytes", bytes);
        requireNotNegative("workingSetBytes", workingSetBytes);
    }

    /**
     * Returns work with an unknown working set, which counts as the bytes themselves.
     *
     * @param flops floating-point operations
     * @param bytes bytes read and written
     * @return the work
     * @throws IllegalArgumentException when a number is negative
     */
    public static Work of(long flops, long bytes) {
        return new Work(flops, bytes, bytes);
    }

    /**
     * Returns the arithmetic intensity.
     *
     * @return FLOP/byte; infinite for operations without bytes, 0 without operations
     */
    public double intensity() {
        return flops == 0 ? 0.0 : (double) flops / bytes;
    }

    /**
     * Returns whether a sum has reached its limit of 2<sup>63</sup> - 1, so that nothing can be derived from it.
     *
     * @return true if the operations or the bytes have that value
     */
    public boolean isBeyondCount() {
        return flops == Long.MAX_VALUE || bytes == Long.MAX_VALUE;
    }

    /**
     * Returns the sums of both, with the larger working set. Commutative and associative.
     *
     * @param other the other work
     * @return the work of both
     */
    public Work plus(Work other) {
        return new Work(
                limited(flops, other.flops),
                limited(bytes, other.bytes),
                Math.max(workingSetBytes, other.workingSetBytes));
    }
}
