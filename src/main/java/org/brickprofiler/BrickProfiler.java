package org.brickprofiler;

import static org.brickprofiler.internal.base.Checks.requireNotNegative;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.Supplier;
import org.brickprofiler.checksum.ChecksumLog;
import org.brickprofiler.device.DeviceStream;
import org.brickprofiler.graph.GraphRecorder;
import org.brickprofiler.internal.access.ProfilerAccess;
import org.brickprofiler.internal.base.Log;
import org.brickprofiler.internal.device.DeviceRecorder;
import org.brickprofiler.internal.device.MarkToken;
import org.brickprofiler.internal.record.BrickKeys;
import org.brickprofiler.internal.record.BrickRanges;
import org.brickprofiler.internal.record.LayerToken;
import org.brickprofiler.internal.record.Layers;
import org.brickprofiler.internal.record.NameTable;
import org.brickprofiler.internal.record.OwnSamples;
import org.brickprofiler.internal.record.PhaseKey;
import org.brickprofiler.internal.record.ProfilerState;
import org.brickprofiler.internal.record.SelfCost;
import org.brickprofiler.internal.record.SettingAction;
import org.brickprofiler.internal.record.SpanSink;
import org.brickprofiler.internal.record.StatTable;
import org.brickprofiler.internal.record.TimerToken;
import org.brickprofiler.internal.record.WorkSums;
import org.brickprofiler.internal.setting.SwitchSetting;
import org.brickprofiler.request.RequestRecorder;
import org.brickprofiler.tile.TileProfiler;
import org.jspecify.annotations.Nullable;

/**
 * Times the bricks of a forward pass and adds up their times.
 *
 * <p><b>In a hot loop</b>, put a timer around each brick. {@code lap} stops one timer and starts the next with one
 * clock read:
 *
 * <pre>{@code
 * BrickProfiler profiler = BrickProfiler.enabled();
 * long timer = profiler.startBrick(BrickId.RMS_NORM);
 * rmsNorm(x);
 * timer = profiler.lap(timer, tokens, BrickId.QKV_PROJECTION);
 * qkv(x);
 * profiler.stopBrick(timer, tokens);
 * }</pre>
 *
 * <p><b>Deferred</b> measurements suit an engine that enqueues its work and synchronises once. Here several bricks
 * share one synchronisation, and each brick lasts until the next one starts. With a
 * {@linkplain BrickProfilerBuilder#deviceStream device stream} bricks get the device's own times instead:
 *
 * <pre>{@code
 * BrickProfiler profiler = BrickProfiler.builder().attribution(Attribution.SEQUENTIAL).build();
 * profiler.enable();
 * for (Kernel kernel : pass) {
 *     long startNs = profiler.elapsedNs();
 *     kernel.launch(stream);
 *     profiler.recordDeferred(kernel.brick(), startNs, tokens);
 * }
 * stream.synchronize();
 * profiler.finalize(profiler.elapsedNs());
 * }</pre>
 *
 * <p><b>The breakdown</b> by category is in {@link #categoryStats()} and in the reports of a {@link #snapshot()}.
 *
 * <p><b>Threads.</b> Every method may be called from any thread. Recording threads never wait for each other or for a
 * reader. Readers, resets and the resolution of pending measurements wait for each other. A reader never sees half a
 * sample, and sees every sample once no thread is recording.
 *
 * <p><b>The switch.</b> While the profiler is off, every method that records is a cheap no-op.
 *
 * <p><b>A timer</b> is a {@code long} that carries the brick and its start. It is a value: any thread may stop it, and
 * stopping it twice records two samples. A timer that was started while the profiler was off is void: stopping it
 * records nothing. A timer holds up to 13 days, with a device stream 6 days; a longer interval is unresolved, see
 * {@link DeviceTime#unresolved}. From twice that time on the timer holds only the remainder, which cannot be noticed.
 *
 * <p><b>Names.</b> A name stands for the {@link BrickId} that {@link BrickId#parse} finds, otherwise for a dynamic
 * brick. At least 4,000 dynamic bricks have room. Further names share one brick called {@value #OTHER_NAMES}, which is
 * logged once.
 *
 * <p><b>Errors.</b> A negative duration, number of elements, bytes or cycles, and a null or empty name, throw an
 * {@link IllegalArgumentException}, and nothing is recorded. Any other null throws a {@link NullPointerException}; its
 * message names the parameter, except on the hot path. While the profiler is off, methods of the hot path check neither
 * timers nor bricks.
 */
public final class BrickProfiler extends Boundaries {

    /** The name of the brick that counts the samples of all names beyond the limit on dynamic bricks. */
    public static final String OTHER_NAMES = NameTable.OTHER_NAMES;

    private static final Log LOG = Log.of(BrickProfiler.class);

    /** The stream of bricks that are started without naming a stream. */
    private static final int DEFAULT_STREAM = 0;

    private final List<String> streamNames;
    final WorkSums work = new WorkSums(names, BrickId.FIXED_KEYS);
    private final ChecksumLog checksums;
    private final BrickScope noScope = new BrickScope(this, TimerToken.VOID, 0);
    private final SelfCost selfCost;
    private final Results results;
    final SnapshotReader snapshots;

    /** The sink of spans; null for none. */
    final @Nullable SpanSink sink;

    private final TileProfiler tiles;

    private final BrickKeys keys = new BrickKeys(names, BrickCategory.displayNames(), BrickProfiler.class);

    static {
        ProfilerAccess.grantWindows(new SnapshotReader.OfProfiler());
        ProfilerAccess.grantSums(new SnapshotReader.SumsOfProfiler());
        ProfilerAccess.grantSink(new SnapshotReader.SinkOfProfiler());
    }

    /** Makes a profiler that is off, with the default options. */
    public BrickProfiler() {
        this(builder());
    }

    BrickProfiler(BrickProfilerBuilder options) {
        super(options);
        selfCost = SelfCost.of(options.percentiles, registry.hasSpans());
        results = new Results(names, period, selfCost, options.identity);
        sink = options.sink();
        tiles = new TileProfiler(clock, sink);
        streamNames = List.copyOf(options.streams.keySet());
        checksums = new ChecksumLog(options.checksums, OwnSamples.of(names, registry, this::timesLater, this::nowNs));
        snapshots = new SnapshotReader(this, results);
    }

    /**
     * Creates a profiler that is on, with the default options.
     *
     * @return a new profiler
     */
    public static BrickProfiler enabled() {
        BrickProfiler profiler = new BrickProfiler();
        profiler.enable();
        return profiler;
    }

    /**
     * Returns a builder with the default options.
     *
     * @return a builder with the default options
     */
    public static BrickProfilerBuilder builder() {
        return new BrickProfilerBuilder();
    }

    // ---- the switch ----

    /**
     * Switches recording on. The first call in a virtual machine also starts a daemon thread that measures the cost of
     * recording one second later, which takes some milliseconds. If the system property {@code brick.profiler}, or else
     * the environment variable {@code BRICK_PROFILER}, is {@code false}, {@code off} or {@code 0}, this method does
     * nothing: no profiler of the virtual machine records, and neither do tiles, graphs and kernel timings; this is
     * logged once. {@code brick run} uses this switch to measure the speed of a program without the profiler.
     *
     * <p>If the system property {@code brick.profiler.export}, or else the environment variable
     * {@code BRICK_PROFILER_EXPORT}, names a folder, the first profiler of the virtual machine that is switched on
     * exports its windows to this folder. The property {@code brick.profiler.export_every}, or else the variable
     * {@code BRICK_PROFILER_EXPORT_EVERY}, sets the length of a window, such as {@code 500 ms}, {@code 10 s} (the
     * default), {@code 5 min} or {@code 100 steps}.
     *
     * <p>If the system property {@code brick.profiler.out}, or else the environment variable
     * {@code BRICK_PROFILER_OUT}, names a file, the virtual machine writes one profile there when it ends, for
     * {@code brick run}. The profile merges all profilers that were switched on: their current samples, and those that
     * {@link #snapshotAndReset} returned before, but not those that {@link #reset} discarded. The first call deletes a
     * file of an earlier run. A file that the application has written itself stays as it is. If another process, such
     * as a child that inherited the variable, has written the file, the profile goes to {@code NAME-PID.json} beside
     * it, and {@code brick run} refuses the run. With {@code BRICK_PROFILER=off} the profile has no bricks.
     */
    public void enable() {
        boolean records = SwitchSetting.ofProfiler().on();
        if (records) {
            selfCost.start(new Results.FirstUses());
            switchOn();
        }
        SettingAction.runAll(this, records);
    }

    /** Switches recording on without measuring its cost. */
    void switchOn() {
        period.resume(nowNs());
        ProfilerState.setOn(STATE, this, true);
        followSwitch(false);
    }

    /**
     * Switches recording off and keeps all samples. Steps that are under way are abandoned, since the bricks that they
     * run while the profiler is off are not recorded; their samples so far keep their phase. A profiler with device
     * streams gives back the marks of running timers and of starts of deferred measurements: a brick that began before
     * and ends after the next {@link #enable()} is unresolved.
     */
    public void disable() {
        ProfilerState.setOn(STATE, this, false);
        period.pause(nowNs());
        followSwitch(true);
        if (devices != null) {
            devices.giveBack();
        }
    }

    /**
     * Returns whether recording is on.
     *
     * @return true between {@link #enable} and {@link #disable}; always false if the profiler is switched off from
     *     outside, see {@link #enable}
     */
    public boolean isEnabled() {
        return isOn();
    }

    // ---- the hot path ----

    /**
     * Starts timing a brick.
     *
     * @param id the brick
     * @return the timer, for {@link #stopBrick} or {@link #lap(long, long, BrickId)}
     */
    public long startBrick(BrickId id) {
        int key = id.index();
        return isEnabled() ? start(DEFAULT_STREAM, key) : TimerToken.VOID;
    }

    /**
     * Starts timing a brick by its key.
     *
     * @param key the key that {@link #brickKey(String)} of this profiler returned
     * @return the timer; void if no brick has that key
     */
    public long startBrick(int key) {
        return isEnabled() && hasBrick(key) ? start(DEFAULT_STREAM, key) : TimerToken.VOID;
    }

    /**
     * Starts timing a brick by its name. Slower than by id or key.
     *
     * @param name a known name or alias, or the name of a dynamic brick, which need not be registered
     * @return the timer
     * @throws IllegalArgumentException when the name is null or empty
     */
    public long startBrick(String name) {
        requireName(name);
        return isEnabled() ? start(DEFAULT_STREAM, brickKey(name)) : TimerToken.VOID;
    }

    /** Starts a brick; only a device uses the number of the stream. */
    long start(int stream, int key) {
        if (needsClockAlone) {
            return TimerToken.pack(key, nowNs());
        }
        long unmarked = startUnmarked(stream, key);
        return unmarked == TimerToken.VOID ? startSeen(stream, key) : unmarked;
    }

    /** Starts a brick that a device times or a tool sees. */
    private long startSeen(int stream, int key) {
        BrickRanges shown = ranges;
        if (shown == null) {
            return startTimer(stream, key);
        }
        shown.begin(key);
        long timer = startTimer(stream, key);
        shown.began(timer);
        return timer;
    }

    private long startTimer(int stream, int key) {
        return devices == null ? TimerToken.pack(key, nowNs()) : startOn(devices, stream, key);
    }

    /**
     * Stops a timer and records the sample.
     *
     * @param timer the timer that starting the brick returned
     * @param elements elements the brick processed: tokens, rows, pages; for a copy, bytes
     * @throws IllegalArgumentException when the elements are negative
     */
    public void stopBrick(long timer, long elements) {
        int now = state;
        if (timer == TimerToken.VOID || !ProfilerState.isOn(now)) {
            requireNotNegative("elements", elements);
            endRange(timer);
            return;
        }
        if (devices == null) {
            stop(now, timer, elements, nowNs());
        } else if (!stopUnmarked(timer, elements)) {
            stopOn(devices, timer, elements);
            endRange(timer);
        }
    }

    /**
     * Adds the sample of a timer that is not void to the calling thread's own table, or to a shared one.
     *
     * @param now the state of this profiler
     */
    private void stop(int now, long timer, long elements, long nowNs) {
        int phase = IN_LANE;
        if (!addInLane(now, Thread.currentThread(), timer, elements, nowNs)) {
            phase = add(now, tables.own(), timer, elements, nowNs);
        }
        if (followed) {
            followTimed(phase, timer, elements, nowNs);
        }
    }

    /**
     * Stops a timer and starts the next at the same instant, with one clock read.
     *
     * @param timer the timer that starting the brick returned; a void timer only starts the next
     * @param elements elements the brick processed
     * @param next the brick that begins
     * @return the timer of the next brick
     * @throws IllegalArgumentException when the elements are negative
     */
    public long lap(long timer, long elements, BrickId next) {
        int nextKey = next.index();
        int now = state;
        if (ProfilerState.isOn(now)) {
            return lapTo(now, timer, elements, nextKey);
        }
        requireNotNegative("elements", elements);
        return TimerToken.VOID;
    }

    /**
     * Stops a timer and starts the next at the same instant, with one clock read.
     *
     * @param timer the timer that starting the brick returned; a void timer only starts the next
     * @param elements elements the brick processed
     * @param nextKey the key of the brick that begins
     * @return the timer of the next brick; void if no brick has that key
     * @throws IllegalArgumentException when the elements are negative
     */
    public long lap(long timer, long elements, int nextKey) {
        int now = state;
        if (ProfilerState.isOn(now) && hasBrick(nextKey)) {
            return lapTo(now, timer, elements, nextKey);
        }
        stopBrick(timer, elements);
        return TimerToken.VOID;
    }

    private long lapTo(int now, long timer, long elements, int nextKey) {
        if (needsClockAlone) {
            return lapOnHost(now, timer, elements, nextKey, nowNs());
        }
        long unmarked = lapUnmarked(timer, elements, nextKey);
        return unmarked == TimerToken.VOID ? lapSeen(now, timer, elements, nextKey) : unmarked;
    }

    private long lapOnHost(int now, long timer, long elements, int nextKey, long nowNs) {
        if (timer == TimerToken.VOID) {
            requireNotNegative("elements", elements);
        } else {
            stop(now, timer, elements, nowNs);
        }
        return TimerToken.pack(nextKey, nowNs);
    }

    /** Stops a timer and starts a brick that a device times or a tool sees. */
    private long lapSeen(int now, long timer, long elements, int nextKey) {
        long next;
        if (devices == null) {
            next = lapOnHost(now, timer, elements, nextKey, nowNs());
        } else {
            next = lapOn(devices, timer, elements, nextKey);
            endRange(timer);
        }
        BrickRanges shown = ranges;
        if (shown != null) {
            shown.begin(nextKey);
            shown.began(next);
        }
        return next;
    }

    /**
     * Returns timers for the loop of one thread. They save the lookup of the thread in each call.
     *
     * @return a recorder for the calling thread; no other thread may use it
     */
    public ThreadProfiler forThisThread() {
        return new ThreadProfiler(this, Thread.currentThread());
    }

    // ---- bricks on device streams ----

    /** Starts a brick on a device stream; in {@link SyncMode#NONE} the host's clock times it. */
    private long startOn(DeviceRecorder marks, int stream, int key) {
        return mode == SyncMode.NONE ? MarkToken.host(key, nowNs()) : marks.start(rowOf(key), stream);
    }

    private void stopOn(DeviceRecorder marks, long timer, long elements) {
        requireNotNegative("elements", elements);
        int key = MarkToken.key(timer);
        if (!hasBrick(key)) {
            return;
        }
        if (MarkToken.isDevice(timer)) {
            followLaunch(marks, timer, marks.stop(timer, elements), elements);
            if (mode == SyncMode.IMMEDIATE) {
                marks.await();
            }
        } else {
            long nowNs = nowNs();
            long elapsedNs = MarkToken.elapsedNs(timer, nowNs);
            int phase = addTimed(key, elapsedNs, nowNs, elements);
            followTimed(phase, key, elapsedNs, nowNs, elements);
        }
    }

    /** Stops a timer, unless it is void, and starts another brick: with one mark unless the mode waits at each stop. */
    private long lapOn(DeviceRecorder marks, long timer, long elements, int nextKey) {
        requireNotNegative("elements", elements);
        SyncMode now = mode;
        boolean onStream = MarkToken.isDevice(timer) && hasBrick(MarkToken.key(timer));
        if (now == SyncMode.IMMEDIATE || now == SyncMode.NONE || !onStream) {
            if (timer != TimerToken.VOID) {
                stopOn(marks, timer, elements);
            }
            return startOn(marks, onStream ? marks.stream(timer) : DEFAULT_STREAM, nextKey);
        }
        long next = marks.lap(timer, elements, rowOf(nextKey));
        if (followed) {
            followLaunch(marks, timer, marks.startedNs(next), elements);
        }
        return next;
    }

    /** Follows a brick of a device by the host's times: the graph's order is that of the launches. */
    private void followLaunch(DeviceRecorder marks, long timer, long endNs, long elements) {
        long startNs = endNs == DeviceRecorder.NO_TIME ? endNs : marks.startedNs(timer);
        if (startNs != DeviceRecorder.NO_TIME) {
            follow(MarkToken.key(timer), startNs, endNs, elements);
        }
    }

    // ---- dynamic bricks ----

    /**
     * Returns the key of a brick, for the hot path. A new name becomes a dynamic brick of category
     * {@link BrickCategory#OTHER}. Works while the profiler is off, too.
     *
     * @param name a name
     * @return its key, the same for the life of the profiler
     * @throws IllegalArgumentException when the name is null or empty
     */
    public int brickKey(String name) {
        return names.keyOf(requireName(name), BrickCategory.OTHER.index());
    }

    /**
     * Returns the key of a brick, for the hot path. A new name becomes a dynamic brick of the given category. An
     * existing brick, and the {@link BrickId} that the name stands for, keep their category; a different given category
     * is logged once for each brick. To create a dynamic brick whose name is an alias, use {@link #ownBrickKey}.
     *
     * @param name a name
     * @param category the category of a new brick
     * @return its key, the same for the life of the profiler
     * @throws IllegalArgumentException when the name is null or empty
     */
    public int brickKey(String name, BrickCategory category) {
        return keys.keyOf(requireName(name), category.index());
    }

    /**
     * Returns the key of a dynamic brick that has exactly this name, even if the name is an alias or a spelling of a
     * {@link BrickId}: an engine's own {@code "head"} is then not {@link BrickId#LM_HEAD}. From this call on the name
     * means that brick in all methods of this profiler that take a name; samples that were recorded by the name before
     * stay with the known brick. Works while the profiler is off, too.
     *
     * @param name a name that is no {@linkplain BrickId#displayName() display name}
     * @param category the category of the brick; an existing brick keeps its own, which is logged once
     * @return its key, the same for the life of the profiler
     * @throws IllegalArgumentException when the name is null or empty, or is the display name of a known brick or
     *     {@value #OTHER_NAMES}, because reports could not distinguish the two bricks
     */
    public int ownBrickKey(String name, BrickCategory category) {
        return keys.ownKeyOf(requireName(name), category.index());
    }

    // ---- outside hot loops ----

    /**
     * Runs and times a piece of code. The sample is recorded even if the code throws.
     *
     * @param id the brick
     * @param elements elements it processes
     * @param body the code; its exceptions pass through
     * @throws IllegalArgumentException when the elements are negative; the code is not run then
     */
    public void time(BrickId id, long elements, Runnable body) {
        time(id.index(), elements, body);
    }

    /**
     * Runs and times a piece of code that has a result. The sample is recorded even if the code throws.
     *
     * @param <T> the type of the result
     * @param id the brick
     * @param elements elements it processes
     * @param body the code; its exceptions pass through
     * @return the result of the code
     * @throws IllegalArgumentException when the elements are negative; the code is not run then
     */
    public <T extends @Nullable Object> T time(BrickId id, long elements, Supplier<T> body) {
        return time(id.index(), elements, body);
    }

    /**
     * Runs and times a piece of code, as {@link #time(BrickId, long, Runnable)} does.
     *
     * @param key the key that {@link #brickKey(String)} of this profiler returned
     * @param elements elements it processes
     * @param body the code; its exceptions pass through
     * @throws IllegalArgumentException when no brick has that key or the elements are negative; the code is not run
     *     then
     */
    public void time(int key, long elements, Runnable body) {
        requireKey(key);
        requireNotNegative("elements", elements);
        Objects.requireNonNull(body, "body");
        run(startBrick(key), elements, body);
    }

    /**
     * Runs and times a piece of code that has a result, as {@link #time(BrickId, long, Supplier)} does.
     *
     * @param <T> the type of the result
     * @param key the key that {@link #brickKey(String)} of this profiler returned
     * @param elements elements it processes
     * @param body the code; its exceptions pass through
     * @return the result of the code
     * @throws IllegalArgumentException when no brick has that key or the elements are negative; the code is not run
     *     then
     */
    public <T extends @Nullable Object> T time(int key, long elements, Supplier<T> body) {
        requireKey(key);
        requireNotNegative("elements", elements);
        Objects.requireNonNull(body, "body");
        return get(startBrick(key), elements, body);
    }

    /**
     * Runs and times a piece of code, as {@link #time(BrickId, long, Runnable)} does.
     *
     * @param name the brick's name
     * @param elements elements it processes
     * @param body the code; its exceptions pass through
     * @throws IllegalArgumentException when the elements are negative, or the name is null or empty; the code is not
     *     run then
     */
    public void time(String name, long elements, Runnable body) {
        requireName(name);
        requireNotNegative("elements", elements);
        Objects.requireNonNull(body, "body");
        run(startBrick(name), elements, body);
    }

    /**
     * Runs and times a piece of code that has a result, as {@link #time(BrickId, long, Supplier)} does.
     *
     * @param <T> the type of the result
     * @param name the brick's name
     * @param elements elements it processes
     * @param body the code; its exceptions pass through
     * @return the result of the code
     * @throws IllegalArgumentException when the elements are negative, or the name is null or empty; the code is not
     *     run then
     */
    public <T extends @Nullable Object> T time(String name, long elements, Supplier<T> body) {
        requireName(name);
        requireNotNegative("elements", elements);
        Objects.requireNonNull(body, "body");
        return get(startBrick(name), elements, body);
    }

    private void run(long timer, long elements, Runnable body) {
        try {
            body.run();
        } finally {
            stopBrick(timer, elements);
        }
    }

    private <T extends @Nullable Object> T get(long timer, long elements, Supplier<T> body) {
        try {
            return body.get();
        } finally {
            stopBrick(timer, elements);
        }
    }

    /**
     * Starts timing a brick until the scope is closed.
     *
     * @param id the brick
     * @param elements elements it processes
     * @return the scope, for a {@code try} statement; one that does nothing while the profiler is off
     * @throws IllegalArgumentException when the elements are negative
     */
    public BrickScope scope(BrickId id, long elements) {
        return scope(id.index(), elements);
    }

    /**
     * Starts timing a brick until the scope is closed.
     *
     * @param key the key that {@link #brickKey(String)} of this profiler returned
     * @param elements elements it processes
     * @return the scope, for a {@code try} statement; a scope without effect while the profiler is off
     * @throws IllegalArgumentException when no brick has that key, or the elements are negative
     */
    public BrickScope scope(int key, long elements) {
        requireKey(key);
        requireNotNegative("elements", elements);
        return isEnabled() ? new BrickScope(this, startBrick(key), elements) : noScope;
    }

    /**
     * Starts timing a brick until the scope is closed.
     *
     * @param name the brick's name
     * @param elements elements it processes
     * @return the scope, for a {@code try} statement; one that does nothing while the profiler is off
     * @throws IllegalArgumentException when the elements are negative, or the name is null or empty
     */
    public BrickScope scope(String name, long elements) {
        requireName(name);
        requireNotNegative("elements", elements);
        return isEnabled() ? new BrickScope(this, startBrick(name), elements) : noScope;
    }

    // ---- durations measured elsewhere ----

    /**
     * Records a sample that was timed elsewhere.
     *
     * @param id the brick
     * @param elapsedNs its duration, ns
     * @param elements elements it processed
     * @throws IllegalArgumentException when a number is negative
     */
    public void record(BrickId id, long elapsedNs, long elements) {
        record(id.index(), elapsedNs, elements);
    }

    /**
     * Records a sample that was timed elsewhere.
     *
     * @param key the brick's key
     * @param elapsedNs its duration, ns
     * @param elements elements it processed
     * @throws IllegalArgumentException when a number is negative, or no brick has that key
     */
    public void record(int key, long elapsedNs, long elements) {
        requireKey(key);
        requireSample(elapsedNs, elements);
        if (isEnabled()) {
            add(key, elapsedNs, elements);
        }
    }

    /**
     * Records a sample that was timed elsewhere.
     *
     * @param name the brick's name
     * @param elapsedNs its duration, ns
     * @param elements elements it processed
     * @throws IllegalArgumentException when a number is negative, or the name is null or empty
     */
    public void record(String name, long elapsedNs, long elements) {
        requireName(name);
        requireSample(elapsedNs, elements);
        if (isEnabled()) {
            add(brickKey(name), elapsedNs, elements);
        }
    }

    /**
     * Records a sample that was timed elsewhere.
     *
     * @param name the brick's name
     * @param elapsed its duration, up to 292 years
     * @param elements elements it processed
     * @throws IllegalArgumentException when the duration is negative or too long, the elements are negative, or the
     *     name is null or empty
     */
    public void record(String name, Duration elapsed, long elements) {
        try {
            record(name, elapsed.toNanos(), elements);
        } catch (ArithmeticException tooLong) {
            throw new IllegalArgumentException("elapsed " + elapsed + " does not fit in 64 bits of ns", tooLong);
        }
    }

    private void add(int key, long elapsedNs, long elements) {
        int phase = phase();
        long nowNs = nowNs();
        addSample(phase, key, elapsedNs, nowNs, elements);
        reportSample(phase, key, elapsedNs, nowNs, elements);
    }

    /**
     * Records a sample with the bytes that went in and came out.
     *
     * @param id the brick
     * @param elapsedNs its duration, ns
     * @param elements elements it processed
     * @param inputBytes bytes read, or before compression
     * @param outputBytes bytes written, or after compression
     * @throws IllegalArgumentException when a number is negative
     */
    public void recordBytes(BrickId id, long elapsedNs, long elements, long inputBytes, long outputBytes) {
        recordBytes(id.index(), elapsedNs, elements, inputBytes, outputBytes);
    }

    /**
     * Records a sample with the bytes that went in and came out.
     *
     * @param key the brick's key
     * @param elapsedNs its duration, ns
     * @param elements elements it processed
     * @param inputBytes bytes read, or before compression
     * @param outputBytes bytes written, or after compression
     * @throws IllegalArgumentException when a number is negative, or no brick has that key
     */
    public void recordBytes(int key, long elapsedNs, long elements, long inputBytes, long outputBytes) {
        requireKey(key);
        requireBytes(elapsedNs, elements, inputBytes, outputBytes);
        if (isEnabled()) {
            addBytes(key, elapsedNs, elements, inputBytes, outputBytes);
        }
    }

    /**
     * Records a sample with the bytes that went in and came out.
     *
     * @param name the brick's name
     * @param elapsedNs its duration, ns
     * @param elements elements it processed
     * @param inputBytes bytes read, or before compression
     * @param outputBytes bytes written, or after compression
     * @throws IllegalArgumentException when a number is negative, or the name is null or empty
     */
    public void recordBytes(String name, long elapsedNs, long elements, long inputBytes, long outputBytes) {
        requireName(name);
        requireBytes(elapsedNs, elements, inputBytes, outputBytes);
        if (isEnabled()) {
            addBytes(brickKey(name), elapsedNs, elements, inputBytes, outputBytes);
        }
    }

    private void addBytes(int key, long elapsedNs, long elements, long inputBytes, long outputBytes) {
        int phase = phase();
        StatTable table = registry.acquire(phase);
        long nowNs = nowNs();
        table.addBytes(key, elapsedNs, nowNs, elements, inputBytes, outputBytes);
        release(table, elapsedNs, nowNs);
        reportSample(phase, key, elapsedNs, nowNs, elements);
    }

    /**
     * Records a sample with its processor cycles.
     *
     * @param id the brick
     * @param elapsedNs its duration, ns
     * @param elements elements it processed
     * @param cycles cycles it took; 0 if they were not measured
     * @throws IllegalArgumentException when a number is negative
     */
    public void recordCycles(BrickId id, long elapsedNs, long elements, long cycles) {
        recordCycles(id.index(), elapsedNs, elements, cycles);
    }

    /**
     * Records a sample with its processor cycles.
     *
     * @param key the brick's key
     * @param elapsedNs its duration, ns
     * @param elements elements it processed
     * @param cycles cycles it took; 0 if they were not measured
     * @throws IllegalArgumentException when a number is negative, or no brick has that key
     */
    public void recordCycles(int key, long elapsedNs, long elements, long cycles) {
        requireKey(key);
        requireCycles(elapsedNs, elements, cycles);
        if (isEnabled()) {
            addCycles(key, elapsedNs, elements, cycles);
        }
    }

    /**
     * Records a sample with its processor cycles.
     *
     * @param name the brick's name
     * @param elapsedNs its duration, ns
     * @param elements elements it processed
     * @param cycles cycles it took; 0 if they were not measured
     * @throws IllegalArgumentException when a number is negative, or the name is null or empty
     */
    public void recordCycles(String name, long elapsedNs, long elements, long cycles) {
        requireName(name);
        requireCycles(elapsedNs, elements, cycles);
        if (isEnabled()) {
            addCycles(brickKey(name), elapsedNs, elements, cycles);
        }
    }

    private void addCycles(int key, long elapsedNs, long elements, long cycles) {
        int phase = phase();
        StatTable table = registry.acquire(phase);
        long nowNs = nowNs();
        table.addCycles(key, elapsedNs, nowNs, elements, cycles);
        release(table, elapsedNs, nowNs);
        reportSample(phase, key, elapsedNs, nowNs, elements);
    }

    // ---- the work of bricks ----

    /**
     * Records the work of samples of a brick, which {@link #stopBrick} does not know. Call it once for each sample, or
     * once for each pass with the sum of the pass. The bytes also count as the working set.
     *
     * @param id the brick
     * @param flops floating-point operations; a multiplication with an addition counts as two
     * @param bytes bytes that the brick reads and writes, each counted once
     * @throws IllegalArgumentException when a number is negative
     */
    public void recordWork(BrickId id, long flops, long bytes) {
        recordWork(id.index(), flops, bytes);
    }

    /**
     * Records the work of samples of a brick: see {@link #recordWork(BrickId, long, long)}.
     *
     * @param key the brick's key
     * @param flops floating-point operations
     * @param bytes bytes that it had to read and write
     * @throws IllegalArgumentException when a number is negative, or no brick has that key
     */
    public void recordWork(int key, long flops, long bytes) {
        requireKey(key);
        WorkSums.require(flops, bytes);
        if (isEnabled()) {
            work.record(phase(), key, flops, bytes, bytes);
        }
    }

    /**
     * Records the work of samples of a brick: see {@link #recordWork(BrickId, long, long)}.
     *
     * @param name the brick's name
     * @param flops floating-point operations
     * @param bytes bytes that it had to read and write
     * @throws IllegalArgumentException when a number is negative, or the name is null or empty
     */
    public void recordWork(String name, long flops, long bytes) {
        requireName(name);
        WorkSums.require(flops, bytes);
        if (isEnabled()) {
            work.record(phase(), brickKey(name), flops, bytes, bytes);
        }
    }

    /**
     * Records the work of samples of a brick, with its working set: see {@link #recordWork(BrickId, long, long)}.
     *
     * @param id the brick
     * @param done the work
     */
    public void recordWork(BrickId id, Work done) {
        recordWork(id.index(), done);
    }

    /**
     * Records the work of samples of a brick, with its working set: see {@link #recordWork(BrickId, long, long)}.
     *
     * @param key the brick's key
     * @param done the work
     * @throws IllegalArgumentException when no brick has that key
     */
    public void recordWork(int key, Work done) {
        requireKey(key);
        Objects.requireNonNull(done, "done");
        if (isEnabled()) {
            work.record(phase(), key, done.flops(), done.bytes(), done.workingSetBytes());
        }
    }

    /**
     * Records the work of samples of a brick, with its working set: see {@link #recordWork(BrickId, long, long)}.
     *
     * @param name the brick's name
     * @param done the work
     * @throws IllegalArgumentException when the name is null or empty
     */
    public void recordWork(String name, Work done) {
        requireName(name);
        Objects.requireNonNull(done, "done");
        if (isEnabled()) {
            work.record(phase(), brickKey(name), done.flops(), done.bytes(), done.workingSetBytes());
        }
    }

    // ---- the mode and the epoch ----

    /**
     * Returns when pending measurements are resolved.
     *
     * @return the mode, {@link SyncMode#DEFERRED} unless set
     */
    public SyncMode syncMode() {
        return mode;
    }

    /**
     * Sets when pending measurements are resolved.
     *
     * @param mode the mode from now on
     * @throws IllegalArgumentException when it is {@link SyncMode#IMMEDIATE}, and the profiler marks one brick in
     *     several: see {@link BrickProfilerBuilder#deviceSampling}
     */
    public void setSyncMode(SyncMode mode) {
        Objects.requireNonNull(mode, "mode");
        if (mode == SyncMode.IMMEDIATE && sampling > 1) {
            throw new IllegalArgumentException("mode IMMEDIATE waits for the mark of each brick, and deviceSampling("
                    + sampling + ") marks one in " + sampling + ": build the profiler with deviceSampling(1)");
        }
        setMode(mode);
    }

    /**
     * Returns the time of deferred measurements. Call it at the beginning of a measurement.
     *
     * <p>With a device stream each call sets a mark at the end of the first stream's queue, at the cost of starting a
     * brick, which is several times that of a clock read. {@link #recordDeferred(BrickId, long, long)} finds the start
     * by the returned number, on any thread. {@link BrickStream#elapsedNs()} sets a mark on another stream. With a
     * device stream, call it for starts of measurements only, and not during a capture that marks would disturb. A
     * start stays known for any number of passes, and holds a mark only until the device has reached it. At least
     * 32,768 starts without a measurement are kept, and the latest 4,096 others. {@link #reset()} and
     * {@link #disable()} discard all starts. While the profiler is off, and in {@link SyncMode#NONE}, no mark is set.
     *
     * @return ns since the epoch: the construction, or the last {@link #resetEpoch}. With a device stream no two calls
     *     since then, on any stream of the profiler, return the same number: if the clock stands still between them,
     *     the later call returns slightly more
     */
    public long elapsedNs() {
        return elapsedNs(DEFAULT_STREAM);
    }

    long elapsedNs(int stream) {
        DeviceRecorder marked = marking();
        return (marked == null ? nowNs() : marked.markStart(stream)) - epochNs;
    }

    /**
     * Sets the epoch to the present. Pending measurements keep their true start. Call it while no start that
     * {@link #elapsedNs()} has returned is still to be queued, since a number carries no epoch: a start of the old
     * epoch that is queued afterwards counts from the new one.
     */
    public void resetEpoch() {
        epochNs = nowNs();
    }

    // ---- deferred measurements ----

    /**
     * Queues a measurement until its end is known, at {@link #finalize(long)} or a boundary. At most 1,048,576
     * measurements wait for each thread; a further one is dropped, counted, and logged once.
     *
     * <p>With a device stream the measurement is the device's time between two marks of the first stream: the one that
     * {@link #elapsedNs()} set when it returned the start, and one that this call sets. Call it right after enqueueing
     * the work. Several may begin at one start, and any thread may call it. If the start is another number, such as a
     * time of the application's own clock or the start of another stream, if no mark was left for it, or if it is too
     * old, the measurement is unresolved, and {@link DeviceTime#withoutStart()} counts it. Work of another stream is
     * measured by {@link BrickStream#recordDeferred(BrickId, long, long)}, from a start of that stream.
     *
     * @param id the brick
     * @param startNs when it began, as {@link #elapsedNs()} read it
     * @param elements elements it processes
     * @throws IllegalArgumentException when the elements are negative
     */
    public void recordDeferred(BrickId id, long startNs, long elements) {
        recordDeferred(id.index(), startNs, elements);
    }

    /**
     * Queues a measurement until its end is known, as {@link #recordDeferred(BrickId, long, long)} does.
     *
     * @param key the brick's key
     * @param startNs when it began, as {@link #elapsedNs()} read it
     * @param elements elements it processes
     * @throws IllegalArgumentException when the elements are negative, or no brick has that key
     */
    public void recordDeferred(int key, long startNs, long elements) {
        requireKey(key);
        requireNotNegative("elements", elements);
        if (isEnabled()) {
            defer(key, DEFAULT_STREAM, startNs, elements);
        }
    }

    /**
     * Queues a measurement until its end is known, as {@link #recordDeferred(BrickId, long, long)} does.
     *
     * @param name the brick's name
     * @param startNs when it began, as {@link #elapsedNs()} read it
     * @param elements elements it processes
     * @throws IllegalArgumentException when the elements are negative, or the name is null or empty
     */
    public void recordDeferred(String name, long startNs, long elements) {
        requireName(name);
        requireNotNegative("elements", elements);
        if (isEnabled()) {
            defer(brickKey(name), DEFAULT_STREAM, startNs, elements);
        }
    }

    void defer(int key, int stream, long startNs, long elements) {
        DeviceRecorder marked = marking();
        if (marked != null) {
            marked.endSince(key, stream, epochNs + startNs, elements);
        } else if (!registry.defer(PhaseKey.of(phase(), key), epochNs + startNs, elements)) {
            resolver.drop(names.name(key));
        }
    }

    /** Returns the marks that time deferred measurements now; null if the host's clock times them. */
    private @Nullable DeviceRecorder marking() {
        return marksStreams() ? devices : null;
    }

    /**
     * Resolves every pending measurement. Each lasts from its start to the given end or, with
     * {@link Attribution#SEQUENTIAL}, to the next start. A measurement that began after the end counts as 0 ns. Call it
     * once per forward pass, after waiting for the device. With a device stream the given end is not used: measurements
     * that the device has finished get the device's own times, and the others stay pending.
     *
     * @param endNs when the pending work ended, as {@link #elapsedNs()} read it
     */
    public void finalize(long endNs) {
        resolvePending(endNs);
    }

    /**
     * Returns whether measurements wait for {@link #finalize(long)} or a boundary.
     *
     * @return true if at least one does
     */
    public boolean hasPending() {
        return pendingCount() > 0;
    }

    /**
     * Returns the number of measurements that wait for {@link #finalize(long)} or a boundary.
     *
     * @return 0 or more; exact while no thread records
     */
    public int pendingCount() {
        return pending();
    }

    // ---- layers and passes ----

    /**
     * Marks the beginning of a layer on the calling thread, for timeline and graph. Layers are counted from 0 in each
     * pass, even while the profiler is off. Without this call a layer begins at the last boundary. Call it if bricks
     * run before the layer, or if other threads work for the layer, see {@link #layerToken}.
     *
     * <p>A boundary may lie within a brick, for example if {@code lap} continues over it. The whole brick then belongs
     * to the layer in which it ran longest, or to none if it ran longest outside of layers.
     *
     * <p>Layers do not nest. An open layer ends with its pass. Starting another layer first also ends the pass; the new
     * layer is number 0 of the next pass.
     */
    public void startLayer() {
        beginLayer(Layers.NEXT);
    }

    /**
     * Marks the beginning of a layer by its number, for engines that do not go through all layers in order.
     * {@link #startLayer()} counts on from it.
     *
     * @param number its number, from 0; larger numbers than 1,048,574 count as that one
     * @throws IllegalArgumentException when the number is negative; no layer begins then
     */
    public void startLayer(int number) {
        requireNotNegative("number", number);
        beginLayer(number);
    }

    /**
     * Marks the end of a layer. In the modes {@link SyncMode#IMMEDIATE} and {@link SyncMode#PER_LAYER} the call waits
     * once for each stream on which the calling thread stopped bricks, and resolves these bricks; deferred measurements
     * without a device end now. The other modes resolve nothing here.
     */
    public void endLayer() {
        finishLayer();
    }

    /**
     * Marks the end of a forward pass. On each device stream on which the calling thread stopped bricks since it last
     * ended a pass, the call waits for the last of these bricks; never for later work or for bricks of other threads,
     * which end their own passes or call {@link BrickStream#endPass()}. The bricks are resolved when the call returns;
     * deferred measurements without a device end now. In {@link SyncMode#NONE} the call waits for nothing. An open
     * layer ends here, and the thread's next layer is number 0. If a pass may throw, call this method in a
     * {@code finally}.
     */
    public void endPass() {
        finishPass(mode != SyncMode.NONE, true);
    }

    /**
     * Marks the end of a forward pass without waiting. Bricks that devices have finished are resolved; the others stay
     * pending until a later boundary finds them finished. Deferred measurements without a device stay pending.
     */
    public void endPassAsync() {
        finishPass(false, false);
    }

    /**
     * Abandons the forward pass of the calling thread, for example because an exception ended it. The step of the pass
     * counts as abandoned and contributes no tokens; the samples of its bricks remain. An open layer ends here, and the
     * thread's next layer is number 0. Waits for nothing: bricks that a device has not finished stay pending until a
     * later boundary.
     */
    public void abandonPass() {
        giveUpPass();
    }

    // ---- steps ----

    /**
     * Begins a step: a forward pass whose phase, batch and lengths are known. The step ends with the pass, at the
     * calling thread's next {@link #endPass} or {@link #endPassAsync}, and then counts in
     * {@linkplain ProfileSnapshot#steps() the steps of a snapshot}.
     *
     * <pre>{@code
     * profiler.beginStep(StepInfo.decode(kvLength));
     * float[] logits = forward(token);
     * int next = sample(logits);
     * profiler.endPass();
     * }</pre>
     *
     * <p>The time of a step is the host's: end it after the engine has waited for its device. Its brick time by
     * category is the sum of the samples that all threads stopped or resolved during the step. This time is unknown,
     * and counts nowhere, if another step was under way at the same time, or if measurements were pending at the
     * beginning or the end of the step.
     *
     * <p>A sample belongs to the phase of this step if the calling thread records it, or a thread that works for a
     * layer of the step ({@link #workFor}). A sample of a worker, a thread that never begins a step nor serves a
     * request, belongs to the phase of the steps that are under way, if all have the same phase. Any other sample
     * belongs to no phase, such as one of the calling thread after the end of its step. The phase is determined when
     * the brick is stopped, recorded or queued, even if its time becomes known later. {@link #brickStats(BrickId,
     * StepInfo.Phase)} and {@link ProfileSnapshot#bricks(StepInfo.Phase)} return the stats of a phase.
     *
     * <p>A step that is still under way on this thread, or on a thread that has ended, is abandoned, and so is a step
     * during which the profiler is switched off; its samples keep their phase. If a layer is open, its pass ends. This
     * call and the end of the step take a lock, and the end reads each brick of the phase; a pass without a step pays
     * nothing.
     *
     * @param info the phase, batch and lengths of the step
     */
    public void beginStep(StepInfo info) {
        startStep(Objects.requireNonNull(info, "info"));
    }

    /**
     * Records accepted tokens of the draft of the calling thread's step; several calls add up. Does nothing if no step
     * is under way.
     *
     * @param tokens accepted tokens, out of {@link StepInfo#draftedTokens()}
     * @throws IllegalArgumentException when the number is negative, or exceeds the drafted tokens that are left;
     *     nothing is counted then
     */
    public void recordAcceptedTokens(long tokens) {
        requireNotNegative("tokens", tokens);
        acceptTokens(tokens);
    }

    // ---- work of other threads for a layer ----

    /**
     * Returns a token of the layer that the calling thread works for: the one that it began with {@link #startLayer}
     * and has not ended, or the one it was given by {@link #workFor}. While the {@linkplain #graph() graph} is on, the
     * token also carries the brick that the calling thread is timing, which becomes the parent of the bricks that other
     * threads record for the token. Take the token inside that brick, before the work is handed out, and pass it to the
     * tasks:
     *
     * <pre>{@code
     * long timer = profiler.startBrick(BrickId.FUSED_ATTENTION);
     * long layer = profiler.layerToken();
     * IntStream.range(0, heads).parallel().forEach(head -> {
     *     long before = profiler.workFor(layer);
     *     try {
     *         attend(head); // on any thread, its bricks belong to that layer and to the fused attention
     *     } finally {
     *         profiler.workFor(before);
     *     }
     * });
     * profiler.stopBrick(timer, tokens);
     * }</pre>
     *
     * <p>If the calling thread does a part of the work, its bricks belong to the bricks inside which they run, as
     * always. A token allocates nothing, except while the graph is on: then it allocates one object and returns after
     * the clock has advanced.
     *
     * @return the token, which stays valid for that layer of that pass; 0 if the thread works for none
     */
    public long layerToken() {
        return tokenOfLayer();
    }

    /**
     * Returns the number of the layer that the calling thread works for. A checksum that is recorded now belongs to
     * this layer.
     *
     * @return 0 or more; -1 if the thread works for no layer
     */
    public int currentLayer() {
        return LayerToken.layer(layers.current());
    }

    /**
     * Makes the calling thread work for a layer until the next such call. In timeline and graph its bricks belong to
     * that layer, and in the graph to the brick that the token carries; a sample of its lines outside of its bricks
     * belongs to the brick under way on the thread of the pass. Passes that run at the same time on other threads have
     * tokens of their own. Only a thread's first call allocates.
     *
     * @param layer the token that {@link #layerToken} returned on the thread of the pass, or 0 for none
     * @return the token that this thread worked for before; pass it to this method when the work is done
     */
    public long workFor(long layer) {
        return changeLayer(layer);
    }

    // ---- the whole ----

    /**
     * Returns an immutable profile of all samples so far, which can be merged with others. Its cost of recording is 0,
     * for unknown, if the first profiler of the virtual machine was switched on less than about a second ago.
     *
     * @return the snapshot
     */
    public ProfileSnapshot snapshot() {
        return snapshots.snapshot();
    }

    /**
     * Returns the steps and requests that are under way now. If no step has ended for {@value Progress#STALL_MS} ms
     * meanwhile, the call reads where the threads stand that matter, and the virtual machine stops each of them for
     * some microseconds.
     *
     * @return what is under way
     */
    public Progress progress() {
        StepRecorder recorder = steps();
        return recorder == null ? Progress.NONE : recorder.progress();
    }

    /**
     * Takes a snapshot and forgets its samples. Each sample is in exactly one of consecutive snapshots, even while
     * other threads record. Pending measurements stay pending.
     *
     * @return the snapshot
     */
    public ProfileSnapshot snapshotAndReset() {
        return snapshots.snapshotAndReset();
    }

    /**
     * Forgets all samples, tiles, pending measurements, checksums and the graph. The next layer of each thread is
     * number 0 of a new pass. Names, keys, bottlenecks and settings stay, as do spans that a sink has received. A
     * sample that is recorded at the same time counts as before or after the reset. A profiler with device streams
     * gives back the marks of running timers and of starts of deferred measurements: a brick that began before the
     * reset is unresolved.
     */
    public void reset() {
        forget();
        if (devices != null) {
            devices.giveBack();
        }
        resetBoundaries();
        ProfilerState.reset(STATE, this);
    }

    /** Forgets the same as {@link #reset}, but lets open passes go on. */
    void forget() {
        snapshots.forget();
        if (sink != null) {
            sink.discarded();
        }
    }

    /**
     * Measures the cost of timing a brick, on the calling thread, for about a second: with the options of this profiler
     * and in every other way of recording; and on its device streams, what {@linkplain DeviceStream#measureMarks marks
     * add}, unless that is known. Later snapshots contain the cost and, as far as the {@linkplain #graph() graph} has
     * recorded it, the nesting of bricks; reports then show {@linkplain RunFacts#netNs times without that cost}. Call
     * it after the work, since the compiler may not inline code into the application's loops that the measurement has
     * made hot before. The measurement does not count as time of the profiler. With a device stream, call it on a
     * thread that may use the device; the call waits for it. Does nothing if the profiler is switched off from outside,
     * see {@link #enable}.
     */
    public void calibrate() {
        if (SwitchSetting.ofProfiler().on()) {
            Calibrator.Graph kind = Calibrator.Graph.of(graph);
            if (devices != null) {
                devices.measureMarks();
            }
            results.calibrate(this, new Calibrator.Way(clock, hasPercentiles(), registry.hasSpans(), kind));
        }
    }

    // ---- results ----

    /**
     * Returns the stats of a known brick.
     *
     * @param id the brick
     * @return its stats, never null; all zero if nothing was recorded
     */
    public BrickStats brickStats(BrickId id) {
        int key = id.index();
        return results.brick(key, snapshots.read(key, key + 1));
    }

    /**
     * Returns the stats of a known brick in one phase: see {@link #beginStep}.
     *
     * @param id the brick
     * @param phase the phase of the steps to which the samples belong
     * @return its stats, never null; all zero if nothing was recorded
     */
    public BrickStats brickStats(BrickId id, StepInfo.Phase phase) {
        Objects.requireNonNull(phase, "phase");
        int key = id.index();
        return results.brick(phase.number(), key, snapshots.read(key, key + 1));
    }

    /**
     * Returns the stats of a brick.
     *
     * @param name its name or an alias
     * @return its stats, or empty if nothing was recorded
     */
    public Optional<BrickStats> stats(@Nullable String name) {
        int key = names.find(name);
        return key < 0
                ? Optional.empty()
                : Optional.of(results.brick(key, snapshots.read(key, key + 1))).filter(BrickStats::isRecorded);
    }

    /**
     * Returns the stats of all bricks.
     *
     * @return the bricks that have samples, largest total first; cannot be changed
     */
    public List<BrickStats> allBrickStats() {
        return results.bricks(snapshots.read(0, names.size()));
    }

    /**
     * Returns the names of the bricks that have samples.
     *
     * @return their names, in the order of {@link #allBrickStats()}; cannot be changed
     */
    public List<String> brickNames() {
        return allBrickStats().stream().map(BrickStats::name).toList();
    }

    /**
     * Returns the stats of all categories.
     *
     * @return an {@code EnumMap} with every category, in order; the caller's own
     */
    public Map<BrickCategory, CategoryStats> categoryStats() {
        return CategoryStats.byCategory(allBrickStats());
    }

    /**
     * Returns the sum of the elements of all bricks.
     *
     * @return elements
     */
    public long totalTokens() {
        return total().totalElements();
    }

    /**
     * Returns the sum of brick time, over all threads.
     *
     * @return ns
     */
    public long totalNs() {
        return total().totalNs();
    }

    /**
     * Returns elements per second of brick time.
     *
     * @return elements/s, 0 if no time was measured
     */
    public double totalThroughput() {
        return total().throughput();
    }

    private CategoryStats total() {
        return CategoryStats.sum(categoryStats().values());
    }

    /**
     * Returns the profiler of tiles. It has its own switch. {@link #reset()} empties it.
     *
     * @return always the same object
     */
    public TileProfiler tiles() {
        return tiles;
    }

    // ---- facts from the application ----

    /**
     * Sets the resource that limits a brick. {@link #reset()} keeps it.
     *
     * @param name the brick's name; a new one becomes a dynamic brick
     * @param bottleneck the limiting resource
     * @throws IllegalArgumentException when the name is null or empty
     */
    public void setBottleneck(String name, Bottleneck bottleneck) {
        Objects.requireNonNull(bottleneck, "bottleneck");
        results.setBottleneck(brickKey(name), bottleneck);
    }

    /**
     * Sets the hit rate of the L2 cache. {@link #reset()} keeps it.
     *
     * @param rate the share of accesses; clamped to 0 to 1
     * @throws IllegalArgumentException when the rate is not a number
     */
    public void setL2CacheHitRate(double rate) {
        results.setL2CacheHitRate(rate);
    }

    /**
     * Returns the hit rate of the L2 cache.
     *
     * @return 0 to 1, or empty if the application has not set it
     */
    public OptionalDouble l2CacheHitRate() {
        return results.l2CacheHitRate();
    }

    /**
     * Sets whether transfers between host and device copy nothing. {@link #reset()} keeps the setting.
     *
     * @param on true if they copy nothing
     */
    public void setZeroCopy(boolean on) {
        results.setZeroCopy(on);
    }

    /**
     * Returns whether transfers between host and device copy nothing.
     *
     * @return the value that the application set; false by default
     */
    public boolean isZeroCopy() {
        return results.isZeroCopy();
    }

    /**
     * Sets the speed of the run as the application measured it, for comparisons of runs. It is most useful while the
     * profiler is switched off, since the speed then does not include the profiler's cost. {@link #reset()} keeps it.
     *
     * @param rate tokens/s; 0, NaN and infinity, which a run without tokens or without time computes, make the speed
     *     unknown, and snapshots have a remark that states this
     * @throws IllegalArgumentException when the rate is negative
     */
    public void setTokensPerSec(double rate) {
        results.setTokensPerSec(rate);
    }

    // ---- streams, tiles, checksums, graph, listeners ----

    /**
     * Returns a device stream, to time bricks that are enqueued there.
     *
     * @param name the stream's name in the builder, or its own
     * @return the object that starts bricks on it
     * @throws IllegalArgumentException when there is no stream of that name, or it is null
     */
    public BrickStream stream(String name) {
        return BrickStream.named(name, streamNames, this, devices);
    }

    /**
     * Returns the log of checksums, which finds the first brick whose output differs between two runs. It has no
     * switch: each call records an entry. An entry carries the time of the brick that the calling thread was timing, or
     * had timed last, when it recorded the output: see {@link ChecksumLog#ChecksumLog(ChecksumOptions,
     * org.brickprofiler.spi.SampleTimes)}. With device streams an entry carries no time, except in
     * {@link SyncMode#NONE}. Pass {@link #currentLayer} as its layer. {@link BrickProfilerBuilder#checksums} sets how
     * much of an output a checksum covers. {@link #reset()} empties the log.
     *
     * @return always the same object
     */
    public ChecksumLog checksums() {
        return checksums;
    }

    /**
     * Returns the recorder of the execution graph, which has its own switch. While both the recorder and the profiler
     * are on, timed bricks, {@link #endLayer} and {@link #endPass} fill the graph. {@link #reset()} empties it.
     *
     * @return always the same object
     */
    public synchronized GraphRecorder graph() {
        GraphRecorder recorder = graph;
        if (recorder == null) {
            recorder = new GraphRecorder(clock);
            graph = recorder;
            followed = true;
            if (devices != null) {
                devices.timeEveryLaunch();
                if (devices.markAll()) {
                    LOG.warn("deviceSampling({}) ends here: the graph shows each brick, so each is marked", sampling);
                }
            }
        }
        return recorder;
    }

    /**
     * Returns the recorder of the requests that the engine serves. It is on while the profiler is on; switching the
     * profiler off gives up the live requests. The recorder learns of the steps from {@link #beginStep} and
     * {@link #endPass}. A step that is under way at the first call of this method works on no request, so call it
     * before the first step. {@link #reset()} empties it.
     *
     * @return always the same object
     */
    public RequestRecorder requests() {
        return requestRecorder();
    }

    /**
     * Adds a listener, which hears of samples and steps from now on.
     *
     * @param listener a listener; added twice, it hears everything twice
     */
    public synchronized void addListener(ProfilerListener listener) {
        listeners.add(Objects.requireNonNull(listener, "listener"), listener.wantsBricks());
        followed = isFollowed();
    }

    /**
     * Removes a listener. A call that is under way on another thread may still reach it.
     *
     * @param listener the listener to remove; ignored if it was never added
     */
    public synchronized void removeListener(ProfilerListener listener) {
        listeners.remove(Objects.requireNonNull(listener, "listener"));
        followed = isFollowed();
    }

    private boolean isFollowed() {
        return graph != null || ranges != null || listeners.wantBricks();
    }

    // ---- shared helpers ----

    /** Returns whether recording is on in a state, and timers need the host's clock alone. */
    boolean isOnHost(int now) {
        return ProfilerState.isOn(now) && needsClockAlone;
    }
}
