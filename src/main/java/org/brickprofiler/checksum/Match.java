package org.brickprofiler.checksum;

import java.util.Objects;

/**
 * Two entries that belong together and agree. Immutable.
 *
 * @param here the entry of the log that was compared
 * @param reference the reference's entry
 */
public record Match(ChecksumEntry here, ChecksumEntry reference) {

    /**
     * Refuses null.
     *
     * @throws NullPointerException when a component is null; the message names it
     */
    public Match {
        Objects.requireNonNull(here, "here");
        Objects.requireNonNull(reference, "reference");
    }
}
