package org.brickprofiler.trace.read;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import jdk.jfr.ValueDescriptor;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedMethod;
import org.brickprofiler.internal.io.InputFile;
import org.brickprofiler.internal.io.TemporaryFiles;
import org.brickprofiler.trace.FrameBricks;
import org.brickprofiler.trace.Span;
import org.brickprofiler.trace.SpanName;
import org.brickprofiler.trace.read.RecordingBytes.DamagedException;
import org.brickprofiler.trace.read.TraceProfile.Disturbance.Cause;
import org.eclipse.collections.impl.list.mutable.primitive.LongArrayList;
import org.eclipse.collections.impl.set.mutable.primitive.LongHashSet;
import org.jspecify.annotations.Nullable;

/**
 * Reads a recording of the Java Flight Recorder in three passes: the sizes of the events, which show damage; then, with
 * the JDK's own reader, the activity of the virtual machine and the relation of the clocks; then the events. If the
 * recording has this library's {@code brick.Execution} events, which are read without the JDK, the profile counts them
 * as bricks. Otherwise every event with a duration whose type is not the JDK's becomes a slice of its thread, named
 * after its type, with its fields as arguments; each {@code jdk.MethodTrace} becomes a slice named after the method.
 *
 * <p>A sample of this library is placed by {@link System#nanoTime()}, which the median of the recording's
 * {@code brick.ClockAnchor}s relates to the recording's clock; without anchors, at the moment at which it was
 * committed. The offset of an event is its number. One thread.
 */
final class FlightRecordingReader implements RecordedItems.Taker {

    static final String PRODUCER = "brick-profiler jfr 1";

    /** The place of the major version of the format, in two bytes after the four of the magic. */
    private static final int VERSION_AT = 4;

    private static final String DAMAGED = "the recording is damaged: ";
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
    private final RecordedThreads threads = new RecordedThreads();

    private final LongArrayList stopStarts = new LongArrayList();
    private final LongArrayList stopEnds = new LongArrayList();
    private final LongArrayList clockOffsets = new LongArrayList();
    private final Map<Method, RecordedEvent> timings = new HashMap<>();
    private final RecordedLines lines;

    private final Map<String, Span.StatedPhase> phases = new HashMap<>();
    private long clockOffsetNs;
    private long events;

    /** A method of a class; each overload is a separate method. Immutable. */
    private record Method(long type, String name, String descriptor) {}

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
        requireVersion(file, collector);
        RecordingSurvey survey = new RecordingSurvey(file);
        if (survey.isWhole()) {
            collector.end(new FlightRecordingReader(file, collector, frames).read(survey.events()));
            return;
        }
        Path mended = survey.mended()
                .orElseThrow(() -> new TraceFormatException(collector.source, 0, DAMAGED + survey.loss()));
        try {
            RecordingSurvey rest = new RecordingSurvey(mended);
            if (!rest.isWhole()) {
                throw new TraceFormatException(
                        collector.source, 0, DAMAGED + survey.loss() + "; before that, " + rest.loss());
            }
            long read = new FlightRecordingReader(mended, collector, frames).read(rest.events());
            if (survey.damage().isPresent()) {
                throw TraceFormatException.damage(collector.source, read, DAMAGED + survey.loss());
            }
            collector.end(read);
        } finally {
            TemporaryFiles.delete(mended);
        }
    }

    /** Reads a whole recording, and returns the number of its events. */
    private long read(Map<String, Long> counts) throws IOException {
        guarded(() -> look(counts));
        tieClocks();
        stopsOfOtherCauses();
        boolean isOwn = counts.containsKey(EXECUTION);
        if (isOwn) {
            collector.head.producer(PRODUCER, List.of(PRODUCER), 0, 0);
        }
        guarded(() -> hand(counts));
        addTimings();
        OptionalLong clockErrorNs =
                clockOffsets.isEmpty() ? OptionalLong.empty() : OptionalLong.of(collector.head.anchorErrorNs());
        collector.head.lines = new JoinedLines(() -> lines.join(isOwn, clockErrorNs));
        return events;
    }

    private interface Pass {
        void run() throws IOException;
    }

    /**
     * The JDK's reader may throw any exception for damage, and an {@link InternalError} for a type it cannot create.
     */
    private void guarded(Pass pass) throws IOException {
        try {
            pass.run();
        } catch (TraceRule.TooCostly fault) {
            throw new TraceFormatException(collector.source, events, String.valueOf(fault.getMessage()), fault);
        } catch (DamagedException | RuntimeException | InternalError foreign) {
            // An event of a known name may lack its expected fields.
            throw TraceFormatException.damage(
                    collector.source, events, DAMAGED + DamagedException.reason(foreign), foreign);
        }
    }

    /** Refuses the format of JDK 7 and 8 before 8u262, whose version is 0.9; the JDK's reader knows 1 and 2. */
    private static void requireVersion(Path file, EventCollector collector) throws IOException {
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

    // ---- the first pass ----

    private void look(Map<String, Long> counts) throws IOException {
        SelectedEvents selected = new SelectedEvents();
        selected.on(ANCHOR, this::anchor);
        selected.on("jdk.GCPhasePause", recorded -> disturb(Cause.GARBAGE_COLLECTION, recorded));
        selected.on("jdk.ExecuteVMOperation", this::operation);
        selected.on("jdk.Compilation", recorded -> disturb(Cause.COMPILATION, recorded));
        selected.on("jdk.ZAllocationStall", recorded -> disturbThread(Cause.ALLOCATION, recorded));
        selected.on("jdk.ThreadPark", recorded -> disturbThread(Cause.PARKED, recorded));
        selected.on("jdk.JavaMonitorEnter", recorded -> disturbThread(Cause.MONITOR, recorded));
        selected.on(METHOD_TIMING, this::timing);
        lines.select(selected);
        selected.read(file, counts);
    }

    private void operation(RecordedEvent recorded) {
        if (recorded.getBoolean("safepoint")) {
            stopStarts.add(startNs(recorded));
            stopEnds.add(endNs(recorded));
        }
    }

    /** Keeps the latest sums of a method: each chunk states them since the beginning of the recording. */
    private void timing(RecordedEvent recorded) {
        RecordedMethod method = recorded.getValue("method");
        if (method != null) {
            Method key = new Method(method.getType().getId(), method.getName(), method.getDescriptor());
            timings.merge(
                    key, recorded, (one, two) -> two.getLong("invocations") >= one.getLong("invocations") ? two : one);
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
        event.thread = threads.name(recorded.getThread());
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

    private void hand(Map<String, Long> counts) throws IOException {
        try (RecordedItems items = new RecordedItems(to -> readItems(counts, to))) {
            items.take(this);
        }
    }

    private void readItems(Map<String, Long> counts, RecordedItems items) throws IOException {
        try (RecordingEvents all = new RecordingEvents(file)) {
            Walk walk = new Walk(all, items);
            SelectedEvents selected = new SelectedEvents();
            counts.keySet().stream()
                    .filter(FlightRecordingReader::isHanded)
                    .forEach(type -> selected.on(type, event -> {
                        walk.advance();
                        walk.requireAt(event);
                        items.addEvent(event);
                    }));
            selected.read(file, counts);
            walk.advance();
        }
    }

    /** Returns whether events of a type become slices and are read by the JDK. */
    private static boolean isHanded(String type) {
        return type.equals(STEP)
                || type.equals(METHOD_TRACE)
                || !(type.isEmpty() || type.startsWith(JDK) || type.startsWith(OWN));
    }

    /** Goes through all events, and reads those that the JDK does not read. */
    private static final class Walk {
        private final RecordingEvents all;
        private final RecordedItems items;
        private final RecordingBytes values = new RecordingBytes();
        private final LongHashSet handed = new LongHashSet();
        private long chunkStart = -1;
        private @Nullable RecordingConstants constants;

        /** The samples of this library in the chunk, and the number of their type; null if it has none. */
        private @Nullable RecordedExecutions executions;

        private long executionType;
        private boolean isAtHanded;

        Walk(RecordingEvents all, RecordedItems items) {
            this.all = all;
            this.items = items;
        }

        /** Goes to the next event that the JDK reads, or to the end. */
        void advance() throws IOException {
            isAtHanded = false;
            while (!isAtHanded && all.next()) {
                if (all.chunk().start() != chunkStart) {
                    begin(all.chunk());
                }
                RecordedExecutions own = executions;
                if (own != null && all.type() == executionType) {
                    all.values(values);
                    own.read(values, items.addExecution());
                } else if (all.type() > RecordingChunk.CONSTANTS) {
                    isAtHanded = handed.contains(all.type());
                    if (!isAtHanded) {
                        items.addLeftOut();
                    }
                }
            }
        }

        private void begin(RecordingChunk next) throws IOException {
            chunkStart = next.start();
            executions = null;
            handed.clear();
            RecordingTypes types = all.types(next);
            constants = new RecordingConstants(all, types, constants);
            for (long number : types.events()) {
                String name = types.name(number);
                if (name.equals(EXECUTION)) {
                    executionType = number;
                    executions = new RecordedExecutions(next, types, constants, number);
                } else if (isHanded(name)) {
                    handed.add(number);
                }
            }
        }

        /** The JDK must be at the same event: one that it leaves out would be missing without a word. */
        void requireAt(RecordedEvent recorded) throws DamagedException {
            if (!isAtHanded || recorded.getEventType().getId() != all.type()) {
                throw new DamagedException("the JDK reads another event than the one at byte " + all.at());
            }
        }
    }

    @Override
    public void leftOut() {
        event.clear(++events);
        collector.omit(Omission.Reason.VIRTUAL_MACHINE);
    }

    @Override
    public void event(RecordedEvent recorded) throws IOException {
        event.clear(++events);
        String type = recorded.getEventType().getName();
        event.phase = 'X';
        event.startNs = startNs(recorded);
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
                if (event.elapsedNs <= 0 || RecordedLines.tag(type, recorded).isPresent()) {
                    collector.omit(Omission.Reason.VIRTUAL_MACHINE);
                    return;
                }
                event.name = type;
                event.category = "event";
                fields(recorded, EVENT_FIELDS);
            }
        }
        event.thread = threads.name(recorded.getThread());
        collector.accept(event);
    }

    @Override
    public void execution(RecordedExecutions.Sample sample) throws IOException {
        event.clear(++events);
        String threadName = sample.threadName;
        event.phase = 'X';
        event.name = sample.brick;
        event.category = sample.category;
        event.ownCategory = event.category;
        event.elements = sample.elements;
        event.elapsedNs = sample.elapsedNs;
        event.statedPhase = sample.phase == null ? Span.StatedPhase.UNKNOWN : phase(sample.phase);
        event.thread = threadName == null ? "" : threads.name(sample.thread, threadName);
        long endNs = sample.endNs + clockOffsetNs;
        boolean isTied = !clockOffsets.isEmpty() && Math.abs(endNs - sample.committedNs) < OTHER_CLOCK_NS;
        event.startNs = (isTied ? endNs : sample.committedNs) - event.elapsedNs;
        lines.brick(
                threadName == null ? OptionalLong.empty() : OptionalLong.of(sample.thread),
                event.name,
                event.statedPhase.ofStep(),
                event.startNs,
                event.elapsedNs,
                isTied);
        collector.accept(event);
    }

    private Span.StatedPhase phase(String phase) {
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
