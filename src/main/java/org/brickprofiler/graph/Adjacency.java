package org.brickprofiler.graph;

import java.util.Arrays;

/**
 * The places of an array of nodes by node, each node's in ascending order: of an array of parents the children of each
 * node, of an array of sources the edges that leave it. Immutable; any thread.
 */
final class Adjacency {

    /** In the array, instead of a node: the place belongs to none. */
    static final int LEFT_OUT = -1;

    /** Where the places of each node begin, and how many there are in all. */
    private final int[] offsets;

    private final int[] places;

    /**
     * Sorts the places of an array, in linear time.
     *
     * @param nodeCount number of nodes
     * @param nodes a node, or {@link #LEFT_OUT}, at each place
     */
    Adjacency(int nodeCount, int[] nodes) {
        offsets = new int[nodeCount + 1];
        for (int node : nodes) {
            if (node != LEFT_OUT) {
                offsets[node + 1]++;
            }
        }
        for (int v = 0; v < nodeCount; v++) {
            offsets[v + 1] += offsets[v];
        }
        places = new int[offsets[nodeCount]];
        int[] free = Arrays.copyOf(offsets, nodeCount);
        for (int place = 0; place < nodes.length; place++) {
            if (nodes[place] != LEFT_OUT) {
                places[free[nodes[place]]++] = place;
            }
        }
    }

    int degree(int node) {
        return offsets[node + 1] - offsets[node];
    }

    int place(int node, int index) {
        return places[offsets[node] + index];
    }

    /** Where the places of each node begin among all of them, and how many there are; not to be changed. */
    int[] offsets() {
        return offsets;
    }

    /** The places of all nodes; not to be changed. */
    int[] places() {
        return places;
    }
}
