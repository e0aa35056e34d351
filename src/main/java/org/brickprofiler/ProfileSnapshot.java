package org.brickprofiler;

import static org.brickprofiler.internal.base.Checks.requireNotNegative;
import static org.brickprofiler.internal.base.Sums.limited;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.TreeMap;
import java.util.TreeSet;
import org.brickprofiler.device.StreamTotals;
import org.brickprofiler.internal.base.Sums;
import org.brickprofiler.request.RequestStats;
import org.brickprofiler.request.RequestTimeline;
import org.brickprofiler.stats.LatencyDistribution;
import org.brickprofiler.tile.TileLevel;
import org.brickprofiler.tile.TileStats;
import org.jspecify.annotations.Nullable;

/**
 * The profile at one moment, to be reported or merged. Immutable; its lists cannot be changed and are sorted, so equal
 * profiles are equal objects.
 *
 * @param startedAt when the profiler was first on since the last reset; of merged snapshots, the earliest
 * @param endedAt when the snapshot was taken; of merged snapshots, the latest
 * @param wallNs time the profiler was switched on for, ns; of merged snapshots, the sum
 * @param threads the largest of three numbers of platform threads: those that recorded bricks by the host's clock,
 *     those that set marks of bricks that a device timed, and those that recorded tiles; of merged snapshots, the
 *     largest number
 * @param virtualThreads whether virtual threads recorded too; they are not counted
 * @param overheadNs the estimated cost of recording, ns, over all threads: the number of bricks and tiles times the
 *     cost of one, measured in the same virtual machine. 0 if that cost is unknown
 * @param droppedPending deferred measurements that found their queue full and were not recorded
 * @param pending deferred measurements and bricks on devices that had begun and were not resolved when the snapshot was
 *     taken; they are in no other count. Of merged snapshots, the sum; a measurement may be pending in several
 *     consecutive snapshots of a profiler
 * @param literalOverlaps deferred measurements whose spans overlapped: with {@link Attribution#LITERAL}, each of
 *     several measurements that are resolved together lasts until they are resolved, so the same time counts several
 *     times
 * @param l2CacheHitRate share of accesses that hit the L2 cache, 0 to 1, if the application stated it; of merged
 *     snapshots, the smallest
 * @param zeroCopy whether the application stated that transfers copy nothing; of merged snapshots, whether all did
 * @param tilesOff whether tiles were switched off when the snapshot was taken; of merged snapshots, whether all were
 * @param environments the environments in which it ran, sorted; of merged snapshots, all of them
 * @param bricks the bricks with samples, largest total first
 * @param phases the part of the bricks that belongs to the steps of each phase, by phase; a phase without samples has
 *     no entry. See {@link BrickProfiler#beginStep}
 * @param tiles one entry per tile level, in order
 * @param streams the totals of the device streams, one entry per stream, by device and name
 * @param steps the steps that have ended; {@link Steps#NONE} without steps
 * @param requests the requests that the engine served; {@link RequestStats#NONE} without any
 * @param requestTimeline the latest of these requests over time; of merged snapshots, the one of them that has the
 *     longest time to first token; {@link RequestTimeline#NONE} in a window, which is a difference of two snapshots
 * @param facts other facts of the run
 * @param identity the run and the part of it; of merged snapshots, the values that are equal in all
 */
public record ProfileSnapshot(
        Instant startedAt,
        Instant endedAt,
        long wallNs,
        int threads,
        boolean virtualThreads,
        long overheadNs,
        long droppedPending,
        long pending,
        long literalOverlaps,
        OptionalDouble l2CacheHitRate,
        boolean zeroCopy,
        boolean tilesOff,
        List<Environment> environments,
        List<BrickStats> bricks,
        Map<StepInfo.Phase, List<BrickStats>> phases,
        List<TileStats> tiles,
        List<StreamTotals> streams,
        Steps steps,
        RequestStats requests,
        RequestTimeline requestTimeline,
        RunFacts facts,
        RunIdentity identity) {

    private record BrickKey(String name, BrickCategory category) implements Comparable<BrickKey> {
        @Override
        public int compareTo(BrickKey other) {
            int byName = name.compareTo(other.name);
            return byName != 0 ? byName : category.compareTo(other.category);
        }
    }

    /**
     * Sorts the lists, and adds up bricks, tiles and streams of the same name.
     *
     * @throws IllegalArgumentException when a time or a number is negative
     */
    public ProfileSnapshot {
        Objects.requireNonNull(startedAt, "startedAt");
        Objects.requireNonNull(endedAt, "endedAt");
        Objects.requireNonNull(l2CacheHitRate, "l2CacheHitRate");
        Objects.requireNonNull(environments, "environments");
        Objects.requireNonNull(bricks, "bricks");
        Objects.requireNonNull(phases, "phases");
        Objects.requireNonNull(tiles, "tiles");
        Objects.requireNonNull(streams, "streams");
        Objects.requireNonNull(steps, "steps");
        Objects.requireNonNull(requests, "requests");
        Objects.requireNonNull(requestTimeline, "requestTimeline");
        Objects.requireNonNull(facts, "facts");
        Objects.requireNonNull(identity, "identity");
        requireNotNegative("wallNs", wallNs);
        requireNotNegative("threads", threads);
        requireNotNegative("overheadNs", overheadNs);
        requireNotNegative("droppedPending", droppedPending);
        requireNotNegative("pending", pending);
        requireNotNegative("literalOverlaps", literalOverlaps);
        environments = List.copyOf(new TreeSet<>(environments));
        bricks = sumByBrick(bricks);
        phases = sumByPhase(phases);
        tiles = sumByLevel(tiles);
        streams = sumByStream(streams);
    }

    /**
     * Returns a builder of a profile in which nothing was recorded.
     *
     * @param startedAt when the profiler was first on
     * @param endedAt when the snapshot was taken
     * @param wallNs time the profiler was switched on for, ns
     * @return a builder
     */
    public static Builder builder(Instant startedAt, Instant endedAt, long wallNs) {
        return new Builder(startedAt, endedAt, wallNs);
    }

    /**
     * Returns a builder with the values of this profile.
     *
     * @return a builder
     */
    public Builder toBuilder() {
        return toBuilder(startedAt, endedAt, wallNs);
    }

    /** Returns a builder with the values of this snapshot, for another period. */
    Builder toBuilder(Instant from, Instant to, long onNs) {
        return builder(from, to, onNs)
                .threads(threads, virtualThreads)
                .overheadNs(overheadNs)
                .deferred(droppedPending, pending, literalOverlaps)
                .l2CacheHitRate(l2CacheHitRate)
                .zeroCopy(zeroCopy)
                .tilesOff(tilesOff)
                .environments(environments)
                .bricks(bricks)
                .phases(phases)
                .tiles(tiles)
                .streams(streams)
                .steps(steps)
                .requests(requests)
                .requestTimeline(requestTimeline)
                .facts(facts)
                .identity(identity);
    }

    /**
     * Returns this profile with other facts.
     *
     * @param other the facts of the run
     * @return a snapshot with these facts
     */
    public ProfileSnapshot withFacts(RunFacts other) {
        Objects.requireNonNull(other, "other");
        return toBuilder().facts(other).build();
    }

    /**
     * Returns this profile as that of another run, or of another part of the run.
     *
     * @param other the identity
     * @return a snapshot with this identity
     */
    public ProfileSnapshot withIdentity(RunIdentity other) {
        Objects.requireNonNull(other, "other");
        return toBuilder().identity(other).build();
    }

    /**
     * Returns this profile with the numbers of pending measurements and of live requests of another one, which may be a
     * later profile. If the other one is null, the numbers are 0.
     */
    ProfileSnapshot withUnfinishedOf(@Nullable ProfileSnapshot other) {
        return toBuilder()
                .deferred(droppedPending, other == null ? 0 : other.pending, literalOverlaps)
                .requests(requests.withLiveOf(other == null ? RequestStats.NONE : other.requests))
                .build();
    }

    private static List<BrickStats> sumByBrick(Collection<BrickStats> parts) {
        Map<BrickKey, BrickStats> sums = new TreeMap<>();
        for (BrickStats part : parts) {
            if (part.isRecorded()) {
                sums.merge(new BrickKey(part.name(), part.category()), part, BrickStats::plus);
            }
        }
        List<BrickStats> sorted = new ArrayList<>(sums.values());
        sorted.sort(BrickStats.LARGEST_FIRST);
        return Collections.unmodifiableList(sorted);
    }

    private static Map<StepInfo.Phase, List<BrickStats>> sumByPhase(Map<StepInfo.Phase, List<BrickStats>> parts) {
        Map<StepInfo.Phase, List<BrickStats>> sums = new EnumMap<>(StepInfo.Phase.class);
        parts.forEach((phase, bricks) -> sums.put(phase, sumByBrick(bricks)));
        sums.values().removeIf(List::isEmpty);
        return Collections.unmodifiableMap(sums);
    }

    private Map<StepInfo.Phase, List<BrickStats>> phasesAnd(ProfileSnapshot other) {
        Map<StepInfo.Phase, List<BrickStats>> all = new EnumMap<>(StepInfo.Phase.class);
        all.putAll(phases);
        other.phases.forEach((phase, bricks) -> all.merge(phase, bricks, RunFacts::concat));
        return all;
    }

    private static List<TileStats> sumByLevel(Collection<TileStats> parts) {
        Map<TileLevel, TileStats> sums = new EnumMap<>(TileLevel.class);
        for (TileLevel level : TileLevel.values()) {
            sums.put(level, TileStats.empty(level));
        }
        parts.forEach(part -> sums.merge(part.level(), part, TileStats::plus));
        return List.copyOf(sums.values());
    }

    private static List<StreamTotals> sumByStream(Collection<StreamTotals> parts) {
        Map<StreamTotals.Key, StreamTotals> sums = new TreeMap<>();
        parts.forEach(part -> sums.merge(part.key(), part, StreamTotals::plus));
        return List.copyOf(sums.values());
    }

    /**
     * Returns the sum of brick time. With several threads, or with bricks inside bricks, it exceeds {@link #wallNs}.
     *
     * @return ns
     */
    public long totalNs() {
        return total().totalNs();
    }

    /**
     * Returns the sum of brick time that shares refer to: net where that is {@linkplain BrickStats#netNs known}.
     *
     * @return ns
     */
    public long netOrTotalNs() {
        return total().netOrTotalNs();
    }

    /**
     * Returns the sum of the elements of all bricks.
     *
     * @return elements
     */
    public long totalTokens() {
        return total().totalElements();
    }

    /**
     * Returns the number of samples of all bricks.
     *
     * @return samples
     */
    public long samples() {
        return total().count();
    }

    /**
     * Returns elements per second of summed brick time.
     *
     * @return elements/s, 0 if no time was measured
     */
    public double totalThroughput() {
        return total().throughput();
    }

    private CategoryStats total() {
        return CategoryStats.sum(categories().values());
    }

    /**
     * Returns the sums by category.
     *
     * @return an {@code EnumMap} with every category, in order; the caller's own
     */
    public Map<BrickCategory, CategoryStats> categories() {
        return CategoryStats.byCategory(bricks);
    }

    /**
     * Returns the bricks in one phase: the samples that belong to steps of this phase. The bricks of all phases and the
     * samples without a phase sum to {@link #bricks()}. The same holds for the numbers of samples whose time is
     * unknown.
     *
     * @param phase the phase of the steps
     * @return the bricks with samples in this phase, largest total first; cannot be changed
     */
    public List<BrickStats> bricks(StepInfo.Phase phase) {
        return phases.getOrDefault(Objects.requireNonNull(phase, "phase"), List.of());
    }

    /**
     * Returns the sum of brick time in one phase.
     *
     * @param phase the phase of the steps
     * @return ns
     */
    public long totalNs(StepInfo.Phase phase) {
        return CategoryStats.sum(CategoryStats.byCategory(bricks(phase)).values())
                .totalNs();
    }

    /**
     * Returns the brick of a name.
     *
     * @param name its display name, or the name of a dynamic brick; no alias
     * @return its stats, or empty if it has no samples. If merged snapshots have the brick in two categories, the one
     *     with the larger total
     */
    public Optional<BrickStats> brick(String name) {
        Objects.requireNonNull(name, "name");
        return bricks.stream().filter(brick -> brick.name().equals(name)).findFirst();
    }

    /**
     * Returns the number of samples whose time is unknown, since a device did not report it or a timer ran longer than
     * it can hold. They are in no sum.
     *
     * @return samples of all bricks
     */
    public long unresolved() {
        return bricks.stream().mapToLong(brick -> brick.device().unresolved()).reduce(0, Sums::limited);
    }

    /**
     * Returns whether brick times are estimates, since bricks were marked by sampling: see
     * {@link BrickProfilerBuilder#deviceSampling}.
     *
     * @return true if samples of a brick had no marks
     */
    public boolean isEstimated() {
        return bricks.stream().anyMatch(brick -> brick.device().isEstimated());
    }

    /**
     * Returns the average cost of a sample, of a brick or a tile.
     *
     * @return ns, 0 without samples
     */
    public double overheadPerSampleNs() {
        long recorded = samples() + tiles.stream().mapToLong(TileStats::count).sum();
        return recorded == 0 ? 0.0 : (double) overheadNs / recorded;
    }

    /**
     * Returns the times to first token of requests if requests are recorded, else those of prompts: see
     * {@link Steps#timeToFirstToken}.
     *
     * @return the distribution
     */
    public LatencyDistribution timeToFirstToken() {
        return requests.hasRequests() ? requests.latencies().timeToFirstToken() : steps.timeToFirstToken();
    }

    /**
     * Returns the times per output token of requests if requests are recorded, else those of steps that decode: see
     * {@link Steps#timePerOutputToken}.
     *
     * @return the distribution
     */
    public LatencyDistribution timePerOutputToken() {
        return requests.hasRequests() ? requests.latencies().timePerOutputToken() : steps.timePerOutputToken();
    }

    /**
     * Returns the profile of both, as if one profiler had recorded them. Commutative and associative.
     *
     * @param other the other snapshot
     * @return a snapshot of the samples of both
     */
    public ProfileSnapshot merge(ProfileSnapshot other) {
        return builder(
                        startedAt.isBefore(other.startedAt) ? startedAt : other.startedAt,
                        endedAt.isAfter(other.endedAt) ? endedAt : other.endedAt,
                        limited(wallNs, other.wallNs))
                .threads(Math.max(threads, other.threads), virtualThreads || other.virtualThreads)
                .overheadNs(limited(overheadNs, other.overheadNs))
                .deferred(
                        limited(droppedPending, other.droppedPending),
                        limited(pending, other.pending),
                        limited(literalOverlaps, other.literalOverlaps))
                .l2CacheHitRate(RunFacts.smaller(l2CacheHitRate, other.l2CacheHitRate))
                .zeroCopy(zeroCopy && other.zeroCopy)
                .tilesOff(tilesOff && other.tilesOff)
                .environments(RunFacts.concat(environments, other.environments))
                .bricks(RunFacts.concat(bricks, other.bricks))
                .phases(phasesAnd(other))
                .tiles(RunFacts.concat(tiles, other.tiles))
                .streams(RunFacts.concat(streams, other.streams))
                .steps(steps.merge(other.steps))
                .requests(requests.merge(other.requests))
                .requestTimeline(requestTimeline.merge(other.requestTimeline))
                .facts(facts.plus(other.facts))
                .identity(identity.common(other.identity))
                .build();
    }

    /** Sets the values by name; the others stay at 0, empty or unknown. Not thread-safe. */
    public static final class Builder {
        private final Instant startedAt;
        private final Instant endedAt;
        private final long wallNs;
        private int threads;
        private boolean virtualThreads;
        private long overheadNs;
        private long droppedPending;
        private long pending;
        private long literalOverlaps;
        private OptionalDouble l2CacheHitRate = OptionalDouble.empty();
        private boolean zeroCopy;
        private boolean tilesOff;
        private List<Environment> environments = List.of();
        private List<BrickStats> bricks = List.of();
        private Map<StepInfo.Phase, List<BrickStats>> phases = Map.of();
        private List<TileStats> tiles = List.of();
        private List<StreamTotals> streams = List.of();
        private Steps steps = Steps.NONE;
        private RequestStats requests = RequestStats.NONE;
        private RequestTimeline requestTimeline = RequestTimeline.NONE;
        private RunFacts facts = RunFacts.NONE;
        private RunIdentity identity = RunIdentity.NONE;

        private Builder(Instant startedAt, Instant endedAt, long wallNs) {
            this.startedAt = Objects.requireNonNull(startedAt, "startedAt");
            this.endedAt = Objects.requireNonNull(endedAt, "endedAt");
            this.wallNs = wallNs;
        }

        /**
         * Sets the threads that recorded.
         *
         * @param platform number of platform threads
         * @param virtual whether virtual threads recorded too
         * @return this
         */
        public Builder threads(int platform, boolean virtual) {
            threads = platform;
            virtualThreads = virtual;
            return this;
        }

        /**
         * Sets the estimated cost of recording.
         *
         * @param ns over all threads
         * @return this
         */
        public Builder overheadNs(long ns) {
            overheadNs = ns;
            return this;
        }

        /**
         * Sets the deferred measurements that are not, or not reliably, among the samples.
         *
         * @param dropped that found their queue full
         * @param unresolved that were pending
         * @param overlapping whose literal spans overlapped
         * @return this
         */
        public Builder deferred(long dropped, long unresolved, long overlapping) {
            droppedPending = dropped;
            pending = unresolved;
            literalOverlaps = overlapping;
            return this;
        }

        /**
         * Sets the share of accesses that hit the L2 cache.
         *
         * @param rate 0 to 1; empty if the application did not state it
         * @return this
         */
        public Builder l2CacheHitRate(OptionalDouble rate) {
            l2CacheHitRate = Objects.requireNonNull(rate, "rate");
            return this;
        }

        /**
         * Sets whether transfers copy nothing.
         *
         * @param copiesNothing whether the application stated it
         * @return this
         */
        public Builder zeroCopy(boolean copiesNothing) {
            zeroCopy = copiesNothing;
            return this;
        }

        /**
         * Sets whether tiles were switched off.
         *
         * @param off whether they were
         * @return this
         */
        public Builder tilesOff(boolean off) {
            tilesOff = off;
            return this;
        }

        /**
         * Sets the environments in which it ran.
         *
         * @param all in any order
         * @return this
         */
        public Builder environments(List<Environment> all) {
            environments = Objects.requireNonNull(all, "all");
            return this;
        }

        /**
         * Sets the bricks.
         *
         * @param all in any order; those of one name and category are added up
         * @return this
         */
        public Builder bricks(List<BrickStats> all) {
            bricks = Objects.requireNonNull(all, "all");
            return this;
        }

        /**
         * Sets the bricks by phase: parts of {@link #bricks}.
         *
         * @param ofPhases the stats of bricks with samples in each phase
         * @return this
         */
        public Builder phases(Map<StepInfo.Phase, List<BrickStats>> ofPhases) {
            phases = Objects.requireNonNull(ofPhases, "ofPhases");
            return this;
        }

        /**
         * Sets the tiles.
         *
         * @param all in any order; those of one level are added up
         * @return this
         */
        public Builder tiles(List<TileStats> all) {
            tiles = Objects.requireNonNull(all, "all");
            return this;
        }

        /**
         * Sets the totals of the device streams.
         *
         * @param all in any order; those of one stream are added up
         * @return this
         */
        public Builder streams(List<StreamTotals> all) {
            streams = Objects.requireNonNull(all, "all");
            return this;
        }

        /**
         * Sets the steps that have ended.
         *
         * @param ended the steps
         * @return this
         */
        public Builder steps(Steps ended) {
            steps = Objects.requireNonNull(ended, "ended");
            return this;
        }

        /**
         * Sets the requests.
         *
         * @param served by the engine
         * @return this
         */
        public Builder requests(RequestStats served) {
            requests = Objects.requireNonNull(served, "served");
            return this;
        }

        /**
         * Sets the latest requests over time.
         *
         * @param latest the timeline
         * @return this
         */
        public Builder requestTimeline(RequestTimeline latest) {
            requestTimeline = Objects.requireNonNull(latest, "latest");
            return this;
        }

        /**
         * Sets other facts of the run.
         *
         * @param known the facts
         * @return this
         */
        public Builder facts(RunFacts known) {
            facts = Objects.requireNonNull(known, "known");
            return this;
        }

        /**
         * Sets the run and the part of it.
         *
         * @param known the identity
         * @return this
         */
        public Builder identity(RunIdentity known) {
            identity = Objects.requireNonNull(known, "known");
            return this;
        }

        /**
         * Makes the profile.
         *
         * @return the profile
         * @throws IllegalArgumentException when a time or a number is negative
         */
        public ProfileSnapshot build() {
            return new ProfileSnapshot(
                    startedAt,
                    endedAt,
                    wallNs,
                    threads,
                    virtualThreads,
                    overheadNs,
                    droppedPending,
                    pending,
                    literalOverlaps,
                    l2CacheHitRate,
                    zeroCopy,
                    tilesOff,
                    environments,
                    bricks,
                    phases,
                    tiles,
                    streams,
                    steps,
                    requests,
                    requestTimeline,
                    facts,
                    identity);
        }
    }
}
