package org.brickprofiler.internal.device;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.brickprofiler.internal.mark.GraphMarks;
import org.brickprofiler.internal.record.LatencyBuckets;
import org.brickprofiler.internal.record.PhaseKey;
import org.brickprofiler.internal.record.TimerToken;
import org.jspecify.annotations.Nullable;

/**
 * The rows of a stream whose marks are drawn. Any thread starts and stops bricks; one thread at a time does the rest.
 * Allocates with the first brick of each row.
 */
final class SampledRows {

    private static final int STREAM_SHIFT = 32;

    /** In place of what timers have in common: no timer of a brick has all of these bits. */
    private static final long NO_TIMERS = -1;

    private static final int ROWS = PhaseKey.PHASES << PhaseKey.KEY_BITS;

    private final DeviceSampling sampling;
    private final int stream;
    private final long seed;
    private final boolean hasPercentiles;
    private final PassMarks pass;
    private final @Nullable GraphMarks captures;
    private final DrawnBlocks drawn;
    private final DrawnBlocks every = new DrawnBlocks(1);

    // By PhaseKey; empty before the first row. A row that is missing here may exist: it is then found with the lock.
    private volatile @Nullable SampledRow[] own = {};
    private volatile @Nullable SampledRow[] shared = {};

    /** Each launch of a captured graph marks its bricks; one thread at a time uses them. */
    private @Nullable SampledRow[] ofGraphs = {};

    /** The first thread that started a brick here, which has rows of its own; the others share theirs. */
    private volatile @Nullable Thread first;

    /** The rows that were made; replaced by a longer array with each. */
    private volatile Entry[] all = {};

    /** The number of resets so far: a brick that began before the latest one is unresolved. */
    private int epoch;

    /** What the timers of unmarked bricks since the latest reset have in common. */
    private volatile long timers;

    /**
     * The same while the first thread may start unmarked bricks without further questions; otherwise
     * {@link #NO_TIMERS}. Written while holding {@code this}.
     */
    private volatile long current = NO_TIMERS;

    private volatile boolean marksAll;

    private record Entry(int row, SampledRow bricks) {}

    /**
     * Creates rows without bricks.
     *
     * @param stream the number of the stream
     * @param pass the marks of its passes
     * @param captures its captures; null if it knows none
     */
    SampledRows(
            DeviceSampling sampling,
            int stream,
            boolean hasPercentiles,
            PassMarks pass,
            @Nullable GraphMarks captures) {
        this.sampling = sampling;
        this.stream = stream;
        this.timers = MarkToken.unmarked(stream, 0);
        this.seed = DrawnBlocks.mixed(sampling.seed() + ((long) stream << STREAM_SHIFT));
        this.hasPercentiles = hasPercentiles;
        this.pass = pass;
        this.captures = captures;
        this.drawn = new DrawnBlocks(sampling.every());
    }

    // ---- any thread ----

    /** Returns whether the calling thread has rows of its own. */
    boolean isOwn() {
        Thread owner = first;
        return owner == Thread.currentThread() || (owner == null && claim());
    }

    private synchronized boolean claim() {
        if (first == null) {
            first = Thread.currentThread();
        }
        return first == Thread.currentThread();
    }

    /**
     * Finds out whether the first thread may start unmarked bricks without further questions. Call it after the end of
     * a pass, the beginning of a capture and each other change that forbids it: calls exclude each other, so what an
     * earlier one found does not outlast the change.
     */
    synchronized void update() {
        boolean mayCount = !marksAll && !pass.isOver() && (captures == null || !captures.isCapturing());
        current = mayCount ? timers : NO_TIMERS;
    }

    /** Returns whether the latest {@link #update} allowed this, or none will, because each brick is marked. */
    boolean isUpdated() {
        return current != NO_TIMERS || marksAll;
    }

    /**
     * Starts a brick that needs no mark and that the calling thread counts in a row of its own.
     *
     * @return its timer; {@link TimerToken#VOID} if it may need a mark, a new row or a shared one: it has not begun
     *     then
     */
    long startUnmarked(int row) {
        long common = current;
        SampledRow bricks = common == NO_TIMERS ? null : ofCaller(row);
        return bricks == null ? TimerToken.VOID : bricks.startUnmarked(common);
    }

    /** Returns whether {@link #stopUnmarked} and {@link #lapUnmarked} may know a timer. */
    boolean mayCount(long timer) {
        return MarkToken.isUnmarkedOwn(timer, current);
    }

    /**
     * Stops a brick that has no marks, if the calling thread has begun it in a row of its own.
     *
     * @param timer one that {@link #mayCount} knows
     * @return false if this is another timer, or if the elements are negative or too many for the row
     */
    boolean stopUnmarked(long timer, long elements) {
        SampledRow bricks = ofCaller(MarkToken.row(timer));
        return bricks != null && bricks.stopUnmarked(elements);
    }

    /**
     * Stops a brick that has no marks, and starts one that needs none: both in rows of the calling thread.
     *
     * @param timer one that {@link #mayCount} knows
     * @return the timer of the brick that begins; {@link TimerToken#VOID} if nothing has been done
     */
    long lapUnmarked(long timer, long elements, int nextRow) {
        SampledRow ended = ofCaller(MarkToken.row(timer));
        if (ended == null || !ended.canStop(elements)) {
            return TimerToken.VOID;
        }
        long next = startUnmarked(nextRow);
        if (next != TimerToken.VOID) {
            // As it could be counted above, it is now: only the calling thread adds to the row.
            ended.stopUnmarked(elements);
        }
        return next;
    }

    private @Nullable SampledRow ofCaller(int row) {
        return first == Thread.currentThread() ? at(own, row) : null;
    }

    /** Returns the timer of an unmarked brick. */
    long timer(int row, boolean isOwn) {
        return row(row, isOwn).timer(timers);
    }

    /** Returns whether a timer is one of an unmarked brick since the latest reset. */
    boolean isCurrent(long timer) {
        return MarkToken.isUnmarked(timer, timers);
    }

    /** Returns the row of a {@link PhaseKey}. */
    SampledRow row(int row, boolean isOwn) {
        SampledRow found = at(isOwn ? own : shared, row);
        return found == null ? made(row, isOwn) : found;
    }

    private static @Nullable SampledRow at(@Nullable SampledRow[] rows, int row) {
        return row >= 0 && row < rows.length ? rows[row] : null;
    }

    private synchronized SampledRow made(int row, boolean isOwn) {
        if (own.length == 0) {
            own = new SampledRow[ROWS];
        }
        if (!isOwn && shared.length == 0) {
            shared = new SampledRow[ROWS];
        }
        @Nullable SampledRow[] rows = isOwn ? own : shared;
        SampledRow found = rows[row];
        if (found == null) {
            DrawnBlocks blocks = sampling.exact().contains(PhaseKey.key(row)) ? every : drawn;
            found = new SampledRow(row, blocks, DrawnBlocks.mixed(seed + (isOwn ? row : ~row)), !isOwn, hasPercentiles);
            add(row, found);
            rows[row] = found;
        }
        return found;
    }

    private synchronized void add(int row, SampledRow bricks) {
        Entry[] longer = Arrays.copyOf(all, all.length + 1);
        longer[all.length] = new Entry(row, bricks);
        all = longer;
    }

    /** Returns the weight of a brick that begins; 0 if it is not marked. */
    int start(int row, boolean isOwn) {
        int weight = row(row, isOwn).start();
        return marksAll ? 1 : weight;
    }

    /** Marks each brick from now on. */
    synchronized void markAll() {
        marksAll = true;
        update();
    }

    /** Returns the number of bricks of which one is marked. */
    int every() {
        return marksAll ? 1 : sampling.every();
    }

    // ---- one thread at a time ----

    /**
     * Adds a brick of a launch of a captured graph. Such bricks are no sample of others in their row, which may take
     * another time.
     */
    void launched(int row, long elapsedNs) {
        if (ofGraphs.length == 0) {
            ofGraphs = new SampledRow[ROWS];
        }
        SampledRow bricks = ofGraphs[row];
        if (bricks == null) {
            bricks = new SampledRow(row, every, seed, false, hasPercentiles);
            add(row, bricks);
            ofGraphs[row] = bricks;
        }
        bricks.sample(elapsedNs, 1);
    }

    /** Returns how many unmarked bricks have ended and are in no sum so far. */
    long waiting() {
        long sum = 0;
        for (Entry each : all) {
            sum += each.bricks.waiting();
        }
        return sum;
    }

    /** Moves the bricks that have ended into the later passes. */
    void close() {
        for (Entry each : all) {
            each.bricks.close();
        }
    }

    /** Makes the later passes the closing ones, of which there are none. */
    void advance() {
        for (Entry each : all) {
            each.bricks.advance();
        }
    }

    /** Counts the bricks of the closing passes. */
    void count() {
        for (Entry each : all) {
            each.bricks.count();
        }
    }

    /** Counts the bricks of the closing passes as unresolved. */
    void giveUp(DeviceFigures.Sums sums) {
        for (Entry each : all) {
            sums.unresolved(each.row, each.bricks.giveUp());
        }
    }

    /** Begins a new epoch: a brick that is running now is unresolved. */
    void giveBack() {
        epoch++;
        timers = MarkToken.unmarked(stream, epoch);
        update();
    }

    /** Forgets the bricks that have ended and are not counted. */
    void discard() {
        for (Entry each : all) {
            each.bricks.discard();
        }
    }

    /** Forgets the samples and the counted bricks. */
    void restart() {
        for (Entry each : all) {
            each.bricks.restart();
        }
    }

    /** Adds the estimates of the rows from a key to before another one to others, by row. */
    void addTo(Map<Integer, Estimate> sums, int fromKey, int toKey) {
        for (Entry each : all) {
            int key = PhaseKey.key(each.row);
            if (key >= fromKey && key < toKey && each.bricks.isKnown()) {
                sums.merge(each.row, each.bricks.estimate(), Estimate::plus);
            }
        }
    }

    /** Returns the sum of the estimates of all rows. */
    Estimate sum() {
        Map<Integer, Estimate> sums = new HashMap<>();
        addTo(sums, 0, TimerToken.MAX_KEY + 1);
        return sums.values().stream().reduce(Estimate.NONE, Estimate::plus);
    }

    /** Adds the durations of the unmarked bricks to others, by row and bucket; adds nothing without percentiles. */
    void addBuckets(Map<Integer, long[]> buckets, int fromKey, int toKey) {
        for (Entry each : all) {
            int key = PhaseKey.key(each.row);
            if (hasPercentiles && key >= fromKey && key < toKey && each.bricks.isKnown()) {
                each.bricks.addBuckets(buckets.computeIfAbsent(each.row, row -> new long[LatencyBuckets.COUNT]));
            }
        }
    }
}
