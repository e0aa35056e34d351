package org.brickprofiler.trace.read;

import java.io.Closeable;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.brickprofiler.trace.read.OpenSlices.Open;

/**
 * Takes the events of a trace in the order of the file, and keeps those that may count. Until the first event that is
 * marked as the device's, that is every slice; from then on only the device's are. One thread.
 */
final class TraceCollector implements Closeable {

    private static final int MOST_DEVICES = 64;
    private static final int NOT_COUNTED = -2;

    private final String source;
    private final ReadOptions options;
    private final Tally tally = new Tally();
    private final Steps steps;
    private final OpenSlices open;
    private final Map<Row, Integer> rows = new HashMap<>();
    private final Set<String> devices = new TreeSet<>();

    private EventSorter slices = new EventSorter();
    private Kernels kernels;
    private long ignoredByRule;
    private boolean deviceSeen;
    private boolean phaseSeen;
    private boolean openArray;
    private long eventsRead;
    private long baseTimeNs;

    private record Row(String process, String thread) {}

    /**
     * Nothing taken yet.
     *
     * @param source what to call the trace in messages
     * @param options how to read
     */
    TraceCollector(String source, ReadOptions options) {
        this.source = source;
        this.options = options;
        this.steps = new Steps(source);
        this.open = new OpenSlices(options.limits().openSlices(), tally);
        this.kernels = new Kernels(options.rules(), options.limits().distinctNames());
    }

    /** The arguments that some rule looks at. */
    Set<String> argKeys() {
        return options.rules().argKeys();
    }

    /**
     * Takes an event.
     *
     * @throws TraceFormatException when a limit is reached
     * @throws IOException when the temporary file cannot be written
     */
    void accept(RawEvent event) throws IOException {
        eventsRead++;
        if (event.repeatedKey) {
            tally.repair(Repair.Kind.REPEATED_KEY, event.offset);
        }
        phaseSeen |= event.phase != RawEvent.NO_PHASE;
        switch (event.phase) {
            case 'X' -> complete(event);
            case 'B' -> begin(event);
            case 'E' -> end(event);
            case 's', 't', 'f' -> tally.ignore(IgnoredReason.FLOW);
            case 'M' -> tally.ignore(IgnoredReason.METADATA);
            case 'b', 'n', 'e', 'S', 'T', 'p', 'F' -> tally.ignore(IgnoredReason.ASYNC);
            case 'i', 'I', 'R' -> tally.ignore(IgnoredReason.INSTANT);
            case 'C' -> tally.ignore(IgnoredReason.COUNTER);
            case RawEvent.NO_PHASE -> withoutPhase(event);
            default -> tally.ignore(IgnoredReason.OTHER_PHASE);
        }
    }

    private void withoutPhase(RawEvent event) {
        if (event.keys == 0) {
            tally.ignore(IgnoredReason.EMPTY);
        } else {
            tally.repair(Repair.Kind.NO_PHASE, event.offset);
        }
    }

    /** Takes an element that is null. */
    void ignoreElement() {
        eventsRead++;
        tally.ignore(IgnoredReason.EMPTY);
    }

    private void complete(RawEvent event) throws IOException {
        SliceKind kind = SliceKind.of(event.category);
        if (isWithoutTime(kind)) {
            noteStep(kind, event);
            ignore(kind);
            return;
        }
        long endNs = event.startNs + event.elapsedNs;
        if (!isRight(event.startNs, event.offset) || !isRight(event.elapsedNs, event.offset)) {
            return;
        }
        if (isInOrder(event.startNs, endNs, event.offset)) {
            int kernel = kernel(kind, event);
            add(kind, event.startNs, endNs, event.offset, bytes(event), kernel, kernel >= 0 ? row(event) : 0);
        }
    }

    private void begin(RawEvent event) throws IOException {
        SliceKind kind = SliceKind.of(event.category);
        if (!isRight(event.startNs, event.offset)) {
            kind = SliceKind.DROPPED;
        }
        noteStep(kind, event);
        boolean mayCount = !isWithoutTime(kind) && kind != SliceKind.DROPPED;
        Open slice = new Open(
                kind, Names.hash(event.name), mayCount ? kernel(kind, event) : NOT_COUNTED, event.startNs,
                mayCount ? bytes(event) : 0, event.offset);
        if (!open.begin(row(event), slice)) {
            throw error(event, "too many slices are open at once; " + options.limits().openSlices()
                    + " is the limit of a row");
        }
    }

    private void end(RawEvent event) throws IOException {
        if (!isRight(event.startNs, event.offset)) {
            return;
        }
        int row = row(event);
        Open slice = open.end(row, event.name);
        if (slice == null) {
            tally.repair(Repair.Kind.END_WITHOUT_BEGIN, event.offset);
            return;
        }
        tally.ignore(IgnoredReason.END);
        if (slice.kind() == SliceKind.DROPPED) {
            return;
        }
        if (isWithoutTime(slice.kind())) {
            ignore(slice.kind());
        } else if (isInOrder(slice.startNs(), event.startNs, slice.offset())) {
            add(slice.kind(), slice.startNs(), event.startNs, slice.offset(), slice.bytes(), slice.kernel(), row);
        }
    }

    private static boolean isWithoutTime(SliceKind kind) {
        return kind == SliceKind.ANNOTATION || kind == SliceKind.WRAPPER || kind == SliceKind.DEVICE_WAIT;
    }

    private void ignore(SliceKind kind) {
        tally.ignore(
                switch (kind) {
                    case ANNOTATION -> IgnoredReason.ANNOTATION;
                    case WRAPPER -> IgnoredReason.WRAPPER;
                    case DEVICE_WAIT -> IgnoredReason.DEVICE_WAIT;
                    default -> IgnoredReason.HOST;
                });
    }

    private void noteStep(SliceKind kind, RawEvent event) throws TraceFormatException {
        if (kind == SliceKind.ANNOTATION && Microseconds.isTime(event.startNs)) {
            steps.add(event.name, event.startNs, event.offset);
        }
    }

    private boolean isRight(long timeNs, long offset) {
        if (Microseconds.isTime(timeNs)) {
            return true;
        }
        if (timeNs == Microseconds.ABSENT) {
            tally.repair(Repair.Kind.NO_TIME, offset);
        } else if (timeNs == Microseconds.MALFORMED) {
            tally.repair(Repair.Kind.MALFORMED_TIME, offset);
        } else {
            tally.repair(Repair.Kind.TIME_OUT_OF_RANGE, offset);
        }
        return false;
    }

    private boolean isInOrder(long startNs, long endNs, long offset) {
        if (endNs < startNs) {
            tally.repair(Repair.Kind.NEGATIVE_DURATION, offset);
            return false;
        }
        if (endNs > Microseconds.LARGEST_NS) {
            tally.repair(Repair.Kind.TIME_OUT_OF_RANGE, offset);
            return false;
        }
        return true;
    }

    private long bytes(RawEvent event) {
        if (event.bytes == RawEvent.MALFORMED_BYTES) {
            tally.repair(Repair.Kind.MALFORMED_BYTES, event.offset);
        }
        return Math.max(0, event.bytes);
    }

    /** The number of a kernel; for a slice of the host, once the device has been seen, {@link #NOT_COUNTED}. */
    private int kernel(SliceKind kind, RawEvent event) throws IOException {
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

    private void add(SliceKind kind, long startNs, long endNs, long offset, long bytes, int kernel, int row)
            throws IOException {
        if (kind.isDevice() != deviceSeen) {
            tally.ignore(IgnoredReason.HOST);
        } else if (kernel == Kernels.IGNORED) {
            ignoredByRule++;
        } else {
            slices.add(new DeviceEvent(startNs, endNs, offset, bytes, row, kernel));
        }
    }

    private int row(RawEvent event) throws TraceFormatException {
        Row row = new Row(event.process, event.thread);
        Integer number = rows.get(row);
        if (number != null) {
            return number;
        }
        if (rows.size() == options.limits().rows()) {
            throw error(event, "there are more than " + rows.size() + " rows");
        }
        rows.put(row, rows.size());
        return rows.size() - 1;
    }

    private TraceFormatException error(RawEvent event, String fault) {
        return new TraceFormatException(source, event.offset, fault);
    }

    /** The array of events ends without its bracket. */
    void openArray(long offset) {
        openArray = true;
        tally.repair(Repair.Kind.OPEN_ARRAY, offset);
    }

    boolean isOpenArray() {
        return openArray;
    }

    /** The time since 1970 that all times of the trace are relative to. */
    void baseTime(long ns) {
        baseTimeNs = ns;
    }

    /** A device that the trace was taken on. */
    void device(String name) {
        if (devices.size() < MOST_DEVICES && !name.isBlank()) {
            devices.add(Names.bounded(name));
        }
    }

    /**
     * The text is over.
     *
     * @throws TraceFormatException when it was no trace
     */
    void end(long offset) throws TraceFormatException {
        if (eventsRead > 0 && !phaseSeen) {
            throw new TraceFormatException(
                    source, offset, "none of " + Figures.count(eventsRead, "element") + " has a phase (ph): the text"
                            + " is JSON, but no trace");
        }
        open.close();
        tally.ignore(IgnoredReason.RULE, ignoredByRule);
    }

    String source() {
        return source;
    }

    Tally tally() {
        return tally;
    }

    Steps steps() {
        return steps;
    }

    EventSorter slices() {
        return slices;
    }

    Kernels kernels() {
        return kernels;
    }

    Set<String> devices() {
        return devices;
    }

    Counting counting() {
        return deviceSeen ? Counting.DEVICE_EVENTS : Counting.ALL_SLICES;
    }

    long eventsRead() {
        return eventsRead;
    }

    long baseTimeNs() {
        return baseTimeNs;
    }

    @Override
    public void close() throws IOException {
        slices.close();
    }
}
