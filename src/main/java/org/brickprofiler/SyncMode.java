package org.brickprofiler;

/** When measurements of asynchronous work are resolved. */
public enum SyncMode {
    /** After each brick: exact and slow, since the device idles while the host catches up. */
    IMMEDIATE,
    /** At the end of each layer. */
    PER_LAYER,
    /** At the end of each forward pass; the default. */
    DEFERRED,
    /** Never: host time only. */
    NONE
}
