package org.brickprofiler.trace.read;

import java.util.HashMap;
import java.util.Map;
import org.eclipse.collections.impl.list.mutable.primitive.IntArrayList;
import org.eclipse.collections.impl.list.mutable.primitive.LongArrayList;
import org.eclipse.collections.impl.map.mutable.primitive.LongIntHashMap;
import org.eclipse.collections.impl.set.mutable.primitive.IntHashSet;

/**
 * Finds the innermost range in which a node of a CUDA graph was created, as while a stream is captured. Instantiating a
 * graph copies its nodes, and a replay runs the copies; each copy refers to its original. First the nodes of interest
 * and all nodes are added in any order, then the ranges. One thread.
 */
final class GraphNodes {

    private static final int NONE = -1;

    /** Stands for an original or a thread of which the trace states two. */
    private static final int AMBIGUOUS = -2;

    private final Map<Integer, LongIntHashMap> numbersOfProcesses = new HashMap<>();
    private final IntHashSet wanted = new IntHashSet();
    private final LaunchRanges creations = new LaunchRanges();

    // By the numbers of the nodes: the number of the original, and the thread and the time of the creation.
    private final IntArrayList originals = new IntArrayList();
    private final IntArrayList threads = new IntArrayList();
    private final LongArrayList startsNs = new LongArrayList();

    private int number(int process, long node) {
        int number = numbersOfProcesses
                .computeIfAbsent(process, added -> new LongIntHashMap())
                .getIfAbsentPut(node, originals.size());
        if (number == originals.size()) {
            originals.add(NONE);
            threads.add(NONE);
            startsNs.add(0);
        }
        return number;
    }

    /** Adds a node of interest. */
    void want(int process, long node) {
        wanted.add(number(process, node));
    }

    /** Adds the creation of a node that is no copy. */
    void created(int process, long node, int thread, long startNs) {
        int number = number(process, node);
        boolean isKnown = threads.get(number) != NONE;
        boolean isSame = threads.get(number) == thread && startsNs.get(number) == startNs;
        threads.set(number, !isKnown || isSame ? thread : AMBIGUOUS);
        startsNs.set(number, startNs);
    }

    /** Adds a node that is the copy of another one. */
    void copied(int process, long node, long original) {
        int number = number(process, node);
        int ofOriginal = number(process, original);
        int known = originals.get(number);
        originals.set(number, known == NONE || known == ofOriginal ? ofOriginal : AMBIGUOUS);
    }

    /**
     * Finds the creations of the nodes of interest; call it after the last node and before the first range.
     *
     * @param threadCount more than the number of any thread
     */
    void sort(int threadCount) {
        wanted.forEach(number -> {
            int root = rootOf(number);
            if (root >= 0 && threads.get(root) >= 0) {
                creations.want(root);
                creations.launch(root, threads.get(root), startsNs.get(root));
            }
        });
        creations.sort(threadCount);
    }

    /** Returns the node that is no copy, from which a node was copied; negative if it is not known. */
    private int rootOf(int number) {
        int root = number;
        for (int steps = 0; originals.get(root) != NONE; steps++) {
            root = originals.get(root);
            if (root == AMBIGUOUS || steps > originals.size()) {
                return AMBIGUOUS;
            }
        }
        return root;
    }

    /** Adds a range, as {@link LaunchRanges#range} does. */
    void range(int thread, long startNs, long endNs, int range) {
        creations.range(thread, startNs, endNs, range);
    }

    /**
     * Returns the number of the innermost range around the creation of a node; {@link LaunchRanges#NO_RANGE} if it was
     * created in none, {@link LaunchRanges#NO_LAUNCH} if its creation is unknown.
     */
    int of(int process, long node) {
        int root = rootOf(number(process, node));
        return root < 0 ? LaunchRanges.NO_LAUNCH : creations.of(root);
    }
}
