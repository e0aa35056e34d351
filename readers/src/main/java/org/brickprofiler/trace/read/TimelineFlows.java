package org.brickprofiler.trace.read;

import java.io.Closeable;
import java.io.IOException;
import java.util.BitSet;
import java.util.Objects;
import org.brickprofiler.trace.Span;
import org.brickprofiler.trace.read.EventCollector.Slice;
import org.brickprofiler.trace.read.Omission.Reason;
import org.brickprofiler.trace.read.TraceRows.Row;
import org.eclipse.collections.impl.list.mutable.primitive.LongArrayList;
import org.jspecify.annotations.Nullable;

/**
 * Joins the flows of a timeline. A flow is a start and one or more ends with the same identifier, in any order. Each
 * start or end comes with its span, or with a row and a time at which a span is looked up. Starts and ends are stored
 * among the events of their rows until all spans are known. Then they are joined in three steps over sorted stores, so
 * that memory is bounded for any number of flows, except for two bits for each event. First, each start or end finds
 * its span while its track is replayed. Second, starts and ends with the same identifier are grouped into flows. Third,
 * flows are numbered from 1 in the order in which they came, and their numbers are stored by track and place. One
 * thread.
 */
final class TimelineFlows implements Closeable {

    /** The start of a flow, in the span that it leaves. */
    static final long OUT = 3;

    /** The end of a flow in the span that it leads to. */
    static final long IN = 4;

    /** The largest distance over which the span around a moment is looked for; a power of two. */
    private static final int FARTHEST = 1 << 14;

    /** Sorts an end after all events that start at the same time. */
    private static final long BEHIND = Long.MIN_VALUE;

    /** Sorts an end before all events that start at the same time. */
    private static final long BEFORE = Long.MAX_VALUE;

    private static final long NOWHERE = -1;

    private final EventStore events;
    private final Omission.Tally omissions;
    private final int mostKept;
    private final EventStore numbers;
    private int ends;

    /**
     * Creates an empty collection of flows.
     *
     * @param events the store in which ends wait among the other events
     * @param omissions counts flows without two ends
     * @param mostKept the most ends of each store that stay in memory
     */
    TimelineFlows(EventStore events, Omission.Tally omissions, int mostKept) {
        this.events = events;
        this.omissions = omissions;
        this.mostKept = mostKept;
        this.numbers = new EventStore(EventStore.Order.BY_ROW, mostKept);
    }

    /**
     * Adds a start or an end.
     *
     * @param side {@link #OUT} or {@link #IN}
     * @param id its identifier
     * @param name the name of the flow, or {@link Span#UNNAMED}
     * @param row its row
     * @param atNs its time
     * @param span the span that it belongs to, or null for the innermost span around that time
     * @throws IOException when the temporary file cannot be written
     */
    void add(long side, String id, int name, Row row, long atNs, @Nullable Slice span) throws IOException {
        add(side, id, name, row, atNs, BEHIND, span == null ? NOWHERE : span.offset);
    }

    /** Adds an end in the next span of a row that starts at that time or later. */
    void addInNext(String id, int name, Row row, long atNs) throws IOException {
        add(IN, id, name, row, atNs, BEFORE, NOWHERE);
    }

    /**
     * Stores an end: its sequence number in the column of names, its identifier in the column of amounts, and its name
     * in the detail beside the side.
     */
    private void add(long side, String id, int name, Row row, long atNs, long order, long spanOffset)
            throws IOException {
        row.hasFlows = true;
        long detail = side << TimelineCollector.KIND_SHIFT | (name - Span.UNNAMED);
        events.add(row.number, atNs, order, ends, ends, TraceNames.hash(id), spanOffset, detail);
        ends++;
    }

    private static long sideOf(EventStore.Event end) {
        return end.detail() >> TimelineCollector.KIND_SHIFT;
    }

    private static int nameOf(EventStore.Event end) {
        return (int) end.detail() + Span.UNNAMED;
    }

    // ---- joining ----

    /**
     * Joins all ends.
     *
     * @param rowsOfTracks the rows of each track
     * @param rows the rows of the trace
     * @throws IOException when the temporary files cannot be written or read
     */
    void join(int[][] rowsOfTracks, TraceRows rows) throws IOException {
        try (EventStore found = new EventStore(EventStore.Order.BY_TIME, mostKept);
                EventStore grouped = new EventStore(EventStore.Order.BY_TIME, mostKept)) {
            SpanFinder finder = new SpanFinder(found);
            for (int track = 0; track < rowsOfTracks.length; track++) {
                boolean hasFlows = false;
                for (int row : rowsOfTracks[track]) {
                    hasFlows |= rows.get(row).hasFlows;
                }
                if (hasFlows) {
                    finder.find(track, events.rows(rowsOfTracks[track]));
                }
            }
            group(found, grouped);
            number(grouped, firstPlaces(rowsOfTracks, rows));
        }
    }

    /** Finds the spans of the ends, track by track. */
    private static final class SpanFinder {
        private final EventStore found;
        /** The ends that wait for the next span, three numbers each. */
        private final LongArrayList waiting = new LongArrayList();

        private final long[] offsets = new long[FARTHEST];
        private final long[] endsNs = new long[FARTHEST];
        private final int[] places = new int[FARTHEST];
        private int track;
        private long spans;

        SpanFinder(EventStore found) {
            this.found = found;
        }

        void find(int ofTrack, EventStore.Cursor cursor) throws IOException {
            track = ofTrack;
            spans = 0;
            int place = 0;
            for (EventStore.Event event = cursor.next(); event != null; event = cursor.next()) {
                long kind = sideOf(event);
                if (kind < OUT) {
                    if (kind == 0) {
                        span(event, place);
                    }
                    place++;
                } else if (event.endNs() == BEFORE) {
                    waiting.addAll(event.name(), event.amount(), event.detail());
                } else {
                    add(event.name(), event.amount(), event.detail(), placeOf(event));
                }
            }
            endWaiting(NOWHERE);
        }

        private void span(EventStore.Event event, int place) throws IOException {
            int at = (int) (spans++ & FARTHEST - 1);
            offsets[at] = event.offset();
            endsNs[at] = event.endNs();
            places[at] = place;
            endWaiting(place);
        }

        private void endWaiting(long place) throws IOException {
            for (int i = 0; i < waiting.size(); i += 3) {
                add(waiting.get(i), waiting.get(i + 1), waiting.get(i + 2), place);
            }
            waiting.clear();
        }

        /** Returns the place of the span that an end belongs to, or of the innermost span around it. */
        private long placeOf(EventStore.Event end) {
            long spanOffset = end.deviceNs();
            for (long i = spans - 1; i >= Math.max(0, spans - FARTHEST); i--) {
                int at = (int) (i & FARTHEST - 1);
                if (spanOffset == NOWHERE ? endsNs[at] >= end.startNs() : offsets[at] == spanOffset) {
                    return places[at];
                }
            }
            return NOWHERE;
        }

        /** Adds a found end; the store sorts ends by identifier, then by the order in which they came. */
        private void add(long end, long id, long detail, long place) throws IOException {
            long where = place == NOWHERE ? NOWHERE : (long) track << Integer.SIZE | place;
            found.add(0, id, 0, end, 0, where, 0, detail);
        }
    }

    /**
     * Groups the ends with the same identifier: they form one flow, unless they have several starts. If they have
     * several starts, the identifier is used again, and a flow extends from each start to the next one. If ends come
     * first, a flow extends from its first end to its start.
     */
    private static void group(EventStore found, EventStore grouped) throws IOException {
        EventStore.Cursor ahead = found.inOrder();
        EventStore.Event next = ahead.next();
        EventStore.Cursor cursor = found.inOrder();
        while (next != null) {
            long id = next.startNs();
            long members = 0;
            long starts = 0;
            for (; next != null && next.startNs() == id; next = ahead.next()) {
                members++;
                starts += sideOf(next) == OUT ? 1 : 0;
            }
            group(cursor, members, starts > 1, grouped);
        }
    }

    /** Sorts ends by the first member of their flow, and the start of a flow before its ends. */
    private static void group(EventStore.Cursor cursor, long members, boolean isUsedAgain, EventStore grouped)
            throws IOException {
        boolean startsFirst = false;
        boolean hasStart = false;
        long flow = NOWHERE;
        for (long member = 0; member < members; member++) {
            EventStore.Event end = Objects.requireNonNull(cursor.next());
            boolean isStart = sideOf(end) == OUT;
            startsFirst = member == 0 ? isStart : startsFirst;
            if (member == 0 || (isUsedAgain && hasStart && (isStart || !startsFirst))) {
                flow = end.offset();
                hasStart = false;
            }
            hasStart |= isStart;
            grouped.add(0, flow, isStart ? 1 : 0, end.offset(), 0, end.amount(), 0, end.detail());
        }
    }

    /** Returns, for each track, the number of events of the tracks before it. */
    private static long[] firstPlaces(int[][] rowsOfTracks, TraceRows rows) {
        long[] first = new long[rowsOfTracks.length];
        long sum = 0;
        for (int track = 0; track < rowsOfTracks.length; track++) {
            first[track] = sum;
            for (int row : rowsOfTracks[track]) {
                sum += rows.get(row).kept;
            }
        }
        return first;
    }

    /** Numbers the flows; a span has at most one flow in each direction. Each flow without two ends is counted. */
    private void number(EventStore grouped, long[] firstPlaces) throws IOException {
        BitSet withOut = new BitSet();
        BitSet withIn = new BitSet();
        EventStore.Cursor cursor = grouped.inOrder();
        EventStore.Event end = cursor.next();
        long number = 0;
        while (end != null) {
            long flow = end.startNs();
            boolean hasStart = sideOf(end) == OUT;
            long from = hasStart ? end.amount() : NOWHERE;
            boolean isNumbered = false;
            end = hasStart ? cursor.next() : end;
            if (end == null || end.startNs() != flow) {
                omissions.add(Reason.LOOSE_FLOW);
            }
            for (; end != null && end.startNs() == flow; end = cursor.next()) {
                long to = end.amount();
                if (from == NOWHERE || to == NOWHERE) {
                    omissions.add(Reason.LOOSE_FLOW);
                } else if (withIn.get(position(to, firstPlaces))
                        || (!isNumbered && withOut.get(position(from, firstPlaces)))) {
                    omissions.add(Reason.FURTHER_FLOW);
                } else {
                    if (!isNumbered) {
                        isNumbered = true;
                        number++;
                        withOut.set(position(from, firstPlaces));
                        addNumber(from, OUT, number, nameOf(end));
                    }
                    withIn.set(position(to, firstPlaces));
                    addNumber(to, IN, number, nameOf(end));
                }
            }
        }
    }

    private static int position(long where, long[] firstPlaces) {
        return Math.toIntExact(firstPlaces[(int) (where >> Integer.SIZE)] + (int) where);
    }

    private void addNumber(long where, long side, long number, int name) throws IOException {
        numbers.add((int) (where >> Integer.SIZE), where & 0xffff_ffffL, 0, side, name, number, 0, side);
    }

    // ---- reading ----

    /** Returns the flows of a track. */
    Cursor of(int track) throws IOException {
        return new Cursor(numbers.rows(track));
    }

    /** Iterates over the flows of a track in order. */
    static final class Cursor {
        private final EventStore.Cursor numbers;
        private EventStore.@Nullable Event next;
        private int name = Span.UNNAMED;

        private Cursor(EventStore.Cursor numbers) throws IOException {
            this.numbers = numbers;
            this.next = numbers.next();
        }

        /**
         * Returns the flow that leaves the event at a place, or 0. Call it for places in order, and before
         * {@link #intoOf} of the same place.
         */
        long outOf(int place) throws IOException {
            return take(place, OUT);
        }

        /** Returns the flow that ends in the event at a place, or 0. */
        long intoOf(int place) throws IOException {
            return take(place, IN);
        }

        private long take(int place, long side) throws IOException {
            EventStore.Event flow = next;
            if (flow == null || flow.startNs() != place || flow.detail() != side) {
                name = Span.UNNAMED;
                return 0;
            }
            long number = flow.amount();
            name = flow.name();
            next = numbers.next();
            return number;
        }

        /** Returns the name of the flow that was returned last. */
        int name() {
            return name;
        }
    }

    /** Discards the flows and deletes the temporary file. */
    @Override
    public void close() throws IOException {
        numbers.close();
    }
}
