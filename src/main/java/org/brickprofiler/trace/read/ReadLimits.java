package org.brickprofiler.trace.read;

/**
 * What bounds the memory of a reading; a trace beyond a limit is refused, but for the distinct names. Immutable.
 *
 * @param nestingDepth arrays and objects inside one another
 * @param stringLength characters of a string that matters: name, category, phase, row; others are passed over
 * @param distinctNames kernels that are told apart; further ones that no rule matches all feed {@code (other names)}
 * @param rows pairs of process and thread
 * @param openSlices slices of one row that are open at the same time
 */
public record ReadLimits(int nestingDepth, int stringLength, int distinctNames, int rows, int openSlices) {

    /** Generous for real traces, and small enough for a heap of 64 MB. */
    public static final ReadLimits DEFAULT = new ReadLimits(200, 1 << 20, 4_058, 16_384, 1_024);

    /**
     * Checks the limits.
     *
     * @throws IllegalArgumentException when one is not positive
     */
    public ReadLimits {
        requirePositive("nestingDepth", nestingDepth);
        requirePositive("stringLength", stringLength);
        requirePositive("distinctNames", distinctNames);
        requirePositive("rows", rows);
        requirePositive("openSlices", openSlices);
    }

    private static void requirePositive(String what, int value) {
        if (value <= 0) {
            throw new IllegalArgumentException(what + " " + value + " is not positive");
        }
    }
}
