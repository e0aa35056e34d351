package org.brickprofiler.trace.read;

/** Why an event does not count, though nothing is wrong with it. */
public enum IgnoredReason {
    /** A slice of the host, in a trace that marks the device's events. */
    HOST("host"),
    /** A slice that somebody drew around others: {@code user_annotation}, {@code gpu_user_annotation}. */
    ANNOTATION("annotation"),
    /** The slice around the whole recording. */
    WRAPPER("wrapper"),
    /** A wait for the device, drawn on the device's row: {@code cuda_sync}, {@code cuda_event}. */
    DEVICE_WAIT("wait for the device"),
    /** An arrow between two slices, such as {@code ac2g}. */
    FLOW("flow"),
    /** Names and order of rows. */
    METADATA("metadata"),
    /** An asynchronous slice, which overlaps others by its nature. */
    ASYNC("async"),
    /** A moment without duration. */
    INSTANT("instant"),
    /** The value of a counter. */
    COUNTER("counter"),
    /** The end of a slice, which counts with its begin. */
    END("end of a slice"),
    /** A phase with another meaning, or none that is known. */
    OTHER_PHASE("other phase"),
    /** A place holder: null or an empty object. */
    EMPTY("empty"),
    /** A slice that a rule says to ignore. */
    RULE("ignored by rule"),
    /** A slice that is no brick, in a trace of this library: a layer, a tile, or what an application added. */
    NO_BRICK("no brick"),
    /** A slice on a device, in a trace of this library, where the sample of its brick is the host's slice. */
    DEVICE("of a device, counted on the host");

    private final String displayName;

    IgnoredReason(String displayName) {
        this.displayName = displayName;
    }

    /**
     * The words in reports.
     *
     * @return for example {@code "metadata"}
     */
    public String displayName() {
        return displayName;
    }
}
