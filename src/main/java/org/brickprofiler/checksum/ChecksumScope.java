package org.brickprofiler.checksum;

/** How much of an output its checksum covers. */
public enum ChecksumScope {

    /** The first 64 floats: the same cost whatever the size. What differs after them goes unnoticed. */
    FIRST_64("first_64", 64),

    /** Every float. */
    WHOLE("whole", Integer.MAX_VALUE);

    private final String displayName;
    private final int mostFloats;

    ChecksumScope(String displayName, int mostFloats) {
        this.displayName = displayName;
        this.mostFloats = mostFloats;
    }

    /**
     * The name in files and reports.
     *
     * @return for example {@code "first_64"}
     */
    public String displayName() {
        return displayName;
    }

    /**
     * How many floats of an output are covered.
     *
     * @param elements floats in the output
     * @return the first so many
     */
    public int covered(int elements) {
        return Math.min(elements, mostFloats);
    }
}
