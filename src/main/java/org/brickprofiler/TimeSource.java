package org.brickprofiler;

/** Whose clock timed the samples of a brick. */
public enum TimeSource {
    /** The host's: the time between start and stop as the host saw it. */
    HOST,
    /** A device's: the time that the work took there. */
    DEVICE,
    /** Some samples are timed by one, some by the other, as where the mode was changed or runs were merged. */
    MIXED
}
