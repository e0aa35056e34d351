package org.brickprofiler;

import static org.brickprofiler.internal.io.Checks.requireNotNegative;

import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.brickprofiler.internal.record.NameTable;
import org.brickprofiler.internal.record.PerThread;
import org.brickprofiler.internal.record.SpanSink;
import org.brickprofiler.internal.record.SpanStore;
import org.brickprofiler.internal.record.StatTable;
import org.brickprofiler.internal.record.TableRegistry;
import org.brickprofiler.internal.record.TimerToken;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/**
 * The part of a profiler that knows which bricks there are, where their samples are kept, and how samples get there
 * other than by a timer in a hot loop: code that is run and timed, samples that were timed elsewhere, and work.
 */
abstract sealed class BrickSamples permits BrickResults {

    final NameTable names = BrickNames.newTable();

    /** What the keys mean to whoever shows spans. */
    final SpanSink.Names spanNames = BrickNames.spanNames(names);

    /** Which layer each thread is in, or works for. */
    final Layers layers = new Layers();

    final TableRegistry registry;

    /** Those of the registry. */
    final PerThread<StatTable, ?> tables;

    final WorkSums work = new WorkSums(names);

    /** The keys of bricks for which another category than theirs was asked for, and that was logged. */
    private final Set<Integer> droppedCategories = ConcurrentHashMap.newKeySet();

    private final BrickScope noScope = new BrickScope(this, TimerToken.VOID, 0);

    BrickSamples(BrickProfilerBuilder options) {
        SpanStore spans = options.tracing == null ? null : options.tracing.bricks(spanNames);
        registry = new TableRegistry(BrickNames.FIXED, options.percentiles, names, spans, layers);
        tables = registry.threads();
    }

    // ---- what a profiler does about it ----

    abstract boolean isEnabled();

    abstract long startBrick(BrickId id);

    abstract long startBrick(int key);

    abstract long startBrick(String name);

    abstract void stopBrick(long timer, long elements);

    /** The clock, now. */
    abstract long nowNs();

    /** A sample was recorded that the host's clock, or the caller, has timed. */
    abstract void reportSample(int key, long elapsedNs, long endNs, long elements);

    // ---- dynamic bricks ----

    /**
     * The key of a brick, for the hot path. A new name becomes a dynamic brick of category {@link BrickCategory#OTHER}.
     * Works while the profiler is off, too.
     *
     * @param name a name
     * @return its key, the same for the life of the profiler
     * @throws IllegalArgumentException when the name is null or empty
     */
    public int brickKey(String name) {
        return keyOf(name);
    }

    /**
     * Returns the key of a brick, for the hot path. A new name becomes a dynamic brick of the given category; an
     * existing brick, and the {@link BrickId} that the name stands for, keep the category that they have, which is
     * logged once for each brick if it is another one. {@link #ownBrickKey} makes a dynamic brick of an alias.
     *
     * @param name a name
     * @param category the category of a new brick
     * @return its key, the same for the life of the profiler
     * @throws IllegalArgumentException when the name is null or empty
     */
    public int brickKey(String name, BrickCategory category) {
        int key = names.keyOf(requireName(name), BrickNames.tag(category));
        warnIfDropped(name, category, key);
        return key;
    }

    /**
     * Returns the key of a dynamic brick that has exactly this name, even if the name is an alias or a spelling of a
     * {@link BrickId}: an engine's own {@code "head"} is then not {@link BrickId#LM_HEAD}. From this call on the name
     * means that brick in all methods of this profiler that take a name; samples that were recorded by the name before
     * stay with the known brick. Works while the profiler is off, too.
     *
     * @param name a name that is no {@linkplain BrickId#displayName() display name}
     * @param category the category of the brick; one that exists already keeps its own, which is logged once
     * @return its key, the same for the life of the profiler
     * @throws IllegalArgumentException when the name is null or empty, or the display name of a known brick or
     *     {@value BrickProfiler#OTHER_NAMES}: reports could not tell the two bricks apart
     */
    public int ownBrickKey(String name, BrickCategory category) {
        int tag = BrickNames.tag(category);
        int known = names.find(requireName(name));
        if (known >= 0 && known < BrickNames.FIXED && names.name(known).equals(name)) {
            throw new IllegalArgumentException(
                    "'" + name + "' is the display name of a known brick: reports could not tell a"
                            + " brick of that name from it, so choose another name");
        }
        int key = names.ownKeyOf(name, tag);
        warnIfDropped(name, category, key);
        return key;
    }

    private void warnIfDropped(String name, BrickCategory category, int key) {
        BrickCategory kept = BrickNames.category(names.tag(key));
        if (kept != category && droppedCategories.add(key)) {
            LoggerFactory.getLogger(BrickProfiler.class)
                    .warn(
                            "'{}' is the brick {} of category {}, so the category {} is not used; ownBrickKey makes a brick of"
                                    + " its own of an alias",
                            name,
                            names.name(key),
                            kept.displayName(),
                            category.displayName());
        }
    }

    int keyOf(String name) {
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
    public void time(BrickId id, long elements, Runnable body) {
        requireNotNegative("elements", elements);
        Objects.requireNonNull(body, "body");
        run(startBrick(id), elements, body);
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
    public <T extends @Nullable Object> T time(BrickId id, long elements, Supplier<T> body) {
        requireNotNegative("elements", elements);
        Objects.requireNonNull(body, "body");
        return get(startBrick(id), elements, body);
    }

    /**
     * Runs and times a piece of code, as {@link #time(BrickId, long, Runnable)} does.
     *
     * @param key what {@link #brickKey(String)} of this profiler returned
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
     * @param key what {@link #brickKey(String)} of this profiler returned
     * @param elements elements it processes
     * @param body the code; its exceptions pass through
     * @return what the code returned
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
     * @return what the code returned
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
        requireNotNegative("elements", elements);
        return isEnabled() ? new BrickScope(this, startBrick(id), elements) : noScope;
    }

    /**
     * Starts timing a brick until the scope is closed.
     *
     * @param key what {@link #brickKey(String)} of this profiler returned
     * @param elements elements it processes
     * @return the scope, for a {@code try} statement; one that does nothing while the profiler is off
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
        requireSample(elapsedNs, elements);
        if (isEnabled()) {
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
    public void record(String name, Duration elapsed, long elements) {
        try {
            record(name, elapsed.toNanos(), elements);
        } catch (ArithmeticException tooLong) {
            throw new IllegalArgumentException("elapsed " + elapsed + " does not fit in 64 bits of ns", tooLong);
        }
    }

    private void add(int key, long elapsedNs, long elements) {
        long nowNs = nowNs();
        registry.add(key, elapsedNs, nowNs, elements);
        reportSample(key, elapsedNs, nowNs, elements);
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
        requireBytes(elapsedNs, elements, inputBytes, outputBytes);
        if (isEnabled()) {
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
        long nowNs = nowNs();
        table.addBytes(key, elapsedNs, nowNs, elements, inputBytes, outputBytes);
        registry.release(table);
        reportSample(key, elapsedNs, nowNs, elements);
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
    public void recordCycles(BrickId id, long elapsedNs, long elements, long cycles) {
        requireCycles(elapsedNs, elements, cycles);
        if (isEnabled()) {
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
     * @param cycles cycles it took; 0 where they were not measured
     * @throws IllegalArgumentException when a number is negative, or the name is null or empty
     */
    public void recordCycles(String name, long elapsedNs, long elements, long cycles) {
        requireName(name);
        requireCycles(elapsedNs, elements, cycles);
        if (isEnabled()) {
            addCycles(keyOf(name), elapsedNs, elements, cycles);
        }
    }

    private static void requireCycles(long elapsedNs, long elements, long cycles) {
        requireSample(elapsedNs, elements);
        requireNotNegative("cycles", cycles);
    }

    private void addCycles(int key, long elapsedNs, long elements, long cycles) {
        StatTable table = registry.acquire();
        long nowNs = nowNs();
        table.addCycles(key, elapsedNs, nowNs, elements, cycles);
        registry.release(table);
        reportSample(key, elapsedNs, nowNs, elements);
    }

    // ---- what there was to do ----

    /**
     * Records what samples of a brick had to do, of which {@link BrickProfiler#stopBrick} knows nothing: once for each
     * sample, or the sum of a pass once for each pass. Its working set counts as these bytes.
     *
     * @param id the brick
     * @param flops floating-point operations; a multiplication with an addition counts as two
     * @param bytes bytes that it had to read and write, each counted once
     * @throws IllegalArgumentException when a number is negative
     */
    public void recordWork(BrickId id, long flops, long bytes) {
        WorkSums.require(flops, bytes);
        if (isEnabled()) {
            work.record(id.index(), flops, bytes, bytes);
        }
    }

    /**
     * Records what samples of a brick had to do: see {@link #recordWork(BrickId, long, long)}.
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
            work.record(key, flops, bytes, bytes);
        }
    }

    /**
     * Records what samples of a brick had to do: see {@link #recordWork(BrickId, long, long)}.
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
            work.record(keyOf(name), flops, bytes, bytes);
        }
    }

    /**
     * Records what samples of a brick had to do, with its working set: see {@link #recordWork(BrickId, long, long)}.
     *
     * @param id the brick
     * @param done the work
     */
    public void recordWork(BrickId id, Work done) {
        Objects.requireNonNull(done, "done");
        if (isEnabled()) {
            work.record(id.index(), done.flops(), done.bytes(), done.workingSetBytes());
        }
    }

    /**
     * Records what samples of a brick had to do, with its working set: see {@link #recordWork(BrickId, long, long)}.
     *
     * @param key the brick's key
     * @param done the work
     * @throws IllegalArgumentException when no brick has that key
     */
    public void recordWork(int key, Work done) {
        requireKey(key);
        Objects.requireNonNull(done, "done");
        if (isEnabled()) {
            work.record(key, done.flops(), done.bytes(), done.workingSetBytes());
        }
    }

    /**
     * Records what samples of a brick had to do, with its working set: see {@link #recordWork(BrickId, long, long)}.
     *
     * @param name the brick's name
     * @param done the work
     * @throws IllegalArgumentException when the name is null or empty
     */
    public void recordWork(String name, Work done) {
        requireName(name);
        Objects.requireNonNull(done, "done");
        if (isEnabled()) {
            work.record(keyOf(name), done.flops(), done.bytes(), done.workingSetBytes());
        }
    }

    // ---- keys, names and samples as they have to be ----

    boolean hasBrick(int key) {
        return key >= 0 && key < names.size();
    }

    void requireKey(int key) {
        if (!hasBrick(key)) {
            throw new IllegalArgumentException("no brick has the key " + key + "; keys come from brickKey");
        }
    }

    static String requireName(@Nullable String name) {
        if (name == null || name.isEmpty()) {
            throw new IllegalArgumentException("a brick's name must not be " + (name == null ? "null" : "empty"));
        }
        return name;
    }

    static void requireSample(long elapsedNs, long elements) {
        requireNotNegative("elapsedNs", elapsedNs);
        requireNotNegative("elements", elements);
    }
}
