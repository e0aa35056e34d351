package org.brickprofiler.trace.read;

import java.io.Closeable;
import java.io.IOException;
import java.util.BitSet;
import org.brickprofiler.trace.read.EventCollector.Slice;
import org.brickprofiler.trace.read.Omission.Reason;
import org.brickprofiler.trace.read.TraceRows.Row;
import org.eclipse.collections.impl.list.mutable.primitive.LongArrayList;
import org.jspecify.annotations.Nullable;

/**
 * The flows of a timeline: two ends that bear the same identifier, in any order. An end comes with its span, or with a
 * place and a time at which a span is to be sought; it stands among the events of its row until all spans are there.
 * Then the ends are joined in three sorted steps, so that memory is bounded whatever their number, but for two bits an
 * event: each end finds its span while its track is replayed; the ends are paired in order of identifier; the pairs are
 * numbered from 1 on in the order in which they came, and their numbers kept by track and place. One thread.
 */
final class TimelineFlows implements Closeable {

    /** The end of a flow in the span that it leaves. */
    static final long OUT = 3;

    /** The end of a flow in the span that it leads to. */
    static final long IN = 4;

    /** Further back no span around a moment is sought; a power of two. */
    private static final int FARTHEST = 1 << 14;

    private static final int KIND_SHIFT = 33;

    /** Sorts an end behind all events that start with it. */
    private static final long BEHIND = Long.MIN_VALUE;

    /** Sorts an end before all events that start with it. */
    private static final long BEFORE = Long.MAX_VALUE;

    private static final long NOWHERE = -1;

    private final EventStore events;
    private final Omission.Tally omissions;
    private final int mostKept;
    private final EventStore numbers;
    private int ends;

    /**
     * No flow yet.
     *
     * @param events where ends wait among the other events
     * @param omissions counts flows that lead nowhere
     * @param mostKept how many of each kind may stay in memory
     */
    TimelineFlows(EventStore events, Omission.Tally omissions, int mostKept) {
        this.events = events;
        this.omissions = omissions;
        this.mostKept = mostKept;
        this.numbers = new EventStore(EventStore.Order.BY_ROW, mostKept);
    }

    /**
     * Adds an end.
     *
     * @param side {@link #OUT} or {@link #IN}
     * @param id its identifier
     * @param row where it is
     * @param atNs when
     * @param span the span that it belongs to, or null for the innermost one around that time
     * @throws IOException when the temporary file cannot be written
     */
    void add(long side, String id, Row row, long atNs, @Nullable Slice span) throws IOException {
        add(side, id, row, atNs, BEHIND, span == null ? NOWHERE : span.offset);
    }

    /** Adds an end in the next span of a row that starts at a time or after it. */
    void addInNext(String id, Row row, long atNs) throws IOException {
        add(IN, id, row, atNs, BEFORE, NOWHERE);
    }

    /** The sequence of ends is in the place of a name, the identifier in that of an amount. */
    private void add(long side, String id, Row row, long atNs, long order, long spanOffset) throws IOException {
        row.hasFlows = true;
        events.add(row.number, atNs, order, ends, ends, Names.hash(id), spanOffset, side << KIND_SHIFT);
        ends++;
    }

    // ---- joining ----

    /**
     * Joins all ends.
     *
     * @param rowsOfTracks the rows of each track
     * @param rows knows them
     * @throws IOException when the temporary files cannot be written or read
     */
    void join(int[][] rowsOfTracks, TraceRows rows) throws IOException {
        try (EventStore found = new EventStore(EventStore.Order.BY_TIME, mostKept);
                EventStore pairs = new EventStore(EventStore.Order.BY_TIME, mostKept)) {
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
            pair(found, pairs);
            number(pairs, firstPlaces(rowsOfTracks, rows));
        }
    }

    /** Finds the spans of the ends, track by track. */
    private static final class SpanFinder {
        private final EventStore found;
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
                long kind = event.detail() >> KIND_SHIFT;
                if (kind < OUT) {
                    if (kind == 0) {
                        span(event, place);
                    }
                    place++;
                } else if (event.endNs() == BEFORE) {
                    waiting.add(event.name());
                    waiting.add(event.amount());
                } else {
                    add(event.name(), event.amount(), kind, placeOf(event));
                }
            }
            for (int i = 0; i < waiting.size(); i += 2) {
                add((int) waiting.get(i), waiting.get(i + 1), IN, NOWHERE);
            }
            waiting.clear();
        }

        private void span(EventStore.Event event, int place) throws IOException {
            int at = (int) (spans++ & FARTHEST - 1);
            offsets[at] = event.offset();
            endsNs[at] = event.endNs();
            places[at] = place;
            for (int i = 0; i < waiting.size(); i += 2) {
                add((int) waiting.get(i), waiting.get(i + 1), IN, place);
            }
            waiting.clear();
        }

        /** The place of the span that an end belongs to, or of the innermost one around it. */
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

        /** By identifier, then in the order in which they came. */
        private void add(int end, long id, long side, long place) throws IOException {
            long where = place == NOWHERE ? NOWHERE : (long) track << Integer.SIZE | place;
            found.add(0, id, 0, end, 0, where, 0, side);
        }
    }

    /** Pairs ends; an identifier that comes again after both ends is another flow. */
    private void pair(EventStore found, EventStore pairs) throws IOException {
        EventStore.Cursor cursor = found.inOrder();
        long id = 0;
        long first = 0;
        long from = NOWHERE;
        long to = NOWHERE;
        boolean hasFrom = false;
        boolean hasTo = false;
        for (EventStore.Event end = cursor.next(); end != null; end = cursor.next()) {
            boolean isOut = end.detail() == OUT;
            boolean isSameFlow = (hasFrom || hasTo) && end.startNs() == id && !(hasFrom && hasTo);
            if (isSameFlow && (isOut ? hasFrom : hasTo)) {
                omissions.add(Reason.FURTHER_FLOW);
                continue;
            }
            if (!isSameFlow) {
                addPair(pairs, hasFrom || hasTo, first, from, to);
                id = end.startNs();
                first = end.offset();
                from = NOWHERE;
                to = NOWHERE;
                hasFrom = false;
                hasTo = false;
            }
            from = isOut ? end.amount() : from;
            to = isOut ? to : end.amount();
            hasFrom |= isOut;
            hasTo |= !isOut;
        }
        addPair(pairs, hasFrom || hasTo, first, from, to);
    }

    private void addPair(EventStore pairs, boolean isFlow, long first, long from, long to) throws IOException {
        if (isFlow && from != NOWHERE && to != NOWHERE) {
            pairs.add(0, first, 0, 0, 0, from, to, 0);
        } else if (isFlow) {
            omissions.add(Reason.LOOSE_FLOW);
        }
    }

    /** How many events the tracks before each have. */
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

    /** Numbers the flows; a span has one in each direction. */
    private void number(EventStore pairs, long[] firstPlaces) throws IOException {
        BitSet withOut = new BitSet();
        BitSet withIn = new BitSet();
        EventStore.Cursor cursor = pairs.inOrder();
        long number = 0;
        for (EventStore.Event pair = cursor.next(); pair != null; pair = cursor.next()) {
            int from = position(pair.amount(), firstPlaces);
            int to = position(pair.deviceNs(), firstPlaces);
            if (withOut.get(from) || withIn.get(to)) {
                omissions.add(Reason.FURTHER_FLOW);
            } else {
                number++;
                withOut.set(from);
                withIn.set(to);
                addNumber(pair.amount(), OUT, number);
                addNumber(pair.deviceNs(), IN, number);
            }
        }
    }

    private static int position(long where, long[] firstPlaces) {
        return Math.toIntExact(firstPlaces[(int) (where >> Integer.SIZE)] + (int) where);
    }

    private void addNumber(long where, long side, long number) throws IOException {
        numbers.add((int) (where >> Integer.SIZE), where & 0xffff_ffffL, 0, side, 0, number, 0, side);
    }

    // ---- reading ----

    /** The flows of a track. */
    Cursor of(int track) throws IOException {
        return new Cursor(numbers.rows(track));
    }

    /** Goes through the flows of a track. */
    static final class Cursor {
        private final EventStore.Cursor numbers;
        private EventStore.@Nullable Event next;

        private Cursor(EventStore.Cursor numbers) throws IOException {
            this.numbers = numbers;
            this.next = numbers.next();
        }

        /** The flow that leaves the event at a place, or 0; places are asked for in order, this side first. */
        long outOf(int place) throws IOException {
            return take(place, OUT);
        }

        /** The flow that ends in the event at a place, or 0. */
        long intoOf(int place) throws IOException {
            return take(place, IN);
        }

        private long take(int place, long side) throws IOException {
            EventStore.Event flow = next;
            if (flow == null || flow.startNs() != place || flow.detail() != side) {
                return 0;
            }
            long number = flow.amount();
            next = numbers.next();
            return number;
        }
    }

    /** Forgets the flows and deletes the temporary file. */
    @Override
    public void close() throws IOException {
        numbers.close();
    }
}
