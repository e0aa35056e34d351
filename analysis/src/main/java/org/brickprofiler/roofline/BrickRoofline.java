package org.brickprofiler.roofline;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.brickprofiler.BrickStats;
import org.brickprofiler.Environment;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.StepInfo;
import org.brickprofiler.Work;
import org.brickprofiler.internal.base.Plural;
import org.brickprofiler.report.Finding;
import org.brickprofiler.report.FindingSource;
import org.brickprofiler.stats.LatencyDistribution;

/**
 * The distance of a profile's bricks to the limits of the machine: the roofline model (Williams, Waterman and
 * Patterson, "Roofline: an insightful visual performance model for multicore architectures", Communications of the ACM
 * 52(4), 2009), with the bandwidth of the cache level or memory that holds a brick's working set. Immutable.
 *
 * <p>The roof of a brick is the longer of two times: the time of its operations at the machine's highest rate, and the
 * time of its bytes at the highest bandwidth. Neither explains the rest of the brick's time: scalar instructions, the
 * latency of loads, waiting for other threads, the call itself. If the rest is the larger part, the brick is bound by
 * {@link Bound#NEITHER}: neither faster memory nor fewer operations would help it much.
 *
 * <p>The kernels of an execution graph have a separate roofline, with one bandwidth:
 * {@link org.brickprofiler.graph.Roofline}.
 *
 * <p>As a source of findings, it names the brick with the most time above its roof.
 *
 * @param machine the limits of the machine
 * @param threads the number of threads that work on one brick together
 * @param bricks the bricks whose work is known, largest time above the roof first; samples of phases without known work
 *     are left out
 * @param unplaced the names of bricks whose work is unknown or beyond count, and of bricks without a time, in the order
 *     of the profile. Bricks that a device timed, and bricks of which only some samples have known work, are named in
 *     remarks instead
 * @param remarks reasons to doubt the comparison with this machine, one sentence each
 * @param phases the rooflines of the bricks in the steps of each phase; empty if no brick with known work has a phase
 */
public record BrickRoofline(
        MachineRoof machine,
        int threads,
        List<Distance> bricks,
        List<String> unplaced,
        List<String> remarks,
        Map<StepInfo.Phase, BrickRoofline> phases)
        implements FindingSource {

    /** The limit of a brick. */
    public enum Bound {
        /** The bandwidth of the level that holds its working set. */
        MEMORY,

        /** The rate of operations. */
        COMPUTE,

        /** Neither limit explains half of its time. */
        NEITHER
    }

    /** A brick whose work is known for a smaller share of its samples has no roof. */
    private static final double LEAST_KNOWN = 0.9;

    /** A usual sample below this share of the mean is mentioned in a remark. */
    private static final double LEAST_USUAL = 0.9;

    /** The distance from its roof, as a share, below which a brick is no finding. */
    private static final double LEAST_DISTANCE = 0.1;

    /** The largest difference of a roof's rounds, as a share of the highest, with which it is a basis of findings. */
    private static final double MOST_SPREAD = 0.2;

    private static final Comparator<Distance> MOST_ABOVE_FIRST = Comparator.comparingDouble(
                    (Distance brick) -> brick.roofNs() - brick.countedNs())
            .thenComparing(Distance::name);

    /**
     * Sorts the bricks.
     *
     * @throws IllegalArgumentException when there is no thread
     */
    public BrickRoofline {
        Objects.requireNonNull(machine, "machine");
        Objects.requireNonNull(bricks, "bricks");
        Objects.requireNonNull(unplaced, "unplaced");
        bricks = bricks.stream().sorted(MOST_ABOVE_FIRST).toList();
        unplaced = List.copyOf(unplaced);
        Objects.requireNonNull(remarks, "remarks");
        remarks = List.copyOf(remarks);
        Objects.requireNonNull(phases, "phases");
        phases = phases.isEmpty() ? Map.of() : Collections.unmodifiableMap(new EnumMap<>(phases));
        if (threads < 1) {
            throw new IllegalArgumentException("threads " + threads + " is not 1 or more");
        }
    }

    /**
     * Returns the distance of each brick of a profile to its roof. If a brick has percentiles, the mean of the middle
     * half of its samples counts, so that interrupted samples have no effect. If that mean is shorter than the time at
     * the roof, the samples differ in their work, and the mean of all samples counts. A remark names the bricks whose
     * two means differ by more than a tenth. Each phase of steps has a roofline of its own, since a brick may be bound
     * by compute in prefill and by memory in decode.
     *
     * <p>Samples of a phase without known work are left out, and so are samples outside of steps without known work. A
     * remark names their bricks. A brick is not placed if the work of more than a tenth of its other samples is
     * unknown, as after a merge with a profile without work, or if a device timed some of them, since the roof is that
     * of the processor.
     *
     * @param snapshot the profile, of the same machine
     * @param machine the limits of the machine
     * @param threads the number of threads that work on one brick together, 1 or more; a number that is too large gives
     *     a higher roof, but no error
     * @return the distances of the bricks
     * @throws IllegalArgumentException when there is no thread
     */
    public static BrickRoofline of(ProfileSnapshot snapshot, MachineRoof machine, int threads) {
        List<String> remarks = remarks(snapshot, machine, threads);
        Map<StepInfo.Phase, BrickRoofline> phases = new EnumMap<>(StepInfo.Phase.class);
        snapshot.phases().forEach((phase, ofPhase) -> {
            BrickRoofline roofline = of(ofPhase, machine, threads, List.of(), Map.of());
            if (!roofline.bricks().isEmpty() || !roofline.remarks().isEmpty()) {
                phases.put(phase, roofline);
            }
        });
        List<String> leftOut = new ArrayList<>();
        List<String> outside = new ArrayList<>();
        List<BrickStats> bricks = new ArrayList<>();
        for (BrickStats brick : snapshot.bricks()) {
            List<BrickStats> parts = partsOf(brick, snapshot);
            BrickStats counted = withKnownWork(brick, parts);
            bricks.add(counted);
            if (hasWork(brick) && !parts.isEmpty() && parts.stream().noneMatch(BrickRoofline::hasWork)) {
                outside.add(brick.name());
            }
            if (counted.count() < brick.count()) {
                leftOut.add(samples(brick, brick.count() - counted.count()));
            }
        }
        if (!leftOut.isEmpty()) {
            remarks.add("samples of phases without known work are left out: " + String.join(", ", leftOut));
        }
        if (!outside.isEmpty()) {
            remarks.add("work that was recorded outside of steps counts for the samples of steps, too: "
                    + String.join(", ", outside));
        }
        return of(bricks, machine, threads, remarks, phases);
    }

    /** Returns the samples of a brick in each phase. */
    private static List<BrickStats> partsOf(BrickStats brick, ProfileSnapshot snapshot) {
        return snapshot.phases().values().stream()
                .flatMap(List::stream)
                .filter(part -> part.name().equals(brick.name()) && part.category() == brick.category())
                .toList();
    }

    /** Returns a brick without the samples of the phases that have no known work. */
    private static BrickStats withKnownWork(BrickStats whole, List<BrickStats> phases) {
        if (whole.hasWorkOfAll() || !hasWork(whole)) {
            return whole;
        }
        List<BrickStats> others = new ArrayList<>(phases);
        BrickStats outside = less(whole, phases);
        if (outside.count() > 0) {
            long known = phases.stream()
                    .filter(BrickRoofline::hasWork)
                    .mapToLong(BrickStats::workSamples)
                    .sum();
            boolean isKnown = whole.workSamples() > known;
            others.add(isKnown ? outside : outside.toBuilder().work(Work.NONE).build());
        }
        others.removeIf(BrickRoofline::hasWork);
        return less(whole, others);
    }

    private static boolean hasWork(BrickStats brick) {
        return brick.work().flops() > 0 || brick.work().bytes() > 0;
    }

    /**
     * Returns a brick without some of its samples: its count, its total time and its distribution are reduced, the rest
     * is the same.
     */
    private static BrickStats less(BrickStats brick, List<BrickStats> parts) {
        long count = brick.count();
        long totalNs = brick.totalNs();
        Optional<LatencyDistribution> latency = brick.latency();
        for (BrickStats part : parts) {
            count -= part.count();
            totalNs -= part.totalNs();
            latency = latency.flatMap(all -> part.latency().map(all::since));
        }
        return brick.toBuilder()
                .samples(Math.max(0, count), Math.max(0, totalNs), 0, 0)
                .latency(latency)
                .build();
    }

    private static String samples(BrickStats brick, long some) {
        return String.format(Locale.ROOT, "%s (%,d of %s)", brick.name(), some, Plural.of(brick.count(), "sample"));
    }

    private static BrickRoofline of(
            List<BrickStats> recorded,
            MachineRoof machine,
            int threads,
            List<String> about,
            Map<StepInfo.Phase, BrickRoofline> phases) {
        List<Distance> bricks = new ArrayList<>();
        List<String> unplaced = new ArrayList<>();
        List<String> onDevices = new ArrayList<>();
        List<String> inPart = new ArrayList<>();
        for (BrickStats brick : recorded) {
            if (brick.netOrTotalNs() == 0 || brick.work().isBeyondCount() || !hasWork(brick)) {
                unplaced.add(brick.name());
            } else if (brick.device().measured() > 0) {
                onDevices.add(brick.name());
            } else {
                if (!brick.hasWorkOfAll()) {
                    inPart.add(samples(brick, brick.workSamples()));
                }
                if (brick.workSamples() >= LEAST_KNOWN * brick.count()) {
                    bricks.add(distance(brick, machine, threads));
                }
            }
        }
        List<String> remarks = new ArrayList<>(about);
        if (!onDevices.isEmpty()) {
            remarks.add("a device timed these bricks, and the roof is that of the processor, so they are not compared: "
                    + String.join(", ", onDevices));
        }
        if (!inPart.isEmpty()) {
            remarks.add("the work of some samples is unknown, so these bricks are not compared, or seem further from"
                    + " their roof than they are if it is a tenth at most; known is that of "
                    + String.join(", ", inPart));
        }
        remarks.addAll(spreads(bricks));
        return new BrickRoofline(machine, threads, bricks, unplaced, remarks, phases);
    }

    /** Returns remarks on the bricks whose usual sample differs much from the mean. */
    private static List<String> spreads(List<Distance> bricks) {
        List<String> interrupted = new ArrayList<>();
        List<String> different = new ArrayList<>();
        for (Distance brick : bricks) {
            if (brick.usualNs() < LEAST_USUAL * brick.totalNs()) {
                (brick.countedNs() == brick.usualNs() ? interrupted : different)
                        .add(String.format(
                                Locale.ROOT, "%s (%.3g times)", brick.name(), brick.totalNs() / brick.usualNs()));
            }
        }
        List<String> remarks = new ArrayList<>();
        if (!interrupted.isEmpty()) {
            remarks.add("the mean sample is longer than the usual one, which counts here: "
                    + String.join(", ", interrupted) + "; samples were interrupted, or differ in their work");
        }
        if (!different.isEmpty()) {
            remarks.add("samples differ in their work, so their mean counts, interrupted ones included: "
                    + String.join(", ", different));
        }
        return remarks;
    }

    private static List<String> remarks(ProfileSnapshot snapshot, MachineRoof machine, int threads) {
        List<String> remarks = new ArrayList<>();
        if (snapshot.environments().isEmpty()) {
            remarks.add("the profile does not say on which machine it was taken; the roof holds for that machine only");
        }
        for (Environment environment : snapshot.environments()) {
            Environment measured = machine.environment();
            if (!environment.cpu().equals(measured.cpu()) || environment.processors() != measured.processors()) {
                remarks.add("the profile is of another machine: " + environment.cpu() + ", " + environment.processors()
                        + " processors");
            }
        }
        if (!machine.disturbances().isEmpty()) {
            remarks.add("the machine was busy while its roof was measured (" + String.join(", ", machine.disturbances())
                    + "): the roof may be too low");
        }
        unsteady(machine, threads, Bound.MEMORY, "bandwidth").ifPresent(remarks::add);
        unsteady(machine, threads, Bound.COMPUTE, "rate of operations").ifPresent(remarks::add);
        remarks.addAll(machine.drift(snapshot.facts().machine()));
        return remarks;
    }

    private static Distance distance(BrickStats brick, MachineRoof machine, int threads) {
        Work work = brick.work();
        double bandwidthGBps = machine.bandwidthGBps(work.workingSetBytes(), threads);
        // GB/s are bytes per ns, and GFLOP/s operations per ns.
        double memoryNs = work.bytes() / bandwidthGBps;
        double computeNs = work.flops() / machine.gflops(threads);
        double roofNs = Math.max(memoryNs, computeNs);
        Bound roof = computeNs > memoryNs ? Bound.COMPUTE : Bound.MEMORY;
        double usualNs = usualNs(brick);
        return new Distance(
                brick.name(),
                work,
                brick.netOrTotalNs(),
                usualNs,
                bandwidthGBps,
                roofNs,
                2 * roofNs < Distance.countedNs(brick.netOrTotalNs(), usualNs, roofNs) ? Bound.NEITHER : roof,
                roof);
    }

    /**
     * Returns the time of all samples if each took the mean of the middle half, ns; without percentiles their total.
     */
    private static double usualNs(BrickStats brick) {
        double meanNs = brick.latency().map(latency -> latency.meanNs(0, 100)).orElse(0.0);
        double share = meanNs == 0 ? 1 : brick.latency().orElseThrow().meanNs(25, 75) / meanNs;
        return brick.netOrTotalNs() * Math.min(1, share);
    }

    /**
     * Returns the time that the placed bricks would take at their roofs, as a share of the time that counts for them.
     *
     * @return 0 to 1; more if a brick exceeds its roof; 0 without bricks
     */
    public double attained() {
        double roofNs = bricks.stream().mapToDouble(Distance::roofNs).sum();
        double countedNs = bricks.stream().mapToDouble(Distance::countedNs).sum();
        return countedNs == 0 ? 0.0 : roofNs / countedNs;
    }

    /**
     * Returns the share of each limit in the time that counts for the placed bricks.
     *
     * @return the share of each limit, 0 to 1, in the order of {@link Bound}; a new map, which the caller may change
     */
    public Map<Bound, Double> bounds() {
        double wholeNs = bricks.stream().mapToDouble(Distance::countedNs).sum();
        Map<Bound, Double> shares = new EnumMap<>(Bound.class);
        for (Bound bound : Bound.values()) {
            shares.put(bound, 0.0);
        }
        if (wholeNs > 0) {
            bricks.forEach(brick -> shares.merge(brick.bound(), brick.countedNs() / wholeNs, Double::sum));
        }
        return shares;
    }

    /**
     * Returns the brick with the most time above its roof, if it is a tenth or more below it. None, if the roof may be
     * that of another machine, or the rounds that measured it differ by more than 20 %.
     */
    @Override
    public List<Finding> candidates(ProfileSnapshot snapshot) {
        Environment measured = machine.environment();
        boolean isSameMachine = !snapshot.environments().isEmpty()
                && snapshot.environments().stream()
                        .allMatch(each ->
                                each.cpu().equals(measured.cpu()) && each.processors() == measured.processors());
        if (!isSameMachine || snapshot.netOrTotalNs() == 0) {
            return List.of();
        }
        return bricks.stream()
                .filter(brick -> !brick.isAboveRoof() && brick.distance() >= LEAST_DISTANCE && isSteady(brick.roof()))
                .limit(1)
                .map(brick -> {
                    double share = Math.min(1, (brick.countedNs() - brick.roofNs()) / snapshot.netOrTotalNs());
                    return new Finding(
                            Finding.Kind.BELOW_ROOF,
                            brick.name(),
                            share,
                            String.format(
                                    Locale.ROOT,
                                    "%s runs at %.0f %% of its roof, which is %s: %.0f %% of brick time could be won"
                                            + " there.",
                                    brick.name(),
                                    100 * (1 - brick.distance()),
                                    brick.roof() == Bound.MEMORY ? "the memory's bandwidth" : "the rate of operations",
                                    100 * share),
                            "with --html OUT, the same command draws the roofline");
                })
                .toList();
    }

    private boolean isSteady(Bound roof) {
        return spread(machine, threads, roof) <= MOST_SPREAD;
    }

    /** Returns the remark that a roof is no basis of advice; empty if its rounds are similar. */
    private static Optional<String> unsteady(MachineRoof machine, int threads, Bound roof, String name) {
        double spread = spread(machine, threads, roof);
        return spread <= MOST_SPREAD
                ? Optional.empty()
                : Optional.of(String.format(
                        Locale.ROOT,
                        "the rounds that measured the %s differ by %.0f %%, more than %.0f %%: no advice follows from this"
                                + " roof; measure it again on a quiet machine",
                        name,
                        100 * spread,
                        100 * MOST_SPREAD));
    }

    /** Returns the largest difference of a roof's rounds, as a share of the highest. */
    private static double spread(MachineRoof machine, int threads, Bound roof) {
        if (roof == Bound.COMPUTE) {
            return (threads == 1 ? machine.flopsOne() : machine.flopsAll()).spread();
        }
        return machine.bandwidths().stream()
                .map(each -> threads == 1 ? each.readOne() : each.readAll())
                .mapToDouble(MachineRoof.Rate::spread)
                .max()
                .orElse(0);
    }

    /**
     * The distance of one brick to its roof. Immutable.
     *
     * @param name the brick
     * @param work its work, over all samples
     * @param totalNs its time, over all samples, ns
     * @param usualNs the time of all samples if each took the mean of the middle half, ns; the total without
     *     percentiles
     * @param bandwidthGBps the highest bandwidth for its working set, GB/s of 10<sup>9</sup> bytes
     * @param roofNs its time at its roof, ns
     * @param bound its limit
     * @param roof the lower of its two roofs, {@link Bound#MEMORY} or {@link Bound#COMPUTE}
     */
    public record Distance(
            String name,
            Work work,
            long totalNs,
            double usualNs,
            double bandwidthGBps,
            double roofNs,
            Bound bound,
            Bound roof) {

        /**
         * Rejects null.
         *
         * @throws NullPointerException when a component is null; the message names it
         */
        public Distance {
            Objects.requireNonNull(name, "name");
            Objects.requireNonNull(work, "work");
            Objects.requireNonNull(bound, "bound");
            Objects.requireNonNull(roof, "roof");
        }

        /**
         * Returns the time that is compared with the roof.
         *
         * @return the usual time, ns; the total time if the usual time is shorter than the time at the roof
         */
        public double countedNs() {
            return countedNs(totalNs, usualNs, roofNs);
        }

        private static double countedNs(long totalNs, double usualNs, double roofNs) {
            return roofNs <= usualNs ? usualNs : totalNs;
        }

        /**
         * Returns the distance below the roof.
         *
         * @return 1 - achieved / roof: 0 at the roof, near 1 far below it, negative above it
         */
        public double distance() {
            return 1 - roofNs / countedNs();
        }

        /**
         * Returns whether the brick exceeds the machine's limits: its work, its time, its working set, the number of
         * threads or the machine's figures are wrong.
         *
         * @return true above the roof
         */
        public boolean isAboveRoof() {
            return roofNs > countedNs();
        }

        /**
         * Returns the achieved rate of operations.
         *
         * @return GFLOP/s
         */
        public double gflops() {
            return work.flops() / countedNs();
        }

        /**
         * Returns the achieved bandwidth.
         *
         * @return GB/s of 10<sup>9</sup> bytes
         */
        public double gigabytesPerSecond() {
            return work.bytes() / countedNs();
        }
    }
}
