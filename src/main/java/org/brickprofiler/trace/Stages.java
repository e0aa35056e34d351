package org.brickprofiler.trace;

import java.util.function.IntUnaryOperator;
import java.util.stream.IntStream;
import org.brickprofiler.io.MergeSort;
import org.brickprofiler.record.SpanCopy;
import org.eclipse.collections.api.list.primitive.MutableIntList;
import org.eclipse.collections.api.list.primitive.MutableLongList;
import org.eclipse.collections.impl.factory.primitive.IntLists;
import org.eclipse.collections.impl.factory.primitive.LongLists;

/**
 * The layers and steps of one thread, made from the boundaries between its spans: a layer begins where it was said to
 * begin or, where nothing was said, with the first span after the boundary before it; a step is what lies between the
 * ends of two forward passes. One thread fills it; afterwards it does not change.
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
     * @param copy a buffer of bricks, entries in the order in which they were written
     * @param layerName the name of a layer's number
     * @param stepName the name of a step
     */
    void add(SpanCopy copy, IntUnaryOperator layerName, int stepName) {
        long firstOfLayer = NONE;
        long firstOfStep = NONE;
        int layer = 0;
        for (int entry = 0; entry < copy.size(); entry++) {
            long at = copy.startNs(entry);
            switch (copy.kind(entry)) {
                case SPAN, ENQUEUED, DEFERRED -> {
                    firstOfLayer = Math.min(firstOfLayer, at);
                    firstOfStep = Math.min(firstOfStep, at);
                }
                case LAYER_START -> {
                    firstOfLayer = at;
                    firstOfStep = Math.min(firstOfStep, at);
                }
                case LAYER_END -> {
                    if (firstOfLayer != NONE) {
                        add(firstOfLayer, at, layer, layerName.applyAsInt(layer));
                    }
                    layer++;
                    firstOfLayer = NONE;
                }
                case PASS_END -> {
                    if (firstOfStep != NONE) {
                        add(firstOfStep, at, NO_LAYER, stepName);
                    }
                    firstOfLayer = NONE;
                    firstOfStep = NONE;
                    layer = 0;
                }
                default -> {
                    // Moments and counters are no part of a layer's extent.
                }
            }
        }
    }

    private void add(long startNs, long endNs, int layer, int name) {
        starts.add(startNs);
        ends.add(Math.max(startNs, endNs));
        layers.add(layer);
        names.add(name);
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
