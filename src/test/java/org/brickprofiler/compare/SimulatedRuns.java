package org.brickprofiler.compare;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;
import java.util.stream.IntStream;
import org.apache.commons.rng.UniformRandomProvider;
import org.apache.commons.rng.sampling.ArraySampler;
import org.apache.commons.rng.sampling.distribution.ZigguratSampler;
import org.apache.commons.rng.simple.RandomSource;
import org.brickprofiler.Bottleneck;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.BrickStats;
import org.brickprofiler.Environment;
import org.brickprofiler.ProfileSnapshot;

/**
 * Runs as processes make them: every brick has its own spread between processes, and there is a part that all bricks of
 * a process share. The sides take turns in random order. One thread.
 */
final class SimulatedRuns {

    static final int BRICKS = 36;

    /** The brick that is slower on the second side. */
    static final String CHANGED = "brick 00";

    private static final Environment ENVIRONMENT =
            new Environment("17", "Simulated VM 17", "Linux 6", "amd64", "Simulated CPU", 8, 20);

    private static final List<BrickCategory> CATEGORIES =
            List.of(BrickCategory.NORM, BrickCategory.ATTENTION, BrickCategory.FFN, BrickCategory.OTHER);

    private static final int STEPS = 1_000;
    private static final double COMMON_SPREAD = 0.005;

    /**
     * What processes do.
     *
     * @param name for a table
     * @param spread of each brick between processes
     * @param bimodal whether a third of the bricks has two modes 10 % apart, of which each process draws one for each
     * @param slowProcesses whether 3 in 10 runs of each side are slow throughout by 8 %
     * @param disturbed whether 1 in 10 runs is disturbed by an exponential of mean 10 %
     * @param drift whether the machine becomes 3 % slower over all runs
     */
    record Behaviour(
            String name, double spread, boolean bimodal, boolean slowProcesses, boolean disturbed, boolean drift) {

        static final Behaviour QUIET = new Behaviour("spread 1 %", 0.01, false, false, false, false);
        static final Behaviour WIDE = new Behaviour("spread 3 %", 0.03, false, false, false, false);
        static final Behaviour BIMODAL = new Behaviour("1 %, bimodal", 0.01, true, false, false, false);
        static final Behaviour SLOW = new Behaviour("1 %, slow processes", 0.01, false, true, false, false);
        static final Behaviour DISTURBED = new Behaviour("1 %, disturbed runs", 0.01, false, false, true, false);
        static final Behaviour DRIFT = new Behaviour("1 %, drift", 0.01, false, false, false, true);
        static final Behaviour ALL = new Behaviour("1 %, all of these", 0.01, true, true, true, true);

        static final List<Behaviour> EACH = List.of(QUIET, WIDE, BIMODAL, SLOW, DISTURBED, DRIFT, ALL);
    }

    /**
     * Both sides.
     *
     * @param before the first
     * @param after the second
     */
    record Sides(List<Run> before, List<Run> after) {

        Comparison compare(double floorPercent) {
            return Comparison.of(before, after, Comparison.Options.defaults().withFloorPercent(floorPercent));
        }
    }

    private final UniformRandomProvider random;
    private final ZigguratSampler.NormalizedGaussian normal;
    private final ZigguratSampler.Exponential exponential;
    private final Behaviour behaviour;

    SimulatedRuns(Behaviour behaviour, long seed) {
        this.behaviour = behaviour;
        random = RandomSource.XO_RO_SHI_RO_128_PP.create(seed);
        normal = ZigguratSampler.NormalizedGaussian.of(random);
        exponential = ZigguratSampler.Exponential.of(random);
    }

    /** So many runs a side; on the second side one brick takes longer. */
    Sides sides(int runs, double slowerPercent) {
        int[] places = ArraySampler.shuffle(random, IntStream.range(0, 2 * runs).toArray());
        List<Run> before = new ArrayList<>();
        List<Run> after = new ArrayList<>();
        for (int i = 0; i < runs; i++) {
            before.add(run("before " + i, i, runs, places[i] / (2.0 * runs), 0));
            after.add(run("after " + i, i, runs, places[runs + i] / (2.0 * runs), slowerPercent));
        }
        return new Sides(before, after);
    }

    private Run run(String name, int number, int runs, double when, double slowerPercent) {
        double common = COMMON_SPREAD * normal.sample();
        if (behaviour.slowProcesses() && number < 0.3 * runs) {
            common += Math.log(1.08);
        }
        if (behaviour.disturbed() && random.nextInt(10) == 0) {
            common += 0.1 * exponential.sample();
        }
        if (behaviour.drift()) {
            common += 0.03 * when;
        }
        List<BrickStats> bricks = new ArrayList<>();
        for (int brick = 0; brick < BRICKS; brick++) {
            double log = common + behaviour.spread() * normal.sample();
            if (behaviour.bimodal() && brick % 3 == 1 && random.nextBoolean()) {
                log += Math.log(1.1);
            }
            if (brick == 0) {
                log += Math.log1p(slowerPercent / 100);
            }
            bricks.add(brick(brick, 20_000 * (1 + brick % 7) * Math.exp(log)));
        }
        long totalNs = bricks.stream().mapToLong(BrickStats::totalNs).sum();
        return Run.of(name, snapshot(when, (long) (totalNs * 1.01), bricks));
    }

    private static BrickStats brick(int number, double meanNs) {
        BrickCategory category = CATEGORIES.get(number % CATEGORIES.size());
        long count = STEPS * (number < 3 ? 1L : 12L);
        return new BrickStats(
                String.format("brick %02d", number), category, Bottleneck.UNKNOWN, count, Math.round(meanNs * count),
                1_000, 9_000_000, 20_000, 1, count, 0, 0, 0, 0, 0, java.util.Optional.empty());
    }

    private static ProfileSnapshot snapshot(double when, long wallNs, List<BrickStats> bricks) {
        Instant start = Instant.parse("2026-01-01T00:00:00Z").plusSeconds(Math.round(100_000 * when));
        return new ProfileSnapshot(
                start, start.plusNanos(wallNs), wallNs, 1, false, 0, 0, OptionalDouble.empty(), false,
                List.of(ENVIRONMENT), bricks, List.of());
    }
}
