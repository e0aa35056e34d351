package org.brickprofiler.graph;

import org.eclipse.collections.impl.list.mutable.primitive.IntArrayList;

/**
 * Follows dependencies and transfers back from a node to the siblings that it needs, whichever nodes they lead through: a
 * node needs what it, what is in it, and what it is in depends on, and all that is in those. One thread.
 */
final class DependencyPaths {

    private static final int NONE = -1;

    private final ExecutionGraph graph;
    private final EventGraph forest;
    private final Ancestors ancestors;

    /** The sources of the dependencies of each node as one array, and where each begins in it. */
    private final int[] sources;

    private final int[] firstSource;

    /** In which search the start, or the whole, of a node was met last. */
    private final int[] startSeen;

    private final int[] endSeen;
    private final IntArrayList starts = new IntArrayList();
    private final IntArrayList ends = new IntArrayList();

    private int search;
    private int root;
    private int parent;
    private long stepsLeft;

    /**
     * Paths in a graph.
     *
     * @param graph the graph
     * @param forest who owns whom
     * @param ancestors the same
     * @param steps how many steps all searches together may take
     */
    DependencyPaths(ExecutionGraph graph, EventGraph forest, Ancestors ancestors, long steps) {
        this.graph = graph;
        this.forest = forest;
        this.ancestors = ancestors;
        this.stepsLeft = steps;
        int nodes = graph.nodeCount();
        startSeen = new int[nodes];
        endSeen = new int[nodes];
        firstSource = new int[nodes + 1];
        EdgeColumns edges = graph.edges();
        for (int edge = 0; edge < edges.size(); edge++) {
            if (isDependency(edges.type(edge))) {
                firstSource[edges.to(edge) + 1]++;
            }
        }
        for (int node = 0; node < nodes; node++) {
            firstSource[node + 1] += firstSource[node];
        }
        sources = new int[firstSource[nodes]];
        int[] next = firstSource.clone();
        for (int edge = 0; edge < edges.size(); edge++) {
            if (isDependency(edges.type(edge))) {
                sources[next[edges.to(edge)]++] = edges.from(edge);
            }
        }
    }

    private static boolean isDependency(EdgeType type) {
        return type == EdgeType.DEPENDS_ON || type == EdgeType.TRANSFER;
    }

    /** Begins to search from a node and all in it, among what is in its parent. */
    void begin(int node, int parentOfNode) {
        search++;
        root = node;
        parent = parentOfNode;
        starts.clear();
        ends.clear();
        ends.add(node);
        endSeen[node] = search;
    }

    /** The next sibling that the node needs, or -1; it may come again. What only such a one needs is not looked for. */
    int next() {
        while (stepsLeft > 0 && (!starts.isEmpty() || !ends.isEmpty())) {
            stepsLeft--;
            if (!starts.isEmpty()) {
                start(starts.removeAtIndex(starts.size() - 1));
            } else {
                int node = ends.removeAtIndex(ends.size() - 1);
                int sibling = siblingOf(node);
                if (sibling != NONE) {
                    return sibling;
                }
                addStart(node);
                graph.edges().owned(node).forEach(this::addEnd);
            }
        }
        return NONE;
    }

    /** Whether a search was not carried to its end. */
    boolean gaveUp() {
        return stepsLeft <= 0;
    }

    /** A node starts after its parent and after what it depends on. */
    private void start(int node) {
        for (int i = firstSource[node]; i < firstSource[node + 1]; i++) {
            addEnd(sources[i]);
        }
        int around = forest.parent(node);
        if (node != root && around != EventGraph.NO_PARENT && around != parent) {
            addStart(around);
        }
    }

    /** The sibling of the root that a node is or lies in. */
    private int siblingOf(int node) {
        int above = ancestors.siblingAbove(node, root);
        return above != root && forest.parent(above) == parent ? above : NONE;
    }

    private void addStart(int node) {
        if (startSeen[node] != search) {
            startSeen[node] = search;
            starts.add(node);
        }
    }

    private void addEnd(int node) {
        if (endSeen[node] != search) {
            endSeen[node] = search;
            ends.add(node);
        }
    }
}
