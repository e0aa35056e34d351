package org.brickprofiler.trace.read;

import java.io.IOException;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Passes the records of AMD's profilers on in Kineto's terms: kernels, copies and fills of queues, the calls of the
 * host that launched them, and the markers of the application as annotations. The records of one run come in any order
 * and, from some tools, in several tables; a source is therefore read once for each group of kinds.
 *
 * <p>A launch and its work share a correlation. All kernels of a graph have the correlation of the call that launched
 * the graph. Work gets the innermost marker that was open on the launching thread as its launch began.
 *
 * <p>The offset of an event is its number. One thread.
 */
final class RocmEvents {

    private static final Set<Kind> WORK = EnumSet.of(Kind.KERNEL, Kind.COPY, Kind.FILL);
    private static final Set<Kind> CALLS = EnumSet.of(Kind.CALL);
    private static final Set<Kind> MARKERS = EnumSet.of(Kind.MARKER);

    private final Source source;
    private final EventCollector collector;
    private final TraceEvent event = new TraceEvent();
    private final RangeNames ranges = new RangeNames();
    private final LaunchRanges launches = new LaunchRanges();
    private final Map<String, Integer> threads = new HashMap<>();
    private boolean hasMarkers;
    private long events;

    /** The damage that ends a reading of the source; each reading ends at the same place. */
    private @Nullable TraceFormatException damage;

    /** The kinds of records. */
    enum Kind {
        KERNEL("kernel"),
        COPY("gpu_memcpy"),
        FILL("gpu_memset"),
        /** A call of the host, which is no work of the device. */
        CALL("cuda_runtime"),
        /** A marker of the application around calls. */
        MARKER("user_annotation");

        private final String category;

        Kind(String category) {
            this.category = category;
        }
    }

    /** A record. The source fills and reuses it. */
    static final class Row {
        Kind kind = Kind.CALL;
        String name = "";
        /** The process and the thread of a call or a marker. */
        String process = "";

        String thread = "";
        /** The device and the queue of work. */
        long device = TraceEvent.NONE;

        String queue = "";
        /** Joins work with its launch; {@link TraceEvent#NONE} if no launch is known. */
        long correlation = TraceEvent.NONE;

        /** The start and the end in ns on the profiler's clock, or special values of {@link Microseconds}. */
        long startNs = Microseconds.ABSENT;

        long endNs = Microseconds.ABSENT;
        /** The bytes of a copy; {@link TraceEvent#NONE} if they are unknown. */
        long bytes = TraceEvent.NONE;

        Row clear(Kind of) {
            kind = of;
            name = "";
            process = "";
            thread = "";
            device = TraceEvent.NONE;
            queue = "";
            correlation = TraceEvent.NONE;
            startNs = Microseconds.ABSENT;
            endNs = Microseconds.ABSENT;
            bytes = TraceEvent.NONE;
            return this;
        }
    }

    /** Receives records. */
    interface EventVisitor {
        void read(Row row) throws IOException;
    }

    /** Provides the records of one run. */
    interface Source {
        /**
         * Passes all records of some kinds to a reader.
         *
         * @throws TraceFormatException when a record is damaged
         * @throws IOException when the source cannot be read
         */
        void each(Set<Kind> kinds, EventVisitor reader) throws IOException;
    }

    private RocmEvents(Source source, EventCollector collector, @Nullable TraceFormatException damage) {
        this.source = source;
        this.collector = collector;
        this.damage = damage;
    }

    /**
     * Reads all records of a source.
     *
     * @param source the source
     * @param collector receives the events
     * @param damage the known damage of the source, or null
     * @throws TraceFormatException when the source is damaged, after the records before the damage
     * @throws IOException when it cannot be read
     */
    static void read(Source source, EventCollector collector, @Nullable TraceFormatException damage)
            throws IOException {
        new RocmEvents(source, collector, damage).readAll();
    }

    private void readAll() throws IOException {
        collector.head.marksAllWork = true;
        each(WORK, row -> {
            if (row.correlation >= 0) {
                launches.want(row.correlation);
            }
        });
        each(CALLS, this::call);
        launches.sort(threads.size());
        each(MARKERS, this::marker);
        each(WORK, this::work);
        TraceFormatException found = damage;
        if (found != null) {
            throw found;
        }
        collector.end(events);
    }

    private void each(Set<Kind> kinds, EventVisitor reader) throws IOException {
        try {
            source.each(kinds, reader);
        } catch (TraceFormatException fault) {
            if (!fault.isDamage()) {
                throw fault;
            }
            damage = fault;
        }
    }

    private void begin(Row row) {
        event.clear(events++);
        event.phase = 'X';
        event.name = TraceNames.bounded(row.name);
        event.category = row.kind.category;
        // These clocks count from 0: a negative time is damage.
        boolean isNegative = Microseconds.isTime(row.startNs) && row.startNs < 0;
        event.startNs = isNegative ? Microseconds.MALFORMED : row.startNs;
        boolean areTimes = Microseconds.isTime(row.startNs) && Microseconds.isTime(row.endNs);
        event.elapsedNs = areTimes ? row.endNs - row.startNs : row.endNs;
    }

    private int onThread(Row row) {
        event.process = row.process;
        event.thread = row.thread;
        return threads.computeIfAbsent(row.process + ' ' + row.thread, added -> threads.size());
    }

    private void call(Row row) throws IOException {
        begin(row);
        int thread = onThread(row);
        event.correlation = row.correlation;
        if (launches.isWanted(row.correlation) && Microseconds.isTime(event.startNs)) {
            launches.launch(row.correlation, thread, event.startNs);
            event.flowsOut.add(row.correlation);
        }
        collector.accept(event);
    }

    private void marker(Row row) throws IOException {
        begin(row);
        int thread = onThread(row);
        hasMarkers = true;
        if (event.elapsedNs == 0) {
            event.phase = 'i';
        } else if (Microseconds.isTime(event.startNs) && Microseconds.isTime(event.elapsedNs)) {
            int range = ranges.number(row.name);
            event.name = ranges.name(range);
            launches.range(thread, event.startNs, event.startNs + event.elapsedNs, range);
        }
        collector.accept(event);
    }

    private void work(Row row) throws IOException {
        begin(row);
        event.process = "device " + row.device;
        event.thread = row.queue;
        event.bytes = row.bytes;
        event.correlation = row.correlation;
        int range = launches.of(row.correlation);
        if (range != LaunchRanges.NO_LAUNCH) {
            event.flowsIn.add(row.correlation);
        }
        argument(TraceEvent.DEVICE, row.device < 0 ? "" : Long.toString(row.device));
        argument(TraceEvent.STREAM, row.queue);
        if (hasMarkers) {
            event.range = ranges.nameAround(range);
            argument(TraceEvent.RANGE, range >= 0 ? ranges.name(range) : "");
        }
        collector.accept(event);
    }

    private void argument(String key, String value) {
        if (!value.isEmpty() && collector.wants(key)) {
            collector.keep(event, key, value, null);
        }
    }
}
