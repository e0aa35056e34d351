package org.brickprofiler.checksum;

import static org.brickprofiler.internal.base.Checks.requireName;
import static org.brickprofiler.internal.base.Checks.requireNotNegative;

import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * One output of one brick. Immutable.
 *
 * @param name the brick, not empty
 * @param layer its layer, or {@link #NO_LAYER}
 * @param position the position in the sequence, 0 or more
 * @param hash FNV-1a of the little-endian bytes of the floats that the log's scope covers
 * @param elements floats in the whole output; 0 for an empty output, such as an expert's without tokens
 * @param nans how many of all floats are not a number
 * @param infinities how many of all floats are infinite
 * @param elapsedNs the brick's time, ns; empty if it is not known
 * @param samples values from all over the output, at the indices that {@link ChecksumOptions#sampleIndex} gives; may be
 *     empty
 */
public record ChecksumEntry(
        String name,
        int layer,
        int position,
        long hash,
        int elements,
        int nans,
        int infinities,
        OptionalLong elapsedNs,
        List<Float> samples) {

    /** The layer of a brick outside the layers, such as an embedding. */
    public static final int NO_LAYER = -1;

    /**
     * Checks the values.
     *
     * @throws IllegalArgumentException when the name is null or empty, the layer is below {@link #NO_LAYER}, another
     *     number except the hash is negative, or there are more non-finite values or samples than floats
     */
    public ChecksumEntry {
        Objects.requireNonNull(elapsedNs, "elapsedNs");
        samples = List.copyOf(Objects.requireNonNull(samples, "samples"));
        requirePlace(name, layer, position);
        requireNotNegative("elements", elements);
        requireNotNegative("nans", nans);
        requireNotNegative("infinities", infinities);
        requireNotNegative("elapsedNs", elapsedNs.orElse(0));
        if ((long) nans + infinities > elements) {
            throw new IllegalArgumentException(
                    nans + " nans and " + infinities + " infinities are more than " + elements + " elements");
        }
        if (samples.size() > elements) {
            throw new IllegalArgumentException(samples.size() + " samples are more than " + elements + " elements");
        }
    }

    /**
     * Returns a builder of the entry of an empty output.
     *
     * @param name the brick, not empty
     * @param layer its layer, or {@link #NO_LAYER}
     * @param position the position in the sequence, 0 or more
     * @return a builder
     */
    public static Builder builder(String name, int layer, int position) {
        return new Builder(name, layer, position);
    }

    /**
     * Checks the place of an entry.
     *
     * @param name the brick
     * @param layer its layer
     * @param position the position in the sequence
     * @throws IllegalArgumentException when one of them is out of its range
     */
    static void requirePlace(@Nullable String name, int layer, int position) {
        requireName("name", name);
        if (layer < NO_LAYER) {
            throw new IllegalArgumentException("layer " + layer + " is below " + NO_LAYER);
        }
        requireNotNegative("position", position);
    }

    /**
     * Returns whether all floats of the output are finite, including those that the checksum does not cover.
     *
     * @return false if one is NaN or infinite
     */
    public boolean isFinite() {
        return nans == 0 && infinities == 0;
    }

    /** Sets the values by name; the others stay at 0, empty or unknown. Not thread-safe. */
    public static final class Builder {
        private final String name;
        private final int layer;
        private final int position;
        private long hash;
        private int elements;
        private int nans;
        private int infinities;
        private OptionalLong elapsedNs = OptionalLong.empty();
        private List<Float> samples = List.of();

        private Builder(String name, int layer, int position) {
            this.name = Objects.requireNonNull(name, "name");
            this.layer = layer;
            this.position = position;
        }

        /**
         * Sets the checksum.
         *
         * @param checksum of the covered floats
         * @return this
         */
        public Builder hash(long checksum) {
            hash = checksum;
            return this;
        }

        /**
         * Sets the number of floats.
         *
         * @param all floats in the whole output
         * @param notANumber how many of them are not a number
         * @param infinite how many of them are infinite
         * @return this
         */
        public Builder floats(int all, int notANumber, int infinite) {
            elements = all;
            nans = notANumber;
            infinities = infinite;
            return this;
        }

        /**
         * Sets the brick's time.
         *
         * @param ns empty if it is not known
         * @return this
         */
        public Builder elapsedNs(OptionalLong ns) {
            elapsedNs = Objects.requireNonNull(ns, "ns");
            return this;
        }

        /**
         * Sets the samples.
         *
         * @param values from all over the output
         * @return this
         */
        public Builder samples(List<Float> values) {
            samples = Objects.requireNonNull(values, "values");
            return this;
        }

        /**
         * Makes the entry.
         *
         * @return the entry
         * @throws IllegalArgumentException when a value is out of its range
         */
        public ChecksumEntry build() {
            return new ChecksumEntry(name, layer, position, hash, elements, nans, infinities, elapsedNs, samples);
        }
    }
}
