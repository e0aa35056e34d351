package org.brickprofiler.graph;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.Set;
import java.util.stream.IntStream;
import org.brickprofiler.graph.GraphShape.Order;

/**
 * Finds the critical path by trying all chains, without start and end events. An ordering edge puts every node inside
 * its source before every node inside its target; a chain of activities in this order is a path. For small graphs only.
 */
final class ChainOracle {

    private final GraphShape shape;
    private final boolean[][] precedes;
    private final int[] activities;

    /** Results, filled while chains are tried. */
    private long longestNs;

    private final Set<Integer> onLongest = new HashSet<>();
    private final long[] beforeNs;
    private final long[] throughNs;

    ChainOracle(GraphShape shape) {
        this.shape = shape;
        int n = shape.size();
        this.precedes = new boolean[n][n];
        for (Order order : shape.orders()) {
            for (int v = 0; v < n; v++) {
                for (int w = 0; w < n; w++) {
                    precedes[v][w] |= shape.contains(order.from(), v) && shape.contains(order.to(), w);
                }
            }
        }
        this.activities = IntStream.range(0, n).filter(shape::isActivity).toArray();
        this.beforeNs = new long[n];
        this.throughNs = new long[n];
        if (!isCyclic()) {
            extend(new ArrayDeque<>(), 0);
        }
    }

    boolean isCyclic() {
        int n = shape.size();
        boolean[][] reaches = new boolean[n][];
        for (int v = 0; v < n; v++) {
            reaches[v] = precedes[v].clone();
        }
        for (int via : activities) {
            for (int v = 0; v < n; v++) {
                for (int w = 0; w < n; w++) {
                    reaches[v][w] |= reaches[v][via] && reaches[via][w];
                }
            }
        }
        return IntStream.of(activities).anyMatch(v -> reaches[v][v]);
    }

    private void extend(Deque<Integer> chain, long sumNs) {
        if (sumNs > longestNs) {
            longestNs = sumNs;
            onLongest.clear();
        }
        if (sumNs == longestNs) {
            onLongest.addAll(chain);
        }
        for (int v : chain) {
            throughNs[v] = Math.max(throughNs[v], sumNs);
        }
        for (int v = 0; v < shape.size() && !chain.isEmpty(); v++) {
            if (precedes[chain.getLast()][v]) {
                beforeNs[v] = Math.max(beforeNs[v], sumNs);
            }
        }
        for (int next : activities) {
            if (chain.isEmpty() || precedes[chain.getLast()][next]) {
                chain.addLast(next);
                extend(chain, sumNs + shape.timeNs(next));
                chain.removeLast();
            }
        }
    }

    long lengthNs() {
        return longestNs;
    }

    /** Whether a node lies on some longest chain, or something in it does. */
    boolean holdsLongest(int node) {
        return onLongest.stream().anyMatch(activity -> shape.contains(node, activity));
    }

    long earliestStartNs(int node) {
        return beforeNs[node];
    }

    /** Returns the slack of the longest chain through a node or anything in it. */
    long slackNs(int node) {
        return IntStream.of(activities)
                .filter(activity -> shape.contains(node, activity))
                .mapToLong(activity -> longestNs - throughNs[activity])
                .min()
                .orElseThrow();
    }
}
