package org.brickprofiler.graph;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Predicate;
import org.brickprofiler.graph.ExecutionGraph.Edge;

/**
 * The edges of a graph, one column per part, so that an edge costs 25 bytes and no object. Edges are numbered from 0 in
 * the order in which they were added. Each node's outgoing and incoming edges are chained in that order. Not
 * thread-safe; checks nothing.
 */
final class EdgeColumns {

    /** The end of a chain. */
    private static final int NONE = -1;

    private static final int FIRST_EDGES = 8;

    private final IntList from = new IntList();
    private final IntList to = new IntList();
    private byte[] types = new byte[FIRST_EDGES];
    private double[] weights = new double[FIRST_EDGES];
    private final Chains outgoing = new Chains();
    private final Chains incoming = new Chains();

    /** Makes room for the edges of one more node. */
    void addNode() {
        outgoing.addNode();
        incoming.addNode();
    }

    /** Adds an edge between two nodes that {@link #addNode} has made room for. */
    void add(int fromNode, int toNode, EdgeType type, double weight) {
        int edge = from.size();
        from.add(fromNode);
        to.add(toNode);
        if (edge == types.length) {
            types = Arrays.copyOf(types, edge + (edge >> 1));
            weights = Arrays.copyOf(weights, types.length);
        }
        types[edge] = type.index();
        weights[edge] = weight;
        outgoing.append(fromNode, edge);
        incoming.append(toNode, edge);
    }

    int size() {
        return from.size();
    }

    int from(int edge) {
        return from.get(edge);
    }

    int to(int edge) {
        return to.get(edge);
    }

    EdgeType type(int edge) {
        return EdgeType.at(types[edge]);
    }

    double weight(int edge) {
        return weights[edge];
    }

    /** Returns the node that each edge leaves, for an {@link Adjacency}; edges that are not chosen are left out. */
    int[] sources(Predicate<EdgeType> chosen) {
        int[] sources = new int[size()];
        for (int edge = 0; edge < sources.length; edge++) {
            sources[edge] = chosen.test(type(edge)) ? from(edge) : Adjacency.LEFT_OUT;
        }
        return sources;
    }

    /** Returns the node that each edge enters. */
    int[] targets() {
        return to.toArray();
    }

    /** Returns the edges that leave a node. */
    List<Edge> outgoing(int node) {
        return edges(outgoing, node);
    }

    /** Returns the edges that enter a node. */
    List<Edge> incoming(int node) {
        return edges(incoming, node);
    }

    private List<Edge> edges(Chains chains, int node) {
        List<Edge> edges = new ArrayList<>();
        for (int edge = chains.first.get(node); edge != NONE; edge = chains.next.get(edge)) {
            edges.add(new Edge(from(edge), to(edge), type(edge), weight(edge)));
        }
        return List.copyOf(edges);
    }

    /** Returns the nodes that a node owns, in the order of the edges. */
    IntList owned(int node) {
        IntList owned = new IntList();
        for (int edge = outgoing.first.get(node); edge != NONE; edge = outgoing.next.get(edge)) {
            if (type(edge).isOwnership()) {
                owned.add(to(edge));
            }
        }
        return owned;
    }

    void clear() {
        from.clear();
        to.clear();
        outgoing.clear();
        incoming.clear();
    }

    /** One chain of edges per node. */
    private static final class Chains {
        final IntList first = new IntList();
        final IntList last = new IntList();
        final IntList next = new IntList();

        void addNode() {
            first.add(NONE);
            last.add(NONE);
        }

        void append(int node, int edge) {
            next.add(NONE);
            int before = last.get(node);
            if (before == NONE) {
                first.set(node, edge);
            } else {
                next.set(before, edge);
            }
            last.set(node, edge);
        }

        void clear() {
            first.clear();
            last.clear();
            next.clear();
        }
    }
}
