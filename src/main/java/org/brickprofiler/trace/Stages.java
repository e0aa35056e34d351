package org.brickprofiler.trace;

import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;
import org.brickprofiler.io.MergeSort;
import org.brickprofiler.record.LayerToken;
import org.brickprofiler.record.SpanCopy;
import org.brickprofiler.record.SpanKind;
import org.eclipse.collections.api.list.primitive.MutableIntList;
import org.eclipse.collections.api.list.primitive.MutableLongList;
import org.eclipse.collections.impl.factory.primitive.IntLists;
import org.eclipse.collections.impl.factory.primitive.LongLists;

/**
 * The layers and steps of one thread, made from the boundaries between its spans: a layer begins where it was said to
 * begin or, where nothing was said, with the first span after the boundary before it; a step is what lies between the
 * ends of two forward passes. One thread fills it; afterwards it does not change.
 *
 * <p><b>Spans across a boundary.</b> With {@code lap} a boundary lies within a span nearly always. Such a span belongs to
 * one side as a whole: to the layer, or the time outside of layers, in which it ran longest; of equals to that in which
 * it began. The boundary is shown at the span's beginning or end, so that all of them nest on one line. Steps are treated
 * alike. The graph follows the same rule.
 */
final class Stages {

    static final int NO_LAYER = -1;

    private static final long NONE = Long.MAX_VALUE;

    private final MutableLongList starts = LongLists.mutable.empty();
    private final MutableLongList ends = LongLists.mutable.empty();
    private final MutableIntList layers = IntLists.mutable.empty();
    private final MutableIntList names = IntLists.mutable.empty();
    private int[] order = {};

    /**
     * Adds what a buffer tells.
     *
     * @param part a buffer of bricks, entries in the order in which they were written
     * @param layerName the name of a layer's number
     * @param stepName the name of a step
     */
    void add(TrackPart part, IntUnaryOperator layerName, int stepName) {
        Boundaries boundaries = new Boundaries(layerName, stepName);
        SpanCopy copy = part.copy();
        for (int entry = 0; entry < copy.size(); entry++) {
            long at = copy.startNs(entry);
            switch (copy.kind(entry)) {
                case SPAN, ENQUEUED, DEFERRED -> {
                    // What is done for another thread's layer is no part of this one's.
                    if (part.layer(entry) == LayerToken.OWN_LAYER) {
                        boundaries.span(at, copy.endNs(entry), copy.kind(entry) != SpanKind.DEFERRED);
                    }
                }
                case LAYER_START -> boundaries.startLayer(at, (int) copy.value(entry));
                case LAYER_END -> boundaries.endLayer(at, (int) copy.value(entry));
                case PASS_END -> boundaries.endPass(at, copy.value(entry) != 0);
                default -> {
                    // Moments and counters are no part of a layer's extent.
                }
            }
        }
    }

    private int add(long startNs, long endNs, int layer, int name) {
        starts.add(startNs);
        ends.add(Math.max(startNs, endNs));
        layers.add(layer);
        names.add(name);
        return starts.size() - 1;
    }

    /** What a span belongs to. */
    private enum Side {
        /** The layer that ended last. */
        LAYER_BEFORE,
        /** The layer that is under way, if there is one. */
        LAYER_NOW,
        /** Neither. */
        OUTSIDE
    }

    /** What lies between the boundaries of one buffer, which are met in the order in which they were written. */
    private final class Boundaries {
        private final IntUnaryOperator layerName;
        private final int stepName;

        /** Where the layer begins that is under way, as it was said, or else where its first span does; or none. */
        private long layerStart = NONE;

        private boolean layerAnnounced;
        private int layer;

        /** Where the pass begins that is under way, or none. */
        private long stepStart = NONE;

        private long lastEnd = Long.MIN_VALUE;

        /** The last boundary: what runs over it may belong to either side. */
        private long boundary = NONE;

        /** Whether that boundary is the end of a pass: it is not known then where the next layer begins. */
        private boolean boundaryOfPass = true;

        /** The layer that ended last: its stage, none where it has no extent yet, and where it lies. */
        private int closed = -1;

        private int closedLayer = NO_LAYER;
        private long closedStart;

        /** Whether the boundary where it begins, or that of the layer now, was put at the end of a span. */
        private boolean closedAfterSpan;

        private boolean boundaryAfterSpan;
        private long closedEnd;

        /** The stages of the layers that have ended, and those of the steps. */
        private final MutableIntList closedLayers = IntLists.mutable.empty();

        private final MutableIntList closedSteps = IntLists.mutable.empty();

        Boundaries(IntUnaryOperator layerName, int stepName) {
            this.layerName = layerName;
            this.stepName = stepName;
        }

        void startLayer(long at, int number) {
            if (layerAnnounced || number < layer) {
                endPass(at, true);
            }
            layer = number;
            layerStart = at;
            layerAnnounced = true;
            boundaryAfterSpan = false;
            boundary = at;
            boundaryOfPass = false;
            stepStart = Math.min(stepStart, at);
        }

        void endLayer(long at, int number) {
            if (number < layer) {
                endPass(at, true);
            }
            layer = number;
            closeLayer(at);
            layer = number + 1;
        }

        private void closeLayer(long at) {
            closedLayer = layer;
            closedStart = layerStart != NONE ? layerStart : boundaryOfPass ? Long.MIN_VALUE : boundary;
            closedEnd = at;
            closedAfterSpan = boundaryAfterSpan;
            boundaryAfterSpan = false;
            closed = layerStart == NONE ? -1 : addClosed(layerStart, at);
            layerStart = NONE;
            layerAnnounced = false;
            boundary = at;
            boundaryOfPass = false;
        }

        private int addClosed(long start, long end) {
            int added = Stages.this.add(start, end, closedLayer, layerName.applyAsInt(closedLayer));
            closedLayers.add(added);
            return added;
        }

        /** An abandoned pass ended some time before: with its last span. */
        void endPass(long at, boolean abandoned) {
            long end = abandoned ? Math.max(lastEnd, layerAnnounced ? layerStart : Long.MIN_VALUE) : at;
            if (layerAnnounced) {
                closeLayer(end);
            }
            if (stepStart != NONE) {
                closedSteps.add(Stages.this.add(stepStart, end, NO_LAYER, stepName));
            }
            layerStart = NONE;
            stepStart = NONE;
            layer = 0;
            boundaryAfterSpan = false;
            boundary = at;
            boundaryOfPass = true;
        }

        /**
         * A span has ended.
         *
         * @param fixed whether it lies on the line of its thread
         */
        void span(long start, long end, boolean fixed) {
            lastEnd = Math.max(lastEnd, end);
            if (!fixed) {
                layerStart = Math.min(layerStart, start);
                stepStart = Math.min(stepStart, start);
                return;
            }
            Side side = side(start, end);
            if (side == Side.LAYER_NOW) {
                layerStart = Math.min(layerStart, start);
            }
            endBefore(closedLayers, start, end);
            if (!isInStepBefore(start, end, side)) {
                stepStart = Math.min(stepStart, start);
            }
            endBefore(closedSteps, start, end);
        }

        private long lastEnd(MutableIntList stages) {
            return stages.isEmpty() ? Long.MIN_VALUE : ends.get(stages.getLast());
        }

        private boolean isInStepBefore(long start, long end, Side side) {
            if (start >= lastEnd(closedSteps)) {
                return false;
            }
            int step = closedSteps.getLast();
            if (side != Side.LAYER_NOW && start <= starts.get(step)) {
                // Around a whole step: part of none.
                stepStart = stepStart == NONE ? NONE : Math.max(stepStart, end);
                return true;
            }
            boolean longerBefore = ends.get(step) - start >= end - ends.get(step);
            // A step holds its layers as a whole.
            boolean mostlyBefore = side == Side.LAYER_BEFORE || (side == Side.OUTSIDE && longerBefore);
            if (mostlyBefore) {
                ends.set(step, Math.max(ends.get(step), end));
                stepStart = stepStart == NONE ? NONE : Math.max(stepStart, end);
            } else {
                ends.set(step, Math.max(starts.get(step), start));
            }
            return mostlyBefore;
        }

        /** Ends a stage that a span runs out of where the span begins. */
        private void endBefore(MutableIntList stages, long start, long end) {
            for (int i = stages.size() - 1; i >= 0 && ends.get(stages.get(i)) > start; i--) {
                int stage = stages.get(i);
                if (starts.get(stage) < start && ends.get(stage) < end) {
                    ends.set(stage, start);
                }
            }
        }

        /** Where a span belongs; moves the boundaries that it lies on. */
        private Side side(long start, long end) {
            if (boundary == NONE || start >= boundary) {
                return Side.LAYER_NOW;
            }
            boolean inClosed = closedLayer != NO_LAYER && isInClosed(start, end);
            long now = Math.max(0, end - boundary);
            long before = inClosed ? closedEnd - start : 0;
            long outside = Math.max(0, boundary - (inClosed ? closedEnd : start));
            // After a pass there may be no layer yet.
            if (inClosed && before >= (boundaryOfPass ? now + outside : Math.max(now, outside))) {
                extendClosed(start, end);
                moveStart(end);
                return Side.LAYER_BEFORE;
            }
            boolean aroundClosed = !inClosed && closedLayer != NO_LAYER && start <= closedStart;
            boolean inNow = now > outside && !aroundClosed;
            if (inClosed) {
                endClosed(start);
            }
            if (inNow) {
                boundary = start;
                layerStart = layerAnnounced ? start : layerStart;
            } else {
                moveStart(end);
            }
            return inNow ? Side.LAYER_NOW : Side.OUTSIDE;
        }

        private boolean isInClosed(long start, long end) {
            // At the same reading a span lies around the layer, unless there is nothing for it to lie around.
            boolean equal = start == closedStart && (closed < 0 || closedAfterSpan || end <= closedEnd);
            return start < closedEnd && (start > closedStart || equal);
        }

        /** What is under way begins after a span. */
        private void moveStart(long end) {
            if (end >= boundary) {
                boundary = end;
                boundaryAfterSpan = true;
                layerStart = layerAnnounced ? end : layerStart;
            }
        }

        private void extendClosed(long start, long end) {
            closedEnd = Math.max(closedEnd, end);
            if (closed < 0) {
                closedStart = Math.max(start, closedStart);
                closed = addClosed(closedStart, closedEnd);
            }
            ends.set(closed, closedEnd);
        }

        private void endClosed(long at) {
            closedEnd = Math.min(closedEnd, at);
            if (closed >= 0) {
                ends.set(closed, Math.max(starts.get(closed), closedEnd));
            }
        }
    }

    /** Puts them in order of their starts; of two that start together the longer one, then the step, first. */
    void sort() {
        order = IntStream.range(0, starts.size()).toArray();
        MergeSort.sort(order, (a, b) -> {
            int byStart = Long.compare(starts.get(a), starts.get(b));
            int byEnd = Long.compare(ends.get(b), ends.get(a));
            return byStart != 0 ? byStart : byEnd != 0 ? byEnd : Integer.compare(layers.get(a), layers.get(b));
        });
    }

    int size() {
        return order.length;
    }

    long startNs(int place) {
        return starts.get(order[place]);
    }

    long endNs(int place) {
        return ends.get(order[place]);
    }

    int layer(int place) {
        return layers.get(order[place]);
    }

    int name(int place) {
        return names.get(order[place]);
    }
}
