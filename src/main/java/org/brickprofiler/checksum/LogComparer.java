package org.brickprofiler.checksum;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.brickprofiler.checksum.Divergence.Kind;
import org.brickprofiler.checksum.Divergence.ValueError;
import org.jspecify.annotations.Nullable;

/** Compares two logs, once. Not thread-safe. */
final class LogComparer {

    private final ChecksumOptions.Scope scope;
    private final Tolerance tolerance;
    private final boolean bySamples;
    private final List<ChecksumEntry> here;
    private final List<ChecksumEntry> reference;
    private final long droppedHere;
    private final long droppedInReference;
    private final Alignment alignment;

    private final List<Divergence> onlyHere = new ArrayList<>();
    private final List<Divergence> onlyInReference = new ArrayList<>();
    private int equalHashes;
    private int diverging;
    private int nonFiniteByNumber;
    private @Nullable ValueError largestAbsolute;
    private @Nullable ValueError largestRelative;

    /** A divergence, and the number of entries executed here before it. */
    private record Site(int executedBefore, Optional<Divergence> divergence) {}

    /**
     * Creates a comparison of the logs as they are now.
     *
     * @param here the log to compare
     * @param reference the log that is assumed to be correct
     * @param tolerance the largest difference that counts as equal
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
        this.scope = options.scope();
        this.bySamples = !tolerance.isExact() && options.samples() > 0 && others.samples() > 0;
        if (bySamples && options.samples() != others.samples()) {
            throw new IllegalArgumentException(options.samples() + " samples of an output cannot be compared with the "
                    + others.samples() + " of the reference: they cover different floats");
        }
        this.here = here.list();
        this.reference = reference.list();
        this.droppedHere = here.droppedCount();
        this.droppedInReference = reference.droppedCount();
        this.alignment = new Alignment(this.here, this.reference);
    }

    ChecksumComparison compare() {
        Site inHere = firstInHere();
        Site missing = firstMissing();
        Site first = missing.executedBefore() <= inHere.executedBefore()
                        && missing.divergence().isPresent()
                ? missing
                : inHere;
        int compared = here.size() - onlyHere.size();
        return ChecksumComparison.builder(
                        tolerance,
                        side(here, droppedHere, onlyHere),
                        side(reference, droppedInReference, onlyInReference))
                .compared(compared, equalHashes, diverging, tolerance.isExact() || bySamples ? 0 : compared)
                .nonFiniteByNumber(nonFiniteByNumber)
                .first(first.divergence(), before(first.executedBefore()))
                .largest(Optional.ofNullable(largestAbsolute), Optional.ofNullable(largestRelative))
                .build();
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
        Optional<Divergence> divergence = compare(entry, expected, repeat);
        equalHashes += entry.hash() == expected.hash() ? 1 : 0;
        diverging += divergence.isPresent() ? 1 : 0;
        nonFiniteByNumber += divergence.isEmpty() && !entry.isFinite() && !isCovered(entry, expected) ? 1 : 0;
        return divergence;
    }

    /** Returns whether all floats of two entries that agree were compared. */
    private boolean isCovered(ChecksumEntry entry, ChecksumEntry expected) {
        boolean isHashed = entry.hash() == expected.hash() && scope.covered(entry.elements()) == entry.elements();
        return isHashed || (bySamples && entry.samples().size() == entry.elements());
    }

    /** Returns the divergence of two entries; empty if they agree. */
    private Optional<Divergence> compare(ChecksumEntry entry, ChecksumEntry expected, int repeat) {
        ValueError worst = bySamples && entry.elements() == expected.elements() ? worstSample(entry, expected) : null;
        Kind kind = bySamples ? kindBySamples(entry, expected, worst) : kindByHash(entry, expected);
        return Optional.ofNullable(kind)
                .map(differs -> new Divergence(
                        differs, repeat, Optional.of(entry), Optional.of(expected), Optional.ofNullable(worst)));
    }

    private static @Nullable Kind kindByHash(ChecksumEntry entry, ChecksumEntry expected) {
        if (!sameNonFinite(entry, expected)) {
            return Kind.NON_FINITE;
        }
        if (entry.hash() != expected.hash()) {
            return Kind.DIFFERENT;
        }
        // The checksum of the first floats does not cover the length.
        return entry.elements() == expected.elements() ? null : Kind.DIFFERENT_LENGTH;
    }

    private static @Nullable Kind kindBySamples(
            ChecksumEntry entry, ChecksumEntry expected, @Nullable ValueError worst) {
        if (entry.elements() != expected.elements()) {
            return Kind.DIFFERENT_LENGTH;
        }
        if (!sameNonFinite(entry, expected) || (worst != null && !worst.isFinite())) {
            return Kind.NON_FINITE;
        }
        return worst == null ? null : Kind.OUT_OF_TOLERANCE;
    }

    private static boolean sameNonFinite(ChecksumEntry entry, ChecksumEntry expected) {
        return entry.nans() == expected.nans() && entry.infinities() == expected.infinities();
    }

    /** Returns the sample that is farthest outside the tolerance, if one is outside. */
    private @Nullable ValueError worstSample(ChecksumEntry entry, ChecksumEntry reference) {
        int count = entry.samples().size();
        ValueError worst = null;
        double largestExcess = 0;
        for (int i = 0; i < count; i++) {
            int index = ChecksumOptions.sampleIndex(i, count, entry.elements());
            float got = entry.samples().get(i);
            float expected = reference.samples().get(i);
            ValueError error = new ValueError(entry, index, expected, got);
            keepLargest(error);
            double excess = tolerance.excess(got, expected);
            if (excess > largestExcess) {
                largestExcess = excess;
                worst = error;
            }
        }
        return worst;
    }

    private void keepLargest(ValueError error) {
        if (!error.isFinite()) {
            return;
        }
        if (largestAbsolute == null || error.absolute() > largestAbsolute.absolute()) {
            largestAbsolute = error;
        }
        if (error.expected() != 0 && (largestRelative == null || error.relative() > largestRelative.relative())) {
            largestRelative = error;
        }
    }

    /**
     * Returns the first entry that only the reference has. It counts as executed after all entries here that the
     * reference executed before it.
     */
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

    private static ChecksumComparison.Side side(List<ChecksumEntry> log, long dropped, List<Divergence> only) {
        int nonFinite = 0;
        Optional<ChecksumEntry> first = Optional.empty();
        for (ChecksumEntry entry : log) {
            if (!entry.isFinite()) {
                nonFinite++;
                first = first.isEmpty() ? Optional.of(entry) : first;
            }
        }
        return new ChecksumComparison.Side(log.size(), dropped, only, nonFinite, first);
    }

    /** Returns the last pairs before the first divergence; both sides have these entries and agree. */
    private List<ChecksumComparison.Pair> before(int executed) {
        return IntStream.range(Math.max(0, executed - ChecksumComparison.NEIGHBOURS), executed)
                .mapToObj(i -> new ChecksumComparison.Pair(here.get(i), reference.get(alignment.toReference(i))))
                .toList();
    }

    /**
     * Maps the entries of two logs onto each other: the n-th of a name, layer and position to the n-th of the same
     * name, layer and position. Immutable.
     */
    private static final class Alignment {

        /** Replaces an index if there is no entry. */
        static final int NONE = -1;

        private final int[] toReference;
        private final int[] toHere;
        private final int[] repeatHere;
        private final int[] repeatInReference;

        private record Place(String name, int layer, int position) {
            static Place of(ChecksumEntry entry) {
                return new Place(entry.name(), entry.layer(), entry.position());
            }
        }

        Alignment(List<ChecksumEntry> here, List<ChecksumEntry> reference) {
            toReference = new int[here.size()];
            repeatHere = new int[here.size()];
            toHere = new int[reference.size()];
            repeatInReference = new int[reference.size()];
            Arrays.fill(toHere, NONE);
            Map<Place, List<Integer>> inReference = new HashMap<>();
            for (int i = 0; i < toHere.length; i++) {
                List<Integer> same =
                        inReference.computeIfAbsent(Place.of(reference.get(i)), place -> new ArrayList<>(1));
                repeatInReference[i] = same.size();
                same.add(i);
            }
            align(here, inReference);
        }

        private void align(List<ChecksumEntry> here, Map<Place, List<Integer>> inReference) {
            Map<Place, Integer> seen = new HashMap<>();
            for (int i = 0; i < toReference.length; i++) {
                Place place = Place.of(here.get(i));
                int repeat = seen.merge(place, 1, Integer::sum) - 1;
                List<Integer> same = inReference.getOrDefault(place, List.of());
                repeatHere[i] = repeat;
                toReference[i] = repeat < same.size() ? same.get(repeat) : NONE;
                if (toReference[i] != NONE) {
                    toHere[toReference[i]] = i;
                }
            }
        }

        /** Returns the index of the reference's entry that belongs to an entry here, or {@link #NONE}. */
        int toReference(int here) {
            return toReference[here];
        }

        /** Returns the index of the entry here that belongs to an entry of the reference, or {@link #NONE}. */
        int toHere(int reference) {
            return toHere[reference];
        }

        /** Returns the number of earlier entries of the same name, layer and position as an entry here. */
        int repeatHere(int here) {
            return repeatHere[here];
        }

        /** Returns the number of earlier entries of the same name, layer and position as an entry of the reference. */
        int repeatInReference(int reference) {
            return repeatInReference[reference];
        }
    }
}
