package org.brickprofiler.graph;

import java.util.Arrays;
import java.util.function.IntFunction;

/**
 * The earliest and the latest time of each event, by the forward and the backward pass of the critical path method
 * (Kelley and Walker, 1959), in time linear in nodes and edges. Sums are exact. Immutable; any thread.
 */
final class EventTimes {

    private final EventGraph events;
    private final int[] order;
    private final long[] earliestNs;
    private final long[] latestNs;
    private final long lengthNs;

    private EventTimes(EventGraph events, int[] order) {
        this.events = events;
        this.order = order;
        this.earliestNs = forward(events, order);
        this.lengthNs = Arrays.stream(earliestNs).max().orElse(0);
        this.latestNs = backward(events, order, lengthNs);
    }

    /**
     * Computes the times.
     *
     * @param events the graph
     * @param names what to call a node in the message about a cycle
     * @return the times
     * @throws IllegalArgumentException when there is a cycle; the message names its nodes
     * @throws ArithmeticException when a path takes longer than {@link Long#MAX_VALUE} ns; the message names a node
     */
    static EventTimes of(EventGraph events, IntFunction<String> names) {
        return new EventTimes(events, events.inOrder(names));
    }

    private static long[] forward(EventGraph events, int[] order) {
        long[] earliestNs = new long[order.length];
        for (int event : order) {
            for (int i = 0; i < events.degree(event); i++) {
                int successor = events.successor(event, i);
                long atNs = after(events, earliestNs[event], event, successor);
                earliestNs[successor] = Math.max(earliestNs[successor], atNs);
            }
        }
        return earliestNs;
    }

    private static long after(EventGraph events, long atNs, int event, int successor) {
        if (!EventGraph.isOwn(event, successor)) {
            return atNs;
        }
        int node = EventGraph.nodeOf(event);
        long ownNs = events.ownNs(node);
        if (ownNs > Long.MAX_VALUE - atNs) {
            throw new ArithmeticException("the path through node " + node + " is too long: " + atNs
                    + " ns before it and " + ownNs + " ns of its own");
        }
        return atNs + ownNs;
    }

    private static long[] backward(EventGraph events, int[] order, long lengthNs) {
        long[] latestNs = new long[order.length];
        Arrays.fill(latestNs, lengthNs);
        for (int done = order.length - 1; done >= 0; done--) {
            int event = order[done];
            for (int i = 0; i < events.degree(event); i++) {
                int successor = events.successor(event, i);
                // Never below 0: what lies before and after an event is no longer than the whole.
                long ownNs = EventGraph.isOwn(event, successor) ? events.ownNs(EventGraph.nodeOf(event)) : 0;
                latestNs[event] = Math.min(latestNs[event], latestNs[successor] - ownNs);
            }
        }
        return latestNs;
    }

    EventGraph events() {
        return events;
    }

    /** The length of the longest path, ns. */
    long lengthNs() {
        return lengthNs;
    }

    long earliestNs(int event) {
        return earliestNs[event];
    }

    /** Whether a longest path goes through an event. */
    boolean isCritical(int event) {
        return earliestNs[event] == latestNs[event];
    }

    /** Whether a longest path goes along an arrow. */
    boolean isCritical(int event, int successor) {
        long ownNs = EventGraph.isOwn(event, successor) ? events.ownNs(EventGraph.nodeOf(event)) : 0;
        return isCritical(event) && isCritical(successor) && earliestNs[successor] - earliestNs[event] == ownNs;
    }

    /**
     * How far each node, with everything in it, may be put off: the time that its own leaves between its earliest start
     * and its latest end, and no more than the float of any child. A node without time of its own never has less room
     * than its children.
     *
     * @return a new array, ns
     */
    long[] floatsNs() {
        long[] floatsNs = new long[events.nodeCount()];
        for (int v = 0; v < floatsNs.length; v++) {
            long roomNs = latestNs[EventGraph.endOf(v)] - earliestNs[EventGraph.startOf(v)];
            floatsNs[v] = roomNs - events.ownNs(v);
        }
        // A child ends before its parent does, so its own float is final by then.
        for (int event : order) {
            int parent = events.parent(EventGraph.nodeOf(event));
            if (!EventGraph.isStart(event) && parent != EventGraph.NO_PARENT) {
                floatsNs[parent] = Math.min(floatsNs[parent], floatsNs[EventGraph.nodeOf(event)]);
            }
        }
        return floatsNs;
    }

    /**
     * How long the whole would take if some nodes took no time, and nothing in them did.
     *
     * @param chosen the nodes
     * @return the length of the longest path then, ns
     */
    long lengthWithoutNs(boolean[] chosen) {
        boolean[] gone = chosen.clone();
        long[] ownNs = new long[events.nodeCount()];
        // A parent starts before its children do.
        for (int event : order) {
            int node = EventGraph.nodeOf(event);
            if (EventGraph.isStart(event)) {
                int parent = events.parent(node);
                gone[node] |= parent != EventGraph.NO_PARENT && gone[parent];
                ownNs[node] = gone[node] ? 0 : events.ownNs(node);
            }
        }
        return Arrays.stream(forward(events.withOwnNs(ownNs), order)).max().orElse(0);
    }
}
