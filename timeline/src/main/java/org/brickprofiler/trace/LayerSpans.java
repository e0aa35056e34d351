package org.brickprofiler.trace;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.function.IntUnaryOperator;
import org.brickprofiler.StepInfo;
import org.brickprofiler.internal.record.LayerBoundaries;
import org.brickprofiler.internal.record.LayerBoundaries.Side;
import org.brickprofiler.internal.record.LayerToken;
import org.brickprofiler.internal.record.SpanCopy;
import org.brickprofiler.internal.record.SpanKind;
import org.jspecify.annotations.Nullable;

/**
 * The layers and steps of one thread as spans, made from the boundaries between its bricks. A layer begins when it was
 * announced, otherwise with its first brick after the previous boundary. A step extends from the end of one forward
 * pass to the end of the next; an announced step begins at its announcement. One thread.
 *
 * <p>{@link LayerBoundaries} decides to which side a brick across a boundary belongs. The boundary is drawn at the
 * beginning or end of such a brick, so that all spans nest on one track. A step contains each of its layers as a whole.
 */
final class LayerSpans {

    static final int NO_LAYER = -1;

    private static final long NONE = Long.MAX_VALUE;

    /** The phases of steps, in the order of {@link StepInfo.Phase}. */
    private static final List<Span.StatedPhase> PHASES = Arrays.stream(StepInfo.Phase.values())
            .map(phase -> Span.StatedPhase.of(phase.displayName()))
            .toList();

    private final List<LayerSpan> spans = new ArrayList<>();

    /**
     * A layer or a step.
     *
     * @param layer the number of the layer; {@link #NO_LAYER} of a step
     * @param name the index of its name
     * @param elements the tokens of an announced step; -1 if they are unknown
     * @param phase the phase of an announced step
     */
    record LayerSpan(long startNs, long endNs, int layer, int name, long elements, Span.StatedPhase phase) {}

    /**
     * Adds the layers and steps in a buffer.
     *
     * @param part a buffer of bricks, entries in the order in which they were written
     * @param layerName maps the number of a layer to the index of its name
     * @param stepName the name of a step that was not announced
     * @param phaseNames the names of steps that were announced, by the number of their phase
     */
    void add(TrackPart part, IntUnaryOperator layerName, int stepName, int[] phaseNames) {
        Regions regions = new Regions();
        for (int entry = 0; entry < part.copy().size(); entry++) {
            regions.add(part, entry);
        }
        for (Region layer : regions.layers.ended) {
            addShown(layer, layerName.applyAsInt(layer.layer));
        }
        for (Region step : regions.steps.ended) {
            addShown(step, step.phase < 0 ? stepName : phaseNames[step.phase]);
        }
    }

    /** Adds the span of a region, unless nothing happened in it. */
    private void addShown(Region region, int name) {
        if (region.startNs != NONE) {
            spans.add(new LayerSpan(
                    region.startNs,
                    Math.max(region.startNs, region.endNs),
                    region.layer,
                    name,
                    region.tokens,
                    region.phase < 0 ? Span.StatedPhase.NONE : PHASES.get(region.phase)));
        }
    }

    /** Returns all spans by start. Of two that start together, the longer one comes first, then the step. */
    List<LayerSpan> inOrder() {
        spans.sort(Comparator.comparingLong(LayerSpan::startNs)
                .thenComparing(Comparator.comparingLong(LayerSpan::endNs).reversed())
                .thenComparingInt(LayerSpan::layer));
        return List.copyOf(spans);
    }

    /** A layer or a step, with the extent in which it is drawn. */
    private static final class Region {
        /** The announced beginning, otherwise the beginning of its first brick, or {@link #NONE}. */
        private long startNs = NONE;

        /** {@link #NONE} until the region ends. */
        private long endNs = NONE;

        private int layer = NO_LAYER;

        /** The phase of a step that was announced, and its tokens. */
        private int phase = -1;

        private long tokens = -1;

        /** The step of a layer. */
        private final @Nullable Region step;

        Region(@Nullable Region step) {
            this.step = step;
        }

        void begin(long ns) {
            startNs = Math.min(startNs, ns);
        }

        void include(long spanStartNs, long spanEndNs) {
            begin(spanStartNs);
            endNs = Math.max(endNs, spanEndNs);
        }

        /**
         * Cuts the region at a span of another region: it ends at the span's beginning, or begins at the span's end.
         */
        void exclude(long spanStartNs, long spanEndNs) {
            if (startNs < spanStartNs && endNs != NONE) {
                endNs = Math.min(endNs, spanStartNs);
            } else if (startNs != NONE && endNs > spanEndNs) {
                startNs = Math.max(startNs, spanEndNs);
            }
        }
    }

    /** The layers, or the steps, of one buffer. */
    private static final class Level {
        private final LayerBoundaries boundaries = new LayerBoundaries();

        /** In order. */
        private final List<Region> ended = new ArrayList<>();

        /** The current region, which may have no extent yet. */
        private Region open;

        Level(Region first) {
            open = first;
        }

        /** Ends the current region and begins the next. */
        void end(long atNs, Region next) {
            boundaries.endLayer(atNs);
            open.endNs = atNs;
            ended.add(open);
            open = next;
        }

        /** Returns the region of a side; null if the side belongs to none. */
        @Nullable
        Region region(Side side) {
            return switch (side) {
                case WITHIN, LAYER_NOW -> open;
                case LAYER_BEFORE -> ended.get(ended.size() - 1);
                case OUTSIDE -> null;
            };
        }

        /**
         * Records the side of a brick, extends the region that holds the brick, and cuts the other regions that it
         * overlaps.
         */
        void place(Side side, @Nullable Region holder, long startNs, long endNs) {
            boundaries.end(startNs, endNs, side);
            move(open, holder, startNs, endNs);
            for (int i = ended.size() - 1; i >= 0 && ended.get(i).endNs > startNs; i--) {
                move(ended.get(i), holder, startNs, endNs);
            }
        }

        private static void move(Region region, @Nullable Region holder, long startNs, long endNs) {
            if (region == holder) {
                region.include(startNs, endNs);
            } else {
                region.exclude(startNs, endNs);
            }
        }
    }

    /** The layers and steps of one buffer, whose entries are met in the order in which they were written. */
    private static final class Regions {
        private final Level steps = new Level(new Region(null));
        private final Level layers = new Level(new Region(steps.open));

        /** True if the current layer was announced. */
        private boolean announced;

        /** The number of the current layer, or of the next one. */
        private int number;

        private long lastEndNs = Long.MIN_VALUE;

        void add(TrackPart part, int entry) {
            SpanCopy copy = part.copy();
            long atNs = copy.startNs(entry);
            switch (copy.kind(entry)) {
                case LAYER_START -> startLayer(atNs, LayerToken.announced(copy.value(entry)));
                case LAYER_END -> endLayer(atNs, (int) copy.value(entry));
                case STEP_START -> startStep(atNs, copy.key(entry), copy.value(entry));
                case PASS_END -> endPass(atNs, copy.value(entry) != 0);
                case SPAN, ENQUEUED, DEFERRED -> {
                    // Work for another thread's layer is no part of this thread's layers.
                    if (part.layer(entry) == LayerToken.OWN_LAYER) {
                        lastEndNs = Math.max(lastEndNs, copy.endNs(entry));
                        if (copy.kind(entry) == SpanKind.DEFERRED) {
                            // The brick is on a separate track, and belongs to the layer that is open when its end
                            // becomes known.
                            layers.open.begin(atNs);
                            steps.open.begin(atNs);
                        } else {
                            brick(atNs, copy.endNs(entry));
                        }
                    }
                }
                default -> {
                    // Moments and counters are no part of a layer's extent.
                }
            }
        }

        /** Starts a step. Bricks since the end of the last step, such as sampling, belong to no step. */
        private void startStep(long atNs, int phase, long tokens) {
            if (announced || steps.open.phase >= 0) {
                endPass(atNs, true);
            }
            steps.boundaries.startLayer(atNs);
            steps.open = new Region(null);
            steps.open.begin(atNs);
            steps.open.phase = phase;
            steps.open.tokens = tokens;
            layers.open = new Region(steps.open);
        }

        /**
         * Starts a layer. A counted number that is lower than the last one begins another pass; a number that the
         * caller gave does not.
         */
        private void startLayer(long atNs, int announcement) {
            boolean given = announcement < 0;
            int layer = given ? ~announcement : announcement;
            if (announced || (!given && layer < number)) {
                endPass(atNs, true);
            }
            number = layer;
            announced = true;
            layers.boundaries.startLayer(atNs);
            layers.open = new Region(steps.open);
            layers.open.begin(atNs);
            steps.open.begin(atNs);
        }

        private void endLayer(long atNs, int layer) {
            if (layer < number) {
                endPass(atNs, true);
            }
            closeLayer(atNs, layer);
        }

        private void closeLayer(long atNs, int layer) {
            layers.open.layer = layer;
            layers.end(atNs, new Region(steps.open));
            announced = false;
            number = layer + 1;
        }

        /** Ends a pass. A pass that was abandoned ended earlier, with its last brick. */
        private void endPass(long atNs, boolean brokeOff) {
            long endNs = brokeOff ? Math.max(lastEndNs, announced ? layers.open.startNs : Long.MIN_VALUE) : atNs;
            if (announced) {
                closeLayer(endNs, number);
            }
            steps.end(endNs, new Region(null));
            steps.boundaries.endPass(atNs);
            layers.boundaries.endPass(atNs);
            layers.open = new Region(steps.open);
            number = 0;
        }

        private void brick(long startNs, long endNs) {
            Side side = layers.boundaries.side(startNs, endNs);
            Region layer = layers.region(side);
            Side sideOfStep = steps.boundaries.side(startNs, endNs);
            Region step = layer == null ? steps.region(sideOfStep) : layer.step;
            if (step != steps.region(sideOfStep)) {
                sideOfStep = step == steps.open ? Side.LAYER_NOW : Side.LAYER_BEFORE;
            }
            layers.place(side, layer, startNs, endNs);
            steps.place(sideOfStep, step, startNs, endNs);
        }
    }
}
