package org.brickprofiler.graph;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import org.brickprofiler.graph.ExecutionGraph.Edge;
import org.brickprofiler.graph.ExecutionNode.Function;
import org.brickprofiler.graph.ExecutionNode.Layer;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;

/** The scopes, layers and passes of a recorder, and the nodes that each owns. */
class GraphRecorderScopesTest extends RecordedGraph {

    private static List<String> names(ExecutionGraph graph, List<Integer> ids) {
        List<String> names = new ArrayList<>();
        ids.forEach(id -> names.add(graph.node(id).name()));
        return names;
    }

    // ---- scopes ----

    @Test
    void aScopeOwnsItsNodesEvenWhileItIsOpen() {
        int scope = recorder.pushScope(new Function("forward"));
        int kernel = kernel("k");

        assertThat(recorder.graph().children(scope)).containsExactly(kernel);
        assertThat(recorder.graph().unbalancedScopes()).containsExactly("forward");
        int transfer = recorder.recordTransfer("a", "b", 8, TransferDirection.D2D);
        assertThat(recorder.popScope()).hasValue(scope);
        int after = kernel("after");

        ExecutionGraph graph = recorder.graph();
        assertThat(graph.children(scope)).containsExactly(kernel, transfer);
        assertThat(graph.parent(after)).isEmpty();
        assertThat(graph.isScopeBalanced()).isTrue();
        assertThat(graph.incoming(after)).containsExactly(new Edge(scope, after, EdgeType.SEQUENCE, 1));
    }

    @Test
    void aBrickAdoptsScopesAsAWholeAndNothingOutsideOfItsScope() {
        long outer = tick();
        int kernel = kernel("k");
        tick();
        int scope = recorder.pushScope(new Function("f"));
        int inside = kernel("inside");
        int early = brick("early", outer);
        recorder.popScope();
        int outerId = brick("outer", outer);

        ExecutionGraph graph = recorder.graph();
        assertThat(graph.children(outerId)).containsExactly(kernel, scope);
        assertThat(graph.children(scope)).containsExactly(early);
        assertThat(graph.children(early)).containsExactly(inside);
        assertThat(graph.incoming(scope)).contains(new Edge(outerId, scope, EdgeType.CALLS, 1));
    }

    @Test
    void thousandsOfScopesNest() {
        int depth = 20_000;
        for (int i = 0; i < depth; i++) {
            recorder.pushScope(new Layer(i));
        }
        int leaf = recorder.recordBrick("leaf", 9, 1);
        for (int i = depth - 1; i >= 0; i--) {
            assertThat(recorder.popScope()).isEqualTo(OptionalInt.of(i));
        }

        ExecutionGraph graph = recorder.graph();
        assertThat(graph.isScopeBalanced()).isTrue();
        assertThat(graph.parent(leaf)).hasValue(depth - 1);
        assertThat(graph.totalNs(0)).isEqualTo(9);
    }

    @Spec("9.5")
    @Test
    void scopesThatAreNeverPoppedAreNamedAndClosedByTheEndOfThePass() {
        recorder.pushScope(new Function("outer"));
        recorder.pushScope(new Function("inner"));
        recorder.endPass();
        int next = kernel("next");

        ExecutionGraph graph = recorder.graph();
        assertThat(graph.unbalancedScopes()).containsExactly("outer", "inner");
        assertThat(graph.isScopeBalanced()).isFalse();
        assertThat(graph.parent(next)).isEmpty();
        assertThat(recorder.popScope()).isEmpty();
        assertThat(recorder.graph().unmatchedPops()).isEqualTo(1);
    }

    // ---- layers and passes ----

    @Spec("3.8")
    @Test
    void layersOwnTheNodesSinceTheLastBoundary() {
        int a = brick("a", tick());
        int b = brick("b", tick());
        int first = recorder.endLayer();
        int c = brick("c", tick());
        int second = recorder.endLayer();
        int head = brick("head", tick());
        recorder.endPass();
        int again = brick("a", tick());
        int third = recorder.endLayer();

        ExecutionGraph graph = recorder.graph();
        assertThat(graph.children(first)).containsExactly(a, b);
        assertThat(graph.children(second)).containsExactly(c);
        assertThat(graph.children(third)).containsExactly(again);
        assertThat(names(graph, List.of(first, second, third))).containsExactly("Layer 0", "Layer 1", "Layer 0");
        assertThat(ofType(graph, EdgeType.SEQUENCE))
                .containsExactly(
                        new Edge(a, b, EdgeType.SEQUENCE, 1),
                        new Edge(first, second, EdgeType.SEQUENCE, 1),
                        new Edge(second, head, EdgeType.SEQUENCE, 1),
                        new Edge(head, third, EdgeType.SEQUENCE, 1));
    }

    @Spec("3.8")
    @Test
    void startLayerLeavesOutEarlierNodes() {
        int embedding = brick("embedding", tick());
        recorder.startLayer();
        int norm = brick("norm", tick());
        int layer = recorder.endLayer();

        assertThat(recorder.graph().children(layer)).containsExactly(norm);
        assertThat(recorder.graph().parent(embedding)).isEmpty();
    }

    @Test
    void aLayerWithoutNodesIsCountedAndNotAdded() {
        assertThat(recorder.endLayer()).isEqualTo(NONE);
        brick("a", tick());
        int layer = recorder.endLayer();
        assertThat(recorder.endLayer()).isEqualTo(NONE);

        assertThat(recorder.graph().node(layer)).isEqualTo(new Layer(1));
        assertThat(recorder.graph().nodeCount()).isEqualTo(2);
    }

    @Test
    void aBrickAroundLayersAdoptsThemAndIsInNoLayerItself() {
        long forward = tick();
        tick();
        brick("a", tick());
        int layer = recorder.endLayer();
        int forwardId = brick("forward", forward);
        assertThat(recorder.endLayer()).isEqualTo(NONE);

        ExecutionGraph graph = recorder.graph();
        assertThat(graph.children(forwardId)).containsExactly(layer);
        assertThat(graph.parent(forwardId)).isEmpty();
    }

    /** Of the layers that ended, the recorder remembers the last one: here that of the scope. */
    @Test
    void aBrickAroundLayersIsInNoLayerAfterOneInAScope() {
        long forward = tick();
        tick();
        recorder.startLayer();
        recorder.endLayer();
        recorder.pushScope(new Function("f"));
        recorder.endLayer();
        recorder.popScope();
        for (int i = 0; i < 20; i++) {
            tick();
        }
        int forwardId = brick("forward", forward);
        assertThat(recorder.endLayer()).isEqualTo(NONE);

        assertThat(recorder.graph().parent(forwardId)).isEmpty();
    }

    @Test
    void aLayerThatBeganInsideABrickDoesNotOwnTheBrick() {
        long forward = tick();
        tick();
        recorder.startLayer();
        brick("forward", forward);
        int next = brick("next", tick());
        int layer = recorder.endLayer();

        assertThat(recorder.graph().children(layer)).containsExactly(next);
    }

    @Test
    void nothingIsAdoptedAcrossTheEndOfAPass() {
        long start = tick();
        int kernel = kernel("k");
        recorder.endPass();
        int brick = brick("late", start);

        assertThat(recorder.graph().parent(kernel)).isEmpty();
        assertThat(recorder.graph().incoming(brick)).containsExactly(new Edge(kernel, brick, EdgeType.SEQUENCE, 1));
    }
}
