package org.brickprofiler;

import org.brickprofiler.internal.record.StatTable;
import org.brickprofiler.internal.record.TimerToken;
import org.jspecify.annotations.Nullable;

/**
 * The timers of a {@link BrickProfiler} for the loop of one thread. The calls are the same, but this object keeps the
 * thread and its table. The profiler looks up the thread in each call, and the table unless the thread was the first to
 * record. Either of the two may stop a timer that the other started.
 *
 * <p>Only the thread that called {@link BrickProfiler#forThisThread} may use it. If assertions are enabled, calls by
 * another thread throw an {@link AssertionError}; otherwise they corrupt the samples of the owner. On a virtual thread
 * it works, but saves nothing. Allocates nothing.
 */
public final class ThreadProfiler {

    private final BrickProfiler profiler;
    private final Thread owner;

    /** The owner's table when it was last looked up; null if there was none. */
    private @Nullable StatTable own;

    ThreadProfiler(BrickProfiler profiler, Thread owner) {
        this.profiler = profiler;
        this.owner = owner;
        this.own = profiler.tables.own();
    }

    /**
     * Starts timing a brick.
     *
     * @param id the brick
     * @return the timer
     */
    public long startBrick(BrickId id) {
        assert isOwner() : misuse();
        return profiler.startBrick(id);
    }

    /**
     * Starts timing a brick by its key.
     *
     * @param key the key that {@link BrickProfiler#brickKey(String)} returned
     * @return the timer; void if no brick has that key
     */
    public long startBrick(int key) {
        assert isOwner() : misuse();
        return profiler.startBrick(key);
    }

    /**
     * Stops a timer and records the sample.
     *
     * @param timer the timer that starting the brick returned
     * @param elements elements the brick processed: tokens, rows, pages
     * @throws IllegalArgumentException when the elements are negative
     */
    public void stopBrick(long timer, long elements) {
        assert isOwner() : misuse();
        int state = profiler.state;
        if (!profiler.isOnHost(state) || timer == TimerToken.VOID) {
            profiler.stopBrick(timer, elements);
        } else {
            stop(state, timer, elements, profiler.nowNs());
        }
    }

    /**
     * Stops a timer and starts the next at the same instant, with one clock read.
     *
     * @param timer the timer that starting the brick returned; a void timer only starts the next
     * @param elements elements the brick processed
     * @param next the brick that begins
     * @return the timer of the next brick
     * @throws IllegalArgumentException when the elements are negative
     */
    public long lap(long timer, long elements, BrickId next) {
        assert isOwner() : misuse();
        int state = profiler.state;
        if (!profiler.isOnHost(state) || timer == TimerToken.VOID) {
            return profiler.lap(timer, elements, next);
        }
        int nextKey = next.index();
        long nowNs = profiler.nowNs();
        stop(state, timer, elements, nowNs);
        return TimerToken.pack(nextKey, nowNs);
    }

    /**
     * Stops a timer and starts the next at the same instant, with one clock read.
     *
     * @param timer the timer that starting the brick returned; a void timer only starts the next
     * @param elements elements the brick processed
     * @param nextKey the key of the brick that begins
     * @return the timer of the next brick; void if no brick has that key
     * @throws IllegalArgumentException when the elements are negative
     */
    public long lap(long timer, long elements, int nextKey) {
        assert isOwner() : misuse();
        int state = profiler.state;
        if (!profiler.isOnHost(state) || timer == TimerToken.VOID || !profiler.hasBrick(nextKey)) {
            return profiler.lap(timer, elements, nextKey);
        }
        long nowNs = profiler.nowNs();
        stop(state, timer, elements, nowNs);
        return TimerToken.pack(nextKey, nowNs);
    }

    private void stop(int state, long timer, long elements, long nowNs) {
        int phase = SampleTables.IN_LANE;
        if (!profiler.addInLane(state, owner, timer, elements, nowNs)) {
            StatTable table = own;
            if (table == null || !table.isSelectedFor(state)) {
                // The table may have been replaced: a reset changes the state before it replaces the tables, and after.
                table = profiler.tables.own();
                own = table;
            }
            phase = profiler.add(state, table, timer, elements, nowNs);
        }
        if (profiler.followed) {
            profiler.followTimed(phase, timer, elements, nowNs);
        }
    }

    private boolean isOwner() {
        return Thread.currentThread() == owner;
    }

    private String misuse() {
        return "thread '" + Thread.currentThread().getName() + "' uses the object that forThisThread returned to '"
                + owner.getName() + "'";
    }
}
