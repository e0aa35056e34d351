package org.brickprofiler.trace.read;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import jdk.jfr.EventType;
import jdk.jfr.ValueDescriptor;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedMethod;
import jdk.jfr.consumer.RecordedThread;
import jdk.jfr.consumer.RecordingFile;
import org.brickprofiler.internal.io.InputFile;
import org.brickprofiler.trace.FrameBricks;
import org.brickprofiler.trace.Span;
import org.brickprofiler.trace.SpanName;
import org.brickprofiler.trace.read.TraceProfile.Disturbance.Cause;
import org.eclipse.collections.impl.list.mutable.primitive.LongArrayList;
import org.jspecify.annotations.Nullable;

/**
 * Reads a recording of the Java Flight Recorder with the JDK's own reader, in two passes: first the activity of the
 * virtual machine and the relation of the clocks, then the events. If the recording has this library's
 * {@code brick.Execution} events, the profile counts them as bricks. Otherwise every event with a duration whose type
 * is not the JDK's becomes a slice of its thread, named after its type, with its fields as arguments; each
 * {@code jdk.MethodTrace} becomes a slice named after the method.
 *
 * <p>A sample of this library is placed by {@link System#nanoTime()}, which the median of the recording's
 * {@code brick.ClockAnchor}s relates to the recording's clock; without anchors, at the moment at which it was
 * committed. The offset of an event is its number. One thread.
 */
final class FlightRecordingReader {

    static final String PRODUCER = "brick-profiler jfr 1";

    /** The place of the major version of the format, in two bytes after the four of the magic. */
    private static final int VERSION_AT = 4;

    private static final String OWN = "brick.";
    private static final String EXECUTION = "brick.Execution";
    private static final String STEP = "brick.Step";
    private static final String ANCHOR = "brick.ClockAnchor";
    private static final String JDK = "jdk.";
    private static final String METHOD_TRACE = "jdk.MethodTrace";
    private static final String METHOD_TIMING = "jdk.MethodTiming";

    /** The fields of an event that determine the place of its slice. */
    private static final Set<String> EVENT_FIELDS = Set.of("startTime", "duration", "eventThread");

    private static final Set<String> STEP_FIELDS = Set.of("startTime", "duration", "elapsed", "eventThread", "phase");
    private static final Set<String> METHOD_FIELDS = Set.of("startTime", "duration", "eventThread", "method");

    /**
     * A distance between the end and the commit of a sample that no delay explains; the profiler then used another
     * clock.
     */
    private static final long OTHER_CLOCK_NS = 1_000_000_000L;

    private static final Duration LONGEST = Duration.ofNanos(Long.MAX_VALUE);

    private final Path file;
    private final EventCollector collector;
    private final TraceEvent event = new TraceEvent();
    private final Map<Long, String> threads = new HashMap<>();
    private final Set<String> threadNames = new HashSet<>();

    private final LongArrayList stopStarts = new LongArrayList();
    private final LongArrayList stopEnds = new LongArrayList();
    private final LongArrayList clockOffsets = new LongArrayList();
    private final Map<Method, RecordedEvent> timings = new HashMap<>();
    private final RecordedLines lines;

    /** The type of this library's samples in the current part of the recording; almost all events have it. */
    private @Nullable EventType executionType;

    private ExecutionFields fields = new ExecutionFields(List.of());
    private final Map<String, Span.StatedPhase> phases = new HashMap<>();

    /** The thread of the latest event, and its name. */
    private @Nullable RecordedThread latestThread;

    private String latestName = "";
    private boolean isOwn;
    private long clockOffsetNs;
    private long events;

    /** A method of a class; each overload is a separate method. Immutable. */
    private record Method(long type, String name, String descriptor) {}

    /**
     * The names of the fields of a sample, as the texts that the recording itself holds: it finds a field by its name,
     * and the same text is found faster than an equal one.
     */
    private static final class ExecutionFields {
        private final String thread;
        private final String brick;
        private final String category;
        private final String elements;
        private final String elapsed;
        private final String endNs;
        private final String phase;

        /** Whether samples state their phase; those of earlier versions do not. */
        private final boolean hasPhase;

        ExecutionFields(List<ValueDescriptor> fields) {
            thread = own(fields, "eventThread");
            brick = own(fields, "brick");
            category = own(fields, "category");
            elements = own(fields, "elements");
            elapsed = own(fields, "elapsed");
            endNs = own(fields, "endNs");
            phase = own(fields, "phase");
            hasPhase = fields.stream().anyMatch(field -> field.getName().equals(phase));
        }

        private static String own(List<ValueDescriptor> fields, String name) {
            return fields.stream()
                    .map(ValueDescriptor::getName)
                    .filter(name::equals)
                    .findFirst()
                    .orElse(name);
        }
    }

    /** Processes each event of the recording. */
    private interface EventAction {
        void event(RecordedEvent recorded) throws IOException;
    }

    private FlightRecordingReader(Path file, EventCollector collector, Optional<FrameBricks> frames) {
        this.file = file;
        this.collector = collector;
        this.lines = new RecordedLines(frames);
    }

    /**
     * Reads a recording.
     *
     * @param file the recording
     * @param collector receives the events
     * @param frames names the methods that are bricks, if the recording has none; empty if frames tell none
     * @throws TraceFormatException when it is damaged
     * @throws IOException when it cannot be read
     */
    static void read(Path file, EventCollector collector, Optional<FrameBricks> frames) throws IOException {
        FlightRecordingReader reader = new FlightRecordingReader(file, collector, frames);
        reader.pass(reader::look);
        reader.tieClocks();
        reader.stopsOfOtherCauses();
        if (reader.isOwn) {
            collector.head.producer(PRODUCER, List.of(PRODUCER), 0, 0);
        }
        reader.pass(reader::hand);
        reader.addTimings();
        collector.head.lines = reader.lines.join(
                reader.isOwn,
                reader.clockOffsets.isEmpty() ? OptionalLong.empty() : OptionalLong.of(collector.head.anchorErrorNs()));
        collector.end(reader.events);
    }

    private void pass(EventAction pass) throws IOException {
        try (RecordingFile recording = open()) {
            for (RecordedEvent next = next(recording); next != null; next = next(recording)) {
                pass.event(next);
            }
        } catch (TraceRule.TooCostly fault) {
            throw new TraceFormatException(collector.source, events, String.valueOf(fault.getMessage()), fault);
        } catch (RuntimeException | InternalError foreign) {
            throw damage(foreign); // an event of a known name lacks its expected fields
        }
    }

    /** Refuses the format of JDK 7 and 8 before 8u262, whose version is 0.9; the JDK's reader knows 1 and 2. */
    private void requireVersion() throws IOException {
        try (InputStream bytes = InputFile.open(file)) {
            byte[] head = bytes.readNBytes(VERSION_AT + 2);
            if (head.length == VERSION_AT + 2 && head[VERSION_AT] == 0 && head[VERSION_AT + 1] == 0) {
                throw new TraceFormatException(
                        collector.source,
                        VERSION_AT,
                        "it is a flight recording in the old format of Oracle's JDK 7 and 8; JDK Mission Control reads"
                                + " it, and JDK 8u262 or later records in the format that is read here");
            }
        }
    }

    private RecordingFile open() throws IOException {
        requireVersion();
        try {
            return new RecordingFile(file);
        } catch (IOException | RuntimeException | InternalError failed) {
            if (!Files.isReadable(file)) {
                throw failed;
            }
            throw damage(failed);
        }
    }

    /**
     * Returns the next event, or null at the end. The JDK's reader may throw any exception for bytes that are no
     * recording, and an {@link InternalError} for a type that it cannot create.
     */
    private @Nullable RecordedEvent next(RecordingFile recording) throws TraceFormatException {
        try {
            return recording.hasMoreEvents() ? recording.readEvent() : null;
        } catch (IOException | RuntimeException | InternalError failed) {
            throw damage(failed);
        }
    }

    private TraceFormatException damage(Throwable cause) {
        String reason = cause.getMessage() == null ? cause.getClass().getSimpleName() : cause.getMessage();
        return TraceFormatException.damage(collector.source, events, "the recording is damaged: " + reason, cause);
    }

    // ---- the first pass ----

    private void look(RecordedEvent recorded) throws IOException {
        if (isExecution(recorded)) {
            isOwn = true;
            return;
        }
        String type = recorded.getEventType().getName();
        lines.look(type, recorded);
        switch (type) {
            case ANCHOR -> anchor(recorded);
            case "jdk.GCPhasePause" -> disturb(Cause.GARBAGE_COLLECTION, recorded);
            case "jdk.ExecuteVMOperation" -> {
                if (recorded.getBoolean("safepoint")) {
                    stopStarts.add(startNs(recorded));
                    stopEnds.add(endNs(recorded));
                }
            }
            case "jdk.Compilation" -> disturb(Cause.COMPILATION, recorded);
            case "jdk.ZAllocationStall" -> disturbThread(Cause.ALLOCATION, recorded);
            case "jdk.ThreadPark" -> disturbThread(Cause.PARKED, recorded);
            case "jdk.JavaMonitorEnter" -> disturbThread(Cause.MONITOR, recorded);
            case METHOD_TIMING -> {
                // Each chunk states the sums since the beginning of the recording.
                RecordedMethod method = recorded.getValue("method");
                if (method != null) {
                    Method key = new Method(method.getType().getId(), method.getName(), method.getDescriptor());
                    timings.merge(
                            key,
                            recorded,
                            (one, two) -> two.getLong("invocations") >= one.getLong("invocations") ? two : one);
                }
            }
            default -> {
                // Lines have looked at it.
            }
        }
    }

    private void anchor(RecordedEvent recorded) {
        long beforeNs = recorded.getLong("beforeNs");
        long afterNs = recorded.getLong("afterNs");
        clockOffsets.add(startNs(recorded) - (beforeNs + (afterNs - beforeNs) / 2));
    }

    private void disturb(Cause cause, RecordedEvent recorded) {
        collector.head.disturbances.add(cause, Disturbances.ALL_ROWS, startNs(recorded), endNs(recorded));
    }

    private void disturbThread(Cause cause, RecordedEvent recorded) throws IOException {
        event.clear(0);
        event.thread = thread(recorded.getThread());
        collector.head.disturbances.add(cause, collector.row(event).number, startNs(recorded), endNs(recorded));
    }

    /**
     * Adds the safepoints that are no garbage collection pauses. The recorder reports those pauses as VM operations,
     * too.
     */
    private void stopsOfOtherCauses() {
        Disturbances disturbances = collector.head.disturbances;
        for (int i = 0; i < stopStarts.size(); i++) {
            long startNs = stopStarts.get(i);
            long endNs = stopEnds.get(i);
            if (!disturbances.isIn(Cause.GARBAGE_COLLECTION, startNs, endNs)) {
                disturbances.add(Cause.SAFEPOINT, Disturbances.ALL_ROWS, startNs, endNs);
            }
        }
    }

    private void tieClocks() {
        if (clockOffsets.isEmpty()) {
            return;
        }
        long[] sorted = clockOffsets.toSortedArray();
        clockOffsetNs = sorted[sorted.length / 2];
        collector.head.tieClocks(
                sorted.length, Math.max(sorted[sorted.length - 1] - clockOffsetNs, clockOffsetNs - sorted[0]));
    }

    // ---- the second pass ----

    private void hand(RecordedEvent recorded) throws IOException {
        event.clear(++events);
        event.phase = 'X';
        event.startNs = startNs(recorded);
        if (isExecution(recorded)) {
            execution(recorded);
            collector.accept(event);
            return;
        }
        String type = recorded.getEventType().getName();
        event.elapsedNs = nanos(recorded.getDuration());
        switch (type) {
            case STEP -> {
                event.name = recorded.getString("phase").toLowerCase(Locale.ROOT);
                event.statedPhase = Span.StatedPhase.of(event.name);
                event.ownCategory = SpanName.STEP;
                event.category = SpanName.STEP;
                // The event begins before the step and ends after it. One of an earlier version lacks the step's time.
                event.elapsedNs = recorded.hasField("elapsed") ? nanos(recorded, "elapsed") : event.elapsedNs;
                lines.stepEnded(recorded);
                fields(recorded, STEP_FIELDS);
            }
            case METHOD_TRACE -> {
                event.name = method(recorded);
                event.category = TraceHead.Timing.CATEGORY;
                fields(recorded, METHOD_FIELDS);
            }
            default -> {
                if (type.startsWith(JDK)
                        || type.startsWith(OWN)
                        || event.elapsedNs <= 0
                        || RecordedLines.tag(type, recorded).isPresent()) {
                    collector.omit(Omission.Reason.VIRTUAL_MACHINE);
                    return;
                }
                event.name = type;
                event.category = "event";
                fields(recorded, EVENT_FIELDS);
            }
        }
        event.thread = thread(recorded.getThread());
        collector.accept(event);
    }

    /** Returns whether an event is a sample of this library. Each part of a recording has its own types. */
    private boolean isExecution(RecordedEvent recorded) {
        EventType type = recorded.getEventType();
        if (type != executionType && type.getName().equals(EXECUTION)) {
            executionType = type;
            fields = new ExecutionFields(recorded.getFields());
        }
        return type == executionType;
    }

    private void execution(RecordedEvent recorded) {
        RecordedThread thread = recorded.getValue(fields.thread);
        event.name = Objects.requireNonNull(recorded.<String>getValue(fields.brick), "brick");
        event.category = Objects.requireNonNull(recorded.<String>getValue(fields.category), "category");
        event.ownCategory = event.category;
        event.elements = recorded.getLong(fields.elements);
        event.elapsedNs = recorded.getLong(fields.elapsed);
        event.statedPhase = phase(recorded);
        event.thread = thread(thread);
        long committedNs = event.startNs;
        long endNs = recorded.getLong(fields.endNs) + clockOffsetNs;
        boolean isTied = !clockOffsets.isEmpty() && Math.abs(endNs - committedNs) < OTHER_CLOCK_NS;
        event.startNs = (isTied ? endNs : committedNs) - event.elapsedNs;
        lines.brick(thread, event.name, event.statedPhase.ofStep(), event.startNs, event.elapsedNs, isTied);
    }

    /** Returns the phase of a sample; unknown in a recording of an earlier version. */
    private Span.StatedPhase phase(RecordedEvent recorded) {
        if (!fields.hasPhase) {
            return Span.StatedPhase.UNKNOWN;
        }
        String phase = Objects.requireNonNull(recorded.<String>getValue(fields.phase), "phase");
        Span.StatedPhase known = phases.get(phase);
        return known != null ? known : newPhase(phase);
    }

    private Span.StatedPhase newPhase(String phase) {
        if (phase.isEmpty()) {
            return Span.StatedPhase.NONE;
        }
        Span.StatedPhase stated = Span.StatedPhase.of(phase.toLowerCase(Locale.ROOT));
        if (stated != Span.StatedPhase.UNKNOWN) {
            phases.put(phase, stated);
        }
        return stated;
    }

    /**
     * Keeps the fields of an event as arguments; a timeline counts the fields that it cannot show.
     *
     * @param known the fields that the slice already has
     */
    private void fields(RecordedEvent recorded, Set<String> known) {
        for (ValueDescriptor field : recorded.getFields()) {
            String name = field.getName();
            boolean isWanted = collector.wants(name);
            if (isWanted || (collector.wantsKeys() && !known.contains(name))) {
                Object value = recorded.getValue(name);
                if (value != null) {
                    collector.keep(event, name, isWanted ? value.toString() : "", known.contains(name) ? null : "");
                }
            }
        }
    }

    /**
     * Adds the sums of methods. Methods of one name are one brick. A method that was never called has no times and is
     * skipped.
     */
    private void addTimings() throws TraceFormatException {
        Map<String, TraceHead.Timing> byName = new TreeMap<>();
        try {
            for (RecordedEvent recorded : timings.values()) {
                long count = recorded.getLong("invocations");
                if (count > 0) {
                    TraceHead.Timing timing = new TraceHead.Timing(
                            method(recorded),
                            count,
                            Math.multiplyExact(count, nanos(recorded, "average")),
                            nanos(recorded, "minimum"),
                            nanos(recorded, "maximum"));
                    byName.merge(timing.method(), timing, TraceHead.Timing::plus);
                }
            }
        } catch (ArithmeticException tooLarge) {
            throw new TraceFormatException(
                    collector.source, events, "the sum of the times of a method exceeds 2^63 - 1 ns", tooLarge);
        }
        byName.values().forEach(collector.head::timing);
    }

    private static long nanos(RecordedEvent recorded, String field) {
        return nanos(recorded.getDuration(field));
    }

    /**
     * Returns a duration, ns; 0 if the duration is unknown, which the recorder writes as the longest duration of all.
     */
    private static long nanos(Duration duration) {
        boolean isKnown = !duration.isNegative() && duration.compareTo(LONGEST) <= 0;
        return isKnown ? duration.toNanos() : 0;
    }

    private static String method(RecordedEvent recorded) {
        RecordedMethod method = recorded.getValue("method");
        return method == null ? TraceNames.NONE : method.getType().getName() + "." + method.getName();
    }

    /** Returns the name of an event's thread; a second thread of the same name gets its number appended. */
    private String thread(@Nullable RecordedThread thread) {
        if (thread == null) {
            return "";
        }
        if (thread != latestThread) {
            latestThread = thread;
            latestName = threads.computeIfAbsent(thread.getId(), id -> {
                String known = thread.getJavaName() == null ? thread.getOSName() : thread.getJavaName();
                String name = known == null || known.isEmpty() ? "thread " + id : known;
                return threadNames.add(name) ? name : name + " #" + id;
            });
        }
        return latestName;
    }

    private static long startNs(RecordedEvent recorded) {
        return unixNs(recorded.getStartTime());
    }

    private static long endNs(RecordedEvent recorded) {
        return unixNs(recorded.getEndTime());
    }

    private static long unixNs(Instant at) {
        return Math.addExact(Math.multiplyExact(at.getEpochSecond(), 1_000_000_000L), at.getNano());
    }
}
