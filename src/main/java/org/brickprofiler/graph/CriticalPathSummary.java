package org.brickprofiler.graph;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * The critical path of a graph by name, and where parallelism could shorten it. Immutable; any thread.
 *
 * @param path the critical path and every node's slack
 * @param nodeCount how many nodes the graph has
 * @param workNs the time of all nodes, each moment counted once: the sum of the roots' totals, and thereby of all
 *     nodes' self times, ns; sums stop at {@link Long#MAX_VALUE}
 * @param names the names that make up most of the path, largest first
 * @param runs siblings that could run side by side if they are independent, most to gain first
 * @param droppedNodes how many nodes a recorder could not take
 * @param droppedDependencies how many dependencies it could not take
 * @param unbalancedScopes the names of the scopes that were never closed
 * @param unmatchedPops how often a scope was to be closed where none was open
 */
public record CriticalPathSummary(
        CriticalPath path,
        int nodeCount,
        long workNs,
        List<NameOnPath> names,
        List<SequenceRun> runs,
        long droppedNodes,
        long droppedDependencies,
        List<String> unbalancedScopes,
        long unmatchedPops) {

    /** How many names and runs there are without another limit. */
    public static final int DEFAULT_LIMIT = 5;

    /** The highest limit: each name costs one more pass over the graph. */
    public static final int LARGEST_LIMIT = 100;

    /** Copies the lists. */
    public CriticalPathSummary {
        Objects.requireNonNull(path, "path");
        Objects.requireNonNull(names, "names");
        Objects.requireNonNull(runs, "runs");
        Objects.requireNonNull(unbalancedScopes, "unbalancedScopes");
        names = List.copyOf(names);
        runs = List.copyOf(runs);
        unbalancedScopes = List.copyOf(unbalancedScopes);
    }

    /**
     * The summary of a graph as it is now, with at most {@value #DEFAULT_LIMIT} names and runs.
     *
     * @param graph the graph; one thread
     * @return the summary
     * @throws IllegalArgumentException when nodes wait for each other in a circle; the message names them in order
     * @throws ArithmeticException when a path takes longer than {@link Long#MAX_VALUE} ns
     */
    public static CriticalPathSummary of(ExecutionGraph graph) {
        return of(graph, DEFAULT_LIMIT);
    }

    /**
     * The summary of a graph as it is now.
     *
     * @param graph the graph; one thread
     * @param limit the most names and the most runs to tell, 1 to {@value #LARGEST_LIMIT}
     * @return the summary
     * @throws IllegalArgumentException when the limit is out of range, or nodes wait for each other in a circle; the
     *     message names them in order
     * @throws ArithmeticException when a path takes longer than {@link Long#MAX_VALUE} ns
     */
    public static CriticalPathSummary of(ExecutionGraph graph, int limit) {
        if (limit < 1 || limit > LARGEST_LIMIT) {
            throw new IllegalArgumentException("limit " + limit + " is not between 1 and " + LARGEST_LIMIT);
        }
        EventGraph events = EventGraph.of(graph);
        EventTimes times = EventTimes.of(events, node -> graph.node(node).name());
        CriticalPath path = CriticalPath.of(times);
        return new CriticalPathSummary(
                path,
                graph.nodeCount(),
                workNs(graph, events),
                names(graph, times, path, limit),
                SequenceRuns.of(graph, events, limit),
                graph.droppedNodes(),
                graph.droppedDependencies(),
                graph.unbalancedScopes(),
                graph.unmatchedPops());
    }

    private static long workNs(ExecutionGraph graph, EventGraph events) {
        long workNs = 0;
        for (int v = 0; v < graph.nodeCount(); v++) {
            if (events.parent(v) == EventGraph.NO_PARENT) {
                workNs = SequenceRuns.saturatedSum(workNs, graph.totalNs(v));
            }
        }
        return workNs;
    }

    private static List<NameOnPath> names(ExecutionGraph graph, EventTimes times, CriticalPath path, int limit) {
        Map<String, List<Integer>> byName = new LinkedHashMap<>();
        for (int node : path.nodes()) {
            byName.computeIfAbsent(graph.node(node).name(), name -> new ArrayList<>())
                    .add(node);
        }
        record Part(String name, int nodes, long ns) {}
        return byName.entrySet().stream()
                .map(entry -> new Part(entry.getKey(), entry.getValue().size(), sumNs(times, entry.getValue())))
                .filter(part -> part.ns() > 0)
                .sorted(Comparator.comparingLong(Part::ns).reversed().thenComparing(Part::name))
                .limit(limit)
                .map(part -> new NameOnPath(
                        part.name(), part.nodes(), part.ns(), times.lengthNs(), withoutNs(graph, times, part.name())))
                .toList();
    }

    /** No overflow: they are parts of one path. */
    private static long sumNs(EventTimes times, List<Integer> nodes) {
        return nodes.stream().mapToLong(times.events()::ownNs).sum();
    }

    private static long withoutNs(ExecutionGraph graph, EventTimes times, String name) {
        boolean[] chosen = new boolean[graph.nodeCount()];
        for (int node : graph.nodesByName(name)) {
            chosen[node] = true;
        }
        return times.lengthWithoutNs(chosen);
    }

    /**
     * How many nodes could run at once on average with unlimited parallelism: work over span. No schedule, on however
     * many processors, is faster than one after the other by more than this factor (Brent, "The parallel evaluation of
     * general arithmetic expressions", Journal of the ACM 21(2), 1974; Blumofe and Leiserson, "Scheduling multithreaded
     * computations by work stealing", Journal of the ACM 46(5), 1999).
     *
     * @return 1 or more; 0 where no time was measured
     */
    public double averageParallelism() {
        return path.totalNs() == 0 ? 0.0 : (double) workNs / path.totalNs();
    }

    /**
     * The names by what the whole can gain from them.
     *
     * @return {@link #names()} with a gain, most first
     */
    public List<NameOnPath> opportunities() {
        return names.stream()
                .filter(name -> name.gainNs() > 0)
                .sorted(Comparator.comparingLong(NameOnPath::gainNs).reversed())
                .toList();
    }

    /**
     * The summary for people.
     *
     * @return plain ASCII lines of text, each ended by {@code "\n"}
     */
    public String toText() {
        return SummaryText.of(this);
    }
}
