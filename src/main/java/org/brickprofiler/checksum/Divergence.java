package org.brickprofiler.checksum;

import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Function;

/**
 * An entry in which a log and its reference do not agree. Immutable.
 *
 * @param kind in what they do not agree
 * @param repeat how many entries with the same name, layer and position came before it in its log
 * @param here the entry of the log that was compared; empty where it has none
 * @param reference the reference's entry; empty where it has none
 * @param worst the sample that is farthest outside the tolerance; empty where checksums were compared
 */
public record Divergence(
        Kind kind,
        int repeat,
        Optional<ChecksumEntry> here,
        Optional<ChecksumEntry> reference,
        Optional<ValueError> worst) {

    private static final String NOTHING = "nothing";

    /** In what a log and its reference do not agree. */
    public enum Kind {
        /** The checksums differ. */
        DIFFERENT,
        /** A sample is outside the tolerance. */
        OUT_OF_TOLERANCE,
        /** One side has a NaN or an infinity where the other one has none, or has more of them. */
        NON_FINITE,
        /** The outputs differ in length, so that their samples are not of the same floats. */
        DIFFERENT_LENGTH,
        /** Only the reference has the entry. */
        MISSING_HERE,
        /** Only the log that was compared has the entry. */
        MISSING_IN_REFERENCE
    }

    /**
     * Checks that the entries are there.
     *
     * @throws IllegalArgumentException when an entry is missing, or present, against the kind
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
     * The brick.
     *
     * @return its name
     */
    public String name() {
        return either().name();
    }

    /**
     * The layer.
     *
     * @return its number, or {@link ChecksumEntry#NO_LAYER}
     */
    public int layer() {
        return either().layer();
    }

    /**
     * The position in the sequence.
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
     * How long the brick took in the log that was compared.
     *
     * @return ns; empty where that is not known
     */
    public OptionalLong elapsedNs() {
        return here.map(ChecksumEntry::elapsedNs).orElse(OptionalLong.empty());
    }

    /**
     * How long the brick took in the reference.
     *
     * @return ns; empty where that is not known
     */
    public OptionalLong referenceElapsedNs() {
        return reference.map(ChecksumEntry::elapsedNs).orElse(OptionalLong.empty());
    }

    /**
     * The divergence in one line: where it is, the checksum that the reference has, and the one that was found. Kinds
     * other than a different checksum add the values in parentheses.
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
     * A value of an output that is not the reference's. Immutable.
     *
     * @param entry the output
     * @param index which of its floats
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
         * The difference.
         *
         * @return 0 or more; NaN or infinite where a value is
         */
        public double absolute() {
            return Math.abs((double) got - expected);
        }

        /**
         * The difference as a share of the expected value.
         *
         * @return 0 or more; infinite where 0 is expected and the value is another, NaN or infinite where a value is
         */
        public double relative() {
            return got == expected ? 0 : absolute() / Math.abs((double) expected);
        }

        /**
         * Whether it is a matter of size.
         *
         * @return false if one of the two values is NaN or infinite
         */
        public boolean isFinite() {
            return Float.isFinite(expected) && Float.isFinite(got);
        }
    }
}
