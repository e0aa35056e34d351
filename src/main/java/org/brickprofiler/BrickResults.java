package org.brickprofiler;

import static org.brickprofiler.internal.io.Checks.requirePositive;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import org.brickprofiler.graph.GraphRecorder;
import org.brickprofiler.tile.TileProfiler;
import org.jspecify.annotations.Nullable;

/** The part of a profiler that answers what was recorded, and keeps what the application knows besides. */
abstract sealed class BrickResults extends BrickSamples permits BrickProfiler {

    final RunPeriod period;
    final SelfCost selfCost;
    final Results results;
    final TileProfiler tiles;

    private final @Nullable RunIdentity identity;

    private volatile OptionalDouble l2CacheHitRate = OptionalDouble.empty();
    private volatile boolean zeroCopy;
    private volatile OptionalDouble tokensPerSec = OptionalDouble.empty();
    private volatile @Nullable Calibration calibration;

    /** Whether the profile of the process has this profiler. Guarded by {@link ProfileOutput}. */
    boolean isInOutput;

    /** Who reads windows of what is recorded. */
    final WindowReaders windows = new WindowReaders();

    BrickResults(BrickProfilerBuilder options) {
        super(options);
        period = new RunPeriod(options.clock.nanoTime());
        selfCost = SelfCost.of(options.percentiles, registry.hasSpans());
        results = new Results(names, period, selfCost);
        tiles = new TileProfiler(options.clock, options.tracing);
        identity = options.identity;
    }

    /** The profiler. */
    abstract BrickProfiler self();

    /** What was recorded of the bricks with keys from one to before another. */
    abstract Results.Recorded readRecorded(int fromKey, int toKey);

    // ---- results ----

    /**
     * What was recorded of a known brick.
     *
     * @param id the brick
     * @return its stats, never null; zero throughout where nothing was recorded
     */
    public BrickStats brickStats(BrickId id) {
        int key = id.index();
        return results.brick(key, readRecorded(key, key + 1));
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
                : Optional.of(results.brick(key, readRecorded(key, key + 1))).filter(BrickStats::isRecorded);
    }

    /**
     * What was recorded, brick by brick.
     *
     * @return the bricks that have samples, largest total first; cannot be changed
     */
    public List<BrickStats> allBrickStats() {
        return results.bricks(readRecorded(0, names.size()));
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
     * The profiler of tiles, with a switch of its own. {@link BrickProfiler#reset()} empties it too.
     *
     * @return always the same object
     */
    public TileProfiler tiles() {
        return tiles;
    }

    /**
     * Writes what is recorded as files of JSON, one for each window of time, while the application runs: see
     * {@link WindowExport}. Windows end at multiples of their length since 2026-01-01T00:00Z, so that those of all
     * ranks with one number are of one time as far as the clocks of their hosts agree.
     *
     * @param length of a window, 100 ms or more
     * @param folder where to; made where it does not exist
     * @return what ends the export; it goes on until the virtual machine ends where that is not called
     * @throws IllegalArgumentException when the length is too short
     * @throws IllegalStateException when the library for JSON, jackson-core, is missing
     */
    public WindowExport exportEvery(Duration length, Path folder) {
        Objects.requireNonNull(folder, "folder");
        return WindowExport.start(self(), WindowExport.Every.time(length), folder);
    }

    /**
     * Writes what is recorded as files of JSON, one for so many steps, while the application runs: see
     * {@link WindowExport}. The number of a window is that of its first step by the number of steps. What bricks of the
     * next step have recorded when a window is read, some 10 us to some ms after its last step, is in it; later steps
     * that have ended by then are.
     *
     * @param steps how many, 1 or more
     * @param folder where to; made where it does not exist
     * @return what ends the export; it goes on until the virtual machine ends where that is not called
     * @throws IllegalArgumentException when the number is below 1
     * @throws IllegalStateException when the library for JSON, jackson-core, is missing
     */
    public WindowExport exportEvery(long steps, Path folder) {
        Objects.requireNonNull(folder, "folder");
        return WindowExport.start(self(), WindowExport.Every.steps(steps), folder);
    }

    // ---- what the application knows ----

    /**
     * Says what limits a brick. Kept by {@link BrickProfiler#reset()}.
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
     * Says how often the L2 cache was hit. Kept by {@link BrickProfiler#reset()}.
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
     * Says whether transfers between host and device copy nothing. Kept by {@link BrickProfiler#reset()}.
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
     * Says how fast the run was by the application's own measure, for whoever compares runs; most useful while the
     * profiler is switched off, since it is then the speed without its cost. Kept by {@link BrickProfiler#reset()}.
     *
     * @param rate tokens/s
     * @throws IllegalArgumentException when the rate is not a finite number above 0
     */
    public void setTokensPerSec(double rate) {
        requirePositive("tokens per second", rate);
        tokensPerSec = OptionalDouble.of(rate);
    }

    /** From now on, snapshots hold what timing a brick costs. */
    void setCalibration(Calibration measured) {
        calibration = measured;
    }

    /**
     * What the profiler knows besides samples, with how bricks lie inside each other as far as a graph has recorded it.
     */
    Results.Settings settings(long droppedPending, long pending, long overlaps, @Nullable GraphRecorder graph) {
        Calibration measured = calibration;
        RunFacts facts = new RunFacts(
                tokensPerSec,
                OptionalDouble.empty(),
                Map.of(),
                List.of(),
                RunFacts.VirtualMachine.current().stream().toList(),
                measured == null ? List.of() : List.of(measured),
                measured == null || graph == null ? Map.of() : graph.graph().nesting());
        return new Results.Settings(
                droppedPending,
                pending,
                overlaps,
                l2CacheHitRate,
                zeroCopy,
                !tiles.isEnabled(),
                facts,
                LaunchSettings.complete(identity));
    }
}
