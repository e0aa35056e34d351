package org.brickprofiler.graph;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.brickprofiler.graph.ExecutionNode.Brick;
import org.brickprofiler.graph.ExecutionNode.Function;
import org.brickprofiler.graph.ExecutionNode.Layer;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;

/** Ties, cycles and limits; {@link CriticalPathProperties} tries all chains of small graphs for the rest. */
final class CriticalPathTest {

    private final ExecutionGraph graph = new ExecutionGraph();

    @Test
    void anEmptyGraphHasAnEmptyPath() {
        CriticalPath path = CriticalPath.of(graph);

        assertThat(path.totalNs()).isZero();
        assertThat(path.nodes()).isEmpty();
    }

    @Test
    void followsTheLongerBranch() {
        int load = brick("load", 10);
        int slow = brick("slow", 30);
        int fast = brick("fast", 20);
        int join = brick("join", 5);
        graph.addDependency(load, slow);
        graph.addEdge(load, fast, EdgeType.TRANSFER, 4_096);
        graph.addEdge(slow, join, EdgeType.SEQUENCE);
        graph.addDependency(fast, join);

        CriticalPath path = CriticalPath.of(graph);

        assertThat(path.totalNs()).isEqualTo(45);
        assertThat(path.nodes()).containsExactly(load, slow, join);
        assertThat(path.slackNs(fast)).isEqualTo(10);
        assertThat(path.isCritical(fast)).isFalse();
        assertThat(path.isCritical(slow)).isTrue();
        assertThat(path.earliestStartNs(fast)).isEqualTo(10);
        assertThat(path.latestStartNs(fast)).isEqualTo(20);
        assertThat(path.earliestStartNs(join)).isEqualTo(40);
    }

    @Test
    void tiesGoIntoTheChildrenAndToTheLowestIds() {
        int parent = graph.pushScope(new Brick("parent", 20, 1));
        int child = graph.addNodeInScope(new Brick("child", 20, 1));
        graph.popScope();
        int twin = brick("twin", 20);
        int last = brick("last", 1);
        graph.addDependency(twin, last);
        graph.addDependency(parent, last);

        CriticalPath path = CriticalPath.of(graph);

        assertThat(path.nodes()).containsExactly(child, last);
        assertThat(path.isCritical(parent)).isTrue();
        assertThat(path.isCritical(twin)).isTrue();
    }

    @Test
    void ofEqualSuccessorsThePathTakesTheLowestId() {
        int first = brick("first", 1);
        int low = brick("low", 5);
        int middle = brick("middle", 5);
        int high = brick("high", 5);
        graph.addDependency(first, middle);
        graph.addDependency(first, high);
        graph.addDependency(first, low);

        assertThat(CriticalPath.of(graph).nodes()).containsExactly(first, low);
    }

    @Test
    void nodesWithoutTimeOfTheirOwnAreOnThePathOnlyAsLeaves() {
        int first = graph.pushScope(new Function("first"));
        int inside = graph.addNodeInScope(new Brick("inside", 5, 1));
        graph.popScope();
        int leaf = graph.addNodeInScope(new Function("leaf"));
        int last = graph.addNodeInScope(new Brick("last", 5, 1));

        CriticalPath path = CriticalPath.of(graph);

        assertThat(path.nodes()).containsExactly(inside, leaf, last);
        assertThat(path.isCritical(first)).isTrue();
    }

    @Test
    void namesTheNodesOfACycleInOrder() {
        int after = brick("after", 1);
        int a = brick("a", 1);
        int b = brick("b", 1);
        int c = brick("c", 1);
        graph.addDependency(c, a);
        graph.addDependency(a, b);
        graph.addDependency(b, c);
        graph.addDependency(c, after);

        assertThatIllegalArgumentException()
                .isThrownBy(() -> CriticalPath.of(graph))
                .withMessage("the graph has a cycle: 'a' (node 1) -> 'b' (node 2) -> 'c' (node 3) -> 'a' (node 1)");
    }

    @Test
    void aDependencyOnOnesOwnAncestorIsACycle() {
        int outer = graph.pushScope(new Layer(0));
        graph.pushScope(new Function("middle"));
        int inner = graph.addNodeInScope(new Brick("inner", 1, 1));
        graph.addDependency(outer, inner);

        assertThatIllegalArgumentException()
                .isThrownBy(() -> CriticalPath.of(graph))
                .withMessage("the graph has a cycle: "
                        + "'Layer 0' (node 0) -> 'inner' (node 2) -> 'middle' (node 1) -> 'Layer 0' (node 0)");
    }

    @Test
    void anAncestorThatDependsOnItsDescendantIsACycle() {
        int outer = graph.pushScope(new Layer(0));
        int inner = graph.addNodeInScope(new Brick("inner", 1, 1));
        graph.addDependency(inner, outer);

        assertThatIllegalArgumentException()
                .isThrownBy(() -> CriticalPath.of(graph))
                .withMessage("the graph has a cycle: 'Layer 0' (node 0) -> 'inner' (node 1) -> 'Layer 0' (node 0)");
    }

    @Test
    void ofALongCycleItNamesTheFirstNodes() {
        for (int v = 0; v < 100; v++) {
            brick("n" + v, 1);
        }
        for (int v = 0; v < 100; v++) {
            graph.addDependency(v, (v + 1) % 100);
        }

        assertThatIllegalArgumentException()
                .isThrownBy(() -> CriticalPath.of(graph))
                .withMessageContaining("'n5' (node 5) -> ... (100 nodes) -> 'n0' (node 0)")
                .withMessageNotContaining("n6");
    }

    @Spec("9.8")
    @Test
    void exactUpToTheLargestTimeAndRefusedBeyond() {
        int first = brick("first", Long.MAX_VALUE - 1);
        int second = brick("second", 1);
        graph.addDependency(first, second);
        brick("beside", 3);

        CriticalPath path = CriticalPath.of(graph);
        assertThat(path.totalNs()).isEqualTo(Long.MAX_VALUE);
        assertThat(path.slackNs(second)).isZero();
        assertThat(path.slackNs(2)).isEqualTo(Long.MAX_VALUE - 3);

        int third = brick("third", 2);
        graph.addDependency(second, third);
        assertThatExceptionOfType(ArithmeticException.class)
                .isThrownBy(() -> CriticalPath.of(graph))
                .withMessageContaining("node 3")
                .withMessageContaining("9223372036854775807 ns before it and 2 ns of its own");
    }

    @Test
    void doesNotChangeWithTheGraph() {
        int first = brick("first", 10);
        CriticalPath path = CriticalPath.of(graph);
        graph.addDependency(first, brick("second", 10));

        assertThat(path.totalNs()).isEqualTo(10);
        assertThat(path.nodes()).containsExactly(first).isUnmodifiable();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> path.slackNs(1))
                .withMessage("node 1 does not exist, in a graph of 1 node");
    }

    @Test
    void refusesIdsOfNoNode() {
        brick("only", 10);
        CriticalPath path = CriticalPath.of(graph);

        assertThatIllegalArgumentException()
                .isThrownBy(() -> path.earliestStartNs(-1))
                .withMessageContaining("node -1");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> path.latestStartNs(1))
                .withMessageContaining("node 1");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> path.isCritical(7))
                .withMessageContaining("node 7");
    }

    private int brick(String name, long elapsedNs) {
        return graph.addNode(new Brick(name, elapsedNs, 1));
    }
}
