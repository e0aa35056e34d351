package org.brickprofiler.checksum;

import java.util.Optional;
import org.brickprofiler.checksum.Divergence.Kind;
import org.jspecify.annotations.Nullable;

/** Compares entries that belong together, and keeps the largest errors among their samples. Mutable; one thread. */
final class EntryComparer {

    private final Tolerance tolerance;
    private final boolean bySamples;

    private @Nullable ValueError largestAbsolute;
    private @Nullable ValueError largestRelative;

    /**
     * No entries so far.
     *
     * @param tolerance how far values may be apart
     * @param bySamples whether samples are compared, which both sides then have, and not checksums
     */
    EntryComparer(Tolerance tolerance, boolean bySamples) {
        this.tolerance = tolerance;
        this.bySamples = bySamples;
    }

    /**
     * Compares two entries.
     *
     * @param here the entry of the log that is compared
     * @param reference the reference's entry
     * @param repeat the repeat number of both
     * @return in what they do not agree, or nothing
     */
    Optional<Divergence> compare(ChecksumEntry here, ChecksumEntry reference, int repeat) {
        ValueError worst = bySamples && here.elements() == reference.elements() ? worstSample(here, reference) : null;
        Kind kind = bySamples ? kindBySamples(here, reference, worst) : kindByHash(here, reference);
        return Optional.ofNullable(kind)
                .map(differs -> new Divergence(
                        differs, repeat, Optional.of(here), Optional.of(reference), Optional.ofNullable(worst)));
    }

    private static @Nullable Kind kindByHash(ChecksumEntry here, ChecksumEntry reference) {
        if (here.hash() == reference.hash()) {
            return null;
        }
        return sameNonFinite(here, reference) ? Kind.DIFFERENT : Kind.NON_FINITE;
    }

    private static @Nullable Kind kindBySamples(
            ChecksumEntry here, ChecksumEntry reference, @Nullable ValueError worst) {
        if (here.elements() != reference.elements()) {
            return Kind.DIFFERENT_LENGTH;
        }
        if (!sameNonFinite(here, reference) || (worst != null && !worst.isFinite())) {
            return Kind.NON_FINITE;
        }
        return worst == null ? null : Kind.OUT_OF_TOLERANCE;
    }

    private static boolean sameNonFinite(ChecksumEntry here, ChecksumEntry reference) {
        return here.nans() == reference.nans() && here.infinities() == reference.infinities();
    }

    /** The sample that is farthest outside the tolerance, if one is outside. */
    private @Nullable ValueError worstSample(ChecksumEntry here, ChecksumEntry reference) {
        int count = here.samples().size();
        ValueError worst = null;
        double largestExcess = 0;
        for (int i = 0; i < count; i++) {
            int index = ChecksumOptions.sampleIndex(i, count, here.elements());
            float got = here.samples().get(i);
            float expected = reference.samples().get(i);
            ValueError error = new ValueError(here, index, expected, got);
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
     * The largest absolute error so far.
     *
     * @return the first sample with it; empty where no finite ones were compared
     */
    Optional<ValueError> largestAbsolute() {
        return Optional.ofNullable(largestAbsolute);
    }

    /**
     * The largest relative error so far.
     *
     * @return the first sample with it; empty where none was compared that has one
     */
    Optional<ValueError> largestRelative() {
        return Optional.ofNullable(largestRelative);
    }
}
