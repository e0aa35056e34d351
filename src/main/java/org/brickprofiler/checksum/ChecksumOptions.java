package org.brickprofiler.checksum;

import java.util.Objects;

/**
 * The parts of each output that a {@link ChecksumLog} keeps. Two logs can be compared if their scopes are the same and,
 * within a tolerance, their numbers of samples too. Immutable.
 *
 * @param scope the floats that a checksum covers
 * @param samples the largest number of values to keep of an output, 0 to {@link #MOST_SAMPLES}; a comparison within a
 *     tolerance needs samples, because a checksum does not show by how much two outputs differ
 * @param capacity the largest number of entries to keep, 1 or more; further ones are dropped and counted
 */
public record ChecksumOptions(Scope scope, int samples, int capacity) {

    /** The largest number of samples. */
    public static final int MOST_SAMPLES = 1024;

    /**
     * The default capacity. An entry takes 40 bytes, and 4 bytes for each sample; the default without samples is 40
     * MiB.
     */
    public static final int DEFAULT_CAPACITY = 1 << 20;

    /** The first 64 floats, no samples, the default capacity. */
    public static final ChecksumOptions DEFAULT = new ChecksumOptions(Scope.FIRST_64, 0, DEFAULT_CAPACITY);

    /**
     * Checks the numbers.
     *
     * @throws IllegalArgumentException when one is out of its range
     */
    public ChecksumOptions {
        Objects.requireNonNull(scope, "scope");
        if (samples < 0 || samples > MOST_SAMPLES) {
            throw new IllegalArgumentException("samples " + samples + " are not within 0 to " + MOST_SAMPLES);
        }
        if (capacity < 1) {
            throw new IllegalArgumentException("capacity " + capacity + " is not 1 or more");
        }
    }

    /**
     * Returns these options with another scope.
     *
     * @param other the scope
     * @return options with it
     */
    public ChecksumOptions withScope(Scope other) {
        Objects.requireNonNull(other, "other");
        return new ChecksumOptions(other, samples, capacity);
    }

    /**
     * Returns these options with another number of samples.
     *
     * @param other the number
     * @return options with it
     * @throws IllegalArgumentException when it is out of its range
     */
    public ChecksumOptions withSamples(int other) {
        return new ChecksumOptions(scope, other, capacity);
    }

    /**
     * Returns these options with another capacity.
     *
     * @param other the capacity
     * @return options with it
     * @throws IllegalArgumentException when it is out of its range
     */
    public ChecksumOptions withCapacity(int other) {
        return new ChecksumOptions(scope, samples, other);
    }

    /**
     * Returns the number of values that are kept of an output.
     *
     * @param elements floats in the output, 0 or more
     * @return the number of samples, or all floats of a smaller output
     */
    public int samplesOf(int elements) {
        return Math.min(samples, elements);
    }

    /**
     * Returns the index at which a sample of an output is taken. Samples are spread evenly from the first float to the
     * last one. The index depends only on the two sizes, so that two logs take the same floats.
     *
     * @param sample which sample, 0 to {@code count - 1}
     * @param count samples of the output, 1 to {@code elements}
     * @param elements floats in the output
     * @return the index of the float
     */
    public static int sampleIndex(int sample, int count, int elements) {
        return count == 1 ? 0 : (int) ((long) sample * (elements - 1) / (count - 1));
    }

    /** The part of an output that its checksum covers. */
    public enum Scope {

        /**
         * The first 64 floats. A difference after them goes unnoticed, unless the numbers of NaN or infinities differ.
         */
        FIRST_64("first_64", 64),

        /** Every float. */
        WHOLE("whole", Integer.MAX_VALUE);

        private final String displayName;
        private final int mostFloats;

        Scope(String displayName, int mostFloats) {
            this.displayName = displayName;
            this.mostFloats = mostFloats;
        }

        /**
         * Returns the name in files and reports.
         *
         * @return for example {@code "first_64"}
         */
        public String displayName() {
            return displayName;
        }

        /**
         * Returns the number of floats that the checksum of an output covers.
         *
         * @param elements floats in the output
         * @return the number of floats, from the first one on
         */
        public int covered(int elements) {
            return Math.min(elements, mostFloats);
        }
    }
}
