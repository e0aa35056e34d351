package org.brickprofiler.trace.read;

/** Which events of a trace count. */
public enum Counting {
    /** Kernels, copies and fills, by the categories that Kineto gives them. */
    DEVICE_EVENTS("kernels, copies and fills"),
    /** Every slice: the trace marks no event as the device's. */
    ALL_SLICES("every slice, for none is marked as the device's"),
    /** The spans of bricks, in a trace that this library wrote. */
    BRICKS("bricks of this library, each with its whole duration");

    private final String displayName;

    Counting(String displayName) {
        this.displayName = displayName;
    }

    /**
     * The words in reports.
     *
     * @return for example {@code "kernels, copies and fills"}
     */
    public String displayName() {
        return displayName;
    }
}
