package org.brickprofiler.kernel;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.brickprofiler.Backend;
import org.jspecify.annotations.Nullable;

/**
 * Two snapshots compared, kernel by kernel. Immutable.
 *
 * @param changes the kernels that both have, largest change of the total first
 * @param onlyBefore the kernels that only the first one has, largest total first
 * @param onlyAfter the kernels that only the second one has, largest total first
 */
public record KernelSpeedup(
        List<KernelChange> changes, List<KernelTiming> onlyBefore, List<KernelTiming> onlyAfter) {

    /** Makes the lists unchangeable. */
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
        List<KernelChange> changes = new ArrayList<>();
        List<KernelTiming> onlyBefore = new ArrayList<>();
        earlier.forEach((kernel, timing) -> {
            @Nullable KernelTiming match = onlyAfter.remove(kernel);
            if (match == null) {
                onlyBefore.add(timing);
            } else {
                changes.add(new KernelChange(timing, match));
            }
        });
        changes.sort(KernelChange.LARGEST_FIRST);
        return new KernelSpeedup(changes, largestFirst(onlyBefore), largestFirst(List.copyOf(onlyAfter.values())));
    }

    private static List<KernelTiming> largestFirst(List<KernelTiming> timings) {
        return timings.stream().sorted(KernelTiming.LARGEST_FIRST).toList();
    }

    private static Map<Kernel, KernelTiming> byKernel(String which, List<KernelTiming> timings) {
        Map<Kernel, KernelTiming> found = new HashMap<>();
        for (KernelTiming timing : timings) {
            if (timing.dispatchCount() > 0
                    && found.put(new Kernel(timing.name(), timing.backend()), timing) != null) {
                throw new IllegalArgumentException(
                        "'" + timing.name() + "' on " + timing.backend() + " is twice in the timings " + which);
            }
        }
        return found;
    }
}
