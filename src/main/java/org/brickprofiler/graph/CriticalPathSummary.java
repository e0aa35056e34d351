package org.brickprofiler.graph;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.brickprofiler.internal.base.PlainText;
import org.brickprofiler.internal.base.Plural;
import org.brickprofiler.internal.base.Sums;

/**
 * The critical path of a graph by name, as {@link GraphExport#toSummary} prints it.
 *
 * @param graph the graph, which must not change meanwhile
 * @param path its critical path
 * @param workNs the sum of the roots' totals, and so of all nodes' self times, ns; limited to {@link Long#MAX_VALUE}
 * @param names the names that make up most of the path, at most {@link #MOST_NAMES}, largest first
 */
record CriticalPathSummary(ExecutionGraph graph, CriticalPath path, long workNs, List<Name> names) {

    /** The largest number of names. Each name costs one more pass over the graph. */
    static final int MOST_NAMES = 5;

    /** The width of the column of names. */
    private static final int WIDEST = 40;

    private static final String NAME_LINE = "%-" + WIDEST + "s  %6s  %9s  %9s  %9s\n";

    /**
     * The share of one name in the path.
     *
     * @param name the name
     * @param nodes the number of its nodes on the path
     * @param onPathNs their time on the path, ns
     * @param gainNs how much shorter the longest path is if all nodes of the name, and everything in them, take no
     *     time, ns: the most that the whole can gain from this name (Amdahl, "Validity of the single processor approach
     *     to achieving large scale computing capabilities", 1967), since other paths remain
     */
    record Name(String name, int nodes, long onPathNs, long gainNs) {}

    static CriticalPathSummary of(ExecutionGraph graph) {
        CriticalPath path = CriticalPath.of(graph);
        long workNs = 0;
        for (int v = 0; v < graph.nodeCount(); v++) {
            if (graph.parentOrNone(v) == ExecutionGraph.NONE) {
                workNs = Sums.limited(workNs, graph.totalNs(v));
            }
        }
        return new CriticalPathSummary(graph, path, workNs, names(graph, path));
    }

    private static List<Name> names(ExecutionGraph graph, CriticalPath path) {
        Map<String, List<Integer>> byName = path.nodes().stream()
                .collect(Collectors.groupingBy(node -> graph.node(node).name()));
        List<Name> withoutGain = new ArrayList<>();
        byName.forEach((name, nodes) -> {
            // No overflow: they are parts of one path.
            long onPathNs = nodes.stream()
                    .mapToLong(node -> graph.node(node).timeNs().orElse(0))
                    .sum();
            if (onPathNs > 0) {
                withoutGain.add(new Name(name, nodes.size(), onPathNs, 0));
            }
        });
        return withoutGain.stream()
                .sorted(Comparator.comparingLong(Name::onPathNs).reversed().thenComparing(Name::name))
                .limit(MOST_NAMES)
                .map(each -> new Name(each.name(), each.nodes(), each.onPathNs(), gainNs(each.name(), graph, path)))
                .toList();
    }

    private static long gainNs(String name, ExecutionGraph graph, CriticalPath path) {
        boolean[] gone = new boolean[graph.nodeCount()];
        for (int node : graph.nodesByName(name)) {
            gone[node] = true;
        }
        return path.totalNs() - path.totalWithoutNs(gone);
    }

    /**
     * Returns the average parallelism: work divided by span. It is an upper bound of the speedup of any schedule, on
     * any number of processors, over sequential execution (Brent, "The parallel evaluation of general arithmetic
     * expressions", Journal of the ACM 21(2), 1974; Blumofe and Leiserson, "Scheduling multithreaded computations by
     * work stealing", Journal of the ACM 46(5), 1999). 1 or more; 0 if no time was measured.
     */
    double averageParallelism() {
        return path.totalNs() == 0 ? 0.0 : (double) workNs / path.totalNs();
    }

    // ---- text ----

    String toText() {
        return head() + GraphExport.losses(graph).indent(2) + table();
    }

    private String head() {
        return "Critical path\n"
                + "  path         " + GraphExport.duration(path.totalNs()) + " as recorded, through "
                + path.nodes().size() + " of "
                + Plural.of(graph.nodeCount(), "node") + "\n"
                + "  work         " + GraphExport.duration(workNs) + ", each moment counted once\n"
                + String.format(Locale.ROOT, "  parallelism  %.2f on average\n", averageParallelism());
    }

    /** Returns the table of names; empty if no node on the path has a time. */
    private String table() {
        if (names.isEmpty()) {
            return "";
        }
        StringBuilder lines = new StringBuilder("\nOn the path, most time first; gain: the reduction of the whole"
                + " if all nodes of the name, with all in them, take no time\n\n");
        lines.append(String.format(Locale.ROOT, NAME_LINE, "name", "nodes", "on path", "% of path", "gain"));
        long othersNs = path.totalNs();
        int otherNodes = path.nodes().size();
        for (Name name : names) {
            lines.append(
                    line(printable(name.name()), name.nodes(), name.onPathNs(), GraphExport.duration(name.gainNs())));
            othersNs -= name.onPathNs();
            otherNodes -= name.nodes();
        }
        if (othersNs > 0) {
            lines.append(line("(others)", otherNodes, othersNs, ""));
        }
        return lines.toString();
    }

    private String line(String name, int nodes, long onPathNs, String gain) {
        String percent = String.format(Locale.ROOT, "%.1f", 100.0 * onPathNs / path.totalNs());
        return String.format(Locale.ROOT, NAME_LINE, name, nodes, GraphExport.duration(onPathNs), percent, gain)
                        .stripTrailing()
                + "\n";
    }

    private static String printable(String name) {
        return PlainText.shortened(PlainText.ascii(name), WIDEST);
    }
}
