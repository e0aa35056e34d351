package org.brickprofiler.graph;

import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import org.brickprofiler.graph.ExecutionNode.AsyncTask;
import org.brickprofiler.graph.ExecutionNode.Brick;
import org.brickprofiler.graph.ExecutionNode.Function;
import org.brickprofiler.graph.ExecutionNode.Kernel;
import org.brickprofiler.graph.ExecutionNode.Transfer;
import org.brickprofiler.internal.base.PlainText;
import org.brickprofiler.internal.base.Plural;

/** Writes an {@link ExecutionGraph} for people and for other programs. Stateless; any thread. */
public final class GraphExport {

    private static final String[] TIME_UNITS = {"ns", "us", "ms", "s"};

    /** Larger values would be rounded to 1000 with four digits, so they are written in the next unit. */
    private static final double NEXT_UNIT = 999.95;

    /** The largest number of unclosed scopes that are named; further ones are counted. */
    private static final int MOST_SCOPES = 20;

    private GraphExport() {}

    /**
     * Returns the graph in Graphviz's DOT language, for {@code dot}. Each kind of node has its own shape and colour,
     * and each type of edge has its own line style. An outermost layer is a box around all nodes in it. Names may
     * contain any character.
     *
     * @param graph a graph
     * @return text to be stored as UTF-8
     */
    public static String toDot(ExecutionGraph graph) {
        return new DotWriter(graph).write();
    }

    /**
     * Returns the ownership tree as text: a line for each node with its total time, the share of its parent's total,
     * and the details of its kind. The losses of the recorder follow at the end. Children that ran at the same time can
     * sum to more than 100 %.
     *
     * @param graph a graph
     * @return lines of printable ASCII; other characters of names are escaped as in Java source
     */
    public static String toTree(ExecutionGraph graph) {
        return new TreeWriter(graph).write();
    }

    /**
     * Returns the critical path as text: its length, the total work, the average parallelism, the losses of the
     * recorder, and the names that take most of the path, each with the time that the whole could gain from it.
     *
     * @param graph a graph
     * @return lines of printable ASCII; other characters of names are escaped as in Java source
     * @throws IllegalArgumentException when nodes wait for each other in a cycle; the message names up to six of them,
     *     in order
     * @throws ArithmeticException when a path takes longer than {@link Long#MAX_VALUE} ns; the message names a node
     */
    public static String toSummary(ExecutionGraph graph) {
        return CriticalPathSummary.of(graph).toText();
    }

    /**
     * Returns all edges as a sparse matrix.
     *
     * @param graph a graph
     * @return a row for each node
     */
    public static Csr toCsr(ExecutionGraph graph) {
        return toCsr(graph, EnumSet.allOf(EdgeType.class));
    }

    /**
     * Returns the edges of some types as a sparse matrix.
     *
     * @param graph a graph
     * @param types the types of the edges in the matrix
     * @return a row for each node
     */
    public static Csr toCsr(ExecutionGraph graph, Set<EdgeType> types) {
        Objects.requireNonNull(types, "types");
        return Csr.of(graph, types);
    }

    // ---- shared by the texts ----

    /** Returns a duration in a unit that fits, with four digits, for example {@code "12.34 ms"}. */
    static String duration(long ns) {
        double value = ns;
        int unit = 0;
        while (value >= NEXT_UNIT && unit < TIME_UNITS.length - 1) {
            value /= 1_000;
            unit++;
        }
        if (unit == 0) {
            return ns + " ns";
        }
        int decimals = value < 9.9995 ? 3 : value < 99.995 ? 2 : 1;
        return String.format(Locale.ROOT, "%." + decimals + "f %s", value, TIME_UNITS[unit]);
    }

    /** Returns the kind of a node and its details, without its name and time; may be empty. */
    static String details(ExecutionNode node) {
        if (node instanceof Brick brick) {
            return Plural.of(brick.elements(), "element");
        }
        if (node instanceof Kernel kernel) {
            return "kernel, grid %s, block %s%s"
                    .formatted(kernel.grid(), kernel.block(), sharedMemory(kernel.sharedMemoryBytes()));
        }
        if (node instanceof Transfer transfer) {
            return "%s, %s".formatted(transfer.direction(), Plural.of(transfer.bytes(), "byte"));
        }
        if (node instanceof Function function) {
            return "function" + place(function);
        }
        return node instanceof AsyncTask task
                ? "task, %s, %s".formatted(Plural.of(task.polls(), "poll"), Plural.of(task.yields(), "yield"))
                : "";
    }

    private static String sharedMemory(int bytes) {
        return bytes == 0 ? "" : ", " + Plural.of(bytes, "byte") + " shared";
    }

    private static String place(Function function) {
        String line = function.line().isPresent() ? ":" + function.line().getAsInt() : "";
        return function.file().map(file -> " at " + file + line).orElse("");
    }

    /** Returns a line for each kind of loss or error that a recorder counted. */
    static String losses(ExecutionGraph graph) {
        String losses = loss("nodes not recorded, past the budget", graph.droppedNodes())
                + loss("dependencies not recorded, past the budget", graph.droppedDependencies())
                + loss("scope ends without an open scope", graph.unmatchedPops());
        List<String> open = graph.unbalancedScopes();
        if (open.isEmpty()) {
            return losses;
        }
        int named = Math.min(open.size(), MOST_SCOPES);
        String more = open.size() > named ? String.format(Locale.ROOT, ", and %,d more", open.size() - named) : "";
        String names = PlainText.ascii(String.join(", ", open.subList(0, named)));
        return losses + "scopes not closed: " + names + more + "\n";
    }

    private static String loss(String what, long count) {
        return count == 0 ? "" : String.format(Locale.ROOT, "%s: %,d\n", what, count);
    }

    /**
     * The edges of a graph as a sparse matrix in compressed sparse row (CSR) format, for numeric code. Row <i>r</i>
     * holds the edges that leave node <i>r</i>, in the order in which they were added: entries {@code rowOffsets[r]} to
     * {@code rowOffsets[r + 1] - 1} of columns and weights. Immutable; every method returns a new copy of its array.
     */
    public static final class Csr {

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
            Adjacency rows = new Adjacency(graph.nodeCount(), edges.sources(types::contains));
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
         * Returns the number of rows.
         *
         * @return the number of nodes
         */
        public int rowCount() {
            return rowOffsets.length - 1;
        }

        /**
         * Returns the number of entries.
         *
         * @return the number of edges
         */
        public int entryCount() {
            return columns.length;
        }

        /**
         * Returns the index of the first edge of each row.
         *
         * @return one number per node, and the number of entries at the end
         */
        public int[] rowOffsets() {
            return rowOffsets.clone();
        }

        /**
         * Returns the target node of each edge.
         *
         * @return the id of a node per entry
         */
        public int[] columns() {
            return columns.clone();
        }

        /**
         * Returns the weight of each edge.
         *
         * @return a finite number of 0 or more per entry
         */
        public double[] weights() {
            return weights.clone();
        }
    }
}
