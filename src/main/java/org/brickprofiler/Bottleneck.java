package org.brickprofiler;

/**
 * The resource that limits a brick, as its author found. If two snapshots disagree, a merge keeps the later constant.
 */
public enum Bottleneck {
    /** The bottleneck was not set. */
    UNKNOWN,
    /** Memory bandwidth. */
    MEMORY,
    /** Arithmetic throughput. */
    COMPUTE
}
