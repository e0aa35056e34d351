package org.brickprofiler.graph;

import java.util.Set;

/**
 * The edges of a graph as a sparse matrix in compressed rows, to be read by numeric code. Row <i>r</i> holds the edges
 * that leave node <i>r</i>, in the order in which they were added: entries {@code rowOffsets[r]} to
 * {@code rowOffsets[r + 1] - 1} of columns and weights. Immutable; every array is a copy of its own.
 */
public final class Csr {

    private final int[] rowOffsets;
    private final int[] columns;
    private final double[] weights;

    private Csr(int[] rowOffsets, int[] columns, double[] weights) {
        this.rowOffsets = rowOffsets;
        this.columns = columns;
        this.weights = weights;
    }

    static Csr of(ExecutionGraph graph, Set<EdgeType> types) {
        EdgeColumns edges = graph.edges();
        int[] from = new int[edges.size()];
        for (int edge = 0; edge < from.length; edge++) {
            from[edge] = types.contains(edges.type(edge)) ? edges.from(edge) : Adjacency.LEFT_OUT;
        }
        Adjacency rows = new Adjacency(graph.nodeCount(), from);
        int[] chosen = rows.places();
        int[] columns = new int[chosen.length];
        double[] weights = new double[chosen.length];
        for (int entry = 0; entry < chosen.length; entry++) {
            columns[entry] = edges.to(chosen[entry]);
            weights[entry] = edges.weight(chosen[entry]);
        }
        return new Csr(rows.offsets(), columns, weights);
    }

    /**
     * How many rows there are.
     *
     * @return the number of nodes
     */
    public int rowCount() {
        return rowOffsets.length - 1;
    }

    /**
     * How many entries there are.
     *
     * @return the number of edges
     */
    public int entryCount() {
        return columns.length;
    }

    /**
     * Where each row begins.
     *
     * @return one number per node, and the number of entries at the end
     */
    public int[] rowOffsets() {
        return rowOffsets.clone();
    }

    /**
     * Where each edge leads.
     *
     * @return the id of a node per entry
     */
    public int[] columns() {
        return columns.clone();
    }

    /**
     * The weight of each edge.
     *
     * @return a finite number of 0 or more per entry
     */
    public double[] weights() {
        return weights.clone();
    }
}
