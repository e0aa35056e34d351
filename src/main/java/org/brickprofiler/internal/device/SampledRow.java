package org.brickprofiler.internal.device;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import org.brickprofiler.internal.record.LatencyBuckets;
import org.brickprofiler.internal.record.PhaseKey;
import org.brickprofiler.internal.record.TimerToken;
import org.jspecify.annotations.Nullable;

/**
 * A brick in a phase on a stream whose marks are drawn. One thread starts its bricks, or several do; any thread stops
 * them. None of that takes a lock, and of bricks that one thread starts and stops, no atomic operation. One thread at a
 * time does the rest.
 *
 * <p><b>Draws.</b> {@link #next} is a hint: the first drawn occurrence after some occurrence that had begun before the
 * hint was written. A thread reads the hint before it takes its number, so no occurrence between that one and the hint
 * is drawn, however late the hint is. All others compute their draw.
 *
 * <p><b>Unmarked bricks</b> pass through four stages: they have ended; their pass has ended, behind a pass that the
 * device has not finished (<i>later</i>); the device is finishing their pass (<i>closing</i>); they are counted.
 */
final class SampledRow {

    private static final VarHandle STARTED;
    private static final VarHandle STOPPED;
    private static final VarHandle FURTHER_BRICKS;
    private static final VarHandle FURTHER_ELEMENTS;
    private static final VarHandle OWED;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            STARTED = lookup.findVarHandle(SampledRow.class, "started", long.class);
            STOPPED = lookup.findVarHandle(SampledRow.class, "stopped", long.class);
            FURTHER_BRICKS = lookup.findVarHandle(SampledRow.class, "furtherBricks", long.class);
            FURTHER_ELEMENTS = lookup.findVarHandle(SampledRow.class, "furtherElements", long.class);
            OWED = lookup.findVarHandle(SampledRow.class, "owed", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    // A stopped brick adds its elements and a one above them, so both are added at once. The sum never returns to 0:
    // what was added since an earlier value is a difference modulo 2^64.
    private static final int ELEMENT_BITS = 40;
    private static final long BRICK = 1L << ELEMENT_BITS;
    private static final long ELEMENTS = BRICK - 1;

    /** Bricks with more elements are added in another way, which is slower. */
    private static final int MOST_ELEMENT_BITS = 24;

    /** With more bricks since the latest end of a pass, further ones are added in that way, too. */
    private static final int MOST_BRICK_BITS = 15;

    private final long ofRow;
    private final boolean isShared;
    private final DrawnBlocks blocks;
    private final long seed;

    private volatile long next;
    private volatile long started;
    private volatile long stopped;

    /** The value of {@link #stopped} at the latest end of a pass. */
    private volatile long taken;

    private volatile long furtherBricks;
    private volatile long furtherElements;
    private volatile long owed;

    // One thread at a time uses the fields below.

    private final RowEstimate estimate = new RowEstimate();

    /** The weights of marked samples beyond 1, by bucket; null without percentiles. */
    private final long @Nullable [] buckets;

    private int lastBucket;
    private long closingBricks;
    private long closingElements;
    private long laterBricks;
    private long laterElements;
    private long elements;

    /**
     * Creates a row without bricks.
     *
     * @param row its {@link PhaseKey}
     * @param isShared whether several threads may start bricks of this row
     */
    SampledRow(int row, DrawnBlocks blocks, long seed, boolean isShared, boolean hasPercentiles) {
        this.ofRow = MarkToken.ofRow(row);
        this.isShared = isShared;
        this.blocks = blocks;
        this.seed = seed;
        this.buckets = hasPercentiles ? new long[LatencyBuckets.COUNT] : null;
    }

    // ---- any thread ----

    /** Counts a brick that begins. Returns the number of bricks that its mark stands for; 0 if it is not drawn. */
    int start() {
        long hint = next;
        long occurrence;
        if (isShared) {
            occurrence = (long) STARTED.getAndAdd(this, 1L);
        } else {
            occurrence = started;
            STARTED.setOpaque(this, occurrence + 1);
        }
        return occurrence < hint ? 0 : draw(occurrence);
    }

    /**
     * Counts a brick that begins if it is not drawn. For the only thread that starts bricks of this row.
     *
     * @param timers what the timers of unmarked bricks of such rows have in common
     * @return its timer; {@link TimerToken#VOID} if the brick may be drawn: it is not counted then
     */
    long startUnmarked(long timers) {
        long hint = next;
        long occurrence = started;
        if (occurrence >= hint) {
            return TimerToken.VOID;
        }
        STARTED.setOpaque(this, occurrence + 1);
        return MarkToken.unmarked(timers, ofRow, true);
    }

    /** Returns the timer of an unmarked brick; see {@link #startUnmarked}. */
    long timer(long timers) {
        return MarkToken.unmarked(timers, ofRow, !isShared);
    }

    private int draw(long occurrence) {
        long drawn = blocks.next(seed, occurrence);
        next = drawn == occurrence ? blocks.next(seed, occurrence + 1) : drawn;
        return drawn == occurrence ? blocks.size(occurrence) : 0;
    }

    /**
     * Counts an unmarked brick that has ended.
     *
     * @param ofBrick its elements
     * @param isOwn whether the calling thread is the only one that starts bricks of this row, which is not shared
     */
    void stop(long ofBrick, boolean isOwn) {
        if (isOwn && stopUnmarked(ofBrick)) {
            return;
        }
        if (isShared && isPacked(stopped, ofBrick)) {
            STOPPED.getAndAdd(this, BRICK + ofBrick);
        } else {
            FURTHER_ELEMENTS.getAndAdd(this, ofBrick);
            FURTHER_BRICKS.getAndAdd(this, 1L);
        }
    }

    /**
     * Counts an unmarked brick that has ended, like {@link #stop} by the only thread that starts bricks of this row.
     *
     * @return false if the elements are negative, or if the brick has to be added in the slower way: it is not counted
     */
    boolean stopUnmarked(long ofBrick) {
        long before = stopped;
        if (!isPacked(before, ofBrick)) {
            return false;
        }
        STOPPED.setRelease(this, before + BRICK + ofBrick);
        return true;
    }

    /** Returns whether {@link #stopUnmarked} counts a brick of this many elements now. */
    boolean canStop(long ofBrick) {
        return isPacked(stopped, ofBrick);
    }

    private boolean isPacked(long before, long ofBrick) {
        return (((before - taken) >>> (ELEMENT_BITS + MOST_BRICK_BITS)) | (ofBrick >>> MOST_ELEMENT_BITS)) == 0;
    }

    /** Lets the next sample stand for the bricks of a mark that has no time. */
    void owe(long bricks) {
        OWED.getAndAdd(this, bricks);
    }

    // ---- one thread at a time ----

    /** Returns how many unmarked bricks have ended and are not counted. */
    long waiting() {
        long closed = closingBricks + laterBricks + (isKnown() ? 0 : estimate.unmarked());
        return ((stopped - taken) >>> ELEMENT_BITS) + furtherBricks + closed;
    }

    /** Returns whether a sample has a time: before that, nothing is known of the others. */
    boolean isKnown() {
        return estimate.marked() > 0;
    }

    /** Moves the bricks that have ended into the later passes. */
    void close() {
        long now = stopped;
        long ended = now - taken;
        taken = now;
        long bricks = furtherBricks;
        long ofThese = furtherElements;
        FURTHER_BRICKS.getAndAdd(this, -bricks);
        FURTHER_ELEMENTS.getAndAdd(this, -ofThese);
        laterBricks += (ended >>> ELEMENT_BITS) + bricks;
        laterElements += (ended & ELEMENTS) + ofThese;
    }

    /** Makes the later passes the closing ones, of which there are none. */
    void advance() {
        closingBricks += laterBricks;
        closingElements += laterElements;
        laterBricks = 0;
        laterElements = 0;
    }

    /** Counts the bricks of the closing passes. */
    void count() {
        estimate.stopped(closingBricks);
        elements += closingElements;
        closingBricks = 0;
        closingElements = 0;
    }

    /** Forgets the bricks of the closing passes, and returns how many they were. */
    long giveUp() {
        long given = closingBricks;
        estimate.owe(-given);
        closingBricks = 0;
        closingElements = 0;
        return given;
    }

    /** Adds a marked sample. Returns the number of bricks that it stands for. */
    long sample(long elapsedNs, int weight) {
        if (owed != 0) {
            estimate.owe((long) OWED.getAndSet(this, 0L));
        }
        estimate.sample(elapsedNs, weight);
        if (buckets != null) {
            lastBucket = LatencyBuckets.indexOf(elapsedNs);
            buckets[lastBucket] += estimate.lastWeight() - 1;
        }
        return estimate.lastWeight();
    }

    /** Returns the estimate of the counted bricks. */
    Estimate estimate() {
        return Estimate.of(estimate, elements);
    }

    /** Adds the durations of the counted bricks without marks to others, by bucket. */
    void addBuckets(long[] sums) {
        long[] weighted = buckets;
        if (weighted == null) {
            return;
        }
        long left = estimate.unmarked();
        for (int i = 0; i < weighted.length; i++) {
            // Bricks that have not ended are of the last sample's block.
            long ended = Math.min(left, weighted[i] + (i == lastBucket ? Math.min(0, estimate.open()) : 0));
            sums[i] += Math.max(0, ended);
            left -= Math.max(0, ended);
        }
        sums[lastBucket] += left;
    }

    /** Forgets the samples and the counted bricks, and draws as at the beginning. Other bricks stay. */
    void restart() {
        if (isKnown()) {
            estimate.clear();
            elements = 0;
            OWED.setVolatile(this, 0L);
            if (buckets != null) {
                Arrays.fill(buckets, 0);
            }
        }
        next = 0;
        started = 0;
    }

    /** Forgets all bricks that have ended. */
    void discard() {
        close();
        advance();
        giveUp();
    }
}
