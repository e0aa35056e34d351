package org.brickprofiler.graph;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.brickprofiler.graph.ExecutionGraph.Edge;
import org.eclipse.collections.impl.list.mutable.primitive.ByteArrayList;
import org.eclipse.collections.impl.list.mutable.primitive.DoubleArrayList;
import org.eclipse.collections.impl.list.mutable.primitive.IntArrayList;

/**
 * The edges of a graph, one column per part, so that an edge costs 25 bytes and no object. Edges are numbered from 0 in
 * the order in which they were added. Each node's outgoing and incoming edges are chained in that order. Not
 * thread-safe; checks nothing.
 */
final class EdgeColumns {

    /** The end of a chain. */
    private static final int NONE = -1;

    private final IntArrayList from = new IntArrayList();
    private final IntArrayList to = new IntArrayList();
    private final ByteArrayList types = new ByteArrayList();
    private final DoubleArrayList weights = new DoubleArrayList();
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
        types.add(type.index());
        weights.add(weight);
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
        return EdgeType.at(types.get(edge));
    }

    double weight(int edge) {
        return weights.get(edge);
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
    IntArrayList owned(int node) {
        IntArrayList owned = new IntArrayList();
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
        types.clear();
        weights.clear();
        outgoing.clear();
        incoming.clear();
    }

    /** One chain of edges per node. */
    private static final class Chains {
        final IntArrayList first = new IntArrayList();
        final IntArrayList last = new IntArrayList();
        final IntArrayList next = new IntArrayList();

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
