package org.brickprofiler.trace.read;

import java.io.Closeable;
import java.io.IOException;
import java.util.Set;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.trace.read.OpenSlices.Open;

/**
 * Takes the events of a trace in the order of the file, and keeps those that may count. Until the first event that is
 * marked as the device's, that is every slice; from then on only the device's are. One thread.
 */
final class TraceCollector implements EventSink, Closeable {

    private static final int NOT_COUNTED = -2;

    private final String source;
    private final ReadOptions options;
    private final Set<String> argKeys;
    private final Tally tally = new Tally();
    private final TraceHead head;
    private final Steps steps;
    private final WarmupPhases phases;
    private final OpenSlices open;
    private final TimeCheck times = new TimeCheck(tally);
    private final Rows rows;
    private final Elements elements;

    private EventSorter slices = new EventSorter();
    private Kernels kernels;
    private long ignoredByRule;
    private boolean deviceSeen;

    /**
     * Nothing taken yet.
     *
     * @param source what to call the trace in messages
     * @param options how to read
     */
    TraceCollector(String source, ReadOptions options) {
        this.source = source;
        this.options = options;
        this.argKeys = options.rules().argKeys();
        this.head = new TraceHead(source, tally);
        this.elements = new Elements(source, tally);
        this.steps = new Steps(source);
        this.phases = new WarmupPhases(source);
        this.rows = new Rows(source, options.limits().rows());
        this.open = new OpenSlices(options.limits().openSlices(), tally);
        this.kernels = new Kernels(options.rules(), options.limits().distinctNames());
    }

    /** Whether some rule looks at it. */
    @Override
    public boolean keeps(String argument) {
        return argKeys.contains(argument);
    }

    @Override
    public void describe(PerfettoTrack track) {
        // A profile does not tell tracks apart by name.
    }

    @Override
    public void passOver(long fields) {
        // Nor does it hold anything but events.
    }

    @Override
    public void accept(RawEvent event) throws IOException {
        elements.count(event);
        switch (event.phase) {
            case 'X' -> complete(event);
            case 'B' -> begin(event);
            case 'E' -> end(event);
            case 's', 't', 'f' -> tally.ignore(IgnoredReason.FLOW);
            case 'M' -> tally.ignore(IgnoredReason.METADATA);
            case 'b', 'n', 'e', 'S', 'T', 'p', 'F' -> tally.ignore(IgnoredReason.ASYNC);
            case 'i', 'I', 'R' -> instant(event);
            case 'C' -> tally.ignore(IgnoredReason.COUNTER);
            case RawEvent.NO_PHASE -> withoutPhase(event);
            default -> tally.ignore(IgnoredReason.OTHER_PHASE);
        }
    }

    private void instant(RawEvent event) throws TraceFormatException {
        if (head.isOwn() && WarmupPhases.isPhase(event) && Microseconds.isTime(event.startNs)) {
            phases.add(event);
        }
        tally.ignore(IgnoredReason.INSTANT);
    }

    private void withoutPhase(RawEvent event) {
        if (event.keys == 0) {
            tally.ignore(IgnoredReason.EMPTY);
        } else {
            tally.repair(Repair.Kind.NO_PHASE, event.offset);
        }
    }

    @Override
    public void ignoreElement() {
        elements.countOther();
        tally.ignore(IgnoredReason.EMPTY);
    }

    private void complete(RawEvent event) throws IOException {
        SliceKind kind = kind(event);
        if (kind.isWithoutTime()) {
            noteStep(kind, event);
            tally.ignore(kind.ignoredAs());
            return;
        }
        long endNs = event.startNs + event.elapsedNs;
        if (!times.isRight(event.startNs, event.offset) || !times.isRight(event.elapsedNs, event.offset)) {
            return;
        }
        if (times.isInOrder(event.startNs, endNs, event.offset)) {
            int kernel = kernel(kind, event);
            add(kind, event.startNs, endNs, event.offset, amount(event), kernel, kernel >= 0 ? rows.number(event) : 0);
        }
    }

    private void begin(RawEvent event) throws IOException {
        SliceKind kind = kind(event);
        if (!times.isRight(event.startNs, event.offset)) {
            kind = SliceKind.DROPPED;
        }
        noteStep(kind, event);
        boolean mayCount = !kind.isWithoutTime() && kind != SliceKind.DROPPED;
        Open slice = new Open(
                kind, Names.hash(event.name), mayCount ? kernel(kind, event) : NOT_COUNTED, event.startNs,
                mayCount ? amount(event) : 0, event.offset);
        if (!open.begin(rows.number(event), slice, head.isOwn())) {
            throw error(event, "too many slices are open at once; " + options.limits().openSlices()
                    + " is the limit of a row");
        }
    }

    private void end(RawEvent event) throws IOException {
        if (!times.isRight(event.startNs, event.offset)) {
            return;
        }
        int row = rows.number(event);
        Open slice = open.end(row, event.name);
        if (slice == null) {
            tally.repair(Repair.Kind.END_WITHOUT_BEGIN, event.offset);
            return;
        }
        tally.ignore(IgnoredReason.END);
        if (slice.kind() == SliceKind.DROPPED) {
            return;
        }
        if (slice.kind().isWithoutTime()) {
            tally.ignore(slice.kind().ignoredAs());
        } else if (times.isInOrder(slice.startNs(), event.startNs, slice.offset())) {
            add(slice.kind(), slice.startNs(), event.startNs, slice.offset(), slice.amount(), slice.kernel(), row);
        }
    }

    private SliceKind kind(RawEvent event) {
        return head.isOwn() ? OwnTrace.kind(event) : SliceKind.of(event.category);
    }

    private void noteStep(SliceKind kind, RawEvent event) throws TraceFormatException {
        if (kind != SliceKind.ANNOTATION || !Microseconds.isTime(event.startNs)) {
            return;
        }
        if (head.isOwn()) {
            steps.addOwn(event.name, rows.number(event), event.startNs, event.offset);
        } else {
            steps.add(event.name, event.startNs, event.offset);
        }
    }

    private long amount(RawEvent event) {
        if (head.isOwn()) {
            return Math.max(0, event.elements);
        }
        if (event.bytes == RawEvent.MALFORMED_BYTES) {
            tally.repair(Repair.Kind.MALFORMED_BYTES, event.offset);
        }
        return Math.max(0, event.bytes);
    }

    /** The number of a kernel; for a slice of the host, once the device has been seen, {@link #NOT_COUNTED}. */
    private int kernel(SliceKind kind, RawEvent event) throws IOException {
        BrickCategory brick = kind == SliceKind.BRICK ? OwnTrace.category(event) : null;
        if (brick != null) {
            return kernels.brick(event.name, brick);
        }
        if (kind.isDevice() && !deviceSeen) {
            keepDeviceOnly();
        }
        return kind.isDevice() == deviceSeen ? kernels.number(event, kind == SliceKind.COPY) : NOT_COUNTED;
    }

    private void keepDeviceOnly() throws IOException {
        deviceSeen = true;
        tally.ignore(IgnoredReason.HOST, slices.size() + ignoredByRule);
        ignoredByRule = 0;
        slices.close();
        slices = new EventSorter();
        kernels = new Kernels(options.rules(), options.limits().distinctNames());
    }

    private void add(SliceKind kind, long startNs, long endNs, long offset, long amount, int kernel, int row)
            throws IOException {
        if (kind.isDevice() != deviceSeen) {
            tally.ignore(IgnoredReason.HOST);
        } else if (kernel == Kernels.IGNORED) {
            ignoredByRule++;
        } else {
            slices.add(new DeviceEvent(startNs, endNs, offset, amount, row, kernel));
        }
    }

    private TraceFormatException error(RawEvent event, String fault) {
        return new TraceFormatException(source, event.offset, fault);
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
        tally.ignore(IgnoredReason.RULE, ignoredByRule);
    }

    String source() {
        return source;
    }

    @Override
    public TraceHead head() {
        return head;
    }

    Tally tally() {
        return tally;
    }

    Steps steps() {
        return steps;
    }

    WarmupPhases phases() {
        return phases;
    }

    EventSorter slices() {
        return slices;
    }

    Kernels kernels() {
        return kernels;
    }

    Counting counting() {
        if (head.isOwn()) {
            return Counting.BRICKS;
        }
        return deviceSeen ? Counting.DEVICE_EVENTS : Counting.ALL_SLICES;
    }

    @Override
    public long eventsRead() {
        return elements.read();
    }

    @Override
    public void close() throws IOException {
        slices.close();
    }
}
