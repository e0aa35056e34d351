package org.brickprofiler.trace;

import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import org.brickprofiler.record.NanoClock;
import org.brickprofiler.record.SpanCopy;
import org.brickprofiler.record.SpanKind;
import org.brickprofiler.record.SpanNames;
import org.brickprofiler.record.SpanSink;
import org.brickprofiler.record.SpanStore;
import org.brickprofiler.record.StreamPlace;
import org.brickprofiler.record.StreamSpans;
import org.brickprofiler.record.TableRegistry;
import org.jspecify.annotations.Nullable;

/**
 * Records timelines: every brick, layer and forward pass of the profilers it is given to, and what an application adds
 * itself.
 *
 * <pre>{@code
 * TraceRecorder trace = new TraceRecorder();
 * BrickProfiler profiler = BrickProfiler.builder().tracing(trace).build();
 * ... // profile
 * TraceFiles.write(trace.timeline(), Path.of("pass.pftrace"));
 * }</pre>
 *
 * <p>A brick that a device timed is there twice: its launch on the line of the thread that stopped it, its work on a line
 * of its stream, tied to each other.
 *
 * <p>Every method may be called from any thread. Recording takes no lock and never waits, and allocates only for a
 * thread's first event, for new names, and while a thread's buffer grows to its bound; 24 bytes an event. When a buffer
 * is full, the newest or the first events stay, as {@link TraceRecorderBuilder} was told; what was lost is counted. A
 * buffer outlives its thread until {@link #clear}; of a profiler that nobody has any more its events stay until then, and
 * nothing else. Virtual threads share buffers.
 *
 * <p>The recorder has no switch: a profiler that is off records nothing here either.
 */
public final class TraceRecorder implements SpanSink {

    private final NanoClock clock;
    private final TraceProcess process;
    private final boolean withTiles;
    private final int threadCapacity;
    private final boolean keepNewest;
    private final AtomicLong budget;
    private final EventNames names = new EventNames();
    private final Events own;
    private final Events assigned;
    private final Events pushed;
    private final SpanStore deviceStore;

    /** Guarded by itself. */
    private final Set<SpanSource> bricks = new LinkedHashSet<>();

    /** Guarded by itself. */
    private final Set<SpanSource> tiles = new LinkedHashSet<>();

    /** Guarded by itself. */
    private final Set<TimedStream> timed = new LinkedHashSet<>();

    /** The sources to which nobody can write any more. */
    private final ReferenceQueue<SpanStore> forgotten = new ReferenceQueue<>();

    /** How many entries are missing of sources that are not there any more either. */
    private final AtomicLong lost = new AtomicLong();

    /** Guarded by itself. */
    private final Map<String, DeviceTrack> devices = new LinkedHashMap<>();

    /** Units by the key of the counter. Guarded by itself. */
    private final Map<Integer, String> units = new LinkedHashMap<>();

    /** Events that no profiler records: where they are, and the tables through which threads find their buffers. */
    private record Events(SpanStore store, TableRegistry tables) {
        static Events in(SpanStore store) {
            return new Events(store, new TableRegistry(0, false, null, store, null));
        }
    }

    /** A recorder with the default options. */
    public TraceRecorder() {
        this(builder());
    }

    TraceRecorder(TraceRecorderBuilder options) {
        clock = options.clock;
        process = options.process;
        withTiles = options.tiles;
        threadCapacity = options.threadCapacity;
        keepNewest = options.keepNewest;
        budget = new AtomicLong(options.totalCapacity);
        own = Events.in(newStore());
        assigned = Events.in(newStore());
        pushed = Events.in(newStore());
        deviceStore = newStore();
    }

    /**
     * Begins to choose options.
     *
     * @return a builder with the default options
     */
    public static TraceRecorderBuilder builder() {
        return new TraceRecorderBuilder();
    }

    private SpanStore newStore() {
        return new SpanStore(threadCapacity, keepNewest, budget);
    }

    // ---- profilers ----

    @Override
    public SpanStore bricks(SpanNames brickNames) {
        Objects.requireNonNull(brickNames, "brickNames");
        endForgotten();
        return addSource(bricks, brickNames);
    }

    @Override
    public @Nullable SpanStore tiles(SpanNames tileNames) {
        Objects.requireNonNull(tileNames, "tileNames");
        return withTiles ? addSource(tiles, tileNames) : null;
    }

    @Override
    public StreamSpans stream(StreamPlace place, SpanNames brickNames, Object owner, BooleanSupplier catchUp) {
        Objects.requireNonNull(place, "place");
        Objects.requireNonNull(brickNames, "brickNames");
        Objects.requireNonNull(owner, "owner");
        Objects.requireNonNull(catchUp, "catchUp");
        TimedStream stream = new TimedStream(place, brickNames, owner, catchUp, newStore());
        synchronized (timed) {
            timed.add(stream);
        }
        return stream;
    }

    private SpanStore addSource(Set<SpanSource> sources, SpanNames spanNames) {
        SpanStore store = newStore();
        SpanSource source = new SpanSource(store, spanNames, forgotten);
        synchronized (sources) {
            sources.add(source);
        }
        return store;
    }

    private static <T> List<T> sourcesOf(Collection<T> sources) {
        synchronized (sources) {
            return List.copyOf(sources);
        }
    }

    /** Of profilers that nobody has any more, keeps what they wrote. Not to be called with a lock that one may want. */
    private void endForgotten() {
        for (TimedStream stream : sourcesOf(timed)) {
            if (stream.isForgotten()) {
                lost.addAndGet(stream.end());
            }
        }
        Reference<? extends SpanStore> reference = forgotten.poll();
        while (reference != null) {
            lost.addAndGet(((SpanSource) reference).end());
            reference = forgotten.poll();
        }
        removeSpent();
    }

    private void removeSpent() {
        synchronized (bricks) {
            bricks.removeIf(SpanSource::isSpent);
        }
        synchronized (tiles) {
            tiles.removeIf(SpanSource::isSpent);
        }
        synchronized (timed) {
            timed.removeIf(TimedStream::isSpent);
        }
    }

    // ---- what an application adds ----

    /**
     * Reads the recorder's clock, on which the times of spans and moments count that are given here.
     *
     * @return ns since an arbitrary, fixed origin; may be negative
     */
    public long nowNs() {
        return clock.nanoTime();
    }

    /**
     * Marks this moment on the calling thread's line.
     *
     * @param name what happened
     * @throws IllegalArgumentException when the name is empty
     */
    public void instant(String name) {
        Objects.requireNonNull(name, "name");
        own.tables().mark(SpanKind.INSTANT, names.keyOf(name), clock.nanoTime(), 0, 0);
    }

    /**
     * Marks a moment on the calling thread's line.
     *
     * @param name what happened
     * @param category its category
     * @param atNs when, ns on the recorder's clock
     * @throws IllegalArgumentException when a name is empty
     */
    public void instant(String name, String category, long atNs) {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(category, "category");
        own.tables().mark(SpanKind.INSTANT, names.keyOf(name, category), atNs, 0, 0);
    }

    /**
     * Marks a moment on the line of a thread that need not be the calling one.
     *
     * @param name what happened
     * @param category its category
     * @param atNs when, ns on the recorder's clock
     * @param threadId the thread to which it happened, as {@link Thread#getId()} tells
     * @throws IllegalArgumentException when a name is empty
     */
    public void instant(String name, String category, long atNs, long threadId) {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(category, "category");
        assigned.tables().mark(SpanKind.INSTANT, names.keyOf(name, category), atNs, 0, threadId);
    }

    /**
     * Adds a span to the calling thread's line.
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
        own.tables().mark(SpanKind.SPAN, names.keyOf(name, category), startNs, elapsedNs, -1);
    }

    /**
     * Adds a span to the line of a thread that need not be the calling one.
     *
     * @param name its name
     * @param category its category
     * @param startNs when it began, ns on the recorder's clock
     * @param elapsedNs how long it took, ns
     * @param threadId the thread that did it, as {@link Thread#getId()} tells
     * @throws IllegalArgumentException when the duration is negative, or a name is empty
     */
    public void span(String name, String category, long startNs, long elapsedNs, long threadId) {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(category, "category");
        requireDuration(elapsedNs);
        assigned.tables().mark(SpanKind.SPAN, names.keyOf(name, category), startNs, elapsedNs, threadId);
    }

    /**
     * Adds a timer that was closed by hand and ends now; its beginning is that much earlier.
     *
     * @param name its name
     * @param category its category
     * @param elapsedNs how long it took, ns
     * @param tid the number of the line that it goes to, 0 or more: a line of pushed timers, called {@code timers} and
     *     the number, not of a thread. Where a thread of the timeline has that number, the line's is 1,000,000 more in a
     *     file
     * @throws IllegalArgumentException when a number is negative, or a name is empty
     */
    public void push(String name, String category, long elapsedNs, int tid) {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(category, "category");
        requireDuration(elapsedNs);
        if (tid < 0) {
            throw new IllegalArgumentException("the number of a line is not negative: " + tid);
        }
        pushed.tables().mark(
                SpanKind.SPAN, names.keyOf(name, category), clock.nanoTime() - elapsedNs, elapsedNs, tid);
    }

    private static void requireDuration(long elapsedNs) {
        if (elapsedNs < 0) {
            throw new IllegalArgumentException("elapsedNs " + elapsedNs + " is negative");
        }
    }

    /**
     * A counter.
     *
     * @param name its name
     * @param unit the unit of its values, as people read it; may be empty
     * @return the counter of that name; the first unit it was given stays
     * @throws IllegalArgumentException when the name is empty
     */
    public TraceCounter counter(String name, String unit) {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(unit, "unit");
        int key = names.keyOf(name);
        synchronized (units) {
            units.putIfAbsent(key, unit);
        }
        return new TraceCounter(clock, own.tables(), key);
    }

    /**
     * The line of a stream of a device.
     *
     * @param device the device
     * @param name the name of the stream
     * @param streamId its number on the device
     * @return the line of that stream, the same at each call; its first name stays
     */
    public DeviceTrack stream(DeviceInfo device, String name, long streamId) {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(device, "device");
        synchronized (devices) {
            return devices.computeIfAbsent(
                    device.id() + ":" + streamId,
                    place -> new DeviceTrack(device, name, streamId, names, deviceStore));
        }
    }

    // ---- results ----

    /**
     * What was recorded and is still there. It takes four bytes an event, beside a copy of the buffers.
     *
     * @return an immutable timeline
     */
    public Timeline timeline() {
        catchUp();
        List<SpanCopy> ownCopies = own.store().copies();
        List<DeviceTrack> streams;
        synchronized (devices) {
            streams = List.copyOf(devices.values());
        }
        TimelineBuilder timeline = new TimelineBuilder();
        sourcesOf(bricks).forEach(timeline::addBricks);
        sourcesOf(tiles).forEach(source -> timeline.addToThreads(source.contents().copies(), source.names()));
        timeline.addToThreads(ownCopies, names);
        timeline.addToOtherThreads(assigned.store().copies(), names);
        timeline.endThreads();
        timeline.addPushed(pushed.store().copies(), names);
        synchronized (units) {
            timeline.addCounters(ownCopies, names, units);
        }
        timeline.addDevices(streams, names);
        timeline.addTimed(sourcesOf(timed));
        timeline.endDevices();
        timeline.addLost(lost.get());
        long unixNs = TimeUnit.MILLISECONDS.toNanos(System.currentTimeMillis());
        return timeline.build(process, clock.nanoTime(), unixNs);
    }

    /**
     * How many events are kept: one for each sample, boundary of a layer or of a pass, tile, instant and value of a
     * counter, and two for the work of a device whose launch is known. Those that were lost do not count.
     *
     * @return 0 or more, at most the builder's {@code totalCapacity}; exact while nobody records
     */
    public long eventCount() {
        catchUp();
        long count = 0;
        for (SpanSource source : sourcesOf(bricks)) {
            count += source.contents().entryCount();
        }
        for (SpanSource source : sourcesOf(tiles)) {
            count += source.contents().entryCount();
        }
        for (TimedStream stream : sourcesOf(timed)) {
            count += stream.contents().entryCount();
        }
        for (SpanStore store : List.of(own.store(), assigned.store(), pushed.store(), deviceStore)) {
            count += store.contents().entryCount();
        }
        return count;
    }

    /** Forgets what was recorded so far. Threads and profilers that are gone leave nothing behind then. */
    public void clear() {
        catchUp();
        lost.set(0);
        sourcesOf(bricks).forEach(source -> source.contents().clear());
        sourcesOf(tiles).forEach(source -> source.contents().clear());
        own.store().clear();
        assigned.store().clear();
        pushed.store().clear();
        deviceStore.clear();
        sourcesOf(timed).forEach(TimedStream::clear);
        removeSpent();
    }

    private void catchUp() {
        sourcesOf(timed).forEach(TimedStream::catchUp);
        endForgotten();
    }
}
