package org.brickprofiler;

/** What limits a brick, as its author found. Where two snapshots disagree, a merge keeps the later constant. */
public enum Bottleneck {
    /** Nobody has said. */
    UNKNOWN,
    /** Memory bandwidth. */
    MEMORY,
    /** Arithmetic throughput. */
    COMPUTE
}
