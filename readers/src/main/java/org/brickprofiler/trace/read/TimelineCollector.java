package org.brickprofiler.trace.read;

import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.brickprofiler.trace.Span;
import org.brickprofiler.trace.SpanBrick;
import org.brickprofiler.trace.SpanName;
import org.brickprofiler.trace.Timeline;
import org.brickprofiler.trace.TimelineVisitor;
import org.brickprofiler.trace.TraceInfo;
import org.brickprofiler.trace.Track;
import org.brickprofiler.trace.read.Omission.Reason;
import org.brickprofiler.trace.read.TraceEvent.Kind;
import org.brickprofiler.trace.read.TraceRows.Row;
import org.eclipse.collections.impl.map.mutable.primitive.ObjectIntHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Builds the timeline of a trace. While the trace is read, spans, moments and values go into an {@link EventStore} by
 * row, with the ends of flows between them. Afterwards the rows become tracks ({@link TrackLayout}) and the ends are
 * joined ({@link TimelineFlows}). Replaying a track merges its rows. Events that a timeline cannot represent are
 * counted. One thread.
 */
final class TimelineCollector extends EventCollector {

    /** The most characters that all names together may take. */
    static final long MOST_CHARACTERS = 1L << 27;

    /** The overhead of a name, counted in characters. */
    private static final int NAME_ENTRY = 64;

    private static final Pattern NAME_AND_UNIT = Pattern.compile("(.*) \\[(.*)]", Pattern.DOTALL);

    /** The arguments whose values a timeline keeps. */
    private static final Set<String> WANTED = Set.of(
            TraceEvent.BANDWIDTH,
            TraceEvent.CATEGORY,
            TraceEvent.CORRELATION,
            TraceEvent.DEVICE,
            TraceEvent.DEVICE_NS,
            TraceEvent.LAYER,
            TraceEvent.STREAM,
            "name",
            "labels",
            "sort_index");

    /** The arguments that this library's writers derive from a span, its track and its flow. */
    private static final Set<String> OWN = Set.of(
            TraceEvent.BANDWIDTH,
            TraceEvent.BRICK,
            TraceEvent.BYTES,
            TraceEvent.CATEGORY,
            TraceEvent.CORRELATION,
            TraceEvent.PHASE,
            TraceEvent.SAMPLE,
            TraceEvent.DEVICE,
            TraceEvent.STREAM,
            "External id");

    /** The largest relative difference at which a bandwidth equals bytes divided by time. */
    private static final double SAME_BANDWIDTH = 1e-6;

    private static final int NO_LAYER = -1;

    /** One in so many events may be left out because another clock timed it. */
    private static final int SMALL_PART = 4;

    /**
     * The value for correlation 0 in the column of device times; correlation n is stored as this value minus n. Events
     * with a correlation state no device time, so the column is free.
     */
    private static final long FIRST_CORRELATION = -2;

    // The detail of an event: its kind, its phase, whether it is a sample that a device timed, and in the low half its
    // layer. The ends of flows are in the same store, with kinds of their own.
    private static final long SPAN = 0;
    private static final long INSTANT = 1;
    private static final long VALUE = 2;
    static final int KIND_SHIFT = 36;
    private static final int PHASE_SHIFT = 33;
    private static final long PHASE_MASK = (1L << (KIND_SHIFT - PHASE_SHIFT)) - 1;
    private static final long DEVICE_SAMPLE = 1L << 32;

    private final int mostRows;
    private final EventStore events;
    private final TimelineFlows flows;
    private final List<SpanName> names = new ArrayList<>();

    /** The index of each name in {@link #names}, by the category and the text of the name. */
    private final Map<String, ObjectIntHashMap<String>> places = new HashMap<>();

    private final Map<Long, TrackDescription> described = new TreeMap<>();
    private long characters;
    private long kept;
    private final ClockSpan times = new ClockSpan();
    private long earliestNs = Long.MAX_VALUE;

    /** The spans that a profile counts; null without a profile. */
    private @Nullable CountedSpans counted;

    /** The slice that began last; a flow may belong to it. */
    private @Nullable Drawn lastSlice;

    /**
     * Creates an empty builder.
     *
     * @param head the facts that the trace states about itself
     * @param limits bounds the memory
     * @param mostKept the most events that stay in memory
     */
    TimelineCollector(TraceHead head, ReadOptions.Limits limits, int mostKept) {
        super(head, limits);
        this.mostRows = limits.rows();
        this.events = new EventStore(EventStore.Order.BY_ROW, mostKept);
        this.flows = new TimelineFlows(events, omissions, mostKept);
    }

    @Override
    boolean needs(String argument) {
        return WANTED.contains(argument);
    }

    @Override
    boolean needsKeys() {
        return true;
    }

    @Override
    void keepArgument(TraceEvent event, String key, String value, @Nullable String listed) {
        if (WANTED.contains(key)) {
            event.keep(key, value);
        } else if (listed != null) {
            event.keepOther(key, listed);
        }
    }

    @Override
    @Nullable
    Reason ignores(TraceEvent event) {
        return null;
    }

    @Override
    @Nullable
    Site site(TraceEvent event) {
        return null;
    }

    @Override
    void addEmpty() {
        // A timeline ignores placeholders.
    }

    // ---- slices ----

    @Override
    @Nullable
    Slice beginSlice(TraceEvent event) throws IOException {
        if (head.isOwn() && event.args.containsKey(TraceEvent.DERIVED)) {
            return null;
        }
        Row row = row(event);
        row.events++;
        row.noteDevice(event, isOnDevice(event));
        if (!head.isOwn() && event.kind() == Kind.DEVICE_WAIT) {
            row.noteWait(event);
        }
        boolean isSample = head.isOwn() && event.isDeviceSample;
        long detail = (layer(event, row.number) & 0xffff_ffffL)
                | (isSample ? DEVICE_SAMPLE : 0)
                | (long) ownPhase(event).number() << PHASE_SHIFT;
        long deviceNs = event.wholeNumber(TraceEvent.DEVICE_NS);
        long kept = hasCorrelation(event) ? FIRST_CORRELATION - event.correlation : deviceNs;
        long amount = isCopy(event) ? event.bytes : event.elements;
        Drawn slice = new Drawn(event, row.number, name(event), amount, kept, detail);
        lastSlice = slice;
        for (int i = 0; i < event.flowsOut.size(); i++) {
            String id = Long.toString(event.flowsOut.get(i));
            flows.add(TimelineFlows.OUT, id, Span.UNNAMED, row, event.startNs, slice);
        }
        for (int i = 0; i < event.flowsIn.size(); i++) {
            String id = Long.toString(event.flowsIn.get(i));
            flows.add(TimelineFlows.IN, id, Span.UNNAMED, row, event.startNs, slice);
        }
        countUnkept(event);
        return slice;
    }

    /**
     * Returns whether another program joined the event with others by a number; this library's correlations are derived
     * again from flows.
     */
    private boolean hasCorrelation(TraceEvent event) {
        return !head.isOwn() && event.correlation >= 0 && event.wholeNumber(TraceEvent.DEVICE_NS) < 0;
    }

    /** Returns whether the event is a copy or a fill by another program's device whose bytes are known. */
    private boolean isCopy(TraceEvent event) {
        return !head.isOwn() && event.kind() == Kind.COPY && event.bytes >= 0 && event.elements < 0;
    }

    /** Returns the layer of an event; in traces that omit implied values, the layer of the surrounding slice. */
    private int layer(TraceEvent event, int row) {
        String layer = event.args.get(TraceEvent.LAYER);
        if (layer != null) {
            return (int) Math.min(TraceEvent.wholeNumberOf(layer), Integer.MAX_VALUE);
        }
        Slice around = head.isImplicit() ? innermost(row) : null;
        return around instanceof Drawn drawn ? (int) drawn.detail : NO_LAYER;
    }

    private int name(TraceEvent event) throws TraceFormatException {
        String category = head.isOwn() ? event.ownCategory : OnnxRuntime.categoryInTimeline(event);
        ObjectIntHashMap<String> ofCategory = places.computeIfAbsent(category, unknown -> new ObjectIntHashMap<>());
        int known = ofCategory.getIfAbsent(event.name, -1);
        if (known >= 0) {
            return known;
        }
        characters += NAME_ENTRY + event.name.length() + category.length();
        if (characters > MOST_CHARACTERS) {
            throw error(event.offset, "the names of its events take more than " + MOST_CHARACTERS + " characters");
        }
        names.add(new SpanName(event.name, category));
        ofCategory.put(event.name, names.size() - 1);
        return names.size() - 1;
    }

    @Override
    void addEnd(TraceEvent event) {
        countArguments(event);
    }

    /** A slice that has begun, with the numbers that its store keeps. */
    private final class Drawn extends Slice {
        private final int row;
        private final int name;
        private final long amount;
        private final long deviceNs;
        private final long detail;

        Drawn(TraceEvent event, int row, int name, long amount, long deviceNs, long detail) {
            super(event);
            this.row = row;
            this.name = name;
            this.amount = amount;
            this.deviceNs = deviceNs;
            this.detail = detail;
        }

        @Override
        void endedBy(TraceEvent end) {
            // A timeline shows the arguments of the begin.
        }

        @Override
        void keep(long endNs) throws IOException {
            TimelineCollector.this.keep(rows.get(row), startNs, offset);
            events.add(row, startNs, endNs, offset, name, amount, deviceNs, detail);
        }
    }

    private void keep(Row row, long startNs, long offset) throws TraceFormatException {
        if (kept == Integer.MAX_VALUE) {
            throw error(offset, "there are more than " + TraceFigures.count(kept) + " events");
        }
        kept++;
        row.kept++;
        times.add(startNs);
        earliestNs = Math.min(earliestNs, startNs);
    }

    // ---- moments, values, flows, metadata ----

    @Override
    void addOther(TraceEvent event) throws IOException {
        switch (event.phase) {
            case 'C' -> counter(event);
            case 's', 'f' -> flow(event);
            case 't' -> omissions.add(Reason.FURTHER_FLOW);
            case 'M' -> metadata(event);
            default -> instant(event);
        }
    }

    private void instant(TraceEvent event) throws IOException {
        boolean isCount = head.isOwn() && event.args.containsKey(TraceEvent.DROPPED_SPANS);
        if (isCount || head.isSlowSteps(event.offset) || !isTime(event.startNs, event.offset)) {
            return;
        }
        Row row = row(event);
        row.events++;
        keep(row, event.startNs, event.offset);
        events.add(row.number, event.startNs, event.startNs, event.offset, name(event), 0, 0, INSTANT << KIND_SHIFT);
        omissions.add(Reason.LOOSE_FLOW, event.flowsOut.size() + event.flowsIn.size());
        countUnkept(event);
    }

    private void counter(TraceEvent event) throws IOException {
        if (!isTime(event.startNs, event.offset)) {
            return;
        }
        if (head.hasTracks) {
            value(rows.counter(event.process, event.thread, event.offset), event, event.value);
            countArguments(event);
            return;
        }
        omissions.add(Reason.FIELD, event.skipped);
        String counter = event.id.isEmpty() ? event.name : event.name + " " + event.id;
        for (Map.Entry<String, String> series : new TreeMap<>(event.args).entrySet()) {
            String name = series.getKey().equals("value") ? counter : counter + " " + series.getKey();
            Row row = rows.counter(event.process, name, event.offset);
            Matcher unit = NAME_AND_UNIT.matcher(name);
            if (head.isOwn() && unit.matches()) {
                row.name = unit.group(1);
                row.unit = unit.group(2);
            }
            value(row, event, decimal(series.getValue()));
        }
    }

    private void value(Row row, TraceEvent event, double value) throws IOException {
        if (Double.isNaN(value)) {
            omissions.add(Reason.NO_NUMBER);
            return;
        }
        row.events++;
        keep(row, event.startNs, event.offset);
        events.add(
                row.number,
                event.startNs,
                event.startNs,
                event.offset,
                0,
                Double.doubleToRawLongBits(value),
                0,
                VALUE << KIND_SHIFT);
    }

    private static double decimal(String text) {
        try {
            return Double.parseDouble(text);
        } catch (NumberFormatException noNumber) {
            return Double.NaN;
        }
    }

    private void flow(TraceEvent event) throws IOException {
        if (!isTime(event.startNs, event.offset)) {
            return;
        }
        Row row = row(event);
        String id = RowNames.rankOf(event.process) + event.category + '\u0000' + event.id;
        int name = head.isOwn() ? Span.UNNAMED : name(event);
        // Writers put a flow after its slice, but another slice may begin at the same moment.
        Drawn last = lastSlice;
        boolean isOfLast = last != null && last.row == row.number && last.startNs == event.startNs;
        if (event.phase == 's') {
            flows.add(TimelineFlows.OUT, id, name, row, event.startNs, isOfLast ? last : null);
        } else if (event.bindsEnclosing) {
            flows.add(TimelineFlows.IN, id, name, row, event.startNs, isOfLast ? last : null);
        } else {
            flows.addInNext(id, name, row, event.startNs);
        }
        countArguments(event);
    }

    private void metadata(TraceEvent event) throws TraceFormatException {
        String name = event.args.getOrDefault("name", "");
        switch (event.name) {
            case "process_name" -> rows.process(event.process, event.offset).name = name;
            case "process_labels" ->
                rows.process(event.process, event.offset).label = event.args.getOrDefault("labels", "");
            case "thread_name" -> row(event).name = name;
            case "thread_sort_index" -> row(event).sortIndex = event.wholeNumber("sort_index");
            case "process_sort_index" -> {
                // Tracks are listed in the order of their first events.
            }
            default -> omissions.add(Reason.OTHER_METADATA);
        }
    }

    @Override
    void addTrack(TrackDescription track) throws TraceFormatException {
        if (described.size() == mostRows) {
            throw error(track.offset(), "there are more than " + mostRows + " tracks");
        }
        // A later description may only add to the first, which precedes the events.
        described.putIfAbsent(track.id(), track);
        if (!track.isProcess() && track.unit() == null) {
            rows.line("", Long.toUnsignedString(track.id()), track.offset());
        }
    }

    @Override
    void addWithoutTimes(String writer) throws TraceFormatException {
        throw error(
                0,
                "there is no timeline in what " + writer + " writes: it holds durations, no start times;"
                        + " the profile has their sums");
    }

    // ---- omissions ----

    @Override
    void addSkipped(long fields) {
        omissions.add(Reason.FIELD, fields);
    }

    private void countArguments(TraceEvent event) {
        omissions.add(Reason.FIELD, event.skipped);
        event.args.keySet().forEach(key -> omissions.addNamed(Reason.ARGUMENT, key));
    }

    private void countUnkept(TraceEvent event) {
        omissions.add(Reason.FIELD, event.skipped);
        for (Map.Entry<String, String> argument : event.args.entrySet()) {
            if (!isKept(argument.getKey(), argument.getValue(), event)) {
                omissions.addNamed(Reason.ARGUMENT, argument.getKey());
            }
        }
    }

    private boolean isKept(String key, String value, TraceEvent event) {
        if (head.isOwn() && OWN.contains(key)) {
            return true;
        }
        return switch (key) {
            case TraceEvent.ELEMENTS -> event.elements >= 0;
            case TraceEvent.LAYER, TraceEvent.DEVICE_NS -> TraceEvent.wholeNumberOf(value) >= 0 || value.equals("-1");
            case TraceEvent.DEVICE, TraceEvent.STREAM ->
                head.hasTracks ? isOnDevice(event) : event.kind().isDevice() || event.kind() == Kind.DEVICE_WAIT;
            case TraceEvent.CATEGORY -> value.equals(event.category);
            case OnnxRuntime.OPERATOR, OnnxRuntime.PROVIDER -> !event.operator.isEmpty();
            case TraceEvent.CORRELATION -> hasCorrelation(event);
            case TraceEvent.BYTES -> isCopy(event);
            case TraceEvent.BANDWIDTH -> isCopy(event) && isBandwidth(decimal(value), event);
            default -> false;
        };
    }

    /**
     * Returns whether a writer would derive the same bandwidth from the bytes; a writer whose clock is finer than the
     * trace's derives another one.
     */
    private static boolean isBandwidth(double gbps, TraceEvent event) {
        return Math.abs(gbps * event.elapsedNs - event.bytes) <= SAME_BANDWIDTH * event.bytes;
    }

    /**
     * Returns whether an event ran on a device. In Chrome's format, other programs may give the argument {@code device}
     * any meaning, so Kineto's categories decide.
     */
    private boolean isOnDevice(TraceEvent event) {
        if (head.isOwn() || head.hasTracks) {
            return event.wholeNumber(TraceEvent.DEVICE) >= 0;
        }
        return event.kind().isDevice() || event.category.equalsIgnoreCase(TraceEvent.AROUND);
    }

    // ---- the timeline ----

    /**
     * Returns the timeline; call it after the last event. The timeline owns the files, and its owner closes it.
     *
     * @param spans the spans that the profile of the same reading counts, which this object closes; null without one
     * @throws IOException when the temporary file cannot be written or read
     */
    TraceTimeline timeline(@Nullable CountedSpans spans) throws IOException {
        counted = spans;
        // A device whose clock is years from the host's is shown, so that the host does not hide it or the other way
        // round.
        if (!head.isOwn() && times.decide(kept / SMALL_PART)) {
            leaveOutOtherClocks();
        }
        TrackLayout layout = TrackLayout.of(rows, head, described);
        int[][] rowsOfTracks = layout.rowsOfTracks();
        flows.join(rowsOfTracks, rows);
        long longNames = names.stream()
                .filter(name -> name.name().length() > TraceNames.LONGEST)
                .count();
        omissions.add(Reason.LONG_NAME, longNames);
        omissions.add(Reason.PROCESS, layout.furtherProcesses());
        Replayed timeline = new Replayed(info(layout), List.copyOf(names), layout.tracks(), rowsOfTracks);
        return new TraceTimeline(timeline, head.isOwn(), eventsRead(), kept, listOmissions());
    }

    /** Leaves out the events that another clock timed, and counts them as faults. */
    private void leaveOutOtherClocks() throws IOException {
        for (int number = 0; number < rows.size(); number++) {
            Row row = rows.get(number);
            EventStore.Cursor cursor = events.rows(number);
            for (EventStore.Event event = cursor.next(); event != null; event = cursor.next()) {
                long kind = event.detail() >> KIND_SHIFT;
                if (kind <= VALUE && !times.contains(event.startNs())) {
                    String name =
                            kind == VALUE ? row.name : names.get(event.name()).name();
                    omissions.faultNamed(Reason.OTHER_CLOCK, name, event.offset());
                }
            }
        }
        kept -= times.others();
        earliestNs = times.firstNs(earliestNs);
    }

    private TraceInfo info(TrackLayout layout) throws TraceFormatException {
        long baseNs = kept == 0 ? 0 : head.clock(earliestNs).baseNs();
        if (head.isOwn()) {
            baseNs = Bounds.isTime(head.baseTimeNs) ? head.baseTimeNs : 0;
        }
        // A moment with a calendar time; calendar times do not precede 1970.
        long monotonicNs = Math.max(0, -baseNs);
        return TraceInfo.builder(layout.processName(), layout.pid())
                .rank(head.rank(), head.worldSize())
                .moment(monotonicNs, baseNs + monotonicNs)
                .droppedSpans(Math.max(0, head.spansLost()))
                .cutOff(head.isOwn() && head.isIncomplete)
                .clockErrorNs(head.clockErrorNs())
                .netTimes(head.hasNetTimes)
                .devices(head.devices)
                .slowSteps(head.slowSteps())
                .build();
    }

    /** Discards the events and deletes the temporary files. */
    @Override
    public void close() throws IOException {
        try (flows;
                CountedSpans spans = counted) {
            events.close();
        }
    }

    /** The timeline of the collected events. */
    private final class Replayed implements Timeline, Closeable {
        private final TraceInfo info;
        private final List<SpanName> names;
        private final List<Track> tracks;
        private final List<SpanBrick> bricks;
        private final int[][] rows;

        Replayed(TraceInfo info, List<SpanName> names, List<Track> tracks, int[][] rows) {
            this.info = info;
            this.names = names;
            this.tracks = tracks;
            this.bricks = counted == null ? List.of() : counted.bricks();
            this.rows = rows;
        }

        @Override
        public TraceInfo info() {
            return info;
        }

        @Override
        public List<SpanName> names() {
            return names;
        }

        @Override
        public List<SpanBrick> bricks() {
            return bricks;
        }

        @Override
        public List<Track> tracks() {
            return tracks;
        }

        @Override
        public void replay(int track, TimelineVisitor visitor) {
            try {
                EventStore.Cursor cursor = events.rows(rows[track]);
                CountedSpans.Cursor brick = bricksOf(rows[track]);
                TimelineFlows.Cursor flow = flows.of(track);
                int place = 0;
                for (EventStore.Event event = cursor.next(); event != null; event = cursor.next()) {
                    long kind = event.detail() >> KIND_SHIFT;
                    if (kind <= VALUE && !times.contains(event.startNs())) {
                        place++;
                        continue;
                    }
                    if (kind == VALUE) {
                        visitor.counter(event.startNs(), Double.longBitsToDouble(event.amount()));
                    } else if (kind == INSTANT) {
                        visitor.instant(event.startNs(), event.name());
                    } else if (kind == SPAN) {
                        ReplayedSpan span = new ReplayedSpan(event);
                        span.brick = brick == null ? Span.NOT_COUNTED : brick.brickOf(event);
                        span.flowOut = flow.outOf(place);
                        span.flowOutName = flow.name();
                        span.flowIn = flow.intoOf(place);
                        span.flowInName = flow.name();
                        visitor.span(span);
                    } else {
                        continue;
                    }
                    place++;
                }
            } catch (IOException failed) {
                throw new UncheckedIOException("the temporary file of the trace cannot be read", failed);
            }
        }

        private CountedSpans.@Nullable Cursor bricksOf(int[] track) throws IOException {
            CountedSpans spans = counted;
            List<Row> shown = Arrays.stream(track)
                    .mapToObj(TimelineCollector.this.rows::get)
                    .toList();
            return spans == null ? null : spans.of(shown);
        }

        @Override
        public long earliestNs() {
            return kept == 0 ? info.monotonicNs() : earliestNs;
        }

        @Override
        public void close() throws IOException {
            TimelineCollector.this.close();
        }
    }

    /** A view that moves from span to span. */
    private static final class ReplayedSpan implements Span {
        private static final long UNKNOWN = -1;

        private final EventStore.Event event;
        private int brick = NOT_COUNTED;
        private long flowOut;
        private int flowOutName;
        private long flowIn;
        private int flowInName;

        ReplayedSpan(EventStore.Event event) {
            this.event = event;
        }

        @Override
        public long startNs() {
            return event.startNs();
        }

        @Override
        public long endNs() {
            return event.endNs();
        }

        @Override
        public int name() {
            return event.name();
        }

        @Override
        public int brick() {
            return brick;
        }

        @Override
        public long elements() {
            return event.amount();
        }

        @Override
        public boolean isDeviceSample() {
            return (event.detail() & DEVICE_SAMPLE) != 0;
        }

        @Override
        public int layer() {
            return (int) event.detail();
        }

        @Override
        public Span.StatedPhase phase() {
            return Span.StatedPhase.of(event.detail() >> PHASE_SHIFT & PHASE_MASK);
        }

        @Override
        public long deviceNs() {
            return Math.max(UNKNOWN, event.deviceNs());
        }

        @Override
        public long correlation() {
            long kept = event.deviceNs();
            return kept <= FIRST_CORRELATION ? FIRST_CORRELATION - kept : UNKNOWN;
        }

        @Override
        public long flowOut() {
            return flowOut;
        }

        @Override
        public int flowOutName() {
            return flowOutName;
        }

        @Override
        public long flowIn() {
            return flowIn;
        }

        @Override
        public int flowInName() {
            return flowInName;
        }
    }
}
