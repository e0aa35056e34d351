package org.brickprofiler.checksum;

import static org.brickprofiler.internal.io.Checks.requireName;
import static org.brickprofiler.internal.io.Checks.requireNotNegative;

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
     * @throws IllegalArgumentException when the name is null or empty, a number is negative that must not be, or there
     *     are more non-finite values or samples than floats
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
     * Returns whether all covered floats are finite.
     *
     * @return false if one is NaN or infinite
     */
    public boolean isFinite() {
        return nans == 0 && infinities == 0;
    }
}
