package org.brickprofiler.graph;

import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.brickprofiler.graph.ExecutionNode.AsyncTask;
import org.brickprofiler.graph.ExecutionNode.Brick;
import org.brickprofiler.graph.ExecutionNode.Function;
import org.brickprofiler.graph.ExecutionNode.Kernel;
import org.brickprofiler.graph.ExecutionNode.Layer;
import org.brickprofiler.graph.ExecutionNode.Transfer;

/** Graphs for the tests of the exports. */
final class SampleGraphs {

    /** The bricks of a layer, each followed by the name of the kernel that it launches, if any. */
    private static final List<String> STEPS = List.of(
            "RmsNorm",
            "QkvProjection gemm_qkv",
            "RopeEmbedding rope",
            "KvCacheUpdate",
            "AttentionScore gemm_score",
            "AttentionSoftmax softmax",
            "AttentionOutput gemm_av",
            "OutputProjection gemm_out",
            "ResidualAdd",
            "RmsNorm",
            "GateProjection gemm_gate",
            "UpProjection gemm_up",
            "Activation silu",
            "DownProjection gemm_down",
            "ResidualAdd");

    /** Names that an exporter must treat as names only. */
    static final List<String> NASTY_NAMES = List.of(
            "plain",
            "\"quoted\"",
            "back\\slash\\n\\",
            "two\nlines",
            "carriage\rreturn\ttab",
            "<b>bold</b>",
            "<<table>>",
            "a & b &lt; &amp; &#65;",
            "bell \u0007 nul \u0000 c1 \u0085",
            "\u00fcn\u00efc\u00f6de \u5c42 \ud83e\uddf1",
            "half \ud83e",
            "other half \udd1e",
            "no character \uffff",
            "\\N \\G \\L \\l",
            "n1 -> n2; }",
            "trailing \\",
            "{a|b}",
            "%s %n");

    private SampleGraphs() {}

    private static Kernel kernel(String name, OptionalLong elapsedNs) {
        return new Kernel(
                name,
                KernelRegistry.hashOf(name),
                Dim3.of(32, 8),
                Dim3.of(256),
                0,
                elapsedNs,
                OptionalDouble.empty(),
                OptionalDouble.empty());
    }

    /** A small graph with every kind of node and every type of edge. */
    static ExecutionGraph everyKind() {
        ExecutionGraph graph = new ExecutionGraph();
        int load = graph.addNodeInScope(new AsyncTask("load \"weights\"", 3, 1, 1_500_000));
        int copy = graph.addNodeInScope(
                new Transfer("host", "device", 4_096, TransferDirection.H2D, OptionalLong.of(2_345)));
        graph.pushScope(new Layer(0));
        graph.pushScope(new Brick("Attention", 12_345, 128));
        graph.pushScope(new Function("launch", Optional.of("Attention.java"), OptionalInt.of(42)));
        int gemm = graph.addNodeInScope(new Kernel(
                "gemm<float>",
                77,
                new Dim3(32, 8, 2),
                Dim3.of(256),
                4_096,
                OptionalLong.of(9_999),
                OptionalDouble.of(12.5),
                OptionalDouble.of(31)));
        int softmax = graph.addNodeInScope(kernel("softmax", OptionalLong.empty()));
        graph.popScope();
        graph.popScope();
        graph.addNodeInScope(new Brick("Norm", 655, 1));
        graph.popScope();
        graph.pushScope(new Layer(1));
        graph.addNodeInScope(new Brick("Norm", 1_000, 1));
        graph.popScope();
        int back = graph.addNode(new Transfer("device", "host", 4_096, TransferDirection.D2H));
        graph.addDependency(load, gemm);
        graph.addEdge(copy, gemm, EdgeType.TRANSFER, 4_096);
        graph.addEdge(softmax, back, EdgeType.TRANSFER, 0.5);
        graph.setLosses(new ExecutionGraph.Losses(List.of("forward", "na\u00efve"), 1, 1_234, 2));
        return graph;
    }

    /** A forward pass of twelve layers with fifteen bricks each, as a recorder sees it. */
    static ExecutionGraph forwardPass() {
        ExecutionGraph graph = new ExecutionGraph();
        graph.addNodeInScope(new Brick("Embedding", 18_000, 128));
        for (int layer = 0; layer < 12; layer++) {
            graph.pushScope(new Layer(layer));
            for (int i = 0; i < STEPS.size(); i++) {
                String step = STEPS.get(i);
                int space = step.indexOf(' ');
                long elapsedNs = 4_000 + 1_700L * ((i * 7 + layer) % 11);
                graph.pushScope(new Brick(space < 0 ? step : step.substring(0, space), elapsedNs, 128));
                if (space >= 0) {
                    graph.addNodeInScope(kernel(step.substring(space + 1), OptionalLong.of(elapsedNs - 900)));
                }
                graph.popScope();
            }
            graph.popScope();
        }
        graph.addNodeInScope(new Brick("LmHead", 220_000, 128));
        graph.addNodeInScope(new Brick("Sampling", 9_000, 1));
        return graph;
    }

    /** A layer with a node for each nasty name, in order from id 1. */
    static ExecutionGraph nastyNames() {
        ExecutionGraph graph = new ExecutionGraph();
        graph.pushScope(new Layer(0));
        NASTY_NAMES.forEach(name -> graph.addNodeInScope(new Function(name)));
        graph.popScope();
        return graph;
    }
}
