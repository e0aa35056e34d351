package org.brickprofiler.trace.read;

import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.brickprofiler.trace.read.OpenSlices.Open;

/**
 * Takes the events of a trace in the order of the file, and makes a timeline of them. What a timeline has no place for
 * is counted. One thread.
 */
final class TimelineCollector implements EventSink {

    private static final Pattern NAME_AND_UNIT = Pattern.compile("(.*) \\[(.*)]", Pattern.DOTALL);

    private static final int NO_EVENT = -1;

    private final String source;
    private final ReadLimits limits;
    private final boolean isPerfetto;
    private final int mostEvents;
    private final Tally tally = new Tally();
    private final TraceHead head;
    private final TimeCheck times = new TimeCheck(tally);
    private final OpenSlices open;
    private final TimelineRows rows;
    private final TimelineNames names;
    private final EventColumns events = new EventColumns();
    private final Losses losses = new Losses();
    private final TimelineFlows flows = new TimelineFlows(losses);
    private final TimelineArguments arguments;
    private final Elements elements;
    private final Map<Long, PerfettoTrack> described = new TreeMap<>();

    /** The slice that came last, which a flow may belong to. */
    private int lastSlice = NO_EVENT;

    /**
     * Nothing taken yet.
     *
     * @param source what to call the trace in messages
     * @param limits what bounds the memory, beside
     * @param mostEvents how many events there may be
     * @param isPerfetto whether the trace is in Perfetto's format
     */
    TimelineCollector(String source, ReadLimits limits, int mostEvents, boolean isPerfetto) {
        this.source = source;
        this.limits = limits;
        this.mostEvents = mostEvents;
        this.isPerfetto = isPerfetto;
        this.head = new TraceHead(source, tally);
        this.elements = new Elements(source, tally);
        this.open = new OpenSlices(limits.openSlices(), tally);
        this.rows = new TimelineRows(source, limits.rows());
        this.names = new TimelineNames(source);
        this.arguments = new TimelineArguments(head, isPerfetto, losses);
    }

    @Override
    public void accept(RawEvent event) throws TraceFormatException {
        elements.count(event);
        switch (event.phase) {
            case 'X' -> complete(event);
            case 'B' -> begin(event);
            case 'E' -> end(event);
            case 'i', 'I', 'R' -> instant(event);
            case 'C' -> counter(event);
            case 's', 'f' -> flow(event);
            case 'M' -> metadata(event);
            case 't' -> losses.add(Loss.FURTHER_FLOW);
            case 'b', 'n', 'e', 'S', 'T', 'p', 'F' -> losses.add(Loss.ASYNC);
            case RawEvent.NO_PHASE -> withoutPhase(event);
            default -> losses.add(Loss.OTHER_PHASE);
        }
    }

    private void withoutPhase(RawEvent event) {
        if (event.keys != 0) {
            tally.repair(Repair.Kind.NO_PHASE, event.offset);
        }
    }

    // ---- slices ----

    private void complete(RawEvent event) throws TraceFormatException {
        if (head.isOwn() && event.args.containsKey(OwnTrace.DERIVED)) {
            return;
        }
        long endNs = event.startNs + event.elapsedNs;
        if (times.isRight(event.startNs, event.offset)
                && times.isRight(event.elapsedNs, event.offset)
                && times.isInOrder(event.startNs, endNs, event.offset)) {
            int row = rows.line(event.process, event.thread, event.offset);
            lastSlice = addSpan(row, event);
            events.setEnd(lastSlice, endNs);
        }
    }

    private void begin(RawEvent event) throws TraceFormatException {
        int row = rows.line(event.process, event.thread, event.offset);
        boolean isRight = times.isRight(event.startNs, event.offset);
        int number = isRight ? addSpan(row, event) : NO_EVENT;
        lastSlice = isRight ? number : lastSlice;
        SliceKind kind = isRight ? SliceKind.OTHER : SliceKind.DROPPED;
        Open slice = new Open(kind, Names.hash(event.name), number, event.startNs, 0, event.offset);
        if (!open.begin(row, slice, head.isOwn())) {
            throw new TraceFormatException(
                    source, event.offset, "too many slices are open at once; " + limits.openSlices()
                            + " is the limit of a row");
        }
    }

    private void end(RawEvent event) throws TraceFormatException {
        if (!times.isRight(event.startNs, event.offset)) {
            return;
        }
        Open slice = open.end(rows.line(event.process, event.thread, event.offset), event.name);
        if (slice == null) {
            tally.repair(Repair.Kind.END_WITHOUT_BEGIN, event.offset);
            return;
        }
        event.args.keySet().forEach(losses::argument);
        losses.add(Loss.FIELD, event.skipped);
        if (slice.kind() != SliceKind.DROPPED && times.isInOrder(slice.startNs(), event.startNs, slice.offset())) {
            events.setEnd(slice.kernel(), event.startNs);
        }
    }

    /** Adds a span whose end is still to be set. */
    private int addSpan(int row, RawEvent event) throws TraceFormatException {
        requireRoom(event);
        TimelineRows.Row of = rows.get(row);
        of.events++;
        arguments.noteDevice(of, event);
        int name = names.of(event.name, category(event), event.offset);
        int number = events.addOpenSpan(row, event.startNs, name, event.elements, layer(event, row));
        long deviceNs = TrackLayout.wholeNumber(event.args.getOrDefault(OwnTrace.DEVICE_NS, ""));
        if (deviceNs >= 0) {
            events.setDeviceNs(number, deviceNs);
        }
        if (head.isOwn() && event.isDeviceSample) {
            events.setDeviceSample(number);
        }
        event.flowsOut.forEach(flow -> flows.begin(Long.toString(flow), number, row, event.startNs));
        event.flowsIn.forEach(flow -> flows.end(Long.toString(flow), number, row, event.startNs));
        arguments.countLosses(event);
        return number;
    }

    private void requireRoom(RawEvent event) throws TraceFormatException {
        if (events.size() == mostEvents) {
            throw new TraceFormatException(
                    source, event.offset, "there are more than " + Figures.count(mostEvents) + " events, "
                            + "which is all that a timeline holds in this heap; a larger one (java -Xmx) holds up to "
                            + Figures.count(TimelineReader.MOST_EVENTS));
        }
    }

    private String category(RawEvent event) {
        return head.isOwn() ? event.ownCategory : event.category;
    }

    /** The layer that an event tells; in traces that leave out what goes without saying, that of the slice around. */
    private int layer(RawEvent event, int row) {
        String told = event.args.get(OwnTrace.LAYER);
        if (told != null) {
            return (int) Math.min(TrackLayout.wholeNumber(told), Integer.MAX_VALUE);
        }
        Open around = head.leavesOut() ? open.innermost(row) : null;
        return around == null || around.kernel() < 0 ? EventColumns.NO_LAYER : events.layer(around.kernel());
    }

    // ---- moments, values, flows ----

    private void instant(RawEvent event) throws TraceFormatException {
        if (head.isOwn() && event.args.containsKey(OwnTrace.DROPPED)) {
            return;
        }
        if (times.isRight(event.startNs, event.offset)) {
            requireRoom(event);
            int row = rows.line(event.process, event.thread, event.offset);
            rows.get(row).events++;
            events.addInstant(row, event.startNs, names.of(event.name, category(event), event.offset));
            losses.add(Loss.LOOSE_FLOW, event.flowsOut.size() + event.flowsIn.size());
            arguments.countLosses(event);
        }
    }

    private void counter(RawEvent event) throws TraceFormatException {
        if (!times.isRight(event.startNs, event.offset)) {
            return;
        }
        losses.add(Loss.FIELD, event.skipped);
        if (isPerfetto) {
            addValue(rows.counter(event.process, event.thread, event.offset), event, event.value);
            event.args.keySet().forEach(losses::argument);
            return;
        }
        String counter = event.id.isEmpty() ? event.name : event.name + " " + event.id;
        for (Map.Entry<String, String> series : event.args.entrySet()) {
            String name = series.getKey().equals("value") ? counter : counter + " " + series.getKey();
            int row = rows.counter(event.process, name, event.offset);
            Matcher unit = NAME_AND_UNIT.matcher(name);
            if (head.isOwn() && unit.matches()) {
                rows.get(row).name = unit.group(1);
                rows.get(row).unit = unit.group(2);
            }
            addValue(row, event, decimal(series.getValue()));
        }
    }

    private void addValue(int row, RawEvent event, double value) throws TraceFormatException {
        if (Double.isNaN(value)) {
            losses.add(Loss.NO_NUMBER);
            return;
        }
        requireRoom(event);
        rows.get(row).events++;
        events.addValue(row, event.startNs, value);
    }

    private static double decimal(String text) {
        try {
            return Double.parseDouble(text);
        } catch (NumberFormatException noNumber) {
            return Double.NaN;
        }
    }

    private void flow(RawEvent event) throws TraceFormatException {
        if (!times.isRight(event.startNs, event.offset)) {
            return;
        }
        int row = rows.line(event.process, event.thread, event.offset);
        String id = event.category + '\u0000' + event.id;
        // Writers of traces put a flow behind its slice; another one may begin at the same moment.
        boolean isOfLast = lastSlice >= 0 && events.row(lastSlice) == row && events.startNs(lastSlice) == event.startNs;
        if (event.phase == 's') {
            flows.begin(id, isOfLast ? lastSlice : TimelineFlows.AROUND, row, event.startNs);
        } else if (event.bindsEnclosing) {
            flows.end(id, isOfLast ? lastSlice : TimelineFlows.AROUND, row, event.startNs);
        } else {
            flows.end(id, TimelineFlows.NEXT, row, event.startNs);
        }
        event.args.keySet().forEach(losses::argument);
        losses.add(Loss.FIELD, event.skipped);
    }

    private void metadata(RawEvent event) throws TraceFormatException {
        String name = event.args.getOrDefault("name", "");
        switch (event.name) {
            case "process_name" -> rows.process(event.process, event.offset).name = name;
            case "process_labels" -> rows.process(event.process, event.offset).label =
                    event.args.getOrDefault("labels", "");
            case "thread_name" -> rows.get(rows.line(event.process, event.thread, event.offset)).name = name;
            case "thread_sort_index" -> rows.get(rows.line(event.process, event.thread, event.offset)).sortIndex =
                    TrackLayout.wholeNumber(event.args.getOrDefault("sort_index", ""));
            case "process_sort_index" -> {
                // Tracks stand in the order of their first events.
            }
            default -> losses.add(Loss.METADATA);
        }
    }

    @Override
    public void describe(PerfettoTrack track) throws TraceFormatException {
        if (described.size() == limits.rows()) {
            throw new TraceFormatException(source, track.offset(), "there are more than " + limits.rows() + " tracks");
        }
        // A later one may only add to the first, which stands before the events.
        described.putIfAbsent(track.uuid(), track);
        track.labels().forEach(head::label);
        if (!track.isProcess() && track.unit() == null) {
            rows.line("", Long.toUnsignedString(track.uuid()), track.offset());
        }
    }

    // ---- the trace itself ----

    @Override
    public TraceHead head() {
        return head;
    }

    @Override
    public boolean keeps(String argument) {
        return true;
    }

    @Override
    public long eventsRead() {
        return elements.read();
    }

    @Override
    public void passOver(long fields) {
        losses.add(Loss.FIELD, fields);
    }

    @Override
    public void ignoreElement() {
        elements.countOther();
    }

    @Override
    public void lostState(long offset) {
        elements.lostState(offset);
    }

    @Override
    public void openArray(long offset) {
        elements.openArray(offset);
    }

    @Override
    public boolean isOpenArray() {
        return elements.isOpenArray();
    }

    @Override
    public void end(long offset) throws TraceFormatException {
        elements.end(offset);
        open.close();
    }

    /** The timeline, once the text is over. */
    TimelineReading reading() {
        TrackLayout layout =
                isPerfetto ? PerfettoLayout.of(rows, head, described) : ChromeLayout.of(rows, head);
        TimelineLines lines = new TimelineLines(events, layout);
        flows.tie(events, lines);
        losses.add(Loss.LONG_NAME, names.cut());
        losses.add(Loss.PROCESS, layout.furtherProcesses());
        ReadTimeline timeline = new ReadTimeline(
                TimelineInfo.of(head, layout, lines.earliestNs()), names.all(), layout.tracks(), events, lines);
        return new TimelineReading(
                timeline, head.isOwn(), elements.read(), lines.size(), losses.counts(), losses.arguments(), tally.repairs());
    }
}
