package org.brickprofiler.trace.read;

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.trace.Span;
import org.brickprofiler.trace.SpanBrick;
import org.brickprofiler.trace.SpanBrick.Evidence;
import org.brickprofiler.trace.read.TraceRows.Row;
import org.jspecify.annotations.Nullable;

/**
 * The events that the profile of a trace counts, each with the brick as which it counts, for the timeline of the same
 * reading. The two views join on the start, the end and the offset of an event, which the parser gives to both. Memory
 * is bounded as in {@link EventStore}. One thread.
 */
final class CountedSpans implements Closeable {

    private final TraceRows rows;
    private final RowNames names;
    private final EventStore events = new EventStore(EventStore.Order.BY_ROW);
    private final List<SpanBrick> bricks = new ArrayList<>();
    private final Map<SpanBrick, Integer> numbers = new HashMap<>();

    /** Creates an empty collection of events on the rows of a profile. */
    CountedSpans(TraceRows rows, RowNames names) {
        this.rows = rows;
        this.names = names;
    }

    /**
     * Adds an event that counts.
     *
     * @param kernel its kernel, which names the brick
     * @param evidence the {@link LayerPlaces.Evidence} for the brick
     * @throws IOException when the temporary file cannot be written
     */
    void add(Execution event, Kernels.Kernel kernel, long evidence) throws IOException {
        TraceRule.Target target = kernel.target();
        SpanBrick brick = new SpanBrick(target.name(), target.category(), evidenceOf(kernel, evidence));
        int number = numbers.computeIfAbsent(brick, added -> {
            bricks.add(added);
            return bricks.size() - 1;
        });
        events.add(event.row(), event.startNs(), event.endNs(), event.offset(), number, 0, 0, 0);
    }

    private static Evidence evidenceOf(Kernels.Kernel kernel, long evidence) {
        if (LayerPlaces.Evidence.isPlace(evidence)) {
            return Evidence.PLACE;
        }
        boolean isNamed = evidence == LayerPlaces.Evidence.BY_MODULE
                || (kernel.matched() && kernel.target().category() != BrickCategory.MATRIX_PRODUCT);
        return isNamed ? Evidence.NAMED : Evidence.NONE;
    }

    /** Returns the bricks by number. */
    List<SpanBrick> bricks() {
        return List.copyOf(bricks);
    }

    /**
     * Returns the bricks of the events of some rows.
     *
     * @param shown the rows of the timeline, which numbers them differently
     * @throws IOException when the temporary file cannot be read
     */
    Cursor of(List<Row> shown) throws IOException {
        int[] counted = shown.stream()
                .mapToInt(row -> rows.find(row.process, row.thread))
                .filter(row -> row >= 0)
                .map(names::mainRow)
                .distinct()
                .toArray();
        return new Cursor(events.rows(counted));
    }

    /** Iterates over the bricks of events in the order of {@link EventStore}. */
    static final class Cursor {
        private final EventStore.Cursor events;
        private EventStore.@Nullable Event next;

        private Cursor(EventStore.Cursor events) throws IOException {
            this.events = events;
            this.next = events.next();
        }

        /**
         * Returns the brick of an event, and skips the events before it.
         *
         * @param event the event, not before that of the last call
         * @return the number of the brick, or {@link Span#NOT_COUNTED}
         * @throws IOException when the temporary file cannot be read
         */
        int brickOf(EventStore.Event event) throws IOException {
            while (next != null && EventStore.Event.compareTime(next, event) < 0) {
                next = events.next();
            }
            return next != null && EventStore.Event.compareTime(next, event) == 0 ? next.name() : Span.NOT_COUNTED;
        }
    }

    @Override
    public void close() throws IOException {
        events.close();
    }
}
