package org.brickprofiler.kernel;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.brickprofiler.Backend;
import org.jspecify.annotations.Nullable;

/**
 * Two snapshots compared by kernel. Immutable.
 *
 * @param changes the kernels in both snapshots, largest change of the total first
 * @param onlyBefore the kernels in the first snapshot only, largest total first
 * @param onlyAfter the kernels in the second snapshot only, largest total first
 */
public record KernelSpeedup(List<Change> changes, List<KernelTiming> onlyBefore, List<KernelTiming> onlyAfter) {

    /** Copies the lists. */
    public KernelSpeedup {
        Objects.requireNonNull(changes, "changes");
        Objects.requireNonNull(onlyBefore, "onlyBefore");
        Objects.requireNonNull(onlyAfter, "onlyAfter");
        changes = List.copyOf(changes);
        onlyBefore = List.copyOf(onlyBefore);
        onlyAfter = List.copyOf(onlyAfter);
    }

    private record Kernel(String name, Backend backend) {}

    static KernelSpeedup of(List<KernelTiming> before, List<KernelTiming> after) {
        Map<Kernel, KernelTiming> earlier = byKernel("before", before);
        Map<Kernel, KernelTiming> onlyAfter = byKernel("after", after);
        List<Change> changes = new ArrayList<>();
        List<KernelTiming> onlyBefore = new ArrayList<>();
        earlier.forEach((kernel, timing) -> {
            @Nullable KernelTiming match = onlyAfter.remove(kernel);
            if (match == null) {
                onlyBefore.add(timing);
            } else {
                changes.add(new Change(timing, match));
            }
        });
        changes.sort(Change.LARGEST_FIRST);
        return new KernelSpeedup(changes, largestFirst(onlyBefore), largestFirst(List.copyOf(onlyAfter.values())));
    }

    private static List<KernelTiming> largestFirst(List<KernelTiming> timings) {
        return timings.stream().sorted(KernelTiming.LARGEST_FIRST).toList();
    }

    private static Map<Kernel, KernelTiming> byKernel(String which, List<KernelTiming> timings) {
        Map<Kernel, KernelTiming> found = new HashMap<>();
        for (KernelTiming timing : timings) {
            if (timing.dispatchCount() > 0 && found.put(new Kernel(timing.name(), timing.backend()), timing) != null) {
                throw new IllegalArgumentException(
                        "'" + timing.name() + "' on " + timing.backend() + " occurs twice in the timings " + which);
            }
        }
        return found;
    }

    /**
     * One kernel in two snapshots. Immutable.
     *
     * @param before its timing in the first snapshot
     * @param after the timing of the same kernel on the same backend in the second one
     */
    public record Change(KernelTiming before, KernelTiming after) {

        /** Largest change of the total first, then by name and backend. */
        static final Comparator<Change> LARGEST_FIRST = Comparator.comparingLong(
                        (Change change) -> Math.abs(change.totalChangeNs()))
                .reversed()
                .thenComparing(Change::name)
                .thenComparing(Change::backend);

        /**
         * Checks that both timings are of one kernel.
         *
         * @throws IllegalArgumentException when names or backends differ
         */
        public Change {
            Objects.requireNonNull(before, "before");
            Objects.requireNonNull(after, "after");
            if (!before.name().equals(after.name()) || before.backend() != after.backend()) {
                throw new IllegalArgumentException("'" + before.name() + "' on " + before.backend() + " and '"
                        + after.name() + "' on " + after.backend() + " are two kernels");
            }
        }

        /**
         * Returns the kernel's name.
         *
         * @return the name in both snapshots
         */
        public String name() {
            return before.name();
        }

        /**
         * Returns the backend of the kernel.
         *
         * @return the backend in both snapshots
         */
        public Backend backend() {
            return before.backend();
        }

        /**
         * Returns the change of the total, which also depends on the number of dispatches: see {@link #ratio()}.
         *
         * @return ns after minus ns before; negative if the total decreased
         */
        public long totalChangeNs() {
            return after.totalNs() - before.totalNs();
        }

        /**
         * Returns the speed-up of a dispatch: the mean duration before divided by the mean duration after.
         *
         * @return above 1 if the kernel became faster, below 1 if it became slower; 1 if both means are 0, and
         *     {@link Double#POSITIVE_INFINITY} if only the mean after is 0
         */
        public double ratio() {
            // A positive number over 0 is infinite by IEEE 754; 0 over 0 would be undefined.
            return before.avgNs() == after.avgNs() ? 1.0 : before.avgNs() / after.avgNs();
        }
    }
}
