package org.brickprofiler.graph;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.EnumSet;
import java.util.List;
import org.brickprofiler.graph.ExecutionNode.Brick;
import org.brickprofiler.graph.ExecutionNode.Function;
import org.brickprofiler.graph.ExecutionNode.Layer;
import org.brickprofiler.testing.Golden;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class GraphExportTest {

    @Test
    void dotOfEveryKind() throws Exception {
        Golden.assertSame(GraphExport.toDot(SampleGraphs.everyKind()), getClass(), "every-kind.dot");
    }

    @Test
    void treeOfEveryKind() throws Exception {
        Golden.assertSame(GraphExport.toTree(SampleGraphs.everyKind()), getClass(), "every-kind.txt");
    }

    @Test
    void treeOfNastyNames() throws Exception {
        Golden.assertSame(GraphExport.toTree(SampleGraphs.nastyNames()), getClass(), "nasty-names.txt");
    }

    @Test
    void anEmptyGraphIsStillAGraph() {
        ExecutionGraph empty = new ExecutionGraph();

        assertThat(GraphExport.toDot(empty)).startsWith("digraph execution {").endsWith("}\n");
        assertThat(GraphExport.toTree(empty)).isEmpty();
        assertThat(GraphExport.toCsr(empty).rowOffsets()).containsExactly(0);
        assertThat(GraphExport.toCsr(empty).entryCount()).isZero();
    }

    @Spec("9.11")
    @Test
    void aTreeHasALinePerNodeAndNothingButAscii() {
        ExecutionGraph graph = SampleGraphs.nastyNames();
        List<String> lines = GraphExport.toTree(graph).lines().toList();

        assertThat(lines).hasSize(graph.nodeCount());
        assertThat(lines).allMatch(line -> line.chars().allMatch(c -> c >= ' ' && c <= '~'));
    }

    @Test
    void aVeryDeepGraphStaysReadableAndSmall() {
        ExecutionGraph graph = new ExecutionGraph();
        int depth = 20_000;
        for (int i = 0; i < depth; i++) {
            graph.pushScope(i == 40 ? new Layer(7) : new Function("f" + i));
        }

        String tree = GraphExport.toTree(graph);
        assertThat(tree.lines().limit(depth)).hasSize(depth);
        assertThat(tree.lines().skip(40).findFirst().orElseThrow()).startsWith(" ".repeat(64) + "[40] Layer 7");
        assertThat(tree.length()).isLessThan(150 * depth);
        String dot = GraphExport.toDot(graph);
        assertThat(dot.lines().filter(line -> line.contains("subgraph"))).hasSize(1);
        assertThat(dot.lines().filter(line -> line.contains(" -> "))).hasSize(depth - 1);
    }

    @Test
    void manyOpenScopesAreNamedInPart() {
        ExecutionGraph graph = new ExecutionGraph();
        for (int i = 0; i < 1_021; i++) {
            graph.pushScope(new Function("f" + i));
        }

        assertThat(GraphExport.toTree(graph))
                .endsWith("f18, f19, and 1,001 more\n")
                .contains("closed: f0, f1, ");
    }

    @Test
    void sharesAreOfTheParentsTotal() {
        ExecutionGraph graph = new ExecutionGraph();
        graph.pushScope(new Brick("outer", 2_000, 1));
        graph.addNodeInScope(new Brick("half", 1_000, 2));
        graph.popScope();

        assertThat(GraphExport.toTree(graph).lines())
                .containsExactly("outer    2.000 us             1 element", "  half   1.000 us     50.0 %  2 elements");
    }

    @ParameterizedTest
    @CsvSource({
        "0, 0 ns",
        "999, 999 ns",
        "1000, 1.000 us",
        "9999, 9.999 us",
        "99994, 99.99 us",
        "99996, 100.0 us",
        "999949, 999.9 us",
        "999950, 1.000 ms",
        "59999999999, 60.00 s",
        "5000000000000, 5000.0 s"
    })
    void durations(long ns, String text) {
        assertThat(GraphExport.duration(ns)).isEqualTo(text);
    }

    @Spec("9.11")
    @Test
    void csrHoldsTheEdgesByRow() {
        ExecutionGraph graph = new ExecutionGraph();
        for (int i = 0; i < 4; i++) {
            graph.addNode(new Layer(i));
        }
        graph.addDependency(2, 3);
        graph.addEdge(0, 2, EdgeType.TRANSFER, 64);
        graph.addEdge(2, 1, EdgeType.CONTAINS, 0.5);
        graph.addEdge(0, 1, EdgeType.SEQUENCE);

        GraphExport.Csr all = GraphExport.toCsr(graph);
        assertThat(all.rowCount()).isEqualTo(4);
        assertThat(all.entryCount()).isEqualTo(4);
        assertThat(all.rowOffsets()).containsExactly(0, 2, 2, 4, 4);
        assertThat(all.columns()).containsExactly(2, 1, 3, 1);
        assertThat(all.weights()).containsExactly(64, 1, 1, 0.5);

        GraphExport.Csr some = GraphExport.toCsr(graph, EnumSet.of(EdgeType.TRANSFER, EdgeType.CONTAINS));
        assertThat(some.rowOffsets()).containsExactly(0, 1, 1, 2, 2);
        assertThat(some.columns()).containsExactly(2, 1);
        assertThat(some.weights()).containsExactly(64, 0.5);
    }

    @Test
    void csrCannotBeChangedThroughItsArrays() {
        ExecutionGraph graph = SampleGraphs.everyKind();
        GraphExport.Csr csr = GraphExport.toCsr(graph);
        csr.rowOffsets()[0] = 99;
        csr.columns()[0] = 99;
        csr.weights()[0] = 99;

        assertThat(csr.rowOffsets()[0]).isZero();
        assertThat(csr.columns()[0]).isNotEqualTo(99);
        assertThat(csr.weights()[0]).isEqualTo(1);
    }
}
