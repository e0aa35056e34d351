package org.brickprofiler.checksum;

import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Function;

/**
 * An entry in which a log and its reference do not agree. Immutable.
 *
 * @param kind the kind of difference
 * @param repeat the number of earlier entries with the same name, layer and position in its log
 * @param here the entry of the log that was compared; empty if it has none
 * @param reference the reference's entry; empty if it has none
 * @param worst the sample that is farthest outside the tolerance; empty if checksums were compared
 */
public record Divergence(
        Kind kind,
        int repeat,
        Optional<ChecksumEntry> here,
        Optional<ChecksumEntry> reference,
        Optional<ValueError> worst) {

    private static final String NOTHING = "nothing";

    /** The kind of difference between a log and its reference. */
    public enum Kind {
        /** The checksums differ. */
        DIFFERENT,
        /** A sample is outside the tolerance. */
        OUT_OF_TOLERANCE,
        /** The sides differ in the places or numbers of NaNs or infinities. */
        NON_FINITE,
        /**
         * The outputs differ in length. Their samples are then different floats, and checksums of their first floats
         * may be equal.
         */
        DIFFERENT_LENGTH,
        /** Only the reference has the entry. */
        MISSING_HERE,
        /** Only the log that was compared has the entry. */
        MISSING_IN_REFERENCE
    }

    /**
     * Checks that the entries fit the kind.
     *
     * @throws IllegalArgumentException when an entry is missing that the kind requires, or present that the kind
     *     excludes
     */
    public Divergence {
        Objects.requireNonNull(kind, "kind");
        Objects.requireNonNull(here, "here");
        Objects.requireNonNull(reference, "reference");
        Objects.requireNonNull(worst, "worst");
        if (here.isEmpty() != (kind == Kind.MISSING_HERE)
                || reference.isEmpty() != (kind == Kind.MISSING_IN_REFERENCE)) {
            throw new IllegalArgumentException(kind + " with " + here + " and reference " + reference);
        }
    }

    /**
     * Returns the brick.
     *
     * @return its name
     */
    public String name() {
        return either().name();
    }

    /**
     * Returns the layer.
     *
     * @return its number, or {@link ChecksumEntry#NO_LAYER}
     */
    public int layer() {
        return either().layer();
    }

    /**
     * Returns the position in the sequence.
     *
     * @return 0 or more
     */
    public int position() {
        return either().position();
    }

    private ChecksumEntry either() {
        return here.or(() -> reference).orElseThrow();
    }

    /**
     * Returns the brick's time in the log that was compared.
     *
     * @return ns; empty if it is not known
     */
    public OptionalLong elapsedNs() {
        return here.map(ChecksumEntry::elapsedNs).orElse(OptionalLong.empty());
    }

    /**
     * Returns the brick's time in the reference.
     *
     * @return ns; empty if it is not known
     */
    public OptionalLong referenceElapsedNs() {
        return reference.map(ChecksumEntry::elapsedNs).orElse(OptionalLong.empty());
    }

    /**
     * Returns the divergence in one line: its place, the reference's checksum and the checksum that was found. The
     * kinds {@link Kind#OUT_OF_TOLERANCE}, {@link Kind#NON_FINITE} and {@link Kind#DIFFERENT_LENGTH} add their values
     * in parentheses.
     *
     * @return for example {@code DIVERGENCE at 'RmsNorm' (layer 0, pos 7): expected 0x85944171F73967E8, got
     *     0xCBF29CE484222325}
     */
    @Override
    public String toString() {
        String line = String.format(
                Locale.ROOT,
                "DIVERGENCE at '%s' (layer %d, pos %d): expected %s, got %s",
                name(),
                layer(),
                position(),
                reference.map(Divergence::hash).orElse(NOTHING),
                here.map(Divergence::hash).orElse(NOTHING));
        return line + detail().map(detail -> " (" + detail + ")").orElse("");
    }

    private static String hash(ChecksumEntry entry) {
        return String.format(Locale.ROOT, "0x%016X", entry.hash());
    }

    private Optional<String> detail() {
        return switch (kind) {
            case DIFFERENT, MISSING_HERE, MISSING_IN_REFERENCE -> Optional.empty();
            case OUT_OF_TOLERANCE -> worst.map(Divergence::value);
            case NON_FINITE -> worst.map(Divergence::value).or(() -> Optional.of(both(Divergence::nonFinite)));
            case DIFFERENT_LENGTH -> Optional.of(both(entry -> entry.elements() + " floats"));
        };
    }

    private static String value(ValueError error) {
        return "float " + error.index() + ": expected " + error.expected() + ", got " + error.got();
    }

    private static String nonFinite(ChecksumEntry entry) {
        return entry.nans() + " NaN and " + entry.infinities() + " infinite";
    }

    private String both(Function<ChecksumEntry, String> part) {
        return "expected " + part.apply(reference.orElseThrow()) + ", got " + part.apply(here.orElseThrow());
    }

    /**
     * A value of an output that differs from the reference's. Immutable.
     *
     * @param entry the output
     * @param index the index of the float
     * @param expected the reference's value
     * @param got the value
     */
    public record ValueError(ChecksumEntry entry, int index, float expected, float got) {

        /**
         * Refuses null.
         *
         * @throws NullPointerException when a component is null; the message names it
         */
        public ValueError {
            Objects.requireNonNull(entry, "entry");
        }

        /**
         * Returns the difference.
         *
         * @return 0 or more; NaN or infinite if a value is
         */
        public double absolute() {
            return Math.abs((double) got - expected);
        }

        /**
         * Returns the difference as a share of the expected value.
         *
         * @return 0 or more; infinite if 0 is expected and the value differs; NaN or infinite if a value is
         */
        public double relative() {
            return got == expected ? 0 : absolute() / Math.abs((double) expected);
        }

        /**
         * Returns whether both values are finite.
         *
         * @return false if one of the two values is NaN or infinite
         */
        public boolean isFinite() {
            return Float.isFinite(expected) && Float.isFinite(got);
        }
    }
}
