package org.brickprofiler.checksum;

import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.brickprofiler.checksum.Divergence.ValueError;

/**
 * What came out of comparing a log with a reference. Immutable.
 *
 * @param tolerance how far values were allowed to be apart
 * @param here the log that was compared
 * @param reference the log that is taken to be right
 * @param compared entries that both have
 * @param equalHashes those of them with the same checksum on both sides
 * @param diverging those of them that diverge
 * @param comparedByHash those of them whose checksums were compared although a tolerance was given, because a side has
 *     no samples
 * @param first the earliest divergence in {@code here}'s order of execution, entries of one side included; empty where
 *     both logs agree
 * @param before the last entries of {@code here} before the first divergence, at most {@link #NEIGHBOURS}; where there
 *     is no divergence, the last ones of all
 * @param largestAbsolute the finite sample that is farthest from the reference's; empty where no samples were compared
 * @param largestRelative the finite sample that is farthest from the reference's as a share of that, samples aside
 *     where 0 is expected
 */
public record Comparison(
        Tolerance tolerance,
        Side here,
        Side reference,
        int compared,
        int equalHashes,
        int diverging,
        int comparedByHash,
        Optional<Divergence> first,
        List<Pair> before,
        Optional<ValueError> largestAbsolute,
        Optional<ValueError> largestRelative) {

    /** The most entries that are kept from before a divergence. */
    public static final int NEIGHBOURS = 3;

    /** Makes the list unchangeable. */
    public Comparison {
        Objects.requireNonNull(tolerance, "tolerance");
        Objects.requireNonNull(here, "here");
        Objects.requireNonNull(reference, "reference");
        Objects.requireNonNull(first, "first");
        Objects.requireNonNull(before, "before");
        Objects.requireNonNull(largestAbsolute, "largestAbsolute");
        Objects.requireNonNull(largestRelative, "largestRelative");
        before = List.copyOf(before);
    }

    /**
     * Whether both logs agree.
     *
     * @return true if there is no divergence, and each entry is on both sides
     */
    public boolean matches() {
        return first.isEmpty();
    }

    /**
     * One side of a comparison. Immutable.
     *
     * @param entries its entries
     * @param dropped further ones that it dropped: what seems to be missing on this side may be among them
     * @param only the entries that the other side lacks, in this side's order of execution
     * @param nonFinite entries with a NaN or an infinity
     * @param firstNonFinite the first of these
     */
    public record Side(
            int entries, long dropped, List<Divergence> only, int nonFinite, Optional<ChecksumEntry> firstNonFinite) {

        /** Makes the list unchangeable. */
        public Side {
            Objects.requireNonNull(only, "only");
            Objects.requireNonNull(firstNonFinite, "firstNonFinite");
            only = List.copyOf(only);
        }
    }

    /**
     * Two entries that belong together and agree. Immutable.
     *
     * @param here the entry of the log that was compared
     * @param reference the reference's entry
     */
    public record Pair(ChecksumEntry here, ChecksumEntry reference) {

        /**
         * Refuses null.
         *
         * @throws NullPointerException when a component is null; the message names it
         */
        public Pair {
            Objects.requireNonNull(here, "here");
            Objects.requireNonNull(reference, "reference");
        }
    }
}
