package org.brickprofiler;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.brickprofiler.device.MarkCost;
import org.brickprofiler.device.StreamTotals;
import org.brickprofiler.graph.GraphRecorder;
import org.brickprofiler.internal.base.Sums;
import org.brickprofiler.internal.device.DeviceFigures;
import org.brickprofiler.internal.device.DeviceRecorder;
import org.brickprofiler.internal.device.Estimate;
import org.brickprofiler.internal.record.NameTable;
import org.brickprofiler.internal.record.PhaseKey;
import org.brickprofiler.internal.record.RowCounts;
import org.brickprofiler.internal.record.RunPeriod;
import org.brickprofiler.internal.record.SelfCost;
import org.brickprofiler.internal.record.StatRow;
import org.brickprofiler.internal.record.StatSums;
import org.brickprofiler.internal.record.WorkSums;
import org.brickprofiler.stats.LatencyDistribution;
import org.brickprofiler.tile.TileProfiler;
import org.brickprofiler.tile.TileStats;
import org.jspecify.annotations.Nullable;

/** Creates snapshots from the rows of sums and from the facts that the application has set. Thread-safe. */
final class Results {

    private final NameTable names;
    private final RunPeriod period;
    private final SelfCost selfCost;
    private final @Nullable RunIdentity identity;
    private final ConcurrentHashMap<Integer, Bottleneck> bottlenecks = new ConcurrentHashMap<>();

    private volatile OptionalDouble l2CacheHitRate = OptionalDouble.empty();
    private volatile boolean zeroCopy;
    /** The rate that the application has reported; empty before that. A value that is no rate makes it unknown. */
    private volatile OptionalDouble tokensPerSec = OptionalDouble.empty();

    private volatile @Nullable Calibration calibration;

    /** The facts of a snapshot apart from its samples. */
    record SnapshotFacts(
            long droppedPending,
            long pending,
            long literalOverlaps,
            OptionalDouble l2CacheHitRate,
            boolean zeroCopy,
            boolean tilesOff,
            RunFacts facts,
            RunIdentity identity) {}

    /**
     * The sums of all recording threads at one moment. Immutable.
     *
     * @param sums the sums of every requested row
     * @param figures the further sums of devices, or null without devices
     * @param workSums the rows of {@link WorkSums}, or null if no work was recorded
     * @param unresolved the samples whose timers could not hold their time
     */
    record Recorded(
            StatSums sums,
            @Nullable DeviceFigures figures,
            @Nullable StatSums workSums,
            RowCounts.Reading unresolved) {

        /**
         * Reads the sums of some bricks; with devices, at a moment at which nothing is being resolved.
         *
         * @param withBuckets whether to read the distributions of the bricks, too
         */
        static Recorded read(
                SampleTables tables,
                @Nullable DeviceRecorder marks,
                WorkSums work,
                int fromKey,
                int toKey,
                boolean withBuckets) {
            return quietly(
                    marks,
                    () -> new Recorded(
                            tables.registry.read(fromKey, toKey, withBuckets),
                            marks == null ? null : marks.figures(fromKey, toKey),
                            work.read(fromKey, toKey),
                            tables.unresolved.read(fromKey, toKey)));
        }

        /** Reads the sums of all bricks in the same way, and forgets them. */
        static Recorded readAndReset(SampleTables tables, @Nullable DeviceRecorder marks, WorkSums work) {
            return quietly(
                    marks,
                    () -> new Recorded(
                            tables.readAndResetSums(),
                            marks == null ? null : marks.figuresAndReset(),
                            work.readAndReset(),
                            tables.unresolved.readAndReset()));
        }

        private static Recorded quietly(@Nullable DeviceRecorder marks, Supplier<Recorded> reading) {
            return marks == null ? reading.get() : marks.whileQuiet(reading);
        }

        DeviceTime device(int key) {
            long ofTimers = unresolved.of(key);
            return figures == null
                    ? onHost(ofTimers)
                    : device(
                            figures.samples(key),
                            figures.launches(key),
                            ofTimers + figures.unresolved(key),
                            figures.withoutStart(key),
                            figures.estimate(key),
                            figures.markCost(key),
                            figures.marksInside(key));
        }

        DeviceTime device(int phase, int key) {
            long ofTimers = unresolved.of(phase, key);
            return figures == null
                    ? onHost(ofTimers)
                    : device(
                            figures.samples(phase, key),
                            figures.launches(phase, key),
                            ofTimers + figures.unresolved(phase, key),
                            figures.withoutStart(phase, key),
                            figures.estimate(phase, key),
                            figures.markCost(phase, key),
                            figures.marksInside(phase, key));
        }

        private static DeviceTime onHost(long unresolved) {
            return unresolved == 0 ? DeviceTime.NONE : new DeviceTime(0, 0, 0, 0, 0, unresolved);
        }

        private static DeviceTime device(
                long samples,
                StatRow launches,
                long unresolved,
                long withoutStart,
                Estimate estimate,
                MarkCost cost,
                long marksInside) {
            return new DeviceTime(
                    samples,
                    launches.count(),
                    launches.totalNs(),
                    launches.count() == 0 ? 0 : launches.minNs(),
                    launches.maxNs(),
                    unresolved,
                    withoutStart,
                    estimate.unmarked(),
                    Math.sqrt(estimate.variance()),
                    estimate.degreesOfFreedom(),
                    Math.sqrt(estimate.openVariance()),
                    estimate.weightProducts(),
                    marks(samples + estimate.unmarked(), cost, marksInside));
        }

        private static DeviceTime.MarkTime marks(long samples, MarkCost cost, long inside) {
            return cost.isKnown()
                    ? new DeviceTime.MarkTime(
                            samples,
                            Math.round(samples * cost.brickNs() + inside * cost.markNs()),
                            Math.round((samples + inside) * cost.errorNs()))
                    : DeviceTime.MarkTime.NONE;
        }

        Estimate estimate(int key) {
            return figures == null ? Estimate.NONE : figures.estimate(key);
        }

        Estimate estimate(int phase, int key) {
            return figures == null ? Estimate.NONE : figures.estimate(phase, key);
        }

        /** Returns the counts of the durations of a brick by bucket, or null. */
        long @Nullable [] buckets(int key) {
            long[] counted = sums.buckets(key);
            for (int phase = 0; counted != null && phase < PhaseKey.PHASES; phase++) {
                counted = withUnmarked(phase, key, counted);
            }
            return counted;
        }

        /** Returns the counts of the durations of a brick in a phase by bucket, or null. */
        long @Nullable [] buckets(int phase, int key) {
            long[] counted = sums.buckets(phase, key);
            return counted == null ? null : withUnmarked(phase, key, counted);
        }

        private long[] withUnmarked(int phase, int key, long[] counted) {
            if (estimate(phase, key).unmarked() == 0) {
                return counted;
            }
            long[] all = counted.clone();
            Objects.requireNonNull(figures).addBuckets(phase, key, all);
            return all;
        }

        Work work(int key) {
            return workSums == null ? Work.NONE : work(workSums.row(key));
        }

        Work work(int phase, int key) {
            return workSums == null ? Work.NONE : work(workSums.row(phase, key));
        }

        private static Work work(StatRow row) {
            return row.count() == 0 ? Work.NONE : new Work(WorkSums.flops(row), WorkSums.bytes(row), row.maxNs());
        }

        /**
         * Returns the number of threads that recorded by the host's clock or of those that set marks, whichever is
         * larger: a thread may have done both.
         */
        int threads() {
            return figures == null ? sums.threads() : Math.max(sums.threads(), figures.threads());
        }

        boolean virtualThreads() {
            return sums.virtualThreads() || (figures != null && figures.virtualThreads());
        }

        List<StreamTotals> streams() {
            return figures == null ? List.of() : figures.streams();
        }
    }

    Results(NameTable names, RunPeriod period, SelfCost selfCost, @Nullable RunIdentity identity) {
        this.names = names;
        this.period = period;
        this.selfCost = selfCost;
        this.identity = identity;
    }

    /**
     * Loads the classes that make a first snapshot slow. A named class: the first lambda of a virtual machine takes
     * long.
     */
    static final class FirstUses implements Runnable {
        @Override
        public void run() {
            Environment.current();
            RunFacts.VirtualMachine.current();
        }
    }

    // ---- facts that the application has given ----

    void setBottleneck(int key, Bottleneck bottleneck) {
        bottlenecks.put(key, bottleneck);
    }

    void setL2CacheHitRate(double rate) {
        if (Double.isNaN(rate)) {
            throw new IllegalArgumentException("L2 cache hit rate " + rate + " is not a number");
        }
        l2CacheHitRate = OptionalDouble.of(Math.max(0.0, Math.min(1.0, rate)));
    }

    OptionalDouble l2CacheHitRate() {
        return l2CacheHitRate;
    }

    void setZeroCopy(boolean on) {
        zeroCopy = on;
    }

    boolean isZeroCopy() {
        return zeroCopy;
    }

    void setTokensPerSec(double rate) {
        if (rate < 0) {
            throw new IllegalArgumentException("tokens per second " + rate + " is negative");
        }
        tokensPerSec = OptionalDouble.of(rate);
    }

    /** Measures the cost of timing a brick, for later snapshots. The measurement does not count as time of the run. */
    void calibrate(BrickProfiler profiler, Calibrator.Way way) {
        boolean wasOn = profiler.isEnabled();
        period.pause(profiler.nowNs());
        calibration = Calibrator.measure(way);
        if (wasOn) {
            period.resume(profiler.nowNs());
        }
    }

    /** Returns these facts and the given numbers, with the nesting of bricks as far as a graph has recorded it. */
    SnapshotFacts settings(
            long droppedPending, long pending, long overlaps, boolean tilesOff, @Nullable GraphRecorder graph) {
        Calibration measured = calibration;
        OptionalDouble reported = tokensPerSec;
        boolean isRate = reported.isPresent() && reported.getAsDouble() > 0 && Double.isFinite(reported.getAsDouble());
        RunFacts facts = new RunFacts(
                isRate ? reported : OptionalDouble.empty(),
                OptionalDouble.empty(),
                Map.of(),
                reported.isEmpty() || isRate
                        ? List.of()
                        : List.of("tokens/s is unknown: the application reported " + reported.getAsDouble()
                                + ", as of a run without tokens or without time"),
                RunFacts.VirtualMachine.current().stream().toList(),
                measured == null ? List.of() : List.of(measured),
                measured == null || graph == null ? Map.of() : graph.graph().nesting());
        return new SnapshotFacts(
                droppedPending,
                pending,
                overlaps,
                l2CacheHitRate,
                zeroCopy,
                tilesOff,
                facts,
                RunIdentity.complete(identity));
    }

    // ---- snapshots ----

    /** Returns the stats of a brick over all phases. */
    BrickStats brick(int key, Recorded reading) {
        return brick(key, reading.sums().row(key), reading.estimate(key), reading.buckets(key))
                .device(reading.device(key))
                .work(reading.work(key), workSamples(key, reading))
                .build();
    }

    /**
     * Returns the number of samples whose work is known: those of the phases that have work. If work was recorded only
     * outside of steps, or outside of steps although no sample was, the samples of this work are unknown, and it counts
     * as the work of all samples.
     */
    private static long workSamples(int key, Recorded reading) {
        long samples = 0;
        boolean isOfPhases = false;
        for (int phase = 0; phase < PhaseKey.PHASES; phase++) {
            Work done = reading.work(phase, key);
            long count = reading.sums().row(phase, key).count()
                    + reading.estimate(phase, key).unmarked();
            if (done.flops() > 0 || done.bytes() > 0) {
                if (phase == PhaseKey.NO_PHASE && count == 0) {
                    return Long.MAX_VALUE;
                }
                samples += count;
                isOfPhases |= phase != PhaseKey.NO_PHASE;
            }
        }
        return isOfPhases ? samples : Long.MAX_VALUE;
    }

    /** Returns the stats of a brick in a phase. */
    BrickStats brick(int phase, int key, Recorded reading) {
        return brick(key, reading.sums().row(phase, key), reading.estimate(phase, key), reading.buckets(phase, key))
                .device(reading.device(phase, key))
                .work(reading.work(phase, key))
                .build();
    }

    private BrickStats.Builder brick(int key, StatRow row, Estimate estimate, long @Nullable [] buckets) {
        BrickCategory category = BrickCategory.of(names.tag(key));
        return BrickStats.builder(names.name(key), category)
                .bottleneck(bottlenecks.getOrDefault(key, Bottleneck.UNKNOWN))
                .samples(
                        row.count() + estimate.unmarked(),
                        Sums.limited(row.totalNs(), estimate.unmarkedNs()),
                        row.count() == 0 ? 0 : row.minNs(),
                        row.maxNs())
                .last(row.lastNs(), row.count() == 0 ? 0 : period.unixNs(row.lastAtNs()))
                .elements(Sums.limited(row.elements(), estimate.elements()))
                .bytes(row.bytes(), row.compressedBytes())
                .cycles(row.cycles(), row.minCycles() == Long.MAX_VALUE ? 0 : row.minCycles(), row.maxCycles())
                .latency(Optional.ofNullable(buckets).map(LatencyDistribution::ofCounts));
    }

    List<BrickStats> bricks(Recorded reading) {
        return bricks(key -> brick(key, reading));
    }

    /** Returns the bricks of each phase that has any. */
    private Map<StepInfo.Phase, List<BrickStats>> phases(Recorded reading) {
        Map<StepInfo.Phase, List<BrickStats>> phases = new EnumMap<>(StepInfo.Phase.class);
        for (StepInfo.Phase phase : StepInfo.Phase.values()) {
            List<BrickStats> bricks = bricks(key -> brick(phase.number(), key, reading));
            if (!bricks.isEmpty()) {
                phases.put(phase, bricks);
            }
        }
        return phases;
    }

    private List<BrickStats> bricks(IntFunction<BrickStats> byKey) {
        return IntStream.range(0, names.size())
                .mapToObj(byKey)
                .filter(BrickStats::isRecorded)
                .sorted(BrickStats.LARGEST_FIRST)
                .toList();
    }

    ProfileSnapshot snapshot(
            Recorded reading,
            TileProfiler.Snapshot tiles,
            StepRecorder.Reading stepped,
            RunPeriod.Part part,
            SnapshotFacts settings) {
        List<BrickStats> bricks = bricks(reading);
        long samples = bricks.stream().mapToLong(BrickStats::count).sum()
                + tiles.levels().stream().mapToLong(TileStats::count).sum();
        return ProfileSnapshot.builder(part.startedAt(), part.endedAt(), part.coveredNs())
                .threads(
                        Math.max(reading.threads(), tiles.threads()),
                        reading.virtualThreads() || tiles.virtualThreads())
                .overheadNs(Math.round(samples * selfCost.perSampleNs()))
                .deferred(settings.droppedPending(), settings.pending(), settings.literalOverlaps())
                .l2CacheHitRate(settings.l2CacheHitRate())
                .zeroCopy(settings.zeroCopy())
                .tilesOff(settings.tilesOff())
                .environments(List.of(Environment.current()))
                .bricks(bricks)
                .phases(phases(reading))
                .tiles(tiles.levels())
                .streams(reading.streams())
                .steps(stepped.steps())
                .requests(stepped.requests())
                .requestTimeline(stepped.timeline().get())
                .facts(settings.facts())
                .identity(identity(settings.identity(), stepped, reading.streams()))
                .build();
    }

    /** Completes an identity with the recorded steps, their phase and the device. */
    static RunIdentity identity(RunIdentity said, StepRecorder.Reading stepped, List<StreamTotals> streams) {
        RunIdentity.Builder identity = said.toBuilder();
        if (stepped.end() > stepped.first()) {
            identity.steps(stepped.first(), stepped.end() - 1);
        }
        if (said.phase().isEmpty() && stepped.steps().phases().size() == 1) {
            identity.phase(stepped.steps().phases().get(0).phase().displayName());
        }
        List<String> devices =
                streams.stream().map(StreamTotals::device).distinct().toList();
        if (said.device().isEmpty() && devices.size() == 1 && !devices.get(0).isEmpty()) {
            identity.device(devices.get(0));
        }
        return identity.build();
    }
}
