package org.brickprofiler.trace.read;

import org.eclipse.collections.impl.list.mutable.primitive.IntArrayList;
import org.eclipse.collections.impl.list.mutable.primitive.LongArrayList;
import org.eclipse.collections.impl.map.mutable.primitive.LongIntHashMap;

/**
 * The flows of a timeline that is read: two ends that bear the same identifier, in any order. Of an end, the span is
 * known when it comes, or only where and when it was. 48 bytes a flow. One thread.
 */
final class TimelineFlows {

    /** An end that did not come yet. */
    private static final int MISSING = -1;

    /** An end in the span around a moment of a row, which has to be sought. */
    static final int AROUND = -2;

    /** The same in the next span of the row. */
    static final int NEXT = -3;

    private final Losses losses;
    /** By the hash of their identifier; one that comes again, after both ends, is another flow. */
    private final LongIntHashMap numbers = new LongIntHashMap();

    private final Ends starts = new Ends();
    private final Ends ends = new Ends();

    /** One end of each flow. */
    private static final class Ends {
        private final IntArrayList events = new IntArrayList();
        private final IntArrayList rows = new IntArrayList();
        private final LongArrayList times = new LongArrayList();

        void addMissing() {
            events.add(MISSING);
            rows.add(0);
            times.add(0);
        }

        boolean isThere(int number) {
            return events.get(number) != MISSING;
        }

        void set(int number, int event, int row, long atNs) {
            events.set(number, event);
            rows.set(number, row);
            times.set(number, atNs);
        }
    }

    /** Finds spans by place. */
    interface Finder {
        /**
         * The innermost span of a row around a moment.
         *
         * @return its number; negative where there is none
         */
        int around(int row, long atNs);

        /**
         * The next span of a row that begins at a moment or after it.
         *
         * @return its number; negative where there is none
         */
        int next(int row, long atNs);
    }

    TimelineFlows(Losses losses) {
        this.losses = losses;
    }

    /**
     * A flow begins.
     *
     * @param id its identifier
     * @param event the span that it leaves, or {@link #AROUND}
     * @param row where
     * @param atNs when
     */
    void begin(String id, int event, int row, long atNs) {
        add(starts, id, event, row, atNs);
    }

    /** A flow ends, as above; it may also end in the {@link #NEXT} span. */
    void end(String id, int event, int row, long atNs) {
        add(ends, id, event, row, atNs);
    }

    private void add(Ends side, String id, int event, int row, long atNs) {
        long key = Names.hash(id);
        int number = numbers.getIfAbsent(key, MISSING);
        if (number == MISSING || (starts.isThere(number) && ends.isThere(number))) {
            number = starts.events.size();
            numbers.put(key, number);
            starts.addMissing();
            ends.addMissing();
        }
        if (side.isThere(number)) {
            losses.add(Loss.FURTHER_FLOW);
        } else {
            side.set(number, event, row, atNs);
        }
    }

    /**
     * Tells the spans of their flows, numbered from 1 on.
     *
     * @param events has all spans
     * @param finder finds those that were not known
     */
    void tie(EventColumns events, Finder finder) {
        long tied = 0;
        for (int number = 0; number < starts.events.size(); number++) {
            boolean hasBoth = starts.isThere(number) && ends.isThere(number);
            int from = hasBoth ? span(starts, number, events, finder) : MISSING;
            int to = hasBoth ? span(ends, number, events, finder) : MISSING;
            if (from < 0 || to < 0) {
                losses.add(Loss.LOOSE_FLOW);
            } else if (events.hasFlowOut(from) || events.hasFlowIn(to)) {
                losses.add(Loss.FURTHER_FLOW);
            } else {
                tied++;
                events.tie(from, to, tied);
            }
        }
    }

    private static int span(Ends side, int number, EventColumns events, Finder finder) {
        int event = side.events.get(number);
        if (event == AROUND) {
            event = finder.around(side.rows.get(number), side.times.get(number));
        } else if (event == NEXT) {
            event = finder.next(side.rows.get(number), side.times.get(number));
        }
        return event >= 0 && events.isSpan(event) ? event : MISSING;
    }
}
