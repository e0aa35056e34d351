package org.brickprofiler.kernel;

import java.util.Comparator;
import java.util.Objects;
import org.brickprofiler.Backend;

/**
 * One kernel in two snapshots. Immutable.
 *
 * @param before what the first snapshot says of it
 * @param after what the second one says of the same kernel on the same backend
 */
public record KernelChange(KernelTiming before, KernelTiming after) {

    /** Largest change of the total first, then by name and backend. */
    static final Comparator<KernelChange> LARGEST_FIRST = Comparator.comparingLong(
                    (KernelChange change) -> Math.abs(change.totalChangeNs()))
            .reversed()
            .thenComparing(KernelChange::name)
            .thenComparing(KernelChange::backend);

    /**
     * Two timings of one kernel.
     *
     * @throws IllegalArgumentException when names or backends differ
     */
    public KernelChange {
        Objects.requireNonNull(before, "before");
        Objects.requireNonNull(after, "after");
        if (!before.name().equals(after.name()) || before.backend() != after.backend()) {
            throw new IllegalArgumentException("'" + before.name() + "' on " + before.backend() + " and '"
                    + after.name() + "' on " + after.backend() + " are two kernels");
        }
    }

    /**
     * The kernel's name.
     *
     * @return the name in both snapshots
     */
    public String name() {
        return before.name();
    }

    /**
     * Where the kernel ran.
     *
     * @return the backend in both snapshots
     */
    public Backend backend() {
        return before.backend();
    }

    /**
     * How the total changed. Over unequal numbers of dispatches that is not for the kernel to answer: see
     * {@link #ratio()}.
     *
     * @return ns after less ns before; negative where it became less
     */
    public long totalChangeNs() {
        return after.totalNs() - before.totalNs();
    }

    /**
     * How many times faster a dispatch became: the mean duration before, over the mean duration after.
     *
     * @return above 1 where it became faster, below 1 where it became slower; 1 where both means are 0, and
     *     {@link Double#POSITIVE_INFINITY} where only the one after is
     */
    public double ratio() {
        // A positive number over 0 is infinite by IEEE 754; 0 over 0 would be undefined.
        return before.avgNs() == after.avgNs() ? 1.0 : before.avgNs() / after.avgNs();
    }
}
