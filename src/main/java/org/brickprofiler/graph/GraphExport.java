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
import org.brickprofiler.internal.io.PlainText;

/** Writes an {@link ExecutionGraph} for people and for other programs. Stateless; any thread. */
public final class GraphExport {

    private static final String[] TIME_UNITS = {"ns", "us", "ms", "s"};

    /** What would be rounded to 1000 with four digits, and belongs to the next unit. */
    private static final double NEXT_UNIT = 999.95;

    /** Scopes that were never closed and are named; more are counted. */
    private static final int MOST_SCOPES = 20;

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
     * The critical path as text: how long it is, how much work there is beside it and so how many nodes could run at
     * once on average, what a recorder lost, and the names that make up most of the path with what the whole can gain
     * from each.
     *
     * @param graph a graph
     * @return lines of printable ASCII; other characters of names are escaped as in Java source
     * @throws IllegalArgumentException when nodes wait for each other in a circle; the message names them in order
     * @throws ArithmeticException when a path takes longer than {@link Long#MAX_VALUE} ns; the message names a node
     */
    public static String toSummary(ExecutionGraph graph) {
        return CriticalPathSummary.of(graph).toText();
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

    // ---- words that the texts share ----

    /** A duration in a unit that fits, with four digits, for example {@code "12.34 ms"}. */
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

    /** The kind of a node and what is particular to it, without its name and time; may be empty. */
    static String details(ExecutionNode node) {
        if (node instanceof Brick brick) {
            return count(brick.elements(), "element");
        }
        if (node instanceof Kernel kernel) {
            return "kernel, grid %s, block %s%s"
                    .formatted(kernel.grid(), kernel.block(), sharedMemory(kernel.sharedMemoryBytes()));
        }
        if (node instanceof Transfer transfer) {
            return "%s, %s".formatted(transfer.direction(), count(transfer.bytes(), "byte"));
        }
        if (node instanceof Function function) {
            return "function" + place(function);
        }
        return node instanceof AsyncTask task
                ? "task, %s, %s".formatted(count(task.polls(), "poll"), count(task.yields(), "yield"))
                : "";
    }

    private static String sharedMemory(int bytes) {
        return bytes == 0 ? "" : ", " + count(bytes, "byte") + " shared";
    }

    private static String place(Function function) {
        String line = function.line().isPresent() ? ":" + function.line().getAsInt() : "";
        return function.file().map(file -> " at " + file + line).orElse("");
    }

    /** A count with its unit, for example {@code "1,024 bytes"}. */
    static String count(long count, String unit) {
        return String.format(Locale.ROOT, "%,d %s%s", count, unit, count == 1 ? "" : "s");
    }

    /** A line for each kind of thing that a recorder could not keep, or saw to be wrong. */
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
     * The edges of a graph as a sparse matrix in compressed rows, to be read by numeric code. Row <i>r</i> holds the
     * edges that leave node <i>r</i>, in the order in which they were added: entries {@code rowOffsets[r]} to
     * {@code rowOffsets[r + 1] - 1} of columns and weights. Immutable; every array is a copy of its own.
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
}
