package org.brickprofiler.checksum;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.brickprofiler.checksum.Divergence.Kind;

/** Compares two logs, once. One thread. */
final class LogComparer {

    private final Tolerance tolerance;
    private final boolean bySamples;
    private final List<ChecksumEntry> here;
    private final List<ChecksumEntry> reference;
    private final long droppedHere;
    private final long droppedInReference;
    private final Alignment alignment;
    private final EntryComparer entries;

    private final List<Divergence> onlyHere = new ArrayList<>();
    private final List<Divergence> onlyInReference = new ArrayList<>();
    private int equalHashes;
    private int diverging;

    /** A divergence, and how many entries were executed here before it. */
    private record Site(int executedBefore, Optional<Divergence> divergence) {}

    /**
     * A comparison of what both logs hold now.
     *
     * @param here the log to compare
     * @param reference the log that is taken to be right
     * @param tolerance how far values may be apart
     * @throws IllegalArgumentException when the logs cannot be compared
     */
    LogComparer(ChecksumLog here, ChecksumLog reference, Tolerance tolerance) {
        ChecksumOptions options = here.options();
        ChecksumOptions others = reference.options();
        if (options.scope() != others.scope()) {
            throw new IllegalArgumentException("checksums of scope " + options.scope()
                    + " cannot be compared with the reference's of scope " + others.scope());
        }
        this.tolerance = tolerance;
        this.bySamples = !tolerance.isExact() && options.samples() > 0 && others.samples() > 0;
        if (bySamples && options.samples() != others.samples()) {
            throw new IllegalArgumentException(options.samples() + " samples of an output cannot be compared with the "
                    + others.samples() + " of the reference: they are of other floats");
        }
        this.here = here.list();
        this.reference = reference.list();
        this.droppedHere = here.droppedCount();
        this.droppedInReference = reference.droppedCount();
        this.alignment = new Alignment(this.here, this.reference);
        this.entries = new EntryComparer(tolerance, bySamples);
    }

    /**
     * Compares.
     *
     * @return what was found
     */
    Comparison compare() {
        Site inHere = firstInHere();
        Site missing = firstMissing();
        Site first = missing.executedBefore() <= inHere.executedBefore()
                        && missing.divergence().isPresent()
                ? missing
                : inHere;
        int compared = here.size() - onlyHere.size();
        return new Comparison(
                tolerance,
                side(here, droppedHere, onlyHere),
                side(reference, droppedInReference, onlyInReference),
                compared,
                equalHashes,
                diverging,
                tolerance.isExact() || bySamples ? 0 : compared,
                first.divergence(),
                before(first.executedBefore()),
                entries.largestAbsolute(),
                entries.largestRelative());
    }

    private Site firstInHere() {
        Site first = new Site(here.size(), Optional.empty());
        for (int i = 0; i < here.size(); i++) {
            Optional<Divergence> divergence = divergenceOf(i);
            if (divergence.isPresent() && first.divergence().isEmpty()) {
                first = new Site(i, divergence);
            }
        }
        return first;
    }

    private Optional<Divergence> divergenceOf(int index) {
        ChecksumEntry entry = here.get(index);
        int repeat = alignment.repeatHere(index);
        int other = alignment.toReference(index);
        if (other == Alignment.NONE) {
            onlyHere.add(new Divergence(
                    Kind.MISSING_IN_REFERENCE, repeat, Optional.of(entry), Optional.empty(), Optional.empty()));
            return Optional.of(onlyHere.get(onlyHere.size() - 1));
        }
        ChecksumEntry expected = reference.get(other);
        Optional<Divergence> divergence = entries.compare(entry, expected, repeat);
        equalHashes += entry.hash() == expected.hash() ? 1 : 0;
        diverging += divergence.isPresent() ? 1 : 0;
        return divergence;
    }

    /** The first entry that is missing stands behind everything here that the reference executed before it. */
    private Site firstMissing() {
        Site first = new Site(here.size(), Optional.empty());
        int executed = 0;
        for (int i = 0; i < reference.size(); i++) {
            int other = alignment.toHere(i);
            executed = Math.max(executed, other + 1);
            if (other == Alignment.NONE) {
                Divergence missing = new Divergence(
                        Kind.MISSING_HERE,
                        alignment.repeatInReference(i),
                        Optional.empty(),
                        Optional.of(reference.get(i)),
                        Optional.empty());
                onlyInReference.add(missing);
                first = first.divergence().isEmpty() ? new Site(executed, Optional.of(missing)) : first;
            }
        }
        return first;
    }

    private static ComparedLog side(List<ChecksumEntry> log, long dropped, List<Divergence> only) {
        int nonFinite = 0;
        Optional<ChecksumEntry> first = Optional.empty();
        for (ChecksumEntry entry : log) {
            if (!entry.isFinite()) {
                nonFinite++;
                first = first.isEmpty() ? Optional.of(entry) : first;
            }
        }
        return new ComparedLog(log.size(), dropped, only, nonFinite, first);
    }

    /** All entries before the first divergence are on both sides and agree. */
    private List<Match> before(int executed) {
        return IntStream.range(Math.max(0, executed - Comparison.NEIGHBOURS), executed)
                .mapToObj(i -> new Match(here.get(i), reference.get(alignment.toReference(i))))
                .toList();
    }
}
