package org.brickprofiler.graph;

import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Random;
import org.brickprofiler.graph.ExecutionNode.Brick;
import org.brickprofiler.graph.ExecutionNode.Kernel;
import org.brickprofiler.graph.ExecutionNode.Layer;

/** Graphs as large as a recorder makes them, for tests and benchmarks. */
public final class LargeGraphs {

    private static final int BRICKS_IN_LAYER = 12;
    private static final int KERNELS_IN_BRICK = 3;
    private static final int EDGES_PER_NODE = 3;

    private LargeGraphs() {}

    /**
     * Layers of bricks that launch kernels, in sequence, and random dependencies from earlier to later nodes up to
     * three edges a node.
     */
    public static ExecutionGraph layered(int nodes, Random random) {
        ExecutionGraph graph = new ExecutionGraph();
        for (int layer = 0; graph.nodeCount() < nodes; layer++) {
            graph.pushScope(new Layer(layer));
            for (int brick = 0; brick < BRICKS_IN_LAYER && graph.nodeCount() < nodes; brick++) {
                graph.pushScope(new Brick("brick" + brick, 1 + random.nextInt(100_000), 1));
                for (int i = 0; i < KERNELS_IN_BRICK && graph.nodeCount() < nodes; i++) {
                    graph.addNodeInScope(kernel("kernel" + brick + "_" + i, random));
                }
                graph.popScope();
            }
            graph.popScope();
        }
        while (graph.edgeCount() < EDGES_PER_NODE * nodes) {
            int one = random.nextInt(nodes);
            int other = random.nextInt(nodes);
            int earlier = Math.min(one, other);
            int later = Math.max(one, other);
            if (!isWithin(graph, later, earlier)) {
                graph.addDependency(earlier, later);
            }
        }
        return graph;
    }

    private static Kernel kernel(String name, Random random) {
        return new Kernel(
                name,
                name.hashCode(),
                Dim3.of(1 + random.nextInt(1_000)),
                Dim3.of(128),
                0,
                OptionalLong.of(1 + random.nextInt(30_000)),
                OptionalDouble.of(100 * random.nextDouble()),
                OptionalDouble.of(20 * random.nextDouble()));
    }

    private static boolean isWithin(ExecutionGraph graph, int node, int ancestor) {
        OptionalInt above = OptionalInt.of(node);
        while (above.isPresent() && above.getAsInt() != ancestor) {
            above = graph.parent(above.getAsInt());
        }
        return above.isPresent();
    }
}
