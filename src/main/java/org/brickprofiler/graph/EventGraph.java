package org.brickprofiler.graph;

import java.util.Arrays;
import java.util.function.IntFunction;
import java.util.stream.Collectors;
import org.eclipse.collections.impl.list.mutable.primitive.IntArrayList;

/**
 * The order in time that an execution graph stands for. Every node has two events, its start and its end, and an arrow
 * from one event to another means that the second cannot come before the first:
 *
 * <ul>
 *   <li>from a node's start to its end, which takes the node's own time;
 *   <li>from a parent's start to the start of each child, and from each child's end to the end of its parent;
 *   <li>from the end of {@code a} to the start of {@code b}, for every ordering edge {@code a -> b}.
 * </ul>
 *
 * <p>So an ordering edge between two nodes orders everything in them, and a parent's time and that of its children lie
 * side by side on different ways from its start to its end. Immutable; any thread. The arrays given are not copied.
 */
final class EventGraph {

    /** The parent of a node that has none. */
    static final int NO_PARENT = Adjacency.LEFT_OUT;

    /** The time of a node that has none of its own. */
    static final long UNTIMED = -1;

    private final int nodeCount;
    private final long[] ownNs;
    private final int[] parents;
    private final Adjacency children;

    /** The places of {@link #followers} that belong to each node. */
    private final Adjacency orders;

    private final int[] followers;

    /**
     * Events of the nodes 0 to {@code ownNs.length - 1}.
     *
     * @param ownNs each node's own time, ns; {@link #UNTIMED} where it has none
     * @param parents each node's parent; {@link #NO_PARENT} where it has none
     * @param from the nodes that must end first, one for each ordering edge
     * @param to the nodes that start afterwards
     */
    EventGraph(long[] ownNs, int[] parents, int[] from, int[] to) {
        this.nodeCount = ownNs.length;
        this.ownNs = ownNs;
        this.parents = parents;
        this.children = new Adjacency(nodeCount, parents);
        this.orders = new Adjacency(nodeCount, from);
        this.followers = to;
    }

    /** The events of a graph as it is now. */
    static EventGraph of(ExecutionGraph graph) {
        long[] ownNs = new long[graph.nodeCount()];
        int[] parents = new int[ownNs.length];
        for (int v = 0; v < ownNs.length; v++) {
            ownNs[v] = graph.node(v).timeNs().orElse(UNTIMED);
            parents[v] = graph.parent(v).orElse(NO_PARENT);
        }
        EdgeColumns edges = graph.edges();
        IntArrayList from = new IntArrayList(edges.size());
        IntArrayList to = new IntArrayList(edges.size());
        for (int edge = 0; edge < edges.size(); edge++) {
            if (edges.type(edge).isOrder()) {
                from.add(edges.from(edge));
                to.add(edges.to(edge));
            }
        }
        return new EventGraph(ownNs, parents, from.toArray(), to.toArray());
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

    /** The time of the arrow from a node's start to its end, ns; 0 for an untimed node. */
    long ownNs(int node) {
        return Math.max(0, ownNs[node]);
    }

    /** How many arrows leave an event. */
    int degree(int event) {
        int node = nodeOf(event);
        if (isStart(event)) {
            return children.degree(node) + 1;
        }
        return orders.degree(node) + (parents[node] == NO_PARENT ? 0 : 1);
    }

    /** Where an arrow leads. The last one that leaves a start leads to the node's own end. */
    int successor(int event, int index) {
        int node = nodeOf(event);
        if (isStart(event)) {
            return index < children.degree(node) ? startOf(children.place(node, index)) : endOf(node);
        }
        return index < orders.degree(node) ? startOf(followers[orders.place(node, index)]) : endOf(parents[node]);
    }

    /** Whether an arrow is the one from a node's start to its own end, the only kind that takes time. */
    static boolean isOwn(int event, int successor) {
        return nodeOf(event) == nodeOf(successor);
    }

    /**
     * The events in an order that no arrow contradicts: Kahn's algorithm (Communications of the ACM 5(11), 1962), in
     * time linear in nodes and edges.
     *
     * @param names what to call a node in the message
     * @return all events
     * @throws IllegalArgumentException when there is a cycle; the message names the nodes of one
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
         * @param waiting for each event the number of predecessors that can never come; 0 for an event that does come
         */
        Cycle(EventGraph events, int[] waiting) {
            int[] before = predecessors(events, waiting);
            this.nodes = nodesBetween(before, somewhereOnACycle(before));
        }

        /**
         * For each event that waits, one that it waits for: its own start where possible, otherwise of the lowest node.
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

        /** Going back from any event that waits ends in a cycle, since every one of them waits for another. */
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

        /** The nodes of the cycle through an event in the order of time, the lowest id first. */
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
         * The message for people.
         *
         * @param names what to call a node
         * @return for example {@code "the graph has a cycle: 'a' (node 0) -> 'b' (node 1) -> 'a' (node 0)"}; of a long
         *     cycle the first nodes and how many there are
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
