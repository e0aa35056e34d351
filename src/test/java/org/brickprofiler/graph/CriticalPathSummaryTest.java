package org.brickprofiler.graph;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.tuple;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.util.List;
import org.brickprofiler.graph.ExecutionNode.Brick;
import org.brickprofiler.graph.ExecutionNode.Layer;
import org.brickprofiler.report.Golden;
import org.junit.jupiter.api.Test;

final class CriticalPathSummaryTest {

    private final ExecutionGraph graph = new ExecutionGraph();

    @Test
    void tellsWorkPathAndParallelism() {
        graph.pushScope(new Layer(0));
        brick("gate", 40);
        brick("up", 60);
        graph.popScope();
        graph.addNode(new Brick("beside", 100, 1));

        CriticalPathSummary summary = CriticalPathSummary.of(graph);

        assertThat(summary.path().totalNs()).isEqualTo(100);
        assertThat(summary.workNs()).isEqualTo(200);
        assertThat(summary.averageParallelism()).isEqualTo(2.0);
        assertThat(summary.nodeCount()).isEqualTo(4);
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

        assertThat(summary.names())
                .containsExactly(new NameOnPath("gemm", 2, 100, 120, 20), new NameOnPath("norm", 2, 20, 120, 100));
        assertThat(summary.names().get(0).percentOfPath()).isCloseTo(83.33, within(0.01));
    }

    @Test
    void theGainIsWhatTheNextLongestPathLeaves() {
        int slow = graph.addNode(new Brick("slow", 90, 1));
        int fast = graph.addNode(new Brick("fast", 70, 1));
        int join = graph.addNode(new Brick("join", 30, 1));
        graph.addDependency(slow, join);
        graph.addDependency(fast, join);

        CriticalPathSummary summary = CriticalPathSummary.of(graph);

        assertThat(summary.names()).extracting(NameOnPath::name).containsExactly("slow", "join");
        assertThat(summary.opportunities())
                .as("slow holds most of the path, but fast is nearly as long")
                .extracting(NameOnPath::name, NameOnPath::pathWithoutNs, NameOnPath::gainNs)
                .containsExactly(tuple("join", 90L, 30L), tuple("slow", 100L, 20L));
    }

    @Test
    void whatGainsNothingIsNoOpportunity() {
        graph.addNode(new Brick("one", 50, 1));
        graph.addNode(new Brick("other", 50, 1));

        CriticalPathSummary summary = CriticalPathSummary.of(graph);

        assertThat(summary.names()).hasSize(1);
        assertThat(summary.opportunities()).isEmpty();
    }

    @Test
    void aNameTakesWhatIsInItAlong() {
        graph.pushScope(new Brick("gemm", 100, 1));
        brick("inside", 90);
        graph.popScope();
        brick("after", 10);

        assertThat(CriticalPathSummary.of(graph).names()).contains(new NameOnPath("gemm", 1, 100, 110, 10));
    }

    @Test
    void showsNoMoreThanAskedFor() {
        for (int i = 0; i < 10; i++) {
            graph.pushScope(new Layer(i));
            brick("first" + i, 100 - i);
            brick("second" + i, 10);
            graph.popScope();
        }

        assertThat(CriticalPathSummary.of(graph).names()).hasSize(5);
        assertThat(CriticalPathSummary.of(graph).runs()).hasSize(5);
        assertThat(CriticalPathSummary.of(graph, 2).names())
                .extracting(NameOnPath::name)
                .containsExactly("first0", "first1");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> CriticalPathSummary.of(graph, 0))
                .withMessage("limit 0 is not between 1 and 100");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> CriticalPathSummary.of(graph, 101))
                .withMessageContaining("101");
    }

    @Test
    void namesOfEqualTimeStandInOrder() {
        brick("b", 10);
        brick("a", 10);

        assertThat(CriticalPathSummary.of(graph).names()).extracting(NameOnPath::name).containsExactly("a", "b");
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
        Golden.assertSame(CriticalPathSummary.of(graph).toText(), getClass(), "summary-empty.txt");
    }

    @Test
    void theTextShowsAllOfIt() throws IOException {
        for (int layer = 0; layer < 3; layer++) {
            graph.pushScope(new Layer(layer));
            brick("RmsNorm", 14_002);
            int qkv = brick("QkvProjection", 250_400);
            int attention = brick("AttentionScore", 90_000);
            graph.addDependency(qkv, attention);
            brick("GateProjection", 1_300_000);
            brick("UpProjection", 1_200_000);
            graph.popScope();
        }
        brick("an \u00e9, a \n and more characters than there is room for", 1_000_000);
        brick("LmHead", 800_000);
        brick("Sampling", 30);
        graph.addNode(new Brick("Prefetch", 5_000_000, 1));
        graph.setLosses(new RecordingLosses(List.of("step", "step", "a\tb", "c", "d", "e", "f"), 2, 1_234, 5));

        Golden.assertSame(CriticalPathSummary.of(graph).toText(), getClass(), "summary-full.txt");
    }

    private int brick(String name, long elapsedNs) {
        return graph.addNodeInScope(new Brick(name, elapsedNs, 1));
    }
}
