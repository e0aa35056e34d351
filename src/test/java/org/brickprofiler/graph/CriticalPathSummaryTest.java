package org.brickprofiler.graph;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.IOException;
import java.util.List;
import org.brickprofiler.graph.CriticalPathSummary.Name;
import org.brickprofiler.graph.ExecutionNode.Brick;
import org.brickprofiler.graph.ExecutionNode.Layer;
import org.brickprofiler.testing.Golden;
import org.junit.jupiter.api.Test;

final class CriticalPathSummaryTest {

    private final ExecutionGraph graph = new ExecutionGraph();

    @Test
    void hasWorkPathAndParallelism() {
        graph.pushScope(new Layer(0));
        brick("gate", 40);
        brick("up", 60);
        graph.popScope();
        graph.addNode(new Brick("beside", 100, 1));

        CriticalPathSummary summary = CriticalPathSummary.of(graph);

        assertThat(summary.path().totalNs()).isEqualTo(100);
        assertThat(summary.workNs()).isEqualTo(200);
        assertThat(summary.averageParallelism()).isEqualTo(2.0);
    }

    @Test
    void aParentsTimeIsNoWorkBesideThatOfItsChildren() {
        graph.pushScope(new Brick("parent", 100, 1));
        brick("child", 30);
        brick("child", 30);

        assertThat(CriticalPathSummary.of(graph).workNs()).isEqualTo(100);
    }

    @Test
    void addsUpThePathByName() {
        brick("norm", 10);
        brick("gemm", 50);
        brick("norm", 10);
        brick("gemm", 50);
        brick("idle", 0);

        CriticalPathSummary summary = CriticalPathSummary.of(graph);

        assertThat(summary.names()).containsExactly(new Name("gemm", 2, 100, 100), new Name("norm", 2, 20, 20));
        assertThat(summary.toText()).containsPattern("gemm +2 +100 ns +83\\.3 +100 ns\n");
    }

    @Test
    void theGainIsTheDistanceToTheNextLongestPath() {
        int slow = graph.addNode(new Brick("slow", 90, 1));
        int fast = graph.addNode(new Brick("fast", 70, 1));
        int join = graph.addNode(new Brick("join", 30, 1));
        graph.addDependency(slow, join);
        graph.addDependency(fast, join);

        CriticalPathSummary summary = CriticalPathSummary.of(graph);

        assertThat(summary.names())
                .as("slow holds most of the path, but fast is nearly as long")
                .containsExactly(new Name("slow", 1, 90, 20), new Name("join", 1, 30, 30));
    }

    @Test
    void besideAnEquallyLongPathNothingIsGained() {
        graph.addNode(new Brick("one", 50, 1));
        graph.addNode(new Brick("other", 50, 1));

        CriticalPathSummary summary = CriticalPathSummary.of(graph);

        assertThat(summary.names()).containsExactly(new Name("one", 1, 50, 0));
    }

    @Test
    void aNameIncludesTheNodesInside() {
        graph.pushScope(new Brick("gemm", 100, 1));
        brick("inside", 90);
        graph.popScope();
        brick("after", 10);

        assertThat(CriticalPathSummary.of(graph).names()).contains(new Name("gemm", 1, 100, 100));
    }

    @Test
    void hasNoMoreThanFiveNames() {
        for (int i = 0; i < 10; i++) {
            brick("name" + i, 100 - i);
        }

        assertThat(CriticalPathSummary.of(graph).names())
                .extracting(Name::name)
                .containsExactly("name0", "name1", "name2", "name3", "name4");
    }

    @Test
    void namesOfEqualTimeStandInOrder() {
        brick("b", 10);
        brick("a", 10);

        assertThat(CriticalPathSummary.of(graph).names()).extracting(Name::name).containsExactly("a", "b");
    }

    @Test
    void refusesACycle() {
        int one = graph.addNode(new Brick("one", 1, 1));
        int other = graph.addNode(new Brick("other", 1, 1));
        graph.addDependency(one, other);
        graph.addDependency(other, one);

        assertThatIllegalArgumentException()
                .isThrownBy(() -> CriticalPathSummary.of(graph))
                .withMessageContaining("'one' (node 0) -> 'other' (node 1)");
    }

    @Test
    void anEmptyGraphIsAShortText() throws IOException {
        assertThat(CriticalPathSummary.of(graph).averageParallelism()).isZero();
        Golden.assertSame(GraphExport.toSummary(graph), getClass(), "summary-empty.txt");
    }

    @Test
    void theTextShowsAllOfIt() throws IOException {
        for (int layer = 0; layer < 3; layer++) {
            graph.pushScope(new Layer(layer));
            brick("RmsNorm", 14_002);
            brick("QkvProjection", 250_400);
            brick("AttentionScore", 90_000);
            brick("GateProjection", 1_300_000);
            brick("UpProjection", 1_200_000);
            graph.popScope();
        }
        brick("an \u00e9, a \n and more characters than there is room for", 1_000_000);
        brick("LmHead", 800_000);
        brick("Sampling", 30);
        graph.addNode(new Brick("Prefetch", 5_000_000, 1));
        graph.setLosses(new ExecutionGraph.Losses(List.of("step", "step", "a\tb", "c", "d", "e", "f"), 2, 1_234, 5));

        Golden.assertSame(GraphExport.toSummary(graph), getClass(), "summary-full.txt");
    }

    private void brick(String name, long elapsedNs) {
        graph.addNodeInScope(new Brick(name, elapsedNs, 1));
    }
}
