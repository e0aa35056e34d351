package org.brickprofiler;

/**
 * The resource that limits a brick, as its author found. If two snapshots disagree, a merge keeps the later constant.
 */
public enum Bottleneck {
    /** Nobody has said. */
    UNKNOWN,
    /** Memory bandwidth. */
    MEMORY,
    /** Arithmetic throughput. */
    COMPUTE
}
