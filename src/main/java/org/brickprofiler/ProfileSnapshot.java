package org.brickprofiler;

import static org.brickprofiler.internal.io.Checks.requireNotNegative;
import static org.brickprofiler.internal.io.Sums.limited;

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
import org.brickprofiler.internal.io.Sums;
import org.brickprofiler.tile.TileLevel;
import org.brickprofiler.tile.TileStats;

/**
 * The profile at one moment, to be reported or merged. Immutable; its lists cannot be changed and are sorted, so equal
 * profiles are equal objects.
 *
 * @param startedAt when the profiler was first on since the last reset; of merged snapshots, the earliest
 * @param endedAt when the snapshot was taken; of merged snapshots, the latest
 * @param wallNs time the profiler was switched on for, ns; of merged snapshots, the sum
 * @param threads platform threads that recorded bricks by the host's clock, set marks of bricks that a device timed, or
 *     recorded tiles, whichever are more; of merged snapshots, the largest number
 * @param virtualThreads whether virtual threads recorded too; they are not counted
 * @param overheadNs the estimated cost of recording, ns, over all threads: the number of bricks and tiles times the
 *     cost of one, measured in the same virtual machine. 0 if that cost is unknown
 * @param droppedPending deferred measurements that found their queue full and were not recorded
 * @param pending deferred measurements and bricks on devices that had begun and were not resolved when the snapshot was
 *     taken: they are in no other count. Of merged snapshots, the sum; a measurement may be pending in several
 *     consecutive snapshots of a profiler
 * @param literalOverlaps deferred measurements whose spans overlapped: with {@link Attribution#LITERAL}, each of
 *     several measurements that are resolved together lasts until then, and the same time counts several times
 * @param l2CacheHitRate share of accesses that hit the L2 cache, 0 to 1, if the application said; of merged snapshots,
 *     the smallest
 * @param zeroCopy whether the application said that transfers copy nothing; of merged snapshots, whether all did
 * @param tilesOff whether tiles were switched off when the snapshot was taken; of merged snapshots, whether all were
 * @param environments the environments in which it ran, sorted; of merged snapshots, all of them
 * @param bricks the bricks with samples, largest total first
 * @param tiles one entry per tile level, in order
 * @param streams the totals of the device streams, one entry per stream, by device and name
 * @param steps the steps that have ended; {@link Steps#NONE} without steps
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
        List<TileStats> tiles,
        List<StreamTotals> streams,
        Steps steps,
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
        Objects.requireNonNull(tiles, "tiles");
        Objects.requireNonNull(streams, "streams");
        Objects.requireNonNull(steps, "steps");
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
        tiles = sumByLevel(tiles);
        streams = sumByStream(streams);
    }

    /**
     * Makes a profile without devices, steps, pending measurements and overlaps, with tiles switched on. The parameters
     * are those of the record.
     *
     * @param startedAt when the profiler was first on
     * @param endedAt when the snapshot was taken
     * @param wallNs time the profiler was switched on for, ns
     * @param threads platform threads that recorded
     * @param virtualThreads whether virtual threads recorded too
     * @param overheadNs what recording cost, ns
     * @param droppedPending deferred measurements that were not recorded
     * @param l2CacheHitRate share of accesses that hit the L2 cache
     * @param zeroCopy whether transfers copy nothing
     * @param environments the machines and virtual machines on which it ran
     * @param bricks the bricks that recorded
     * @param tiles the tile levels
     * @throws IllegalArgumentException when a time or a number is negative
     */
    public ProfileSnapshot(
            Instant startedAt,
            Instant endedAt,
            long wallNs,
            int threads,
            boolean virtualThreads,
            long overheadNs,
            long droppedPending,
            OptionalDouble l2CacheHitRate,
            boolean zeroCopy,
            List<Environment> environments,
            List<BrickStats> bricks,
            List<TileStats> tiles) {
        this(
                startedAt,
                endedAt,
                wallNs,
                threads,
                virtualThreads,
                overheadNs,
                droppedPending,
                0,
                0,
                l2CacheHitRate,
                zeroCopy,
                false,
                environments,
                bricks,
                tiles,
                List.of(),
                Steps.NONE,
                RunFacts.NONE,
                RunIdentity.NONE);
    }

    /**
     * Returns this profile with other facts.
     *
     * @param other the facts of the run
     * @return a snapshot with these facts
     */
    public ProfileSnapshot withFacts(RunFacts other) {
        Objects.requireNonNull(other, "other");
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
                tiles,
                streams,
                steps,
                other,
                identity);
    }

    /**
     * Returns this profile as that of another run, or of another part of the run.
     *
     * @param other the identity
     * @return a snapshot with this identity
     */
    public ProfileSnapshot withIdentity(RunIdentity other) {
        Objects.requireNonNull(other, "other");
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
                tiles,
                streams,
                steps,
                facts,
                other);
    }

    /** Returns this profile with another number of pending measurements. */
    ProfileSnapshot withPending(long other) {
        return new ProfileSnapshot(
                startedAt,
                endedAt,
                wallNs,
                threads,
                virtualThreads,
                overheadNs,
                droppedPending,
                other,
                literalOverlaps,
                l2CacheHitRate,
                zeroCopy,
                tilesOff,
                environments,
                bricks,
                tiles,
                streams,
                steps,
                facts,
                identity);
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
     * Returns the number of samples whose time devices did not report. They are in no sum.
     *
     * @return samples of all bricks
     */
    public long unresolved() {
        return bricks.stream().mapToLong(brick -> brick.device().unresolved()).reduce(0, Sums::limited);
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
     * Returns the profile of both, as if one profiler had recorded them. Commutative and associative.
     *
     * @param other the other snapshot
     * @return a snapshot of the samples of both
     */
    public ProfileSnapshot merge(ProfileSnapshot other) {
        return new ProfileSnapshot(
                startedAt.isBefore(other.startedAt) ? startedAt : other.startedAt,
                endedAt.isAfter(other.endedAt) ? endedAt : other.endedAt,
                limited(wallNs, other.wallNs),
                Math.max(threads, other.threads),
                virtualThreads || other.virtualThreads,
                limited(overheadNs, other.overheadNs),
                limited(droppedPending, other.droppedPending),
                limited(pending, other.pending),
                limited(literalOverlaps, other.literalOverlaps),
                RunFacts.smaller(l2CacheHitRate, other.l2CacheHitRate),
                zeroCopy && other.zeroCopy,
                tilesOff && other.tilesOff,
                RunFacts.concat(environments, other.environments),
                RunFacts.concat(bricks, other.bricks),
                RunFacts.concat(tiles, other.tiles),
                RunFacts.concat(streams, other.streams),
                steps.merge(other.steps),
                facts.plus(other.facts),
                identity.common(other.identity));
    }
}
