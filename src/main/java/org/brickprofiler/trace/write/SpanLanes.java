package org.brickprofiler.trace.write;

import java.util.ArrayList;
import java.util.List;
import org.eclipse.collections.impl.list.mutable.primitive.LongArrayList;

/**
 * Puts the spans of one track on lanes, so that the spans of each lane nest. Spans arrive by start, the longer first
 * where two start together; a span goes on the first lane whose innermost open span it does not outlast. Nearly always
 * that is lane 0. Holds the ends of open spans only. One thread at a time.
 */
final class SpanLanes {

    /** Is told when a span ends. */
    interface Closer {
        void close(int lane, long endNs);
    }

    /** Of each lane the ends of its open spans, innermost last. */
    private final List<LongArrayList> lanes = new ArrayList<>();

    /** Ends what ends at or before a time, in order of the ends; of two that end together the innermost first. */
    void closeUpTo(long ns, Closer closer) {
        for (int lane = firstToEnd(); lane >= 0; lane = firstToEnd()) {
            LongArrayList ends = lanes.get(lane);
            long endNs = ends.getLast();
            if (endNs > ns) {
                return;
            }
            ends.removeAtIndex(ends.size() - 1);
            closer.close(lane, endNs);
        }
    }

    /** Ends everything. */
    void closeAll(Closer closer) {
        closeUpTo(Long.MAX_VALUE, closer);
    }

    /** Begins a span, once everything that ends by its start is closed; returns its lane. */
    int open(long endNs) {
        int lane = 0;
        while (lane < lanes.size() && outlasts(endNs, lanes.get(lane))) {
            lane++;
        }
        if (lane == lanes.size()) {
            lanes.add(new LongArrayList());
        }
        lanes.get(lane).add(endNs);
        return lane;
    }

    private static boolean outlasts(long endNs, LongArrayList ends) {
        return !ends.isEmpty() && ends.getLast() < endNs;
    }

    /** The lane whose innermost span ends first, the lower one of two; -1 where nothing is open. */
    private int firstToEnd() {
        int first = -1;
        long firstNs = 0;
        for (int lane = 0; lane < lanes.size(); lane++) {
            LongArrayList ends = lanes.get(lane);
            if (!ends.isEmpty() && (first < 0 || ends.getLast() < firstNs)) {
                first = lane;
                firstNs = ends.getLast();
            }
        }
        return first;
    }
}
