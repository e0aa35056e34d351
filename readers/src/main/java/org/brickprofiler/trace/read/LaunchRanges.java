package org.brickprofiler.trace.read;

import java.util.Arrays;
import org.brickprofiler.internal.base.MergeSort;
import org.eclipse.collections.impl.list.mutable.primitive.IntArrayList;
import org.eclipse.collections.impl.list.mutable.primitive.LongArrayList;
import org.eclipse.collections.impl.map.mutable.primitive.LongIntHashMap;

/**
 * Finds the innermost range around each launch on its thread: of the ranges that are open when the launch begins, the
 * one that began last. First the keys of the launches of interest are added, then the launches, then the ranges; each
 * group may come in any order.
 *
 * <p>The launches of all threads are stored in one array by thread and time, under a segment tree: a range marks the
 * few nodes that cover the launches within it, and a launch looks up the nodes above it. Ranges are therefore not
 * stored, need no order, and may overlap. Each range costs the logarithm of the number of launches; each launch takes
 * about 100 bytes. One thread.
 */
final class LaunchRanges {

    /** The result for an event that has no launch. */
    static final int NO_LAUNCH = -2;

    /** The result for a launch that is in no range. */
    static final int NO_RANGE = -1;

    private final LongIntHashMap launches = new LongIntHashMap();
    private final IntArrayList threads = new IntArrayList();
    private final LongArrayList startsNs = new LongArrayList();

    // After sort(): the launches in order, the position of each, and the begin of each thread's launches.
    private long[] sortedNs = {};
    private int[] places = {};
    private int[] begins = {};

    // The nodes. Of the ranges around all launches below a node, it holds the one that began last: its begin, its end
    // and its number.
    private long[] nodeStartNs = {};
    private long[] nodeEndNs = {};
    private int[] nodeRange = {};

    /** Adds the key of a launch of interest. */
    void want(long key) {
        launches.getIfAbsentPut(key, NO_LAUNCH);
    }

    /** Returns whether a launch with this key is of interest. */
    boolean isWanted(long key) {
        return launches.containsKey(key);
    }

    /** Adds a call that launched something. If several calls have the same key, only the first one counts. */
    void launch(long key, int thread, long startNs) {
        if (launches.get(key) == NO_LAUNCH) {
            launches.put(key, threads.size());
            threads.add(thread);
            startsNs.add(startNs);
        }
    }

    /**
     * Sorts the launches; call it after the last launch and before the first range.
     *
     * @param threadCount more than the number of any thread
     */
    void sort(int threadCount) {
        int count = threads.size();
        int[] order = new int[count];
        Arrays.setAll(order, i -> i);
        MergeSort.sort(
                order,
                (a, b) -> threads.get(a) != threads.get(b)
                        ? Integer.compare(threads.get(a), threads.get(b))
                        : Long.compare(startsNs.get(a), startsNs.get(b)));
        sortedNs = new long[count];
        places = new int[count];
        begins = new int[threadCount + 1];
        for (int place = 0; place < count; place++) {
            sortedNs[place] = startsNs.get(order[place]);
            places[order[place]] = place;
            begins[threads.get(order[place]) + 1]++;
        }
        for (int thread = 0; thread < threadCount; thread++) {
            begins[thread + 1] += begins[thread];
        }
        threads.clear();
        startsNs.clear();
        nodeStartNs = new long[2 * count];
        nodeEndNs = new long[2 * count];
        nodeRange = new int[2 * count];
        Arrays.fill(nodeRange, NO_RANGE);
    }

    /**
     * Adds a range.
     *
     * @param thread the thread it was open on
     * @param startNs when it began
     * @param endNs when it ended; a launch that begins at this time is outside
     * @param range its number, 0 or more
     */
    void range(int thread, long startNs, long endNs, int range) {
        if (thread + 1 >= begins.length) {
            return;
        }
        int left = firstFrom(startNs, begins[thread], begins[thread + 1]);
        int right = firstFrom(endNs, left, begins[thread + 1]);
        int count = sortedNs.length;
        for (int from = left + count, to = right + count; from < to; from >>= 1, to >>= 1) {
            if ((from & 1) == 1) {
                mark(from++, startNs, endNs, range);
            }
            if ((to & 1) == 1) {
                mark(--to, startNs, endNs, range);
            }
        }
    }

    private void mark(int node, long startNs, long endNs, int range) {
        if (isInner(startNs, endNs, node, nodeStartNs, nodeEndNs, nodeRange)) {
            nodeStartNs[node] = startNs;
            nodeEndNs[node] = endNs;
            nodeRange[node] = range;
        }
    }

    private static boolean isInner(
            long startNs, long endNs, int node, long[] nodeStartNs, long[] nodeEndNs, int[] nodeRange) {
        return nodeRange[node] == NO_RANGE
                || startNs > nodeStartNs[node]
                || (startNs == nodeStartNs[node] && endNs <= nodeEndNs[node]);
    }

    /** Returns the index of the first launch, from a given index on, that begins at a time or later. */
    private int firstFrom(long ns, int from, int to) {
        int low = from;
        int high = to;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (sortedNs[middle] < ns) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    /** Returns the number of the innermost range around a launch, {@link #NO_RANGE} or {@link #NO_LAUNCH}. */
    int of(long key) {
        int launch = launches.getIfAbsent(key, NO_LAUNCH);
        if (launch == NO_LAUNCH) {
            return NO_LAUNCH;
        }
        int inner = places[launch] + sortedNs.length;
        for (int node = inner; node > 0; node >>= 1) {
            boolean isMarked = nodeRange[node] != NO_RANGE;
            if (isMarked && isInner(nodeStartNs[node], nodeEndNs[node], inner, nodeStartNs, nodeEndNs, nodeRange)) {
                inner = node;
            }
        }
        return nodeRange[inner];
    }
}
