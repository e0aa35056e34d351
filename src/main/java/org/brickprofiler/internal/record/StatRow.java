package org.brickprofiler.internal.record;

import static org.brickprofiler.internal.io.Sums.limited;

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
        long minCycles,
        long maxCycles,
        long work,
        long maxTag) {

    /** The tag of a row whose longest sample had no tag. */
    public static final long NO_TAG = -1;

    /** A row without samples. */
    public static final StatRow EMPTY =
            new StatRow(0, 0, Long.MAX_VALUE, 0, 0, Long.MIN_VALUE, 0, 0, 0, 0, Long.MAX_VALUE, 0, 0, NO_TAG);

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
        boolean otherIsLater = other.lastAtNs > lastAtNs || (other.lastAtNs == lastAtNs && other.lastNs > lastNs);
        boolean otherIsLonger = other.maxNs > maxNs || (other.maxNs == maxNs && other.maxTag > maxTag);
        return new StatRow(
                count + other.count,
                limited(totalNs, other.totalNs),
                Math.min(minNs, other.minNs),
                Math.max(maxNs, other.maxNs),
                otherIsLater ? other.lastNs : lastNs,
                Math.max(lastAtNs, other.lastAtNs),
                limited(elements, other.elements),
                limited(bytes, other.bytes),
                limited(compressedBytes, other.compressedBytes),
                limited(cycles, other.cycles),
                Math.min(minCycles, other.minCycles),
                Math.max(maxCycles, other.maxCycles),
                limited(work, other.work),
                otherIsLonger ? other.maxTag : maxTag);
    }

    /**
     * Returns the samples that were added to this row after an earlier reading of it. All sums are exact. The shortest
     * and the longest of one or two samples are exact. With more samples, an extreme that changed the row's extreme is
     * exact; otherwise the mean of all but the latest sample replaces it.
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
        long otherNs = more == 1 ? lastNs : (moreNs - lastNs) / (more - 1);
        return new StatRow(
                more,
                moreNs,
                minNs < earlier.minNs ? minNs : Math.min(lastNs, otherNs),
                maxNs > earlier.maxNs ? maxNs : Math.max(lastNs, otherNs),
                lastNs,
                lastAtNs,
                elements - earlier.elements,
                bytes - earlier.bytes,
                compressedBytes - earlier.compressedBytes,
                moreCycles,
                minCycles < earlier.minCycles ? minCycles : moreCycles == 0 ? Long.MAX_VALUE : moreCycles / more,
                maxCycles > earlier.maxCycles ? maxCycles : moreCycles / more,
                work - earlier.work,
                maxNs > earlier.maxNs ? maxTag : NO_TAG);
    }
}
