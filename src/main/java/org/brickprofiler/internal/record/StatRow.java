package org.brickprofiler.internal.record;

import static org.brickprofiler.internal.base.Sums.limited;

/**
 * The consistent sums of one row at one moment. Immutable.
 *
 * @param count number of samples
 * @param totalNs sum of the durations, ns
 * @param minNs shortest duration, {@link Long#MAX_VALUE} without samples
 * @param maxNs longest duration, ns
 * @param lastNs duration of the latest sample, ns
 * @param lastAtNs the clock when the latest sample was recorded, {@link Long#MIN_VALUE} without samples
 * @param elements sum of the elements
 * @param bytes sum of the bytes before compression
 * @param compressedBytes sum of the bytes after compression
 * @param cycles sum of the cycles
 * @param cycleSamples number of samples that had any
 * @param minCycles fewest cycles of a sample that had any, {@link Long#MAX_VALUE} without one
 * @param maxCycles most cycles of a sample
 * @param work sum of the caller's unit of work, such as floating-point operations
 * @param maxTag the caller's tag on the sample that took {@code maxNs}, {@link #NO_TAG} if there is none
 */
public record StatRow(
        long count,
        long totalNs,
        long minNs,
        long maxNs,
        long lastNs,
        long lastAtNs,
        long elements,
        long bytes,
        long compressedBytes,
        long cycles,
        long cycleSamples,
        long minCycles,
        long maxCycles,
        long work,
        long maxTag) {

    /** The tag of a row whose longest sample had no tag. */
    public static final long NO_TAG = -1;

    /** A row without samples. */
    public static final StatRow EMPTY = builder().build();

    /** Returns a builder of a row without samples. */
    static Builder builder() {
        return new Builder();
    }

    Builder toBuilder() {
        return builder()
                .samples(count, totalNs, minNs, maxNs)
                .last(lastNs, lastAtNs)
                .elements(elements)
                .bytes(bytes, compressedBytes)
                .cycles(cycles, cycleSamples, minCycles, maxCycles)
                .work(work)
                .maxTag(maxTag);
    }

    /**
     * Adds two rows up. Commutative and associative, with {@link #EMPTY} as the neutral element.
     *
     * @param other the other row
     * @return the sums of both
     */
    public StatRow plus(StatRow other) {
        if (count == 0) {
            return other;
        }
        if (other.count == 0) {
            return this;
        }
        return toBuilder().add(other.toBuilder()).build();
    }

    /**
     * Returns the samples that were added to this row after an earlier reading of it. All sums are exact. The shortest
     * and the longest of one or two samples are exact. With more samples, an extreme that changed the row's extreme is
     * exact; otherwise the mean of all but the latest sample replaces it. The fewest and the most cycles are exact if
     * one sample had any, or if they changed the row's; otherwise the mean of the samples with cycles replaces them.
     *
     * @param earlier an earlier reading of the same row, with at most as many samples
     * @return those samples alone, {@link #EMPTY} if there are none
     */
    StatRow samplesSince(StatRow earlier) {
        long more = count - earlier.count;
        if (more == 0) {
            return EMPTY;
        }
        long moreNs = totalNs - earlier.totalNs;
        long moreCycles = cycles - earlier.cycles;
        long withCycles = cycleSamples - earlier.cycleSamples;
        long meanCycles = withCycles == 0 ? 0 : moreCycles / withCycles;
        long otherNs = more == 1 ? lastNs : (moreNs - lastNs) / (more - 1);
        return builder()
                .samples(
                        more,
                        moreNs,
                        minNs < earlier.minNs ? minNs : Math.min(lastNs, otherNs),
                        maxNs > earlier.maxNs ? maxNs : Math.max(lastNs, otherNs))
                .last(lastNs, lastAtNs)
                .elements(elements - earlier.elements)
                .bytes(bytes - earlier.bytes, compressedBytes - earlier.compressedBytes)
                .cycles(
                        moreCycles,
                        withCycles,
                        minCycles < earlier.minCycles ? minCycles : withCycles == 0 ? Long.MAX_VALUE : meanCycles,
                        maxCycles > earlier.maxCycles ? maxCycles : meanCycles)
                .work(work - earlier.work)
                .maxTag(maxNs > earlier.maxNs ? maxTag : NO_TAG)
                .build();
    }

    /**
     * Sets the values by name; the others stay at 0, empty or unknown. Also the sums of several rows, which then need
     * no object each. Not thread-safe.
     */
    static final class Builder {
        private long count;
        private long totalNs;
        private long minNs;
        private long maxNs;
        private long lastNs;
        private long lastAtNs;
        private long elements;
        private long bytes;
        private long compressedBytes;
        private long cycles;
        private long cycleSamples;
        private long minCycles;
        private long maxCycles;
        private long work;
        private long maxTag;

        private Builder() {
            clear();
        }

        /** Makes this the sums of no samples again. */
        void clear() {
            samples(0, 0, Long.MAX_VALUE, 0)
                    .last(0, Long.MIN_VALUE)
                    .elements(0)
                    .bytes(0, 0)
                    .cycles(0, 0, Long.MAX_VALUE, 0)
                    .work(0)
                    .maxTag(NO_TAG);
        }

        Builder samples(long number, long sumNs, long shortestNs, long longestNs) {
            count = number;
            totalNs = sumNs;
            minNs = shortestNs;
            maxNs = longestNs;
            return this;
        }

        Builder last(long durationNs, long atNs) {
            lastNs = durationNs;
            lastAtNs = atNs;
            return this;
        }

        Builder elements(long sum) {
            elements = sum;
            return this;
        }

        Builder bytes(long before, long after) {
            bytes = before;
            compressedBytes = after;
            return this;
        }

        Builder cycles(long sum, long samples, long fewest, long most) {
            cycles = sum;
            cycleSamples = samples;
            minCycles = fewest;
            maxCycles = most;
            return this;
        }

        Builder work(long sum) {
            work = sum;
            return this;
        }

        Builder maxTag(long tag) {
            maxTag = tag;
            return this;
        }

        /** Adds other sums. Commutative and associative, with the sums of no samples as the neutral element. */
        Builder add(Builder other) {
            if (other.count == 0) {
                return this;
            }
            if (other.lastAtNs > lastAtNs || (other.lastAtNs == lastAtNs && other.lastNs > lastNs)) {
                lastNs = other.lastNs;
                lastAtNs = other.lastAtNs;
            }
            if (other.maxNs > maxNs || (other.maxNs == maxNs && other.maxTag > maxTag)) {
                maxNs = other.maxNs;
                maxTag = other.maxTag;
            }
            count += other.count;
            totalNs = limited(totalNs, other.totalNs);
            minNs = Math.min(minNs, other.minNs);
            elements = limited(elements, other.elements);
            bytes = limited(bytes, other.bytes);
            compressedBytes = limited(compressedBytes, other.compressedBytes);
            cycles = limited(cycles, other.cycles);
            cycleSamples += other.cycleSamples;
            minCycles = Math.min(minCycles, other.minCycles);
            maxCycles = Math.max(maxCycles, other.maxCycles);
            work = limited(work, other.work);
            return this;
        }

        /** Returns the number of samples. */
        long count() {
            return count;
        }

        /** Returns the sum of the durations, ns. */
        long totalNs() {
            return totalNs;
        }

        StatRow build() {
            return new StatRow(
                    count,
                    totalNs,
                    minNs,
                    maxNs,
                    lastNs,
                    lastAtNs,
                    elements,
                    bytes,
                    compressedBytes,
                    cycles,
                    cycleSamples,
                    minCycles,
                    maxCycles,
                    work,
                    maxTag);
        }
    }
}
