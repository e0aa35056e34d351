package org.brickprofiler.graph;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import org.brickprofiler.graph.ExecutionNode.AsyncTask;
import org.brickprofiler.graph.ExecutionNode.Brick;
import org.brickprofiler.graph.ExecutionNode.Function;
import org.brickprofiler.graph.ExecutionNode.Layer;
import org.brickprofiler.record.FakeClock;
import org.junit.jupiter.api.Test;

class GraphRecorderTest {

    private static final int NONE = GraphRecorder.NONE;

    private final FakeClock clock = new FakeClock(1_000);
    private final GraphRecorder recorder = enabled(GraphRecorder.DEFAULT_NODE_BUDGET);

    private GraphRecorder enabled(int budget) {
        GraphRecorder made = new GraphRecorder(clock, budget);
        made.enable();
        return made;
    }

    private long tick() {
        clock.advance(10);
        return clock.now();
    }

    private int kernel(String name) {
        tick();
        return recorder.recordKernel(name, 7, Dim3.of(2), Dim3.of(64), 0);
    }

    private int brick(String name, long startNs) {
        return recorder.brick(name, startNs, tick(), 1);
    }

    private static List<String> names(ExecutionGraph graph, List<Integer> ids) {
        List<String> names = new ArrayList<>();
        ids.forEach(id -> names.add(graph.node(id).name()));
        return names;
    }

    private static List<Edge> ofType(ExecutionGraph graph, EdgeType type) {
        List<Edge> edges = new ArrayList<>();
        for (int id = 0; id < graph.nodeCount(); id++) {
            graph.outgoing(id).stream().filter(edge -> edge.type() == type).forEach(edges::add);
        }
        return edges;
    }

    // ---- off ----

    @Test
    void offItDoesNothingAndDoesNotReadTheClock() {
        GraphRecorder off = new GraphRecorder(clock);

        assertThat(off.isEnabled()).isFalse();
        assertThat(off.brick("", 0, 1, -1)).isEqualTo(NONE);
        assertThat(off.recordBrick("a", 1, 1)).isEqualTo(NONE);
        assertThat(off.recordKernel("k", 1, Dim3.of(1), Dim3.of(1), 0)).isEqualTo(NONE);
        assertThat(off.recordTransfer("a", "b", 1, TransferDirection.H2D)).isEqualTo(NONE);
        assertThat(off.pushScope(new Layer(0))).isEqualTo(NONE);
        assertThat(off.popScope()).isEmpty();
        off.startLayer();
        assertThat(off.endLayer()).isEqualTo(NONE);
        off.addDependency(3, 3);
        off.endPass();

        assertThat(off.graph().nodeCount()).isZero();
        assertThat(off.graph().isScopeBalanced()).isTrue();
        assertThat(clock.reads()).isZero();
    }

    @Test
    void whatWasRecordedStaysWhenItIsSwitchedOff() {
        kernel("k");
        recorder.disable();
        kernel("ignored");
        assertThat(recorder.isEnabled()).isFalse();
        recorder.enable();

        assertThat(recorder.isEnabled()).isTrue();
        assertThat(recorder.graph().nodeCount()).isEqualTo(1);
    }

    // ---- bricks ----

    @Test
    void aBrickAdoptsWhatBeganSinceItBegan() {
        int before = kernel("before");
        long start = tick();
        int first = recorder.recordKernel("first", 1, Dim3.of(1), Dim3.of(1), 0);
        int second = kernel("second");
        int brick = recorder.brick("brick", start, start + 55, 3);
        int after = kernel("after");

        ExecutionGraph graph = recorder.graph();
        assertThat(List.of(before, first, second, brick, after)).containsExactly(0, 1, 2, 3, 4);
        assertThat(graph.node(brick)).isEqualTo(new Brick("brick", 55, 3));
        assertThat(graph.children(brick)).containsExactly(first, second);
        assertThat(graph.parent(before)).isEmpty();
        assertThat(graph.parent(after)).isEmpty();
        assertThat(ofType(graph, EdgeType.LAUNCHES))
                .containsExactly(
                        new Edge(brick, first, EdgeType.LAUNCHES, 1), new Edge(brick, second, EdgeType.LAUNCHES, 1));
        assertThat(ofType(graph, EdgeType.SEQUENCE))
                .containsExactly(
                        new Edge(before, brick, EdgeType.SEQUENCE, 1),
                        new Edge(first, second, EdgeType.SEQUENCE, 1),
                        new Edge(brick, after, EdgeType.SEQUENCE, 1));
    }

    @Test
    void bricksNest() {
        long outer = tick();
        long inner = tick();
        int kernel = kernel("k");
        int innerId = brick("inner", inner);
        long second = tick();
        int secondId = brick("second", second);
        int outerId = brick("outer", outer);

        ExecutionGraph graph = recorder.graph();
        assertThat(graph.children(outerId)).containsExactly(innerId, secondId);
        assertThat(graph.children(innerId)).containsExactly(kernel);
        assertThat(graph.children(secondId)).isEmpty();
    }

    @Test
    void aClockBelowZeroAndOverItsEndIsNoDifference() {
        clock.set(Long.MAX_VALUE - 15);
        long outer = clock.now();
        long inner = tick();
        int kernel = kernel("wrapped");
        int innerId = brick("inner", inner);
        int outerId = brick("outer", outer);

        ExecutionGraph graph = recorder.graph();
        assertThat(clock.now()).isNegative();
        assertThat(graph.children(outerId)).containsExactly(innerId);
        assertThat(graph.children(innerId)).containsExactly(kernel);
        assertThat(graph.node(innerId).timeNs()).hasValue(20);
    }

    @Test
    void aClockThatRanBackwardsCountsAsNothing() {
        int brick = recorder.brick("brick", 500, 400, 1);

        assertThat(recorder.graph().node(brick).timeNs()).hasValue(0);
    }

    @Test
    void aBrickTimedElsewhereBeganItsTimeAgoAndAdoptsNothing() {
        int kernel = kernel("k");
        long start = tick();
        int inside = recorder.recordBrick("short", 0, 1);
        clock.advance(100);
        int elsewhere = recorder.recordBrick("elsewhere", 100, 2);
        int brick = brick("brick", start);

        ExecutionGraph graph = recorder.graph();
        assertThat(graph.node(elsewhere)).isEqualTo(new Brick("elsewhere", 100, 2));
        assertThat(graph.children(elsewhere)).isEmpty();
        assertThat(graph.children(brick)).containsExactly(inside, elsewhere);
        assertThat(graph.parent(kernel)).isEmpty();
    }

    @Test
    void aBrickTimedElsewhereThatBeganEarlierIsNotAdopted() {
        long start = tick();
        clock.advance(5);
        int elsewhere = recorder.recordBrick("elsewhere", 1_000, 1);
        int brick = brick("brick", start);

        assertThat(recorder.graph().parent(elsewhere)).isEmpty();
        assertThat(recorder.graph().children(brick)).isEmpty();
    }

    @Test
    void whatFollowsSomethingInsideABrickIsInsideToo() {
        long start = tick();
        int kernel = kernel("k");
        int elsewhere = recorder.recordBrick("elsewhere", 1_000, 1);
        int last = kernel("last");
        int brick = brick("brick", start);

        assertThat(recorder.graph().children(brick)).containsExactly(kernel, elsewhere, last);
    }

    @Test
    void badArgumentsAreRefusedAndNothingIsRecorded() {
        assertThatIllegalArgumentException().isThrownBy(() -> recorder.brick("", 0, 1, 1));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> recorder.brick("a", 0, 1, -3))
                .withMessageContaining("-3");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> recorder.recordBrick("a", -4, 1))
                .withMessageContaining("-4");
        assertThatIllegalArgumentException().isThrownBy(() -> recorder.addDependency(2, 2));
        assertThatIllegalArgumentException().isThrownBy(() -> recorder.addDependency(-2, 2));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new GraphRecorder(clock, 0))
                .withMessageContaining("0");
        assertThat(recorder.graph().nodeCount()).isZero();
        assertThat(recorder.graph().droppedNodes()).isZero();
    }

    // ---- scopes ----

    @Test
    void aScopeOwnsWhatIsRecordedInItEvenWhileItIsOpen() {
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

    @Test
    void layersOwnWhatWasRecordedSinceTheLastBoundary() {
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

    @Test
    void startLayerLeavesOutWhatCameBefore() {
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

    // ---- dependencies ----

    @Test
    void dependenciesAreKeptAndThoseOfNoNodeIgnored() {
        int a = kernel("a");
        int b = recorder.recordNode(new AsyncTask("b", 2, 1, 30));
        recorder.addDependency(b, a);
        recorder.addDependency(NONE, a);
        recorder.addDependency(a, NONE);
        recorder.addDependency(a, 99);

        ExecutionGraph graph = recorder.graph();
        assertThat(ofType(graph, EdgeType.DEPENDS_ON)).containsExactly(new Edge(b, a, EdgeType.DEPENDS_ON, 1));
    }

    // ---- budget ----

    @Test
    void pastTheBudgetNodesAreCountedAndScopesStayBalanced() {
        GraphRecorder small = enabled(2);
        int scope = small.pushScope(new Function("kept"));
        assertThat(small.recordBrick("kept too", 1, 1)).isEqualTo(1);

        assertThat(small.pushScope(new Function("dropped"))).isEqualTo(NONE);
        assertThat(small.recordBrick("dropped", 1, 1)).isEqualTo(NONE);
        assertThat(small.brick("dropped", 0, 1, 1)).isEqualTo(NONE);
        assertThat(small.recordNode(new Function("dropped"))).isEqualTo(NONE);
        assertThat(small.endLayer()).isEqualTo(NONE);
        assertThat(small.popScope()).isEmpty();
        assertThat(small.popScope()).hasValue(scope);

        ExecutionGraph graph = small.graph();
        assertThat(graph.nodeCount()).isEqualTo(2);
        assertThat(graph.droppedNodes()).isEqualTo(5);
        assertThat(graph.isScopeBalanced()).isTrue();
        assertThat(graph.children(scope)).containsExactly(1);
    }

    @Test
    void aDroppedBrickLeavesItsPartsWhereTheyAre() {
        GraphRecorder small = enabled(1);
        int kernel = small.recordKernel("k", 1, Dim3.of(1), Dim3.of(1), 0);
        small.brick("dropped", 0, 2_000, 1);
        small.endLayer();

        assertThat(small.graph().parent(kernel)).isEmpty();
        assertThat(small.graph().droppedNodes()).isEqualTo(2);
    }

    @Test
    void dependenciesAreBoundedToo() {
        GraphRecorder small = enabled(2);
        small.recordBrick("a", 1, 1);
        small.recordBrick("b", 1, 1);
        for (int i = 0; i < 10; i++) {
            small.addDependency(0, 1);
        }

        assertThat(ofType(small.graph(), EdgeType.DEPENDS_ON)).hasSize(8);
        assertThat(small.graph().droppedDependencies()).isEqualTo(2);
    }

    @Test
    void aBudgetAtAndPastTheEndOfAChunkIsObeyedExactly() {
        for (int budget : new int[] {2047, 2048, 2049, 4096}) {
            GraphRecorder small = enabled(budget);
            for (int i = 0; i < budget + 3; i++) {
                assertThat(small.recordBrick("a", 1, 1)).isEqualTo(i < budget ? i : NONE);
            }
            assertThat(small.graph().nodeCount()).isEqualTo(budget);
            assertThat(small.graph().droppedNodes()).isEqualTo(3);
        }
    }

    // ---- reset ----

    @Test
    void resetForgetsNodesCountsLayersAndOpenEntries() {
        long start = tick();
        kernel("k");
        recorder.endLayer();
        recorder.popScope();
        recorder.reset();
        int brick = brick("brick", start);
        int layer = recorder.endLayer();

        ExecutionGraph graph = recorder.graph();
        assertThat(brick).isZero();
        assertThat(graph.node(layer)).isEqualTo(new Layer(0));
        assertThat(graph.children(brick)).isEmpty();
        assertThat(graph.nodeCount()).isEqualTo(2);
        assertThat(graph.isScopeBalanced()).isTrue();
    }

    @Test
    void theEndOfAScopeThatAResetForgotIsNoFault() {
        recorder.pushScope(new Function("outer"));
        recorder.pushScope(new Function("inner"));
        recorder.reset();
        int scope = recorder.pushScope(new Function("new"));
        assertThat(recorder.popScope()).hasValue(scope);
        assertThat(recorder.popScope()).isEmpty();
        recorder.reset();
        assertThat(recorder.popScope()).isEmpty();
        assertThat(recorder.graph().isScopeBalanced()).isTrue();

        assertThat(recorder.popScope()).isEmpty();
        assertThat(recorder.graph().unmatchedPops()).isEqualTo(1);
    }

    @Test
    void aGraphIsNotChangedByWhatIsRecordedLater() {
        kernel("k");
        ExecutionGraph graph = recorder.graph();
        kernel("later");

        assertThat(graph.nodeCount()).isEqualTo(1);
        assertThat(recorder.graph().nodeCount()).isEqualTo(2);
    }
}
