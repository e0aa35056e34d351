package org.brickprofiler.report.internal;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.brickprofiler.internal.base.Plural;
import org.brickprofiler.internal.base.Sums;

/**
 * Checks the bricks of a report: the samples and the time of a brick in all phases together must not exceed those of
 * all its samples. Otherwise the remainder without a phase would be negative. One thread.
 */
public final class PhaseCheck {

    private final Map<List<String>, Sum> bricks = new HashMap<>();

    /** The samples of one brick. */
    private static final class Sum {
        private long count;
        private long totalNs;
        private long countInPhases;
        private long totalNsInPhases;

        private boolean isExceeded() {
            return countInPhases > count || totalNsInPhases > totalNs;
        }
    }

    /** Creates a check without bricks. */
    public PhaseCheck() {
        // Nothing to add.
    }

    private Sum of(String category, String name) {
        return bricks.computeIfAbsent(List.of(category, name), brick -> new Sum());
    }

    /**
     * Adds samples of a brick.
     *
     * @param category the name of its category
     * @param name its name
     * @param count samples
     * @param totalNs the sum of their durations, ns
     */
    public void add(String category, String name, long count, long totalNs) {
        Sum sum = of(category, name);
        sum.count = Sums.limited(sum.count, count);
        sum.totalNs = Sums.limited(sum.totalNs, totalNs);
    }

    /**
     * Adds samples of a brick that belong to steps of a phase.
     *
     * @param category the name of its category
     * @param name its name
     * @param count samples
     * @param totalNs the sum of their durations, ns
     */
    public void addInPhase(String category, String name, long count, long totalNs) {
        Sum sum = of(category, name);
        sum.countInPhases = Sums.limited(sum.countInPhases, count);
        sum.totalNsInPhases = Sums.limited(sum.totalNsInPhases, totalNs);
    }

    /**
     * Returns the fault of a brick that has more samples or more time in its phases than in all.
     *
     * @return a sentence without a full stop, or empty if there is none
     */
    public Optional<String> fault() {
        return bricks.entrySet().stream()
                .filter(brick -> brick.getValue().isExceeded())
                .map(brick ->
                        brick.getKey().get(1) + " has " + Plural.of(brick.getValue().countInPhases, "sample") + " of "
                                + brick.getValue().totalNsInPhases + " ns in its phases, and "
                                + Plural.of(brick.getValue().count, "sample") + " of " + brick.getValue().totalNs
                                + " ns in all")
                .sorted()
                .findFirst();
    }
}
