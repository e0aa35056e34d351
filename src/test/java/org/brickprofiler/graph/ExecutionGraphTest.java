package org.brickprofiler.graph;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.List;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.brickprofiler.graph.ExecutionGraph.Edge;
import org.brickprofiler.graph.ExecutionNode.AsyncTask;
import org.brickprofiler.graph.ExecutionNode.Brick;
import org.brickprofiler.graph.ExecutionNode.Function;
import org.brickprofiler.graph.ExecutionNode.Kernel;
import org.brickprofiler.graph.ExecutionNode.Layer;
import org.brickprofiler.graph.ExecutionNode.Transfer;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;

class ExecutionGraphTest {

    private final ExecutionGraph graph = new ExecutionGraph();

    private static Brick brick(String name, long elapsedNs) {
        return new Brick(name, elapsedNs, 1);
    }

    private static Kernel kernel(String name) {
        return new Kernel(name, 1, Dim3.of(1), Dim3.of(32), 0);
    }

    private static Kernel kernel(String name, long elapsedNs) {
        return new Kernel(
                name,
                1,
                Dim3.of(1),
                Dim3.of(32),
                0,
                OptionalLong.of(elapsedNs),
                OptionalDouble.empty(),
                OptionalDouble.empty());
    }

    @Spec("9.1")
    @Test
    void idsAreDenseFromZeroAndNodesComeBack() {
        Brick first = brick("a", 1);
        Layer second = new Layer(0);

        assertThat(graph.addNode(first)).isZero();
        assertThat(graph.addNode(second)).isEqualTo(1);

        assertThat(graph.nodeCount()).isEqualTo(2);
        assertThat(graph.node(0)).isSameAs(first);
        assertThat(graph.node(1)).isSameAs(second);
        assertThat(graph.edgeCount()).isZero();
    }

    @Test
    void anIdThatNoNodeHasIsRefusedWithTheCount() {
        graph.addNode(brick("a", 1));

        assertThatIllegalArgumentException()
                .isThrownBy(() -> graph.node(1))
                .withMessage("node 1 does not exist, in a graph of 1 node");
        assertThatIllegalArgumentException().isThrownBy(() -> graph.node(-1));
        assertThatIllegalArgumentException().isThrownBy(() -> graph.outgoing(1));
        assertThatIllegalArgumentException().isThrownBy(() -> graph.incoming(1));
        assertThatIllegalArgumentException().isThrownBy(() -> graph.parent(1));
        assertThatIllegalArgumentException().isThrownBy(() -> graph.children(1));
        assertThatIllegalArgumentException().isThrownBy(() -> graph.selfNs(1));
        assertThatIllegalArgumentException().isThrownBy(() -> graph.totalNs(1));
        assertThatIllegalArgumentException().isThrownBy(() -> graph.addDependency(0, 1));
        assertThatIllegalArgumentException().isThrownBy(() -> graph.addDependency(1, 0));
        assertThat(graph.edgeCount()).isZero();
    }

    @Test
    void severalNodesShareAName() {
        graph.addNode(brick("a", 1));
        graph.addNode(brick("b", 1));
        graph.addNode(brick("a", 2));
        graph.addNode(new Transfer("host", "device", 8, TransferDirection.H2D));
        graph.addNode(new Layer(7));

        assertThat(graph.nodesByName("a")).containsExactly(0, 2);
        assertThat(graph.nodesByName("host -> device")).containsExactly(3);
        assertThat(graph.nodesByName("Layer 7")).containsExactly(4);
        assertThat(graph.nodesByName("c")).isEmpty();
    }

    @Test
    void edgesComeBackInTheirOrderWithTypeAndWeight() {
        for (int i = 0; i < 3; i++) {
            graph.addNode(brick("n" + i, 1));
        }
        graph.addEdge(0, 1, EdgeType.CALLS);
        graph.addEdge(0, 2, EdgeType.TRANSFER, 4096);
        graph.addDependency(1, 2);
        graph.addEdge(0, 2, EdgeType.LAUNCHES, 0);

        assertThat(graph.edgeCount()).isEqualTo(4);
        assertThat(graph.outgoing(0))
                .containsExactly(
                        new Edge(0, 1, EdgeType.CALLS, 1),
                        new Edge(0, 2, EdgeType.TRANSFER, 4096),
                        new Edge(0, 2, EdgeType.LAUNCHES, 0));
        assertThat(graph.incoming(2))
                .containsExactly(
                        new Edge(0, 2, EdgeType.TRANSFER, 4096),
                        new Edge(1, 2, EdgeType.DEPENDS_ON, 1),
                        new Edge(0, 2, EdgeType.LAUNCHES, 0));
        assertThat(graph.outgoing(2)).isEmpty();
        assertThat(graph.children(0)).containsExactly(1, 2);
        assertThat(graph.parent(2)).hasValue(0);
        assertThat(graph.parent(0)).isEmpty();
    }

    @Spec("9.1")
    @Test
    void aSecondParentIsRefusedAndBothAreNamed() {
        graph.addNode(brick("first", 1));
        graph.addNode(brick("second", 1));
        graph.addNode(kernel("child"));
        graph.addEdge(0, 2, EdgeType.LAUNCHES);

        assertThatIllegalArgumentException()
                .isThrownBy(() -> graph.addEdge(1, 2, EdgeType.CONTAINS))
                .withMessageContaining("'first'")
                .withMessageContaining("'second'")
                .withMessageContaining("'child'");
        assertThat(graph.edgeCount()).isEqualTo(1);
        assertThat(graph.parent(2)).hasValue(0);
    }

    @Spec("9.1")
    @Test
    void aNodeIsNeverItsOwnAncestor() {
        for (int i = 0; i < 3; i++) {
            graph.addNode(brick("n" + i, 1));
        }
        graph.addEdge(0, 1, EdgeType.CONTAINS);
        graph.addEdge(1, 2, EdgeType.CONTAINS);

        assertThatIllegalArgumentException()
                .isThrownBy(() -> graph.addEdge(2, 0, EdgeType.CONTAINS))
                .withMessageContaining("'n0'")
                .withMessageContaining("'n2'");
        graph.addDependency(2, 0);
        assertThat(graph.edgeCount()).isEqualTo(3);
    }

    @Spec("9.1")
    @Test
    void anEdgeToItselfAndAnOddWeightAreRefused() {
        graph.addNode(brick("a", 1));
        graph.addNode(brick("b", 1));

        assertThatIllegalArgumentException()
                .isThrownBy(() -> graph.addDependency(1, 1))
                .withMessageContaining("node 1");
        for (double weight : new double[] {-1, Double.NaN, Double.POSITIVE_INFINITY}) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> graph.addEdge(0, 1, EdgeType.CONTAINS, weight))
                    .withMessageContaining(String.valueOf(weight));
        }
        assertThat(graph.edgeCount()).isZero();
        assertThat(graph.parent(1)).isEmpty();
    }

    @Test
    void theKindOfAChildChoosesTheOwnershipEdge() {
        int scope = graph.pushScope(new Layer(0));
        int kernel = graph.addNodeInScope(kernel("k"));
        int function = graph.addNodeInScope(new Function("f"));
        int task = graph.addNodeInScope(new AsyncTask("t", 1, 0, 5));

        assertThat(graph.incoming(kernel)).containsExactly(new Edge(scope, kernel, EdgeType.LAUNCHES, 1));
        assertThat(graph.incoming(function))
                .containsExactly(
                        new Edge(scope, function, EdgeType.CALLS, 1), new Edge(kernel, function, EdgeType.SEQUENCE, 1));
        assertThat(graph.incoming(task))
                .containsExactly(
                        new Edge(scope, task, EdgeType.CONTAINS, 1), new Edge(function, task, EdgeType.SEQUENCE, 1));
    }

    @Spec("9.4")
    @Test
    void topLevelScopesAndNodesFollowEachOther() {
        int first = graph.pushScope(new Layer(0));
        graph.addNodeInScope(brick("inside", 1));
        graph.popScope();
        int second = graph.pushScope(new Layer(1));
        graph.popScope();
        int third = graph.addNodeInScope(brick("c", 1));
        int alone = graph.addNode(brick("alone", 1));

        assertThat(graph.incoming(second)).containsExactly(new Edge(first, second, EdgeType.SEQUENCE, 1));
        assertThat(graph.incoming(third)).containsExactly(new Edge(second, third, EdgeType.SEQUENCE, 1));
        assertThat(graph.incoming(alone)).isEmpty();
        assertThat(graph.outgoing(third)).isEmpty();
    }

    @Test
    void scopesNestAndTheInnermostIsTheCurrentOne() {
        assertThat(graph.currentScope()).isEmpty();
        int outer = graph.pushScope(new Layer(0));
        int inner = graph.pushScope(brick("inner", 1));

        assertThat(graph.currentScope()).hasValue(inner);
        assertThat(graph.parent(inner)).hasValue(outer);
        assertThat(graph.isScopeBalanced()).isFalse();
        assertThat(graph.unbalancedScopes()).containsExactly("Layer 0", "inner");
        assertThat(graph.popScope()).hasValue(inner);
        assertThat(graph.currentScope()).hasValue(outer);
        assertThat(graph.popScope()).hasValue(outer);
        assertThat(graph.isScopeBalanced()).isTrue();
        assertThat(graph.unbalancedScopes()).isEmpty();
    }

    @Spec("9.5")
    @Test
    void aPopWithoutAPushIsCountedAndDoesNotThrow() {
        assertThat(graph.popScope()).isEmpty();
        graph.pushScope(new Layer(0));
        graph.popScope();

        assertThat(graph.unmatchedPops()).isEqualTo(1);
        assertThat(graph.isScopeBalanced()).isFalse();
    }

    @Test
    void reportedLossesAreKept() {
        graph.setLosses(new ExecutionGraph.Losses(List.of("lost"), 1, 2, 3));
        graph.pushScope(brick("open", 1));

        assertThat(graph.unbalancedScopes()).containsExactly("lost", "open");
        assertThat(graph.unmatchedPops()).isEqualTo(1);
        assertThat(graph.droppedNodes()).isEqualTo(2);
        assertThat(graph.droppedDependencies()).isEqualTo(3);
        assertThat(graph.isScopeBalanced()).isFalse();
    }

    @Spec("9.2")
    @Test
    void totalsCountEveryNodeOnce() {
        int layer = graph.pushScope(new Layer(0));
        int outer = graph.pushScope(brick("outer", 100));
        int first = graph.addNodeInScope(brick("first", 30));
        int second = graph.addNodeInScope(brick("second", 20));
        graph.popScope();
        int alone = graph.addNodeInScope(brick("alone", 7));

        assertThat(graph.totalNs(layer)).isEqualTo(107);
        assertThat(graph.selfNs(layer)).isZero();
        assertThat(graph.totalNs(outer)).isEqualTo(100);
        assertThat(graph.selfNs(outer)).isEqualTo(50);
        assertThat(graph.totalNs(first) + graph.totalNs(second)).isEqualTo(50);
        assertThat(graph.selfNs(alone)).isEqualTo(7);
    }

    @Spec("9.2")
    @Test
    void childrenThatRanAtTheSameTimeMayExceedTheirParent() {
        int parent = graph.pushScope(brick("parent", 10));
        graph.addNodeInScope(brick("a", 8));
        graph.addNodeInScope(brick("b", 8));

        assertThat(graph.totalNs(parent)).isEqualTo(16);
        assertThat(graph.selfNs(parent)).isZero();
    }

    @Test
    void totalsFollowChanges() {
        int parent = graph.addNode(new Layer(0));
        assertThat(graph.totalNs(parent)).isZero();
        int child = graph.addNode(brick("a", 5));
        graph.addEdge(parent, child, EdgeType.CONTAINS);

        assertThat(graph.totalNs(parent)).isEqualTo(5);
        assertThat(graph.totalNs(child)).isEqualTo(5);
    }

    @Test
    void aDeepGraphIsSummedWithoutRecursion() {
        int depth = 200_000;
        for (int i = 0; i < depth; i++) {
            graph.pushScope(new Layer(i));
        }
        graph.addNodeInScope(brick("leaf", 3));

        assertThat(graph.totalNs(0)).isEqualTo(3);
        assertThat(graph.totalNs(depth - 1)).isEqualTo(3);
    }

    @Test
    void theSlowestKernelIsKnownByItsOwnTimeOrByItsBricks() {
        graph.pushScope(brick("fast", 10));
        graph.addNodeInScope(kernel("inFast", 50));
        graph.popScope();
        graph.pushScope(brick("slow", 60));
        graph.pushScope(new Function("launch"));
        int inSlow = graph.addNodeInScope(kernel("inSlow"));
        int alsoInSlow = graph.addNodeInScope(kernel("alsoInSlow", 2));
        graph.popScope();
        graph.popScope();
        int unknown = graph.addNode(kernel("unknown"));

        assertThat(graph.kernels()).containsExactly(1, inSlow, alsoInSlow, unknown);
        assertThat(graph.slowestKernel()).hasValue(inSlow);
    }

    @Test
    void withoutATimeNoKernelIsTheSlowest() {
        assertThat(graph.slowestKernel()).isEmpty();
        graph.addNode(kernel("unknown"));
        assertThat(graph.slowestKernel()).isEmpty();
        int zero = graph.addNode(kernel("zero", 0));
        graph.addNode(kernel("alsoZero", 0));
        assertThat(graph.slowestKernel()).hasValue(zero);
    }

    @Test
    void clearForgetsEverything() {
        graph.pushScope(brick("a", 4));
        graph.addNodeInScope(kernel("k", 4));
        graph.popScope();
        graph.popScope();
        graph.setLosses(new ExecutionGraph.Losses(List.of("lost"), 1, 1, 1));
        graph.pushScope(brick("open", 1));
        graph.totalNs(0);

        graph.clear();

        assertThat(graph.nodeCount()).isZero();
        assertThat(graph.edgeCount()).isZero();
        assertThat(graph.currentScope()).isEqualTo(OptionalInt.empty());
        assertThat(graph.isScopeBalanced()).isTrue();
        assertThat(graph.kernels()).isEmpty();
        assertThat(graph.nodesByName("a")).isEmpty();
        assertThat(graph.droppedNodes()).isZero();
        assertThat(graph.droppedDependencies()).isZero();
        assertThat(graph.addNodeInScope(brick("b", 1))).isZero();
        assertThat(graph.incoming(0)).isEmpty();
        assertThat(graph.totalNs(0)).isEqualTo(1);
    }
}
