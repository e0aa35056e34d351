package org.brickprofiler;

import java.time.Instant;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Stream;
import org.brickprofiler.device.StreamTotals;
import org.brickprofiler.internal.base.Sums;
import org.brickprofiler.internal.device.Estimate;
import org.brickprofiler.internal.record.Extremes;
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
 * <p>The profiler keeps extremes only since its last reset: {@link Extremes} explains which ones a difference has. With
 * percentiles, an extreme that the samples did not set anew is exact within {@link LatencyDistribution#RELATIVE_ERROR}.
 * The extremes of all differences together are those of the whole. The fewest and the most cycles are known only if
 * they changed or if there is one sample, since the number of samples with cycles is not. Stateless and thread-safe.
 */
final class SnapshotDifference implements WindowReaders.Arithmetic<ProfileSnapshot> {

    /**
     * The most successive samples with marks of blocks with others: the last of one block and the first of the next.
     */
    private static final int MOST_IN_SUCCESSION = 2;

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
    public ProfileSnapshot timed(ProfileSnapshot earlier, ProfileSnapshot later) {
        if (!later.isEstimated()) {
            return later;
        }
        Set<String> untimed = new HashSet<>(untimed(earlier.bricks(), later.bricks()));
        later.phases().forEach((phase, bricks) -> untimed.addAll(untimed(earlier.bricks(phase), bricks)));
        Map<StepInfo.Phase, List<BrickStats>> phases = new EnumMap<>(StepInfo.Phase.class);
        later.phases().forEach((phase, bricks) -> phases.put(phase, heldBack(earlier.bricks(phase), bricks, untimed)));
        return later.toBuilder(later.startedAt(), later.endedAt(), later.wallNs())
                .bricks(heldBack(earlier.bricks(), later.bricks(), untimed))
                .phases(phases)
                .build();
    }

    /**
     * Returns the keys of bricks whose time since an earlier reading is not known: no new sample has marks, or a mark
     * came in place of what was supposed of its block while no other sample is new, or the estimate fell by it.
     */
    private static List<String> untimed(List<BrickStats> earlier, List<BrickStats> later) {
        Map<String, BrickStats> before = new HashMap<>();
        earlier.forEach(brick -> before.put(key(brick), brick));
        return later.stream()
                .filter(brick -> brick.device().isEstimated() && isUntimed(before.get(key(brick)), brick))
                .map(SnapshotDifference::key)
                .toList();
    }

    private static boolean isUntimed(@Nullable BrickStats earlier, BrickStats later) {
        DeviceTime was = earlier == null ? DeviceTime.NONE : earlier.device();
        long marked = later.device().measured() - was.measured();
        long unmarked = later.device().unmarked() - was.unmarked();
        boolean isRevalued = unmarked == 0 && marked > 0 && marked <= MOST_IN_SUCCESSION;
        boolean isFallen = earlier != null && later.totalNs() < earlier.totalNs();
        return (unmarked > 0 && marked == 0) || isRevalued || isFallen;
    }

    private static List<BrickStats> heldBack(List<BrickStats> earlier, List<BrickStats> later, Set<String> keys) {
        return Stream.concat(
                        later.stream().filter(brick -> !keys.contains(key(brick))),
                        earlier.stream().filter(brick -> keys.contains(key(brick))))
                .sorted(BrickStats.LARGEST_FIRST)
                .toList();
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
                        new StepRecorder.Reading(
                                steps, requests, () -> RequestTimeline.NONE, firstStep, endStep, Map.of()),
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

    /** Returns the extremes of the samples between two readings, of which there is at least one. */
    private static Extremes extremes(
            Extremes earlier,
            Extremes later,
            long count,
            long totalNs,
            OptionalLong lastNs,
            LatencyDistribution spread) {
        // Longer durations share the last bucket.
        boolean isLongestKnown = spread.count() > 0 && spread.percentileNs(100) < LatencyDistribution.LONGEST_NS;
        return Extremes.between(
                earlier,
                later,
                new Extremes.Sums(
                        count,
                        totalNs,
                        lastNs,
                        spread.count() > 0 ? OptionalLong.of(spread.percentileNs(0)) : OptionalLong.empty(),
                        isLongestKnown ? OptionalLong.of(spread.percentileNs(100)) : OptionalLong.empty()));
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
        Optional<LatencyDistribution> latency = later.latency()
                .flatMap(all -> earlier.latency().map(all::since))
                .map(since -> later.device().isEstimated() ? scaled(since, count) : since);
        boolean isLastOfThese = later.lastAtUnixNs() > earlier.lastAtUnixNs();
        Extremes times = device.isEstimated()
                ? new Extremes(0, 0, OptionalLong.of(later.minNs()), OptionalLong.of(later.maxNs()))
                : extremes(
                        earlier.extremes(),
                        later.extremes(),
                        count,
                        totalNs,
                        isLastOfThese ? OptionalLong.of(later.lastNs()) : OptionalLong.empty(),
                        latency.orElse(LatencyDistribution.EMPTY));
        long onlyCycles = count == 1 ? cycles : 0;
        boolean firstCycles = earlier.totalCycles() == 0;
        return BrickStats.builder(later.name(), later.category())
                .bottleneck(later.bottleneck())
                .samples(count, totalNs, times.minNs(), times.maxNs())
                .bounds(times.minAtLeastNs(), times.maxAtMostNs())
                .last(later.lastNs(), later.lastAtUnixNs())
                .elements(more(earlier.totalElements(), later.totalElements()))
                .bytes(
                        more(earlier.totalBytes(), later.totalBytes()),
                        more(earlier.totalCompressedBytes(), later.totalCompressedBytes()))
                .cycles(
                        cycles,
                        firstCycles || later.minCycles() < earlier.minCycles() ? later.minCycles() : onlyCycles,
                        later.maxCycles() > earlier.maxCycles() ? later.maxCycles() : onlyCycles)
                .latency(latency)
                .device(device)
                .work(work, workSamples)
                .build();
    }

    /**
     * Returns a distribution of a number of samples, in proportion to another one: buckets of an estimate may have
     * fewer samples than before, and the others then have more than the window.
     */
    private static LatencyDistribution scaled(LatencyDistribution samples, long count) {
        long[] counts = samples.usedCounts();
        double all = samples.count();
        long seen = 0;
        long given = 0;
        for (int i = 0; i < counts.length; i++) {
            seen += counts[i];
            long upToHere = Math.round(seen / all * count);
            counts[i] = upToHere - given;
            given = upToHere;
        }
        return LatencyDistribution.ofCounts(samples.firstBucket(), counts);
    }

    private static DeviceTime device(DeviceTime earlier, DeviceTime later) {
        long launches = more(earlier.launches(), later.launches());
        long launchNs = more(earlier.launchNs(), later.launchNs());
        Extremes whole = Extremes.known(later.minLaunchNs(), later.maxLaunchNs());
        Extremes times = launches == 0
                ? Extremes.known(0, 0)
                : earlier.launches() == 0
                        ? whole
                        : extremes(
                                Extremes.known(earlier.minLaunchNs(), earlier.maxLaunchNs()),
                                whole,
                                launches,
                                launchNs,
                                OptionalLong.empty(),
                                LatencyDistribution.EMPTY);
        boolean areKnown = times.minAtLeastNs().isEmpty() && times.maxAtMostNs().isEmpty();
        Estimate between = Estimate.between(estimate(earlier), estimate(later));
        return new DeviceTime(
                between.marked(),
                launches,
                launchNs,
                areKnown ? times.minNs() : 0,
                areKnown ? times.maxNs() : 0,
                more(earlier.unresolved(), later.unresolved()),
                more(earlier.withoutStart(), later.withoutStart()),
                between.unmarked(),
                Math.sqrt(between.variance()),
                between.degreesOfFreedom(),
                Math.sqrt(between.openVariance()),
                between.weightProducts(),
                marks(later, between.marked() + between.unmarked()));
    }

    /** Returns what marks add to some of the samples: the latest measurement holds for all of them. */
    private static DeviceTime.MarkTime marks(DeviceTime later, long samples) {
        long all = later.measured() + later.unmarked();
        double share = later.marks().samples() == all ? (double) samples / Math.max(1, all) : 0;
        return share == 0
                ? DeviceTime.MarkTime.NONE
                : new DeviceTime.MarkTime(
                        samples,
                        Math.round(share * later.marks().ns()),
                        Math.round(share * later.marks().errorNs()));
    }

    private static Estimate estimate(DeviceTime time) {
        return new Estimate(
                time.measured(),
                time.unmarked(),
                0,
                0,
                0,
                time.standardErrorNs() * time.standardErrorNs(),
                time.openErrorNs() * time.openErrorNs(),
                time.degreesOfFreedom(),
                time.weightProducts());
    }

    private static Work work(Work earlier, Work later) {
        long flops = more(earlier.flops(), later.flops());
        long bytes = more(earlier.bytes(), later.bytes());
        return flops == 0 && bytes == 0 ? Work.NONE : new Work(flops, bytes, later.workingSetBytes());
    }

    private static TileStats tile(TileStats earlier, TileStats later) {
        long count = more(earlier.count(), later.count());
        long unresolved = more(earlier.unresolved(), later.unresolved());
        if (count == 0) {
            return TileStats.builder(later.level()).unresolved(unresolved).build();
        }
        if (earlier.count() == 0) {
            return later.withUnresolved(unresolved);
        }
        long totalNs = more(earlier.totalNs(), later.totalNs());
        Extremes times = extremes(
                Extremes.known(earlier.minNs(), earlier.maxNs()),
                Extremes.known(later.minNs(), later.maxNs()),
                count,
                totalNs,
                OptionalLong.empty(),
                LatencyDistribution.EMPTY);
        boolean isSlowestKnown = later.maxNs() > earlier.maxNs();
        return TileStats.builder(later.level())
                .samples(count, totalNs, times.minNs(), times.maxNs())
                .bounds(times.minAtLeastNs(), times.maxAtMostNs())
                .work(
                        more(earlier.totalElements(), later.totalElements()),
                        more(earlier.totalFlops(), later.totalFlops()))
                .slowest(
                        isSlowestKnown ? later.slowestRow() : TileStats.UNKNOWN,
                        isSlowestKnown ? later.slowestCol() : TileStats.UNKNOWN)
                .unresolved(unresolved)
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
                        .passes(passNs(earlier.passNs(), later.passNs()), later.isSampled())
                        .markCost(later.markCost())
                        .build();
    }

    /** Returns the time of the passes between two readings; empty if it is unknown at one of them. */
    private static OptionalLong passNs(OptionalLong earlier, OptionalLong later) {
        return earlier.isPresent() && later.isPresent()
                ? OptionalLong.of(more(earlier.getAsLong(), later.getAsLong()))
                : OptionalLong.empty();
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
        Extremes whole = Extremes.known(later.minNs(), later.maxNs());
        Extremes times = count == 0
                ? Extremes.known(0, 0)
                : earlier.count() == 0
                        ? whole
                        : extremes(
                                Extremes.known(earlier.minNs(), earlier.maxNs()),
                                whole,
                                count,
                                totalNs,
                                OptionalLong.empty(),
                                durations);
        // Only a step beyond the last bucket has no known maximum; the bucket stands for it, as in its percentiles.
        long maxNs = times.maxAtMostNs().isPresent() ? LatencyDistribution.LONGEST_NS : times.maxNs();
        Map<BrickCategory, Long> categoryNs = new EnumMap<>(BrickCategory.class);
        later.categoryNs()
                .forEach((category, ns) ->
                        categoryNs.put(category, more(earlier.categoryNs().getOrDefault(category, 0L), ns)));
        return StepStats.builder(later.phase())
                .steps(count, more(earlier.wallNs(), later.wallNs()))
                .durations(totalNs, times.minNs(), maxNs, durations)
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
                && !window.requests().withLiveOf(RequestStats.NONE).isRecorded()
                && window.tiles().stream().allMatch(tile -> tile.count() == 0 && tile.unresolved() == 0);
    }
}
