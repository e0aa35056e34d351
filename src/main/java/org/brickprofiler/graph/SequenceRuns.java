package org.brickprofiler.graph;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.brickprofiler.graph.ExecutionNode.Layer;
import org.eclipse.collections.impl.list.mutable.primitive.IntArrayList;

/**
 * Finds {@link SequenceRun}s. Layers are in none: each reads what the one before it, or the embedding, has written, and
 * what follows reads theirs, whether or not somebody recorded that. Linear but for the logarithm of the depth; where
 * dependencies lead by way of nodes elsewhere, the search for them is bounded, and a path that it does not get to the end
 * of counts as one. Used by one thread, once.
 */
final class SequenceRuns {

    private static final int NONE = -1;

    /** How many steps the search for paths may take, as a multiple of nodes and edges. */
    private static final int STEPS_EACH = 32;

    private final ExecutionGraph graph;
    private final EventGraph forest;
    private final Ancestors ancestors;

    /** The sibling after and before each node. */
    private final int[] next;

    private final int[] previous;

    /** The first sibling of the chain that each node is in, and its place in it. */
    private final int[] heads;

    private final int[] positions;

    /** The place of the last sibling in the same chain that each node needs. */
    private final int[] needed;

    private final Map<List<String>, SequenceRun> found = new LinkedHashMap<>();

    private SequenceRuns(ExecutionGraph graph, EventGraph forest) {
        this.graph = graph;
        this.forest = forest;
        this.ancestors = new Ancestors(forest);
        this.next = filled(forest.nodeCount());
        this.previous = filled(forest.nodeCount());
        this.heads = filled(forest.nodeCount());
        this.positions = filled(forest.nodeCount());
        this.needed = filled(forest.nodeCount());
    }

    private static int[] filled(int count) {
        int[] array = new int[count];
        Arrays.fill(array, NONE);
        return array;
    }

    /**
     * The runs that promise most.
     *
     * @param graph a graph without cycles
     * @param forest its events
     * @param limit the most to return
     * @return runs with something to gain, by potential, then in the order of the graph; those with the same names are
     *     one
     */
    static List<SequenceRun> of(ExecutionGraph graph, EventGraph forest, int limit) {
        SequenceRuns runs = new SequenceRuns(graph, forest);
        runs.link();
        runs.number();
        if (runs.findNeeds()) {
            runs.findPaths();
        }
        runs.cut();
        return runs.found.values().stream()
                .sorted(Comparator.comparingLong(SequenceRun::potentialNs).reversed())
                .limit(limit)
                .toList();
    }

    /** Chains siblings of one parent. Of several sequence edges at a node the first counts. */
    private void link() {
        EdgeColumns edges = graph.edges();
        for (int edge = 0; edge < edges.size(); edge++) {
            int from = edges.from(edge);
            int to = edges.to(edge);
            boolean siblings = forest.parent(from) != EventGraph.NO_PARENT && forest.parent(from) == forest.parent(to);
            if (edges.type(edge) == EdgeType.SEQUENCE && siblings && next[from] == NONE && previous[to] == NONE) {
                next[from] = to;
                previous[to] = from;
            }
        }
    }

    private void number() {
        for (int head = 0; head < next.length; head++) {
            int position = 0;
            for (int v = previous[head] == NONE ? head : NONE; v != NONE; v = next[v]) {
                heads[v] = head;
                positions[v] = position++;
            }
        }
    }

    /** A dependency between two nodes is one between the siblings that they are in. Answers whether others may lead on. */
    private boolean findNeeds() {
        boolean others = false;
        EdgeColumns edges = graph.edges();
        for (int edge = 0; edge < edges.size(); edge++) {
            if (edges.type(edge) == EdgeType.DEPENDS_ON || edges.type(edge) == EdgeType.TRANSFER) {
                int needs = ancestors.siblingAbove(edges.from(edge), edges.to(edge));
                int needing = ancestors.siblingAbove(edges.to(edge), edges.from(edge));
                if (heads[needs] == heads[needing]) {
                    needed[needing] = Math.max(needed[needing], positions[needs]);
                } else {
                    others = true;
                }
            }
        }
        return others;
    }

    /** Dependencies by way of nodes that are in no sibling of the same chain. */
    private void findPaths() {
        DependencyPaths paths =
                new DependencyPaths(graph, forest, ancestors, (long) STEPS_EACH * (graph.nodeCount() + graph.edgeCount()));
        for (int head = 0; head < next.length; head++) {
            boolean isChain = previous[head] == NONE && next[head] != NONE;
            for (int v = isChain ? next[head] : NONE; v != NONE; v = next[v]) {
                paths.begin(v, forest.parent(v));
                for (int found = paths.next(); found != NONE; found = paths.next()) {
                    if (heads[found] == head) {
                        needed[v] = Math.max(needed[v], positions[found]);
                    }
                }
                if (paths.gaveUp()) {
                    needed[v] = Math.max(needed[v], positions[v] - 1);
                }
            }
        }
    }

    /** A run ends before the first sibling that needs one of it. */
    private void cut() {
        for (int head = 0; head < next.length; head++) {
            IntArrayList run = new IntArrayList();
            int first = 0;
            for (int v = previous[head] == NONE ? head : NONE; v != NONE; v = next[v]) {
                boolean isLayer = graph.node(v) instanceof Layer;
                if (isLayer || needed[v] >= first) {
                    add(run);
                    run.clear();
                    first = positions[v] + (isLayer ? 1 : 0);
                }
                if (!isLayer) {
                    run.add(v);
                }
            }
            add(run);
        }
    }

    private void add(IntArrayList run) {
        long sumNs = 0;
        long longestNs = 0;
        for (int i = 0; i < run.size(); i++) {
            long totalNs = graph.totalNs(run.get(i));
            sumNs = saturatedSum(sumNs, totalNs);
            longestNs = Math.max(longestNs, totalNs);
        }
        if (sumNs > longestNs) {
            List<Integer> nodes = run.collect(Integer::valueOf);
            List<String> names =
                    nodes.stream().map(node -> graph.node(node).name()).toList();
            int parent = forest.parent(nodes.get(0));
            String parentName = graph.node(parent).name();
            found.merge(
                    names,
                    new SequenceRun(parent, parentName, nodes, names, 1, sumNs, sumNs - longestNs),
                    SequenceRun::plus);
        }
    }

    static long saturatedSum(long oneNs, long otherNs) {
        return oneNs > Long.MAX_VALUE - otherNs ? Long.MAX_VALUE : oneNs + otherNs;
    }
}
