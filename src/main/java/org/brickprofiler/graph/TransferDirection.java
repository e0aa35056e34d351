package org.brickprofiler.graph;

/** The kinds of memory between which data is copied. */
public enum TransferDirection {
    /** Host to device. */
    H2D,
    /** Device to host. */
    D2H,
    /** Device to device, or within one device. */
    D2D
}
