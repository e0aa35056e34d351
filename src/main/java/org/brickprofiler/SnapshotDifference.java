package org.brickprofiler;

import java.time.Instant;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.brickprofiler.device.StreamTotals;
import org.brickprofiler.internal.io.Sums;
import org.brickprofiler.internal.record.WindowReaders;
import org.brickprofiler.request.RequestStats;
import org.brickprofiler.request.RequestTimeline;
import org.brickprofiler.stats.LatencyDistribution;
import org.brickprofiler.tile.TileLevel;
import org.brickprofiler.tile.TileStats;
import org.jspecify.annotations.Nullable;

/**
 * The samples that a profiler recorded between two of its snapshots without a reset between them: the inverse of
 * {@link ProfileSnapshot#merge}. All sums are exact.
 *
 * <p>The profiler keeps extremes only since its last reset. An extreme that changed between the snapshots is exact, as
 * is the extreme of a single sample. With percentiles, any other is exact within
 * {@link LatencyDistribution#RELATIVE_ERROR}. Without percentiles, the given longest duration is a lower bound and the
 * given shortest one an upper bound: the larger or the smaller of the latest sample and the mean of the others. The
 * extremes of all differences together are those of the whole. Stateless and thread-safe.
 */
final class SnapshotDifference implements WindowReaders.Arithmetic<ProfileSnapshot> {

    @Override
    public ProfileSnapshot merge(ProfileSnapshot earlier, ProfileSnapshot later) {
        long wallNs = Sums.limited(earlier.wallNs(), later.wallNs());
        if (isEmpty(earlier)) {
            return later.toBuilder(earlier.startedAt(), later.endedAt(), wallNs).build();
        }
        if (isEmpty(later)) {
            return earlier.toBuilder(earlier.startedAt(), later.endedAt(), wallNs)
                    .build()
                    .withUnfinishedOf(later);
        }
        return earlier.merge(later);
    }

    @Override
    public ProfileSnapshot difference(ProfileSnapshot earlier, ProfileSnapshot later) {
        return between(earlier, later);
    }

    @Override
    public ProfileSnapshot withUnfinishedOf(ProfileSnapshot window, @Nullable ProfileSnapshot other) {
        return window.withUnfinishedOf(other);
    }

    /** Removes the timeline of requests, which a snapshot since a reset contains and a difference does not. */
    @Override
    public ProfileSnapshot window(ProfileSnapshot samples) {
        return samples.toBuilder().requestTimeline(RequestTimeline.NONE).build();
    }

    static ProfileSnapshot between(ProfileSnapshot earlier, ProfileSnapshot later) {
        Map<StepInfo.Phase, List<BrickStats>> phases = new EnumMap<>(StepInfo.Phase.class);
        later.phases().forEach((phase, bricks) -> phases.put(phase, bricks(earlier.bricks(phase), bricks)));
        Map<StreamTotals.Key, StreamTotals> streams = new HashMap<>();
        earlier.streams().forEach(stream -> streams.put(stream.key(), stream));
        OptionalLong last = earlier.identity().lastStep();
        long firstStep = last.isPresent()
                ? last.getAsLong() + 1
                : later.identity().firstStep().orElse(0);
        long endStep = later.identity().lastStep().orElse(-1) + 1;
        Steps steps = steps(earlier.steps(), later.steps(), firstStep);
        RequestStats requests = later.requests().since(earlier.requests());
        return ProfileSnapshot.builder(
                        latest(earlier.endedAt(), later.startedAt()),
                        later.endedAt(),
                        more(earlier.wallNs(), later.wallNs()))
                .threads(later.threads(), later.virtualThreads())
                .overheadNs(more(earlier.overheadNs(), later.overheadNs()))
                .deferred(
                        more(earlier.droppedPending(), later.droppedPending()),
                        later.pending(),
                        more(earlier.literalOverlaps(), later.literalOverlaps()))
                .l2CacheHitRate(later.l2CacheHitRate())
                .zeroCopy(later.zeroCopy())
                .tilesOff(later.tilesOff())
                .environments(later.environments())
                .bricks(bricks(earlier.bricks(), later.bricks()))
                .phases(phases)
                .tiles(later.tiles().stream()
                        .map(tile -> tile(tile(earlier, tile.level()), tile))
                        .toList())
                .streams(later.streams().stream()
                        .map(stream -> stream(streams.get(stream.key()), stream))
                        .toList())
                .steps(steps)
                .requests(requests)
                .facts(later.facts())
                .identity(Results.identity(
                        later.identity().toBuilder().noSteps().build(),
                        new StepRecorder.Reading(steps, requests, () -> RequestTimeline.NONE, firstStep, endStep),
                        later.streams()))
                .build();
    }

    private static List<BrickStats> bricks(List<BrickStats> earlier, List<BrickStats> later) {
        Map<String, BrickStats> before = new HashMap<>();
        earlier.forEach(brick -> before.put(key(brick), brick));
        return later.stream().map(brick -> brick(before.get(key(brick)), brick)).toList();
    }

    private static TileStats tile(ProfileSnapshot snapshot, TileLevel level) {
        return snapshot.tiles().stream()
                .filter(tile -> tile.level() == level)
                .findFirst()
                .orElseThrow();
    }

    private static Instant latest(Instant one, Instant two) {
        return one.isAfter(two) ? one : two;
    }

    private static long more(long earlier, long later) {
        return Math.max(0, later - earlier);
    }

    private static String key(BrickStats brick) {
        return brick.category().name() + " " + brick.name();
    }

    /** The known extremes of some samples. */
    private record Extremes(long min, long max) {

        /**
         * Returns the extremes of the samples between two readings of sums.
         *
         * @param count number of samples, 1 or more
         * @param sum the sum of their durations, ns
         * @param last the duration of the last one, ns
         * @param spread the distribution of all of them; empty if it is unknown
         */
        static Extremes of(
                Extremes earlier, Extremes later, long count, long sum, long last, LatencyDistribution spread) {
            long others = count == 1 ? last : (sum - last) / (count - 1);
            boolean isSpreadKnown = spread.count() > 0;
            long likelyMin = isSpreadKnown ? spread.percentileNs(0) : Math.min(last, others);
            long likelyMax = isSpreadKnown ? spread.percentileNs(100) : Math.max(last, others);
            long min = later.min < earlier.min ? later.min : Math.max(later.min, Math.min(likelyMin, later.max));
            long max = later.max > earlier.max ? later.max : Math.min(later.max, Math.max(likelyMax, later.min));
            return new Extremes(Math.min(min, last), Math.max(max, last));
        }
    }

    private static BrickStats brick(@Nullable BrickStats earlier, BrickStats later) {
        if (earlier == null) {
            return later;
        }
        DeviceTime device = device(earlier.device(), later.device());
        Work work = work(earlier.work(), later.work());
        long workSamples = later.hasWorkOfAll() ? Long.MAX_VALUE : more(earlier.workSamples(), later.workSamples());
        long count = more(earlier.count(), later.count());
        BrickStats none = BrickStats.empty(later.name(), later.category(), later.bottleneck());
        if (count == 0) {
            return BrickStats.builder(none.name(), none.category())
                    .bottleneck(none.bottleneck())
                    .latency(none.latency())
                    .device(device)
                    .work(work, workSamples)
                    .build();
        }
        if (earlier.count() == 0) {
            // Its device time and its work may have been recorded before its first sample.
            return later.toBuilder().device(device).work(work, workSamples).build();
        }
        long totalNs = more(earlier.totalNs(), later.totalNs());
        long cycles = more(earlier.totalCycles(), later.totalCycles());
        Optional<LatencyDistribution> latency =
                later.latency().flatMap(all -> earlier.latency().map(all::since));
        Extremes times = Extremes.of(
                new Extremes(earlier.minNs(), earlier.maxNs()),
                new Extremes(later.minNs(), later.maxNs()),
                count,
                totalNs,
                count == 1 ? totalNs : later.lastNs(),
                latency.orElse(LatencyDistribution.EMPTY));
        boolean firstCycles = earlier.totalCycles() == 0;
        return BrickStats.builder(later.name(), later.category())
                .bottleneck(later.bottleneck())
                .samples(count, totalNs, times.min, times.max)
                .last(later.lastNs(), later.lastAtUnixNs())
                .elements(more(earlier.totalElements(), later.totalElements()))
                .bytes(
                        more(earlier.totalBytes(), later.totalBytes()),
                        more(earlier.totalCompressedBytes(), later.totalCompressedBytes()))
                .cycles(
                        cycles,
                        firstCycles || later.minCycles() < earlier.minCycles() ? later.minCycles() : cycles / count,
                        later.maxCycles() > earlier.maxCycles() ? later.maxCycles() : cycles / count)
                .latency(latency)
                .device(device)
                .work(work, workSamples)
                .build();
    }

    private static DeviceTime device(DeviceTime earlier, DeviceTime later) {
        long launches = more(earlier.launches(), later.launches());
        long launchNs = more(earlier.launchNs(), later.launchNs());
        Extremes times = launches == 0
                ? new Extremes(0, 0)
                : earlier.launches() == 0
                        ? new Extremes(later.minLaunchNs(), later.maxLaunchNs())
                        : Extremes.of(
                                new Extremes(earlier.minLaunchNs(), earlier.maxLaunchNs()),
                                new Extremes(later.minLaunchNs(), later.maxLaunchNs()),
                                launches,
                                launchNs,
                                launchNs / launches,
                                LatencyDistribution.EMPTY);
        return new DeviceTime(
                more(earlier.samples(), later.samples()),
                launches,
                launchNs,
                times.min,
                times.max,
                more(earlier.unresolved(), later.unresolved()),
                more(earlier.withoutStart(), later.withoutStart()));
    }

    private static Work work(Work earlier, Work later) {
        long flops = more(earlier.flops(), later.flops());
        long bytes = more(earlier.bytes(), later.bytes());
        return flops == 0 && bytes == 0 ? Work.NONE : new Work(flops, bytes, later.workingSetBytes());
    }

    private static TileStats tile(TileStats earlier, TileStats later) {
        long count = more(earlier.count(), later.count());
        if (count == 0) {
            return TileStats.empty(later.level());
        }
        if (earlier.count() == 0) {
            return later;
        }
        long totalNs = more(earlier.totalNs(), later.totalNs());
        Extremes times = Extremes.of(
                new Extremes(earlier.minNs(), earlier.maxNs()),
                new Extremes(later.minNs(), later.maxNs()),
                count,
                totalNs,
                totalNs / count,
                LatencyDistribution.EMPTY);
        boolean isSlowestKnown = later.maxNs() > earlier.maxNs();
        return TileStats.builder(later.level())
                .samples(count, totalNs, times.min, times.max)
                .work(
                        more(earlier.totalElements(), later.totalElements()),
                        more(earlier.totalFlops(), later.totalFlops()))
                .slowest(
                        isSlowestKnown ? later.slowestRow() : TileStats.UNKNOWN,
                        isSlowestKnown ? later.slowestCol() : TileStats.UNKNOWN)
                .build();
    }

    private static StreamTotals stream(@Nullable StreamTotals earlier, StreamTotals later) {
        return earlier == null
                ? later
                : StreamTotals.builder(later.stream(), later.device(), later.deviceIndex())
                        .identifiers(later.deviceUuid(), later.pciAddress())
                        .bricks(
                                more(earlier.samples(), later.samples()),
                                more(earlier.busyNs(), later.busyNs()),
                                more(earlier.idleNs(), later.idleNs()))
                        // The shortest gap of the whole is a lower bound for the later part.
                        .gaps(more(earlier.gaps(), later.gaps()), later.shortestGapNs())
                        .waits(more(earlier.waits(), later.waits()))
                        .clockErrorNs(later.clockErrorNs())
                        .failure(later.failure())
                        .build();
    }

    /**
     * Returns the steps that ended between both readings. Only kept steps from a given index on remain, so the steps of
     * all differences together are those of the whole.
     */
    private static Steps steps(Steps earlier, Steps later, long firstStep) {
        return new Steps(
                later.phases().stream()
                        .map(phase -> earlier.phase(phase.phase())
                                .map(before -> phase(before, phase))
                                .orElse(phase))
                        .toList(),
                later.timeToFirstToken().since(earlier.timeToFirstToken()),
                more(earlier.timeToFirstTokenNs(), later.timeToFirstTokenNs()),
                later.timePerOutputToken().since(earlier.timePerOutputToken()),
                more(earlier.abandoned(), later.abandoned()),
                later.kept().stream().filter(step -> step.index() >= firstStep).toList());
    }

    private static StepStats phase(StepStats earlier, StepStats later) {
        long count = more(earlier.count(), later.count());
        long totalNs = more(earlier.totalNs(), later.totalNs());
        LatencyDistribution durations = later.durations().since(earlier.durations());
        Extremes times = count == 0
                ? new Extremes(0, 0)
                : Extremes.of(
                        new Extremes(earlier.minNs(), earlier.maxNs()),
                        new Extremes(later.minNs(), later.maxNs()),
                        count,
                        totalNs,
                        totalNs / count,
                        durations);
        Map<BrickCategory, Long> categoryNs = new EnumMap<>(BrickCategory.class);
        later.categoryNs()
                .forEach((category, ns) ->
                        categoryNs.put(category, more(earlier.categoryNs().getOrDefault(category, 0L), ns)));
        return StepStats.builder(later.phase())
                .steps(count, more(earlier.wallNs(), later.wallNs()))
                .durations(totalNs, times.min, times.max, durations)
                .sequences(more(earlier.sequences(), later.sequences()))
                .tokens(
                        more(earlier.prefillTokens(), later.prefillTokens()),
                        more(earlier.outputTokens(), later.outputTokens()),
                        more(earlier.draftedTokens(), later.draftedTokens()),
                        more(earlier.acceptedTokens(), later.acceptedTokens()))
                .kvLength(more(earlier.kvLength(), later.kvLength()))
                .cpu(later.cpu().since(earlier.cpu()))
                .categories(more(earlier.attributed(), later.attributed()), categoryNs)
                .build();
    }

    @Override
    public boolean isEmpty(ProfileSnapshot window) {
        return window.bricks().isEmpty()
                && window.steps().count() == 0
                && window.steps().abandoned() == 0
                && window.droppedPending() == 0
                && window.literalOverlaps() == 0
                && !window.requests().withLive(0, 0).isRecorded()
                && window.tiles().stream().allMatch(tile -> tile.count() == 0);
    }
}
