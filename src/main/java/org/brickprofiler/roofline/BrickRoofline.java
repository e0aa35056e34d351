package org.brickprofiler.roofline;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.brickprofiler.BrickStats;
import org.brickprofiler.Environment;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.Work;

/**
 * How far the bricks of a profile stay below what the machine can do: the roofline model (Williams, Waterman and
 * Patterson, "Roofline: an insightful visual performance model for multicore architectures", Communications of the ACM
 * 52(4), 2009), with the bandwidth of the cache level or memory in which a brick's working set lies. Immutable.
 *
 * <p>The roof of a brick is the time that its operations take at the machine's highest rate, or that its bytes take at
 * the highest bandwidth, whichever is longer. The rest of the brick's time is overhead: scalar instructions, the
 * latency of loads, waiting for other threads, the call itself. If this is the larger part, the brick is
 * {@link Bound#OVERHEAD}: neither faster memory nor fewer operations would help it much.
 *
 * <p>The kernels of an execution graph have a roofline of their own, of one bandwidth:
 * {@link org.brickprofiler.graph.Roofline}.
 *
 * @param machine what the machine can do
 * @param threads how many threads work on one brick together
 * @param bricks the bricks whose work is known, largest time above the roof first
 * @param unplaced the names of those whose work is not known or beyond count, and of those without a time, as the
 *     profile orders them
 * @param remarks what makes the comparison with this machine doubtful, a sentence each
 */
public record BrickRoofline(
        MachineRoof machine, int threads, List<Distance> bricks, List<String> unplaced, List<String> remarks) {

    /** The limits of a brick. */
    public enum Bound {
        /** The bandwidth of the level in which its working set lies. */
        MEMORY,

        /** The rate of operations. */
        COMPUTE,

        /** Neither: the roof is less than half of its time. */
        OVERHEAD
    }

    /** A usual sample that is less than this share of the mean is remarked upon. */
    private static final double LEAST_USUAL = 0.9;

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
        if (threads < 1) {
            throw new IllegalArgumentException("threads " + threads + " is not 1 or more");
        }
    }

    /**
     * Returns the distance of each brick of a profile to its roof. If a brick has percentiles, the mean of the middle
     * half of its samples counts, so that samples which the machine interrupted decide nothing. If that is less than
     * the roof and the mean of all samples is not, the samples differ in their work, and the mean of all counts. Bricks
     * in which the two are more than a tenth apart are named.
     *
     * @param snapshot the profile, of the same machine
     * @param machine what the machine can do
     * @param threads how many threads work on one brick together, 1 or more; too large a number gives too high a roof,
     *     which is no error
     * @return where they stand
     * @throws IllegalArgumentException when there is no thread
     */
    public static BrickRoofline of(ProfileSnapshot snapshot, MachineRoof machine, int threads) {
        List<Distance> bricks = new ArrayList<>();
        List<String> unplaced = new ArrayList<>();
        for (BrickStats brick : snapshot.bricks()) {
            Work work = brick.work();
            if (brick.totalNs() == 0 || work.isBeyondCount() || (work.flops() == 0 && work.bytes() == 0)) {
                unplaced.add(brick.name());
            } else {
                bricks.add(distance(brick, machine, threads));
            }
        }
        List<String> remarks = remarks(snapshot, machine);
        remarks.addAll(spreads(bricks));
        return new BrickRoofline(machine, threads, bricks, unplaced, remarks);
    }

    /** Names the bricks whose usual sample is far from the mean. */
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

    private static List<String> remarks(ProfileSnapshot snapshot, MachineRoof machine) {
        List<String> remarks = new ArrayList<>();
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
                brick.totalNs(),
                usualNs,
                bandwidthGBps,
                roofNs,
                2 * roofNs < Distance.countedNs(brick.totalNs(), usualNs, roofNs) ? Bound.OVERHEAD : roof,
                roof);
    }

    /**
     * Returns the time of all samples if each took the mean of the middle half, ns; without percentiles their total.
     */
    private static double usualNs(BrickStats brick) {
        double meanNs = brick.latency().map(latency -> latency.meanNs(0, 100)).orElse(0.0);
        double share = meanNs == 0 ? 1 : brick.latency().orElseThrow().meanNs(25, 75) / meanNs;
        return brick.totalNs() * Math.min(1, share);
    }

    /**
     * Returns the time that the placed bricks would take at their roofs, as a share of the time that counts for them.
     *
     * @return 0 to 1, more where a brick exceeds its roof; 0 without bricks
     */
    public double attained() {
        double roofNs = bricks.stream().mapToDouble(Distance::roofNs).sum();
        double countedNs = bricks.stream().mapToDouble(Distance::countedNs).sum();
        return countedNs == 0 ? 0.0 : roofNs / countedNs;
    }

    /**
     * The distance of one brick to its roof. Immutable.
     *
     * @param name the brick
     * @param work what it had to do, over all samples
     * @param totalNs what it took, over all samples, ns
     * @param usualNs what all samples would take if each took the mean of the middle half of them, ns; the total
     *     without percentiles
     * @param bandwidthGBps the highest bandwidth for its working set, GB/s of 10<sup>9</sup> bytes
     * @param roofNs what it would take at its roof, ns
     * @param bound what limits it
     * @param roof which of the two roofs is the lower one, {@link Bound#MEMORY} or {@link Bound#COMPUTE}
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
         * Refuses null.
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
         * @return the usual time, ns; the total if the usual time is below the roof
         */
        public double countedNs() {
            return countedNs(totalNs, usualNs, roofNs);
        }

        private static double countedNs(long totalNs, double usualNs, double roofNs) {
            return roofNs <= usualNs ? usualNs : totalNs;
        }

        /**
         * Returns how far it stays below the roof.
         *
         * @return 1 - achieved / roof: 0 at the roof, near 1 far below it, negative above it
         */
        public double distance() {
            return 1 - roofNs / countedNs();
        }

        /**
         * Returns whether it was faster than the machine can be: its work, its time, its working set, the number of
         * threads or the machine's figures are wrong.
         *
         * @return true above the roof
         */
        public boolean isAboveRoof() {
            return roofNs > countedNs();
        }

        /**
         * Returns the rate of operations that it reached.
         *
         * @return GFLOP/s
         */
        public double gflops() {
            return work.flops() / countedNs();
        }

        /**
         * Returns the bandwidth that it reached.
         *
         * @return GB/s of 10<sup>9</sup> bytes
         */
        public double gigabytesPerSecond() {
            return work.bytes() / countedNs();
        }
    }
}
