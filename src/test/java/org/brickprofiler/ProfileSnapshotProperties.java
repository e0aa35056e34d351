package org.brickprofiler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import org.brickprofiler.device.StreamTotals;
import org.brickprofiler.graph.ExecutionGraph;
import org.brickprofiler.stats.LatencyDistribution;
import org.brickprofiler.testing.FakeClock;
import org.brickprofiler.testing.OneJdk;
import org.brickprofiler.testing.RequestSamples;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.tile.TileLevel;
import org.brickprofiler.tile.TileStats;

/** Laws of percentages and of merging, on snapshots made by hand and on recorded ones. */
@OneJdk
final class ProfileSnapshotProperties {

    private static final double ROUNDING = 1e-9;

    /** One recorded event: a known or dynamic brick, bytes, cycles or a tile. */
    private record Event(int kind, int which, long elapsedNs, long elements) {

        private static final int KINDS = 7;
        private static final List<TileLevel> LEVELS = List.of(TileLevel.values());

        void on(BrickProfiler profiler, FakeClock clock) {
            BrickId id = BrickId.all().get(which);
            // No two events at one instant: a merge cannot order them, and takes the longer one as the last.
            clock.advance(elapsedNs + 1);
            switch (kind) {
                case 0 -> profiler.record(id, elapsedNs, elements);
                case 1 -> profiler.record("dynamic " + which, elapsedNs, elements);
                case 2 -> profiler.recordBytes(id, elapsedNs, elements, 2 * elements, elements);
                case 3 -> profiler.recordCycles(id, elapsedNs, elements, elapsedNs * 3);
                case 4 -> {
                    profiler.recordDeferred(id, profiler.elapsedNs() - elapsedNs, elements);
                    profiler.endPass();
                }
                case 6 -> profiler.recordWork(id, new Work(elapsedNs, elements, 9 * elements));
                default ->
                    profiler.tiles()
                            .record(LEVELS.get(which % 3), which, (int) elements, elapsedNs, elements, 2 * elements);
            }
        }
    }

    @Provide
    Arbitrary<List<Event>> events() {
        return Combinators.combine(
                        Arbitraries.integers().between(0, Event.KINDS - 1),
                        Arbitraries.integers().between(0, 3),
                        Arbitraries.longs().between(0, 1_000_000),
                        Arbitraries.longs().between(0, 9))
                .as(Event::new)
                .list()
                .ofMaxSize(60);
    }

    private static BrickProfiler profiler(FakeClock clock) {
        BrickProfiler profiler =
                BrickProfiler.builder().clock(clock).percentiles(true).build();
        profiler.enable();
        profiler.tiles().enable();
        return profiler;
    }

    private static ProfileSnapshot recorded(List<Event> events) {
        FakeClock clock = new FakeClock();
        BrickProfiler profiler = profiler(clock);
        events.forEach(event -> event.on(profiler, clock));
        return profiler.snapshot();
    }

    /**
     * Removes the calendar time, which differs from run to run, and the number of samples whose work is known, which
     * leaves out samples of a part without work. Bricks that are otherwise equal then compare as equal.
     */
    private static List<BrickStats> withoutCalendar(List<BrickStats> bricks) {
        List<BrickStats> plain = new ArrayList<>();
        for (BrickStats b : bricks) {
            plain.add(b.toBuilder().last(b.lastNs(), 0).work(b.work()).build());
        }
        plain.sort(Comparator.comparing(BrickStats::name));
        return plain;
    }

    // ---- percentages ----

    @Property
    void percentagesSumToAHundred(@ForAll("events") List<Event> events) {
        ProfileSnapshot snapshot = recorded(events);
        long totalNs = snapshot.totalNs();
        double expected = totalNs == 0 ? 0.0 : 100.0;

        assertThat(snapshot.bricks().stream()
                        .mapToDouble(brick -> brick.percentage(totalNs))
                        .sum())
                .isCloseTo(expected, within(ROUNDING));
        assertThat(snapshot.categories().values().stream()
                        .mapToDouble(category -> category.percentage(totalNs))
                        .sum())
                .isCloseTo(expected, within(ROUNDING));
    }

    @Property
    void categoriesAddUpToTheTotals(@ForAll("events") List<Event> events) {
        ProfileSnapshot snapshot = recorded(events);

        assertThat(CategoryStats.sum(snapshot.categories().values()))
                .isEqualTo(new CategoryStats(snapshot.totalNs(), snapshot.totalTokens(), snapshot.samples()));
    }

    // ---- a run in parts ----

    @Spec("4.9")
    @Property
    void theMergeOfTheHalvesIsTheRunRecordedAtOnce(
            @ForAll("events") List<Event> events, @ForAll @IntRange(max = 60) int at) {
        int cut = Math.min(at, events.size());
        FakeClock clock = new FakeClock();
        BrickProfiler inParts = profiler(clock);
        events.subList(0, cut).forEach(event -> event.on(inParts, clock));
        ProfileSnapshot first = inParts.snapshotAndReset();
        events.subList(cut, events.size()).forEach(event -> event.on(inParts, clock));
        ProfileSnapshot merged = first.merge(inParts.snapshotAndReset());

        ProfileSnapshot atOnce = recorded(events);
        assertThat(withoutCalendar(merged.bricks())).isEqualTo(withoutCalendar(atOnce.bricks()));
        assertThat(merged.tiles()).isEqualTo(atOnce.tiles());
        assertThat(merged.categories()).isEqualTo(atOnce.categories());
        assertThat(merged.wallNs()).isEqualTo(atOnce.wallNs());
        assertThat(merged.threads()).isEqualTo(atOnce.threads());
    }

    @Property
    void consecutiveSnapshotsSumToTheWhole(
            @ForAll("events") List<Event> events, @ForAll @IntRange(min = 1, max = 9) int every) {
        FakeClock clock = new FakeClock();
        BrickProfiler inParts = profiler(clock);
        long samples = 0;
        long totalNs = 0;
        long tokens = 0;
        long tiles = 0;
        long wallNs = 0;
        for (int i = 0; i <= events.size(); i++) {
            if (i < events.size()) {
                events.get(i).on(inParts, clock);
            }
            if (i % every == 0 || i == events.size()) {
                ProfileSnapshot part = inParts.snapshotAndReset();
                samples += part.samples();
                totalNs += part.totalNs();
                tokens += part.totalTokens();
                tiles += part.tiles().stream().mapToLong(TileStats::count).sum();
                wallNs += part.wallNs();
            }
        }

        ProfileSnapshot whole = recorded(events);
        assertThat(List.of(samples, totalNs, tokens, tiles, wallNs))
                .containsExactly(
                        whole.samples(),
                        whole.totalNs(),
                        whole.totalTokens(),
                        whole.tiles().stream().mapToLong(TileStats::count).sum(),
                        whole.wallNs());
    }

    @Property
    void aMergeKeepsExtremesAndPercentiles(@ForAll("events") List<Event> one, @ForAll("events") List<Event> two) {
        List<Event> all = new ArrayList<>(one);
        all.addAll(two);
        ProfileSnapshot merged = recorded(one).merge(recorded(two));

        for (BrickStats brick : merged.bricks()) {
            if (brick.count() == 0) {
                assertThat(brick.work()).as("of a brick without samples").isNotEqualTo(Work.NONE);
                continue;
            }
            List<Long> durationsNs = all.stream()
                    .filter(event -> nameOf(event).equals(Optional.of(brick.name())))
                    .map(Event::elapsedNs)
                    .sorted()
                    .toList();
            assertThat(brick.count()).isEqualTo(durationsNs.size());
            assertThat(brick.minNs()).isEqualTo(durationsNs.get(0));
            assertThat(brick.maxNs()).isEqualTo(durationsNs.get(durationsNs.size() - 1));
            assertThat(brick.latency().orElseThrow().count()).isEqualTo(brick.count());
            for (String share : List.of("50", "90", "99", "99.9")) {
                int rank = new BigDecimal(share)
                        .multiply(BigDecimal.valueOf(durationsNs.size()))
                        .divide(BigDecimal.valueOf(100), 0, RoundingMode.CEILING)
                        .intValueExact();
                long exact = durationsNs.get(rank - 1);
                assertThat((double) Math.abs(brick.percentileNs(Double.parseDouble(share)) - exact))
                        .isLessThanOrEqualTo(LatencyDistribution.RELATIVE_ERROR * exact);
            }
        }
    }

    private static Optional<String> nameOf(Event event) {
        return switch (event.kind) {
            case 1 -> Optional.of("dynamic " + event.which);
            case 5, 6 -> Optional.empty();
            default -> Optional.of(BrickId.all().get(event.which).displayName());
        };
    }

    // ---- the laws of merging ----

    @Spec("4.9")
    @Property
    void mergingIsCommutativeAndAssociative(
            @ForAll("snapshots") ProfileSnapshot one,
            @ForAll("snapshots") ProfileSnapshot two,
            @ForAll("snapshots") ProfileSnapshot three) {
        assertThat(one.merge(two)).isEqualTo(two.merge(one));
        assertThat(one.merge(two).merge(three)).isEqualTo(one.merge(two.merge(three)));
    }

    /** The first brick has no phase; the others alternate between two phases. */
    private static Map<StepInfo.Phase, List<BrickStats>> inPhases(List<BrickStats> bricks) {
        Map<StepInfo.Phase, List<BrickStats>> phases = new EnumMap<>(StepInfo.Phase.class);
        for (int i = 1; i < bricks.size(); i++) {
            StepInfo.Phase phase = i % 2 == 0 ? StepInfo.Phase.PREFILL : StepInfo.Phase.MIXED;
            phases.computeIfAbsent(phase, name -> new ArrayList<>()).add(bricks.get(i));
        }
        return phases;
    }

    @Provide
    Arbitrary<ProfileSnapshot> snapshots() {
        Arbitrary<Long> few = Arbitraries.longs().between(0, 3);
        Arbitrary<BrickStats> brick = Combinators.combine(
                        Arbitraries.of("a", "b"),
                        Arbitraries.of(BrickCategory.OTHER, BrickCategory.FFN),
                        Arbitraries.of(Bottleneck.class),
                        few,
                        few.list().ofMaxSize(3),
                        few,
                        few)
                .as((name, category, bottleneck, atNs, durations, launchNs, unresolved) -> onDevice(
                        Samples.brick(
                                name,
                                category,
                                bottleneck,
                                atNs,
                                durations.stream().mapToLong(Long::longValue).toArray()),
                        launchNs,
                        unresolved));
        Arbitrary<StreamTotals> stream = Combinators.combine(
                        Arbitraries.of("decode", "copies"),
                        Arbitraries.integers().between(0, 1),
                        Arbitraries.of("GPU-1", "GPU-2").optional(),
                        Arbitraries.of("0000:17:00.0", "0000:18:00.0").optional(),
                        few.list().ofSize(5),
                        Arbitraries.of("lost", "closed").optional())
                .as((name, device, uuid, pci, n, failure) -> StreamTotals.builder(name, "gpu", device)
                        .identifiers(uuid, pci)
                        .bricks(n.get(0), n.get(1), n.get(2))
                        .waits(n.get(3))
                        .clockErrorNs(n.get(4))
                        .failure(failure)
                        .build());
        Arbitrary<TileStats> tile = Combinators.combine(Arbitraries.of(TileLevel.class), few, few, few)
                .as((level, ns, row, col) -> TileStats.builder(level)
                        .samples(1, ns, ns, ns)
                        .work(1, 1)
                        .slowest(row.intValue(), col.intValue())
                        .build());
        Arbitrary<Environment> where =
                Arbitraries.of(Samples.MACHINE, new Environment("25", "VM 1", "OS 2", "arch", "cpu", 4, 10));
        Arbitrary<OptionalDouble> rate = Arbitraries.of(
                OptionalDouble.empty(), OptionalDouble.of(0), OptionalDouble.of(0.5), OptionalDouble.of(1));
        Arbitrary<Steps> steps = StepsProperties.steps(4);
        Arbitrary<ProfileSnapshot> recorded = Combinators.combine(
                        few.list().ofSize(8),
                        rate,
                        Arbitraries.of(true, false),
                        where.list().ofMaxSize(2),
                        brick.list().ofMaxSize(4),
                        tile.list().ofMaxSize(4),
                        stream.list().ofMaxSize(3),
                        steps)
                .as((n, l2, flag, environments, bricks, tiles, streams, stepped) -> ProfileSnapshot.builder(
                                Instant.ofEpochSecond(n.get(0)), Instant.ofEpochSecond(10 + n.get(1)), n.get(2))
                        .threads(n.get(3).intValue(), flag)
                        .overheadNs(n.get(4))
                        .deferred(n.get(5), n.get(6), n.get(7))
                        .l2CacheHitRate(l2)
                        .zeroCopy(!flag)
                        .tilesOff(flag)
                        .environments(environments)
                        .bricks(bricks)
                        .phases(inPhases(bricks))
                        .tiles(tiles)
                        .streams(streams)
                        .steps(stepped)
                        .requests(RequestSamples.of(n))
                        .requestTimeline(RequestSamples.timelineOf(n))
                        .build());
        Arbitrary<RunFacts> facts = Combinators.combine(
                        rate.filter(each -> each.orElse(1) > 0),
                        Arbitraries.maps(Arbitraries.of("mhz", "load"), Arbitraries.of(1.0, 2.0)),
                        Arbitraries.of("hot", "steal").list().ofMaxSize(2),
                        few.list().ofSize(5).list().ofMaxSize(2),
                        Combinators.combine(where, few, few)
                                .as((at, own, plain) -> CalibrationTest.calibration(at, own, plain))
                                .list()
                                .ofMaxSize(2),
                        Arbitraries.maps(
                                Arbitraries.of("a", "b"), few.map(n -> new ExecutionGraph.Nesting(n, n, 2 * n, n))))
                .as((tokens, machine, remarks, machines, calibrations, nesting) -> new RunFacts(
                        tokens,
                        tokens,
                        machine,
                        remarks,
                        machines.stream()
                                .map(n -> new RunFacts.VirtualMachine(
                                        n.get(0), Instant.ofEpochSecond(n.get(1)), n.get(2), n.get(3), n.get(4)))
                                .toList(),
                        calibrations,
                        nesting));
        Arbitrary<RunIdentity> identities = Combinators.combine(
                        Arbitraries.of("r1", "r2"),
                        Arbitraries.integers().between(0, 1),
                        Arbitraries.of(false, true),
                        few)
                .as((run, rank, known, step) -> known
                        ? RunIdentity.builder()
                                .runId(run)
                                .rank(rank)
                                .worldSize(2)
                                .steps(step, step + rank)
                                .window(rank)
                                .build()
                        : RunIdentity.builder().steps(step, step + 1).model(run).build());
        return Combinators.combine(recorded, facts, identities)
                .as((snapshot, known, identity) -> snapshot.withFacts(known).withIdentity(identity));
    }

    private static BrickStats onDevice(BrickStats b, long launchNs, long unresolved) {
        DeviceTime device = launchNs == 0 || b.count() == 0
                ? new DeviceTime(0, 0, 0, 0, 0, unresolved)
                : new DeviceTime(1, 1, launchNs, launchNs, launchNs, unresolved);
        return b.toBuilder()
                .device(device)
                .work(new Work(3 * launchNs, unresolved, launchNs))
                .build();
    }
}
