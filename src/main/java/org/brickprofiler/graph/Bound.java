package org.brickprofiler.graph;

/** What limits a kernel in the roofline model. */
public enum Bound {
    /** The memory bandwidth: the kernel lies left of the ridge point. */
    MEMORY,
    /** The peak rate: the kernel lies at the ridge point or right of it. */
    COMPUTE
}
