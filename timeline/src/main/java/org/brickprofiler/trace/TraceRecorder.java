package org.brickprofiler.trace;

import static org.brickprofiler.internal.base.Checks.requireNotNegative;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.brickprofiler.internal.record.NameTable;
import org.brickprofiler.internal.record.PerThread;
import org.brickprofiler.internal.record.SettingAction;
import org.brickprofiler.internal.record.SpanContents;
import org.brickprofiler.internal.record.SpanCopy;
import org.brickprofiler.internal.record.SpanKind;
import org.brickprofiler.internal.record.SpanSink;
import org.brickprofiler.internal.record.SpanSinks;
import org.brickprofiler.internal.record.SpanStore;
import org.brickprofiler.internal.record.SpanWriter;
import org.brickprofiler.internal.record.WallClock;
import org.brickprofiler.request.RequestTimeline;
import org.brickprofiler.request.WaitSource;
import org.brickprofiler.spi.NanoClock;
import org.brickprofiler.spi.Tracing;
import org.brickprofiler.trace.TraceInfo.Device;
import org.brickprofiler.trace.internal.RequestWaits;
import org.brickprofiler.trace.internal.StopLog;
import org.jspecify.annotations.Nullable;

/**
 * Records timelines: every brick, layer and forward pass of the profilers that use it, and the events that an
 * application adds.
 *
 * <pre>{@code
 * TraceRecorder trace = new TraceRecorder();
 * BrickProfiler profiler = BrickProfiler.builder().tracing(trace).build();
 * ... // profile
 * TraceFiles.write(trace.timeline(), Path.of("pass.pftrace"));
 * }</pre>
 *
 * <p>A brick that a device timed appears twice: its launch on the track of the thread that stopped it, and its work on
 * the track of its stream. A flow connects the two.
 *
 * <p>Every method may be called from any thread. Recording takes no lock and never waits, and allocates only for a
 * thread's first event, for new names, and while a thread's buffer grows to its bound. An event takes 24 bytes. If a
 * buffer is full, the newest or the first events stay, as chosen by {@link TraceRecorder.Builder#keepNewest}; lost
 * events are counted. A buffer outlives its thread until {@link #clear}; a recorder that
 * {@linkplain TraceRecorder.Builder#keepSlowSteps keeps slow steps} frees it once no step needs it any more. Of an
 * unreachable profiler only the events stay, until {@link #clear}. Virtual threads share buffers.
 *
 * <p>The recorder has no switch: a profiler that is off records nothing here either.
 */
public final class TraceRecorder implements Tracing {

    /** The suffix of the name of a span whose end was unknown when the timeline was made. */
    public static final String NOT_ENDED = " (not ended)";

    /** The most open spans that one timeline shows; further ones count as lost. */
    private static final int MOST_OPEN_SPANS = 1 << 20;

    static {
        SpanSinks.register(TraceRecorder.class, recorder -> recorder.profilers);
    }

    private final NanoClock clock;
    private final TraceRecorder.Builder.RunProcess process;
    private final int threadCapacity;
    private final boolean keepNewest;
    private final AtomicLong budget;

    private final StopLog stops = new StopLog();
    private final ProcessorWaits waits = new ProcessorWaits();

    /** Chooses steps; null if the spans of all steps are kept. */
    private final @Nullable SlowStepKeeper keeper;

    /** Joins samples of stacks with bricks; null unless lines are kept. */
    private final @Nullable LineLog lines;

    private final EventNames names = new EventNames();
    private final ProfilerSpans profilers;
    private final ThreadEvents own;
    private final ThreadEvents assigned;
    private final ThreadEvents pushed;
    private final SpanStore deviceStore;

    /** Guarded by itself. */
    private final Map<String, DeviceTrack> devices = new LinkedHashMap<>();

    /** Reports of spans that have not ended. */
    private final List<OpenSpans> openSpans = new CopyOnWriteArrayList<>();

    /** Units by the key of the counter. Guarded by itself. */
    private final Map<Integer, String> units = new LinkedHashMap<>();

    /** Creates a recorder with the default options. */
    public TraceRecorder() {
        this(builder());
    }

    TraceRecorder(TraceRecorder.Builder options) {
        clock = options.clock;
        process = options.process;
        threadCapacity = options.threadCapacity;
        keepNewest = options.keepNewest;
        boolean keepsAll = options.slowSteps == 0;
        // A timeline of all steps asks for no times of threads, and need not load the beans that know them.
        SystemTimes times = keepsAll && !options.lines ? SystemTimes.NONE : options.systemTimes();
        // The buffers of threads, which grow to their bounds, must leave room for the steps that are kept.
        budget = new AtomicLong(keepsAll ? options.totalCapacity : options.totalCapacity - options.totalCapacity / 2);
        keeper = keepsAll
                ? null
                : new SlowStepKeeper(
                        options.slowSteps,
                        times,
                        options.clock == NanoClock.SYSTEM ? new WallClock() : clockNs -> WallClock.UNKNOWN,
                        stops,
                        waits,
                        new AtomicLong(options.totalCapacity / 2),
                        this::sources);
        own = new ThreadEvents(newStore());
        assigned = new ThreadEvents(newStore());
        pushed = new ThreadEvents(newStore());
        deviceStore = newStore();
        profilers = new ProfilerSpans(this, this::newStore, options.tiles, keeper);
        lines = options.lines
                ? new LineLog(profilers::brickSources, times::ranNs, keeper == null ? null : keeper::addSamples)
                : null;
    }

    /** Returns all buffers, for the choice of steps. */
    private List<StepWindow.Source> sources() {
        List<StepWindow.Source> sources = new ArrayList<>();
        profilers.addTo(sources);
        for (SpanStore store : List.of(own.store, assigned.store, pushed.store, deviceStore)) {
            sources.add(new StepWindow.Source(store.contents(), names, StepWindow.Content.FURTHER));
        }
        return sources;
    }

    /**
     * Begins to choose options.
     *
     * @return a builder with the default options
     */
    public static TraceRecorder.Builder builder() {
        return new TraceRecorder.Builder();
    }

    /**
     * Returns the recorder of all profilers that were built without one. If the system property
     * {@code brick.profiler.trace} or the environment variable {@code BRICK_PROFILER_TRACE} names a file, the timeline
     * is written there when the virtual machine ends. If {@code brick.profiler.lines} or {@code BRICK_PROFILER_LINES}
     * is {@code on}, the recorder keeps {@linkplain #lines lines}, which are in the profile that
     * {@code BRICK_PROFILER_OUT} names. The settings are read once, at the first call or by the first profiler.
     *
     * <pre>{@code
     * TraceRecorder.configured().ifPresent(recorder -> recorder.instant("first token"));
     * }</pre>
     *
     * @return the same recorder each time; empty if no setting asks for it, or if the value does not name a file of a
     *     timeline, which is logged
     */
    public static Optional<TraceRecorder> configured() {
        return SettingAction.sink() instanceof ProfilerSpans spans ? Optional.of(spans.recorder()) : Optional.empty();
    }

    private SpanStore newStore() {
        return new SpanStore(threadCapacity, keepNewest, budget);
    }

    /** The buffers of events that no profiler records. Any thread. */
    static final class ThreadEvents {

        private final SpanStore store;
        private final PerThread<SpanWriter, @Nullable Void> threads;

        private ThreadEvents(SpanStore store) {
            this.store = store;
            this.threads = new PerThread<>(store::newWriter, null, true);
        }

        void mark(SpanKind kind, int key, long startNs, long elapsedNs, long value) {
            SpanWriter mine = threads.mine();
            mine.add(kind, key, startNs, elapsedNs, value);
            threads.release(mine);
        }
    }

    // ---- events of an application ----

    /**
     * Reads the recorder's clock, which all times passed to this recorder refer to.
     *
     * @return ns since an arbitrary, fixed origin; may be negative
     */
    public long nowNs() {
        return clock.nanoTime();
    }

    /**
     * Marks this moment on the calling thread's track.
     *
     * @param name the event
     * @throws IllegalArgumentException when the name is empty
     */
    public void instant(String name) {
        Objects.requireNonNull(name, "name");
        own.mark(SpanKind.INSTANT, names.keyOf(name), clock.nanoTime(), 0, 0);
    }

    /**
     * Marks a moment on the calling thread's track.
     *
     * @param name the event
     * @param category its category
     * @param atNs when, ns on the recorder's clock
     * @throws IllegalArgumentException when a name is empty
     */
    public void instant(String name, String category, long atNs) {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(category, "category");
        own.mark(SpanKind.INSTANT, names.keyOf(name, category), atNs, 0, 0);
    }

    /**
     * Marks a moment on the track of a thread that need not be the calling one.
     *
     * @param name the event
     * @param category its category
     * @param atNs when, ns on the recorder's clock
     * @param threadId the thread to which it happened, by {@link Thread#getId()}
     * @throws IllegalArgumentException when a name is empty
     */
    public void instant(String name, String category, long atNs, long threadId) {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(category, "category");
        assigned.mark(SpanKind.INSTANT, names.keyOf(name, category), atNs, 0, threadId);
    }

    /**
     * Adds a span to the calling thread's track.
     *
     * @param name its name
     * @param category its category
     * @param startNs when it began, ns on the recorder's clock
     * @param elapsedNs how long it took, ns
     * @throws IllegalArgumentException when the duration is negative, or a name is empty
     */
    public void span(String name, String category, long startNs, long elapsedNs) {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(category, "category");
        requireDuration(elapsedNs);
        own.mark(SpanKind.SPAN, names.keyOf(name, category), startNs, elapsedNs, -1);
    }

    /**
     * Adds a span to the track of a thread that need not be the calling one.
     *
     * @param name its name
     * @param category its category
     * @param startNs when it began, ns on the recorder's clock
     * @param elapsedNs how long it took, ns
     * @param threadId the thread that did it, by {@link Thread#getId()}
     * @throws IllegalArgumentException when the duration is negative, or a name is empty
     */
    public void span(String name, String category, long startNs, long elapsedNs, long threadId) {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(category, "category");
        requireDuration(elapsedNs);
        assigned.mark(SpanKind.SPAN, names.keyOf(name, category), startNs, elapsedNs, threadId);
    }

    /**
     * Adds a span that ends now and began the elapsed time earlier.
     *
     * @param name its name
     * @param category its category
     * @param elapsedNs how long it took, ns
     * @param tid the number of its track, 0 or more. The track is one of pushed timers, named {@code timers} and the
     *     number, and not that of a thread. If a thread of the timeline has that number, the track's number in a file
     *     is 1,000,000 higher
     * @throws IllegalArgumentException when a number is negative, or a name is empty
     */
    public void push(String name, String category, long elapsedNs, int tid) {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(category, "category");
        requireDuration(elapsedNs);
        if (tid < 0) {
            throw new IllegalArgumentException("the number of a track is not negative: " + tid);
        }
        pushed.mark(SpanKind.SPAN, names.keyOf(name, category), clock.nanoTime() - elapsedNs, elapsedNs, tid);
    }

    /**
     * Adds a stop of all threads by the virtual machine for a reason other than a garbage collection, as the event
     * {@code jdk.ExecuteVMOperation} of a flight recording reports it. Only the explanation of slow steps uses it.
     *
     * @param startNs when it began, ns on the recorder's clock
     * @param elapsedNs how long it took, ns
     * @throws IllegalArgumentException when the duration is negative
     */
    public void virtualMachineStopped(long startNs, long elapsedNs) {
        requireDuration(elapsedNs);
        stops.add(new StopLog.Stop(startNs, startNs + elapsedNs));
    }

    /**
     * Adds a time in which a thread waited for a lock. Only the explanation of slow steps uses it.
     *
     * @param threadId the thread, by {@link Thread#getId()}
     * @param startNs when it began, ns on the recorder's clock
     * @param elapsedNs how long it took, ns
     * @param lock what blocked it, such as {@code "monitor of com.example.Cache, held by worker-1"}
     * @throws IllegalArgumentException when the duration is negative, or the lock is empty
     */
    public void threadBlocked(long threadId, long startNs, long elapsedNs, String lock) {
        requireDuration(elapsedNs);
        if (Objects.requireNonNull(lock, "lock").isEmpty()) {
            throw new IllegalArgumentException("a lock has a name");
        }
        stops.add(new StopLog.Block(threadId, startNs, startNs + elapsedNs, lock));
    }

    /**
     * Adds a garbage collection. Only the {@linkplain #waitSource waits of requests} use it: slow steps read the
     * collections from the JDK's beans.
     *
     * @param startNs when it stopped all threads, ns on the recorder's clock
     * @param elapsedNs how long, ns
     * @throws IllegalArgumentException when the duration is negative
     */
    public void threadsCollected(long startNs, long elapsedNs) {
        requireDuration(elapsedNs);
        stops.add(new StopLog.Pause(startNs, startNs + elapsedNs));
    }

    /**
     * Adds a reading of the CPU quota of this process, as the event {@code jdk.ContainerCPUThrottling} of a flight
     * recording states it. The time in which a thread waited for a processor counts as throttled, as far as the sum
     * grew between the readings around it.
     *
     * @param atNs when it was read, ns on the recorder's clock
     * @param sumNs for how long the quota has throttled the process since some fixed moment, ns
     * @throws IllegalArgumentException when the sum is negative
     */
    public void quotaRead(long atNs, long sumNs) {
        requireNotNegative("sumNs", sumNs);
        stops.throttled(atNs, sumNs);
    }

    /**
     * States that all stops between two times have been reported: a step within this period had no further stop. An
     * application that never calls this must report each stop before it asks for a timeline.
     *
     * @param fromNs the earlier time, ns on the recorder's clock
     * @param untilNs the later time
     * @throws IllegalArgumentException when {@code untilNs} is before {@code fromNs}
     */
    public void virtualMachineStopsReported(long fromNs, long untilNs) {
        if (untilNs < fromNs) {
            throw new IllegalArgumentException("stops are reported from " + fromNs + " ns until " + untilNs);
        }
        stops.reported(fromNs, untilNs);
        if (keeper != null) {
            keeper.readQuota();
        }
    }

    /**
     * Returns a source that splits the waits of requests by what was reported to this recorder: garbage collections,
     * blocked threads and a CPU quota; and by how long threads that run steps waited for a processor. The latter is
     * known on Linux, from the end of the thread's first step on, while this recorder
     * {@linkplain TraceRecorder.Builder#keepSlowSteps keeps slow steps}. Between two steps, a thread is assumed to wait
     * only when it has something to do, which is at the end; within a step, evenly.
     *
     * @param name the name of the source in reports; if no quota was read, it is followed by the note that throttling
     *     is unknown
     * @return a new source, for a recorder of requests with the clock of this recorder
     */
    public WaitSource waitSource(String name) {
        Objects.requireNonNull(name, "name");
        return new RequestWaits(name, stops, waits::betweenNs);
    }

    private static void requireDuration(long elapsedNs) {
        if (elapsedNs < 0) {
            throw new IllegalArgumentException("elapsedNs " + elapsedNs + " is negative");
        }
    }

    /** Reports spans that have begun and not ended, so that a timeline can show them. Any thread. */
    @FunctionalInterface
    public interface OpenSpans {
        /**
         * Reports the spans that are open now.
         *
         * @param to receives each of them
         */
        void report(OpenSpanVisitor to);
    }

    /** Receives open spans. */
    @FunctionalInterface
    public interface OpenSpanVisitor {
        /**
         * Receives an open span.
         *
         * @param name its name
         * @param category its category
         * @param startNs when it began, ns on the recorder's clock
         * @param threadId the thread that does it, by {@link Thread#getId()}
         * @throws IllegalArgumentException when a name is empty
         */
        void span(String name, String category, long startNs, long threadId);
    }

    /**
     * Adds a source of open spans. Each {@link #timeline()} shows the open spans on the tracks of their threads, from
     * their beginning to the moment of the call, with {@value #NOT_ENDED} appended to the name. A timeline of
     * {@linkplain TraceRecorder.Builder#keepSlowSteps slow steps} does not show them. The source itself records a span
     * once it ends.
     *
     * @param source the source, which the recorder keeps alive
     */
    public void addOpenSpans(OpenSpans source) {
        openSpans.add(Objects.requireNonNull(source, "source"));
    }

    private List<SpanCopy> openSpansNow() {
        SpanStore open = new SpanStore(MOST_OPEN_SPANS, keepNewest, new AtomicLong(MOST_OPEN_SPANS));
        SpanWriter writer = open.newWriter(null);
        long nowNs = clock.nanoTime();
        OpenSpanVisitor visitor = (name, category, startNs, threadId) -> writer.add(
                SpanKind.SPAN,
                names.keyOf(
                        Objects.requireNonNull(name, "name") + NOT_ENDED, Objects.requireNonNull(category, "category")),
                startNs,
                Math.max(0, nowNs - startNs),
                threadId);
        openSpans.forEach(source -> source.report(visitor));
        return open.copies();
    }

    /**
     * Returns a counter.
     *
     * @param name its name
     * @param unit the unit of its values; may be empty
     * @return the counter of that name, with the first unit given for it
     * @throws IllegalArgumentException when the name is empty
     */
    public TraceRecorder.Counter counter(String name, String unit) {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(unit, "unit");
        int key = names.keyOf(name);
        synchronized (units) {
            units.putIfAbsent(key, unit);
        }
        return new TraceRecorder.Counter(clock, own, key);
    }

    /**
     * Returns the track of a stream of a device.
     *
     * @param device the device
     * @param name the name of the stream
     * @param streamId its number on the device; CUDA's tools begin with 7, and some readers of traces interpret 0 as no
     *     stream
     * @return the track of that stream, the same at each call, with the first name given for it
     */
    public DeviceTrack stream(Device device, String name, long streamId) {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(device, "device");
        synchronized (devices) {
            return devices.computeIfAbsent(
                    device.id() + ":" + streamId, place -> new DeviceTrack(device, name, streamId, names, deviceStore));
        }
    }

    // ---- results ----

    /**
     * Returns the timeline of all events that are held, or of the chosen steps if this recorder
     * {@linkplain TraceRecorder.Builder#keepSlowSteps keeps slow steps}. The call copies the buffers, and needs four
     * more bytes per event.
     *
     * @return an immutable timeline
     */
    public Timeline timeline() {
        profilers.catchUp();
        SlowStepKeeper.Kept kept = keeper == null ? null : keeper.kept();
        Function<SpanContents, List<SpanCopy>> copies = kept == null ? SpanContents::copies : kept::of;
        List<SpanCopy> ownCopies = copies.apply(own.store.contents());
        List<DeviceTrack> streams;
        synchronized (devices) {
            streams = List.copyOf(devices.values());
        }
        TimelineBuilder timeline = new TimelineBuilder(copies);
        profilers.bricks().forEach(timeline::addBricks);
        profilers.tiles().forEach(source -> timeline.addToThreads(copies.apply(source.contents()), source.names()));
        timeline.addToThreads(ownCopies, names);
        timeline.addToOtherThreads(copies.apply(assigned.store.contents()), names);
        if (kept == null) {
            timeline.addToOtherThreads(openSpansNow(), names);
        }
        timeline.endThreads();
        timeline.addPushed(copies.apply(pushed.store.contents()), names);
        synchronized (units) {
            timeline.addCounters(ownCopies, names, units);
        }
        timeline.addDevices(streams, names, deviceStore.contents());
        timeline.addTimed(profilers.streams());
        timeline.endDevices();
        timeline.addLost(profilers.lost());
        // At the full resolution of the system's clock: an error of a millisecond would show beside the traces of other
        // programs.
        long unixNs = ChronoUnit.NANOS.between(Instant.EPOCH, Instant.now());
        return timeline.build(
                process, clock.nanoTime(), unixNs, Optional.ofNullable(kept).map(SlowStepKeeper.Kept::steps));
    }

    /**
     * Returns the timeline of all events that are held, and a track for each request of a profiler. The spans of such a
     * track are the request's time by cause; flows lead to them from the steps that worked on the request.
     *
     * @param requests the latest requests of a profiler of this process, whose clock is the recorder's:
     *     {@code profiler.snapshot().requestTimeline()}. Requests whose steps are no longer known have no track
     * @return an immutable timeline
     */
    public Timeline timeline(RequestTimeline requests) {
        Objects.requireNonNull(requests, "requests");
        Timeline events = timeline();
        return requests.requests().isEmpty() ? events : new RequestTracks(events, requests, requests.epochNs());
    }

    /**
     * Returns the slowest steps up to now with their explanations, as {@link #timeline()} does, without their spans.
     *
     * @return the steps; empty unless this recorder {@linkplain TraceRecorder.Builder#keepSlowSteps keeps slow steps}
     */
    public Optional<SlowSteps> slowSteps() {
        if (keeper == null) {
            return Optional.empty();
        }
        profilers.catchUp();
        return Optional.of(keeper.kept().steps());
    }

    /**
     * Returns where samples of stacks are joined with bricks, for those who take samples, as a flight recording does.
     *
     * @return the same object each time; empty unless this recorder {@linkplain TraceRecorder.Builder#lines keeps
     *     lines}
     */
    public Optional<LineLog> lineLog() {
        return Optional.ofNullable(lines);
    }

    /**
     * Returns the methods and lines of bricks up to now.
     *
     * @return the lines; empty unless this recorder {@linkplain TraceRecorder.Builder#lines keeps lines}
     */
    public Optional<LineProfile> lines() {
        return lineLog().map(LineLog::profile);
    }

    /**
     * Forgets the lines, because a profiler has discarded its samples.
     *
     * @param profilers the number of profilers whose bricks have lines
     */
    void discardLines(int profilers) {
        if (lines != null) {
            lines.discarded(clock.nanoTime(), profilers);
        }
    }

    /** Returns the lines at the end of the process, once the last samples have arrived or are known to be lost. */
    Optional<LineProfile> linesAtEnd() {
        lineLog().ifPresent(LineLog::end);
        return lines();
    }

    /**
     * Returns the number of events held: one for each sample, boundary of a layer or pass, tile, instant and value of a
     * counter, and two for the work of a device whose launch is known. Lost events do not count.
     *
     * @return 0 or more, at most the builder's {@code totalCapacity}; exact while no thread records
     */
    public long eventCount() {
        profilers.catchUp();
        long count = profilers.entryCount();
        for (SpanStore store : List.of(own.store, assigned.store, pushed.store, deviceStore)) {
            count += store.contents().entryCount();
        }
        return count;
    }

    /**
     * Forgets all events, the lines of bricks, and the slow steps that were kept. A step that is under way meanwhile
     * lacks spans and is not explained. Buffers of ended threads and unreachable profilers are freed.
     */
    public void clear() {
        profilers.catchUp();
        if (keeper != null) {
            keeper.clear();
        }
        profilers.clear();
        for (SpanStore store : List.of(own.store, assigned.store, pushed.store, deviceStore)) {
            store.clear();
        }
        if (lines != null) {
            lines.clear(clock.nanoTime());
        }
        if (keeper != null) {
            keeper.clear();
        }
    }

    /**
     * The names of events other than bricks, each with a category. There is room for some thousand names; further new
     * names share one. Every method may be called from any thread; finding a name that is known allocates nothing.
     */
    static final class EventNames implements SpanSink.Names {

        /** The category of an application's events without one. */
        static final String APPLICATION = "Application";

        /** Separates category and name. No sensible category contains it. */
        private static final char SEPARATOR = '\u0000';

        private final NameTable table = new NameTable(NameTable.OTHER_NAMES, 0);

        /** Returns the key of a name in the category {@link #APPLICATION}. */
        int keyOf(String name) {
            requireText("name", name);
            return table.keyOf(name, 0);
        }

        /** Returns the key of a name in a category. */
        int keyOf(String name, String category) {
            requireText("name", name);
            requireText("category", category);
            return table.keyOf(category.equals(APPLICATION) ? name : category + SEPARATOR + name, 0);
        }

        private static void requireText(String what, String text) {
            if (text.isEmpty() || text.indexOf(SEPARATOR) >= 0) {
                throw new IllegalArgumentException(
                        "the " + what + " of an event must have characters, none of them NUL: '" + text + "'");
            }
        }

        @Override
        public int size() {
            return table.size();
        }

        @Override
        public String name(int key) {
            String text = table.name(key);
            return text.substring(text.indexOf(SEPARATOR) + 1);
        }

        @Override
        public String category(int key) {
            String text = table.name(key);
            int end = text.indexOf(SEPARATOR);
            return end < 0 ? APPLICATION : text.substring(0, end);
        }
    }

    /**
     * A value that changes over time: tokens per second, pending measurements, bytes of memory. Made by
     * {@link TraceRecorder#counter}. Any thread; setting it allocates nothing and takes no lock.
     */
    public static final class Counter {

        private final NanoClock clock;
        private final TraceRecorder.ThreadEvents events;
        private final int key;

        Counter(NanoClock clock, TraceRecorder.ThreadEvents events, int key) {
            this.clock = clock;
            this.events = events;
            this.key = key;
        }

        /**
         * Sets the value from now on.
         *
         * @param value the value, in the counter's unit
         */
        public void set(double value) {
            events.mark(SpanKind.COUNTER, key, clock.nanoTime(), 0, Double.doubleToRawLongBits(value));
        }
    }

    /** Options of a {@link TraceRecorder}. Not thread-safe; may be used for several recorders. */
    public static final class Builder {

        NanoClock clock = NanoClock.SYSTEM;
        int threadCapacity = 1 << 18;
        long totalCapacity = 1 << 22;
        boolean keepNewest = true;
        boolean tiles;
        boolean lines;
        int slowSteps;

        /** The times that a test sets; null for those of this process. */
        @Nullable
        SystemTimes times;

        RunProcess process = new RunProcess("java", OptionalInt.empty(), 1);

        /**
         * The process to which a timeline belongs.
         *
         * @param name its name
         * @param rank its rank in a distributed run
         * @param worldSize the number of processes
         */
        record RunProcess(String name, OptionalInt rank, int worldSize) {}

        Builder() {}

        /**
         * Sets the clock of the events that an application adds; {@link NanoClock#SYSTEM} by default. It must be the
         * clock of the profilers.
         *
         * @param clock a clock
         * @return this
         */
        public Builder clock(NanoClock clock) {
            Objects.requireNonNull(clock, "clock");
            this.clock = clock;
            return this;
        }

        /**
         * Sets the largest number of events kept for a thread, separately for bricks, for tiles and for the
         * application's events; 262,144 by default, which take 6 MiB.
         *
         * @param events the number
         * @return this
         * @throws IllegalArgumentException when it is not within 1 to 2^26
         */
        public Builder threadCapacity(int events) {
            if (events < 1 || events > 1 << 26) {
                throw new IllegalArgumentException(
                        "the events kept of a thread are 1 to " + (1 << 26) + ", not " + events);
            }
            this.threadCapacity = events;
            return this;
        }

        /**
         * Sets the largest number of events kept in all; 4,194,304 by default, which take 96 MiB.
         *
         * @param events the number
         * @return this
         * @throws IllegalArgumentException when it is below 1
         */
        public Builder totalCapacity(long events) {
            if (events < 1) {
                throw new IllegalArgumentException("the events kept in all are 1 or more, not " + events);
            }
            this.totalCapacity = events;
            return this;
        }

        /**
         * Sets whether a full buffer drops its oldest event for each new one; true by default. Otherwise it keeps its
         * first events and drops new ones.
         *
         * @param newest true to keep the newest events, false to keep the first
         * @return this
         */
        public Builder keepNewest(boolean newest) {
            this.keepNewest = newest;
            return this;
        }

        /**
         * Sets whether tiles are recorded as events, of which there are many; false by default.
         *
         * @param on true to record tiles
         * @return this
         */
        public Builder tiles(boolean on) {
            this.tiles = on;
            return this;
        }

        /**
         * Joins the stacks that a flight recording samples with bricks; false by default. {@link TraceRecorder#lines()}
         * then has the methods and lines of each brick. The buffers of threads must hold the bricks of the last three
         * seconds, since samples arrive late: those of bricks that were overwritten are counted as too late. Lines are
         * those since the latest {@link org.brickprofiler.BrickProfiler#reset} of a profiler with this recorder.
         *
         * @param on true to keep lines
         * @return this
         * @see org.brickprofiler.trace.jfr.VirtualMachineStops
         */
        public Builder lines(boolean on) {
            this.lines = on;
            return this;
        }

        /**
         * Keeps the spans of the slowest steps of each phase and of one step whose duration is close to the median, and
         * drops the spans of all others. Memory is bounded however long the run is, so this recorder may stay on in
         * production. {@link Timeline#info()} explains each slow step by a comparison with typical steps of its size,
         * and states what was dropped.
         *
         * <p>A step costs two readings of the thread's times, at most 3 us, in addition to the timeline. The buffers of
         * threads, up to {@link #threadCapacity}, hold the newest spans until a step is chosen: a step that records
         * more spans than a buffer holds is reported as incomplete. Half of {@link #totalCapacity} is for the buffers,
         * the other half for the kept steps.
         *
         * @param steps the slowest steps of each phase, 1 to 1,000
         * @return this
         * @throws IllegalArgumentException when the number is out of range
         */
        public Builder keepSlowSteps(int steps) {
            if (steps < 1 || steps > 1_000) {
                throw new IllegalArgumentException("the slow steps kept of a phase are 1 to 1,000, not " + steps);
            }
            this.slowSteps = steps;
            return this;
        }

        /** Sets other times than those of this process. */
        Builder times(SystemTimes other) {
            times = other;
            return this;
        }

        private SystemTimes systemTimes() {
            if (times != null) {
                return times;
            }
            if (clock != NanoClock.SYSTEM) {
                return SystemTimes.NONE; // durations on another clock cannot be compared with those of the system
            }
            try {
                return new HostTimes();
            } catch (NoClassDefFoundError noBeans) {
                return SystemTimes.NONE; // a runtime image without the module java.management
            }
        }

        /**
         * Sets the name of the process; {@code java} by default.
         *
         * @param name any text
         * @return this
         */
        public Builder processName(String name) {
            Objects.requireNonNull(name, "name");
            this.process = new RunProcess(name, process.rank(), process.worldSize());
            return this;
        }

        /**
         * Sets the rank of the process in a distributed run; none by default.
         *
         * @param number its rank, from 0
         * @param processes the number of processes
         * @return this
         * @throws IllegalArgumentException when there is no such rank
         */
        public Builder rank(int number, int processes) {
            if (number < 0 || number >= processes) {
                throw new IllegalArgumentException("rank " + number + " of " + processes + " processes");
            }
            this.process = new RunProcess(process.name(), OptionalInt.of(number), processes);
            return this;
        }

        /**
         * Makes the recorder.
         *
         * @return a new recorder
         * @throws IllegalArgumentException when {@link #keepSlowSteps} or {@link #lines} is combined with
         *     {@code keepNewest(false)}: a full buffer would then hold no later span
         */
        public TraceRecorder build() {
            if ((slowSteps > 0 || lines) && !keepNewest) {
                throw new IllegalArgumentException((lines ? "lines(true)" : "keepSlowSteps(" + slowSteps + ")")
                        + " needs the newest events: keepNewest(false) excludes it");
            }
            return new TraceRecorder(this);
        }
    }
}
