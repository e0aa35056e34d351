package org.brickprofiler.trace.read;

import java.util.Arrays;
import java.util.Comparator;
import org.eclipse.collections.impl.list.mutable.primitive.LongArrayList;
import org.eclipse.collections.impl.set.mutable.primitive.LongHashSet;
import org.jspecify.annotations.Nullable;

/**
 * The runs of a model, in a trace that marks them, such as a profile of ONNX Runtime. The wall time of such a trace is
 * the union of the runs that count, which is their sum unless runs overlap. One thread.
 *
 * <p>The first run is warm-up if a later run has as many rows and thus repeats the work of the first one. A prompt that
 * is followed by the decoding of single tokens is no warm-up.
 */
final class Runs {

    /** As many runs as ONNX Runtime records events. */
    private static final int MOST = 1_000_000;

    private final LongArrayList startsNs = new LongArrayList();
    private final LongArrayList endsNs = new LongArrayList();
    private final LongArrayList rows = new LongArrayList();

    /** The order of the runs by start, once they are all known. */
    private int @Nullable [] order;

    /** For each run in this order, the latest end of that run and the runs before it. */
    private long[] untilNs = {};

    /**
     * Adds a run.
     *
     * @param rowsOfRun the rows of its first node; {@link TraceEvent#NONE} if they are unknown
     * @return false if there are too many
     */
    boolean add(long startNs, long endNs, long rowsOfRun) {
        if (startsNs.size() == MOST) {
            return false;
        }
        startsNs.add(startNs);
        endsNs.add(endNs);
        rows.add(rowsOfRun);
        order = null;
        return true;
    }

    boolean isAny() {
        return !startsNs.isEmpty();
    }

    int size() {
        return startsNs.size();
    }

    /** Returns the runs by start. */
    private int[] order() {
        int[] known = order;
        if (known == null) {
            Integer[] sorted = new Integer[size()];
            Arrays.setAll(sorted, i -> i);
            Arrays.sort(
                    sorted,
                    Comparator.comparingLong((Integer run) -> startsNs.get(run)).thenComparing(run -> run));
            known = Arrays.stream(sorted).mapToInt(Integer::intValue).toArray();
            untilNs = new long[known.length];
            long latestNs = Long.MIN_VALUE;
            for (int i = 0; i < known.length; i++) {
                latestNs = Math.max(latestNs, endsNs.get(known[i]));
                untilNs[i] = latestNs;
            }
            order = known;
        }
        return known;
    }

    /** Returns the start of a run; the runs are numbered by their starts. */
    long startNs(int number) {
        return startsNs.get(order()[number]);
    }

    /** Returns the end of a run. */
    long endNs(int number) {
        return endsNs.get(order()[number]);
    }

    /** Returns whether a moment is in a run; the end of a run may be rounded down. */
    boolean isIn(long timeNs) {
        int[] runs = order();
        int from = 0;
        int to = runs.length;
        while (from < to) {
            int middle = (from + to) >>> 1;
            if (startsNs.get(runs[middle]) <= timeNs) {
                from = middle + 1;
            } else {
                to = middle;
            }
        }
        return from > 0 && timeNs <= untilNs[from - 1] + OnnxRuntime.ROUNDING_NS;
    }

    /**
     * Returns the end of the warm-up: everything that begins earlier belongs to the warm-up. {@link Long#MIN_VALUE} if
     * there is no warm-up.
     */
    long warmupUntilNs() {
        if (size() < 2) {
            return Long.MIN_VALUE;
        }
        LongHashSet later = new LongHashSet();
        for (int i = 1; i < size(); i++) {
            later.add(rows.get(order()[i]));
        }
        return later.contains(rows.get(order()[0])) ? startNs(1) : Long.MIN_VALUE;
    }
}
