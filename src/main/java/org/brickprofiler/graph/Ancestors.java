package org.brickprofiler.graph;

/**
 * Finds where two nodes of a forest part, in a time that grows with the logarithm of its depth: each node knows its
 * parent and one ancestor farther up (Myers, "An applicative random-access stack", Information Processing Letters
 * 17(5), 1983). Immutable; any thread.
 */
final class Ancestors {

    private final int[] parents;
    private final int[] jumps;
    private final int[] depths;

    /** The ancestors of the nodes of a forest without circles. */
    Ancestors(EventGraph forest) {
        int count = forest.nodeCount();
        // One node more, above all roots, so that any two nodes have an ancestor in common.
        int top = count;
        this.parents = new int[count + 1];
        this.jumps = new int[count + 1];
        this.depths = new int[count + 1];
        parents[top] = top;
        jumps[top] = top;
        int[] parentsFirst = parentsFirst(forest);
        for (int node : parentsFirst) {
            int parent = forest.parent(node) == EventGraph.NO_PARENT ? top : forest.parent(node);
            int jump = jumps[parent];
            boolean twoLikeJumps = depths[parent] - depths[jump] == depths[jump] - depths[jumps[jump]];
            parents[node] = parent;
            depths[node] = depths[parent] + 1;
            jumps[node] = twoLikeJumps ? jumps[jump] : parent;
        }
    }

    private static int[] parentsFirst(EventGraph forest) {
        int[] order = new int[forest.nodeCount()];
        int known = 0;
        for (int node = 0; node < order.length; node++) {
            if (forest.parent(node) == EventGraph.NO_PARENT) {
                order[known++] = node;
            }
        }
        for (int done = 0; done < known; done++) {
            Adjacency children = forest.children();
            for (int i = 0; i < children.degree(order[done]); i++) {
                order[known++] = children.target(order[done], i);
            }
        }
        return order;
    }

    /**
     * The node itself or its ancestor that is a sibling of the other node or of one of its ancestors.
     *
     * @param node a node
     * @param other a node that is neither above nor below it
     * @return a node; the same call with both exchanged gives its sibling
     */
    int siblingAbove(int node, int other) {
        int depth = Math.min(depths[node], depths[other]);
        int one = raised(node, depth);
        int two = raised(other, depth);
        while (parents[one] != parents[two]) {
            boolean far = jumps[one] != jumps[two];
            one = far ? jumps[one] : parents[one];
            two = far ? jumps[two] : parents[two];
        }
        return one;
    }

    private int raised(int node, int depth) {
        int at = node;
        while (depths[at] > depth) {
            at = depths[jumps[at]] >= depth ? jumps[at] : parents[at];
        }
        return at;
    }
}
