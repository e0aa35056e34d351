package org.brickprofiler.graph;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.Random;
import org.brickprofiler.graph.ExecutionNode.Brick;
import org.brickprofiler.graph.ExecutionNode.Layer;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;

/** Graphs at the recorder's default budget, wide and deep: nothing may recurse or grow faster than the graph. */
@Spec("9.12")
final class LargeGraphTest {

    private static final int NODES = 100_000;

    @Test
    void aWideGraphWithThreeEdgesANodeIsAnalysed() {
        ExecutionGraph graph = LargeGraphs.layered(NODES, new Random(1));
        assertThat(graph.nodeCount()).isEqualTo(NODES);
        assertThat(graph.edgeCount()).isBetween(299_000, 301_000);

        CriticalPathSummary summary = CriticalPathSummary.of(graph);

        assertThat(summary.path().totalNs()).isBetween(1L, summary.workNs());
        assertThat(summary.path().nodes()).isNotEmpty();
        assertThat(Roofline.distances(graph, 20, 1_000)).isNotEmpty();
        assertThat(summary.toText()).isNotEmpty();
    }

    @Test
    void aChainOfNestedScopesIsAnalysed() {
        ExecutionGraph graph = new ExecutionGraph();
        for (int depth = 0; depth < NODES; depth++) {
            graph.pushScope(new Brick("deep", NODES - depth, 1));
        }

        CriticalPath path = CriticalPathSummary.of(graph).path();

        assertThat(path.totalNs()).isEqualTo(NODES);
        assertThat(path.nodes()).containsExactly(0);
        assertThat(path.slackNs(NODES - 1)).isEqualTo(NODES - 1);
    }

    @Test
    void twoDeepChainsThatDependOnEachOtherEverywhereAreAnalysed() {
        ExecutionGraph graph = new ExecutionGraph();
        int[] ids = new int[NODES];
        graph.pushScope(new Layer(0));
        for (int i = 0; i < NODES; i++) {
            if (i == NODES / 2) {
                for (int open = 0; open < NODES / 2; open++) {
                    graph.popScope();
                }
            }
            ids[i] = graph.pushScope(new Layer(i));
        }
        graph.addNodeInScope(new Brick("last", 7, 1));
        for (int i = 0; i < NODES / 2; i++) {
            graph.addDependency(ids[i], ids[NODES - 1 - i]);
        }

        CriticalPathSummary summary = CriticalPathSummary.of(graph);

        assertThat(summary.path().totalNs()).isEqualTo(7);
    }

    @Test
    void aLongChainOfNodesIsAnalysed() {
        ExecutionGraph graph = new ExecutionGraph();
        for (int i = 0; i < NODES; i++) {
            graph.addNodeInScope(new Brick("step", 2, 1));
        }

        CriticalPath path = CriticalPath.of(graph);

        assertThat(path.totalNs()).isEqualTo(2L * NODES);
        assertThat(path.nodes()).hasSize(NODES);
    }

    @Test
    void aCycleThroughAllNodesIsNamed() {
        ExecutionGraph graph = new ExecutionGraph();
        for (int i = 0; i < NODES; i++) {
            graph.addNodeInScope(new Brick("step", 2, 1));
        }
        graph.addDependency(NODES - 1, 0);

        assertThatIllegalArgumentException()
                .isThrownBy(() -> CriticalPath.of(graph))
                .withMessageContaining("(100000 nodes)");
    }
}
