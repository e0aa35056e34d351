package org.brickprofiler;

import static org.brickprofiler.internal.io.Checks.requireNotNegative;

import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.brickprofiler.checksum.ChecksumLog;
import org.brickprofiler.graph.GraphRecorder;
import org.brickprofiler.internal.io.SwitchSetting;
import org.brickprofiler.internal.record.LayerToken;
import org.brickprofiler.internal.record.NameTable;
import org.brickprofiler.internal.record.OwnSamples;
import org.brickprofiler.internal.record.PendingResolver;
import org.brickprofiler.internal.record.SpanKind;
import org.brickprofiler.internal.record.StatTable;
import org.brickprofiler.internal.record.TimerToken;
import org.brickprofiler.spi.NanoClock;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/**
 * Times the bricks of a forward pass and adds them up.
 *
 * <p><b>In a hot loop</b>, a timer around each brick; {@code lap} stops one and starts the next with one clock read:
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
 * <p><b>Deferred</b>, where work is enqueued and one synchronisation ends all of it. Several bricks share one here, so
 * each lasts until the next one starts; with a {@linkplain BrickProfilerBuilder#deviceStream device stream} they get
 * the device's own times instead:
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
 * <p><b>The breakdown</b> is in {@link #categoryStats()}, and in reports of a {@link #snapshot()}.
 *
 * <p><b>Threads.</b> Every method may be called from any thread. Recording threads never wait for each other or for a
 * reader; readers, resets and resolutions of pending measurements wait for each other. What a reader gets is consistent
 * brick by brick, and nothing is missing from it once the recording threads are done.
 *
 * <p><b>The switch.</b> While the profiler is off, every method that records is a cheap no-op.
 *
 * <p><b>The timer</b> is a {@code long} that carries the brick and its start. It is a value: it may be stopped on
 * another thread, and stopping it twice counts twice. A timer that was started while the profiler was off is void, and
 * stopping it records nothing.
 *
 * <p><b>Names.</b> A name stands for the {@link BrickId} that {@link BrickId#parse} finds, otherwise for a dynamic
 * brick. There is room for at least 4,000 of those; further new names share one brick called {@value #OTHER_NAMES}, and
 * that is logged once.
 *
 * <p><b>Errors.</b> Negative durations, elements, bytes and cycles, and null and empty names, are refused with an
 * {@link IllegalArgumentException}; nothing is recorded then. Any other null is refused with a
 * {@link NullPointerException} whose message names the parameter, on the hot path that of the dereference itself; a
 * void timer and a null brick while the profiler is off are not looked at.
 */
public final class BrickProfiler extends BrickResults {

    /** The name under which bricks past the bound are counted. */
    public static final String OTHER_NAMES = NameTable.OTHER_NAMES;

    /** Of bricks and steps for one snapshot, at most. */
    private static final int MOST_READINGS = 4;

    // What the way of a sample reads, here and not behind another object: each load that waits for another one takes
    // its
    // time again where a clock read waits for all before it.

    private volatile boolean enabled;

    /** The clock that the builder was given; null for the system's. */
    private final @Nullable NanoClock ownClock;

    /** The bricks of device streams; null where there are none. */
    private final @Nullable DeviceTimers devices;

    /** Whether the graph or a listener follows the bricks. Written while holding {@code this}. */
    private volatile boolean followed;

    /** Made when it is first asked for, while holding {@code this}. */
    private volatile @Nullable GraphRecorder graph;

    /** Who follows the steps. Made when the first one begins, while holding {@code this}. */
    private volatile @Nullable StepRecorder steps;

    private volatile SyncMode mode = SyncMode.DEFERRED;
    private volatile long epochNs;

    // The rest is for boundaries and readers.

    private final NanoClock clock;
    private final PendingResolver resolver;
    private final AtomicLong droppedPending = new AtomicLong();
    private final AtomicBoolean dropLogged = new AtomicBoolean();
    private final ChecksumLog checksums;
    private final boolean hasPercentiles;
    private final Listeners listeners = new Listeners();

    /** What the log of checksums asks about samples. */
    private final class Samples implements OwnSamples {
        @Override
        public int key(String name) {
            return names.find(name);
        }

        /** Not what the thread has resolved for a device: that is of an earlier pass, and may be another thread's. */
        @Override
        public @Nullable StatTable table() {
            return devices == null || mode == SyncMode.NONE ? registry.ownTable() : null;
        }

        @Override
        public long nowNs() {
            return BrickProfiler.this.nowNs();
        }
    }

    /** A profiler that is off, with the default options. */
    public BrickProfiler() {
        this(builder());
    }

    BrickProfiler(BrickProfilerBuilder options) {
        super(options);
        clock = options.clock;
        ownClock = clock == NanoClock.SYSTEM ? null : clock;
        devices = options.streams.isEmpty() ? null : new DeviceTimers(this, options);
        resolver = new PendingResolver(registry, options.attribution == Attribution.SEQUENTIAL);
        checksums = new ChecksumLog(options.checksums, new Samples());
        epochNs = period.originNs();
        hasPercentiles = options.percentiles;
    }

    /**
     * A profiler that is on, with the default options.
     *
     * @return a new profiler
     */
    public static BrickProfiler enabled() {
        BrickProfiler profiler = new BrickProfiler();
        profiler.enable();
        return profiler;
    }

    /**
     * Begins to choose options.
     *
     * @return a builder with the default options
     */
    public static BrickProfilerBuilder builder() {
        return new BrickProfilerBuilder();
    }

    // ---- the switch ----

    /**
     * Switches recording on. The first time in a virtual machine it also starts a daemon thread that measures, a second
     * later and with some milliseconds of work, what recording costs. Does nothing where the system property
     * {@code brick.profiler}, or else the environment variable {@code BRICK_PROFILER}, is {@code false}, {@code off} or
     * {@code 0}: then no profiler of the virtual machine, tiles and graphs and kernel timings included, ever records,
     * which is logged once. {@code brick run} uses that to learn how fast a program is by itself.
     *
     * <p>Where the system property {@code brick.profiler.export}, or else the environment variable
     * {@code BRICK_PROFILER_EXPORT}, names a folder, the first profiler of the virtual machine that is switched on
     * begins to export its windows there, of the length or steps that {@code brick.profiler.export_every} or
     * {@code BRICK_PROFILER_EXPORT_EVERY} names, such as {@code 500 ms}, {@code 10 s} (as where neither is set),
     * {@code 5 min} or {@code 100 steps}.
     *
     * <p>Where the system property {@code brick.profiler.out}, or else the environment variable
     * {@code BRICK_PROFILER_OUT}, names a file, the profile of all profilers that were switched on is written there
     * when the virtual machine ends, as {@code brick run} wants it: what they hold then and what
     * {@link #snapshotAndReset} returned before, merged; not what {@link #reset} forgot. A file of an earlier run is
     * deleted by the first call. A file that the application has written itself is left as it is. Where another
     * process, such as a child that inherited the variable, has written the file, the profile goes to
     * {@code NAME-PID.json} beside it, and {@code brick run} refuses the run. With {@code BRICK_PROFILER=off} the
     * profile has no bricks.
     */
    public void enable() {
        ProfileOutput.add(self());
        if (!SwitchSetting.ofProfiler().on()) {
            return;
        }
        selfCost.start();
        switchOn();
        ExportSetting.startOnce(this);
    }

    /** Switches recording on, and measures nothing. */
    void switchOn() {
        period.resume(nowNs());
        enabled = true;
    }

    /**
     * Switches recording off; what was recorded stays. A profiler with device streams gives the marks back that running
     * timers and starts of deferred measurements hold: after {@link #enable()}, what began before is unresolved.
     */
    public void disable() {
        enabled = false;
        period.pause(nowNs());
        if (devices != null) {
            devices.giveBack();
        }
    }

    /**
     * Whether recording is on.
     *
     * @return true between {@link #enable} and {@link #disable}
     */
    @Override
    public boolean isEnabled() {
        return enabled;
    }

    // ---- the hot path ----

    /**
     * Starts timing a brick.
     *
     * @param id the brick
     * @return the timer, for {@link #stopBrick} or {@link #lap(long, long, BrickId)}
     */
    @Override
    public long startBrick(BrickId id) {
        return enabled ? start(id.index()) : TimerToken.VOID;
    }

    /**
     * Starts timing a brick by its key.
     *
     * @param key what {@link #brickKey(String)} of this profiler returned
     * @return the timer; void where no brick has that key
     */
    @Override
    public long startBrick(int key) {
        return enabled && hasBrick(key) ? start(key) : TimerToken.VOID;
    }

    /**
     * Starts timing a brick by its name. Slower than by id or key.
     *
     * @param name a known name or alias, or the name of a dynamic brick, which need not be registered
     * @return the timer
     * @throws IllegalArgumentException when the name is null or empty
     */
    @Override
    public long startBrick(String name) {
        return enabled ? start(keyOf(name)) : TimerToken.VOID;
    }

    private long start(int key) {
        return devices == null ? TimerToken.pack(key, nowNs()) : devices.start(key);
    }

    /**
     * Stops a timer and records the sample.
     *
     * @param timer what starting it returned
     * @param elements elements the brick processed: tokens, rows, pages, of a copy bytes
     * @throws IllegalArgumentException when the elements are negative
     */
    @Override
    public void stopBrick(long timer, long elements) {
        if (timer == TimerToken.VOID || !enabled) {
            requireNotNegative("elements", elements);
            return;
        }
        if (devices == null) {
            stop(timer, elements, nowNs());
        } else {
            devices.stop(timer, elements);
        }
    }

    private void stop(long timer, long elements, long nowNs) {
        stop(tables.own(), timer, elements, nowNs);
    }

    /** Adds the sample of a timer that is not void to the calling thread's own table, or else to where it may go. */
    void stop(@Nullable StatTable own, long timer, long elements, long nowNs) {
        if (own == null || !own.addTimed(timer, nowNs, elements)) {
            addWithoutRow(timer, elements, nowNs);
        }
        if (followed) {
            followTimed(timer, elements, nowNs);
        }
    }

    private void addWithoutRow(long timer, long elements, long nowNs) {
        requireNotNegative("elements", elements);
        int key = TimerToken.key(timer);
        if (hasBrick(key)) {
            registry.add(key, TimerToken.elapsedNs(timer, nowNs), nowNs, elements);
        }
    }

    private void followTimed(long timer, long elements, long nowNs) {
        int key = TimerToken.key(timer);
        if (hasBrick(key)) {
            long elapsedNs = TimerToken.elapsedNs(timer, nowNs);
            follow(key, nowNs - elapsedNs, nowNs, elements);
            reportSample(key, elapsedNs, nowNs, elements);
        }
    }

    /**
     * Stops a timer and starts the next at the same instant, with one clock read.
     *
     * @param timer what starting it returned; a void one only starts the next
     * @param elements elements the brick processed
     * @param next the brick that begins
     * @return the timer of the next brick
     * @throws IllegalArgumentException when the elements are negative
     */
    public long lap(long timer, long elements, BrickId next) {
        if (enabled) {
            return lapTo(timer, elements, next.index());
        }
        requireNotNegative("elements", elements);
        return TimerToken.VOID;
    }

    /**
     * Stops a timer and starts the next at the same instant, with one clock read.
     *
     * @param timer what starting it returned; a void one only starts the next
     * @param elements elements the brick processed
     * @param nextKey the key of the brick that begins
     * @return the timer of the next brick; void where no brick has that key
     * @throws IllegalArgumentException when the elements are negative
     */
    public long lap(long timer, long elements, int nextKey) {
        if (enabled && hasBrick(nextKey)) {
            return lapTo(timer, elements, nextKey);
        }
        stopBrick(timer, elements);
        return TimerToken.VOID;
    }

    private long lapTo(long timer, long elements, int nextKey) {
        if (devices != null) {
            return devices.lap(timer, elements, nextKey);
        }
        long nowNs = nowNs();
        if (timer == TimerToken.VOID) {
            requireNotNegative("elements", elements);
        } else {
            stop(timer, elements, nowNs);
        }
        return TimerToken.pack(nextKey, nowNs);
    }

    /**
     * The same calls for the loop of one thread, which is not looked up at each call.
     *
     * @return what records for the calling thread; not to be used by another thread
     */
    public ThreadProfiler forThisThread() {
        return new ThreadProfiler(this, Thread.currentThread());
    }

    // ---- the mode and the epoch ----

    /**
     * When pending measurements are resolved.
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
     */
    public void setSyncMode(SyncMode mode) {
        this.mode = Objects.requireNonNull(mode, "mode");
    }

    /**
     * The time of deferred measurements: read it where one begins.
     *
     * <p>With a device stream each call sets a mark at the end of the first stream's queue, as starting a brick does
     * and at the same cost, which is some times that of reading the clock; {@link #recordDeferred(BrickId, long, long)}
     * finds the start again by the returned number, on whichever thread. {@link BrickStream#elapsedNs()} sets one on
     * another stream. So read it for nothing else there, and not while a stream is captured that marks would disturb. A
     * start is known for any number of passes, and holds a mark of the stream only until the device has reached it: at
     * least 32,768 starts are kept at which no measurement has begun so far, and the latest 4,096 others.
     * {@link #reset()} and {@link #disable()} forget them. While the profiler is off, and in {@link SyncMode#NONE}, no
     * mark is set.
     *
     * @return ns since the epoch: the construction, or the last {@link #resetEpoch}. With a device stream no two calls
     *     return the same, on whichever stream of the profiler: where the clock stands still between them, the later
     *     one returns as little more as it takes
     */
    public long elapsedNs() {
        return elapsedNs(DeviceTimers.DEFAULT_STREAM);
    }

    long elapsedNs(int stream) {
        DeviceTimers marked = marking();
        return (marked == null ? nowNs() : marked.startNs(stream)) - epochNs;
    }

    /** Makes now the epoch. Measurements already pending keep their true start. */
    public void resetEpoch() {
        epochNs = nowNs();
    }

    // ---- deferred measurements ----

    /**
     * Queues a measurement until its end is known. It lasts at least until {@link #finalize(long)} or a boundary. At
     * most 1,048,576 wait for each thread; a further one is dropped, counted, and logged once.
     *
     * <p>With a device stream the measurement is what the first stream does from the mark that {@link #elapsedNs()} set
     * when it returned the start to a mark that this call sets: call it right after its work was enqueued. Several may
     * begin at one start, and any thread may call it. If the start is another number, such as a time of the
     * application's own clock or the start of another stream, if no mark was left for it, or if it is too old, the
     * measurement is unresolved, and {@link DeviceTime#withoutStart()} counts it. Work of another stream is measured by
     * {@link BrickStream#recordDeferred(BrickId, long, long)}, from a start of that stream.
     *
     * @param id the brick
     * @param startNs when it began, as {@link #elapsedNs()} read it
     * @param elements elements it processes
     * @throws IllegalArgumentException when the elements are negative
     */
    public void recordDeferred(BrickId id, long startNs, long elements) {
        requireNotNegative("elements", elements);
        if (enabled) {
            defer(id.index(), startNs, elements);
        }
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
        if (enabled) {
            defer(key, startNs, elements);
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
        if (enabled) {
            defer(keyOf(name), startNs, elements);
        }
    }

    private void defer(int key, long startNs, long elements) {
        defer(key, DeviceTimers.DEFAULT_STREAM, startNs, elements);
    }

    void defer(int key, int stream, long startNs, long elements) {
        DeviceTimers marked = marking();
        if (marked != null) {
            marked.defer(key, stream, epochNs + startNs, elements);
        } else if (!registry.defer(key, epochNs + startNs, elements)) {
            drop(key);
        }
    }

    /** Whose marks time deferred measurements now; null where the host's clock does. */
    private @Nullable DeviceTimers marking() {
        return devices == null || !enabled || mode == SyncMode.NONE ? null : devices;
    }

    private void drop(int key) {
        if (dropLogged.compareAndSet(false, true)) {
            LoggerFactory.getLogger(BrickProfiler.class)
                    .warn(
                            "too many deferred measurements wait for finalize: '{}' and further ones are dropped",
                            names.name(key));
        }
        droppedPending.incrementAndGet();
    }

    /**
     * Resolves every pending measurement: each lasts from its start to the given end, or to the next start where the
     * profiler was built with {@link Attribution#SEQUENTIAL}. One that began after the end counts as 0 ns. Nothing
     * happens where none is pending. Call it once per forward pass, after the device was waited for. With a device
     * stream the given end ends nothing: what the device has done gets the device's own times, the rest stays pending.
     *
     * @param endNs when the pending work ended, as {@link #elapsedNs()} read it
     */
    public void finalize(long endNs) {
        resolver.resolve(epochNs + endNs);
        if (devices != null) {
            devices.poll(epochNs + endNs);
        }
    }

    /**
     * Whether measurements wait for {@link #finalize(long)} or a boundary.
     *
     * @return true where at least one does
     */
    public boolean hasPending() {
        return pendingCount() > 0;
    }

    /**
     * How many measurements wait for {@link #finalize(long)} or a boundary.
     *
     * @return 0 or more; exact while nobody records
     */
    public int pendingCount() {
        return registry.pendingCount() + (devices == null ? 0 : devices.pendingCount());
    }

    // ---- layers and passes ----

    /**
     * Marks the beginning of a layer on the calling thread, for timeline and graph; layers are counted from 0 in each
     * pass, while the profiler is off, too. Needed where bricks came before the layer, or other threads work for it,
     * see {@link #layerToken}: without this call a layer begins where the last boundary was.
     *
     * <p>A boundary may lie within a brick, as it does where {@code lap} goes on over it: the brick then belongs as a
     * whole to the layer in which it ran longest, or to none where that was outside of layers.
     *
     * <p>Layers do not nest. Where the one before was not ended, an exception has ended its pass: it ends there, and
     * this layer is number 0 of the next pass.
     */
    public void startLayer() {
        beginLayer(Layers.NEXT);
    }

    /**
     * Marks the beginning of a layer by its number, where an engine knows it or does not go through all layers in
     * order; otherwise as {@link #startLayer()}, which counts on from it.
     *
     * @param number its number, from 0; from 1,048,574 on all are that one
     * @throws IllegalArgumentException when the number is negative; no layer begins then
     */
    public void startLayer(int number) {
        requireNotNegative("number", number);
        beginLayer(number);
    }

    private void beginLayer(int given) {
        if (layers.isOpen()) {
            passEnded(true, false);
        }
        long layer = layers.start(given);
        int number = LayerToken.layer(layer);
        reach(SpanKind.LAYER_START, given == Layers.NEXT ? number : ~number, false);
        GraphRecorder follower = follower();
        if (follower != null) {
            follower.startLayer(layer);
        }
    }

    /**
     * Marks the end of a layer. In the modes {@link SyncMode#IMMEDIATE} and {@link SyncMode#PER_LAYER} it waits for the
     * bricks that the calling thread stopped on devices, once for each stream, and resolves them; deferred measurements
     * without a device end now. In the other modes nothing is resolved.
     */
    public void endLayer() {
        SyncMode now = mode;
        boolean resolves = now == SyncMode.IMMEDIATE || now == SyncMode.PER_LAYER;
        if (resolves && devices != null) {
            devices.await();
        }
        long layer = layers.end();
        reach(SpanKind.LAYER_END, LayerToken.layer(layer), resolves);
        GraphRecorder follower = follower();
        if (follower != null) {
            follower.endLayer(layer);
        }
    }

    /**
     * Marks the end of a forward pass: of the device streams on which the calling thread stopped bricks since it last
     * ended a pass. It waits for the last of these bricks on each stream, not for what was enqueued behind it, nor for
     * bricks of other threads; those have ends of their own, or {@link BrickStream#endPass()}. What the thread waited
     * for is resolved when the call returns; deferred measurements without a device end now. In {@link SyncMode#NONE}
     * it waits for nothing. A layer that has begun and not ended ends here, and the thread's next one is number 0: a
     * pass that may throw calls this in a {@code finally}.
     */
    public void endPass() {
        passEnds(mode != SyncMode.NONE);
        passEnded(false, true);
    }

    /**
     * Marks the end of a forward pass and waits for nothing: bricks that devices have done are resolved, the others
     * stay pending until a later boundary finds them done. Deferred measurements without a device stay pending.
     */
    public void endPassAsync() {
        passEnds(false);
        passEnded(false, false);
    }

    private void passEnds(boolean waits) {
        if (devices != null) {
            devices.endPass(waits);
        }
    }

    private void passEnded(boolean abandoned, boolean resolves) {
        layers.endPass();
        StepRecorder recorder = abandoned ? null : steps;
        long endNs = recorder == null ? 0 : nowNs();
        reach(SpanKind.PASS_END, abandoned ? 1 : 0, resolves);
        if (recorder != null) {
            endStep(recorder, endNs);
        }
        GraphRecorder follower = follower();
        if (follower != null) {
            follower.endPass();
        }
    }

    private void endStep(StepRecorder recorder, long endNs) {
        if (enabled) {
            Step step = recorder.end(endNs, hasPending(), !listeners.isEmpty());
            if (step != null) {
                listeners.stepEnded(step);
            }
        } else {
            recorder.interrupt();
        }
    }

    private void reach(SpanKind boundary, long value, boolean resolves) {
        boolean traced = enabled && registry.hasSpans();
        if (resolves || traced) {
            long now = nowNs();
            if (resolves) {
                resolver.resolve(now);
            }
            if (traced) {
                registry.mark(boundary, 0, now, 0, value);
            }
        }
    }

    // ---- steps ----

    /**
     * Begins a step: a forward pass of which it is known what it works on. It ends with the pass, at the calling
     * thread's next {@link #endPass} or {@link #endPassAsync}, and is then one of the
     * {@linkplain ProfileSnapshot#steps() steps}.
     *
     * <pre>{@code
     * profiler.beginStep(StepInfo.decode(kvLength));
     * float[] logits = forward(token);
     * int next = sample(logits);
     * profiler.endPass();
     * }</pre>
     *
     * <p>The step's time is the host's, so that it should end where the engine has waited for its device. Its brick
     * time by category is what all threads stopped or resolved meanwhile; it is not known, and counted nowhere, where
     * another step was under way at the same time, or measurements were pending at its beginning or are at its end.
     *
     * <p>A step that is under way on this thread, or on one that has ended, is abandoned, as is one at whose end the
     * profiler is off; a pass whose layer is open ends. This call takes a lock and one look at each brick of each
     * thread, and so does the end of the step; a pass without it pays nothing.
     *
     * @param info what it works on
     */
    public void beginStep(StepInfo info) {
        Objects.requireNonNull(info, "info");
        if (layers.isOpen()) {
            passEnded(true, false);
        }
        StepRecorder recorder = steps;
        if (enabled) {
            listeners.stepBegan(info);
            long startNs = (recorder == null ? stepRecorder() : recorder).begin(info, hasPending());
            if (registry.hasSpans()) {
                long tokens = info.prefillTokens() + info.outputTokens() + info.draftedTokens();
                registry.mark(SpanKind.STEP_START, info.phase().index(), startNs, 0, tokens);
            }
        } else if (recorder != null) {
            recorder.interrupt();
        }
    }

    private synchronized StepRecorder stepRecorder() {
        StepRecorder recorder = steps;
        if (recorder == null) {
            recorder = new StepRecorder(registry, names, period, clock);
            steps = recorder;
        }
        return recorder;
    }

    /**
     * Records that drafted tokens of the calling thread's step were right; several calls add up. Does nothing where no
     * step is under way.
     *
     * @param tokens tokens, of those that {@link StepInfo#draftedTokens()} announced
     * @throws IllegalArgumentException when the number is negative, or larger than what is left of the announced ones;
     *     nothing is counted then
     */
    public void recordAcceptedTokens(long tokens) {
        requireNotNegative("tokens", tokens);
        StepRecorder recorder = steps;
        if (recorder != null) {
            recorder.accept(tokens);
        }
    }

    // ---- work of other threads for a layer ----

    /**
     * Returns a token of the layer that the calling thread works for: the one that it began with {@link #startLayer}
     * and has not ended, or the one it was given by {@link #workFor}. While the {@linkplain #graph() graph} is on, the
     * token also carries the brick that the calling thread is timing, which becomes the parent of the bricks that other
     * threads record for the token: so take the token where the work is handed out, inside that brick, and give it to
     * the tasks:
     *
     * <pre>{@code
     * long timer = profiler.startBrick(BrickId.FUSED_ATTENTION);
     * long layer = profiler.layerToken();
     * IntStream.range(0, heads).parallel().forEach(head -> {
     *     long before = profiler.workFor(layer);
     *     try {
     *         attend(head); // its bricks are that layer's, on whichever thread, and inside the fused attention
     *     } finally {
     *         profiler.workFor(before);
     *     }
     * });
     * profiler.stopBrick(timer, tokens);
     * }</pre>
     *
     * <p>On the calling thread itself, which may do a part of the work, bricks belong to the bricks that they run
     * inside, as always. A token allocates nothing, but while the graph is on it allocates one object and returns after
     * the clock has advanced.
     *
     * @return the token, which stays good for that layer of that pass; 0 if the thread works for none
     */
    public long layerToken() {
        long layer = layers.current();
        GraphRecorder follower = layer == LayerToken.VOID ? null : follower();
        return follower == null ? layer : follower.handOff(layer);
    }

    /**
     * The number of the layer that the calling thread works for, of {@link #layerToken}; the layer of a checksum that
     * is recorded now.
     *
     * @return 0 or more; -1 where it works for none
     */
    public int currentLayer() {
        return LayerToken.layer(layers.current());
    }

    /**
     * Makes the calling thread work for a layer until the next such call: in timeline and graph its bricks belong to
     * that layer, in the graph to the brick that the token carries. Passes that run at the same time on other threads
     * have tokens of their own. Allocates nothing but for a thread's first call, and costs nothing where it is not
     * called.
     *
     * @param layer the token that {@link #layerToken} returned on the thread of the pass, or 0 for none
     * @return the token that this thread worked for before, to be given back
     */
    public long workFor(long layer) {
        long before = layers.workFor(layer);
        if (before != layer && enabled) {
            if (registry.hasSpans() && LayerToken.layerOf(before) != LayerToken.layerOf(layer)) {
                registry.mark(SpanKind.LAYER_CHANGE, 0, nowNs(), 0, layers.change(before, layer));
            }
            GraphRecorder follower = follower();
            if (follower != null) {
                follower.workFor(layers.getAsLong());
            }
        }
        return before;
    }

    // ---- the whole ----

    /**
     * Everything known now: immutable, consistent brick by brick, and fit to be merged. Measures nothing itself; what
     * recording costs is 0, for not known, where the first profiler was switched on a second ago or less.
     *
     * @return the snapshot
     */
    public ProfileSnapshot snapshot() {
        Results.Settings settings = settings(droppedPending.get(), pendingCount(), resolver.overlaps(), graph);
        for (int attempt = 1; ; attempt++) {
            StepRecorder recorder = steps;
            StepRecorder.Reading ended = recorder == null ? StepRecorder.Reading.NONE : recorder.read();
            Results.Recorded recorded = readRecorded(0, names.size());
            if (attempt == MOST_READINGS || isEnd(recorder, ended)) {
                return results.snapshot(recorded, tiles.snapshot(), ended, period.until(nowNs()), settings);
            }
        }
    }

    /**
     * Takes a snapshot and begins anew. No sample is lost or counted twice, even while others record: each is in
     * exactly one of consecutive snapshots. Pending measurements stay pending.
     *
     * @return the snapshot
     */
    public ProfileSnapshot snapshotAndReset() {
        return windows.taking(this::takeAndReset);
    }

    /** Several parts, where steps ended between the reading of the steps and that of the bricks, make one. */
    private ProfileSnapshot takeAndReset() {
        ProfileSnapshot taken = null;
        for (int attempt = 1; ; attempt++) {
            RunPeriod.Part part = period.endAndRestart(nowNs());
            Results.Settings settings =
                    settings(droppedPending.getAndSet(0), pendingCount(), resolver.takeOverlaps(), graph);
            StepRecorder recorder = steps;
            StepRecorder.Reading ended = recorder == null ? StepRecorder.Reading.NONE : recorder.readAndReset();
            ProfileSnapshot next =
                    results.snapshot(readRecordedAndReset(), tiles.snapshotAndReset(), ended, part, settings);
            taken = taken == null ? next : taken.withPending(0).merge(next);
            if (attempt == MOST_READINGS || isEnd(recorder, ended)) {
                return taken;
            }
        }
    }

    /**
     * Whether a reading of the steps is still the newest: bricks of steps that ended since are in the reading of the
     * bricks, while these steps are not counted. The first reading of a virtual machine loads classes, which takes
     * long.
     */
    private boolean isEnd(@Nullable StepRecorder recorder, StepRecorder.Reading ended) {
        return recorder == steps && (recorder == null || recorder.isEnd(ended));
    }

    /**
     * Forgets all samples and tiles, everything that is pending, checksums and the graph; the next layer of each thread
     * is number 0 of a new pass. Names, keys, bottlenecks and settings stay, and so does what a sink was given. Samples
     * that are recorded at the same time count as before or after. A profiler with device streams gives the marks back
     * that running timers and starts of deferred measurements hold: what began before the reset is unresolved.
     */
    public void reset() {
        forget();
        if (devices != null) {
            devices.giveBack();
        }
        layers.reset();
        StepRecorder recorder = steps;
        if (recorder != null) {
            recorder.reset();
        }
    }

    /** Forgets what {@link #reset} does, while passes that are under way go on. */
    void forget() {
        windows.forgetting(this::forgetRecorded);
    }

    private void forgetRecorded() {
        resolver.discard();
        if (devices != null) {
            devices.discard();
        }
        readRecordedAndReset();
        StepRecorder stepped = steps;
        if (stepped != null) {
            stepped.readAndReset();
        }
        tiles.reset();
        checksums.reset();
        GraphRecorder recorder = graph;
        if (recorder != null) {
            recorder.reset();
        }
        droppedPending.set(0);
        resolver.takeOverlaps();
        period.endAndRestart(nowNs());
    }

    /**
     * Measures, on the calling thread and for about a second, what timing a brick costs here and now: as this profiler
     * records, and in every other way, with its first device stream too where there is one. The later snapshots hold
     * it, and with it how bricks lie inside each other, as far as the {@linkplain #graph() graph} has recorded that; so
     * reports can show {@linkplain RunFacts#netNs times without that cost}. Best called once the work is done: what
     * other code has made hot, a compiler treats otherwise. It is no part of the time that the profiler was on. With a
     * device stream the calling thread has to be one that may use the device, which is waited for. Does nothing where
     * the profiler is switched off from outside, see {@link #enable}.
     */
    public void calibrate() {
        if (!SwitchSetting.ofProfiler().on()) {
            return;
        }
        boolean wasOn = enabled;
        period.pause(nowNs());
        setCalibration(Calibrator.measure(new Calibrator.Way(
                clock,
                hasPercentiles,
                registry.hasSpans(),
                Calibrator.Graph.of(graph),
                devices == null ? null : devices.firstStream())));
        if (wasOn) {
            period.resume(nowNs());
        }
    }

    @Override
    BrickProfiler self() {
        return this;
    }

    @Override
    Results.Recorded readRecorded(int fromKey, int toKey) {
        Results.Recorded recorded = devices == null
                ? new Results.Recorded(registry.read(fromKey, toKey), null, null)
                : devices.read(fromKey, toKey);
        return recorded.with(work.read(fromKey, toKey));
    }

    private Results.Recorded readRecordedAndReset() {
        Results.Recorded recorded =
                devices == null ? new Results.Recorded(registry.readAndReset(), null, null) : devices.readAndReset();
        return recorded.with(work.readAndReset());
    }

    /** Marks on the timeline, if there is one, which phase of a run begins. */
    void beginPhase(Schedule.Phase phase) {
        registry.phase(phase.index(), nowNs());
    }

    // ---- streams, tiles, checksums, graph, listeners ----

    /**
     * A device stream, for bricks that are enqueued there.
     *
     * @param name the name that the builder was given, or that the stream has
     * @return what starts bricks on it
     * @throws IllegalArgumentException when there is no stream of that name, or it is null
     */
    public BrickStream stream(String name) {
        BrickStream.requireName(name);
        if (devices != null) {
            return new BrickStream(this, devices, devices.stream(name));
        }
        throw new IllegalArgumentException("no device stream is named '" + name + "': there are none");
    }

    /**
     * The log of checksums, for finding the first brick whose output differs from that of another run. It has no
     * switch: whoever calls it wants an entry. An entry carries the time of the brick that the calling thread was
     * timing, or had timed last, when it recorded the output: see {@link ChecksumLog#ChecksumLog(ChecksumOptions,
     * org.brickprofiler.spi.SampleTimes)}. With device streams it carries none, except in {@link SyncMode#NONE}. Its
     * layer may be {@link #currentLayer}. What it takes of an output is {@link BrickProfilerBuilder#checksums}.
     * {@link #reset()} empties it too.
     *
     * @return always the same object
     */
    public ChecksumLog checksums() {
        return checksums;
    }

    /**
     * The recorder of what ran inside what, with a switch of its own. While both it and the profiler are on, timed
     * bricks, {@link #endLayer} and {@link #endPass} fill it. {@link #reset()} empties it too.
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
            }
        }
        return recorder;
    }

    /** Whether the graph or a listener follows the bricks. */
    boolean isFollowed() {
        return followed;
    }

    /** Who follows bricks and boundaries now: the graph, whose own switch it asks; null where nobody does. */
    private @Nullable GraphRecorder follower() {
        return enabled ? graph : null;
    }

    /** A timed brick has ended on the calling thread. */
    void follow(int key, long startNs, long endNs, long elements) {
        GraphRecorder recorder = graph;
        if (recorder != null && recorder.isEnabled()) {
            recorder.brick(names.name(key), startNs, endNs, elements);
        }
    }

    /** A sample was recorded that the host's clock, or the caller, has timed. */
    @Override
    void reportSample(int key, long elapsedNs, long endNs, long elements) {
        if (followed && listeners.wantBricks()) {
            listeners.brickRecorded(names.name(key), BrickNames.category(names.tag(key)), endNs, elapsedNs, elements);
        }
    }

    /**
     * Adds who is to hear of what is recorded from now on.
     *
     * @param listener a listener; added twice, it hears everything twice
     */
    public synchronized void addListener(ProfilerListener listener) {
        listeners.add(Objects.requireNonNull(listener, "listener"));
        followed = graph != null || listeners.wantBricks();
    }

    /**
     * Removes a listener. A call that is under way on another thread may still reach it.
     *
     * @param listener a listener; nothing happens where it was not added
     */
    public synchronized void removeListener(ProfilerListener listener) {
        listeners.remove(Objects.requireNonNull(listener, "listener"));
        followed = graph != null || listeners.wantBricks();
    }

    // ---- what all of it stands on ----

    /** The clock, now. The system's is called directly: what is behind an interface takes two loads more to find. */
    @Override
    long nowNs() {
        NanoClock own = ownClock;
        return own == null ? System.nanoTime() : own.nanoTime();
    }

    /** Whether recording is on, and the host's clock times the bricks. */
    boolean isOnHost() {
        return enabled && devices == null;
    }
}
