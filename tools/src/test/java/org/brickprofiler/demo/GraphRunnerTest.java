package org.brickprofiler.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.graph.CriticalPath;
import org.brickprofiler.graph.ExecutionGraph;
import org.brickprofiler.graph.ExecutionNode;
import org.junit.jupiter.api.Test;

/** The graph that the profiler's own calls make of a decoder's pass. */
class GraphRunnerTest {

    private static final ModelConfig CONFIG = new ModelConfig(3, 256, 8, 4, 512, 2_000, 40);

    private final BrickProfiler profiler = BrickProfiler.enabled();

    private PassRunner.Graphed decode(int tokens, int graphedPass) {
        PassRunner.Graphed runner =
                new PassRunner.Graphed(new PassRunner.Profiled(profiler), profiler.graph(), graphedPass);
        Decoder.Instruments instruments =
                new Decoder.Instruments(runner, TiledProduct.Probe.NONE, UnaryOperator.identity());
        try (Decoder decoder = new Decoder(Weights.random(CONFIG, 1), new Sampler(0, 1, 1), 1, instruments)) {
            int token = 0;
            for (int i = 0; i < tokens; i++) {
                token = decoder.decode(token);
            }
        }
        return runner;
    }

    private static List<String> names(ExecutionGraph graph, List<Integer> nodes) {
        return nodes.stream().map(graph::node).map(ExecutionNode::name).toList();
    }

    @Test
    void aPassHasItsLayersAndEachLayerItsBricks() {
        ExecutionGraph graph = decode(4, 2).graph();

        assertThat(graph.nodeCount()).isEqualTo(1 + 3 * 16 + 3);
        for (int layer = 0; layer < 3; layer++) {
            List<Integer> layers = graph.nodesByName("Layer " + layer);
            assertThat(layers).hasSize(1);
            assertThat(graph.parent(layers.get(0))).isEmpty();
            assertThat(names(graph, graph.children(layers.get(0))))
                    .containsExactly(
                            "RmsNorm",
                            "QkvProjection",
                            "RopeEmbedding",
                            "KvCacheUpdate",
                            "AttentionScore",
                            "AttentionSoftmax",
                            "AttentionOutput",
                            "OutputProjection",
                            "ResidualAdd",
                            "RmsNorm",
                            "GateProjection",
                            "UpProjection",
                            "Activation",
                            "DownProjection",
                            "ResidualAdd");
        }
        for (String outside : List.of("Embedding", "LmHead", "Sampling")) {
            assertThat(graph.nodesByName(outside)).singleElement().satisfies(node -> assertThat(graph.parent(node))
                    .isEmpty());
        }
        assertThat(graph.isScopeBalanced()).isTrue();
        assertThat(graph.droppedNodes()).isZero();
    }

    /** Each brick waits for the one before it, so the critical path lacks only the time between bricks. */
    @Test
    void theCriticalPathHasEachBrickOfThePass() {
        PassRunner.Graphed runner = decode(3, 2);
        ExecutionGraph graph = runner.graph();
        CriticalPath path = CriticalPath.of(graph);

        List<Integer> bricks = IntStream.range(0, graph.nodeCount())
                .filter(node -> graph.node(node) instanceof ExecutionNode.Brick)
                .boxed()
                .toList();
        assertThat(bricks).hasSize(3 * 15 + 4);
        assertThat(path.nodes()).containsExactlyElementsOf(bricks);
        assertThat(path.totalNs())
                .isEqualTo(bricks.stream()
                        .mapToLong(node -> graph.node(node).timeNs().orElseThrow())
                        .sum())
                .isPositive()
                .isLessThanOrEqualTo(runner.passNs());
    }

    @Test
    void onlyTheWantedPassIsRecorded() {
        assertThat(decode(2, 5).graph().nodeCount()).isZero();
        assertThat(decode(4, 1).graph().nodeCount()).isEqualTo(52);
        assertThat(profiler.graph().isEnabled()).isFalse();
    }
}
