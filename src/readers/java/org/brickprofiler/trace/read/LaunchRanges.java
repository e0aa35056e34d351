package org.brickprofiler.trace.read;

import java.util.Arrays;
import org.brickprofiler.internal.io.MergeSort;
import org.eclipse.collections.impl.list.mutable.primitive.IntArrayList;
import org.eclipse.collections.impl.list.mutable.primitive.LongArrayList;
import org.eclipse.collections.impl.map.mutable.primitive.LongIntHashMap;

/**
 * Finds the innermost range around each launch on its thread: of those that are open when the launch begins, the one
 * that began last. First the keys of launches that matter are named, then the launches come, then the ranges; all of
 * them in any order.
 *
 * <p>The launches of all threads lie behind each other, sorted by time, under a tree of segments: a range marks the few
 * nodes that cover the launches within it, and a launch looks up the nodes above it. So ranges are not kept, need no
 * order, and may overlap; each costs the logarithm of the number of launches, of which each takes about 100 bytes. One
 * thread.
 */
final class LaunchRanges {

    /** The range of what has no launch. */
    static final int NO_LAUNCH = -2;

    /** The range of a launch in no range. */
    static final int NO_RANGE = -1;

    private final LongIntHashMap launches = new LongIntHashMap();
    private final IntArrayList threads = new IntArrayList();
    private final LongArrayList startsNs = new LongArrayList();

    // From sort() on: the launches in order, where each of them is, and where those of each thread begin.
    private long[] sortedNs = {};
    private int[] places = {};
    private int[] begins = {};

    // The nodes: what began last of the ranges around all launches below, when it ended, and its number.
    private long[] nodeStartNs = {};
    private long[] nodeEndNs = {};
    private int[] nodeRange = {};

    /** Names a launch that matters. */
    void want(long key) {
        launches.getIfAbsentPut(key, NO_LAUNCH);
    }

    /** Returns whether it was named. */
    boolean isWanted(long key) {
        return launches.containsKey(key);
    }

    /** Takes the call that launched something; of several with one key the first. */
    void launch(long key, int thread, long startNs) {
        if (launches.get(key) == NO_LAUNCH) {
            launches.put(key, threads.size());
            threads.add(thread);
            startsNs.add(startNs);
        }
    }

    /**
     * All launches are there.
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
     * Takes a range.
     *
     * @param thread the thread it was open on
     * @param startNs when it began
     * @param endNs when it ended; what begins then is not in it
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

    /** Returns the first launch from one on that does not begin before a time. */
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
