package org.brickprofiler.kernel;

import java.util.Comparator;
import java.util.Objects;
import org.brickprofiler.Backend;

/**
 * The recorded times of one kernel on one backend. Immutable. Every derived figure is computed from the components
 * alone.
 *
 * @param name the kernel's name
 * @param backend the backend
 * @param dispatchCount number of dispatches
 * @param totalNs sum of their durations, ns
 * @param minNs shortest duration, ns; 0 without dispatches
 * @param maxNs longest duration, ns
 * @param lastNs duration of the dispatch that was recorded last on any thread, ns; of two dispatches at one reading of
 *     the clock, the longer
 */
public record KernelTiming(
        String name, Backend backend, long dispatchCount, long totalNs, long minNs, long maxNs, long lastNs) {

    /** Largest total first, then by name and backend. */
    static final Comparator<KernelTiming> LARGEST_FIRST = Comparator.comparingLong(KernelTiming::totalNs)
            .reversed()
            .thenComparing(KernelTiming::name)
            .thenComparing(KernelTiming::backend);

    private static final double NS_PER_MS = 1e6;

    /**
     * Rejects null.
     *
     * @throws NullPointerException when a component is null; the message names it
     */
    public KernelTiming {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(backend, "backend");
    }

    /**
     * Returns the mean duration.
     *
     * @return ns, 0 without dispatches
     */
    public double avgNs() {
        return dispatchCount == 0 ? 0.0 : (double) totalNs / dispatchCount;
    }

    /**
     * Returns the mean duration.
     *
     * @return ms, 0 without dispatches
     */
    public double avgMs() {
        return avgNs() / NS_PER_MS;
    }

    /**
     * Returns the shortest duration.
     *
     * @return ms, 0 without dispatches
     */
    public double minMs() {
        return minNs / NS_PER_MS;
    }

    /**
     * Returns the longest duration.
     *
     * @return ms, 0 without dispatches
     */
    public double maxMs() {
        return maxNs / NS_PER_MS;
    }

    /**
     * Returns the duration that was recorded last.
     *
     * @return ms, 0 without dispatches
     */
    public double lastMs() {
        return lastNs / NS_PER_MS;
    }
}
