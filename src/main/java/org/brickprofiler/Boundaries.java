package org.brickprofiler;

import java.util.function.Supplier;
import org.brickprofiler.graph.GraphRecorder;
import org.brickprofiler.internal.device.DeviceRecorder;
import org.brickprofiler.internal.record.LayerToken;
import org.brickprofiler.internal.record.Layers;
import org.brickprofiler.internal.record.Listeners;
import org.brickprofiler.internal.record.PendingResolver;
import org.brickprofiler.internal.record.PhaseKey;
import org.brickprofiler.internal.record.RunPeriod;
import org.brickprofiler.internal.record.SpanKind;
import org.brickprofiler.internal.record.TableRegistry;
import org.brickprofiler.internal.record.ThreadTimes;
import org.brickprofiler.request.RequestRecorder;
import org.brickprofiler.spi.NanoClock;
import org.jspecify.annotations.Nullable;

/**
 * The boundaries of a profiler's forward passes: layers, passes and steps of the calling thread, and the resolution of
 * pending measurements at them. The public methods of {@link BrickProfiler} with the same names describe what each
 * boundary does. Thread-safe; allocates nothing, except for a thread's first boundary and first step.
 */
final class Boundaries {

    private final BrickProfiler profiler;
    private final Layers layers;
    private final TableRegistry registry;
    private final PendingResolver resolver;
    private final Listeners<ProfilerListener> listeners;

    /** The marks on device streams; null without a device stream. */
    private final @Nullable DeviceRecorder devices;

    private final RunPeriod period;
    private final NanoClock clock;

    /** Creates the reader of a thread's CPU time; null if steps record no CPU time. */
    private final @Nullable Supplier<ThreadTimes> threadTimes;

    /** Made by the first {@link #beginStep} or {@link #requests}, while holding {@code this}. */
    private volatile @Nullable StepRecorder steps;

    Boundaries(BrickProfiler profiler, RunPeriod period, NanoClock clock, @Nullable Supplier<ThreadTimes> threadTimes) {
        this.profiler = profiler;
        this.layers = profiler.layers;
        this.registry = profiler.registry;
        this.resolver = profiler.resolver;
        this.listeners = profiler.listeners;
        this.devices = profiler.devices;
        this.period = period;
        this.clock = clock;
        this.threadTimes = threadTimes;
    }

    // ---- layers and passes ----

    /**
     * Marks the beginning of a layer.
     *
     * @param given its number, or {@link Layers#NEXT}
     */
    void startLayer(int given) {
        if (layers.isOpen()) {
            passEnded(true, false);
        }
        endWorkForOthers();
        long layer = layers.start(given);
        int number = LayerToken.layer(layer);
        reach(SpanKind.LAYER_START, given == Layers.NEXT ? number : ~number, false);
        GraphRecorder follower = profiler.follower();
        if (follower != null) {
            follower.startLayer(layer);
        }
    }

    /**
     * Deselects the phase if the calling thread works for a layer of another thread, which may have another phase: a
     * boundary ends that work.
     */
    private void endWorkForOthers() {
        if (layers.isGiven()) {
            profiler.deselect();
        }
    }

    void endLayer(SyncMode mode) {
        boolean resolves = mode == SyncMode.IMMEDIATE || mode == SyncMode.PER_LAYER;
        if (resolves && devices != null) {
            devices.await();
        }
        endWorkForOthers();
        long layer = layers.end();
        reach(SpanKind.LAYER_END, LayerToken.layer(layer), resolves);
        GraphRecorder follower = profiler.follower();
        if (follower != null) {
            follower.endLayer(layer);
        }
    }

    void endPass(SyncMode mode) {
        passEnds(mode != SyncMode.NONE);
        passEnded(false, true);
    }

    void endPassAsync() {
        passEnds(false);
        passEnded(false, false);
    }

    void abandonPass() {
        passEnds(false);
        layers.endStep();
        passEnded(true, false);
        StepRecorder recorder = steps;
        if (recorder != null) {
            profiler.deselect();
            recorder.interrupt();
        }
    }

    private void passEnds(boolean waits) {
        if (devices != null) {
            devices.endPass(waits);
        }
    }

    private void passEnded(boolean abandoned, boolean resolves) {
        layers.endPass(!abandoned);
        GraphRecorder follower = profiler.follower();
        StepRecorder recorder = abandoned ? null : steps;
        long endNs = recorder == null ? 0 : profiler.nowNs();
        reach(SpanKind.PASS_END, abandoned ? 1 : 0, resolves);
        if (recorder != null) {
            profiler.deselect();
            endStep(recorder, endNs, resolves);
        }
        if (follower != null) {
            follower.endPass();
        }
    }

    private void endStep(StepRecorder recorder, long endNs, boolean resolved) {
        if (profiler.isEnabled()) {
            Step step = recorder.end(endNs, resolved, profiler.hasPending(), !listeners.isEmpty());
            if (step != null && !listeners.isEmpty()) {
                listeners.ofStep(each -> recorder.report(step, each));
            }
        } else {
            recorder.interrupt();
        }
    }

    private void reach(SpanKind boundary, long value, boolean resolves) {
        boolean traced = profiler.isEnabled() && registry.hasSpans();
        boolean hasDeferred = resolves && registry.hasDeferred();
        if (hasDeferred || traced) {
            long now = profiler.nowNs();
            if (hasDeferred) {
                long epochNs = profiler.epochNs;
                resolver.resolve(epochNs, now - epochNs);
            }
            if (traced) {
                registry.mark(boundary, 0, now, 0, value);
            }
        }
    }

    /** Resolves every pending measurement at an end, ns since the epoch. */
    void resolvePending(long endNs) {
        long epochNs = profiler.epochNs;
        resolver.resolve(epochNs, endNs);
        if (devices != null) {
            devices.poll(epochNs + PendingResolver.limited(endNs));
        }
    }

    // ---- steps ----

    void beginStep(StepInfo info) {
        if (layers.isOpen()) {
            passEnded(true, false);
        }
        StepRecorder recorder = steps;
        boolean records = profiler.isEnabled();
        layers.beginStep(records ? info.phase().number() : PhaseKey.NO_PHASE);
        profiler.deselect();
        if (records) {
            if (!listeners.isEmpty()) {
                listeners.ofStep(each -> each.stepBegan(info));
            }
            (recorder == null ? newSteps() : recorder).begin(info, profiler.hasPending());
        } else if (recorder != null) {
            recorder.interrupt();
        }
    }

    private synchronized StepRecorder newSteps() {
        StepRecorder recorder = steps;
        if (recorder == null) {
            recorder = new StepRecorder(profiler, period, clock, threadTimes);
            steps = recorder;
        }
        return recorder;
    }

    /** Returns the recorder of the steps; null before the first step and the first request. */
    @Nullable
    StepRecorder steps() {
        return steps;
    }

    RequestRecorder requests() {
        return newSteps().requests(() -> profiler.epochNs, listeners);
    }

    void recordAcceptedTokens(long tokens) {
        StepRecorder recorder = steps;
        if (recorder != null) {
            recorder.accept(tokens);
        }
    }

    /**
     * Follows a switch of the profiler.
     *
     * @param off whether the profiler was off meanwhile
     */
    void switched(boolean off) {
        StepRecorder recorder = steps;
        if (recorder != null) {
            recorder.switched(off);
        }
    }

    /** Forgets the layers, passes and steps that are under way, and all steps. */
    void reset() {
        layers.reset(true);
        StepRecorder recorder = steps;
        if (recorder != null) {
            recorder.reset();
        }
    }

    // ---- work of other threads for a layer ----

    long layerToken() {
        long layer = layers.current();
        GraphRecorder follower = layer == LayerToken.VOID ? null : profiler.follower();
        return follower == null ? layer : follower.handOff(layer);
    }

    long workFor(long layer) {
        long before = layers.workFor(layer);
        if (before != layer) {
            profiler.deselect();
        }
        if (before != layer && profiler.isEnabled()) {
            if (registry.hasSpans() && LayerToken.layerOf(before) != LayerToken.layerOf(layer)) {
                registry.mark(SpanKind.LAYER_CHANGE, 0, profiler.nowNs(), 0, layers.change(before, layer));
            }
            GraphRecorder follower = profiler.follower();
            if (follower != null) {
                follower.workFor(layers.getAsLong());
            }
        }
        return before;
    }
}
