package org.brickprofiler.trace.read;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.eclipse.collections.impl.map.mutable.primitive.IntLongHashMap;
import org.eclipse.collections.impl.map.mutable.primitive.LongLongHashMap;

/** The steps that a trace marks, {@code ProfilerStep#N}. One thread. */
final class Steps {

    private static final int MOST_STEPS = 100_000;
    private static final Pattern STEP = Pattern.compile("ProfilerStep#(\\d{1,18})");

    private final String source;
    private final LongLongHashMap startNsByNumber = new LongLongHashMap();
    private final IntLongHashMap nextByRow = new IntLongHashMap();

    Steps(String source) {
        this.source = source;
    }

    /**
     * Notes an annotation if it is a step; one that several threads mark begins with the first of them.
     *
     * @throws TraceFormatException when there are too many
     */
    void add(String name, long startNs, long offset) throws TraceFormatException {
        Matcher step = STEP.matcher(name);
        if (step.matches()) {
            add(Long.parseLong(step.group(1)), startNs, offset);
        }
    }

    /**
     * Notes a step of a trace of this library, where the name need not hold a number: those of a row count from 0.
     *
     * @throws TraceFormatException when there are too many
     */
    void addOwn(String name, int row, long startNs, long offset) throws TraceFormatException {
        if (STEP.matcher(name).matches()) {
            add(name, startNs, offset);
        } else {
            add(nextByRow.addToValue(row, 1) - 1, startNs, offset);
        }
    }

    private void add(long number, long startNs, long offset) throws TraceFormatException {
        long knownNs = startNsByNumber.getIfAbsent(number, startNs);
        startNsByNumber.put(number, Math.min(knownNs, startNs));
        if (startNsByNumber.size() > MOST_STEPS) {
            throw new TraceFormatException(source, offset, "there are more than " + MOST_STEPS + " steps");
        }
    }

    int count() {
        return startNsByNumber.size();
    }

    /**
     * When the first step begins that is kept.
     *
     * @param skipped how many are not
     * @return ns on the trace's clock; the smallest number where all are kept
     * @throws TraceFormatException when there would be none left
     */
    long firstKeptNs(int skipped) throws TraceFormatException {
        if (skipped == 0) {
            return Long.MIN_VALUE;
        }
        if (skipped >= count()) {
            throw new TraceFormatException(
                    source, 0, "cannot skip " + Figures.count(skipped, "step") + ": the trace marks " + count());
        }
        return startNsByNumber.values().toSortedArray()[skipped];
    }
}
