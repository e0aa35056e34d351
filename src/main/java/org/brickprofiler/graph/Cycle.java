package org.brickprofiler.graph;

import java.util.Arrays;
import java.util.function.IntFunction;
import java.util.stream.Collectors;

/** One cycle among events that wait for each other. Immutable; any thread. */
final class Cycle {

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

    /** For each event that waits, one that it waits for: its own start where possible, otherwise of the lowest node. */
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
