package org.brickprofiler.graph;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.brickprofiler.internal.base.Plural;

/**
 * The longest path through an execution graph, and the slack of every node: the critical path method (Kelley and
 * Walker, "Critical-path planning and scheduling", 1959). Immutable; any thread.
 *
 * <p>The rules for the order of nodes:
 *
 * <ul>
 *   <li>the target of a SEQUENCE, DEPENDS_ON or TRANSFER edge, with everything in it, starts after the source of the
 *       edge, with everything in it, has ended;
 *   <li>children start no earlier than their parent and end no later; they do not wait for each other without an edge;
 *   <li>a node takes at least its own time, and at least as long as its children need: the two are never added.
 * </ul>
 *
 * <p>So {@code totalNs()} is no less than the longest own time, and no more than the sum of the roots' totals. Edge
 * weights are ignored. Time and memory grow linearly with nodes and edges; nothing recurses, so nodes may nest to any
 * depth. Sums are exact.
 */
public final class CriticalPath {

    private final EventGraph events;
    private final int[] order;
    private final long[] earliestNs;
    private final long[] latestNs;
    private final long totalNs;
    private final long[] slackNs;
    private final List<Integer> nodes;

    private CriticalPath(ExecutionGraph graph) {
        this.events = new EventGraph(graph);
        this.order = events.inOrder(node -> graph.node(node).name());
        this.earliestNs = earliestNs(events.ownNs());
        this.totalNs = Arrays.stream(earliestNs).max().orElse(0);
        this.latestNs = latestNs();
        this.slackNs = slackNs();
        this.nodes = List.copyOf(walk());
    }

    /**
     * Analyses a graph as it is now.
     *
     * @param graph the graph; one thread
     * @return the critical path and the slack of every node
     * @throws IllegalArgumentException when nodes wait for each other in a cycle; the message names up to six of them,
     *     in order
     * @throws ArithmeticException when a path takes longer than {@link Long#MAX_VALUE} ns; the message names a node
     */
    public static CriticalPath of(ExecutionGraph graph) {
        return new CriticalPath(graph);
    }

    // ---- times of events ----

    /** Computes the earliest time of each event (the forward pass) from the nodes' own times. */
    private long[] earliestNs(long[] ownNs) {
        long[] atNs = new long[order.length];
        for (int event : order) {
            for (int i = 0; i < events.degree(event); i++) {
                int successor = events.successor(event, i);
                long takesNs = EventGraph.isOwn(event, successor) ? ownNs[EventGraph.nodeOf(event)] : 0;
                atNs[successor] = Math.max(atNs[successor], sum(atNs[event], takesNs, event));
            }
        }
        return atNs;
    }

    /** Returns the time that an arrow takes, ns. */
    private long takesNs(int event, int successor) {
        return EventGraph.isOwn(event, successor) ? events.ownNs()[EventGraph.nodeOf(event)] : 0;
    }

    private static long sum(long beforeNs, long ownNs, int event) {
        if (ownNs > Long.MAX_VALUE - beforeNs) {
            throw new ArithmeticException("the path through node " + EventGraph.nodeOf(event) + " is too long: "
                    + beforeNs + " ns before it and " + ownNs + " ns of its own");
        }
        return beforeNs + ownNs;
    }

    /** Computes the latest time of each event (the backward pass). */
    private long[] latestNs() {
        long[] atNs = new long[order.length];
        Arrays.fill(atNs, totalNs);
        for (int done = order.length - 1; done >= 0; done--) {
            int event = order[done];
            for (int i = 0; i < events.degree(event); i++) {
                int successor = events.successor(event, i);
                // Never below 0: a path through the event is no longer than the whole.
                atNs[event] = Math.min(atNs[event], atNs[successor] - takesNs(event, successor));
            }
        }
        return atNs;
    }

    /**
     * Returns the slack of each node, the smaller of two numbers: the time between its earliest start and its latest
     * end minus its own time, and the least slack of its children.
     */
    private long[] slackNs() {
        long[] roomNs = new long[events.nodeCount()];
        for (int v = 0; v < roomNs.length; v++) {
            roomNs[v] = latestNs[EventGraph.endOf(v)] - earliestNs[EventGraph.startOf(v)] - events.ownNs()[v];
        }
        // A child ends before its parent does, so the slack of the child is final by then.
        for (int event : order) {
            int node = EventGraph.nodeOf(event);
            int parent = events.parent(node);
            if (!EventGraph.isStart(event) && parent != EventGraph.NO_PARENT) {
                roomNs[parent] = Math.min(roomNs[parent], roomNs[node]);
            }
        }
        return roomNs;
    }

    /** Returns whether a longest path goes through an event. */
    private boolean isOnPath(int event) {
        return earliestNs[event] == latestNs[event];
    }

    /** Returns whether a longest path goes along an arrow. */
    private boolean isOnPath(int event, int successor) {
        return isOnPath(event)
                && isOnPath(successor)
                && earliestNs[successor] - earliestNs[event] == takesNs(event, successor);
    }

    // ---- one path ----

    /**
     * Returns the nodes of one longest path. If a longest path goes through a child of a node, the walk enters the
     * child instead of going straight to the end of the node. Therefore only leaves on the path can have no time of
     * their own.
     */
    private List<Integer> walk() {
        List<Integer> path = new ArrayList<>();
        int event = begin();
        while (event >= 0) {
            int next = next(event);
            if (next >= 0 && EventGraph.isOwn(event, next)) {
                path.add(EventGraph.nodeOf(event));
            }
            event = next;
        }
        return path;
    }

    /** Returns the start of the lowest root at which a longest path starts; -1 in a graph without nodes. */
    private int begin() {
        boolean[] preceded = new boolean[events.eventCount()];
        for (int event = 0; event < preceded.length; event++) {
            for (int i = 0; i < events.degree(event); i++) {
                preceded[events.successor(event, i)] = true;
            }
        }
        for (int event = 0; event < preceded.length; event++) {
            if (!preceded[event] && isOnPath(event)) {
                return event;
            }
        }
        return -1;
    }

    /**
     * Returns the next event on a longest path; -1 at the end of the path. Among equals it prefers the lowest child or
     * follower to the end of the node or of its parent.
     */
    private int next(int event) {
        int best = -1;
        for (int i = 0; i < events.degree(event); i++) {
            int successor = events.successor(event, i);
            boolean better = best < 0 || (EventGraph.isStart(successor) && successor < best);
            if (better && isOnPath(event, successor)) {
                best = successor;
            }
        }
        return best;
    }

    // ---- results ----

    /**
     * Returns one longest path: the nodes whose own times sum to its length, in the order of time. The path also lists
     * nodes between them that have neither time nor children. If several paths are longest, the returned path prefers
     * the children of a node to bypassing them, a follower to the end of the parent, and the lowest ids.
     *
     * @return ids; their own times sum to {@link #totalNs()}; empty in an empty graph
     */
    public List<Integer> nodes() {
        return nodes;
    }

    /**
     * Returns the length of the longest path: how long everything would take with unlimited parallelism.
     *
     * @return ns
     */
    public long totalNs() {
        return totalNs;
    }

    /**
     * Returns the earliest time at which a node can start.
     *
     * @param node its id
     * @return ns after the beginning
     * @throws IllegalArgumentException when no node has this id
     */
    public long earliestStartNs(int node) {
        return earliestNs[EventGraph.startOf(checked(node))];
    }

    /**
     * Returns the latest time at which a node can start, with everything in it, without making the whole longer.
     *
     * @param node its id
     * @return ns after the beginning, {@code earliestStartNs(node) + slackNs(node)}
     * @throws IllegalArgumentException when no node has this id
     */
    public long latestStartNs(int node) {
        return earliestStartNs(node) + slackNs[node];
    }

    /**
     * Returns the total float of a node: the longest delay of the node and everything in it that does not delay the
     * whole. It is the minimum float of the node's own time and of the nodes in it.
     *
     * @param node its id
     * @return ns; 0 exactly for the nodes that lie on a longest path or contain a node that does
     * @throws IllegalArgumentException when no node has this id
     */
    public long slackNs(int node) {
        return slackNs[checked(node)];
    }

    /**
     * Returns whether a node has no float: it lies on a longest path, or contains a node that does.
     *
     * @param node its id
     * @return whether its slack is 0
     * @throws IllegalArgumentException when no node has this id
     */
    public boolean isCritical(int node) {
        return slackNs[checked(node)] == 0;
    }

    /** Returns how long the longest path would be if some nodes took no time, and nothing in them did, ns. */
    long totalWithoutNs(boolean[] nodesGone) {
        boolean[] gone = nodesGone.clone();
        long[] ownNs = events.ownNs().clone();
        // A parent starts before its children do.
        for (int event : order) {
            int node = EventGraph.nodeOf(event);
            int parent = events.parent(node);
            gone[node] |= parent != EventGraph.NO_PARENT && gone[parent];
            ownNs[node] = gone[node] ? 0 : ownNs[node];
        }
        return Arrays.stream(earliestNs(ownNs)).max().orElse(0);
    }

    private int checked(int node) {
        if (node < 0 || node >= slackNs.length) {
            throw new IllegalArgumentException(
                    "node " + node + " does not exist, in a graph of " + Plural.of(slackNs.length, "node"));
        }
        return node;
    }
}
