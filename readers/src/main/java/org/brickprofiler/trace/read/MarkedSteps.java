package org.brickprofiler.trace.read;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.brickprofiler.internal.base.Plural;
import org.eclipse.collections.impl.map.mutable.primitive.IntLongHashMap;
import org.eclipse.collections.impl.map.mutable.primitive.LongLongHashMap;

/** The begins of the steps that a trace marks by annotations. One thread. */
final class MarkedSteps {

    private static final int MOST = 100_000;
    private static final Pattern STEP = Pattern.compile("ProfilerStep#(\\d{1,18})");

    private final String source;
    private final LongLongHashMap startsNs = new LongLongHashMap();
    private final IntLongHashMap nextByRow = new IntLongHashMap();

    MarkedSteps(String source) {
        this.source = source;
    }

    /**
     * Adds an annotation if its name or its number makes it a step. A step that several threads mark begins with the
     * first mark.
     *
     * @param event an annotation with a valid start
     * @return whether it is a step
     * @throws TraceFormatException when there are too many steps
     */
    boolean add(TraceEvent event) throws TraceFormatException {
        Matcher step = STEP.matcher(event.name);
        long number = step.matches() ? Long.parseLong(step.group(1)) : event.step;
        if (number >= 0) {
            add(number, event);
        }
        return number >= 0;
    }

    /**
     * Adds a step whose name need not contain a number: the steps of a row are counted from 0.
     *
     * @param event an annotation with a valid start
     * @param row the number of its row
     * @throws TraceFormatException when there are too many steps
     */
    void addOfRow(TraceEvent event, int row) throws TraceFormatException {
        if (!add(event)) {
            add(nextByRow.addToValue(row, 1) - 1, event);
        }
    }

    private void add(long number, TraceEvent event) throws TraceFormatException {
        startsNs.put(number, Math.min(startsNs.getIfAbsent(number, event.startNs), event.startNs));
        if (startsNs.size() > MOST) {
            throw new TraceFormatException(source, event.offset, "there are more than " + MOST + " steps");
        }
    }

    /** Returns the number of different steps so far. */
    int count() {
        return startsNs.size();
    }

    /**
     * Returns the begin of the first step that is kept.
     *
     * @param skipped the number of steps to skip
     * @return the begin; {@link Long#MIN_VALUE} if all steps are kept
     * @throws TraceFormatException when the trace has no further step
     */
    long firstKeptNs(int skipped) throws TraceFormatException {
        checkSkip(source, skipped, count());
        return skipped == 0 ? Long.MIN_VALUE : startsNs.values().toSortedArray()[skipped];
    }

    /**
     * Checks that a step is left.
     *
     * @throws TraceFormatException when the trace has no more steps than are to be skipped
     */
    static void checkSkip(String source, int skipped, int steps) throws TraceFormatException {
        if (skipped > 0 && skipped >= steps) {
            throw new TraceFormatException(
                    source, 0, "cannot skip " + Plural.of(skipped, "step") + ": the trace marks " + steps);
        }
    }
}
