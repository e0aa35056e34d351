package org.brickprofiler.trace;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.ToLongFunction;

/**
 * The bricks that a thread timed with one profiler, in the order of their ends, and the samples that wait for them.
 * Each brick comes after the bricks inside it, so a sample belongs to the first brick that contains it. Not
 * thread-safe.
 */
final class LineSeries {

    /** The most bricks whose outer brick is awaited, for the time without inner bricks. */
    private static final int MOST_INNER = 4_096;

    private static final int FIRST_INNER = 64;

    static final long UNKNOWN_PASS = -1;

    private final long threadId;
    private final Consumer<LineSample> settled;

    /** By time. */
    private final List<LineSample> waiting = new ArrayList<>();

    /**
     * The bricks that have ended, and are in no other one so far: their beginnings and durations, ns. Empty if the
     * processor time is unknown.
     */
    private long[] innerStarts = {};

    private long[] innerNs = {};
    private int inner;

    private long latestNs = Long.MIN_VALUE;
    private long latestPassNs = Long.MIN_VALUE;

    /** The number of passes that have ended; {@link #UNKNOWN_PASS} if the thread runs none, or some were lost. */
    private long passes = UNKNOWN_PASS;

    /**
     * Makes an empty series.
     *
     * @param threadId the thread
     * @param settled receives each sample that all of its series have settled
     */
    LineSeries(long threadId, Consumer<LineSample> settled) {
        this.threadId = threadId;
        this.settled = settled;
    }

    long threadId() {
        return threadId;
    }

    /** Notes that the thread runs passes, of which this series has all. */
    void runsPasses() {
        passes = 0;
    }

    /** Returns the number of the pass of the latest brick, from 0; negative if it is unknown. */
    long pass() {
        return passes;
    }

    /** Returns whether a later brick or pass has ended. */
    boolean hasEndedAfter(long ns) {
        return ns < latestNs;
    }

    /** Returns whether samples wait. */
    boolean isAwaited() {
        return !waiting.isEmpty();
    }

    /** Adds a sample; those of one call of the bricks come in any order. */
    void add(LineSample sample) {
        int at = waiting.size();
        while (at > 0 && waiting.get(at - 1).atNs() > sample.atNs()) {
            at--;
        }
        waiting.add(at, sample);
    }

    /**
     * Notes a brick that has ended.
     *
     * @param row the brick
     * @param startNs its beginning
     * @param endNs its end
     * @param processorShare the share of the thread's time in which a processor ran it, 0 to 1; NaN if unknown
     */
    void brick(LineRow row, long startNs, long endNs, double processorShare) {
        row.ran(Double.isNaN(processorShare) ? processorShare : ownNs(startNs, endNs) * processorShare);
        latestNs = Math.max(latestNs, endNs);
        if (!waiting.isEmpty() && waiting.get(0).atNs() < endNs) {
            take(firstFrom(startNs), firstFrom(endNs), sample -> sample.settle(this, row));
        }
    }

    /** Returns the time of a brick without the bricks inside it, ns. */
    private long ownNs(long startNs, long endNs) {
        long withinNs = 0;
        while (inner > 0 && innerStarts[inner - 1] >= startNs) {
            withinNs += innerNs[--inner];
        }
        if (inner == MOST_INNER) {
            int half = MOST_INNER / 2;
            System.arraycopy(innerStarts, half, innerStarts, 0, half);
            System.arraycopy(innerNs, half, innerNs, 0, half);
            inner = half;
        } else if (inner == innerStarts.length) {
            int room = Math.max(FIRST_INNER, 2 * inner);
            innerStarts = Arrays.copyOf(innerStarts, room);
            innerNs = Arrays.copyOf(innerNs, room);
        }
        innerStarts[inner] = startNs;
        innerNs[inner++] = endNs - startNs;
        return Math.max(0, endNs - startNs - withinNs);
    }

    /** Notes that a pass has ended. The bricks of the pass before it have, too: a brick may end after its own pass. */
    void passEnded(long atNs) {
        settleBefore(latestPassNs, LineSample.Without.OUTSIDE);
        latestPassNs = atNs;
        passes += passes == UNKNOWN_PASS ? 0 : 1;
        latestNs = Math.max(latestNs, atNs);
    }

    /** Notes that the bricks before the end of one were overwritten, and some of them may be unknown. */
    void lostBefore(long ns) {
        inner = 0;
        passes = UNKNOWN_PASS;
        waiting.subList(0, firstFrom(ns)).forEach(sample -> sample.lost(this));
        settleBefore(ns, LineSample.Without.TOO_LATE);
    }

    /** Settles all samples, since the bricks of the thread are no longer known. */
    void forget() {
        settleBefore(Long.MAX_VALUE, LineSample.Without.TOO_LATE);
    }

    /** Settles the samples before a moment that are in no brick so far, since none that contains them will come. */
    void giveUp(long beforeNs) {
        int first = firstFrom(Math.min(beforeNs, latestNs));
        take(0, first, sample -> sample.settle(this, LineSample.Without.OUTSIDE));
        settleBefore(beforeNs, LineSample.Without.NOT_ENDED);
    }

    /**
     * Settles the samples that are in no brick of this thread so far, which works for steps: those in a brick of a step
     * that has ended since, for which this thread no longer works, and those before a later brick.
     */
    void settleWorkers() {
        for (int i = waiting.size() - 1; i >= 0; i--) {
            LineSample sample = waiting.get(i);
            if (sample.isSettledBySteps() && (sample.isInStep() || sample.atNs() < latestNs)) {
                take(i, i + 1, each -> each.settle(this, LineSample.Without.OUTSIDE));
            }
        }
    }

    /** Returns how many samples of this thread wait although a later brick or pass has ended. */
    long passed() {
        return waiting.stream()
                .filter(sample -> sample.isOf(this) && sample.isPassed())
                .count();
    }

    private void settleBefore(long ns, LineSample.Without reason) {
        take(0, firstFrom(ns), sample -> sample.settle(this, reason));
    }

    private void take(int from, int to, Consumer<LineSample> settle) {
        List<LineSample> taken = waiting.subList(from, to);
        for (LineSample sample : taken) {
            settle.accept(sample);
            if (sample.isSettled()) {
                settled.accept(sample);
            }
        }
        taken.clear();
    }

    private int firstFrom(long ns) {
        return firstFrom(waiting, LineSample::atNs, ns);
    }

    /** Returns the place of the first element at or after a moment in a list that is sorted by time. */
    static <T> int firstFrom(List<T> sorted, ToLongFunction<T> atNs, long ns) {
        int low = 0;
        int high = sorted.size();
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (atNs.applyAsLong(sorted.get(middle)) < ns) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }
}
