package org.brickprofiler;

import java.util.Optional;
import java.util.function.Supplier;
import org.brickprofiler.graph.GraphRecorder;
import org.brickprofiler.internal.device.DeviceRecorder;
import org.brickprofiler.internal.device.MarkToken;
import org.brickprofiler.internal.record.BrickRanges;
import org.brickprofiler.internal.record.LayerToken;
import org.brickprofiler.internal.record.Layers;
import org.brickprofiler.internal.record.Listeners;
import org.brickprofiler.internal.record.PendingResolver;
import org.brickprofiler.internal.record.PhaseKey;
import org.brickprofiler.internal.record.ProfilerState;
import org.brickprofiler.internal.record.RunPeriod;
import org.brickprofiler.internal.record.SpanKind;
import org.brickprofiler.internal.record.ThreadTimes;
import org.brickprofiler.internal.record.TimerToken;
import org.brickprofiler.request.RequestRecorder;
import org.brickprofiler.spi.NanoClock;
import org.jspecify.annotations.Nullable;

/**
 * The boundaries of a profiler's forward passes: layers, passes and steps of the calling thread, and the resolution of
 * pending measurements at them; and those who follow the passes and their bricks. The public methods of
 * {@link BrickProfiler} describe what each boundary does. Like the tables, the fields belong to the profiler itself and
 * do not live behind another object. Thread-safe; allocates nothing, except for a thread's first boundary and first
 * step.
 */
abstract class Boundaries extends SampleTables {

    // Samples read the first of these fields, too: if a clock read waits for earlier loads, each dependent load adds
    // its latency.

    /** The clock that the builder was given; null for the system's. */
    private final @Nullable NanoClock ownClock;

    /** The marks on device streams; null without a device stream. */
    final @Nullable DeviceRecorder devices;

    /**
     * The same while it marks some bricks only and no tool sees the bricks as ranges; otherwise null, as in
     * {@link SyncMode#NONE}. Written with the mode.
     */
    volatile @Nullable DeviceRecorder drawing;

    /**
     * Whether the host's clock times the bricks, and no tool sees them as ranges: their timers need the clock alone.
     */
    final boolean needsClockAlone;

    /** Whether the graph, a listener or a tool follows the bricks. Written while holding {@code this}. */
    volatile boolean followed;

    /** Written while holding {@code this}. */
    volatile SyncMode mode = SyncMode.DEFERRED;

    /** The clock at the epoch. */
    volatile long epochNs;

    /** Made by the first call of {@link BrickProfiler#graph}, while holding {@code this}. */
    volatile @Nullable GraphRecorder graph;

    /** Made by the first step or the recorder of requests, while holding {@code this}. */
    private volatile @Nullable StepRecorder steps;

    // The other fields serve boundaries and readers.

    /** One brick in this many is marked on device streams. */
    final int sampling;

    final NanoClock clock;
    final RunPeriod period;
    final PendingResolver resolver;
    final Listeners<ProfilerListener> listeners = new Listeners<>();

    /** Show the bricks to a tool; null without a tool. */
    final @Nullable BrickRanges ranges;

    /** Creates the reader of a thread's CPU time; null if steps record no CPU time. */
    private final @Nullable Supplier<ThreadTimes> threadTimes;

    Boundaries(BrickProfilerBuilder options) {
        super(options);
        clock = options.clock;
        sampling = options.sampling();
        ownClock = clock == NanoClock.SYSTEM ? null : clock;
        period = new RunPeriod(clock.nanoTime());
        epochNs = period.originNs();
        devices = options.recorder(registry, spanNames, this);
        ranges = options.ranges(spanNames);
        needsClockAlone = devices == null && ranges == null;
        followed = ranges != null;
        setMode(mode);
        resolver = new PendingResolver(registry, options.attribution == Attribution.SEQUENTIAL);
        threadTimes = options.threadTimes();
    }

    final synchronized void setMode(SyncMode now) {
        mode = now;
        drawing = sampling > 1 && ranges == null && now != SyncMode.NONE ? devices : null;
    }

    /** Returns the row of a brick that begins on a device: if marks are drawn, that of its phase. */
    final int rowOf(int key) {
        return sampling == 1 ? key : PhaseKey.of(phase(), key);
    }

    /** Starts a brick that needs neither a clock nor a mark; returns {@link TimerToken#VOID} if it needs one. */
    final long startUnmarked(int stream, int key) {
        DeviceRecorder marks = drawing;
        return marks == null ? TimerToken.VOID : marks.startUnmarked(PhaseKey.of(phase(), key), stream);
    }

    /** Stops a brick that has no marks; returns false if this may be another one, which is still to be stopped. */
    final boolean stopUnmarked(long timer, long elements) {
        DeviceRecorder marks = drawing;
        return marks != null && marks.stopUnmarked(timer, elements);
    }

    /**
     * Stops a brick that has no marks, and starts one that needs none; returns {@link TimerToken#VOID} if nothing has
     * been done.
     */
    final long lapUnmarked(long timer, long elements, int nextKey) {
        DeviceRecorder marks = drawing;
        return marks == null ? TimerToken.VOID : marks.lapUnmarked(timer, elements, PhaseKey.of(phase(), nextKey));
    }

    /** Returns whether recording is on. */
    final boolean isOn() {
        return ProfilerState.isOn(state);
    }

    /**
     * Returns the current time of the clock, ns. The system's clock is called directly: a call through an interface
     * needs two more loads.
     */
    final long nowNs() {
        NanoClock own = ownClock;
        return own == null ? System.nanoTime() : own.nanoTime();
    }

    /** Returns whether devices time the samples, whose times are known later. */
    final boolean timesLater() {
        return devices != null && mode != SyncMode.NONE;
    }

    /** Returns whether marks in device streams time what is recorded now. */
    final boolean marksStreams() {
        return isOn() && timesLater();
    }

    /** Returns the graph that follows bricks and boundaries now; null while the profiler is off or without a graph. */
    private @Nullable GraphRecorder follower() {
        return isOn() ? graph : null;
    }

    /** Returns the number of measurements that wait for their end; exact while no thread records. */
    final int pending() {
        return registry.pendingCount() + (devices == null ? 0 : devices.pendingCount());
    }

    // ---- layers and passes ----

    /**
     * Marks the beginning of a layer.
     *
     * @param given its number, or {@link Layers#NEXT}
     */
    final void beginLayer(int given) {
        if (layers.isOpen()) {
            passEnded(true, false);
        }
        endWorkForOthers();
        long layer = layers.start(given);
        int number = LayerToken.layer(layer);
        reach(SpanKind.LAYER_START, LayerToken.start(layer, given != Layers.NEXT), false);
        GraphRecorder follower = follower();
        if (follower != null) {
            follower.startLayer(layer);
        }
        if (ranges != null && isOn()) {
            ranges.beginLayer(number);
        }
    }

    /**
     * Deselects the phase if the calling thread works for a layer of another thread, which may have another phase: a
     * boundary ends that work.
     */
    private void endWorkForOthers() {
        if (layers.isGiven()) {
            deselect();
        }
    }

    final void finishLayer() {
        SyncMode now = mode;
        boolean resolves = now == SyncMode.IMMEDIATE || now == SyncMode.PER_LAYER;
        if (resolves && devices != null) {
            devices.await();
        }
        endWorkForOthers();
        long layer = layers.end();
        if (ranges != null) {
            ranges.endLayer();
        }
        reach(SpanKind.LAYER_END, LayerToken.layer(layer), resolves);
        GraphRecorder follower = follower();
        if (follower != null) {
            follower.endLayer(layer);
        }
    }

    /**
     * Marks the end of a pass.
     *
     * @param waits whether to wait for the work of devices
     * @param resolves whether deferred measurements without a device end now
     */
    final void finishPass(boolean waits, boolean resolves) {
        long marked = passEnds(waits);
        passEnded(false, resolves);
        if (waits && devices != null) {
            // After the step has ended, whose time does not contain the measurement.
            devices.measureMarks(marked);
        }
    }

    final void giveUpPass() {
        passEnds(false);
        layers.endStep();
        passEnded(true, false);
        if (ranges != null) {
            ranges.endPass(true);
        }
        StepRecorder recorder = steps;
        if (recorder != null) {
            deselect();
            recorder.interrupt();
        }
    }

    /** Ends a pass on the streams of devices. Returns a bit for each of those that the calling thread marked. */
    private long passEnds(boolean waits) {
        return devices == null ? 0 : devices.endPass(waits);
    }

    private void passEnded(boolean abandoned, boolean resolves) {
        layers.endPass(!abandoned);
        if (ranges != null) {
            ranges.endPass(!abandoned);
        }
        GraphRecorder follower = follower();
        StepRecorder recorder = abandoned ? null : steps;
        long endNs = recorder == null ? 0 : nowNs();
        reach(SpanKind.PASS_END, abandoned ? 1 : 0, resolves);
        if (recorder != null) {
            deselect();
            endStep(recorder, endNs, resolves);
        }
        if (follower != null) {
            follower.endPass();
        }
    }

    private void endStep(StepRecorder recorder, long endNs, boolean resolved) {
        if (isOn()) {
            Step step = recorder.end(endNs, resolved, pending() > 0, !listeners.isEmpty());
            if (step != null && !listeners.isEmpty()) {
                listeners.ofStep(each -> recorder.report(step, each));
            }
        } else {
            recorder.interrupt();
        }
    }

    private void reach(SpanKind boundary, long value, boolean resolves) {
        boolean traced = isOn() && registry.hasSpans();
        boolean hasDeferred = resolves && registry.hasDeferred();
        if (hasDeferred || traced) {
            long now = nowNs();
            if (hasDeferred) {
                long clockAtEpochNs = epochNs;
                resolver.resolve(clockAtEpochNs, now - clockAtEpochNs);
            }
            if (traced) {
                registry.mark(boundary, 0, now, 0, value);
            }
        }
    }

    /** Resolves every pending measurement at an end, ns since the epoch. */
    final void resolvePending(long endNs) {
        long clockAtEpochNs = epochNs;
        resolver.resolve(clockAtEpochNs, endNs);
        if (devices != null) {
            devices.poll(clockAtEpochNs + PendingResolver.limited(endNs));
        }
    }

    // ---- steps ----

    final void startStep(StepInfo info) {
        if (layers.isOpen()) {
            passEnded(true, false);
        }
        StepRecorder recorder = steps;
        boolean records = isOn();
        layers.beginStep(records ? info.phase().number() : PhaseKey.NO_PHASE);
        deselect();
        if (records) {
            if (!listeners.isEmpty()) {
                listeners.ofStep(each -> each.stepBegan(info));
            }
            if (ranges != null) {
                ranges.beginStep(info.phase().displayName());
            }
            (recorder == null ? newSteps() : recorder).begin(info, pending() > 0);
        } else if (recorder != null) {
            recorder.interrupt();
        }
    }

    private synchronized StepRecorder newSteps() {
        StepRecorder recorder = steps;
        if (recorder == null) {
            recorder = new StepRecorder(this, period, clock, threadTimes);
            steps = recorder;
        }
        return recorder;
    }

    /** Returns the recorder of the steps; null before the first step and the first request. */
    final @Nullable StepRecorder steps() {
        return steps;
    }

    final RequestRecorder requestRecorder() {
        return newSteps().requests(() -> epochNs, listeners);
    }

    final void acceptTokens(long tokens) {
        StepRecorder recorder = steps;
        if (recorder != null) {
            recorder.accept(tokens);
        }
    }

    /**
     * Follows a switch of recording.
     *
     * @param off whether the profiler was off meanwhile
     */
    final void followSwitch(boolean off) {
        StepRecorder recorder = steps;
        if (recorder != null) {
            recorder.switched(off);
        }
    }

    /** Forgets the layers, passes and steps that are under way, and all steps. */
    final void resetBoundaries() {
        layers.reset(true);
        StepRecorder recorder = steps;
        if (recorder != null) {
            recorder.reset();
        }
    }

    // ---- those who follow bricks: the graph, listeners and tools ----

    /** Follows the sample of a timer that was added in a phase, or {@link #IN_LANE}. */
    final void followTimed(int phase, long timer, long elements, long nowNs) {
        endRange(timer);
        int key = TimerToken.key(timer);
        if (hasBrick(key)) {
            int found = phase == IN_LANE ? phaseOfLane() : phase;
            followTimed(found, key, TimerToken.elapsedNs(timer, nowNs), nowNs, elements);
        }
    }

    /** Ends the range of a timer, if a tool sees it. */
    final void endRange(long timer) {
        BrickRanges shown = timer == TimerToken.VOID ? null : ranges;
        if (shown != null) {
            shown.end(timer, devices == null ? TimerToken.key(timer) : MarkToken.key(timer));
        }
    }

    final void followTimed(int phase, int key, long elapsedNs, long nowNs, long elements) {
        if (elapsedNs != TimerToken.UNRESOLVED) {
            follow(key, nowNs - elapsedNs, nowNs, elements);
            reportSample(phase, key, elapsedNs, nowNs, elements);
        }
    }

    /** Adds a timed brick that has ended on the calling thread to the graph, if it is on. */
    final void follow(int key, long startNs, long endNs, long elements) {
        GraphRecorder recorder = graph;
        if (recorder != null && recorder.isEnabled()) {
            recorder.brick(names.name(key), startNs, endNs, elements);
        }
    }

    /**
     * Reports a sample that the host's clock, or the caller, has timed to the listeners.
     *
     * @param number the phase to which it was added; the steps under way may have changed since
     */
    final void reportSample(int number, int key, long elapsedNs, long endNs, long elements) {
        if (followed && listeners.wantBricks()) {
            String name = names.name(key);
            BrickCategory category = BrickCategory.of(names.tag(key));
            Optional<StepInfo.Phase> phase = StepInfo.Phase.of(number);
            listeners.ofBrick(each -> each.brickRecorded(name, category, phase, endNs, elapsedNs, elements));
        }
    }

    // ---- work of other threads for a layer ----

    final long tokenOfLayer() {
        long layer = layers.current();
        GraphRecorder follower = layer == LayerToken.VOID ? null : follower();
        return follower == null ? layer : follower.handOff(layer);
    }

    final long changeLayer(long layer) {
        long before = layers.workFor(layer);
        if (before != layer) {
            deselect();
        }
        if (before != layer && isOn()) {
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
}
