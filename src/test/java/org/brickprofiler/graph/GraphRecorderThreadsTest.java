package org.brickprofiler.graph;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.brickprofiler.graph.ExecutionNode.Brick;
import org.brickprofiler.graph.ExecutionNode.Function;
import org.brickprofiler.graph.ExecutionNode.Kernel;
import org.brickprofiler.graph.ExecutionNode.Layer;
import org.brickprofiler.spi.NanoClock;
import org.brickprofiler.testing.Crew;
import org.brickprofiler.testing.FakeClock;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.testing.VirtualThreadStarter;
import org.junit.jupiter.api.Test;

class GraphRecorderThreadsTest {

    private static final int THREADS = 4;

    private final GraphRecorder recorder = new GraphRecorder(NanoClock.SYSTEM);

    GraphRecorderThreadsTest() {
        recorder.enable();
    }

    /** One layer: a scope with a brick that launches two kernels. */
    private void recordLayer(String thread) {
        int scope = recorder.pushScope(new Function(thread));
        long start = NanoClock.SYSTEM.nanoTime();
        int first = recorder.recordKernel(thread, 1, Dim3.of(1), Dim3.of(1), 0);
        int second = recorder.recordKernel(thread, 2, Dim3.of(1), Dim3.of(1), 0);
        recorder.brick(thread, start, NanoClock.SYSTEM.nanoTime(), 1);
        recorder.addDependency(first, second);
        assertThat(recorder.popScope()).hasValue(scope);
        recorder.endLayer();
    }

    /**
     * Asserts that every finished part of a graph has the form of {@link #recordLayer}, and that no thread's is in
     * another's.
     */
    private static void assertWhole(ExecutionGraph graph) {
        for (int id = 0; id < graph.nodeCount(); id++) {
            ExecutionNode node = graph.node(id);
            List<Integer> children = graph.children(id);
            if (node instanceof Layer) {
                assertThat(children).hasSize(1);
                assertThat(graph.node(children.get(0))).isInstanceOf(Function.class);
            } else if (node instanceof Brick) {
                assertThat(children).hasSize(2);
                assertThat(children).allMatch(child -> graph.node(child) instanceof Kernel);
                assertThat(children).allMatch(child -> graph.node(child).name().equals(node.name()));
                assertThat(graph.parent(id)).isPresent();
            } else if (node instanceof Kernel) {
                assertThat(graph.parent(id)).isPresent();
            }
        }
    }

    @Spec("9.4")
    @Test
    void noNodeIsLostAndEachThreadsTreeIsItsOwn() throws Exception {
        int layers = 300;
        Crew crew = new Crew();
        for (int i = 0; i < THREADS; i++) {
            String name = "thread-" + i;
            crew.run(() -> {
                for (int layer = 0; layer < layers; layer++) {
                    recordLayer(name);
                }
                recorder.endPass();
            });
        }
        crew.join();

        ExecutionGraph graph = recorder.graph();
        assertThat(graph.nodeCount()).isEqualTo(THREADS * layers * 5);
        assertThat(graph.isScopeBalanced()).isTrue();
        assertWhole(graph);
        for (int i = 0; i < THREADS; i++) {
            assertThat(graph.nodesByName("thread-" + i)).hasSize(layers * 4);
        }
        assertThat(graph.nodesByName("Layer " + (layers - 1))).hasSize(THREADS);
        long links = count(graph, EdgeType.SEQUENCE);
        // One in each brick, and one between two layers of a thread.
        assertThat(links).isEqualTo(THREADS * (layers + layers - 1L));
        assertThat(count(graph, EdgeType.DEPENDS_ON)).isEqualTo((long) THREADS * layers);
    }

    private static long count(ExecutionGraph graph, EdgeType type) {
        long count = 0;
        for (int edge = 0; edge < graph.edgeCount(); edge++) {
            count += graph.edges().type(edge) == type ? 1 : 0;
        }
        return count;
    }

    @Spec("9.6")
    @Test
    void everyGraphTakenWhileOthersRecordIsWhole() throws Exception {
        AtomicBoolean done = new AtomicBoolean();
        Crew recorders = new Crew();
        for (int i = 0; i < 2; i++) {
            String name = "thread-" + i;
            recorders.run(() -> {
                for (int layer = 0; layer < 2_000; layer++) {
                    recordLayer(name);
                }
                recorder.endPass();
            });
        }
        List<Integer> sizes = new ArrayList<>();
        Crew reader = new Crew().run(() -> {
            while (!done.get()) {
                ExecutionGraph graph = recorder.graph();
                assertWhole(graph);
                sizes.add(graph.nodeCount());
            }
        });
        recorders.join();
        done.set(true);
        reader.join();

        assertThat(sizes).isSorted();
        assertThat(recorder.graph().nodeCount()).isEqualTo(2 * 2_000 * 5);
    }

    @Test
    void theBudgetIsObeyedByAllThreadsTogether() throws Exception {
        GraphRecorder small = new GraphRecorder(NanoClock.SYSTEM, 1_000);
        small.enable();
        Crew crew = new Crew();
        for (int i = 0; i < THREADS; i++) {
            crew.run(() -> {
                for (int n = 0; n < 1_000; n++) {
                    small.pushScope(new Function("f"));
                    small.popScope();
                }
                small.endPass();
            });
        }
        crew.join();

        ExecutionGraph graph = small.graph();
        assertThat(graph.nodeCount()).isEqualTo(1_000);
        assertThat(graph.droppedNodes()).isEqualTo(THREADS * 1_000L - 1_000);
        assertThat(graph.isScopeBalanced()).isTrue();
    }

    @Test
    void resetsFromAnotherThreadNeitherBreakATreeNorUnbalanceScopes() throws Exception {
        AtomicBoolean done = new AtomicBoolean();
        Crew crew = new Crew();
        for (int i = 0; i < 2; i++) {
            crew.run(() -> {
                while (!done.get()) {
                    recorder.pushScope(new Function("outer"));
                    recorder.pushScope(new Function("inner"));
                    recorder.recordBrick("b", 1, 1);
                    recorder.popScope();
                    recorder.popScope();
                }
            });
        }
        for (int i = 0; i < 2_000; i++) {
            recorder.reset();
            ExecutionGraph graph = recorder.graph();
            assertThat(graph.unmatchedPops()).isZero();
        }
        done.set(true);
        crew.join();

        assertThat(recorder.graph().isScopeBalanced()).isTrue();
    }

    @Spec("9.3")
    @Test
    void aBrickBelongsToTheThreadThatStopsIt() throws Exception {
        FakeClock clock = new FakeClock();
        GraphRecorder own = new GraphRecorder(clock);
        own.enable();
        int here = own.recordKernel("here", 1, Dim3.of(1), Dim3.of(1), 0);
        int there = Crew.onNewThread(() -> own.brick("there", 0, 5, 1));

        assertThat(own.graph().parent(here)).isEmpty();
        assertThat(own.graph().incoming(there)).isEmpty();
    }

    /** The common pool clears the thread-locals of its workers whenever they run out of work. */
    @Spec("9.4")
    @Test
    void theOrderOfEachThreadIsKeptOnTheCommonPool() {
        Set<Thread> threads = ConcurrentHashMap.newKeySet();
        for (int loop = 0; loop < 100; loop++) {
            IntStream.range(0, 64).parallel().forEach(part -> {
                threads.add(Thread.currentThread());
                long start = NanoClock.SYSTEM.nanoTime();
                recorder.brick("head", start, NanoClock.SYSTEM.nanoTime(), 1);
            });
        }

        ExecutionGraph graph = recorder.graph();
        assertThat(graph.nodeCount()).isEqualTo(6_400);
        assertThat(graph.nodeCount() - count(graph, EdgeType.SEQUENCE)).isEqualTo(threads.size());
    }

    @Test
    void virtualThreadsHaveTheirOwnScopes() throws Exception {
        VirtualThreadStarter starter = VirtualThreadStarter.orSkip();
        int count = 200;
        CountDownLatch opened = new CountDownLatch(count);
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            String name = "virtual-" + i;
            threads.add(starter.start(() -> {
                recorder.pushScope(new Function(name));
                opened.countDown();
                try {
                    opened.await();
                } catch (InterruptedException stopped) {
                    Thread.currentThread().interrupt();
                }
                recorder.recordBrick(name, 1, 1);
                recorder.popScope();
            }));
        }
        for (Thread thread : threads) {
            thread.join();
        }

        ExecutionGraph graph = recorder.graph();
        assertThat(graph.nodeCount()).isEqualTo(2 * count);
        assertThat(graph.isScopeBalanced()).isTrue();
        for (int i = 0; i < count; i++) {
            List<Integer> ids = graph.nodesByName("virtual-" + i);
            assertThat(graph.children(ids.get(0))).containsExactly(ids.get(1));
        }
    }
}
