package org.brickprofiler.bench;

import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.brickprofiler.graph.CriticalPath;
import org.brickprofiler.graph.EdgeType;
import org.brickprofiler.graph.ExecutionGraph;
import org.brickprofiler.graph.GraphExport;
import org.brickprofiler.graph.LargeGraphs;
import org.brickprofiler.graph.Roofline;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Measures the analysis of a graph of layers, bricks and kernels with three edges a node, at three sizes, to show its
 * growth. The floor reads every edge once, as any analysis must.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(3)
public class GraphAnalysisBenchmark {

    private static final long SEED = 20_090_401;
    private static final double PEAK_TFLOPS = 20;
    private static final double BANDWIDTH_GBPS = 1_000;

    @Param({"10000", "30000", "100000"})
    private int nodes;

    private ExecutionGraph graph;

    @Setup
    public void build() {
        graph = LargeGraphs.layered(nodes, new Random(SEED));
    }

    /** A new graph for each call, since a graph keeps its totals until it changes. */
    @State(Scope.Benchmark)
    public static class NewGraph {

        private ExecutionGraph graph;

        @Setup(Level.Invocation)
        public void build(GraphAnalysisBenchmark sizes) {
            graph = LargeGraphs.layered(sizes.nodes, new Random(SEED));
        }
    }

    /** The results of the analysis. */
    public record Analysis(CriticalPath path, List<Roofline.Distance> distances, long totalNs) {}

    @Benchmark
    public CriticalPath criticalPath() {
        return CriticalPath.of(graph);
    }

    @Benchmark
    public List<Roofline.Distance> roofline() {
        return Roofline.distances(graph, PEAK_TFLOPS, BANDWIDTH_GBPS);
    }

    @Benchmark
    public Analysis pathRooflineAndTotals(NewGraph fresh) {
        return new Analysis(
                CriticalPath.of(fresh.graph),
                Roofline.distances(fresh.graph, PEAK_TFLOPS, BANDWIDTH_GBPS),
                fresh.graph.totalNs(0));
    }

    @Benchmark
    public String summary() {
        return GraphExport.toSummary(graph);
    }

    @Benchmark
    public long floorReadEdges() {
        long ordered = 0;
        for (int node = 0; node < nodes; node++) {
            for (var edge : graph.outgoing(node)) {
                ordered += edge.type() == EdgeType.CONTAINS ? 0 : edge.to();
            }
        }
        return ordered;
    }
}
