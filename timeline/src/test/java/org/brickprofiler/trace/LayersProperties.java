package org.brickprofiler.trace;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.graph.ExecutionGraph;
import org.brickprofiler.graph.ExecutionNode.Layer;
import org.brickprofiler.testing.FakeClock;
import org.brickprofiler.testing.Spec;

/** Bricks that follow each other by {@code lap}, with any boundaries inside them. */
final class LayersProperties {

    /** A brick as it was timed. */
    private record Timed(String name, long startNs, long endNs) {}

    /** A layer as it was announced, or the time outside of layers. */
    private record Region(int layer, long startNs, long endNs) {
        long shared(Timed brick) {
            return Math.max(0, Math.min(endNs, brick.endNs()) - Math.max(startNs, brick.startNs()));
        }

        boolean holdsStart(Timed brick) {
            return startNs <= brick.startNs() && brick.startNs() < endNs;
        }
    }

    /**
     * Each number modulo 3 is an action. Its quotient determines the time before the action, which is at least 1 ns so
     * that no two readings of the clock are equal.
     */
    @Spec("3.9")
    @Property(tries = 2_000)
    void eachBrickIsInTheLayerInWhichItRanLongestInTimelineAndGraph(
            @ForAll @Size(min = 3, max = 60) List<@IntRange(max = 59) Integer> steps) {
        new Scenario().run(steps);
    }

    /** If the beginning of a layer is not announced, timeline and graph infer it, and must infer the same. */
    @Spec("3.9")
    @Property(tries = 2_000)
    void layersThatWereNotAnnouncedAreTheSameInTimelineAndGraph(
            @ForAll @Size(min = 3, max = 60) List<@IntRange(max = 99) Integer> steps) {
        new Scenario().compare(steps);
    }

    /** The second brick ends the first pass at its end; the third begins there, with a pass that is over at once. */
    @Example
    void aBrickThatBeginsAtTheMovedBeginOfAStepIsNotAroundThatStep() {
        new Scenario().run(List.of(0, 5, 1, 0, 1, 2, 1, 2, 2, 0, 0));
    }

    /** One thread and its events. */
    private static final class Scenario {
        private final FakeClock clock = new FakeClock(1_000);
        private final TraceRecorder trace = TraceRecorder.builder().clock(clock).build();
        private final BrickProfiler profiler =
                BrickProfiler.builder().clock(clock).tracing(trace).build();
        private final List<Timed> bricks = new ArrayList<>();
        private final List<Region> regions = new ArrayList<>();

        private long regionStartNs = 1_000;
        private int layer = -1;
        private long brickStartNs = 1_000;

        void run(List<Integer> steps) {
            profiler.enable();
            profiler.graph().enable();
            long timer = profiler.startBrick("b0");
            int next = 0;
            for (int step : steps) {
                clock.advance(1 + step / 3 * 2L);
                switch (step % 3) {
                    case 0 -> {
                        timer = profiler.lap(timer, 1, profiler.brickKey("b" + (bricks.size() + 1)));
                        ended();
                    }
                    case 1 -> {
                        if (layer < 0) {
                            profiler.startLayer();
                            boundary(next);
                        } else {
                            profiler.endLayer();
                            boundary(-1);
                            next++;
                        }
                    }
                    default -> {
                        if (layer < 0) {
                            profiler.endPass();
                            next = 0;
                        }
                    }
                }
            }
            clock.advance(1);
            profiler.stopBrick(timer, 1);
            ended();
            if (layer >= 0) {
                clock.advance(1);
                profiler.endLayer();
            }
            boundary(-1);

            Map<String, Integer> expected = new HashMap<>();
            bricks.forEach(brick -> expected.put(brick.name(), layerOf(brick)));
            assertThat(inTimeline()).isEqualTo(expected);
            assertThat(inGraph()).isEqualTo(expected);
        }

        /** Each number modulo 5 is an action. Its quotient determines the time before the action. */
        void compare(List<Integer> steps) {
            profiler.enable();
            profiler.graph().enable();
            long timer = next();
            for (int step : steps) {
                clock.advance(1 + step / 5 * 2L);
                switch (step % 5) {
                    case 0 -> {
                        timer = profiler.lap(timer, 1, profiler.brickKey("b" + (bricks.size() + 1)));
                        ended();
                    }
                    case 1 -> {
                        profiler.stopBrick(timer, 1);
                        ended();
                        clock.advance(1 + step / 5);
                        timer = next();
                    }
                    case 2 -> {
                        if (layer < 0) {
                            profiler.startLayer();
                            layer = 0;
                        }
                    }
                    case 3 -> {
                        profiler.endLayer();
                        layer = -1;
                    }
                    default -> {
                        profiler.endPass();
                        layer = -1;
                    }
                }
            }
            clock.advance(1);
            profiler.stopBrick(timer, 1);
            ended();
            clock.advance(1);
            profiler.endLayer();
            assertThat(inTimeline()).isEqualTo(inGraph());
        }

        private long next() {
            brickStartNs = clock.now();
            return profiler.startBrick("b" + bricks.size());
        }

        private void ended() {
            bricks.add(new Timed("b" + bricks.size(), brickStartNs, clock.now()));
            brickStartNs = clock.now();
        }

        private void boundary(int newLayer) {
            regions.add(new Region(layer, regionStartNs, clock.now()));
            regionStartNs = clock.now();
            layer = newLayer;
        }

        /**
         * Returns the layer of a brick: none if the brick is around whole layers, otherwise the one in which it ran
         * longest. Of equal times, the one in which the brick begins counts.
         */
        private int layerOf(Timed brick) {
            boolean around = regions.stream()
                    .anyMatch(region -> region.layer() >= 0
                            && brick.startNs() <= region.startNs()
                            && region.endNs() <= brick.endNs());
            Region best = regions.stream()
                    .filter(region -> region.shared(brick) > 0)
                    .max((one, other) -> one.shared(brick) != other.shared(brick)
                            ? Long.compare(one.shared(brick), other.shared(brick))
                            : Boolean.compare(one.holdsStart(brick), other.holdsStart(brick)))
                    .orElseThrow();
            return around ? -1 : best.layer();
        }

        /** Asserts that all spans nest on the only track, and returns the layer of each brick. */
        private Map<String, Integer> inTimeline() {
            Timeline timeline = trace.timeline();
            Map<String, Integer> layers = new HashMap<>();
            Deque<Long> open = new ArrayDeque<>();
            timeline.replay(0, new TimelineVisitor() {
                @Override
                public void span(Span span) {
                    while (!open.isEmpty() && open.element() <= span.startNs()) {
                        open.pop();
                    }
                    assertThat(open.isEmpty() || span.endNs() <= open.element())
                            .as("%s nests", Replay.of(timeline, 0))
                            .isTrue();
                    open.push(span.endNs());
                    if (span.elements() == 1) {
                        layers.put(timeline.names().get(span.name()).name(), span.layer());
                    }
                }

                @Override
                public void instant(long atNs, int name) {}

                @Override
                public void counter(long atNs, double value) {}
            });
            return layers;
        }

        private Map<String, Integer> inGraph() {
            ExecutionGraph graph = profiler.graph().graph();
            Map<String, Integer> layers = new HashMap<>();
            for (int i = 0; i < bricks.size(); i++) {
                int id = graph.nodesByName("b" + i).get(0);
                boolean inLayer = graph.parent(id).isPresent()
                        && graph.node(graph.parent(id).getAsInt()) instanceof Layer;
                layers.put(
                        "b" + i, inLayer ? ((Layer) graph.node(graph.parent(id).getAsInt())).index() : -1);
            }
            return layers;
        }
    }
}
