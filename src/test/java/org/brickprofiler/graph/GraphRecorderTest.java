package org.brickprofiler.graph;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.List;
import org.brickprofiler.graph.ExecutionGraph.Edge;
import org.brickprofiler.graph.ExecutionNode.AsyncTask;
import org.brickprofiler.graph.ExecutionNode.Brick;
import org.brickprofiler.graph.ExecutionNode.Function;
import org.brickprofiler.graph.ExecutionNode.Layer;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;

/** Bricks and kernels that are recorded, their dependencies, and the budget of nodes. */
class GraphRecorderTest extends RecordedGraph {

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
    void recordedNodesStayWhenItIsSwitchedOff() {
        kernel("k");
        recorder.disable();
        kernel("ignored");
        assertThat(recorder.isEnabled()).isFalse();
        recorder.enable();

        assertThat(recorder.isEnabled()).isTrue();
        assertThat(recorder.graph().nodeCount()).isEqualTo(1);
    }

    // ---- bricks ----

    @Spec("9.3")
    @Test
    void aBrickAdoptsTheNodesThatBeganSinceItBegan() {
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
    void aClockThatOverflowsMakesNoDifference() {
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

    @Spec("9.3")
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
    void aNodeAfterOneInsideABrickIsInsideToo() {
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

    @Spec("9.5")
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
    void aDroppedBrickAdoptsNothing() {
        GraphRecorder small = enabled(1);
        int kernel = small.recordKernel("k", 1, Dim3.of(1), Dim3.of(1), 0);
        small.brick("dropped", 0, 2_000, 1);
        small.endLayer();

        assertThat(small.graph().parent(kernel)).isEmpty();
        assertThat(small.graph().droppedNodes()).isEqualTo(2);
    }

    @Spec("9.5")
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

    @Spec("9.6")
    @Test
    void aGraphIsNotChangedByLaterRecording() {
        kernel("k");
        ExecutionGraph graph = recorder.graph();
        kernel("later");

        assertThat(graph.nodeCount()).isEqualTo(1);
        assertThat(recorder.graph().nodeCount()).isEqualTo(2);
    }
}
