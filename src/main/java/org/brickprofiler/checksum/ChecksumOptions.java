package org.brickprofiler.checksum;

import java.util.Objects;

/**
 * What a {@link ChecksumLog} keeps of each output. Two logs can be compared if their scopes are the same and, within a
 * tolerance, their numbers of samples too. Immutable.
 *
 * @param scope the floats that a checksum covers
 * @param samples the most values of an output to keep beside its checksum, 0 to {@link #MOST_SAMPLES}; comparison
 *     within a tolerance needs some, since a checksum shows whether two outputs are equal and not by how much they
 *     differ
 * @param capacity the most entries to keep, 1 or more; further ones are dropped and counted
 */
public record ChecksumOptions(Scope scope, int samples, int capacity) {

    /** The largest number of samples. */
    public static final int MOST_SAMPLES = 1024;

    /** The capacity unless another one is set: at 40 bytes an entry, and 4 for each sample, 40 MiB. */
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
     * The same with another scope.
     *
     * @param other the scope
     * @return options with it
     */
    public ChecksumOptions withScope(Scope other) {
        Objects.requireNonNull(other, "other");
        return new ChecksumOptions(other, samples, capacity);
    }

    /**
     * The same with another number of samples.
     *
     * @param other the number
     * @return options with it
     * @throws IllegalArgumentException when it is out of its range
     */
    public ChecksumOptions withSamples(int other) {
        return new ChecksumOptions(scope, other, capacity);
    }

    /**
     * The same with another capacity.
     *
     * @param other the capacity
     * @return options with it
     * @throws IllegalArgumentException when it is out of its range
     */
    public ChecksumOptions withCapacity(int other) {
        return new ChecksumOptions(scope, samples, other);
    }

    /**
     * How many values are kept of one output.
     *
     * @param elements floats in the output, 0 or more
     * @return the number of samples, or all floats of a smaller output
     */
    public int samplesOf(int elements) {
        return Math.min(samples, elements);
    }

    /**
     * Where in an output a sample is taken. It follows from the two sizes alone, so that two logs take the same floats;
     * the samples are spread evenly, from the first float to the last one.
     *
     * @param sample which sample, 0 to {@code count - 1}
     * @param count samples of the output, 1 to {@code elements}
     * @param elements floats in the output
     * @return the index of the float
     */
    public static int sampleIndex(int sample, int count, int elements) {
        return count == 1 ? 0 : (int) ((long) sample * (elements - 1) / (count - 1));
    }

    /** How much of an output its checksum covers. */
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
         * The name in files and reports.
         *
         * @return for example {@code "first_64"}
         */
        public String displayName() {
            return displayName;
        }

        /**
         * How many floats of an output are covered.
         *
         * @param elements floats in the output
         * @return the first so many
         */
        public int covered(int elements) {
            return Math.min(elements, mostFloats);
        }
    }
}
