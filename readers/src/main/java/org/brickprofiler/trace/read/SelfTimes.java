package org.brickprofiler.trace.read;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.eclipse.collections.impl.map.mutable.primitive.IntObjectHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Reads events in order of time and measures the self time of each: its interval without the intervals of the events
 * nested in it on the same row. Each moment of a row therefore counts once, unless two events overlap without nesting.
 * One thread.
 */
final class SelfTimes {

    private static final int ROWS_AT_THEIR_LIMIT = 64;

    private final String source;
    private final int mostOpen;
    private final boolean nest;
    private final Sink sink;
    private final IntObjectHashMap<List<Open>> rows = new IntObjectHashMap<>();
    private long open;

    /** Receives the events and their self times. */
    interface Sink {
        /**
         * Returns whether an event contains other events by its nature. Such an event contains them even if they last
         * as long as the event itself, or end later because of rounding.
         *
         * @param event the event
         * @return false for almost all events
         */
        default boolean encloses(Execution event) {
            return false;
        }

        /**
         * Receives the begin of an event; called in order of time.
         *
         * @param event the event
         * @return whether it counts
         */
        boolean begins(Execution event);

        /**
         * Receives an event that overlaps an earlier one without nesting, if both count.
         *
         * @param event the later one
         */
        default void overlaps(Execution event) {
            // Only one of several passes needs this call.
        }

        /**
         * Receives the end of an event; called once for each event, in no order.
         *
         * @param event the event
         * @param selfNs its self time, ns
         * @param counts whether it counts
         * @throws TraceFormatException when a sum is too large
         * @throws IOException when a temporary file cannot be written
         */
        void ends(Execution event, long selfNs, boolean counts) throws IOException;
    }

    /** An event that has not ended yet. */
    private static final class Open {
        final Execution event;
        final boolean counts;
        private final boolean encloses;
        private long heldUntilNs;
        private long heldNs;

        Open(Execution event, boolean counts, boolean encloses) {
            this.event = event;
            this.counts = counts;
            this.encloses = encloses;
            this.heldUntilNs = event.startNs();
        }

        boolean holds(Execution other) {
            return other.endNs() <= event.endNs() + (encloses ? OnnxRuntime.ROUNDING_NS : 0);
        }

        boolean isAsLongAs(Execution other) {
            return event.startNs() == other.startNs() && event.endNs() == other.endNs();
        }

        void hold(Execution inner) {
            long endNs = Math.min(inner.endNs(), event.endNs());
            heldNs += Math.max(0, endNs - Math.max(inner.startNs(), heldUntilNs));
            heldUntilNs = Math.max(heldUntilNs, endNs);
        }

        long selfNs() {
            return event.elapsedNs() - heldNs;
        }
    }

    private SelfTimes(String source, int mostOpen, boolean nest, Sink sink) {
        this.source = source;
        this.mostOpen = mostOpen;
        this.nest = nest;
        this.sink = sink;
    }

    /**
     * Measures the self times of events.
     *
     * @param events the events, in order of time
     * @param source the name of the trace in messages
     * @param mostOpen the most events of a row that may be open at once
     * @param nest whether an event contains those that run during it; otherwise each counts in full
     * @param sink receives the results
     * @throws TraceFormatException when more events are open at once
     * @throws IOException when the events cannot be read
     */
    static void of(EventStore.Cursor events, String source, int mostOpen, boolean nest, Sink sink) throws IOException {
        SelfTimes times = new SelfTimes(source, mostOpen, nest, sink);
        for (EventStore.Event event = events.next(); event != null; event = events.next()) {
            times.begin(new Execution(event));
        }
        times.endAll();
    }

    private void begin(Execution event) throws IOException {
        List<Open> row = rows.getIfAbsentPut(event.row(), ArrayList::new);
        endUntil(row, event.startNs());
        if (row.size() == mostOpen || open == (long) mostOpen * ROWS_AT_THEIR_LIMIT) {
            throw new TraceFormatException(
                    source, event.offset(), "too many events run at once; " + mostOpen + " is the limit of a row");
        }
        boolean counts = sink.begins(event);
        boolean encloses = sink.encloses(event);
        open++;
        Open inner = row.isEmpty() ? null : row.get(row.size() - 1);
        if (encloses && inner != null && inner.isAsLongAs(event)) {
            // The file lists a parent after its children. The event around both already holds their interval.
            Open around = new Open(event, counts, true);
            around.hold(inner.event);
            row.add(row.size() - 1, around);
            return;
        }
        Open holder = nest ? holder(row, event) : null;
        if (holder != null) {
            holder.hold(event);
        }
        if (counts && overlapsAnother(row, event)) {
            sink.overlaps(event);
        }
        row.add(new Open(event, counts, encloses));
    }

    private static @Nullable Open holder(List<Open> row, Execution event) {
        for (int i = row.size() - 1; i >= 0; i--) {
            if (row.get(i).holds(event)) {
                return row.get(i);
            }
        }
        return null;
    }

    private boolean overlapsAnother(List<Open> row, Execution event) {
        for (int i = 0; i < row.size(); i++) {
            if (row.get(i).counts && !(nest && row.get(i).holds(event))) {
                return true;
            }
        }
        return false;
    }

    private void endUntil(List<Open> row, long nowNs) throws IOException {
        for (int i = row.size() - 1; i >= 0; i--) {
            if (row.get(i).event.endNs() <= nowNs) {
                end(row.remove(i));
            }
        }
    }

    private void endAll() throws IOException {
        for (List<Open> row : rows.values()) {
            for (Open left : row) {
                end(left);
            }
        }
    }

    private void end(Open over) throws IOException {
        open--;
        sink.ends(over.event, over.selfNs(), over.counts);
    }
}
