package org.brickprofiler;

import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import org.brickprofiler.checksum.ChecksumLog;
import org.brickprofiler.graph.GraphRecorder;
import org.brickprofiler.record.OwnSamples;
import org.brickprofiler.record.StatTable;
import org.brickprofiler.tile.TileProfiler;
import org.jspecify.annotations.Nullable;

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

    private final TileProfiler tiles;
    private final ChecksumLog checksums;
    private final RunPeriod period;
    private final SelfCost selfCost;
    private final Results results;

    /** Made when it is first asked for; guarded by this. */
    private @Nullable GraphRecorder graph;

    private volatile OptionalDouble l2CacheHitRate = OptionalDouble.empty();
    private volatile boolean zeroCopy;

    /** What the log of checksums asks about samples. */
    private final class Samples implements OwnSamples {
        @Override
        public int key(String name) {
            return names.find(name);
        }

        @Override
        public @Nullable StatTable table() {
            return timing.ownTable();
        }

        @Override
        public long nowNs() {
            return clock.nanoTime();
        }
    }

    /** A profiler that is off, with the default options. */
    public BrickProfiler() {
        this(builder());
    }

    BrickProfiler(BrickProfilerBuilder options) {
        super(options);
        checksums = new ChecksumLog(options.checksums, new Samples());
        tiles = new TileProfiler(options.clock, options.tracing);
        period = new RunPeriod(clock.nanoTime());
        selfCost = SelfCost.of(options.percentiles, registry.hasSpans());
        results = new Results(names, period, selfCost);
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
     * Switches recording on. The first time in a virtual machine it also starts a daemon thread that measures, a
     * second later and with some milliseconds of work, what recording costs.
     */
    public void enable() {
        selfCost.start();
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

    // ---- results ----

    /**
     * What was recorded of a known brick.
     *
     * @param id the brick
     * @return its stats, never null; zero throughout where nothing was recorded
     */
    public BrickStats brickStats(BrickId id) {
        int key = id.index();
        return results.brick(key, timing.read(key, key + 1));
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
                : Optional.of(results.brick(key, timing.read(key, key + 1))).filter(BrickStats::isRecorded);
    }

    /**
     * What was recorded, brick by brick.
     *
     * @return the bricks that have samples, largest total first; cannot be changed
     */
    public List<BrickStats> allBrickStats() {
        return results.bricks(timing.read());
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
        return total().totalElements();
    }

    /**
     * The sum of brick time, over all threads.
     *
     * @return ns
     */
    public long totalNs() {
        return total().totalNs();
    }

    /**
     * Elements per second over summed brick time.
     *
     * @return elements/s, 0 where no time was measured
     */
    public double totalThroughput() {
        return total().throughput();
    }

    private CategoryStats total() {
        return CategoryStats.sum(categoryStats().values());
    }

    /**
     * Everything known now: immutable, consistent brick by brick, and fit to be merged. Measures nothing itself; what
     * recording costs is 0, for not known, where the first profiler was switched on a second ago or less.
     *
     * @return the snapshot
     */
    public ProfileSnapshot snapshot() {
        Results.Settings settings = settings(droppedPending.get(), resolver.overlaps());
        return results.snapshot(timing.read(), tiles.snapshot(), period.until(clock.nanoTime()), settings);
    }

    /**
     * Takes a snapshot and begins anew. No sample is lost or counted twice, even while others record: each is in
     * exactly one of consecutive snapshots. Pending measurements stay pending.
     *
     * @return the snapshot
     */
    public ProfileSnapshot snapshotAndReset() {
        RunPeriod.Part part = period.endAndRestart(clock.nanoTime());
        Results.Settings settings = settings(droppedPending.getAndSet(0), resolver.takeOverlaps());
        return results.snapshot(timing.readAndReset(), tiles.snapshotAndReset(), part, settings);
    }

    /**
     * Forgets all samples and tiles, everything that is pending, checksums and the graph; the next layer of each thread is
     * number 0 of a new pass. Names, keys, bottlenecks and settings stay, and so does what a sink was given. Samples that
     * are recorded at the same time count as before or after.
     */
    public void reset() {
        forget();
        layers.reset();
    }

    /** Forgets what {@link #reset} does, while passes that are under way go on. */
    void forget() {
        resolver.discard();
        timing.discard();
        timing.readAndReset();
        tiles.reset();
        checksums.reset();
        timing.follower.reset();
        droppedPending.set(0);
        resolver.takeOverlaps();
        period.endAndRestart(clock.nanoTime());
    }

    /** Marks on the timeline, if there is one, which phase of a run begins. */
    void beginPhase(Schedule.Phase phase) {
        registry.phase(phase.index(), clock.nanoTime());
    }

    private Results.Settings settings(long dropped, long overlaps) {
        return new Results.Settings(
                dropped, pendingCount(), overlaps, l2CacheHitRate, zeroCopy, !tiles.isEnabled());
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
        Objects.requireNonNull(bottleneck, "bottleneck");
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
     * A device stream, for bricks that are enqueued there.
     *
     * @param name the name that the builder was given, or that the stream has
     * @return what starts bricks on it
     * @throws IllegalArgumentException when there is no stream of that name, or it is null
     */
    public BrickStream stream(String name) {
        requireStreamName(name);
        if (timing instanceof DeviceTiming devices) {
            return new BrickStream(this, devices, devices.stream(name));
        }
        throw new IllegalArgumentException("no device stream is named '" + name + "': there are none");
    }

    /**
     * The profiler of tiles, with a switch of its own. {@link #reset()} empties it too.
     *
     * @return always the same object
     */
    public TileProfiler tiles() {
        return tiles;
    }

    /**
     * The log of checksums, for finding the first brick whose output differs from that of another run. It has no switch:
     * whoever calls it wants an entry. An entry carries the time of the brick that the calling thread was timing, or had
     * timed last, when it recorded the output: see {@link ChecksumLog#ChecksumLog(ChecksumOptions, OwnSamples)}. With
     * device streams it carries none, except in {@link SyncMode#NONE}. Its layer may be {@link #currentLayer}. What it
     * takes of an output is {@link BrickProfilerBuilder#checksums}. {@link #reset()} empties it too.
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
            timing.follow(GraphFollower.of(recorder, names));
        }
        return recorder;
    }
}
