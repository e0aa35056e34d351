package org.brickprofiler.graph;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.IntStream;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.internal.record.LayerToken;
import org.brickprofiler.testing.Crew;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;

/** The parents of nodes that threads record for the tokens of other threads. */
@Spec("9.14")
final class HandOffTest extends RecordedGraph {

    private static final long LAYER = LayerToken.of(1, 0, 0);

    private int node(long token) throws Exception {
        return Crew.onNewThread(() -> {
            recorder.workFor(token);
            return brick("head", clock.now());
        });
    }

    private static List<Integer> nodes(int... ids) {
        return IntStream.of(ids).boxed().toList();
    }

    /** The thread that hands work out works too, and its part lies around that of another thread. */
    @Test
    void workInsideTheTimeOfTheCallersOwnPartIsBesideIt() throws Exception {
        recorder.startLayer(LAYER);
        long outerNs = tick();
        tick();
        long token = recorder.handOff(LAYER);
        long mineNs = tick();
        int theirs = node(token);
        int mine = brick("head", mineNs);
        int outer = brick("outer", outerNs);
        int layer = recorder.endLayer();

        ExecutionGraph graph = recorder.graph();
        assertThat(graph.parent(theirs)).hasValue(outer);
        assertThat(graph.parent(mine)).hasValue(outer);
        assertThat(graph.parent(outer)).hasValue(layer);
        assertThat(graph.children(mine)).isEmpty();
    }

    @Test
    void theLoopOfTheJavadocPutsNoHeadIntoAnother() {
        int passes = 30;
        int heads = 16;
        BrickProfiler profiler = BrickProfiler.enabled();
        profiler.graph().enable();
        for (int pass = 0; pass < passes; pass++) {
            profiler.startLayer();
            long timer = profiler.startBrick(BrickId.FUSED_ATTENTION);
            long layer = profiler.layerToken();
            IntStream.range(0, heads).parallel().forEach(head -> {
                long before = profiler.workFor(layer);
                try {
                    long inner = profiler.startBrick(BrickId.ATTENTION_SCORE);
                    long sinceNs = System.nanoTime();
                    while (System.nanoTime() - sinceNs < 20_000) {
                        Thread.onSpinWait();
                    }
                    profiler.stopBrick(inner, 1);
                } finally {
                    profiler.workFor(before);
                }
            });
            profiler.stopBrick(timer, 1);
            profiler.endLayer();
            profiler.endPass();
        }

        ExecutionGraph graph = profiler.graph().graph();
        List<Integer> around = graph.nodesByName(BrickId.FUSED_ATTENTION.displayName());
        assertThat(around).hasSize(passes);
        for (int attention : around) {
            assertThat(graph.children(attention)).hasSize(heads);
        }
        assertThat(graph.nodesByName(BrickId.ATTENTION_SCORE.displayName()))
                .hasSize(passes * heads)
                .allMatch(head -> graph.children(head).isEmpty());
        NodeTimes times = NodeTimes.of(graph);
        assertThat(graph.nodesByName(BrickId.ATTENTION_SCORE.displayName()))
                .allMatch(head -> times.selfNs(head) >= 20_000);
    }

    @Test
    void workOfNoHandOffDuringABrickBelongsToTheLayer() throws Exception {
        recorder.startLayer(LAYER);
        tick();
        long token = recorder.handOff(LAYER);
        long laterNs = tick();
        int theirs = node(token);
        int plain = node(LAYER);
        int later = brick("later", laterNs);
        int layer = recorder.endLayer();

        ExecutionGraph graph = recorder.graph();
        assertThat(graph.children(layer)).containsExactlyElementsOf(nodes(theirs, plain, later));
    }

    @Test
    void workAfterTheBrickThatHandedItOutBelongsToThatBrick() throws Exception {
        recorder.startLayer(LAYER);
        long outerNs = tick();
        tick();
        long token = recorder.handOff(LAYER);
        int outer = brick("outer", outerNs);
        int layer = recorder.endLayer();
        recorder.endPass();
        int late = node(token);

        ExecutionGraph graph = recorder.graph();
        assertThat(graph.children(layer)).containsExactly(outer);
        assertThat(graph.parent(late)).hasValue(outer);
    }

    @Test
    void theInnermostOpenBrickIsCarried() throws Exception {
        recorder.startLayer(LAYER);
        long outerNs = tick();
        long innerNs = tick();
        tick();
        long insideInner = recorder.handOff(LAYER);
        tick();
        int inner = brick("inner", innerNs);
        long insideOuter = recorder.handOff(LAYER);
        int ofInner = node(insideInner);
        int ofOuter = node(insideOuter);
        int outer = brick("outer", outerNs);
        recorder.endLayer();

        ExecutionGraph graph = recorder.graph();
        assertThat(graph.parent(ofInner)).hasValue(inner);
        assertThat(graph.parent(ofOuter)).hasValue(outer);
    }

    @Test
    void aScopeIsCarriedToo() throws Exception {
        recorder.startLayer(LAYER);
        int scope = recorder.pushScope(new ExecutionNode.Function("f"));
        tick();
        int theirs = node(recorder.handOff(LAYER));
        recorder.popScope();

        assertThat(recorder.graph().parent(theirs)).hasValue(scope);
    }

    /** A worker hands a part of its part on: inside its own brick, and before it. */
    @Test
    void workThatIsHandedOnBelongsToTheWorkersBrick() throws Exception {
        recorder.startLayer(LAYER);
        long outerNs = tick();
        tick();
        long token = recorder.handOff(LAYER);
        int[] handedOn = new int[3];
        Crew.runOnNewThread(() -> {
            recorder.workFor(token);
            tick();
            long before = recorder.handOff(token);
            long partNs = tick();
            tick();
            long inside = recorder.handOff(token);
            handedOn[0] = node(before);
            handedOn[1] = node(inside);
            handedOn[2] = brick("part", partNs);
        });
        int outer = brick("outer", outerNs);
        recorder.endLayer();

        ExecutionGraph graph = recorder.graph();
        assertThat(graph.children(outer)).containsExactlyInAnyOrder(handedOn[0], handedOn[2]);
        assertThat(graph.children(handedOn[2])).containsExactly(handedOn[1]);
    }

    @Test
    void untilTheBrickHasEndedItsWorkIsAtTheTopLevel() throws Exception {
        recorder.startLayer(LAYER);
        long outerNs = tick();
        tick();
        int theirs = node(recorder.handOff(LAYER));
        assertThat(recorder.graph().parent(theirs)).isEmpty();
        int outer = brick("outer", outerNs);
        assertThat(recorder.graph().parent(theirs)).hasValue(outer);
    }

    @Test
    void aLayerWhoseWorkOthersDidIsANode() throws Exception {
        recorder.startLayer(LAYER);
        tick();
        int theirs = node(recorder.handOff(LAYER));
        int layer = recorder.endLayer();

        ExecutionGraph graph = recorder.graph();
        assertThat(graph.children(layer)).containsExactly(theirs);
        assertThat(graph.node(layer)).isEqualTo(new ExecutionNode.Layer(0));
    }

    @Test
    void aTokenOfBeforeAResetBelongsToNothingAfterIt() throws Exception {
        recorder.startLayer(LAYER);
        tick();
        long old = recorder.handOff(LAYER);
        recorder.reset();
        long outerNs = tick();
        tick();
        assertThat(recorder.handOff(LAYER)).isNotEqualTo(old);
        int late = node(old);
        brick("outer", outerNs);

        assertThat(recorder.graph().parent(late)).isEmpty();
    }

    /** 15 bits number the hand-offs of a layer: a token that two of them share is known only to belong to the layer. */
    @Test
    void aTokenOfTwoHandOffsIsItsLayers() throws Exception {
        recorder.startLayer(LAYER);
        long firstNs = tick();
        tick();
        long first = recorder.handOff(LAYER);
        brick("first", firstNs);
        for (int other = 1; other < 32_767; other++) {
            recorder.handOff(LAYER);
        }
        long secondNs = tick();
        tick();
        long second = recorder.handOff(LAYER);
        brick("second", secondNs);
        int theirs = node(second);
        int layer = recorder.endLayer();

        assertThat(second).isEqualTo(first);
        assertThat(recorder.graph().parent(theirs)).hasValue(layer);
    }

    @Spec("9.5")
    @Test
    void pastTheBudgetATokenCarriesItsLayerAloneWhichIsCounted() {
        GraphRecorder small = enabled(3);
        small.startLayer(LAYER);
        for (int taken = 0; taken < 3; taken++) {
            assertThat(small.handOff(LAYER)).isNotEqualTo(LAYER);
        }
        assertThat(small.graph().droppedDependencies()).isZero();
        assertThat(small.handOff(LAYER)).isEqualTo(LAYER);
        assertThat(small.graph().droppedDependencies()).isOne();
    }

    @Test
    void whileItIsOffAndWithoutALayerATokenStaysAsItIs() {
        assertThat(recorder.handOff(LayerToken.VOID)).isEqualTo(LayerToken.VOID);
        recorder.disable();
        assertThat(recorder.handOff(LAYER)).isEqualTo(LAYER);
    }

    /** Each thread ends its layer while it works for the other's. */
    @Test
    void layersThatWorkForEachOtherMakeNoCircle() throws Exception {
        long other = LayerToken.of(2, 0, 0);
        recorder.startLayer(LAYER);
        brick("mine", clock.now());
        Crew.runOnNewThread(() -> {
            recorder.startLayer(other);
            recorder.workFor(LAYER);
            brick("theirs", clock.now());
            recorder.endLayer(other);
        });
        recorder.workFor(other);
        brick("mine too", clock.now());
        recorder.endLayer(LAYER);

        ExecutionGraph graph = recorder.graph();
        assertThat(graph.nodesByName("Layer 0")).hasSize(2).allMatch(layer -> graph.parent(layer)
                .isEmpty());
        assertThat(GraphExport.toTree(graph)).contains("mine", "theirs", "mine too");
    }
}
