package org.brickprofiler.checksum;

/**
 * Two entries that belong together and agree. Immutable.
 *
 * @param here the entry of the log that was compared
 * @param reference the reference's entry
 */
public record Match(ChecksumEntry here, ChecksumEntry reference) {}
