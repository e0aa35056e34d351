package org.brickprofiler.graph;

/**
 * For each node the nodes it points to, in two arrays: neighbours of {@code v} stand at {@code offsets[v]} to
 * {@code offsets[v + 1] - 1}, in the order in which they were given. Immutable; any thread.
 */
final class Adjacency {

    private final int[] offsets;
    private final int[] targets;

    private Adjacency(int[] offsets, int[] targets) {
        this.offsets = offsets;
        this.targets = targets;
    }

    /**
     * Sorts pairs by their first node, in linear time. Pairs whose first node is negative are left out.
     *
     * @param nodeCount number of nodes
     * @param from first node of each pair
     * @param to second node of each pair
     * @return the adjacency; it shares nothing with the arguments
     */
    static Adjacency of(int nodeCount, int[] from, int[] to) {
        int[] offsets = new int[nodeCount + 1];
        for (int i = 0; i < from.length; i++) {
            if (from[i] >= 0) {
                offsets[from[i] + 1]++;
            }
        }
        for (int v = 0; v < nodeCount; v++) {
            offsets[v + 1] += offsets[v];
        }
        int[] targets = new int[offsets[nodeCount]];
        int[] free = offsets.clone();
        for (int i = 0; i < from.length; i++) {
            if (from[i] >= 0) {
                targets[free[from[i]]++] = to[i];
            }
        }
        return new Adjacency(offsets, targets);
    }

    int degree(int node) {
        return offsets[node + 1] - offsets[node];
    }

    int target(int node, int index) {
        return targets[offsets[node] + index];
    }
}
