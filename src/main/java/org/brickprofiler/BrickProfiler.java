package org.brickprofiler;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.concurrent.atomic.LongAdder;
import org.brickprofiler.record.NanoClock;
import org.brickprofiler.record.PendingResolver;
import org.brickprofiler.record.StatTable;
import org.brickprofiler.tile.TileProfiler;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Times the bricks of a forward pass and adds them up.
 *
 * <pre>{@code
 * BrickProfiler profiler = BrickProfiler.enabled();
 * long timer = profiler.startBrick(BrickId.RMS_NORM);
 * rmsNorm(x);
 * timer = profiler.lap(timer, tokens, BrickId.QKV_PROJECTION);
 * qkv(x);
 * profiler.stopBrick(timer, tokens);
 * System.out.println(TextReport.render(profiler.snapshot()));
 * }</pre>
 *
 * <p>Every method may be called from any thread. Recording threads never wait for each other or for a reader; readers,
 * resets and resolutions of pending measurements wait for each other. What a reader gets is consistent brick by brick,
 * and nothing is missing from it once the recording threads are done.
 */
public final class BrickProfiler extends BrickRecorder {

    private static final Logger LOG = LoggerFactory.getLogger(BrickProfiler.class);

    private final PendingResolver resolver;
    private final TileProfiler tiles;
    private final RunPeriod period;
    private final LongAdder droppedPending = new LongAdder();
    private final Results results;

    private volatile SyncMode syncMode = SyncMode.DEFERRED;
    private volatile long epochNs;
    private volatile OptionalDouble l2CacheHitRate = OptionalDouble.empty();
    private volatile boolean zeroCopy;

    /** A profiler that is off, with the default options. */
    public BrickProfiler() {
        this(builder());
    }

    private BrickProfiler(Builder options) {
        super(options.clock, options.percentiles);
        resolver = new PendingResolver(registry, options.attribution == Attribution.SEQUENTIAL);
        tiles = new TileProfiler(options.clock);
        epochNs = options.clock.nanoTime();
        period = new RunPeriod(epochNs);
        results = new Results(names, period, options.percentiles);
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
    public static Builder builder() {
        return new Builder();
    }

    /** Options of a profiler. Not thread-safe; may be used for several profilers. */
    public static final class Builder {
        private NanoClock clock = NanoClock.SYSTEM;
        private boolean percentiles;
        private Attribution attribution = Attribution.LITERAL;

        private Builder() {}

        /**
         * The clock to read; {@link NanoClock#SYSTEM} unless set.
         *
         * @param clock a clock
         * @return this
         */
        public Builder clock(NanoClock clock) {
            this.clock = clock;
            return this;
        }

        /**
         * Whether to record how durations are spread; off unless set. It takes 18 KB for each brick and thread.
         *
         * @param on true to record percentiles
         * @return this
         */
        public Builder percentiles(boolean on) {
            this.percentiles = on;
            return this;
        }

        /**
         * How deferred measurements share the time; {@link Attribution#LITERAL} unless set.
         *
         * @param attribution the way
         * @return this
         */
        public Builder attribution(Attribution attribution) {
            this.attribution = attribution;
            return this;
        }

        /**
         * Makes the profiler.
         *
         * @return a new profiler, off
         */
        public BrickProfiler build() {
            return new BrickProfiler(this);
        }
    }

    // ---- the switch, the mode, the epoch ----

    /** Switches recording on. */
    public void enable() {
        period.resume(clock.nanoTime());
        enabled = true;
    }

    /** Switches recording off; what was recorded stays. */
    public void disable() {
        enabled = false;
        period.pause(clock.nanoTime());
    }

    /**
     * Whether recording is on.
     *
     * @return true between {@link #enable} and {@link #disable}
     */
    public boolean isEnabled() {
        return enabled;
    }

    /**
     * When pending measurements are resolved.
     *
     * @return the mode, {@link SyncMode#DEFERRED} unless set
     */
    public SyncMode syncMode() {
        return syncMode;
    }

    /**
     * Sets when pending measurements are resolved.
     *
     * @param mode the mode from now on
     */
    public void setSyncMode(SyncMode mode) {
        this.syncMode = mode;
    }

    /**
     * The time of deferred measurements.
     *
     * @return ns since the epoch: the construction, or the last {@link #resetEpoch}
     */
    public long elapsedNs() {
        return clock.nanoTime() - epochNs;
    }

    /** Makes now the epoch. Measurements already pending keep their true start. */
    public void resetEpoch() {
        epochNs = clock.nanoTime();
    }

    // ---- deferred measurements ----

    /**
     * Queues a measurement until its end is known. It lasts at least until {@link #finalize(long)} or a boundary. At
     * most 1,048,576 wait for each thread; a further one is dropped, counted, and logged once.
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
        StatTable table = registry.acquire();
        boolean queued = table.pending().offer(key, epochNs + startNs, elements);
        registry.release(table);
        if (!queued) {
            drop(key);
        }
    }

    private void drop(int key) {
        if (droppedPending.sum() == 0) {
            LOG.warn("too many deferred measurements wait for finalize: '{}' and further ones are dropped", names.name(key));
        }
        droppedPending.increment();
    }

    /**
     * Resolves every pending measurement: each lasts from its start to the given end, or to the next start where the
     * profiler was built with {@link Attribution#SEQUENTIAL}. One that began after the end counts as 0 ns. Nothing
     * happens where none is pending. Call it once per forward pass, after the device was waited for.
     *
     * @param endNs when the pending work ended, as {@link #elapsedNs()} read it
     */
    public void finalize(long endNs) {
        resolver.resolve(epochNs + endNs);
    }

    /**
     * Whether measurements wait for {@link #finalize(long)}.
     *
     * @return true where at least one does
     */
    public boolean hasPending() {
        return pendingCount() > 0;
    }

    /**
     * How many measurements wait for {@link #finalize(long)}.
     *
     * @return 0 or more; exact while nobody records
     */
    public int pendingCount() {
        return registry.pendingCount();
    }

    /**
     * Marks the end of a layer: resolves what is pending, as of now, in the modes {@link SyncMode#IMMEDIATE} and
     * {@link SyncMode#PER_LAYER}. In the others nothing happens.
     */
    public void endLayer() {
        SyncMode mode = syncMode;
        if (mode == SyncMode.IMMEDIATE || mode == SyncMode.PER_LAYER) {
            resolver.resolve(clock.nanoTime());
        }
    }

    /** Marks the end of a forward pass: resolves what is pending, as of now, in every mode. */
    public void endPass() {
        resolver.resolve(clock.nanoTime());
    }

    // ---- results ----

    /**
     * What was recorded of a known brick.
     *
     * @param id the brick
     * @return its stats, never null; zero throughout where nothing was recorded
     */
    public BrickStats brickStats(BrickId id) {
        int key = id.index();
        return results.brick(key, registry.read(key, key + 1));
    }

    /**
     * What was recorded of a brick.
     *
     * @param name its name or an alias
     * @return its stats, or empty where nothing was recorded
     */
    public Optional<BrickStats> stats(@Nullable String name) {
        int key = names.find(name);
        return key < 0
                ? Optional.empty()
                : Optional.of(results.brick(key, registry.read(key, key + 1))).filter(brick -> brick.count() > 0);
    }

    /**
     * What was recorded, brick by brick.
     *
     * @return the bricks that have samples, largest total first; cannot be changed
     */
    public List<BrickStats> allBrickStats() {
        return results.bricks(registry.read());
    }

    /**
     * Which bricks have samples.
     *
     * @return their names, in the order of {@link #allBrickStats()}; cannot be changed
     */
    public List<String> brickNames() {
        return allBrickStats().stream().map(BrickStats::name).toList();
    }

    /**
     * What was recorded, by category.
     *
     * @return an {@code EnumMap} with every category, in order; the caller's own
     */
    public Map<BrickCategory, CategoryStats> categoryStats() {
        return CategoryStats.byCategory(allBrickStats());
    }

    /**
     * The sum of the elements of all bricks.
     *
     * @return elements
     */
    public long totalTokens() {
        return allBrickStats().stream().mapToLong(BrickStats::totalElements).sum();
    }

    /**
     * The sum of brick time, over all threads.
     *
     * @return ns
     */
    public long totalNs() {
        return allBrickStats().stream().mapToLong(BrickStats::totalNs).sum();
    }

    /**
     * Elements per second over summed brick time.
     *
     * @return elements/s, 0 where no time was measured
     */
    public double totalThroughput() {
        return CategoryStats.sum(categoryStats().values()).throughput();
    }

    /**
     * Everything known now: immutable, consistent brick by brick, and fit to be merged. The first call in a virtual
     * machine takes some milliseconds to measure what recording costs.
     *
     * @return the snapshot
     */
    public ProfileSnapshot snapshot() {
        return results.snapshot(registry.read(), tiles.all(), period.until(clock.nanoTime()), settings());
    }

    /**
     * Takes a snapshot and begins anew. No sample is lost or counted twice, even while others record: each is in
     * exactly one of consecutive snapshots. Pending measurements stay pending.
     *
     * @return the snapshot
     */
    public ProfileSnapshot snapshotAndReset() {
        RunPeriod.Part part = period.endAndRestart(clock.nanoTime());
        ProfileSnapshot ended = results.snapshot(registry.readAndReset(), tiles.allAndReset(), part, settings());
        droppedPending.add(-ended.droppedPending());
        return ended;
    }

    /**
     * Forgets all samples and tiles and everything that is pending. Names, keys, bottlenecks and settings stay. Samples
     * that are recorded at the same time count as before or after.
     */
    public void reset() {
        resolver.discard();
        registry.readAndReset();
        tiles.reset();
        droppedPending.reset();
        period.endAndRestart(clock.nanoTime());
    }

    private Results.Settings settings() {
        return new Results.Settings(droppedPending.sum(), l2CacheHitRate, zeroCopy);
    }

    // ---- what the application knows ----

    /**
     * Says what limits a brick. Kept by {@link #reset()}.
     *
     * @param name the brick's name; a new one becomes a dynamic brick
     * @param bottleneck what limits it
     * @throws IllegalArgumentException when the name is null or empty
     */
    public void setBottleneck(String name, Bottleneck bottleneck) {
        results.setBottleneck(keyOf(name), bottleneck);
    }

    /**
     * Says how often the L2 cache was hit. Kept by {@link #reset()}.
     *
     * @param rate the share of accesses; clamped to 0 to 1
     * @throws IllegalArgumentException when the rate is not a number
     */
    public void setL2CacheHitRate(double rate) {
        if (Double.isNaN(rate)) {
            throw new IllegalArgumentException("L2 cache hit rate " + rate + " is not a number");
        }
        l2CacheHitRate = OptionalDouble.of(Math.max(0.0, Math.min(1.0, rate)));
    }

    /**
     * How often the L2 cache was hit.
     *
     * @return 0 to 1, or empty where the application has not said
     */
    public OptionalDouble l2CacheHitRate() {
        return l2CacheHitRate;
    }

    /**
     * Says whether transfers between host and device copy nothing. Kept by {@link #reset()}.
     *
     * @param on true where they copy nothing
     */
    public void setZeroCopy(boolean on) {
        zeroCopy = on;
    }

    /**
     * Whether transfers between host and device copy nothing.
     *
     * @return what the application said, false unless it did
     */
    public boolean isZeroCopy() {
        return zeroCopy;
    }

    /**
     * The profiler of tiles, with a switch of its own. {@link #reset()} empties it too.
     *
     * @return always the same object
     */
    public TileProfiler tiles() {
        return tiles;
    }
}
