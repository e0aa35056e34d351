package org.brickprofiler.checksum;

import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.brickprofiler.checksum.Divergence.ValueError;

/**
 * The result of comparing a log with a reference. Immutable.
 *
 * @param tolerance the largest difference that counts as equal
 * @param here the log that was compared
 * @param reference the log that is assumed to be correct
 * @param compared the number of entries that both logs have
 * @param equalHashes the number of compared entries with equal checksums
 * @param diverging the number of compared entries that diverge
 * @param comparedByHash the number of compared entries whose checksums were compared although a tolerance was given,
 *     because one side has no samples
 * @param nonFiniteByNumber the number of compared entries that agree and have NaN or infinite values of which some are
 *     covered neither by samples nor by equal checksums: only their numbers were compared, and not their places or the
 *     signs of infinities
 * @param first the earliest divergence in {@code here}'s order of execution, entries of one side included; empty if
 *     both logs agree
 * @param before the last entries of {@code here} before the first divergence, at most {@link #NEIGHBOURS}; if there is
 *     no divergence, the last entries of the log
 * @param largestAbsolute the finite sample with the largest absolute error; empty if no samples were compared
 * @param largestRelative the finite sample with the largest relative error, without samples whose reference is 0
 */
public record ChecksumComparison(
        Tolerance tolerance,
        Side here,
        Side reference,
        int compared,
        int equalHashes,
        int diverging,
        int comparedByHash,
        int nonFiniteByNumber,
        Optional<Divergence> first,
        List<Pair> before,
        Optional<ValueError> largestAbsolute,
        Optional<ValueError> largestRelative) {

    /** The most entries that are kept from before a divergence. */
    public static final int NEIGHBOURS = 3;

    /** Makes the list unchangeable. */
    public ChecksumComparison {
        Objects.requireNonNull(tolerance, "tolerance");
        Objects.requireNonNull(here, "here");
        Objects.requireNonNull(reference, "reference");
        Objects.requireNonNull(first, "first");
        Objects.requireNonNull(before, "before");
        Objects.requireNonNull(largestAbsolute, "largestAbsolute");
        Objects.requireNonNull(largestRelative, "largestRelative");
        before = List.copyOf(before);
    }

    /** Returns a builder of the result of a comparison. */
    static Builder builder(Tolerance tolerance, Side here, Side reference) {
        return new Builder(tolerance, here, reference);
    }

    /**
     * Returns whether both logs agree.
     *
     * @return true if there is no divergence, and each entry is on both sides
     */
    public boolean matches() {
        return first.isEmpty();
    }

    /**
     * One side of a comparison. Immutable.
     *
     * @param entries the number of its entries
     * @param dropped the number of entries that it dropped; an entry that seems to be missing may be among them
     * @param only the entries that the other side lacks, in this side's order of execution
     * @param nonFinite the number of entries with a NaN or an infinity
     * @param firstNonFinite the first entry with a NaN or an infinity
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
     * Two matching entries that agree. Immutable.
     *
     * @param here the entry of the log that was compared
     * @param reference the reference's entry
     */
    public record Pair(ChecksumEntry here, ChecksumEntry reference) {

        /**
         * Checks both entries.
         *
         * @throws NullPointerException if a component is null; the message names it
         */
        public Pair {
            Objects.requireNonNull(here, "here");
            Objects.requireNonNull(reference, "reference");
        }
    }

    /** Sets the values by name; the others stay at 0, empty or unknown. Not thread-safe. */
    static final class Builder {
        private final Tolerance tolerance;
        private final Side here;
        private final Side reference;
        private int compared;
        private int equalHashes;
        private int diverging;
        private int comparedByHash;
        private int nonFiniteByNumber;
        private Optional<Divergence> first = Optional.empty();
        private List<Pair> before = List.of();
        private Optional<ValueError> largestAbsolute = Optional.empty();
        private Optional<ValueError> largestRelative = Optional.empty();

        private Builder(Tolerance tolerance, Side here, Side reference) {
            this.tolerance = tolerance;
            this.here = here;
            this.reference = reference;
        }

        Builder compared(int entries, int equal, int different, int byHash) {
            compared = entries;
            equalHashes = equal;
            diverging = different;
            comparedByHash = byHash;
            return this;
        }

        Builder nonFiniteByNumber(int entries) {
            nonFiniteByNumber = entries;
            return this;
        }

        Builder first(Optional<Divergence> earliest, List<Pair> agreeing) {
            first = earliest;
            before = agreeing;
            return this;
        }

        Builder largest(Optional<ValueError> absolute, Optional<ValueError> relative) {
            largestAbsolute = absolute;
            largestRelative = relative;
            return this;
        }

        ChecksumComparison build() {
            return new ChecksumComparison(
                    tolerance,
                    here,
                    reference,
                    compared,
                    equalHashes,
                    diverging,
                    comparedByHash,
                    nonFiniteByNumber,
                    first,
                    before,
                    largestAbsolute,
                    largestRelative);
        }
    }
}
