package org.brickprofiler;

/** How deferred measurements that share one synchronisation divide the time before it. */
public enum Attribution {
    /**
     * Each measurement lasts from its start to the synchronisation. This suits one brick between synchronisations; the
     * spans of several overlap, and their sum exceeds the time that passed. The default.
     */
    LITERAL,
    /**
     * Each measurement lasts from its start to the next start, the last one to the synchronisation. The parts sum to
     * the time from the first start to the synchronisation.
     */
    SEQUENTIAL
}
