package org.brickprofiler.graph;

import java.util.ArrayList;
import java.util.List;

/**
 * An execution graph to be, in a form that a property test can vary: node {@code v} has the time {@code ownNs.get(v)}
 * (none if that is negative) and the parent {@code parents.get(v)} (none if that is negative).
 */
record GraphShape(List<Long> ownNs, List<Integer> parents, List<Order> orders) {

    /** {@code from} ends before {@code to} starts. */
    record Order(int from, int to) {}

    int size() {
        return ownNs.size();
    }

    boolean isLeaf(int node) {
        return !parents.contains(node);
    }

    boolean isTimed(int node) {
        return ownNs.get(node) >= 0;
    }

    /** Whether a node is work in itself. */
    boolean isActivity(int node) {
        return isTimed(node) || isLeaf(node);
    }

    long timeNs(int node) {
        return Math.max(0, ownNs.get(node));
    }

    boolean contains(int ancestor, int node) {
        int at = node;
        while (at >= 0 && at != ancestor) {
            at = parents.get(at);
        }
        return at == ancestor;
    }

    GraphShape plus(Order order) {
        List<Order> more = new ArrayList<>(orders);
        more.add(order);
        return new GraphShape(ownNs, parents, more);
    }

    /** The same graph with the nodes in another order: node {@code v} becomes {@code ids.get(v)}. */
    GraphShape renumbered(List<Integer> ids) {
        List<Long> times = new ArrayList<>(ownNs);
        List<Integer> owners = new ArrayList<>(parents);
        for (int v = 0; v < size(); v++) {
            times.set(ids.get(v), ownNs.get(v));
            owners.set(ids.get(v), parents.get(v) < 0 ? -1 : ids.get(parents.get(v)));
        }
        List<Order> edges = orders.stream()
                .map(order -> new Order(ids.get(order.from()), ids.get(order.to())))
                .toList();
        return new GraphShape(times, owners, edges);
    }

    ExecutionGraph graph() {
        ExecutionGraph graph = new ExecutionGraph();
        for (int v = 0; v < size(); v++) {
            graph.addNode(
                    isTimed(v) ? new ExecutionNode.Brick("n" + v, timeNs(v), 1) : new ExecutionNode.Function("n" + v));
        }
        for (int v = 0; v < size(); v++) {
            if (parents.get(v) >= 0) {
                graph.addEdge(parents.get(v), v, EdgeType.CONTAINS);
            }
        }
        for (Order order : orders) {
            graph.addDependency(order.from(), order.to());
        }
        return graph;
    }
}
