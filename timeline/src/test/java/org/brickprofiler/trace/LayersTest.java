package org.brickprofiler.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.graph.ExecutionGraph;
import org.brickprofiler.graph.ExecutionNode;
import org.brickprofiler.graph.ExecutionNode.Layer;
import org.brickprofiler.graph.GraphExport;
import org.brickprofiler.internal.record.LayerToken;
import org.brickprofiler.testing.AllocatedBytes;
import org.brickprofiler.testing.Crew;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.testing.VirtualThreadStarter;
import org.junit.jupiter.api.Test;

/** Which layer a brick belongs to, in timeline and graph: over boundaries, and on the threads that work for a pass. */
final class LayersTest extends TracedBricks {

    LayersTest() {
        profiler.graph().enable();
    }

    private ExecutionGraph graph() {
        return profiler.graph().graph();
    }

    /** The content of a node, by name. */
    private List<String> in(String parent) {
        ExecutionGraph graph = graph();
        return in(graph, graph.nodesByName(parent).get(0));
    }

    private static List<String> in(ExecutionGraph graph, int parent) {
        return graph.children(parent).stream()
                .map(graph::node)
                .map(ExecutionNode::name)
                .toList();
    }

    private static List<String> roots(ExecutionGraph graph) {
        List<String> roots = new ArrayList<>();
        for (int id = 0; id < graph.nodeCount(); id++) {
            if (graph.parent(id).isEmpty()) {
                roots.add(graph.node(id).name());
            }
        }
        return roots;
    }

    private long lapAt(long ns, long timer, BrickId next) {
        clock.set(ns);
        return profiler.lap(timer, 1, next);
    }

    private void startLayerAt(long ns) {
        clock.set(ns);
        profiler.startLayer();
    }

    private void startLayerAt(long ns, int number) {
        clock.set(ns);
        profiler.startLayer(number);
    }

    private void endLayerAt(long ns) {
        clock.set(ns);
        profiler.endLayer();
    }

    private void endPassAt(long ns) {
        clock.set(ns);
        profiler.endPass();
    }

    // ---- lap over boundaries ----

    /** The engine goes on to the next layer's first brick, and then says that a layer ends and another begins. */
    @Test
    void aLapBeforeTheBoundaryBeginsTheNextLayer() {
        long timer = startAt(0, BrickId.EMBEDDING);
        timer = lapAt(100, timer, BrickId.RMS_NORM);
        startLayerAt(101);
        timer = lapAt(200, timer, BrickId.QKV_PROJECTION);
        timer = lapAt(300, timer, BrickId.RMS_NORM);
        endLayerAt(302);
        startLayerAt(304);
        timer = lapAt(400, timer, BrickId.QKV_PROJECTION);
        timer = lapAt(500, timer, BrickId.LM_HEAD);
        endLayerAt(503);
        stopAt(600, timer, 1);
        endPassAt(610);

        assertThat(events(thread))
                .containsExactly(
                        "step 0..610",
                        "Embedding 0..100 x1",
                        "Layer 0 100..300 layer 0",
                        "RmsNorm 100..200 x1 layer 0",
                        "QkvProjection 200..300 x1 layer 0",
                        "Layer 1 300..500 layer 1",
                        "RmsNorm 300..400 x1 layer 1",
                        "QkvProjection 400..500 x1 layer 1",
                        "LmHead 500..600 x1");
        assertThat(in("Layer 0")).containsExactly("RmsNorm", "QkvProjection");
        assertThat(in("Layer 1")).containsExactly("RmsNorm", "QkvProjection");
        assertThat(roots(graph())).containsExactly("Embedding", "Layer 0", "Layer 1", "LmHead");
    }

    /** The engine says first that a layer ends and another begins, and then goes on. */
    @Test
    void aLapAfterTheBoundaryEndsTheLayerBefore() {
        startLayerAt(0);
        long timer = startAt(1, BrickId.RMS_NORM);
        timer = lapAt(100, timer, BrickId.QKV_PROJECTION);
        endLayerAt(200);
        startLayerAt(202);
        timer = lapAt(203, timer, BrickId.RMS_NORM);
        timer = lapAt(300, timer, BrickId.QKV_PROJECTION);
        endLayerAt(400);
        endPassAt(401);
        stopAt(403, timer, 1);

        assertThat(events(thread))
                .containsExactly(
                        "step 0..403",
                        "Layer 0 0..203 layer 0",
                        "RmsNorm 1..100 x1 layer 0",
                        "QkvProjection 100..203 x1 layer 0",
                        "Layer 1 203..403 layer 1",
                        "RmsNorm 203..300 x1 layer 1",
                        "QkvProjection 300..403 x1 layer 1");
        assertThat(in("Layer 0")).containsExactly("RmsNorm", "QkvProjection");
        assertThat(in("Layer 1")).containsExactly("RmsNorm", "QkvProjection");
        assertThat(roots(graph())).containsExactly("Layer 0", "Layer 1");
    }

    @Test
    void aLayerOfOneBrickThatEndsAfterItIsALayerAllTheSame() {
        startLayerAt(0);
        long timer = startAt(1, BrickId.RMS_NORM);
        endLayerAt(100);
        startLayerAt(101);
        timer = lapAt(102, timer, BrickId.QKV_PROJECTION);
        endLayerAt(200);
        stopAt(201, timer, 1);
        endPassAt(210);

        assertThat(in("Layer 0")).containsExactly("RmsNorm");
        assertThat(in("Layer 1")).containsExactly("QkvProjection");
        assertThat(roots(graph())).containsExactly("Layer 0", "Layer 1");
        assertThat(events(thread))
                .containsExactly(
                        "step 0..210",
                        "Layer 0 0..102 layer 0",
                        "RmsNorm 1..102 x1 layer 0",
                        "Layer 1 102..201 layer 1",
                        "QkvProjection 102..201 x1 layer 1");
    }

    /** The layer adopted the content of the brick before the brick was recorded. */
    @Test
    void theContentOfABrickAcrossTheBoundaryStaysInside() {
        startLayerAt(0);
        brick(BrickId.RMS_NORM, 1, 50);
        long outer = startAt(50, BrickId.FUSED_ATTENTION);
        brick(BrickId.ATTENTION_SCORE, 51, 60);
        brick(BrickId.ATTENTION_SOFTMAX, 60, 80);
        endLayerAt(100);
        startLayerAt(102);
        brick(BrickId.ATTENTION_OUTPUT, 103, 104);
        stopAt(105, outer, 1);
        brick(BrickId.LM_HEAD, 106, 150);
        endLayerAt(160);

        assertThat(in("Layer 0")).containsExactly("RmsNorm", "FusedAttention");
        assertThat(in("FusedAttention")).containsExactly("AttentionScore", "AttentionSoftmax", "AttentionOutput");
        assertThat(in("Layer 1")).containsExactly("LmHead");
        assertThat(events(thread))
                .containsExactly(
                        "Layer 0 0..105 layer 0",
                        "RmsNorm 1..50 x1 layer 0",
                        "FusedAttention 50..105 x1 layer 0",
                        "AttentionScore 51..60 x1 layer 0",
                        "AttentionSoftmax 60..80 x1 layer 0",
                        "AttentionOutput 103..104 x1 layer 0",
                        "Layer 1 105..160 layer 1",
                        "LmHead 106..150 x1 layer 1");
    }

    @Test
    void aBrickThatRanLongerInTheNextLayerTakesItsPartsAlong() {
        startLayerAt(0);
        brick(BrickId.RMS_NORM, 1, 50);
        long outer = startAt(50, BrickId.FUSED_ATTENTION);
        brick(BrickId.ATTENTION_SCORE, 51, 52);
        endLayerAt(53);
        startLayerAt(54);
        brick(BrickId.ATTENTION_OUTPUT, 60, 90);
        stopAt(100, outer, 1);
        endLayerAt(110);

        assertThat(in("Layer 0")).containsExactly("RmsNorm");
        assertThat(in("Layer 1")).containsExactly("FusedAttention");
        assertThat(in("FusedAttention")).containsExactly("AttentionScore", "AttentionOutput");
    }

    /**
     * The inner brick was assigned to the first layer after that layer had ended. It moves to the next layer with the
     * outer brick.
     */
    @Test
    void aBrickThatEndedAfterItsLayerFollowsTheBrickAroundIt() {
        startLayerAt(0);
        brick(BrickId.RMS_NORM, 1, 50);
        long outer = startAt(55, BrickId.FUSED_ATTENTION);
        long inner = startAt(60, BrickId.ATTENTION_SCORE);
        endLayerAt(100);
        startLayerAt(110);
        stopAt(120, inner, 1);
        stopAt(300, outer, 1);
        endLayerAt(310);

        assertThat(in("Layer 0")).containsExactly("RmsNorm");
        assertThat(in("Layer 1")).containsExactly("FusedAttention");
        assertThat(in("FusedAttention")).containsExactly("AttentionScore");
        assertThat(events(thread))
                .containsExactly(
                        "Layer 0 0..55 layer 0",
                        "RmsNorm 1..50 x1 layer 0",
                        "Layer 1 55..310 layer 1",
                        "FusedAttention 55..300 x1 layer 1",
                        "AttentionScore 60..120 x1 layer 1");
    }

    @Spec("3.9")
    @Test
    void aBrickThatRanMostlyBetweenLayersIsInNone() {
        startLayerAt(0);
        brick(BrickId.RMS_NORM, 1, 90);
        long timer = startAt(95, BrickId.ALL_REDUCE);
        endLayerAt(100);
        startLayerAt(150);
        timer = lapAt(160, timer, BrickId.RMS_NORM);
        stopAt(200, timer, 1);
        endLayerAt(210);

        assertThat(roots(graph())).containsExactly("Layer 0", "AllReduce", "Layer 1");
        assertThat(events(thread))
                .containsExactly(
                        "Layer 0 0..95 layer 0",
                        "RmsNorm 1..90 x1 layer 0",
                        "AllReduce 95..160 x1",
                        "Layer 1 160..210 layer 1",
                        "RmsNorm 160..200 x1 layer 1");
    }

    /** The layer of the first brick of a pass is not announced, and the brick ends after the layer. */
    @Test
    void aPassOfOneBrickThatEndsAfterItIsAStepAllTheSame() {
        long timer = startAt(10, BrickId.EMBEDDING);
        endPassAt(20);
        timer = lapAt(23, timer, BrickId.RMS_NORM);
        endLayerAt(40);
        stopAt(42, timer, 1);
        endPassAt(50);

        assertThat(events(thread))
                .containsExactly(
                        "step 10..23",
                        "Embedding 10..23 x1",
                        "step 23..50",
                        "Layer 0 23..42 layer 0",
                        "RmsNorm 23..42 x1 layer 0");
        assertThat(in("Layer 0")).containsExactly("RmsNorm");
    }

    /** A layer stays where it is although the brick around it is in no layer. */
    @Test
    void aLayerInsideABrickOfNoLayerKeepsItsPlace() {
        long timer = startAt(0, BrickId.EMBEDDING);
        startLayerAt(10);
        timer = lapAt(13, timer, BrickId.ALL_REDUCE);
        endLayerAt(20);
        stopAt(60, timer, 1);

        assertThat(events(thread))
                .containsExactly("Embedding 0..13 x1", "AllReduce 13..60 x1", "Layer 0 13..20 layer 0");
        assertThat(roots(graph())).contains("Embedding", "AllReduce");
    }

    // ---- passes that break off ----

    @Spec("3.8")
    @Test
    void aLayerThatBeganEndsWithThePassAndTheNextIsNumberZero() {
        startLayerAt(0);
        brick(BrickId.RMS_NORM, 1, 10);
        endLayerAt(11);
        startLayerAt(12);
        brick(BrickId.RMS_NORM, 13, 20);
        endPassAt(25);
        startLayerAt(30);
        brick(BrickId.RMS_NORM, 31, 40);
        endLayerAt(41);

        assertThat(events(thread))
                .filteredOn(event -> event.startsWith("Layer"))
                .containsExactly("Layer 0 0..11 layer 0", "Layer 1 12..25 layer 1", "Layer 0 30..41 layer 0");
        assertThat(roots(graph())).containsExactly("Layer 0", "Layer 1", "Layer 0");
    }

    @Spec("3.8")
    @Test
    void aLayerThatBeginsWithinAnotherSaysThatThePassBrokeOff() {
        startLayerAt(0);
        brick(BrickId.RMS_NORM, 1, 10);
        endLayerAt(11);
        startLayerAt(12);
        brick(BrickId.RMS_NORM, 13, 20);
        startLayerAt(1_000);
        brick(BrickId.RMS_NORM, 1_001, 1_010);
        assertThat(profiler.currentLayer()).isZero();
        endLayerAt(1_011);
        endPassAt(1_012);

        assertThat(events(thread))
                .filteredOn(event -> !event.startsWith("Rms"))
                .containsExactly(
                        "step 0..20",
                        "Layer 0 0..11 layer 0",
                        "Layer 1 12..20 layer 1",
                        "step 1000..1012",
                        "Layer 0 1000..1011 layer 0");
        assertThat(roots(graph())).containsExactly("Layer 0", "Layer 1", "Layer 0");
    }

    // ---- layers by their numbers ----

    /**
     * Some layers are missing, as in pruned models; one layer comes in two parts; the last ones are processed
     * backwards.
     */
    @Spec("3.11")
    @Test
    void layersHaveTheNumbersThatTheyAreGivenInAnyOrder() throws Exception {
        int[] numbers = {1, 5, 5, 4, 3};
        List<Long> tokens = new ArrayList<>();
        for (int i = 0; i < numbers.length; i++) {
            startLayerAt(100L * i, numbers[i]);
            assertThat(profiler.currentLayer()).isEqualTo(numbers[i]);
            tokens.add(profiler.layerToken());
            brick(BrickId.RMS_NORM, 100L * i + 1, 100L * i + 9);
            int at = i;
            Crew.runOnNewThread(() -> {
                profiler.workFor(tokens.get(at));
                brick(BrickId.ACTIVATION, 100L * at + 10, 100L * at + 20);
            });
            endLayerAt(100L * i + 30);
        }
        startLayerAt(500);
        brick(BrickId.RMS_NORM, 501, 502);
        endLayerAt(503);
        endPassAt(510);

        assertThat(tokens).doesNotHaveDuplicates();
        assertThat(events(thread))
                .filteredOn(event -> !event.startsWith("Rms"))
                .containsExactly(
                        "step 0..510",
                        "Layer 1 0..30 layer 1",
                        "Layer 5 100..130 layer 5",
                        "Layer 5 200..230 layer 5",
                        "Layer 4 300..330 layer 4",
                        "Layer 3 400..430 layer 3",
                        "Layer 4 500..503 layer 4");
        ExecutionGraph graph = graph();
        assertThat(roots(graph))
                .containsExactlyInAnyOrder("Layer 1", "Layer 5", "Layer 5", "Layer 4", "Layer 3", "Layer 4");
        assertThat(graph.nodesByName("Layer 5"))
                .allSatisfy(layer -> assertThat(in(graph, layer)).containsExactlyInAnyOrder("RmsNorm", "Activation"));
    }

    @Spec("3.11")
    @Test
    void aNumberBelowZeroIsRefusedAndTheLayerUnderWayGoesOn() {
        startLayerAt(0, 7);
        assertThatThrownBy(() -> profiler.startLayer(-1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("-1");
        assertThat(profiler.currentLayer()).isEqualTo(7);
        endLayerAt(10);
        startLayerAt(20, Integer.MAX_VALUE);
        assertThat(profiler.currentLayer()).isEqualTo(1_048_574);
        endLayerAt(30);
        startLayerAt(40);
        assertThat(profiler.currentLayer()).isEqualTo(1_048_574);
        endLayerAt(50);
    }

    @Spec("3.11")
    @Test
    void aLayerWithANumberWithinAnotherIsOfTheNextPass() {
        startLayerAt(0, 4);
        brick(BrickId.RMS_NORM, 1, 10);
        startLayerAt(100, 2);
        brick(BrickId.RMS_NORM, 101, 110);
        endLayerAt(111);
        endPassAt(112);

        assertThat(events(thread))
                .filteredOn(event -> !event.startsWith("Rms"))
                .containsExactly("step 0..10", "Layer 4 0..10 layer 4", "step 100..112", "Layer 2 100..111 layer 2");
    }

    @Spec("3.8")
    @Test
    void aResetEndsThePassesOfAllThreads() throws Exception {
        startLayerAt(0);
        endLayerAt(10);
        Crew.runOnNewThread(profiler::reset);
        startLayerAt(20);

        assertThat(profiler.currentLayer()).isZero();
    }

    @Spec("3.8")
    @Test
    void layersAreCountedWhileTheProfilerIsOff() {
        for (int layer = 0; layer < 4; layer++) {
            startLayerAt(10L * layer);
            assertThat(profiler.currentLayer()).isEqualTo(layer);
            if (layer == 2) {
                profiler.enable();
            }
            brick(BrickId.RMS_NORM, 10L * layer + 1, 10L * layer + 5);
            endLayerAt(10L * layer + 6);
            if (layer == 0) {
                profiler.disable();
            }
        }
        endPassAt(100);

        assertThat(events(thread)).contains("RmsNorm 31..35 x1 layer 3", "Layer 3 30..36 layer 3");
        assertThat(roots(graph())).contains("Layer 0", "Layer 3").doesNotContain("Layer 1");
        assertThat(profiler.currentLayer()).isEqualTo(-1);
    }

    // ---- work of other threads ----

    @Spec("3.10")
    @Test
    void workOfAnotherThreadForALayerBelongsToThatLayer() throws Exception {
        brick(BrickId.EMBEDDING, 0, 5);
        startLayerAt(10);
        assertThat(profiler.currentLayer()).isZero();
        brick(BrickId.RMS_NORM, 11, 20);
        long attention = startAt(20, BrickId.FUSED_ATTENTION);
        long layer = profiler.layerToken();
        Crew.runOnNewThread(() -> {
            assertThat(profiler.currentLayer()).isEqualTo(-1);
            brick(BrickId.SAMPLING, 1, 2);
            assertThat(profiler.workFor(layer)).isZero();
            assertThat(profiler.currentLayer()).isZero();
            long head = startAt(22, BrickId.ATTENTION_SCORE);
            brick(BrickId.ATTENTION_SOFTMAX, 23, 24);
            stopAt(26, head, 1);
            assertThat(profiler.workFor(0)).isEqualTo(layer);
            brick(BrickId.LM_HEAD, 27, 28);
        });
        stopAt(30, attention, 1);
        long down = startAt(40, BrickId.DOWN_PROJECTION);
        stopAt(50, down, 1);
        endLayerAt(60);

        assertThat(events("crew-0"))
                .containsExactly(
                        "Sampling 1..2 x1",
                        "AttentionScore 22..26 x1 layer 0",
                        "AttentionSoftmax 23..24 x1 layer 0",
                        "LmHead 27..28 x1");
        assertThat(in("Layer 0")).containsExactly("RmsNorm", "FusedAttention", "DownProjection");
        assertThat(in("FusedAttention")).containsExactly("AttentionScore");
        assertThat(in("AttentionScore")).containsExactly("AttentionSoftmax");
        ExecutionGraph graph = graph();
        assertThat(roots(graph)).containsExactlyInAnyOrder("Embedding", "Layer 0", "Sampling", "LmHead");
        assertThat(graph.threadName(graph.nodesByName("AttentionSoftmax").get(0)))
                .hasValue("crew-0");
        assertThat(GraphExport.toTree(graph).lines())
                .anyMatch(line -> line.matches("Layer 0 .*on " + thread))
                .anyMatch(line -> line.matches("  FusedAttention .*1 element"))
                .anyMatch(line -> line.matches("    AttentionScore .*1 element, on crew-0"))
                .anyMatch(line -> line.matches("      AttentionSoftmax .*1 element"));
    }

    @Test
    void workThatGoesOnAfterItsLayerIsThatLayers() throws Exception {
        startLayerAt(10);
        long layer = profiler.layerToken();
        brick(BrickId.RMS_NORM, 11, 20);
        endLayerAt(30);
        assertThat(profiler.layerToken()).isZero();
        startLayerAt(31);
        Crew.runOnNewThread(() -> {
            long before = profiler.workFor(layer);
            brick(BrickId.KV_CACHE_UPDATE, 35, 40);
            profiler.workFor(before);
        });
        endLayerAt(50);

        assertThat(in("Layer 0")).containsExactly("RmsNorm", "KvCacheUpdate");
        assertThat(events("crew-0")).containsExactly("KvCacheUpdate 35..40 x1 layer 0");
    }

    /** A thread that waits for its own tasks runs those of another pass meanwhile. */
    @Test
    void aThreadOfAPassMayWorkForAnotherPassInBetween() throws Exception {
        long[] other = new long[1];
        Crew.runOnNewThread(() -> {
            startLayerAt(0);
            endLayerAt(1);
            startLayerAt(2);
            other[0] = profiler.layerToken();
            brick(BrickId.RMS_NORM, 3, 5);
            endLayerAt(6);
        });
        startLayerAt(10);
        long mine = profiler.layerToken();
        long outer = startAt(11, BrickId.FUSED_ATTENTION);
        brick(BrickId.ATTENTION_SCORE, 12, 13);
        assertThat(LayerToken.layerOf(profiler.workFor(mine))).isEqualTo(LayerToken.layerOf(mine));
        brick(BrickId.ATTENTION_SOFTMAX, 14, 15);
        long before = profiler.workFor(other[0]);
        long stolen = startAt(16, BrickId.GATE_PROJECTION);
        brick(BrickId.ACTIVATION, 17, 18);
        stopAt(18, stolen, 1);
        long inside = profiler.workFor(mine);
        brick(BrickId.ATTENTION_OUTPUT, 18, 19);
        profiler.workFor(inside);
        profiler.workFor(0);
        brick(BrickId.SAMPLING, 20, 21);
        profiler.workFor(before);
        stopAt(25, outer, 1);
        endLayerAt(30);

        ExecutionGraph graph = graph();
        assertThat(in(graph, graph.nodesByName("FusedAttention").get(0)))
                .containsExactly("AttentionScore", "AttentionSoftmax", "AttentionOutput");
        assertThat(in(graph, graph.nodesByName("Layer 1").get(0))).containsExactly("RmsNorm", "GateProjection");
        assertThat(in("GateProjection")).containsExactly("Activation");
        assertThat(roots(graph)).containsExactlyInAnyOrder("Layer 1", "Layer 0", "Sampling");
        assertThat(events(thread))
                .contains(
                        "AttentionSoftmax 14..15 x1 layer 0",
                        "GateProjection 16..18 x1 layer 1",
                        "Activation 17..18 x1 layer 1",
                        "AttentionOutput 18..19 x1 layer 0",
                        "Sampling 20..21 x1",
                        "FusedAttention 11..25 x1 layer 0");
    }

    /** Two passes share three workers; every task is for the layer that handed it out. */
    @Spec("3.10")
    @Test
    void passesThatShareWorkersDoNotMix() throws Exception {
        TraceRecorder trace = new TraceRecorder();
        BrickProfiler shared = BrickProfiler.builder().tracing(trace).build();
        shared.enable();
        shared.graph().enable();
        int layers = 40;
        int tasks = 6;
        ExecutorService pool = Executors.newFixedThreadPool(3);
        Crew passes = new Crew();
        for (int pass = 0; pass < 2; pass++) {
            int number = pass;
            passes.run(() -> {
                for (int layer = 0; layer < layers; layer++) {
                    int index = layer;
                    shared.startLayer();
                    long token = shared.layerToken();
                    List<Future<?>> parts = new ArrayList<>();
                    for (int task = 0; task < tasks; task++) {
                        parts.add(pool.submit(() -> {
                            long before = shared.workFor(token);
                            assertThat(shared.currentLayer()).isEqualTo(index);
                            shared.stopBrick(shared.startBrick("pass " + number + " layer " + index), 1);
                            shared.workFor(before);
                        }));
                    }
                    for (Future<?> part : parts) {
                        part.get();
                    }
                    shared.stopBrick(shared.startBrick("pass " + number), 1);
                    shared.endLayer();
                }
                shared.endPass();
            });
        }
        passes.join();
        pool.shutdown();

        ExecutionGraph graph = shared.graph().graph();
        int found = 0;
        for (int id = 0; id < graph.nodeCount(); id++) {
            if (graph.node(id) instanceof Layer layer) {
                List<String> children = in(graph, id);
                String pass = children.stream()
                        .filter(name -> name.length() == 6)
                        .findFirst()
                        .orElseThrow();
                assertThat(children).hasSize(tasks + 1);
                assertThat(children)
                        .filteredOn(name -> !name.equals(pass))
                        .containsOnly(pass + " layer " + layer.index());
                found++;
            }
        }
        assertThat(found).isEqualTo(2 * layers);
        Timeline timeline = trace.timeline();
        int spans = 0;
        for (int track = 0; track < timeline.tracks().size(); track++) {
            for (String event : Replay.of(timeline, track)) {
                if (event.matches("pass \\d layer .*")) {
                    String layer = event.replaceFirst("pass \\d layer (\\d+) .*", "$1");
                    assertThat(event).endsWith(" x1 layer " + layer);
                    spans++;
                }
            }
        }
        assertThat(spans).isEqualTo(2 * layers * tasks);
    }

    /** Virtual threads share lines: the layer of one of them is not that of the next one. */
    @Test
    void virtualThreadsWorkForTheirOwnLayers() throws Exception {
        VirtualThreadStarter starter = VirtualThreadStarter.orSkip();
        int layers = 30;
        List<Thread> threads = new ArrayList<>();
        CountDownLatch all = new CountDownLatch(layers);
        for (int layer = 0; layer < layers; layer++) {
            profiler.startLayer();
            long token = profiler.layerToken();
            profiler.record(BrickId.RMS_NORM, 0, 1);
            String name = "head " + layer;
            threads.add(starter.start(() -> {
                long before = profiler.workFor(token);
                all.countDown();
                try {
                    all.await();
                } catch (InterruptedException stopped) {
                    Thread.currentThread().interrupt();
                }
                for (int turn = 0; turn < 10; turn++) {
                    profiler.stopBrick(profiler.startBrick(name), 1);
                }
                profiler.workFor(before);
                profiler.stopBrick(profiler.startBrick("other"), 1);
            }));
            profiler.endLayer();
        }
        for (Thread virtual : threads) {
            virtual.join();
        }

        Timeline timeline = recorder.timeline();
        int heads = 0;
        for (int track = 0; track < timeline.tracks().size(); track++) {
            for (String event : Replay.of(timeline, track)) {
                if (event.startsWith("head")) {
                    assertThat(event).endsWith(" x1 layer " + event.replaceFirst("head (\\d+) .*", "$1"));
                    heads++;
                } else if (event.startsWith("other")) {
                    assertThat(event).endsWith(" x1");
                }
            }
        }
        assertThat(heads).isEqualTo(10L * layers);
    }

    @Test
    void aWorkerThatGivesNothingBackLosesNothing() throws Exception {
        int layers = 300;
        List<Long> tokens = new ArrayList<>();
        Crew.runOnNewThread(() -> {
            for (int layer = 0; layer < layers; layer++) {
                startLayerAt(10L * layer);
                long token = profiler.layerToken();
                brick(BrickId.RMS_NORM, 10L * layer + 1, 10L * layer + 2);
                endLayerAt(10L * layer + 5);
                tokens.add(token);
            }
        });
        for (int layer = 0; layer < layers; layer++) {
            profiler.workFor(tokens.get(layer));
            brick(BrickId.LM_HEAD, 10L * layer + 3, 10L * layer + 4);
        }

        ExecutionGraph graph = graph();
        for (int layer = 0; layer < layers; layer++) {
            assertThat(in(graph, graph.nodesByName("Layer " + layer).get(0))).containsExactly("RmsNorm", "LmHead");
        }
    }

    @Test
    void overwrittenEntriesDoNotChangeTheLayersOfOthers() {
        TraceRecorder small =
                TraceRecorder.builder().clock(clock).threadCapacity(4).build();
        BrickProfiler watched = profiler(small);
        for (int layer = 0; layer < 3; layer++) {
            watched.startLayer();
            clock.advance(1);
            watched.stopBrick(watched.startBrick(BrickId.RMS_NORM), 1);
            clock.advance(1);
            watched.endLayer();
        }
        assertThat(Replay.of(small.timeline(), 0)).last().asString().endsWith("layer 2");

        watched.startLayer();
        long layer = watched.layerToken();
        watched.endLayer();
        watched.workFor(layer);
        for (int i = 0; i < 10; i++) {
            watched.stopBrick(watched.startBrick(BrickId.LM_HEAD), 1);
            clock.advance(1);
        }
        watched.workFor(0);
        assertThat(Replay.of(small.timeline(), 0)).hasSize(3).allMatch(event -> event.endsWith("layer 3"));
    }

    @Spec("3.10")
    @Test
    void workingForALayerAllocatesNothing() throws Exception {
        BrickProfiler plain = BrickProfiler.enabled();
        plain.startLayer();
        long layer = plain.layerToken();
        long bytes = Crew.onNewThread(() -> {
            plain.workFor(plain.workFor(layer));
            return AllocatedBytes.fewest(
                    5, () -> AllocatedBytes.ofCalls(10_000, () -> plain.workFor(plain.workFor(layer))));
        });

        assertThat(bytes).isZero();
    }
}
