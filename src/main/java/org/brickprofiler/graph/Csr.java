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
        int rows = graph.nodeCount();
        int[] rowOffsets = new int[rows + 1];
        for (int edge = 0; edge < edges.size(); edge++) {
            rowOffsets[edges.from(edge) + 1] += types.contains(edges.type(edge)) ? 1 : 0;
        }
        for (int row = 0; row < rows; row++) {
            rowOffsets[row + 1] += rowOffsets[row];
        }
        int[] columns = new int[rowOffsets[rows]];
        double[] weights = new double[columns.length];
        int[] next = rowOffsets.clone();
        for (int edge = 0; edge < edges.size(); edge++) {
            if (types.contains(edges.type(edge))) {
                int entry = next[edges.from(edge)]++;
                columns[entry] = edges.to(edge);
                weights[entry] = edges.weight(edge);
            }
        }
        return new Csr(rowOffsets, columns, weights);
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
