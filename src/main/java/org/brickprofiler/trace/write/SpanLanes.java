package org.brickprofiler.trace.write;

import java.util.ArrayList;
import java.util.List;
import org.eclipse.collections.impl.list.mutable.primitive.IntArrayList;
import org.eclipse.collections.impl.list.mutable.primitive.LongArrayList;

/**
 * Puts the spans of one track on lanes, so that the spans of each lane nest. Spans arrive by start, the longer first
 * where two start together; a span goes on the first lane whose innermost open span it does not outlast. Nearly always
 * that is lane 0. Holds the ends and layers of open spans only. One thread at a time.
 */
final class SpanLanes {

    /** The layer of a span that belongs to none. */
    static final int NO_LAYER = -1;

    /** Called when a span ends. */
    interface Closer {
        void close(int lane, long endNs);
    }

    private final List<Lane> lanes = new ArrayList<>();

    /** The open spans of a lane, innermost last. */
    private static final class Lane {
        private final LongArrayList ends = new LongArrayList();
        private final IntArrayList layers = new IntArrayList();

        void add(long endNs, int layer) {
            ends.add(endNs);
            layers.add(layer);
        }

        void removeInnermost() {
            ends.removeAtIndex(ends.size() - 1);
            layers.removeAtIndex(layers.size() - 1);
        }
    }

    /** Ends what ends at or before a time, in order of the ends; of two that end together the innermost first. */
    void closeUpTo(long ns, Closer closer) {
        for (int lane = firstToEnd(); lane >= 0; lane = firstToEnd()) {
            Lane open = lanes.get(lane);
            long endNs = open.ends.getLast();
            if (endNs > ns) {
                return;
            }
            open.removeInnermost();
            closer.close(lane, endNs);
        }
    }

    /** Ends everything. */
    void closeAll(Closer closer) {
        closeUpTo(Long.MAX_VALUE, closer);
    }

    /** Begins a span of no layer, as below. */
    int open(long endNs) {
        return open(endNs, NO_LAYER);
    }

    /** Begins a span, once everything that ends by its start is closed; returns its lane. */
    int open(long endNs, int layer) {
        int lane = 0;
        while (lane < lanes.size() && outlasts(endNs, lanes.get(lane).ends)) {
            lane++;
        }
        if (lane == lanes.size()) {
            lanes.add(new Lane());
        }
        lanes.get(lane).add(endNs, layer);
        return lane;
    }

    /** The layer of the span around the innermost one of a lane. */
    int layerAround(int lane) {
        IntArrayList layers = lanes.get(lane).layers;
        return layers.size() < 2 ? NO_LAYER : layers.get(layers.size() - 2);
    }

    private static boolean outlasts(long endNs, LongArrayList ends) {
        return !ends.isEmpty() && ends.getLast() < endNs;
    }

    /** The lane whose innermost span ends first, the lower one of two; -1 where nothing is open. */
    private int firstToEnd() {
        int first = -1;
        long firstNs = 0;
        for (int lane = 0; lane < lanes.size(); lane++) {
            LongArrayList ends = lanes.get(lane).ends;
            if (!ends.isEmpty() && (first < 0 || ends.getLast() < firstNs)) {
                first = lane;
                firstNs = ends.getLast();
            }
        }
        return first;
    }
}
