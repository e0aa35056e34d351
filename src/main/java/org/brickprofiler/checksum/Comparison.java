package org.brickprofiler.checksum;

import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * What came out of comparing a log with a reference. Immutable.
 *
 * @param tolerance how far values were allowed to be apart
 * @param here the log that was compared
 * @param reference the log that is taken to be right
 * @param compared entries that both have
 * @param equalHashes those of them with the same checksum on both sides
 * @param diverging those of them that diverge
 * @param comparedByHash those of them whose checksums were compared although a tolerance was asked for, because a side
 *     has no samples
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
        ComparedLog here,
        ComparedLog reference,
        int compared,
        int equalHashes,
        int diverging,
        int comparedByHash,
        Optional<Divergence> first,
        List<Match> before,
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
}
