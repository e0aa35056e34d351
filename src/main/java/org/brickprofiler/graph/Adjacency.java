package org.brickprofiler.graph;

import java.util.Arrays;

/**
 * The places in an array of nodes, grouped by node and ascending within a node. In an array of parents, the places of a
 * node are its children; in an array of sources, they are the edges that leave it. Immutable; any thread.
 */
final class Adjacency {

    /** The value in the array at a place without a node. */
    static final int LEFT_OUT = ExecutionGraph.NONE;

    /** The index of the first place of each node, then the number of all places. */
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

    private Adjacency(int[] offsets, int[] places) {
        this.offsets = offsets;
        this.places = places;
    }

    /** Returns an adjacency with a number instead of each place. */
    Adjacency mapped(int[] numbers) {
        int[] mapped = new int[places.length];
        for (int i = 0; i < mapped.length; i++) {
            mapped[i] = numbers[places[i]];
        }
        return new Adjacency(offsets, mapped);
    }

    int degree(int node) {
        return offsets[node + 1] - offsets[node];
    }

    int place(int node, int index) {
        return places[offsets[node] + index];
    }

    /**
     * Returns the index of the first place of each node, then the number of all places. Callers must not change the
     * array.
     */
    int[] offsets() {
        return offsets;
    }

    /** Returns the places of all nodes. Callers must not change the array. */
    int[] places() {
        return places;
    }
}
