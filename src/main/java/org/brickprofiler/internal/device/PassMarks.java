package org.brickprofiler.internal.device;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * The marks at the start and at the end of a pass on a stream whose bricks are not all marked. The first brick of a
 * pass sets the mark at its start, on any thread; the rest happens on one thread at a time.
 */
final class PassMarks {

    private static final VarHandle START;

    static {
        try {
            START = MethodHandles.lookup().findVarHandle(PassMarks.class, "start", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** In place of a handle: a thread is setting the mark. */
    private static final long OPENING = -1;

    /** In place of a handle: the pass has no mark at its start. */
    private static final long LOST = -2;

    private final Marks marks;

    /** The handle of the mark at the start of the pass; {@link Marks#NONE} while there is none. */
    private volatile long start = Marks.NONE;

    /** The thread that began the pass; null before the first one. Written before the start. */
    private @Nullable Thread owner;

    // The handles of the marks at the ends of the closing passes, and of the later ones.
    private long closingEnd = Marks.NONE;
    private long laterEnd = Marks.NONE;

    PassMarks(Marks marks) {
        this.marks = marks;
    }

    // ---- any thread ----

    boolean isOver() {
        return start == Marks.NONE;
    }

    /** Returns a number of the open pass; {@link Marks#NONE} without one, and while a thread sets its first mark. */
    long opened() {
        long mark = start;
        return mark == OPENING ? Marks.NONE : mark;
    }

    /** Returns whether the calling thread has to {@linkplain #open open} the pass. */
    boolean claim() {
        return START.compareAndSet(this, Marks.NONE, OPENING);
    }

    /**
     * Begins the pass of the calling thread.
     *
     * @param mark the handle of the mark that it set, or {@link Marks#NONE}
     */
    void open(long mark) {
        owner = Thread.currentThread();
        start = mark == Marks.NONE ? LOST : mark;
    }

    /** Returns whether a pass is open that the calling thread, or a thread that is gone, has begun. */
    boolean isOfCaller() {
        long mark = start;
        if (mark == Marks.NONE || mark == OPENING) {
            return false;
        }
        Thread begun = owner;
        return begun == null || begun == Thread.currentThread() || !begun.isAlive();
    }

    // ---- one thread at a time ----

    /** Ends the pass. Returns the handle of the mark at its start; {@link Marks#NONE} without one. */
    long close() {
        long mark = start;
        boolean isClosed = mark != OPENING && START.compareAndSet(this, mark, Marks.NONE);
        return isClosed && mark != LOST ? mark : Marks.NONE;
    }

    /** Notes the mark at the end of a pass. Returns whether no earlier pass is closing. */
    boolean end(long mark) {
        boolean isFirst = closingEnd == Marks.NONE;
        if (isFirst) {
            closingEnd = mark;
        } else {
            laterEnd = mark;
        }
        return isFirst;
    }

    /** Returns whether a mark is at the end of the closing passes. */
    boolean isFirstEnd(int mark) {
        return closingEnd != Marks.NONE && Marks.mark(closingEnd) == mark && marks.isCurrent(closingEnd);
    }

    /** Makes the later passes the closing ones. */
    void ended() {
        closingEnd = laterEnd;
        laterEnd = Marks.NONE;
    }

    /** Forgets the ends of passes. */
    void forgetEnds() {
        closingEnd = Marks.NONE;
        laterEnd = Marks.NONE;
    }
}
