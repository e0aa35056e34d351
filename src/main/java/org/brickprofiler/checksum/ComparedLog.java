package org.brickprofiler.checksum;

import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * One side of a comparison. Immutable.
 *
 * @param entries its entries
 * @param dropped further ones that it dropped: what seems to be missing on this side may be among them
 * @param only the entries that the other side lacks, in this side's order of execution
 * @param nonFinite entries with a NaN or an infinity among the floats that their checksum covers
 * @param firstNonFinite the first of these
 */
public record ComparedLog(
        int entries, long dropped, List<Divergence> only, int nonFinite, Optional<ChecksumEntry> firstNonFinite) {

    /** Makes the list unchangeable. */
    public ComparedLog {
        Objects.requireNonNull(only, "only");
        Objects.requireNonNull(firstNonFinite, "firstNonFinite");
        only = List.copyOf(only);
    }
}
