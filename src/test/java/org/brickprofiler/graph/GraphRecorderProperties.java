package org.brickprofiler.graph;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.brickprofiler.graph.ExecutionGraph.Edge;
import org.brickprofiler.graph.ExecutionNode.Function;
import org.brickprofiler.testing.FakeClock;

/** The recorder finds the content of a step at the step's end; the model keeps an explicit stack. */
class GraphRecorderProperties {

    private static final int THREADS = 3;

    private enum Action {
        KERNEL,
        START,
        STOP,
        PUSH,
        POP,
        START_LAYER,
        END_LAYER,
        END_PASS
    }

    @Property(tries = 400)
    void theTreeIsThatOfAnExplicitStack(@ForAll @Size(max = 120) List<@IntRange(max = 8 * THREADS - 1) Integer> steps)
            throws Exception {
        FakeClock clock = new FakeClock(-500);
        GraphRecorder recorder = new GraphRecorder(clock);
        recorder.enable();
        Set<Edge> expected = new HashSet<>();
        List<Simulated> threads = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            threads.add(new Simulated(recorder, clock, expected));
        }
        for (int step : steps) {
            clock.advance(1);
            threads.get(step % THREADS).act(Action.values()[step / THREADS]);
        }
        ExecutionGraph graph = recorder.graph();
        for (Simulated thread : threads) {
            thread.finish();
        }

        Set<Edge> actual = new HashSet<>();
        for (int id = 0; id < graph.nodeCount(); id++) {
            actual.addAll(graph.outgoing(id));
        }
        assertThat(actual).isEqualTo(expected);
        assertThat(graph.edgeCount()).isEqualTo(expected.size());
    }

    /** An open region: a brick, a scope, or the outermost region. */
    private static final class Open {
        final boolean isBrick;
        final int scopeId;
        final long startNs;
        final List<Integer> children = new ArrayList<>();
        int layerStart;
        boolean layerBoundaryInside;

        /** Of a scope: the time of the boundary at which its current layer began. */
        long boundaryNs;

        /** Of a scope: whether that layer was announced and has not ended. */
        boolean layerOpen;

        /** Of a brick: whether a layer ended inside it. */
        boolean aroundLayer;

        Open(boolean isBrick, int scopeId, long startNs) {
            this.isBrick = isBrick;
            this.scopeId = scopeId;
            this.startNs = startNs;
        }
    }

    /** A thread, its open regions, and its top-level nodes of all passes. */
    private static final class Simulated {
        private final GraphRecorder recorder;
        private final FakeClock clock;
        private final Set<Edge> edges;
        private final ExecutorService executor = Executors.newSingleThreadExecutor(Simulated::daemon);
        private final List<Integer> roots = new ArrayList<>();
        private final Deque<Open> stack = new ArrayDeque<>();

        Simulated(GraphRecorder recorder, FakeClock clock, Set<Edge> edges) {
            this.recorder = recorder;
            this.clock = clock;
            this.edges = edges;
            stack.push(new Open(false, GraphRecorder.NONE, 0));
        }

        private static Thread daemon(Runnable body) {
            Thread thread = new Thread(body);
            thread.setDaemon(true);
            return thread;
        }

        private int on(Callable<Integer> body) throws Exception {
            return executor.submit(body).get();
        }

        void act(Action action) throws Exception {
            Open top = stack.element();
            switch (action) {
                case KERNEL -> top.children.add(on(() -> recorder.recordKernel("k", 1, Dim3.of(1), Dim3.of(1), 0)));
                case START -> stack.push(new Open(true, GraphRecorder.NONE, clock.now()));
                case STOP -> {
                    if (top.isBrick) {
                        stop(top);
                    }
                }
                case PUSH -> {
                    int id = on(() -> recorder.pushScope(new Function("f")));
                    top.children.add(id);
                    stack.push(new Open(false, id, 0));
                }
                case POP -> {
                    if (!top.isBrick && stack.size() > 1) {
                        assertThat(on(() -> recorder.popScope().orElseThrow())).isEqualTo(top.scopeId);
                        closeScope(stack.pop());
                    }
                }
                case START_LAYER -> {
                    on(() -> {
                        recorder.startLayer();
                        return 0;
                    });
                    beginLayer(top);
                    scope().boundaryNs = clock.now();
                    scope().layerOpen = true;
                }
                case END_LAYER -> {
                    if (!top.isBrick || top.layerBoundaryInside) {
                        endLayer(top);
                    }
                }
                case END_PASS -> {
                    if (stack.stream().noneMatch(open -> open.isBrick)) {
                        on(() -> {
                            recorder.endPass();
                            return 0;
                        });
                        if (stack.size() == 1 && top.layerOpen) {
                            closeOpenLayer(top);
                        }
                        closeAll();
                    }
                }
            }
        }

        private void stop(Open brick) throws Exception {
            stack.pop();
            int id = on(() -> recorder.brick("b", brick.startNs, clock.now(), 1));
            own(id, brick.children);
            Open around = stack.element();
            around.aroundLayer |= brick.aroundLayer;
            if (brick.layerBoundaryInside && isMostlyInLayer(brick)) {
                beginLayer(around);
                scope().boundaryNs = brick.startNs;
                around.children.add(id);
            } else {
                around.children.add(id);
                if (brick.layerBoundaryInside) {
                    beginLayer(around);
                    scope().boundaryNs = clock.now();
                }
            }
        }

        /** A brick around whole layers is in none. */
        private boolean isMostlyInLayer(Open brick) {
            long boundaryNs = scope().boundaryNs;
            return !brick.aroundLayer && clock.now() - boundaryNs > boundaryNs - brick.startNs;
        }

        private Open scope() {
            return stack.stream().filter(open -> !open.isBrick).findFirst().orElseThrow();
        }

        private void closeOpenLayer(Open outermost) {
            List<Integer> inLayer = outermost.children.subList(outermost.layerStart, outermost.children.size());
            if (!inLayer.isEmpty()) {
                int id = recorder.graph().nodeCount() - 1;
                own(id, inLayer);
                inLayer.clear();
                outermost.children.add(id);
            }
        }

        private static void beginLayer(Open open) {
            open.layerStart = open.children.size();
            open.layerBoundaryInside = true;
        }

        private void endLayer(Open open) throws Exception {
            List<Integer> inLayer = open.children.subList(open.layerStart, open.children.size());
            int id = on(recorder::endLayer);
            assertThat(id == GraphRecorder.NONE).isEqualTo(inLayer.isEmpty());
            if (!inLayer.isEmpty()) {
                own(id, inLayer);
                inLayer.clear();
                open.children.add(id);
            }
            beginLayer(open);
            open.aroundLayer |= open.isBrick;
            scope().boundaryNs = clock.now();
            scope().layerOpen = false;
        }

        private void closeScope(Open scope) {
            own(scope.scopeId, scope.children);
        }

        private void closeAll() {
            while (stack.size() > 1) {
                closeScope(stack.pop());
            }
            roots.addAll(stack.pop().children);
            stack.push(new Open(false, GraphRecorder.NONE, 0));
        }

        /** The content of bricks that have not ended belongs to the surrounding region. */
        void finish() {
            Deque<Open> outermostFirst = new ArrayDeque<>();
            stack.forEach(outermostFirst::push);
            stack.clear();
            for (Open open : outermostFirst) {
                if (open.isBrick) {
                    stack.element().children.addAll(open.children);
                } else {
                    stack.push(open);
                }
            }
            closeAll();
            sequence(roots);
            executor.shutdown();
        }

        private void own(int parent, List<Integer> children) {
            for (int child : children) {
                ExecutionNode node = recorder.graph().node(child);
                edges.add(new Edge(parent, child, EdgeType.ownershipOf(node), 1));
            }
            sequence(children);
        }

        private void sequence(List<Integer> ids) {
            for (int i = 1; i < ids.size(); i++) {
                edges.add(new Edge(ids.get(i - 1), ids.get(i), EdgeType.SEQUENCE, 1));
            }
        }
    }
}
