package org.brickprofiler.graph;

import java.util.OptionalLong;
import org.brickprofiler.graph.ExecutionNode.Brick;
import org.brickprofiler.internal.base.Sums;

/**
 * The self time and total time of every node of a graph, and the brick around each. Computed in one call, without
 * recursion, in linear time. Immutable; valid until the nodes change.
 */
final class NodeTimes {

    private static final int NONE = ExecutionGraph.NONE;

    private final ExecutionGraph graph;
    private final long[] totalNs;
    private final long[] selfNs;
    private final int[] bricks;

    private NodeTimes(ExecutionGraph graph, long[] totalNs, long[] selfNs, int[] bricks) {
        this.graph = graph;
        this.totalNs = totalNs;
        this.selfNs = selfNs;
        this.bricks = bricks;
    }

    static NodeTimes of(ExecutionGraph graph) {
        int count = graph.nodeCount();
        long[] childrenNs = new long[count];
        long[] totalNs = new long[count];
        long[] selfNs = new long[count];
        int[] childrenFirst = childrenFirst(graph);
        for (int node : childrenFirst) {
            long ownNs = graph.node(node).timeNs().orElse(0);
            totalNs[node] = Math.max(ownNs, childrenNs[node]);
            selfNs[node] = Math.max(0, ownNs - childrenNs[node]);
            int parent = graph.parentOrNone(node);
            if (parent != NONE) {
                childrenNs[parent] = Sums.limited(childrenNs[parent], totalNs[node]);
            }
        }
        return new NodeTimes(graph, totalNs, selfNs, bricks(graph, childrenFirst));
    }

    /** Returns the nodes, each after its children. */
    private static int[] childrenFirst(ExecutionGraph graph) {
        int count = graph.nodeCount();
        int[] missing = new int[count];
        IntList order = new IntList(count);
        for (int node = 0; node < count; node++) {
            missing[node] = graph.childCount(node);
            if (missing[node] == 0) {
                order.add(node);
            }
        }
        for (int i = 0; i < order.size(); i++) {
            int parent = graph.parentOrNone(order.get(i));
            if (parent != NONE && --missing[parent] == 0) {
                order.add(parent);
            }
        }
        return order.toArray();
    }

    /** Returns for each node the nearest brick above it, or {@link #NONE}. */
    private static int[] bricks(ExecutionGraph graph, int[] childrenFirst) {
        int[] bricks = new int[childrenFirst.length];
        for (int i = childrenFirst.length - 1; i >= 0; i--) {
            int node = childrenFirst[i];
            int parent = graph.parentOrNone(node);
            if (parent == NONE) {
                bricks[node] = NONE;
            } else {
                bricks[node] = graph.node(parent) instanceof Brick ? parent : bricks[parent];
            }
        }
        return bricks;
    }

    long totalNs(int node) {
        return totalNs[node];
    }

    long selfNs(int node) {
        return selfNs[node];
    }

    /** Returns the node with the longest {@link #ownOrBrickNs}, the first among equals, or {@link #NONE}. */
    int slowest(IntList candidates) {
        int slowest = NONE;
        long slowestNs = -1;
        for (int i = 0; i < candidates.size(); i++) {
            long ns = ownOrBrickNs(candidates.get(i)).orElse(-1);
            if (ns > slowestNs) {
                slowest = candidates.get(i);
                slowestNs = ns;
            }
        }
        return slowest;
    }

    /** Returns the node's own time or, if it has none, the time of the nearest brick above it. */
    private OptionalLong ownOrBrickNs(int node) {
        OptionalLong ownNs = graph.node(node).timeNs();
        return ownNs.isPresent() || bricks[node] == NONE
                ? ownNs
                : graph.node(bricks[node]).timeNs();
    }
}
