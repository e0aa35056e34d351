package org.brickprofiler;

import static org.brickprofiler.internal.io.Checks.requireNotNegative;
import static org.brickprofiler.internal.io.Sums.limited;

/**
 * What a brick had to do, however long that took: its operations, and the bytes that it has to move at least.
 * Immutable.
 *
 * <p>A byte that a sample uses several times counts once. How fast it can come depends on where it is, and so on how
 * much else was used since it was used last: its working set. The weights of a model that decodes have the whole model
 * as their working set, however small the matrix; the output of one brick that is the next one's input has only itself.
 *
 * @param flops floating-point operations; a multiplication with an addition counts as two
 * @param bytes bytes read and written
 * @param workingSetBytes the largest working set, bytes
 */
public record Work(long flops, long bytes, long workingSetBytes) {

    /** Nothing to do, or nothing known. */
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
     * Work of which the working set is not known: it counts as the bytes themselves.
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
     * The arithmetic intensity.
     *
     * @return FLOP/byte; infinite for operations without bytes, 0 without operations
     */
    public double intensity() {
        return flops == 0 ? 0.0 : (double) flops / bytes;
    }

    /**
     * Whether a sum no longer fits: sums stay at 2<sup>63</sup> - 1, and nothing follows from them then.
     *
     * @return true where a component has that value
     */
    public boolean isBeyondCount() {
        return flops == Long.MAX_VALUE || bytes == Long.MAX_VALUE;
    }

    /**
     * Both together: sums, and the larger working set. Commutative and associative.
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
