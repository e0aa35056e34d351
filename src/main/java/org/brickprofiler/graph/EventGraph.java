package org.brickprofiler.graph;

import java.util.Arrays;
import java.util.function.IntFunction;
import java.util.stream.Collectors;

/**
 * The order in time that an execution graph prescribes. Every node has two events, its start and its end. An arrow from
 * one event to another means that the second cannot precede the first:
 *
 * <ul>
 *   <li>from a node's start to its end, which takes the node's own time;
 *   <li>from a parent's start to the start of each child, and from each child's end to the end of its parent;
 *   <li>from the end of {@code a} to the start of {@code b}, for every ordering edge {@code a -> b}.
 * </ul>
 *
 * <p>An ordering edge between two nodes therefore orders everything in them, and a parent's own time and its children's
 * times lie on different paths from its start to its end. Immutable; any thread.
 */
final class EventGraph {

    /** The parent of a root. */
    static final int NO_PARENT = ExecutionGraph.NONE;

    private final int nodeCount;
    private final long[] ownNs;
    private final int[] parents;
    private final Adjacency children;
    private final Adjacency followers;

    /** Creates the events of a graph as it is now. */
    EventGraph(ExecutionGraph graph) {
        nodeCount = graph.nodeCount();
        ownNs = new long[nodeCount];
        parents = new int[nodeCount];
        for (int v = 0; v < nodeCount; v++) {
            ownNs[v] = graph.node(v).timeNs().orElse(0);
            parents[v] = graph.parentOrNone(v);
        }
        EdgeColumns edges = graph.edges();
        children = new Adjacency(nodeCount, parents);
        followers = new Adjacency(nodeCount, edges.sources(EdgeType::isOrder)).mapped(edges.targets());
    }

    static int startOf(int node) {
        return 2 * node;
    }

    static int endOf(int node) {
        return 2 * node + 1;
    }

    static int nodeOf(int event) {
        return event >> 1;
    }

    static boolean isStart(int event) {
        return (event & 1) == 0;
    }

    int nodeCount() {
        return nodeCount;
    }

    int eventCount() {
        return 2 * nodeCount;
    }

    int parent(int node) {
        return parents[node];
    }

    /**
     * Returns for each node the time of the arrow from its start to its end, ns, or 0 for an untimed node. Callers must
     * not change the array.
     */
    long[] ownNs() {
        return ownNs;
    }

    /** Returns how many arrows leave an event. */
    int degree(int event) {
        int node = nodeOf(event);
        if (isStart(event)) {
            return children.degree(node) + 1;
        }
        return followers.degree(node) + (parents[node] == NO_PARENT ? 0 : 1);
    }

    /** Returns the event to which an arrow leads. The last arrow from a start leads to the node's own end. */
    int successor(int event, int index) {
        int node = nodeOf(event);
        if (isStart(event)) {
            return index < children.degree(node) ? startOf(children.place(node, index)) : endOf(node);
        }
        return index < followers.degree(node) ? startOf(followers.place(node, index)) : endOf(parents[node]);
    }

    /** Returns whether an arrow leads from a node's start to its own end. Only these arrows take time. */
    static boolean isOwn(int event, int successor) {
        return nodeOf(event) == nodeOf(successor);
    }

    /**
     * Returns the events in a topological order, found by Kahn's algorithm (Communications of the ACM 5(11), 1962) in
     * time linear in nodes and edges.
     *
     * @param names the names of the nodes, for the message
     * @return all events
     * @throws IllegalArgumentException when there is a cycle; the message names up to six nodes of one cycle
     */
    int[] inOrder(IntFunction<String> names) {
        int[] waiting = new int[eventCount()];
        for (int event = 0; event < waiting.length; event++) {
            for (int i = 0; i < degree(event); i++) {
                waiting[successor(event, i)]++;
            }
        }
        int[] order = new int[waiting.length];
        int known = 0;
        for (int event = 0; event < waiting.length; event++) {
            if (waiting[event] == 0) {
                order[known++] = event;
            }
        }
        for (int done = 0; done < known; done++) {
            int event = order[done];
            for (int i = 0; i < degree(event); i++) {
                int successor = successor(event, i);
                if (--waiting[successor] == 0) {
                    order[known++] = successor;
                }
            }
        }
        if (known < order.length) {
            throw new IllegalArgumentException(new Cycle(this, waiting).describe(names));
        }
        return order;
    }

    /** One cycle among events that wait for each other. Immutable; any thread. */
    private static final class Cycle {

        /** The most nodes that a message lists. */
        private static final int LISTED = 6;

        private static final int NONE = -1;

        private final int[] nodes;

        /**
         * Finds a cycle in linear time.
         *
         * @param events the graph
         * @param waiting for each event the number of predecessors that never happen; 0 for an event that happens
         */
        Cycle(EventGraph events, int[] waiting) {
            int[] before = predecessors(events, waiting);
            this.nodes = nodesBetween(before, somewhereOnACycle(before));
        }

        /**
         * Returns for each waiting event one event that it waits for: its own node's start if possible, otherwise an
         * event of the lowest node.
         */
        private static int[] predecessors(EventGraph events, int[] waiting) {
            int[] before = new int[waiting.length];
            Arrays.fill(before, NONE);
            for (int event = 0; event < waiting.length; event++) {
                if (waiting[event] == 0) {
                    continue;
                }
                for (int i = 0; i < events.degree(event); i++) {
                    int successor = events.successor(event, i);
                    if (before[successor] == NONE || EventGraph.isOwn(event, successor)) {
                        before[successor] = event;
                    }
                }
            }
            return before;
        }

        /**
         * Returns an event of a cycle. Each waiting event waits for another one, so following them backwards ends in a
         * cycle.
         */
        private static int somewhereOnACycle(int[] before) {
            boolean[] seen = new boolean[before.length];
            int event = 0;
            while (before[event] == NONE) {
                event++;
            }
            while (!seen[event]) {
                seen[event] = true;
                event = before[event];
            }
            return event;
        }

        /** Returns the nodes of the cycle through an event in the order of time, the lowest id first. */
        private static int[] nodesBetween(int[] before, int event) {
            int[] backwards = new int[before.length];
            int count = 0;
            int at = event;
            do {
                int node = EventGraph.nodeOf(at);
                if (count == 0 || backwards[count - 1] != node) {
                    backwards[count++] = node;
                }
                at = before[at];
            } while (at != event);
            if (count > 1 && backwards[count - 1] == backwards[0]) {
                count--;
            }
            int lowest = 0;
            for (int i = 1; i < count; i++) {
                lowest = backwards[i] < backwards[lowest] ? i : lowest;
            }
            int[] nodes = new int[count];
            for (int i = 0; i < count; i++) {
                nodes[i] = backwards[Math.floorMod(lowest - i, count)];
            }
            return nodes;
        }

        /**
         * Returns the message.
         *
         * @param names the names of nodes
         * @return for example {@code "the graph has a cycle: 'a' (node 0) -> 'b' (node 1) -> 'a' (node 0)"}; a long
         *     cycle is cut to its first nodes and their number
         */
        String describe(IntFunction<String> names) {
            String listed = Arrays.stream(nodes)
                    .limit(LISTED)
                    .mapToObj(node -> label(node, names))
                    .collect(Collectors.joining(" -> "));
            String rest = nodes.length > LISTED ? " -> ... (" + nodes.length + " nodes)" : "";
            return "the graph has a cycle: " + listed + rest + " -> " + label(nodes[0], names);
        }

        private static String label(int node, IntFunction<String> names) {
            return "'" + names.apply(node) + "' (node " + node + ")";
        }
    }
}
