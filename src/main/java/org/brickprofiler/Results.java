package org.brickprofiler;

import static org.brickprofiler.internal.io.Checks.requirePositive;

import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import org.brickprofiler.device.StreamTotals;
import org.brickprofiler.graph.GraphRecorder;
import org.brickprofiler.internal.device.DeviceFigures;
import org.brickprofiler.internal.record.NameTable;
import org.brickprofiler.internal.record.RunPeriod;
import org.brickprofiler.internal.record.SelfCost;
import org.brickprofiler.internal.record.StatRow;
import org.brickprofiler.internal.record.StatSums;
import org.brickprofiler.internal.record.WorkSums;
import org.brickprofiler.stats.LatencyDistribution;
import org.brickprofiler.tile.TileProfiler;
import org.brickprofiler.tile.TileStats;
import org.jspecify.annotations.Nullable;

/** Makes snapshots of rows of sums and of the facts that the application has given. Any thread. */
final class Results {

    private final NameTable names;
    private final RunPeriod period;
    private final SelfCost selfCost;
    private final @Nullable RunIdentity identity;
    private final ConcurrentHashMap<Integer, Bottleneck> bottlenecks = new ConcurrentHashMap<>();

    private volatile OptionalDouble l2CacheHitRate = OptionalDouble.empty();
    private volatile boolean zeroCopy;
    private volatile OptionalDouble tokensPerSec = OptionalDouble.empty();
    private volatile @Nullable Calibration calibration;

    /** The facts of a snapshot apart from its samples. */
    record Settings(
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
     */
    record Recorded(
            StatSums sums,
            @Nullable DeviceFigures figures,
            @Nullable StatSums workSums) {

        StatRow row(int key) {
            return sums.row(key);
        }

        DeviceTime device(int key) {
            if (figures == null) {
                return DeviceTime.NONE;
            }
            StatRow launches = figures.launches(key);
            return new DeviceTime(
                    figures.samples(key),
                    launches.count(),
                    launches.totalNs(),
                    launches.count() == 0 ? 0 : launches.minNs(),
                    launches.maxNs(),
                    figures.unresolved(key),
                    figures.withoutStart(key));
        }

        Work work(int key) {
            if (workSums == null || workSums.row(key).count() == 0) {
                return Work.NONE;
            }
            StatRow row = workSums.row(key);
            return new Work(WorkSums.flops(row), WorkSums.bytes(row), row.maxNs());
        }

        /** Threads that recorded. One that set marks may also have recorded otherwise, and is counted once. */
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
        requirePositive("tokens per second", rate);
        tokensPerSec = OptionalDouble.of(rate);
    }

    void setCalibration(Calibration measured) {
        calibration = measured;
    }

    /** Returns these facts and the given numbers, with the nesting of bricks as far as a graph has recorded it. */
    Settings settings(
            long droppedPending, long pending, long overlaps, boolean tilesOff, @Nullable GraphRecorder graph) {
        Calibration measured = calibration;
        RunFacts facts = new RunFacts(
                tokensPerSec,
                OptionalDouble.empty(),
                Map.of(),
                List.of(),
                RunFacts.VirtualMachine.current().stream().toList(),
                measured == null ? List.of() : List.of(measured),
                measured == null || graph == null ? Map.of() : graph.graph().nesting());
        return new Settings(
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

    BrickStats brick(int key, Recorded reading) {
        String name = names.name(key);
        BrickCategory category = BrickCategory.of(names.tag(key));
        Bottleneck bottleneck = bottlenecks.getOrDefault(key, Bottleneck.UNKNOWN);
        StatRow row = reading.row(key);
        DeviceTime device = reading.device(key);
        return BrickStats.builder(name, category)
                .bottleneck(bottleneck)
                .samples(row.count(), row.totalNs(), row.count() == 0 ? 0 : row.minNs(), row.maxNs())
                .last(row.lastNs(), row.count() == 0 ? 0 : period.unixNs(row.lastAtNs()))
                .elements(row.elements())
                .bytes(row.bytes(), row.compressedBytes())
                .cycles(row.cycles(), row.cycles() == 0 ? 0 : row.minCycles(), row.maxCycles())
                .latency(Optional.ofNullable(reading.sums().buckets(key)).map(LatencyDistribution::ofCounts))
                .device(device)
                .work(reading.work(key))
                .build();
    }

    List<BrickStats> bricks(Recorded reading) {
        return IntStream.range(0, names.size())
                .mapToObj(key -> brick(key, reading))
                .filter(BrickStats::isRecorded)
                .sorted(BrickStats.LARGEST_FIRST)
                .toList();
    }

    ProfileSnapshot snapshot(
            Recorded reading,
            TileProfiler.Snapshot tiles,
            StepRecorder.Reading stepped,
            RunPeriod.Part part,
            Settings settings) {
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
                .tiles(tiles.levels())
                .streams(reading.streams())
                .steps(stepped.steps())
                .requests(stepped.requests())
                .requestTimeline(stepped.timeline().get())
                .facts(settings.facts())
                .identity(identity(settings.identity(), stepped, reading.streams()))
                .build();
    }

    /** Completes an identity with the recorded steps and devices. */
    static RunIdentity identity(RunIdentity said, StepRecorder.Reading stepped, List<StreamTotals> streams) {
        RunIdentity.Builder identity = said.toBuilder();
        if (stepped.end() > stepped.first()) {
            identity.steps(stepped.first(), stepped.end() - 1);
        }
        if (said.phase().isEmpty() && stepped.steps().phases().size() == 1) {
            identity.phase(stepped.steps().phases().get(0).phase().name().toLowerCase(Locale.ROOT));
        }
        List<String> devices =
                streams.stream().map(StreamTotals::device).distinct().toList();
        if (said.device().isEmpty() && devices.size() == 1 && !devices.get(0).isEmpty()) {
            identity.device(devices.get(0));
        }
        return identity.build();
    }
}
