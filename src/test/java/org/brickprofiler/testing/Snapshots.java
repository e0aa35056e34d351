package org.brickprofiler.testing;

import java.time.Instant;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.stream.LongStream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.Provide;
import net.jqwik.api.domains.DomainContextBase;
import org.brickprofiler.Bottleneck;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.BrickStats;
import org.brickprofiler.Calibration;
import org.brickprofiler.DeviceTime;
import org.brickprofiler.Environment;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.RunFacts;
import org.brickprofiler.RunIdentity;
import org.brickprofiler.Steps;
import org.brickprofiler.StepsProperties;
import org.brickprofiler.Work;
import org.brickprofiler.device.MarkCost;
import org.brickprofiler.device.StreamTotals;
import org.brickprofiler.graph.ExecutionGraph;
import org.brickprofiler.internal.record.LatencyBuckets;
import org.brickprofiler.stats.LatencyDistribution;
import org.brickprofiler.tile.TileLevel;
import org.brickprofiler.tile.TileStats;

/** Random snapshots. Numbers stay below the size at which the sums of a snapshot would overflow. */
public final class Snapshots extends DomainContextBase {

    private static final long LARGEST = 1L << 49;
    private static final int MOST_BRICKS = 8;

    private record Parts(
            List<TileStats> tiles, List<StreamTotals> streams, Steps steps, RunFacts facts, RunIdentity identity) {}

    @Provide
    Arbitrary<ProfileSnapshot> snapshots() {
        return Combinators.combine(
                        moments().list().ofSize(2),
                        numbers().list().ofSize(5),
                        Arbitraries.integers().greaterOrEqual(0),
                        Arbitraries.of(true, false).list().ofSize(3),
                        Arbitraries.doubles().between(0, 1).optional(),
                        environments().list().ofMaxSize(3),
                        bricks().list().ofMaxSize(MOST_BRICKS),
                        Combinators.combine(
                                        tiles().list().ofMaxSize(4),
                                        streams().list().ofMaxSize(3),
                                        StepsProperties.steps(LARGEST),
                                        facts(),
                                        identities())
                                .as(Parts::new))
                .as((at, times, threads, flags, l2, environments, bricks, parts) -> ProfileSnapshot.builder(
                                at.get(0), at.get(1), times.get(0))
                        .threads(threads, flags.get(0))
                        .overheadNs(times.get(1))
                        .deferred(times.get(2), times.get(3), times.get(4))
                        .l2CacheHitRate(l2.map(OptionalDouble::of).orElseGet(OptionalDouble::empty))
                        .zeroCopy(flags.get(1))
                        .tilesOff(flags.get(2))
                        .environments(environments)
                        .bricks(bricks)
                        .tiles(parts.tiles)
                        .streams(parts.streams)
                        .steps(parts.steps)
                        .requests(RequestSamples.of(times))
                        .requestTimeline(RequestSamples.timelineOf(times))
                        .facts(parts.facts)
                        .identity(parts.identity)
                        .build())
                // Combinations of edge cases alone would use up the tries; single ones are drawn all the same.
                .withoutEdgeCases();
    }

    private static Arbitrary<Long> numbers() {
        return Arbitraries.longs().between(0, LARGEST);
    }

    private static Arbitrary<String> texts() {
        return Arbitraries.strings().all().ofMaxLength(60);
    }

    private static Arbitrary<Instant> moments() {
        return Combinators.combine(
                        Arbitraries.longs().between(Instant.MIN.getEpochSecond(), Instant.MAX.getEpochSecond()),
                        Arbitraries.integers().between(0, 999_999_999))
                .as(Instant::ofEpochSecond);
    }

    private static Arbitrary<RunIdentity> identities() {
        Arbitrary<Optional<String>> names =
                Arbitraries.strings().all().ofMinLength(1).ofMaxLength(20).optional();
        Arbitrary<OptionalInt> ranks = Arbitraries.integers()
                .between(0, Integer.MAX_VALUE - 1)
                .optional()
                .map(rank -> rank.map(OptionalInt::of).orElseGet(OptionalInt::empty));
        Arbitrary<OptionalLong> steps =
                numbers().optional().map(step -> step.map(OptionalLong::of).orElseGet(OptionalLong::empty));
        return Combinators.combine(names.list().ofSize(7), ranks, ranks, steps, steps)
                .as((texts, rank, localRank, first, window) -> {
                    RunIdentity.Builder identity = RunIdentity.builder();
                    texts.get(0).ifPresent(identity::runId);
                    rank.ifPresent(number -> identity.rank(number).worldSize(Integer.MAX_VALUE));
                    localRank.ifPresent(identity::localRank);
                    texts.get(1).ifPresent(identity::host);
                    texts.get(2).ifPresent(identity::device);
                    texts.get(3).ifPresent(identity::model);
                    texts.get(4).ifPresent(identity::precision);
                    texts.get(5).ifPresent(identity::commit);
                    texts.get(6).ifPresent(identity::phase);
                    first.ifPresent(step -> identity.steps(step, step + 1));
                    window.ifPresent(identity::window);
                    return identity.build();
                });
    }

    private static Arbitrary<Environment> environments() {
        return Combinators.combine(
                        texts().list().ofSize(5), Arbitraries.integers().greaterOrEqual(0), numbers())
                .as((texts, processors, stepNs) -> new Environment(
                        texts.get(0), texts.get(1), texts.get(2), texts.get(3), texts.get(4), processors, stepNs));
    }

    private static Arbitrary<BrickStats> bricks() {
        return Combinators.combine(
                        texts(),
                        Arbitraries.of(BrickCategory.class),
                        Arbitraries.of(Bottleneck.class),
                        numbers().list().ofSize(16),
                        latencies().optional(),
                        devices())
                .as((name, category, bottleneck, n, latency, device) -> {
                    Times times = latency.map(Times::of).orElseGet(() -> Times.of(n.get(0), n.subList(1, 4)));
                    return BrickStats.builder(name, category)
                            .bottleneck(bottleneck)
                            .samples(
                                    times.count(),
                                    times.totalNs(),
                                    isUnknown(n.get(2)) ? 0 : times.minNs(),
                                    isUnknown(n.get(3)) ? 0 : times.maxNs())
                            .bounds(bound(n.get(2), times.minNs()), bound(n.get(3), times.maxNs()))
                            .last(Math.min(n.get(4), times.maxNs()), n.get(5))
                            .elements(n.get(6))
                            .bytes(n.get(7), n.get(8))
                            .cycles(n.get(9) + n.get(11), n.get(10), n.get(11))
                            .latency(latency)
                            .device(n.get(15) % 4 == 1 && times.count() > 0 ? ofDevice(times, n.get(14)) : device)
                            .work(new Work(n.get(12), n.get(13), n.get(14)), n.get(15))
                            .build();
                });
    }

    /** Returns the figures of a brick that a device timed alone, with a net time. */
    private static DeviceTime ofDevice(Times times, long errorNs) {
        long addedNs = times.totalNs() / (1 + errorNs % 3);
        return new DeviceTime(
                times.count(),
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                0,
                new DeviceTime.MarkTime(times.count(), addedNs, errorNs));
    }

    private static Arbitrary<DeviceTime> devices() {
        return numbers().list().ofSize(8).map(n -> {
            Times launches = Times.of(n.get(0) / 2, n.subList(1, 4));
            long unmarked = n.get(6) % 3 == 0 ? 0 : n.get(6);
            double errorNs = unmarked == 0 ? 0 : n.get(7) / 3.0;
            return new DeviceTime(
                    n.get(0),
                    launches.count(),
                    launches.totalNs(),
                    launches.minNs(),
                    launches.maxNs(),
                    n.get(4),
                    n.get(4) / 3,
                    unmarked,
                    errorNs,
                    unmarked == 0 ? 0 : 1 + n.get(7) % 100 / 3.0,
                    errorNs / 2,
                    unmarked == 0 ? 0 : n.get(7),
                    DeviceTime.MarkTime.NONE);
        });
    }

    private static Arbitrary<StreamTotals> streams() {
        return Combinators.combine(
                        texts(),
                        texts(),
                        Arbitraries.integers().greaterOrEqual(0),
                        texts().optional(),
                        texts().optional(),
                        numbers().list().ofSize(6),
                        texts().optional())
                .as((stream, device, index, uuid, pci, n, failure) -> StreamTotals.builder(stream, device, index)
                        .identifiers(uuid, pci)
                        .bricks(n.get(0), n.get(1), n.get(5) == 0 ? 0 : n.get(2))
                        .gaps(n.get(5), n.get(5) == 0 ? 0 : n.get(2) / n.get(5))
                        .waits(n.get(3))
                        .clockErrorNs(n.get(4))
                        .failure(failure)
                        .passes(n.get(3) % 2 == 0 ? OptionalLong.of(n.get(1)) : OptionalLong.empty(), n.get(4) % 2 == 0)
                        .markCost(
                                n.get(2) % 3 == 0
                                        ? MarkCost.unknown("why " + stream)
                                        : new MarkCost(n.get(1) / 2.0, n.get(3), n.get(4) / 4.0, ""))
                        .net(
                                n.get(0) % 2 == 0
                                        ? Optional.of(
                                                new StreamTotals.Net(n.get(1), n.get(2), n.get(3), n.get(4) / 2.0))
                                        : Optional.empty())
                        .build());
    }

    private static Arbitrary<RunFacts> facts() {
        Arbitrary<Double> figures = Arbitraries.doubles().greaterOrEqual(0);
        Arbitrary<OptionalDouble> rates = Arbitraries.doubles()
                .greaterOrEqual(0.01)
                .optional()
                .map(rate -> rate.map(OptionalDouble::of).orElseGet(OptionalDouble::empty));
        Arbitrary<String> names = Arbitraries.strings().all().ofMinLength(1).ofMaxLength(20);
        Arbitrary<RunFacts.VirtualMachine> virtualMachines = Combinators.combine(
                        moments(), numbers().list().ofSize(4))
                .as((start, n) -> new RunFacts.VirtualMachine(n.get(0), start, n.get(1), n.get(2), n.get(3)));
        return Combinators.combine(
                        rates,
                        rates,
                        Arbitraries.maps(Arbitraries.strings().ascii().ofMinLength(1), figures)
                                .ofMaxSize(3),
                        names.list().ofMaxSize(3),
                        virtualMachines.list().ofMaxSize(2),
                        calibrations().list().ofMaxSize(2),
                        Arbitraries.maps(
                                        Arbitraries.strings().ascii(),
                                        numbers()
                                                .list()
                                                .ofSize(4)
                                                .map(n -> new ExecutionGraph.Nesting(
                                                        Math.max(n.get(0), n.get(1)),
                                                        Math.min(n.get(0), n.get(1)),
                                                        Math.max(n.get(2), n.get(3)),
                                                        Math.min(n.get(2), n.get(3)))))
                                .ofMaxSize(3))
                .as(RunFacts::new);
    }

    private static Arbitrary<Calibration> calibrations() {
        Arbitrary<Calibration.Spread> spreads = Arbitraries.doubles()
                .between(0, 1e6)
                .list()
                .ofSize(3)
                .map(ns -> ns.stream().sorted().toList())
                .map(ns -> new Calibration.Spread(ns.get(1), ns.get(0), ns.get(2)));
        Arbitrary<Calibration.Cost> costs = spreads.list()
                .ofSize(4)
                .map(each -> new Calibration.Cost(each.get(0), each.get(1), each.get(2), each.get(3)));
        return Combinators.combine(
                        environments(),
                        spreads,
                        numbers(),
                        costs,
                        Arbitraries.maps(Arbitraries.of(Calibration.Mode.class), costs)
                                .ofMaxSize(3))
                .as((where, clock, back, own, others) -> {
                    Map<Calibration.Mode, Calibration.Cost> all = new EnumMap<>(Calibration.Mode.class);
                    all.putAll(others);
                    all.put(Calibration.Mode.OWN, own);
                    return new Calibration(where, clock, clock, back, all);
                });
    }

    private static Arbitrary<LatencyDistribution> latencies() {
        return Combinators.combine(
                        Arbitraries.integers().between(0, LatencyBuckets.COUNT - 20),
                        Arbitraries.longs().between(0, 1_000).list().ofMaxSize(20))
                .as((first, counts) -> LatencyDistribution.ofCounts(LongStream.concat(
                                LongStream.range(0, first).map(i -> 0),
                                counts.stream().mapToLong(n -> n))
                        .toArray()));
    }

    private static Arbitrary<TileStats> tiles() {
        Arbitrary<Integer> places = Arbitraries.integers().greaterOrEqual(TileStats.UNKNOWN);
        return Combinators.combine(
                        Arbitraries.of(TileLevel.class), numbers().list().ofSize(7), places, places)
                .as((level, n, row, col) -> {
                    Times times = Times.of(n.get(0), n.subList(1, 4));
                    return times.count() == 0
                            ? TileStats.empty(level)
                            : TileStats.builder(level)
                                    .samples(
                                            times.count(),
                                            times.totalNs(),
                                            isUnknown(n.get(2)) ? 0 : times.minNs(),
                                            isUnknown(n.get(3)) ? 0 : times.maxNs())
                                    .bounds(bound(n.get(2), times.minNs()), bound(n.get(3), times.maxNs()))
                                    .work(n.get(4), n.get(5))
                                    .slowest(row, col)
                                    .unresolved(n.get(6))
                                    .build();
                });
    }

    /** Returns whether a window has only a bound of an extreme. */
    private static boolean isUnknown(long drawn) {
        return drawn % 5 == 1;
    }

    private static OptionalLong bound(long drawn, long ns) {
        return isUnknown(drawn) ? OptionalLong.of(ns) : OptionalLong.empty();
    }
}
