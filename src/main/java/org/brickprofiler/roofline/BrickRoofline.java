package org.brickprofiler.roofline;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
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
 * latency of loads, waiting for other threads, the call itself. Where that is the larger part, the brick is {@link
 * Bound#OVERHEAD}, and neither a faster memory nor fewer operations would help it much.
 *
 * <p>The kernels of an execution graph have a roofline of their own, of one bandwidth: {@link
 * org.brickprofiler.graph.Roofline}.
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

    /** What limits a brick. */
    public enum Bound {
        /** The bandwidth of the level in which its working set lies. */
        MEMORY,

        /** The rate of operations. */
        COMPUTE,

        /** Neither: the roof is less than half of its time. */
        OVERHEAD
    }

    private static final Comparator<Distance> MOST_ABOVE_FIRST = Comparator.comparingDouble(
                    (Distance brick) -> brick.roofNs() - brick.totalNs())
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
     * Where each brick of a profile stands.
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
        return new BrickRoofline(machine, threads, bricks, unplaced, remarks(snapshot, machine));
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
        return new Distance(
                brick.name(),
                work,
                brick.totalNs(),
                bandwidthGBps,
                roofNs,
                2 * roofNs < brick.totalNs() ? Bound.OVERHEAD : roof,
                roof);
    }

    /**
     * The time that the placed bricks would take at their roofs, as a share of the time that they took.
     *
     * @return 0 to 1, more where a brick exceeds its roof; 0 without bricks
     */
    public double attained() {
        double roofNs = bricks.stream().mapToDouble(Distance::roofNs).sum();
        double totalNs = bricks.stream().mapToDouble(Distance::totalNs).sum();
        return totalNs == 0 ? 0.0 : roofNs / totalNs;
    }

    /**
     * Where one brick stands. Immutable.
     *
     * @param name the brick
     * @param work what it had to do, over all samples
     * @param totalNs what it took, over all samples, ns
     * @param bandwidthGBps the highest bandwidth for its working set, GB/s of 10<sup>9</sup> bytes
     * @param roofNs what it would take at its roof, ns
     * @param bound what limits it
     * @param roof which of the two roofs is the lower one, {@link Bound#MEMORY} or {@link Bound#COMPUTE}
     */
    public record Distance(
            String name, Work work, long totalNs, double bandwidthGBps, double roofNs, Bound bound, Bound roof) {

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
         * How far it stays below the roof.
         *
         * @return 1 - achieved / roof: 0 at the roof, near 1 far below it, negative above it
         */
        public double distance() {
            return 1 - roofNs / totalNs;
        }

        /**
         * Whether it was faster than the machine can be: its work, its time, its working set, the number of threads or
         * the machine's figures are wrong.
         *
         * @return true above the roof
         */
        public boolean isAboveRoof() {
            return roofNs > totalNs;
        }

        /**
         * The rate of operations that it reached.
         *
         * @return GFLOP/s
         */
        public double gflops() {
            return (double) work.flops() / totalNs;
        }

        /**
         * The bandwidth that it reached.
         *
         * @return GB/s of 10<sup>9</sup> bytes
         */
        public double gigabytesPerSecond() {
            return (double) work.bytes() / totalNs;
        }
    }
}
