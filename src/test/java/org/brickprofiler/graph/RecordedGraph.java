package org.brickprofiler.graph;

import java.util.ArrayList;
import java.util.List;
import org.brickprofiler.graph.ExecutionGraph.Edge;
import org.brickprofiler.testing.FakeClock;

/** An enabled recorder whose clock the test moves, and shorthands for its methods, for tests to extend. */
abstract class RecordedGraph {

    static final int NONE = GraphRecorder.NONE;

    final FakeClock clock = new FakeClock(1_000);
    final GraphRecorder recorder = enabled(GraphRecorder.DEFAULT_NODE_BUDGET);

    final GraphRecorder enabled(int budget) {
        GraphRecorder made = new GraphRecorder(clock, budget);
        made.enable();
        return made;
    }

    final long tick() {
        clock.advance(10);
        return clock.now();
    }

    /** A kernel, 10 ns later. */
    final int kernel(String name) {
        tick();
        return recorder.recordKernel(name, 7, Dim3.of(2), Dim3.of(64), 0);
    }

    /** A brick that ends 10 ns later. */
    final int brick(String name, long startNs) {
        return recorder.brick(name, startNs, tick(), 1);
    }

    /** The edges of a type, by the node from which they go. */
    static List<Edge> ofType(ExecutionGraph graph, EdgeType type) {
        List<Edge> edges = new ArrayList<>();
        for (int id = 0; id < graph.nodeCount(); id++) {
            graph.outgoing(id).stream().filter(edge -> edge.type() == type).forEach(edges::add);
        }
        return edges;
    }
}
