package org.brickprofiler.trace.read;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.brickprofiler.StepInfo.Phase;
import org.eclipse.collections.impl.map.mutable.primitive.IntObjectHashMap;

/**
 * The announced steps in a trace of this library. They give the bricks their phases by the rule of the profiler: a
 * brick belongs to the step of its thread in which it ended, or else to the steps under way if all have the same phase.
 *
 * <p>A slice on a row without steps, such as one of a worker, of a device or of deferred measurements, does not show
 * the step that it worked for. A trace with such a brick therefore has no phases. A trace does not show work that a
 * thread does for another thread's layer between bricks of its own step; such work has the phase of the own step. One
 * thread.
 */
final class OwnSteps {

    private static final int MOST_STEPS = 1_000_000;

    private record Step(long startNs, long endNs, Phase phase) {}

    private final IntObjectHashMap<List<Step>> rows = new IntObjectHashMap<>();
    private int size;

    /** Returns the phase that the name of a step states; empty for a step that was not announced. */
    static Optional<Phase> phase(TraceEvent event) {
        return event.isStep()
                ? EnumSet.allOf(Phase.class).stream()
                        .filter(phase -> event.name.equals(phase.name().toLowerCase(Locale.ROOT)))
                        .findFirst()
                : Optional.empty();
    }

    /** Adds a step; a trace with more than a million steps has no phases. */
    void add(int row, long startNs, long endNs, Phase phase) {
        size++;
        if (size <= MOST_STEPS) {
            rows.getIfAbsentPut(row, ArrayList::new).add(new Step(startNs, endNs, phase));
        }
    }

    /**
     * Returns whether the phases of all bricks are known.
     *
     * @param bricks the bricks of the trace
     * @throws IOException when the temporary file cannot be read
     */
    boolean areEnoughFor(EventStore bricks) throws IOException {
        if (size == 0 || size > MOST_STEPS) {
            return false;
        }
        rows.forEach(steps -> steps.sort(Comparator.comparingLong(Step::startNs)));
        EventStore.Cursor events = bricks.inOrder();
        for (EventStore.Event event = events.next(); event != null; event = events.next()) {
            if (!rows.containsKey(event.row())) {
                return false;
            }
        }
        return true;
    }

    /** Returns the phase of a brick; empty if it belongs to no phase, or to one of several. */
    Optional<Phase> phase(Execution brick) {
        List<Step> own = underWay(rows.get(brick.row()), brick.endNs());
        if (!own.isEmpty()) {
            // A step is drawn from the end of a brick that ran mostly in the step before, and up to the end of a brick
            // that ended after the step: the brick did not end in the step to whose edge it extends.
            boolean isAnyCertain =
                    own.stream().anyMatch(step -> step.startNs() < brick.endNs() && brick.endNs() < step.endNs());
            return isAnyCertain ? only(own) : Optional.empty();
        }
        List<Step> all = new ArrayList<>();
        rows.forEach(steps -> all.addAll(underWay(steps, brick.endNs())));
        return only(all);
    }

    private static Optional<Phase> only(List<Step> steps) {
        List<Phase> phases = steps.stream().map(Step::phase).distinct().toList();
        return phases.size() == 1 ? Optional.of(phases.get(0)) : Optional.empty();
    }

    /** Returns the steps of a row that are under way at a time; two if one ends as the next one begins. */
    private static List<Step> underWay(List<Step> steps, long atNs) {
        List<Step> underWay = new ArrayList<>();
        for (int i = startedUntil(steps, atNs) - 1; i >= 0 && steps.get(i).endNs() >= atNs; i--) {
            underWay.add(steps.get(i));
        }
        return underWay;
    }

    /** Returns the number of steps that began no later than a time. */
    private static int startedUntil(List<Step> steps, long atNs) {
        int low = 0;
        int high = steps.size();
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (steps.get(middle).startNs() <= atNs) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }
}
