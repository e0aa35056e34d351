package org.brickprofiler.graph;

import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.eclipse.collections.impl.list.mutable.primitive.IntArrayList;

/**
 * The order in time that an execution graph stands for. Every node has two events, its start and its end, and an arrow
 * from one event to another says that the second cannot come before the first:
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
    static final int NO_PARENT = -1;

    /** The time of a node that has none of its own. */
    static final long UNTIMED = -1;

    private final int nodeCount;
    private final long[] ownNs;
    private final int[] parents;
    private final Adjacency children;
    private final Adjacency followers;

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
        this.children =
                Adjacency.of(nodeCount, parents, IntStream.range(0, nodeCount).toArray());
        this.followers = Adjacency.of(nodeCount, from, to);
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

    Adjacency children() {
        return children;
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
        return followers.degree(node) + (parents[node] == NO_PARENT ? 0 : 1);
    }

    /** Where an arrow leads. The last one that leaves a start leads to the node's own end. */
    int successor(int event, int index) {
        int node = nodeOf(event);
        if (isStart(event)) {
            return index < children.degree(node) ? startOf(children.target(node, index)) : endOf(node);
        }
        return index < followers.degree(node) ? startOf(followers.target(node, index)) : endOf(parents[node]);
    }

    /** Whether an arrow is the one from a node's start to its own end, the only kind that takes time. */
    static boolean isOwn(int event, int successor) {
        return nodeOf(event) == nodeOf(successor);
    }

    /**
     * The same events with other times.
     *
     * @param otherNs each node's own time, as for the constructor
     * @return a graph that shares this one's structure
     */
    EventGraph withOwnNs(long[] otherNs) {
        return new EventGraph(this, otherNs);
    }

    private EventGraph(EventGraph same, long[] otherNs) {
        this.nodeCount = same.nodeCount;
        this.ownNs = otherNs;
        this.parents = same.parents;
        this.children = same.children;
        this.followers = same.followers;
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
}
