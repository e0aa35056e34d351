package org.brickprofiler.graph;

import java.util.EnumSet;
import java.util.Objects;
import java.util.Set;

/** Writes an {@link ExecutionGraph} for people and for other programs. Stateless; any thread. */
public final class GraphExport {

    private GraphExport() {}

    /**
     * The graph in the language of Graphviz, to be drawn by {@code dot}. Each kind of node has a shape and a colour,
     * each type of edge a line. A layer is a box around what it owns. Any name is a legal label.
     *
     * @param graph a graph
     * @return text to be stored as UTF-8
     */
    public static String toDot(ExecutionGraph graph) {
        return new DotWriter(graph).write();
    }

    /**
     * The ownership tree as text: a line for each node with its total time, the share of its parent's total, and what
     * is particular to its kind; at the end what was lost while recording. Children that ran at the same time can sum
     * to more than 100 %.
     *
     * @param graph a graph
     * @return lines of printable ASCII; other characters of names are escaped as in Java source
     */
    public static String toTree(ExecutionGraph graph) {
        return new TreeWriter(graph).write();
    }

    /**
     * All edges as a sparse matrix.
     *
     * @param graph a graph
     * @return a row for each node
     */
    public static Csr toCsr(ExecutionGraph graph) {
        return toCsr(graph, EnumSet.allOf(EdgeType.class));
    }

    /**
     * The edges of some types as a sparse matrix.
     *
     * @param graph a graph
     * @param types which edges
     * @return a row for each node
     */
    public static Csr toCsr(ExecutionGraph graph, Set<EdgeType> types) {
        Objects.requireNonNull(types, "types");
        return Csr.of(graph, types);
    }
}
