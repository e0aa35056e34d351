package org.brickprofiler;

import static org.brickprofiler.internal.base.Checks.requireFinite;
import static org.brickprofiler.internal.base.Checks.requireName;
import static org.brickprofiler.internal.base.Checks.requireNotNegative;
import static org.brickprofiler.internal.base.Checks.requirePositive;

import java.lang.management.CompilationMXBean;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.RuntimeMXBean;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.BinaryOperator;
import org.brickprofiler.graph.ExecutionGraph.Nesting;
import org.jspecify.annotations.Nullable;

/**
 * Facts of a run apart from its bricks: its speed as the application measured it, the activity of its virtual machine,
 * and the state of the machine. Immutable; equal facts are equal objects.
 *
 * @param tokensPerSec the rate that the application measured, tokens/s; of merged snapshots, the smallest
 * @param unprofiledTokensPerSec the rate of the same program with the profiler switched off, which {@code brick run}
 *     adds, tokens/s; of merged snapshots, the smallest
 * @param machine figures of the machine while it ran, by a name with its unit, in order of the names; of merged
 *     snapshots, the largest
 * @param disturbances remarks on figures that make the run doubtful, in order, those that begin with {@link #NO_STEP}
 *     first; empty if there are none
 * @param virtualMachines the virtual machines that recorded, in order; of merged snapshots, all of them
 * @param calibrations the cost of timing a brick, if it was {@linkplain BrickProfiler#calibrate measured}: the cheapest
 *     of each environment
 * @param nesting if there are calibrations, the nesting of bricks by their names, as far as the graph has recorded it;
 *     of merged snapshots, the sums
 */
public record RunFacts(
        OptionalDouble tokensPerSec,
        OptionalDouble unprofiledTokensPerSec,
        Map<String, Double> machine,
        List<String> disturbances,
        List<VirtualMachine> virtualMachines,
        List<Calibration> calibrations,
        Map<String, Nesting> nesting) {

    /** The beginning of the remark that no step was reached, although steps were expected. */
    public static final String NO_STEP = "no step was reached";

    // Not a comparator of the JDK: the virtual machine generates their classes, at the end of each short run.
    private static final Comparator<String> NO_STEP_FIRST = (one, other) -> {
        int byKind = Boolean.compare(other.startsWith(NO_STEP), one.startsWith(NO_STEP));
        return byKind == 0 ? one.compareTo(other) : byKind;
    };

    /** Nothing is known. */
    public static final RunFacts NONE = new RunFacts(
            OptionalDouble.empty(), OptionalDouble.empty(), Map.of(), List.of(), List.of(), List.of(), Map.of());

    /**
     * Sorts the lists, and merges readings of the same virtual machine.
     *
     * @throws IllegalArgumentException when a rate is not a finite number above 0, a figure of the machine is negative
     *     or not finite, or a name or remark is empty
     */
    public RunFacts {
        requireRate("tokensPerSec", tokensPerSec);
        requireRate("unprofiledTokensPerSec", unprofiledTokensPerSec);
        machine = Collections.unmodifiableMap(new TreeMap<>(Objects.requireNonNull(machine, "machine")));
        machine.forEach((name, value) -> {
            requireName("figure of the machine", name);
            requireFinite(name, value);
        });
        Objects.requireNonNull(disturbances, "disturbances").forEach(remark -> requireName("disturbance", remark));
        disturbances = disturbances.stream().distinct().sorted(NO_STEP_FIRST).toList();
        virtualMachines = latest(Objects.requireNonNull(virtualMachines, "virtualMachines"));
        calibrations = cheapest(Objects.requireNonNull(calibrations, "calibrations"));
        nesting = Collections.unmodifiableMap(new TreeMap<>(Objects.requireNonNull(nesting, "nesting")));
    }

    private static List<Calibration> cheapest(Collection<Calibration> all) {
        SortedMap<Environment, Calibration> cheapest = new TreeMap<>();
        for (Calibration each : all) {
            cheapest.merge(each.environment(), each, BinaryOperator.minBy(Calibration.CHEAPEST_FIRST));
        }
        return List.copyOf(cheapest.values());
    }

    private static final Nesting UNKNOWN = new Nesting(0, 0, 0, 0);

    /**
     * Returns whether this virtual machine is one of those that recorded.
     *
     * @return false also if this virtual machine lacks the module {@code java.management}, which provides the necessary
     *     data
     */
    public boolean isOfThisProcess() {
        Optional<VirtualMachine> here = VirtualMachine.current();
        return here.isPresent()
                && virtualMachines.stream()
                        .anyMatch(each -> each.pid == here.get().pid && each.startedAt.equals(here.get().startedAt));
    }

    private static void requireRate(String what, OptionalDouble rate) {
        Objects.requireNonNull(rate, what);
        rate.ifPresent(value -> requirePositive(what, value));
    }

    private static List<VirtualMachine> latest(Collection<VirtualMachine> readings) {
        SortedMap<String, VirtualMachine> latest = new TreeMap<>();
        for (VirtualMachine reading : readings) {
            latest.merge(reading.startedAt() + " " + reading.pid(), reading, VirtualMachine::later);
        }
        return List.copyOf(latest.values());
    }

    /**
     * A virtual machine from its start to the snapshot. Two readings with the same process and start are readings of
     * the same virtual machine.
     *
     * @param pid the number of its process
     * @param startedAt when it started
     * @param upNs time since its start, ns
     * @param gcNs time that its garbage collectors report, ns; concurrent collectors include their cycles
     * @param jitNs time that its compilers report, over all of their threads, ns
     */
    public record VirtualMachine(long pid, Instant startedAt, long upNs, long gcNs, long jitNs) {

        private static final long NS_PER_MS = 1_000_000;

        /**
         * Checks the values.
         *
         * @throws IllegalArgumentException when a number is negative
         */
        public VirtualMachine {
            Objects.requireNonNull(startedAt, "startedAt");
            requireNotNegative("pid", pid);
            requireNotNegative("upNs", upNs);
            requireNotNegative("gcNs", gcNs);
            requireNotNegative("jitNs", jitNs);
        }

        /**
         * Returns a reading of this virtual machine; empty if its image lacks the module {@code java.management}. The
         * first call loads the beans, which takes some milliseconds.
         */
        static Optional<VirtualMachine> current() {
            try {
                return Optional.of(Beans.read());
            } catch (LinkageError missing) {
                return Optional.empty();
            }
        }

        /** The only user of the module {@code java.management}: images without it lack only these figures. */
        private static final class Beans {
            private static final RuntimeMXBean RUNTIME = ManagementFactory.getRuntimeMXBean();
            private static final List<GarbageCollectorMXBean> COLLECTORS =
                    ManagementFactory.getGarbageCollectorMXBeans();

            /** Null in a virtual machine that compiles nothing. */
            private static final @Nullable CompilationMXBean COMPILERS = ManagementFactory.getCompilationMXBean();

            static VirtualMachine read() {
                long gcMs = 0;
                for (GarbageCollectorMXBean collector : COLLECTORS) {
                    gcMs += Math.max(0, collector.getCollectionTime());
                }
                long jitMs = COMPILERS != null && COMPILERS.isCompilationTimeMonitoringSupported()
                        ? COMPILERS.getTotalCompilationTime()
                        : 0;
                return new VirtualMachine(
                        RUNTIME.getPid(),
                        Instant.ofEpochMilli(RUNTIME.getStartTime()),
                        RUNTIME.getUptime() * NS_PER_MS,
                        gcMs * NS_PER_MS,
                        jitMs * NS_PER_MS);
            }
        }

        private VirtualMachine later(VirtualMachine other) {
            return new VirtualMachine(
                    pid,
                    startedAt,
                    Math.max(upNs, other.upNs),
                    Math.max(gcNs, other.gcNs),
                    Math.max(jitNs, other.jitNs));
        }

        /**
         * Returns the share of its uptime in which garbage collectors worked.
         *
         * @return %, 0 if its uptime is unknown
         */
        public double gcPercent() {
            return percentOfLife(gcNs);
        }

        /**
         * Returns the work of its compilers as a share of its uptime; above 100 if several compiler threads worked.
         *
         * @return %, 0 if its uptime is unknown
         */
        public double jitPercent() {
            return percentOfLife(jitNs);
        }

        private double percentOfLife(long ns) {
            return upNs == 0 ? 0 : 100.0 * ns / upNs;
        }
    }

    /**
     * Returns these facts with the rate of a run without the profiler.
     *
     * @param rate the rate of the same program with the profiler switched off, tokens/s
     * @return the facts
     * @throws IllegalArgumentException when the rate is not a finite number above 0
     */
    public RunFacts withUnprofiledTokensPerSec(double rate) {
        return withRates(tokensPerSec, OptionalDouble.of(rate));
    }

    /**
     * Returns these facts with other rates.
     *
     * @param tokensPerSec the rate of the run, tokens/s; empty if it is not known
     * @param unprofiledTokensPerSec the rate of the same program with the profiler switched off, tokens/s; empty if it
     *     is not known
     * @return the facts
     * @throws IllegalArgumentException when a rate is not a finite number above 0
     */
    public RunFacts withRates(OptionalDouble tokensPerSec, OptionalDouble unprofiledTokensPerSec) {
        return new RunFacts(
                tokensPerSec, unprofiledTokensPerSec, machine, disturbances, virtualMachines, calibrations, nesting);
    }

    /**
     * Returns these facts with observations of the machine during the run.
     *
     * @param figures figures by a name with its unit
     * @param remarks remarks on figures that make the run doubtful
     * @return the facts
     * @throws IllegalArgumentException when a figure is negative or not finite, or a name or remark is empty
     */
    public RunFacts withMachine(Map<String, Double> figures, List<String> remarks) {
        Objects.requireNonNull(figures, "figures");
        Objects.requireNonNull(remarks, "remarks");
        return new RunFacts(
                tokensPerSec, unprofiledTokensPerSec, figures, remarks, virtualMachines, calibrations, nesting);
    }

    /**
     * Returns the time of a brick without the cost of timing it and the bricks inside it. If the nesting of the brick
     * is unknown, only the part of its own timing that a sample contains is subtracted; the cost of bricks inside it,
     * and the rest of a {@code lap}, remain. The cost of prevented compiler optimisations and of tiles is never
     * subtracted.
     *
     * @param brick a brick of the same snapshot
     * @return ns, 0 or more; of a brick that a device timed, {@link BrickStats#netNs}; of others empty without a
     *     calibration, and with calibrations of several environments
     */
    public OptionalLong netNs(BrickStats brick) {
        Objects.requireNonNull(brick, "brick");
        if (calibrations.size() != 1 || brick.timeSource() != DeviceTime.Source.HOST) {
            return brick.netNs();
        }
        Calibration.Cost cost = calibrations.get(0).own();
        Nesting known = nesting.getOrDefault(brick.name(), UNKNOWN);
        double perSample = brick.count() / (double) Math.max(1, known.samples());
        double lapped = perSample * known.lapped();
        double costNs = (brick.count() - lapped) * cost.insideNs().medianNs()
                + lapped * cost.lapNs().medianNs()
                + perSample
                        * (known.within() - known.lappedWithin())
                        * cost.sampleNs().medianNs()
                + perSample * known.lappedWithin() * cost.lapNs().medianNs();
        return OptionalLong.of(Math.max(0, Math.round(brick.totalNs() - costNs)));
    }

    /** Returns the facts of the merged runs. Commutative and associative. */
    RunFacts plus(RunFacts other) {
        Map<String, Double> both = new TreeMap<>(machine);
        other.machine.forEach((name, value) -> both.merge(name, value, Math::max));
        Map<String, Nesting> allNesting = new TreeMap<>(nesting);
        other.nesting.forEach((brick, each) -> allNesting.merge(brick, each, Nesting::plus));
        return new RunFacts(
                smaller(tokensPerSec, other.tokensPerSec),
                smaller(unprofiledTokensPerSec, other.unprofiledTokensPerSec),
                both,
                concat(disturbances, other.disturbances),
                concat(virtualMachines, other.virtualMachines),
                concat(calibrations, other.calibrations),
                allNesting);
    }

    static OptionalDouble smaller(OptionalDouble one, OptionalDouble two) {
        if (one.isEmpty() || two.isEmpty()) {
            return one.isPresent() ? one : two;
        }
        return OptionalDouble.of(Math.min(one.getAsDouble(), two.getAsDouble()));
    }

    static <T> List<T> concat(List<T> one, List<T> two) {
        List<T> both = new ArrayList<>(one);
        both.addAll(two);
        return both;
    }
}
