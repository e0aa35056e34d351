package org.brickprofiler;

import org.brickprofiler.graph.GraphRecorder;
import org.brickprofiler.record.NameTable;

/** Tells a graph about timed bricks and boundaries, while the graph's own switch is on. Any thread. */
final class GraphFollower extends BrickFollower {

    private final GraphRecorder graph;
    private final NameTable names;

    private GraphFollower(GraphRecorder graph, NameTable names) {
        this.graph = graph;
        this.names = names;
    }

    /** A follower. By this type, so that whoever calls this is verified without loading the class. */
    static BrickFollower of(GraphRecorder graph, NameTable names) {
        return new GraphFollower(graph, names);
    }

    @Override
    void ended(int key, long startNs, long endNs, long elements) {
        if (graph.isEnabled()) {
            graph.brick(names.name(key), startNs, endNs, elements);
        }
    }

    @Override
    void startLayer(long layer) {
        graph.startLayer(layer);
    }

    @Override
    void endLayer(long layer) {
        graph.endLayer(layer);
    }

    @Override
    void workFor(long layer) {
        graph.workFor(layer);
    }

    @Override
    void endPass() {
        graph.endPass();
    }

    @Override
    void reset() {
        graph.reset();
    }
}
