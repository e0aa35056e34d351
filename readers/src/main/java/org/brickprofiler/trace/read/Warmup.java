package org.brickprofiler.trace.read;

import java.util.Arrays;
import org.eclipse.collections.impl.map.mutable.primitive.IntObjectHashMap;
import org.eclipse.collections.impl.set.mutable.primitive.LongHashSet;

/**
 * Finds first executions that are far longer than later ones, because code was loaded, compiled or tuned during them.
 * Of the executions d<sub>1</sub>, d<sub>2</sub>, ... of a kernel in order of time, with the median m of all and the
 * longest L after the first {@value #FIRST_EXECUTIONS}, d<sub>i</sub> is warm-up if i is at most
 * {@value #FIRST_EXECUTIONS}, all before it are warm-up, and d<sub>i</sub> is more than {@value #TIMES_MEDIAN} m and
 * more than {@value #TIMES_LONGEST} L.
 *
 * <p>The comparison with the longest execution protects a kernel that runs on large and small inputs: its median and
 * its deviation from the median may be those of the small ones. One long later execution hides a warm-up, which errs on
 * the side of counting.
 *
 * <p>The median is computed from at most {@value #KEPT} executions, evenly spread over all. One thread.
 */
final class Warmup {

    /** The most executions that can be warm-up. */
    static final int FIRST_EXECUTIONS = 8;

    /** The number of further executions that a kernel needs for a verdict. */
    static final int LATER_EXECUTIONS = 16;

    /** The least ratio of warm-up to the median. */
    static final int TIMES_MEDIAN = 10;

    /** The least ratio of warm-up to the longest later execution. */
    static final int TIMES_LONGEST = 2;

    private static final int KEPT = 128;

    private final IntObjectHashMap<Executions> kernels = new IntObjectHashMap<>();

    /** The relevant data on the executions of a kernel. */
    private static final class Executions {
        private final Execution[] first = new Execution[FIRST_EXECUTIONS];
        private final long[] firstNs = new long[FIRST_EXECUTIONS];
        private final long[] kept = new long[KEPT];
        private int keptCount;
        private long keepEvery = 1;
        private long count;
        private long longestLaterNs;

        void add(Execution event, long selfNs) {
            keep(selfNs);
            Execution inserted = event;
            long insertedNs = selfNs;
            int filled = (int) Math.min(count, FIRST_EXECUTIONS);
            for (int i = 0; i < filled; i++) {
                if (Execution.BY_TIME.compare(inserted, first[i]) < 0) {
                    Execution moved = first[i];
                    long movedNs = firstNs[i];
                    first[i] = inserted;
                    firstNs[i] = insertedNs;
                    inserted = moved;
                    insertedNs = movedNs;
                }
            }
            if (filled < FIRST_EXECUTIONS) {
                first[filled] = inserted;
                firstNs[filled] = insertedNs;
            } else {
                longestLaterNs = Math.max(longestLaterNs, insertedNs);
            }
            count++;
        }

        /** Keeps every n-th execution; when the buffer is full, n doubles and every second one is dropped. */
        private void keep(long selfNs) {
            if (count % keepEvery != 0) {
                return;
            }
            if (keptCount == KEPT) {
                for (int i = 0; i < KEPT / 2; i++) {
                    kept[i] = kept[2 * i];
                }
                keptCount = KEPT / 2;
                keepEvery *= 2;
            }
            if (count % keepEvery == 0) {
                kept[keptCount++] = selfNs;
            }
        }

        /** Returns whether a duration exceeds a multiple of another one; divides, since the product could overflow. */
        private static boolean isTimes(long ns, int times, long otherNs) {
            return ns > otherNs && (ns - 1) / times >= otherNs;
        }

        void addWarmup(LongHashSet offsets) {
            if (count < FIRST_EXECUTIONS + LATER_EXECUTIONS) {
                return;
            }
            long[] sorted = Arrays.copyOf(kept, keptCount);
            Arrays.sort(sorted);
            long medianNs = sorted[(keptCount - 1) / 2];
            for (int i = 0; i < FIRST_EXECUTIONS; i++) {
                if (!isTimes(firstNs[i], TIMES_MEDIAN, medianNs)
                        || !isTimes(firstNs[i], TIMES_LONGEST, longestLaterNs)) {
                    return;
                }
                offsets.add(first[i].offset());
            }
        }
    }

    /**
     * Adds an execution; the order of the calls does not matter.
     *
     * @param event the event
     * @param selfNs its self time, ns
     */
    void add(Execution event, long selfNs) {
        kernels.getIfAbsentPut(event.kernel(), Executions::new).add(event, selfNs);
    }

    /**
     * Returns the events that are warm-up.
     *
     * @return their offsets
     */
    LongHashSet offsets() {
        LongHashSet offsets = new LongHashSet();
        kernels.forEachValue(executions -> executions.addWarmup(offsets));
        return offsets;
    }
}
