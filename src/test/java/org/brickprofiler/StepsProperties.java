package org.brickprofiler;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.brickprofiler.stats.LatencyDistribution;
import org.brickprofiler.testing.OneJdk;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.testing.Times;

/** Laws of the steps of any profiles, and random steps for other properties. */
@OneJdk
public final class StepsProperties {

    /**
     * Returns random steps.
     *
     * @param largest the largest number
     */
    public static Arbitrary<Steps> steps(long largest) {
        Arbitrary<Long> number = Arbitraries.longs().between(0, largest);
        Arbitrary<LatencyDistribution> durations = Arbitraries.longs()
                .between(0, 5)
                .list()
                .ofMaxSize(4)
                .map(counts -> LatencyDistribution.ofCounts(
                        counts.stream().mapToLong(n -> n).toArray()));
        Arbitrary<Map<BrickCategory, Long>> categories = Arbitraries.maps(Arbitraries.of(BrickCategory.class), number)
                .ofMaxSize(3)
                .map(map -> map.isEmpty() ? new EnumMap<>(BrickCategory.class) : new EnumMap<>(map));
        Arbitrary<StepStats> phase = Combinators.combine(
                        Arbitraries.of(StepInfo.Phase.class),
                        number.list().ofSize(11),
                        durations.filter(spread -> spread.count() > 0),
                        categories)
                .as((which, n, spread, parts) -> {
                    Times times = Times.of(spread);
                    return StepStats.builder(which)
                            .steps(times.count(), n.get(1))
                            .durations(times.totalNs(), times.minNs(), times.maxNs(), spread)
                            .sequences(n.get(5))
                            .tokens(n.get(6), n.get(7) + n.get(9), n.get(8) + n.get(9), n.get(9))
                            .kvLength(n.get(10))
                            .cpu(cpu(n, times.count()))
                            .categories(parts.isEmpty() ? n.get(0) % times.count() : times.count(), parts)
                            .build();
                });
        Arbitrary<Step> step = Combinators.combine(
                        Arbitraries.of(StepInfo.Phase.class),
                        Arbitraries.integers().between(1, 9),
                        number.list().ofSize(8),
                        categories)
                .as((which, batch, n, parts) -> new Step(
                        n.get(0),
                        n.get(1),
                        n.get(2),
                        new StepInfo(which, batch, n.get(3), n.get(4), n.get(5), n.get(6)),
                        n.get(7),
                        parts));
        return Combinators.combine(
                        phase.list().ofMaxSize(3),
                        durations,
                        number,
                        durations,
                        number,
                        step.list().ofMaxSize(12))
                .as((phases, first, firstNs, perToken, abandoned, kept) ->
                        new Steps(phases, first, first.count() == 0 ? 0 : firstNs, perToken, abandoned, kept))
                .withoutEdgeCases();
    }

    private static StepStats.CpuTime cpu(List<Long> n, long steps) {
        OptionalLong waitedNs = n.get(8) % 2 == 0 ? OptionalLong.empty() : OptionalLong.of(n.get(9));
        return n.get(3) % 2 == 0
                ? StepStats.CpuTime.NONE
                : new StepStats.CpuTime(1 + n.get(5) % steps, n.get(6), n.get(7), waitedNs);
    }

    @Provide
    Arbitrary<Steps> few() {
        return steps(3);
    }

    @Spec("17.6")
    @Property
    void mergeIsCommutativeAndAssociative(@ForAll("few") Steps a, @ForAll("few") Steps b, @ForAll("few") Steps c) {
        assertThat(a.merge(b)).isEqualTo(b.merge(a));
        assertThat(a.merge(b).merge(c)).isEqualTo(a.merge(b.merge(c)));
        assertThat(a.merge(Steps.NONE)).isEqualTo(a);
    }

    /** The steps of one run are cut into parts at random places; merging the parts keeps the same steps as one run. */
    @Spec("17.6")
    @Property(tries = 200)
    void partsKeepTheSameStepsAsTheWhole(
            @ForAll("durations") List<Long> durationsNs, @ForAll("cuts") List<Integer> cuts) {
        List<Step> all = new ArrayList<>();
        for (int i = 0; i < durationsNs.size(); i++) {
            all.add(new Step(i, i, durationsNs.get(i), StepInfo.decode(i), 0, Map.of()));
        }
        Steps merged = Steps.NONE;
        int from = 0;
        List<Integer> ends = new ArrayList<>(
                cuts.stream().map(cut -> cut % (all.size() + 1)).sorted().toList());
        ends.add(all.size());
        for (int end : ends) {
            merged = merged.merge(kept(all.subList(from, end)));
            from = end;
        }
        assertThat(merged.kept()).isEqualTo(kept(all).kept()).hasSizeLessThanOrEqualTo(Steps.SAMPLED + Steps.SLOWEST);
    }

    private static Steps kept(List<Step> steps) {
        return new Steps(List.of(), LatencyDistribution.EMPTY, 0, LatencyDistribution.EMPTY, 0, steps);
    }

    @Provide
    Arbitrary<List<Long>> durations() {
        return Arbitraries.longs().between(0, 50).list().ofMinSize(1).ofMaxSize(900);
    }

    @Provide
    Arbitrary<List<Integer>> cuts() {
        return Arbitraries.integers().between(0, 1_000_000).list().ofMaxSize(4);
    }
}
