package org.brickprofiler.trace;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.IntUnaryOperator;
import org.brickprofiler.internal.record.LayerToken;
import org.brickprofiler.internal.record.SpanCopy;
import org.brickprofiler.internal.record.SpanKind;
import org.jspecify.annotations.Nullable;

/**
 * The layers and steps of one thread as spans, made from the boundaries between its bricks: a layer begins where it was
 * announced or, where it was not, with the first brick after the boundary before it; a step is what lies between the ends
 * of two forward passes. One thread.
 *
 * <p><b>Bricks across a boundary.</b> With {@code lap} a boundary lies within a brick nearly always. Such a brick belongs
 * to one side as a whole: to the layer, or the time outside of layers, in which it ran longest; of equals to the earlier
 * one. What lies around a whole layer is in none. The boundary is shown at the brick's beginning or end, so that all
 * spans nest on one track. Steps are treated alike, but that a step holds its layers as a whole. The graph follows the
 * same rule.
 */
final class LayerSpans {

    static final int NO_LAYER = -1;

    private static final long NONE = Long.MAX_VALUE;

    private final List<LayerSpan> spans = new ArrayList<>();

    /**
     * A layer or a step.
     *
     * @param layer the number of the layer; {@link #NO_LAYER} of a step
     * @param name the index of its name
     */
    record LayerSpan(long startNs, long endNs, int layer, int name) {}

    /**
     * Adds the layers and steps in a buffer.
     *
     * @param part a buffer of bricks, entries in the order in which they were written
     * @param layerName the name of a layer's number
     * @param stepName the name of a step
     */
    void add(TrackPart part, IntUnaryOperator layerName, int stepName) {
        Regions regions = new Regions();
        SpanCopy copy = part.copy();
        for (int entry = 0; entry < copy.size(); entry++) {
            regions.addBoundary(part, entry);
        }
        for (int entry = 0; entry < copy.size(); entry++) {
            if (copy.kind(entry) != SpanKind.DEFERRED && isOwnBrick(part, entry)) {
                regions.place(entry, copy.startNs(entry), copy.endNs(entry));
            }
        }
        for (Region layer : regions.layers) {
            addShown(layer, layerName.applyAsInt(layer.layer));
        }
        for (Region step : regions.steps) {
            addShown(step, stepName);
        }
    }

    /** What is still under way has no end to show, and what nothing happened in no beginning. */
    private void addShown(Region region, int name) {
        if (region.toNs != NONE && region.startNs != NONE) {
            spans.add(new LayerSpan(region.startNs, Math.max(region.startNs, region.toNs), region.layer, name));
        }
    }

    /** All of them by start; of two that start together the longer one, then the step, first. */
    List<LayerSpan> inOrder() {
        spans.sort(Comparator.comparingLong(LayerSpan::startNs)
                .thenComparing(Comparator.comparingLong(LayerSpan::endNs).reversed())
                .thenComparingInt(LayerSpan::layer));
        return List.copyOf(spans);
    }

    /** Whether an entry is a brick of the thread itself: what is done for another thread's layer is no part of its own. */
    private static boolean isOwnBrick(TrackPart part, int entry) {
        return switch (part.copy().kind(entry)) {
            case SPAN, ENQUEUED, DEFERRED -> part.layer(entry) == LayerToken.OWN_LAYER;
            default -> false;
        };
    }

    /** A layer or a step. Its boundaries move with the bricks that run over them. */
    private static final class Region {
        /** The entries of its boundaries: they say what came first at the same reading of the clock. */
        private final int fromEntry;

        private int toEntry = Integer.MAX_VALUE;

        private long fromNs;

        /** {@link #NONE} while it is under way. */
        private long toNs = NONE;

        /** Where it was announced, or its first brick began, wherever its boundary moved to; or none. */
        private long begunNs = NONE;

        /** Where it is shown to begin: at its boundary where that was announced, else with its first brick. */
        private long startNs = NONE;

        /**
         * Whether it follows a pass and was not announced: it is not known then where it begins, and what runs over the
         * end of the pass counts for it from the start.
         */
        private boolean isFirstOfPass;

        private int layer = NO_LAYER;

        /** The step of a layer. */
        private @Nullable Region step;

        Region(int entry, long fromNs) {
            this.fromEntry = entry;
            this.fromNs = fromNs;
        }

        void end(int entry, long ns) {
            toEntry = entry;
            toNs = ns;
        }

        void begin(long ns) {
            begunNs = Math.min(begunNs, ns);
            startNs = Math.min(startNs, ns);
        }

        /** Whether a span lies around the whole. Around a step without bricks, which is not shown, there is nothing to lie. */
        boolean isWithin(int spanEntry, long spanStartNs, long spanEndNs) {
            boolean beginsInside =
                    begunNs == NONE ? layer != NO_LAYER && !isFirstOfPass && spanStartNs < fromNs : spanStartNs <= begunNs;
            return beginsInside && toEntry < spanEntry && toNs <= spanEndNs;
        }

        void include(long spanStartNs, long spanEndNs) {
            begin(spanStartNs);
            fromNs = Math.min(fromNs, spanStartNs);
            toNs = Math.max(toNs, spanEndNs);
        }

        /** Ends where a span of another region begins, or begins where it ends; what lies inside it stays there. */
        void exclude(long spanStartNs, long spanEndNs) {
            long shownNs = startNs == NONE ? fromNs : startNs;
            if (shownNs < spanStartNs) {
                toNs = Math.min(toNs, spanStartNs);
            } else if (toNs > spanEndNs) {
                fromNs = Math.max(fromNs, spanEndNs);
                startNs = Math.max(startNs, spanEndNs);
            }
        }
    }

    /**
     * The layers and steps of one buffer, each in order. First come all boundaries, then all bricks: whether time after
     * a boundary belongs to a layer may be known at the next one only.
     */
    private static final class Regions {

        private final List<Region> layers = new ArrayList<>();
        private final List<Region> steps = new ArrayList<>();

        /** The step that is under way. */
        private Region step = new Region(-1, Long.MIN_VALUE);

        /** The layer that was announced and is under way. */
        private @Nullable Region announced;

        /** The number of that layer, or the next one's. */
        private int number;

        /** The last boundary, and whether it is the end of a pass. */
        private long boundaryNs = Long.MIN_VALUE;

        private boolean boundaryOfPass = true;

        /** The first deferred measurement since the last boundary, or none. */
        private long deferredNs = NONE;

        private long lastEndNs = Long.MIN_VALUE;

        Regions() {
            steps.add(step);
        }

        // ---- boundaries ----

        void addBoundary(TrackPart part, int entry) {
            SpanCopy copy = part.copy();
            long atNs = copy.startNs(entry);
            switch (copy.kind(entry)) {
                case LAYER_START -> startLayer(entry, atNs, (int) copy.value(entry));
                case LAYER_END -> endLayer(entry, atNs, (int) copy.value(entry));
                case PASS_END -> endPass(entry, atNs, copy.value(entry) != 0);
                default -> {
                    if (isOwnBrick(part, entry)) {
                        lastEndNs = Math.max(lastEndNs, copy.endNs(entry));
                        if (copy.kind(entry) == SpanKind.DEFERRED) {
                            addDeferred(atNs);
                        }
                    }
                }
            }
        }

        private void startLayer(int entry, long atNs, int layer) {
            if (announced != null || layer < number) {
                endPass(entry, atNs, true);
            }
            number = layer;
            announced = newLayer(entry, atNs);
            announced.begin(atNs);
            step.begin(atNs);
        }

        private Region newLayer(int entry, long fromNs) {
            Region added = new Region(entry, fromNs);
            added.step = step;
            layers.add(added);
            return added;
        }

        private void endLayer(int entry, long atNs, int layer) {
            if (layer < number) {
                endPass(entry, atNs, true);
            }
            Region ending = announced;
            if (ending == null) {
                ending = newLayer(entry, boundaryNs);
                ending.isFirstOfPass = boundaryOfPass;
                ending.begin(deferredNs);
            }
            end(ending, entry, atNs, layer);
            number = layer + 1;
        }

        private void end(Region ending, int entry, long atNs, int layer) {
            ending.layer = layer;
            ending.end(entry, atNs);
            announced = null;
            boundaryNs = atNs;
            boundaryOfPass = false;
            deferredNs = NONE;
        }

        /** A pass that broke off ended some time before: with its last brick. */
        private void endPass(int entry, long atNs, boolean brokeOff) {
            Region open = announced;
            long endNs = brokeOff ? Math.max(lastEndNs, open == null ? Long.MIN_VALUE : open.startNs) : atNs;
            if (open != null) {
                end(open, entry, endNs, number);
            }
            step.end(entry, endNs);
            step = new Region(entry, atNs);
            steps.add(step);
            number = 0;
            boundaryNs = atNs;
            boundaryOfPass = true;
            deferredNs = NONE;
        }

        /** Deferred measurements lie on a track of their own, and belong to what is under way when their end is known. */
        private void addDeferred(long startNs) {
            if (announced == null) {
                deferredNs = Math.min(deferredNs, startNs);
            } else {
                announced.begin(startNs);
            }
            step.begin(startNs);
        }

        // ---- bricks ----

        /** Puts a brick into a layer and a step, and moves the boundaries that it runs over. */
        void place(int entry, long startNs, long endNs) {
            Region layer = longest(layers, entry, startNs, endNs);
            move(layers, layer, entry, startNs, endNs);
            move(steps, layer == null ? longest(steps, entry, startNs, endNs) : layer.step, entry, startNs, endNs);
        }

        /** The region that a span ran longest in; null for the time between them, and for a span around a whole one. */
        private static @Nullable Region longest(List<Region> regions, int entry, long startNs, long endNs) {
            Region longest = null;
            long mostNs = 0;
            long betweenNs = startNs;
            for (int i = firstEndingAfter(regions, startNs); i < regions.size(); i++) {
                Region region = regions.get(i);
                if (region.fromNs <= startNs && endNs <= region.toNs) {
                    return region;
                }
                if (region.isWithin(entry, startNs, endNs)) {
                    return null;
                }
                long untilNs = Math.min(endNs, Math.max(startNs, region.fromNs));
                if (untilNs - betweenNs > mostNs) {
                    longest = null;
                    mostNs = untilNs - betweenNs;
                }
                if (region.fromNs >= endNs) {
                    return longest;
                }
                long sinceNs = region.isFirstOfPass && region.toNs < endNs ? startNs : Math.max(startNs, region.fromNs);
                long withinNs = Math.min(endNs, region.toNs) - sinceNs;
                if (withinNs > mostNs) {
                    longest = region;
                    mostNs = withinNs;
                }
                betweenNs = Math.min(endNs, region.toNs);
            }
            return endNs - betweenNs > mostNs ? null : longest;
        }

        private static void move(
                List<Region> regions, @Nullable Region holder, int entry, long startNs, long endNs) {
            for (int i = firstEndingAfter(regions, startNs); i < regions.size(); i++) {
                Region region = regions.get(i);
                if (region == holder) {
                    region.include(startNs, endNs);
                } else if (region.fromNs >= endNs) {
                    if (region.fromNs == endNs && region.fromEntry < entry) {
                        // It was there before this brick ended at the same reading: the next one does not lie around it.
                        region.begunNs = Math.min(region.begunNs, startNs);
                    }
                    return;
                } else {
                    region.exclude(startNs, endNs);
                }
            }
        }

        private static int firstEndingAfter(List<Region> regions, long ns) {
            int low = 0;
            int high = regions.size();
            while (low < high) {
                int middle = (low + high) >>> 1;
                if (regions.get(middle).toNs <= ns) {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            return low;
        }
    }
}
