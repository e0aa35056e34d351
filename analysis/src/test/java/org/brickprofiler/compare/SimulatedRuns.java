package org.brickprofiler.compare;

import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import org.apache.commons.rng.UniformRandomProvider;
import org.apache.commons.rng.sampling.ArraySampler;
import org.apache.commons.rng.sampling.distribution.ZigguratSampler;
import org.apache.commons.rng.simple.RandomSource;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.BrickStats;
import org.brickprofiler.Environment;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.internal.record.LatencyBuckets;
import org.brickprofiler.stats.LatencyDistribution;

/**
 * Simulates runs of processes: each brick has its own spread between processes, and all bricks of a process share a
 * common part. The sides take turns in random order. One thread.
 */
final class SimulatedRuns {

    static final int BRICKS = 36;

    /** Bricks of runs whose samples are simulated one by one. */
    private static final int SAMPLED_BRICKS = 24;

    private static final int SAMPLES = 400;

    /** The spread between the samples of a brick in one process. */
    private static final double SAMPLE_SPREAD = 0.04;

    /** The brick that is slower on the second side. */
    static final String CHANGED = "brick 00";

    private static final Environment ENVIRONMENT =
            new Environment("17", "Simulated VM 17", "Linux 6", "amd64", "Simulated CPU", 8, 20);

    private static final List<BrickCategory> CATEGORIES =
            List.of(BrickCategory.NORM, BrickCategory.ATTENTION, BrickCategory.FFN, BrickCategory.OTHER);

    private static final int STEPS = 1_000;
    private static final double COMMON_SPREAD = 0.005;

    /** Something that processes do beside their own spread. */
    enum Noise {
        /** A third of the bricks has two modes 10 % apart, of which each process draws one for each. */
        BIMODAL,
        /** One process in ten has a second mode of each brick, 10 % above the first. */
        RARE_MODE,
        /** 3 in 10 runs of each side are slow throughout by 8 %. */
        SLOW,
        /** 1 in 10 runs is disturbed by an exponential of mean 10 %. */
        DISTURBED,
        /** The machine becomes 3 % slower over all runs. */
        DRIFT,
        /** In one run of all, half of the bricks take twice as long. */
        ONE_APART,
        /** In two runs of all, a third of the bricks takes 1.5 times as long; each run draws its own bricks. */
        TWO_APART,
        /** The spread of a brick between processes has Student's distribution with 3 degrees. */
        HEAVY,
        /** Samples are simulated, and none is disturbed. */
        SAMPLED,
        /** Samples of which 3 % on average take 60 % longer; each process draws its own rate, up to 6 %. */
        BUSY,
        /** Samples of which 0.1 % take twenty times as long. */
        GUSTY,
        /** Samples of which 1 % take twenty times as long. */
        STORM
    }

    /**
     * The behaviour of simulated processes.
     *
     * @param name for a table
     * @param spread of each brick between processes
     * @param noises what they do besides
     */
    record Behaviour(String name, double spread, Set<Noise> noises) {

        static final Behaviour QUIET = of("spread 1 %");
        static final Behaviour WIDE = new Behaviour("spread 3 %", 0.03, Set.of());
        static final Behaviour BIMODAL = of("1 %, bimodal", Noise.BIMODAL);
        static final Behaviour RARE_MODE = of("1 %, a rare mode", Noise.RARE_MODE);
        static final Behaviour SLOW = of("1 %, slow processes", Noise.SLOW);
        static final Behaviour DISTURBED = of("1 %, disturbed runs", Noise.DISTURBED);
        static final Behaviour DRIFT = of("1 %, drift", Noise.DRIFT);
        static final Behaviour ALL = of("1 %, all of these", Noise.BIMODAL, Noise.SLOW, Noise.DISTURBED, Noise.DRIFT);
        static final Behaviour ONE_APART = of("1 %, one run apart", Noise.ONE_APART);
        static final Behaviour TWO_APART = of("1 %, two runs apart", Noise.TWO_APART);
        static final Behaviour HEAVY = of("1 %, t with 3 degrees", Noise.HEAVY);

        static final List<Behaviour> EACH =
                List.of(QUIET, WIDE, BIMODAL, RARE_MODE, SLOW, DISTURBED, DRIFT, ALL, ONE_APART, TWO_APART, HEAVY);

        static final Behaviour SAMPLED = of("samples, quiet", Noise.SAMPLED);
        static final Behaviour BUSY = of("samples, busy", Noise.BUSY);
        static final Behaviour GUSTY = of("samples, gusty", Noise.GUSTY);
        static final Behaviour STORM = of("samples, storm", Noise.STORM);

        static final List<Behaviour> EACH_SAMPLED = List.of(SAMPLED, BUSY, GUSTY, STORM);

        private static Behaviour of(String name, Noise... noises) {
            return new Behaviour(name, 0.01, Set.of(noises));
        }

        boolean has(Noise noise) {
            return noises.contains(noise);
        }

        private boolean isSampled() {
            return has(Noise.SAMPLED) || has(Noise.BUSY) || has(Noise.GUSTY) || has(Noise.STORM);
        }
    }

    /**
     * The difference of the second side.
     *
     * @param slowerPercent how much longer all samples of the changed bricks take
     * @param bricks how many bricks change, from {@link #CHANGED} on
     * @param tailShare the share of the changed bricks' samples that take longer by {@code tailFactor}; 0 for none
     * @param tailFactor how many times as long these take
     */
    record Change(double slowerPercent, int bricks, double tailShare, double tailFactor) {

        static final Change NONE = slower(0);

        /** One in ten samples takes 1.5 times as long, which makes the mean 5 % longer. */
        static final Change TAIL = new Change(0, 1, 0.1, 1.5);

        /** One in fifty samples takes 3.5 times as long, which makes the mean 5 % longer. */
        static final Change FAR_TAIL = new Change(0, 1, 0.02, 3.5);

        static Change slower(double percent) {
            return new Change(percent, 1, 0, 1);
        }
    }

    /**
     * Both sides.
     *
     * @param before the first
     * @param after the second
     */
    record Sides(List<Run> before, List<Run> after) {

        RunComparison compare(double floorPercent) {
            return compare(RunComparison.Options.defaults().withFloorPercent(floorPercent));
        }

        RunComparison compare(RunComparison.Options options) {
            return RunComparison.of(before, after, options);
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

    /** Simulates {@code runs} runs a side; on the second side one brick takes longer. */
    Sides sides(int runs, double slowerPercent) {
        return sides(runs, Change.slower(slowerPercent));
    }

    /** Simulates {@code runs} runs a side; the second side has a change. */
    Sides sides(int runs, Change change) {
        int[] places = ArraySampler.shuffle(random, IntStream.range(0, 2 * runs).toArray());
        Set<Integer> apart = apart(2 * runs);
        List<Run> before = new ArrayList<>();
        List<Run> after = new ArrayList<>();
        for (int i = 0; i < runs; i++) {
            before.add(run("before " + i, i, runs, places[i] / (2.0 * runs), Change.NONE, apart.contains(i)));
            after.add(run("after " + i, i, runs, places[runs + i] / (2.0 * runs), change, apart.contains(runs + i)));
        }
        return new Sides(before, after);
    }

    /** Draws the runs that are apart, from both sides together. */
    private Set<Integer> apart(int runs) {
        int apart = behaviour.has(Noise.ONE_APART) ? 1 : behaviour.has(Noise.TWO_APART) ? 2 : 0;
        Set<Integer> found = new HashSet<>();
        while (found.size() < apart) {
            found.add(random.nextInt(runs));
        }
        return found;
    }

    /** Draws how many times as long a brick of a run that is apart takes. */
    private double apart() {
        return behaviour.has(Noise.ONE_APART) ? random.nextBoolean() ? 2 : 1 : random.nextInt(3) == 0 ? 1.5 : 1;
    }

    private Run run(String name, int number, int runs, double when, Change change, boolean isApart) {
        double common = COMMON_SPREAD * normal.sample();
        if (behaviour.has(Noise.SLOW) && number < 0.3 * runs) {
            common += Math.log(1.08);
        }
        if (behaviour.has(Noise.DISTURBED) && random.nextInt(10) == 0) {
            common += 0.1 * exponential.sample();
        }
        if (behaviour.has(Noise.DRIFT)) {
            common += 0.03 * when;
        }
        double busy = 0.06 * random.nextDouble();
        List<BrickStats> bricks = new ArrayList<>();
        for (int brick = 0; brick < (behaviour.isSampled() ? SAMPLED_BRICKS : BRICKS); brick++) {
            double log = common + (isApart ? Math.log(apart()) : 0) + behaviour.spread() * ownDeviation();
            if (behaviour.has(Noise.BIMODAL) && brick % 3 == 1 && random.nextBoolean()) {
                log += Math.log(1.1);
            }
            if (behaviour.has(Noise.RARE_MODE) && random.nextInt(10) == 0) {
                log += Math.log(1.1);
            }
            boolean isChanged = brick < change.bricks();
            if (isChanged) {
                log += Math.log1p(change.slowerPercent() / 100);
            }
            double meanNs = 20_000 * (1 + brick % 7) * Math.exp(log);
            bricks.add(
                    behaviour.isSampled()
                            ? sampled(brick, meanNs, busy, isChanged ? change : Change.NONE)
                            : brick(brick, meanNs));
        }
        long totalNs = bricks.stream().mapToLong(BrickStats::totalNs).sum();
        return Run.of(name, snapshot(when, (long) (totalNs * 1.01), bricks));
    }

    private double ownDeviation() {
        double deviation = normal.sample();
        if (!behaviour.has(Noise.HEAVY)) {
            return deviation;
        }
        double squares = 0;
        for (int degree = 0; degree < 3; degree++) {
            double each = normal.sample();
            squares += each * each / 3;
        }
        return deviation / Math.sqrt(squares);
    }

    private BrickStats sampled(int number, double meanNs, double busy, Change change) {
        long[] counts = new long[LatencyBuckets.COUNT];
        long totalNs = 0;
        for (int sample = 0; sample < SAMPLES; sample++) {
            double ns = meanNs * Math.exp(SAMPLE_SPREAD * normal.sample());
            ns *= behaviour.has(Noise.BUSY) && random.nextDouble() < busy ? 1.6 : 1;
            ns *= behaviour.has(Noise.GUSTY) && random.nextDouble() < 0.001 ? 20 : 1;
            ns *= behaviour.has(Noise.STORM) && random.nextDouble() < 0.01 ? 20 : 1;
            ns *= random.nextDouble() < change.tailShare() ? change.tailFactor() : 1;
            counts[LatencyBuckets.indexOf(Math.round(ns))]++;
            totalNs += Math.round(ns);
        }
        return brick(number, SAMPLES, totalNs, Optional.of(LatencyDistribution.ofCounts(counts)));
    }

    private static BrickStats brick(int number, double meanNs) {
        long count = STEPS * (number < 3 ? 1L : 12L);
        return brick(number, count, Math.round(meanNs * count), Optional.empty());
    }

    private static BrickStats brick(int number, long count, long totalNs, Optional<LatencyDistribution> latency) {
        return BrickStats.builder(String.format("brick %02d", number), CATEGORIES.get(number % CATEGORIES.size()))
                .samples(count, totalNs, 1_000, 9_000_000)
                .last(20_000, 1)
                .elements(count)
                .latency(latency)
                .build();
    }

    private static ProfileSnapshot snapshot(double when, long wallNs, List<BrickStats> bricks) {
        Instant start = Instant.parse("2026-01-01T00:00:00Z").plusSeconds(Math.round(100_000 * when));
        return ProfileSnapshot.builder(start, start.plusNanos(wallNs), wallNs)
                .threads(1, false)
                .environments(List.of(ENVIRONMENT))
                .bricks(bricks)
                .build();
    }
}
