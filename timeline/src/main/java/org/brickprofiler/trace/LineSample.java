package org.brickprofiler.trace;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A sample of a thread's stack that waits for the brick in which it was taken. It waits in each series of bricks to
 * which it may belong: those of its thread, or, if the thread has none, those of all threads that run steps. Not
 * thread-safe.
 */
final class LineSample {

    /** Why a series has no brick for a sample. */
    enum Without {
        /** The thread was in no brick. */
        OUTSIDE,
        /** The thread has ended no brick since. */
        NOT_ENDED,
        /** Bricks were overwritten that may have been under way. */
        TOO_LATE
    }

    private final long threadId;
    private final long atNs;
    private final boolean isNative;
    private final List<Frame> stack;
    private boolean isOfWorker;
    private int open;
    private int found;
    private @Nullable LineRow row;
    private Without without = Without.OUTSIDE;

    LineSample(long threadId, long atNs, boolean isNative, List<Frame> stack) {
        this.threadId = threadId;
        this.atNs = atNs;
        this.isNative = isNative;
        this.stack = stack;
    }

    long threadId() {
        return threadId;
    }

    long atNs() {
        return atNs;
    }

    boolean isNative() {
        return isNative;
    }

    /** Returns the frames, the called one before its caller. */
    List<Frame> stack() {
        return stack;
    }

    /** Returns whether its thread has no bricks. */
    boolean isOfWorker() {
        return isOfWorker;
    }

    /** Notes in how many series it waits. */
    void waitIn(int series, boolean ofWorker) {
        open = series;
        isOfWorker = ofWorker;
    }

    /** Notes that it was taken in a brick of one of the series. */
    void settle(LineRow in) {
        open--;
        found++;
        row = in;
    }

    /** Notes that one of the series has no brick for it. */
    void settle(Without reason) {
        open--;
        without = reason.compareTo(without) > 0 ? reason : without;
    }

    /** Returns whether all series have settled it. */
    boolean isSettled() {
        return open == 0;
    }

    /** Returns the number of series in whose bricks it was taken. */
    int found() {
        return found;
    }

    /** Returns the brick of the last series that had one; null if none had. */
    @Nullable
    LineRow row() {
        return row;
    }

    /** Returns why no series has a brick for it, if none has. */
    Without without() {
        return without;
    }
}
