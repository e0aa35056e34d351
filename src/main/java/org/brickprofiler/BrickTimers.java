package org.brickprofiler;

import java.util.Objects;
import java.util.function.Supplier;
import org.brickprofiler.device.StreamTracing;
import org.brickprofiler.record.NameTable;
import org.brickprofiler.record.NanoClock;
import org.brickprofiler.record.SpanNames;
import org.brickprofiler.record.SpanSink;
import org.brickprofiler.record.SpanStore;
import org.brickprofiler.record.TableRegistry;
import org.brickprofiler.record.TimerToken;
import org.jspecify.annotations.Nullable;

/**
 * The timers of a {@link BrickProfiler}: what an inference engine calls around each brick.
 *
 * <p>Every method may be called from any thread. Recording threads never wait for each other or for a reader. While the
 * profiler is off, every method here is a cheap no-op.
 *
 * <p><b>The timer</b> is a {@code long} that carries the brick and its start. It is a value: it may be stopped on
 * another thread, and stopping it twice counts twice. A timer that was started while the profiler was off is void, and
 * stopping it records nothing.
 *
 * <p><b>Names.</b> A name stands for the {@link BrickId} that {@link BrickId#parse} finds, otherwise for a dynamic
 * brick. There is room for at least 4,000 of those; further new names share one brick called {@value #OTHER_NAMES},
 * and that is logged once.
 *
 * <p><b>Errors.</b> Negative durations, elements, bytes and cycles, and null and empty names, are refused with an
 * {@link IllegalArgumentException}; nothing is recorded then. Any other null is refused with a
 * {@link NullPointerException} whose message names the parameter, on the hot path that of the dereference itself; a void
 * timer and a null brick while the profiler is off are not looked at.
 */
public abstract sealed class BrickTimers permits BrickRecorder {

    /** The name under which bricks past the bound are counted. */
    public static final String OTHER_NAMES = "(other names)";

    final NanoClock clock;
    final NameTable names = BrickNames.newTable();
    final TableRegistry registry;

    /** Which layer each thread is in, or works for. */
    final Layers layers = new Layers();

    final BrickTiming timing;

    private final BrickScope noScope = new BrickScope(this, TimerToken.VOID, 0);

    volatile boolean enabled;

    BrickTimers(BrickProfilerBuilder options) {
        clock = options.clock;
        SpanSink sink = options.tracing;
        SpanNames spanNames = BrickNames.spanNames(names);
        SpanStore spans = sink == null ? null : sink.bricks(spanNames);
        registry = new TableRegistry(BrickNames.FIXED, options.percentiles, spans, layers::foreign);
        timing = options.streams.isEmpty()
                ? new BrickTiming(clock, names, registry)
                : DeviceTiming.of(
                        clock,
                        names,
                        registry,
                        options.streams,
                        options.launchesEvery,
                        sink == null ? StreamTracing.NONE : tracing(sink, spanNames));
    }

    private StreamTracing tracing(SpanSink sink, SpanNames spanNames) {
        return (place, catchUp) -> sink.stream(place, spanNames, this, catchUp);
    }

    // ---- the hot path ----

    /**
     * Starts timing a brick.
     *
     * @param id the brick
     * @return the timer, for {@link #stopBrick} or {@link #lap(long, long, BrickId)}
     */
    public final long startBrick(BrickId id) {
        return enabled ? timing.start(id.index()) : TimerToken.VOID;
    }

    /**
     * Starts timing a brick by its key.
     *
     * @param key what {@link #brickKey(String)} of this profiler returned
     * @return the timer; void where no brick has that key
     */
    public final long startBrick(int key) {
        return enabled && timing.hasBrick(key) ? timing.start(key) : TimerToken.VOID;
    }

    /**
     * Starts timing a brick by its name. Slower than by id or key.
     *
     * @param name a known name or alias, or the name of a dynamic brick, which need not be registered
     * @return the timer
     * @throws IllegalArgumentException when the name is null or empty
     */
    public final long startBrick(String name) {
        return enabled ? timing.start(keyOf(name)) : TimerToken.VOID;
    }

    /**
     * Stops a timer and records the sample.
     *
     * @param timer what starting it returned
     * @param elements elements the brick processed: tokens, rows, pages
     * @throws IllegalArgumentException when the elements are negative
     */
    public final void stopBrick(long timer, long elements) {
        if (timer != TimerToken.VOID && enabled) {
            timing.stop(timer, elements);
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
    public final long lap(long timer, long elements, BrickId next) {
        return enabled ? timing.lap(timer, elements, next.index()) : TimerToken.VOID;
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
    public final long lap(long timer, long elements, int nextKey) {
        if (!enabled) {
            return TimerToken.VOID;
        }
        if (timing.hasBrick(nextKey)) {
            return timing.lap(timer, elements, nextKey);
        }
        stopBrick(timer, elements);
        return TimerToken.VOID;
    }

    // ---- dynamic bricks ----

    /**
     * The key of a brick, for the hot path. A new name becomes a dynamic brick of category
     * {@link BrickCategory#OTHER}. Works while the profiler is off, too.
     *
     * @param name a name
     * @return its key, the same for the life of the profiler
     * @throws IllegalArgumentException when the name is null or empty
     */
    public final int brickKey(String name) {
        return keyOf(name);
    }

    /**
     * The key of a brick, for the hot path. A new name becomes a dynamic brick of the given category; an existing brick
     * keeps the category it has.
     *
     * @param name a name
     * @param category the category of a new brick
     * @return its key, the same for the life of the profiler
     * @throws IllegalArgumentException when the name is null or empty
     */
    public final int brickKey(String name, BrickCategory category) {
        return names.keyOf(requireName(name), BrickNames.tag(category));
    }

    final int keyOf(String name) {
        return names.keyOf(requireName(name), BrickNames.tag(BrickCategory.OTHER));
    }

    // ---- outside hot loops ----

    /**
     * Runs and times a piece of code; the sample is recorded on every way out of it, exceptions included.
     *
     * @param id the brick
     * @param elements elements it processes
     * @param body the code; its exceptions pass through
     * @throws IllegalArgumentException when the elements are negative; the code is not run then
     */
    public final void time(BrickId id, long elements, Runnable body) {
        requireNotNegative("elements", elements);
        Objects.requireNonNull(body, "body");
        long timer = startBrick(id);
        try {
            body.run();
        } finally {
            stopBrick(timer, elements);
        }
    }

    /**
     * Runs and times a piece of code that has a result; the sample is recorded on every way out of it, exceptions
     * included.
     *
     * @param <T> the type of the result
     * @param id the brick
     * @param elements elements it processes
     * @param body the code; its exceptions pass through
     * @return what the code returned
     * @throws IllegalArgumentException when the elements are negative; the code is not run then
     */
    public final <T extends @Nullable Object> T time(BrickId id, long elements, Supplier<T> body) {
        requireNotNegative("elements", elements);
        Objects.requireNonNull(body, "body");
        long timer = startBrick(id);
        try {
            return body.get();
        } finally {
            stopBrick(timer, elements);
        }
    }

    /**
     * Runs and times a piece of code, as {@link #time(BrickId, long, Runnable)} does.
     *
     * @param key what {@link #brickKey(String)} of this profiler returned
     * @param elements elements it processes
     * @param body the code; its exceptions pass through
     * @throws IllegalArgumentException when no brick has that key or the elements are negative; the code is not run then
     */
    public final void time(int key, long elements, Runnable body) {
        requireKey(key);
        requireNotNegative("elements", elements);
        Objects.requireNonNull(body, "body");
        long timer = startBrick(key);
        try {
            body.run();
        } finally {
            stopBrick(timer, elements);
        }
    }

    /**
     * Runs and times a piece of code that has a result, as {@link #time(BrickId, long, Supplier)} does.
     *
     * @param <T> the type of the result
     * @param key what {@link #brickKey(String)} of this profiler returned
     * @param elements elements it processes
     * @param body the code; its exceptions pass through
     * @return what the code returned
     * @throws IllegalArgumentException when no brick has that key or the elements are negative; the code is not run then
     */
    public final <T extends @Nullable Object> T time(int key, long elements, Supplier<T> body) {
        requireKey(key);
        requireNotNegative("elements", elements);
        Objects.requireNonNull(body, "body");
        long timer = startBrick(key);
        try {
            return body.get();
        } finally {
            stopBrick(timer, elements);
        }
    }

    /**
     * Runs and times a piece of code, as {@link #time(BrickId, long, Runnable)} does.
     *
     * @param name the brick's name
     * @param elements elements it processes
     * @param body the code; its exceptions pass through
     * @throws IllegalArgumentException when the elements are negative, or the name is null or empty; the code is not run
     *     then
     */
    public final void time(String name, long elements, Runnable body) {
        requireName(name);
        requireNotNegative("elements", elements);
        Objects.requireNonNull(body, "body");
        long timer = startBrick(name);
        try {
            body.run();
        } finally {
            stopBrick(timer, elements);
        }
    }

    /**
     * Runs and times a piece of code that has a result, as {@link #time(BrickId, long, Supplier)} does.
     *
     * @param <T> the type of the result
     * @param name the brick's name
     * @param elements elements it processes
     * @param body the code; its exceptions pass through
     * @return what the code returned
     * @throws IllegalArgumentException when the elements are negative, or the name is null or empty; the code is not run
     *     then
     */
    public final <T extends @Nullable Object> T time(String name, long elements, Supplier<T> body) {
        requireName(name);
        requireNotNegative("elements", elements);
        Objects.requireNonNull(body, "body");
        long timer = startBrick(name);
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
    public final BrickScope scope(BrickId id, long elements) {
        requireNotNegative("elements", elements);
        return enabled ? new BrickScope(this, startBrick(id), elements) : noScope;
    }

    /**
     * Starts timing a brick until the scope is closed.
     *
     * @param key what {@link #brickKey(String)} of this profiler returned
     * @param elements elements it processes
     * @return the scope, for a {@code try} statement; one that does nothing while the profiler is off
     * @throws IllegalArgumentException when no brick has that key, or the elements are negative
     */
    public final BrickScope scope(int key, long elements) {
        requireKey(key);
        requireNotNegative("elements", elements);
        return enabled ? new BrickScope(this, startBrick(key), elements) : noScope;
    }

    /**
     * Starts timing a brick until the scope is closed.
     *
     * @param name the brick's name
     * @param elements elements it processes
     * @return the scope, for a {@code try} statement; one that does nothing while the profiler is off
     * @throws IllegalArgumentException when the elements are negative, or the name is null or empty
     */
    public final BrickScope scope(String name, long elements) {
        requireName(name);
        requireNotNegative("elements", elements);
        return enabled ? new BrickScope(this, startBrick(name), elements) : noScope;
    }

    // ---- refusals ----

    final void requireKey(int key) {
        if (!timing.hasBrick(key)) {
            throw new IllegalArgumentException("no brick has the key " + key + "; keys come from brickKey");
        }
    }

    static String requireName(@Nullable String name) {
        if (name == null || name.isEmpty()) {
            throw new IllegalArgumentException("a brick's name must not be " + (name == null ? "null" : "empty"));
        }
        return name;
    }

    static void requireStreamName(@Nullable String name) {
        if (name == null) {
            throw new IllegalArgumentException("the name of a device stream must not be null");
        }
    }

    static void requireSample(long elapsedNs, long elements) {
        requireNotNegative("elapsedNs", elapsedNs);
        requireNotNegative("elements", elements);
    }

    static void requireNotNegative(String what, long value) {
        if (value < 0) {
            throw negative(what, value);
        }
    }

    private static IllegalArgumentException negative(String what, long value) {
        return new IllegalArgumentException(what + " " + value + " is negative");
    }
}
