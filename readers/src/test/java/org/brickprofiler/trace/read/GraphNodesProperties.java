package org.brickprofiler.trace.read;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

/** The ranges of nodes of CUDA graphs are those that a search of all events finds. */
class GraphNodesProperties {

    private static final int NODES = 8;
    private static final int THREADS = 2;

    /** An event of a node: a creation at a time on a thread, or a copy of another node. */
    record NodeEvent(int node, int original, int thread, long startNs) {

        static NodeEvent of(int number) {
            int original = number / NODES % (2 * NODES);
            return new NodeEvent(
                    number % NODES,
                    original < NODES ? original : -1,
                    number / (2 * NODES * NODES) % THREADS,
                    number / (2 * NODES * NODES * THREADS) % 16);
        }
    }

    /** Follows the copies of a node one by one; returns its range, with the innermost beginning last. */
    private static int expected(int node, List<NodeEvent> events, List<int[]> ranges) {
        Set<Integer> seen = new HashSet<>();
        int root = node;
        while (seen.add(root)) {
            int of = root;
            List<Integer> originals = events.stream()
                    .filter(event -> event.node() == of && event.original() >= 0)
                    .map(NodeEvent::original)
                    .distinct()
                    .toList();
            if (originals.size() > 1) {
                return LaunchRanges.NO_LAUNCH;
            }
            if (originals.isEmpty()) {
                return created(root, events, ranges);
            }
            root = originals.get(0);
        }
        return LaunchRanges.NO_LAUNCH;
    }

    private static int created(int root, List<NodeEvent> events, List<int[]> ranges) {
        List<List<Long>> creations = events.stream()
                .filter(event -> event.node() == root && event.original() < 0)
                .map(event -> List.of((long) event.thread(), event.startNs()))
                .distinct()
                .toList();
        if (creations.size() != 1) {
            return LaunchRanges.NO_LAUNCH;
        }
        int found = LaunchRanges.NO_RANGE;
        for (int range = 0; range < ranges.size(); range++) {
            int[] each = ranges.get(range);
            long startNs = creations.get(0).get(1);
            boolean isAround = each[0] == creations.get(0).get(0) && each[1] <= startNs && startNs < each[2];
            if (isAround
                    && (found < 0
                            || each[1] > ranges.get(found)[1]
                            || (each[1] == ranges.get(found)[1] && each[2] <= ranges.get(found)[2]))) {
                found = range;
            }
        }
        return found;
    }

    @Property
    void aNodeHasTheRangeOfItsOnlyCreation(
            @ForAll @Size(max = 16) List<@IntRange(max = 4_095) Integer> numbers,
            @ForAll @Size(max = 12) List<@IntRange(max = 511) Integer> ofRanges) {
        List<NodeEvent> events = numbers.stream().map(NodeEvent::of).toList();
        GraphNodes nodes = new GraphNodes();
        for (int node = 0; node < NODES; node++) {
            nodes.want(1, node);
            nodes.created(2, node, 0, node);
        }
        for (NodeEvent event : events) {
            if (event.original() < 0) {
                nodes.created(1, event.node(), event.thread(), event.startNs());
            } else {
                nodes.copied(1, event.node(), event.original());
            }
        }
        nodes.sort(THREADS);
        List<int[]> ranges = new ArrayList<>();
        for (int number : ofRanges) {
            int[] range = {number % THREADS, number / THREADS % 16, number / THREADS % 16 + number / (16 * THREADS)};
            nodes.range(range[0], range[1], range[2], ranges.size());
            ranges.add(range);
        }

        for (int node = 0; node < NODES; node++) {
            assertThat(nodes.of(1, node)).as("node %d", node).isEqualTo(expected(node, events, ranges));
        }
    }
}
