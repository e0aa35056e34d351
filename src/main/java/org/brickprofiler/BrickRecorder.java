package org.brickprofiler;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.brickprofiler.record.LayerToken;
import org.brickprofiler.record.PendingResolver;
import org.brickprofiler.record.SpanKind;
import org.brickprofiler.record.StatTable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The measurements of a {@link BrickProfiler} that no timer takes: durations known from elsewhere, and deferred ones
 * whose end is known after a synchronisation.
 *
 * <p>Every method may be called from any thread; thread rule, names and errors are those of {@link BrickTimers}.
 */
public abstract sealed class BrickRecorder extends BrickTimers permits BrickProfiler {

    private static final Logger LOG = LoggerFactory.getLogger(BrickRecorder.class);

    final PendingResolver resolver;
    final AtomicLong droppedPending = new AtomicLong();

    private final AtomicBoolean dropLogged = new AtomicBoolean();

    private volatile long epochNs;

    BrickRecorder(BrickProfilerBuilder options) {
        super(options);
        resolver = new PendingResolver(registry, options.attribution == Attribution.SEQUENTIAL);
        epochNs = clock.nanoTime();
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
    public final void record(BrickId id, long elapsedNs, long elements) {
        requireSample(elapsedNs, elements);
        if (enabled) {
            add(id.index(), elapsedNs, elements);
        }
    }

    /**
     * Records a sample that was timed elsewhere.
     *
     * @param key the brick's key
     * @param elapsedNs its duration, ns
     * @param elements elements it processed
     * @throws IllegalArgumentException when a number is negative, or no brick has that key
     */
    public final void record(int key, long elapsedNs, long elements) {
        requireKey(key);
        requireSample(elapsedNs, elements);
        if (enabled) {
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
    public final void record(String name, long elapsedNs, long elements) {
        requireName(name);
        requireSample(elapsedNs, elements);
        if (enabled) {
            add(keyOf(name), elapsedNs, elements);
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
    public final void record(String name, Duration elapsed, long elements) {
        try {
            record(name, elapsed.toNanos(), elements);
        } catch (ArithmeticException tooLong) {
            throw new IllegalArgumentException("elapsed " + elapsed + " does not fit in 64 bits of ns", tooLong);
        }
    }

    private void add(int key, long elapsedNs, long elements) {
        registry.add(key, elapsedNs, clock.nanoTime(), elements);
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
    public final void recordBytes(BrickId id, long elapsedNs, long elements, long inputBytes, long outputBytes) {
        requireBytes(elapsedNs, elements, inputBytes, outputBytes);
        if (enabled) {
            addBytes(id.index(), elapsedNs, elements, inputBytes, outputBytes);
        }
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
    public final void recordBytes(int key, long elapsedNs, long elements, long inputBytes, long outputBytes) {
        requireKey(key);
        requireBytes(elapsedNs, elements, inputBytes, outputBytes);
        if (enabled) {
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
    public final void recordBytes(String name, long elapsedNs, long elements, long inputBytes, long outputBytes) {
        requireName(name);
        requireBytes(elapsedNs, elements, inputBytes, outputBytes);
        if (enabled) {
            addBytes(keyOf(name), elapsedNs, elements, inputBytes, outputBytes);
        }
    }

    private static void requireBytes(long elapsedNs, long elements, long inputBytes, long outputBytes) {
        requireSample(elapsedNs, elements);
        requireNotNegative("inputBytes", inputBytes);
        requireNotNegative("outputBytes", outputBytes);
    }

    private void addBytes(int key, long elapsedNs, long elements, long inputBytes, long outputBytes) {
        StatTable table = registry.acquire();
        table.addBytes(key, elapsedNs, clock.nanoTime(), elements, inputBytes, outputBytes);
        registry.release(table);
    }

    /**
     * Records a sample with its processor cycles.
     *
     * @param id the brick
     * @param elapsedNs its duration, ns
     * @param elements elements it processed
     * @param cycles cycles it took; 0 where they were not measured
     * @throws IllegalArgumentException when a number is negative
     */
    public final void recordCycles(BrickId id, long elapsedNs, long elements, long cycles) {
        requireCycles(elapsedNs, elements, cycles);
        if (enabled) {
            addCycles(id.index(), elapsedNs, elements, cycles);
        }
    }

    /**
     * Records a sample with its processor cycles.
     *
     * @param key the brick's key
     * @param elapsedNs its duration, ns
     * @param elements elements it processed
     * @param cycles cycles it took; 0 where they were not measured
     * @throws IllegalArgumentException when a number is negative, or no brick has that key
     */
    public final void recordCycles(int key, long elapsedNs, long elements, long cycles) {
        requireKey(key);
        requireCycles(elapsedNs, elements, cycles);
        if (enabled) {
            addCycles(key, elapsedNs, elements, cycles);
        }
    }

    /**
     * Records a sample with its processor cycles.
     *
     * @param name the brick's name
     * @param elapsedNs its duration, ns
     * @param elements elements it processed
     * @param cycles cycles it took; 0 where they were not measured
     * @throws IllegalArgumentException when a number is negative, or the name is null or empty
     */
    public final void recordCycles(String name, long elapsedNs, long elements, long cycles) {
        requireName(name);
        requireCycles(elapsedNs, elements, cycles);
        if (enabled) {
            addCycles(keyOf(name), elapsedNs, elements, cycles);
        }
    }

    private static void requireCycles(long elapsedNs, long elements, long cycles) {
        requireSample(elapsedNs, elements);
        requireNotNegative("cycles", cycles);
    }

    private void addCycles(int key, long elapsedNs, long elements, long cycles) {
        StatTable table = registry.acquire();
        table.addCycles(key, elapsedNs, clock.nanoTime(), elements, cycles);
        registry.release(table);
    }

    // ---- the mode and the epoch ----

    /**
     * When pending measurements are resolved.
     *
     * @return the mode, {@link SyncMode#DEFERRED} unless set
     */
    public final SyncMode syncMode() {
        return timing.mode;
    }

    /**
     * Sets when pending measurements are resolved.
     *
     * @param mode the mode from now on
     */
    public final void setSyncMode(SyncMode mode) {
        Objects.requireNonNull(mode, "mode");
        timing.mode = mode;
    }

    /**
     * The time of deferred measurements: read it where one begins.
     *
     * <p>With a device stream each call sets a mark at the end of the first stream's queue, as starting a brick does and at
     * the same cost, which is some times that of reading the clock; {@link #recordDeferred(BrickId, long, long)} finds the
     * mark again by the returned number, on whichever thread. So read it for nothing else there, and not while a
     * stream is captured that marks would disturb. The latest 4,096 marks are kept (fewer for a stream of less than 65,536),
     * and then used again. While the profiler is off, and in {@link SyncMode#NONE}, no mark is set.
     *
     * @return ns since the epoch: the construction, or the last {@link #resetEpoch}. With a device stream no two calls
     *     return the same: where the clock stands still between them, the later one returns as little more as it takes
     */
    public final long elapsedNs() {
        return (enabled ? timing.startNs() : clock.nanoTime()) - epochNs;
    }

    /** Makes now the epoch. Measurements already pending keep their true start. */
    public final void resetEpoch() {
        epochNs = clock.nanoTime();
    }

    // ---- deferred measurements ----

    /**
     * Queues a measurement until its end is known. It lasts at least until {@link #finalize(long)} or a boundary. At
     * most 1,048,576 wait for each thread; a further one is dropped, counted, and logged once.
     *
     * <p>With a device stream the measurement is what the first stream does from the mark that {@link #elapsedNs()} set when
     * it returned the start to a mark that this call sets: call it right after its work was enqueued. Several may begin at one
     * start, and any thread may call it. Where the start is another number, or too old, the host's clock has to be placed
     * in the device's time, and where that cannot be done exactly the measurement is unresolved.
     *
     * @param id the brick
     * @param startNs when it began, as {@link #elapsedNs()} read it
     * @param elements elements it processes
     * @throws IllegalArgumentException when the elements are negative
     */
    public final void recordDeferred(BrickId id, long startNs, long elements) {
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
    public final void recordDeferred(int key, long startNs, long elements) {
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
    public final void recordDeferred(String name, long startNs, long elements) {
        requireName(name);
        requireNotNegative("elements", elements);
        if (enabled) {
            defer(keyOf(name), startNs, elements);
        }
    }

    private void defer(int key, long startNs, long elements) {
        if (!timing.defer(key, epochNs + startNs, elements)) {
            drop(key);
        }
    }

    private void drop(int key) {
        if (dropLogged.compareAndSet(false, true)) {
            LOG.warn(
                    "too many deferred measurements wait for finalize: '{}' and further ones are dropped",
                    names.name(key));
        }
        droppedPending.incrementAndGet();
    }

    /**
     * Resolves every pending measurement: each lasts from its start to the given end, or to the next start where the
     * profiler was built with {@link Attribution#SEQUENTIAL}. One that began after the end counts as 0 ns. Nothing
     * happens where none is pending. Call it once per forward pass, after the device was waited for. With a device stream
     * the given end ends nothing: what the device has done gets the device's own times, the rest stays pending.
     *
     * @param endNs when the pending work ended, as {@link #elapsedNs()} read it
     */
    public final void finalize(long endNs) {
        resolver.resolve(epochNs + endNs);
        timing.poll(epochNs + endNs);
    }

    /**
     * Whether measurements wait for {@link #finalize(long)} or a boundary.
     *
     * @return true where at least one does
     */
    public final boolean hasPending() {
        return pendingCount() > 0;
    }

    /**
     * How many measurements wait for {@link #finalize(long)} or a boundary.
     *
     * @return 0 or more; exact while nobody records
     */
    public final int pendingCount() {
        return registry.pendingCount() + timing.pendingCount();
    }

    // ---- layers and passes ----

    /**
     * Marks the beginning of a layer on the calling thread, for timeline and graph; layers are counted from 0 in each
     * pass, while the profiler is off, too. Needed where bricks came before the layer, or other threads work for it, see
     * {@link #layerToken}: without this call a layer begins where the last boundary was.
     *
     * <p>A boundary may lie within a brick, as it does where {@code lap} goes on over it: the brick then belongs as a
     * whole to the layer in which it ran longest, or to none where that was outside of layers.
     *
     * <p>Layers do not nest. Where the one before was not ended, an exception has ended its pass: it ends there, and this
     * layer is number 0 of the next pass.
     */
    public final void startLayer() {
        if (layers.isOpen()) {
            passEnded(true, false);
        }
        long layer = layers.start();
        reach(SpanKind.LAYER_START, LayerToken.layer(layer), false);
        if (enabled) {
            timing.follower.startLayer(layer);
        }
    }

    /**
     * Marks the end of a layer. In the modes {@link SyncMode#IMMEDIATE} and {@link SyncMode#PER_LAYER} it waits for the
     * bricks that the calling thread stopped on devices, once for each stream, and resolves them; deferred measurements
     * without a device end now. In the other modes nothing is resolved.
     */
    public final void endLayer() {
        SyncMode mode = timing.mode;
        boolean resolves = mode == SyncMode.IMMEDIATE || mode == SyncMode.PER_LAYER;
        if (resolves) {
            timing.await();
        }
        long layer = layers.end();
        reach(SpanKind.LAYER_END, LayerToken.layer(layer), resolves);
        if (enabled) {
            timing.follower.endLayer(layer);
        }
    }

    /**
     * Marks the end of a forward pass: of the device streams on which the calling thread stopped bricks since it last ended
     * a pass. It waits for the last of these bricks on each stream, not for what was enqueued behind it, nor for bricks of
     * other threads; those have ends of their own, or {@link BrickStream#endPass()}. What the thread waited for is resolved
     * when the call returns; deferred measurements without a device end now. In {@link SyncMode#NONE} it waits for nothing.
     * A layer that has begun and not ended ends here, and the thread's next one is number 0: a pass that may throw calls
     * this in a {@code finally}.
     */
    public final void endPass() {
        timing.endPass(timing.mode != SyncMode.NONE);
        passEnded(false, true);
    }

    /**
     * Marks the end of a forward pass and waits for nothing: bricks that devices have done are resolved, the others stay
     * pending until a later boundary finds them done. Deferred measurements without a device stay pending.
     */
    public final void endPassAsync() {
        timing.endPass(false);
        passEnded(false, false);
    }

    private void passEnded(boolean abandoned, boolean resolves) {
        layers.endPass();
        reach(SpanKind.PASS_END, abandoned ? 1 : 0, resolves);
        if (enabled) {
            timing.follower.endPass();
        }
    }

    private void reach(SpanKind boundary, long value, boolean resolves) {
        boolean traced = enabled && registry.hasSpans();
        if (resolves || traced) {
            long now = clock.nanoTime();
            if (resolves) {
                resolver.resolve(now);
            }
            if (traced) {
                registry.mark(boundary, 0, now, 0, value);
            }
        }
    }

    // ---- work of other threads for a layer ----

    /**
     * The layer that the calling thread works for: the one that it began with {@link #startLayer} and has not ended, or
     * the one it was given by {@link #workFor}. Hand it to whoever does a part of that layer's work:
     *
     * <pre>{@code
     * long layer = profiler.layerToken();
     * IntStream.range(0, heads).parallel().forEach(head -> {
     *     long before = profiler.workFor(layer);
     *     try {
     *         attend(head); // its bricks are that layer's, on whichever thread
     *     } finally {
     *         profiler.workFor(before);
     *     }
     * });
     * }</pre>
     *
     * @return the token, which stays good for that layer of that pass; 0 where the thread works for none
     */
    public final long layerToken() {
        return layers.current();
    }

    /**
     * The number of the layer that the calling thread works for, as {@link #layerToken} tells it; the layer of a checksum
     * that is recorded now.
     *
     * @return 0 or more; -1 where it works for none
     */
    public final int currentLayer() {
        return LayerToken.layer(layers.current());
    }

    /**
     * Makes the calling thread work for a layer until it says otherwise: in timeline and graph its bricks belong to that
     * layer. Passes that run at the same time on other threads have tokens of their own. Allocates nothing but for a
     * thread's first call, and costs nothing where it is not called.
     *
     * @param layer what {@link #layerToken} answered on the thread of the pass, or 0 for none
     * @return the layer that this thread worked for before, to be given back
     */
    public final long workFor(long layer) {
        long before = layers.workFor(layer);
        if (before != layer && enabled) {
            if (registry.hasSpans()) {
                registry.mark(SpanKind.LAYER_CHANGE, 0, clock.nanoTime(), 0, layers.change(before, layer));
            }
            timing.follower.workFor(layers.foreign());
        }
        return before;
    }
}
