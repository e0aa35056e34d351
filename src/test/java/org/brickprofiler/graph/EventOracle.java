package org.brickprofiler.graph;

import java.util.stream.IntStream;
import org.brickprofiler.graph.GraphShape.Order;
import org.jgrapht.Graph;
import org.jgrapht.alg.cycle.CycleDetector;
import org.jgrapht.alg.interfaces.ShortestPathAlgorithm.SingleSourcePaths;
import org.jgrapht.alg.shortestpath.BellmanFordShortestPath;
import org.jgrapht.graph.DefaultWeightedEdge;
import org.jgrapht.graph.DirectedWeightedMultigraph;
import org.jgrapht.graph.EdgeReversedGraph;

/**
 * Computes the times of events with JGraphT: the longest path is the shortest one if every time is negated. Node
 * {@code v} starts at vertex {@code 2v} and ends at {@code 2v + 1}; the last two vertices are the beginning and the end
 * of all.
 */
final class EventOracle {

    private final Graph<Integer, DefaultWeightedEdge> events =
            new DirectedWeightedMultigraph<>(DefaultWeightedEdge.class);

    private final GraphShape shape;
    private final int begin;
    private final int end;

    EventOracle(GraphShape shape) {
        this.shape = shape;
        this.begin = 2 * shape.size();
        this.end = begin + 1;
        IntStream.rangeClosed(0, end).forEach(events::addVertex);
        for (int v = 0; v < shape.size(); v++) {
            arrow(2 * v, 2 * v + 1, (double) shape.timeNs(v));
            arrow(begin, 2 * v, 0);
            arrow(2 * v + 1, end, 0);
            if (shape.parents().get(v) >= 0) {
                arrow(2 * shape.parents().get(v), 2 * v, 0);
                arrow(2 * v + 1, 2 * shape.parents().get(v) + 1, 0);
            }
        }
        for (Order order : shape.orders()) {
            arrow(2 * order.from() + 1, 2 * order.to(), 0);
        }
    }

    private void arrow(int from, int to, double ns) {
        events.setEdgeWeight(events.addEdge(from, to), -ns);
    }

    boolean isCyclic() {
        return new CycleDetector<>(events).detectCycles();
    }

    long lengthNs() {
        return ns(new BellmanFordShortestPath<>(events).getPaths(begin), end);
    }

    long[] earliestStartNs() {
        SingleSourcePaths<Integer, DefaultWeightedEdge> before = new BellmanFordShortestPath<>(events).getPaths(begin);
        return IntStream.range(0, shape.size())
                .mapToLong(v -> ns(before, 2 * v))
                .toArray();
    }

    /** How long it takes from each node's end to the end of all. */
    long[] afterNs() {
        SingleSourcePaths<Integer, DefaultWeightedEdge> after =
                new BellmanFordShortestPath<>(new EdgeReversedGraph<>(events)).getPaths(end);
        return IntStream.range(0, shape.size())
                .mapToLong(v -> ns(after, 2 * v + 1))
                .toArray();
    }

    private static long ns(SingleSourcePaths<Integer, DefaultWeightedEdge> paths, int vertex) {
        return Math.round(-paths.getWeight(vertex));
    }
}
