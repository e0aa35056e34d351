package org.brickprofiler.trace.write;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.brickprofiler.trace.Span;

/**
 * Puts the spans of one track on lanes, so that the spans of each lane nest. Spans arrive by start; of two that start
 * together, the longer one first. A span goes on the first lane whose innermost open span it does not outlast, which is
 * nearly always lane 0. Holds the ends and layers of open spans only. One thread at a time.
 */
final class SpanLanes {

    /** The layer of a span without a layer. */
    static final int NO_LAYER = -1;

    /** Called when a span ends. */
    interface Closer {
        void close(int lane, long endNs);
    }

    private final List<Lane> lanes = new ArrayList<>();

    /** The open spans of a lane, innermost last. */
    private static final class Lane {

        private static final int FIRST_DEPTH = 8;

        private int open;
        private long[] endsNs = new long[FIRST_DEPTH];
        private int[] layers = new int[FIRST_DEPTH];
        private Span.StatedPhase[] phases = new Span.StatedPhase[FIRST_DEPTH];
        /** The phase of the last sample around which no span was open. */
        private Span.StatedPhase lastPhase = Span.StatedPhase.NONE;

        void add(long endNs, int layer) {
            if (open == endsNs.length) {
                endsNs = Arrays.copyOf(endsNs, 2 * open);
                layers = Arrays.copyOf(layers, 2 * open);
                phases = Arrays.copyOf(phases, 2 * open);
            }
            endsNs[open] = endNs;
            layers[open] = layer;
            phases[open] = Span.StatedPhase.NONE;
            open++;
        }

        boolean isEmpty() {
            return open == 0;
        }

        /** Returns the end of the innermost span; one is open. */
        long endNs() {
            return endsNs[open - 1];
        }
    }

    /**
     * Ends the spans that end at or before a time, in the order of their ends; of two that end together, the innermost
     * first.
     */
    void closeUpTo(long ns, Closer closer) {
        for (int lane = firstToEnd(); lane >= 0; lane = firstToEnd()) {
            Lane open = lanes.get(lane);
            long endNs = open.endNs();
            if (endNs > ns) {
                return;
            }
            open.open--;
            closer.close(lane, endNs);
        }
    }

    /** Ends all open spans. */
    void closeAll(Closer closer) {
        closeUpTo(Long.MAX_VALUE, closer);
    }

    /** Begins a span without a layer. */
    int open(long endNs) {
        return open(endNs, NO_LAYER);
    }

    /** Begins a span and returns its lane. The spans that end by its start are closed already. */
    int open(long endNs, int layer) {
        int lane = 0;
        while (lane < lanes.size() && outlasts(endNs, lanes.get(lane))) {
            lane++;
        }
        if (lane == lanes.size()) {
            lanes.add(new Lane());
        }
        lanes.get(lane).add(endNs, layer);
        return lane;
    }

    /** Returns the layer of the span around the innermost one of a lane. */
    int layerAround(int lane) {
        Lane of = lanes.get(lane);
        return of.open < 2 ? NO_LAYER : of.layers[of.open - 2];
    }

    /**
     * Sets the phase of the innermost span of a lane. A span without a phase inherits that of the span around it,
     * unless it is a sample.
     *
     * @param isSample whether the span is a sample
     * @return the phase that a reader assumes for it: that of the span around it, or else of the last sample of the
     *     lane around which no span was open
     */
    Span.StatedPhase phase(int lane, Span.StatedPhase phase, boolean isSample) {
        Lane of = lanes.get(lane);
        int innermost = of.open - 1;
        Span.StatedPhase around = innermost > 0 ? of.phases[innermost - 1] : Span.StatedPhase.NONE;
        of.phases[innermost] = isSample || phase != Span.StatedPhase.NONE ? phase : around;
        if (innermost > 0 || !isSample) {
            return around;
        }
        Span.StatedPhase last = of.lastPhase;
        of.lastPhase = phase;
        return last;
    }

    private static boolean outlasts(long endNs, Lane lane) {
        return !lane.isEmpty() && lane.endNs() < endNs;
    }

    /** Returns the lane whose innermost span ends first, the lower one of two; -1 if no span is open. */
    private int firstToEnd() {
        int first = -1;
        long firstNs = 0;
        for (int lane = 0; lane < lanes.size(); lane++) {
            Lane each = lanes.get(lane);
            if (!each.isEmpty() && (first < 0 || each.endNs() < firstNs)) {
                first = lane;
                firstNs = each.endNs();
            }
        }
        return first;
    }
}
