package org.brickprofiler.trace;

import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A sample of a thread's stack that waits for the brick in which it was taken. It waits in each series of bricks to
 * which it may belong: those of its own thread, and, if the thread may work for others, those of the threads that run
 * steps. Its own thread's brick wins. Not thread-safe.
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

    /** Why the step is unknown for which its thread worked, if it worked for one. */
    enum StepDoubt {
        /** It is known. */
        NONE,
        /** More threads run steps than are searched. */
        SEVERAL,
        /** The entries were overwritten that state which thread runs it, or which brick it was in. */
        OVERWRITTEN
    }

    private final long threadId;
    private final boolean isOfVirtualThread;
    private final long atNs;
    private final boolean isNative;
    private final List<Frame> stack;
    private final Optional<LineEvent> event;
    private List<LineSeries> own = List.of();
    private boolean mayBeOfSteps;
    private StepDoubt stepDoubt = StepDoubt.NONE;
    private int openOwn;
    private int openOfSteps;
    private int foundOwn;
    private int foundOfSteps;
    private @Nullable LineRow row;

    /** The thread that timed the brick, if there is one. */
    private long timedBy;

    /** The number of the pass of that thread, from 0; negative if it is unknown. */
    private long pass = LineSeries.UNKNOWN_PASS;

    private Without without = Without.OUTSIDE;

    /**
     * Makes a sample.
     *
     * @throws IllegalArgumentException when the stack is empty
     */
    LineSample(long threadId, long atNs, boolean isNative, List<Frame> stack) {
        this(threadId, false, atNs, isNative, stack);
    }

    /**
     * Returns a sample of a virtual thread, which works for no step if it has no bricks.
     *
     * @throws IllegalArgumentException when the stack is empty
     */
    static LineSample ofVirtualThread(long threadId, long atNs, boolean isNative, List<Frame> stack) {
        return new LineSample(threadId, true, atNs, isNative, stack);
    }

    private LineSample(long threadId, boolean isOfVirtualThread, long atNs, boolean isNative, List<Frame> stack) {
        this.threadId = threadId;
        this.isOfVirtualThread = isOfVirtualThread;
        this.atNs = atNs;
        this.isNative = isNative;
        this.stack = List.copyOf(Objects.requireNonNull(stack, "stack"));
        this.event = Optional.empty();
        if (stack.isEmpty()) {
            throw new IllegalArgumentException("a sample has a frame");
        }
    }

    /** Makes an event that waits for its brick like a sample; a thread that waits works for no step. */
    LineSample(long threadId, long atNs, LineEvent event) {
        this.threadId = threadId;
        this.isOfVirtualThread = false;
        this.atNs = atNs;
        this.isNative = event.kind() == LineEvent.Kind.WAIT;
        this.stack = List.of();
        this.event = Optional.of(event);
    }

    long threadId() {
        return threadId;
    }

    boolean isOfVirtualThread() {
        return isOfVirtualThread;
    }

    long atNs() {
        return atNs;
    }

    boolean isNative() {
        return isNative;
    }

    /** Returns the event; empty for a sample of a stack. */
    Optional<LineEvent> event() {
        return event;
    }

    /** Returns the frames, the called one before its caller; empty for an event. */
    List<Frame> stack() {
        return stack;
    }

    /** Makes it wait in the series of its thread and in those of steps for which the thread may work. */
    void waitIn(List<LineSeries> ofThread, Collection<LineSeries> ofSteps, StepDoubt doubt) {
        stepDoubt = doubt;
        own = List.copyOf(ofThread);
        openOwn = ofThread.size();
        openOfSteps = ofSteps.size();
        mayBeOfSteps = !ofSteps.isEmpty();
        ofThread.forEach(each -> each.add(this));
        ofSteps.forEach(each -> each.add(this));
    }

    /** Notes that it was taken in a brick of a series. */
    void settle(LineSeries series, LineRow in) {
        if (own.contains(series)) {
            openOwn--;
            foundOwn++;
            row = in;
            timedBy = threadId;
            pass = series.pass();
        } else {
            openOfSteps--;
            foundOfSteps++;
            row = foundOwn > 0 ? row : in;
            timedBy = foundOwn > 0 ? timedBy : series.threadId();
            pass = foundOwn > 0 ? pass : series.pass();
        }
    }

    /** Notes that bricks of a series were overwritten in which it may have been taken. */
    void lost(LineSeries series) {
        if (!own.contains(series)) {
            stepDoubt = StepDoubt.OVERWRITTEN;
        }
    }

    /** Notes that a series has no brick for it. */
    void settle(LineSeries series, Without reason) {
        if (own.contains(series)) {
            openOwn--;
            without = reason.compareTo(without) > 0 ? reason : without;
        } else {
            openOfSteps--;
        }
    }

    /** Returns whether all series have settled it. */
    boolean isSettled() {
        return openOwn + openOfSteps == 0;
    }

    /** Returns whether its brick is known, or that there is none: bricks of its own thread win. */
    boolean isDecided() {
        return isSettled() || (openOwn == 0 && foundOwn > 0);
    }

    /** Returns whether there are threads that run steps, and all of them have settled it. */
    boolean isSettledBySteps() {
        return mayBeOfSteps && openOfSteps == 0;
    }

    /** Returns whether it was taken in a brick of a thread that runs steps. */
    boolean isInStep() {
        return foundOfSteps > 0;
    }

    /** Returns whether a series is the first of its thread. */
    boolean isOf(LineSeries series) {
        return !own.isEmpty() && own.get(0) == series;
    }

    /** Returns whether its thread has ended a later brick or pass. */
    boolean isPassed() {
        return !own.isEmpty() && own.get(0).hasEndedAfter(atNs);
    }

    /** Returns whether it may be of a thread that works for others. */
    boolean mayBeOfSteps() {
        return mayBeOfSteps;
    }

    /** Returns the thread that timed a brick in which it was taken, if there is one. */
    long timedBy() {
        return timedBy;
    }

    /** Returns the number of the pass in which it was taken, from 0; negative if it is unknown. */
    long pass() {
        return pass;
    }

    /** Returns whether its thread has bricks. */
    boolean hasBricks() {
        return !own.isEmpty();
    }

    /** Returns whether only threads that run steps had a brick for it: its thread worked for them. */
    boolean isOfWorker() {
        return foundOwn == 0;
    }

    /** Returns why the step is unknown for which its thread may have worked. */
    StepDoubt stepDoubt() {
        return stepDoubt;
    }

    /** Returns whether a brick was overwritten in which it may have been taken, and no brick of its thread is known. */
    boolean isInLostBrick() {
        return foundOwn == 0 && (without == Without.TOO_LATE || stepDoubt == StepDoubt.OVERWRITTEN);
    }

    /** Returns the number of series, of its thread or else of steps, in whose bricks it was taken. */
    int found() {
        return foundOwn > 0 ? foundOwn : foundOfSteps;
    }

    /** Returns a brick in which it was taken, of its thread or else of a step; null if there is none. */
    @Nullable
    LineRow row() {
        return row;
    }

    /** Returns why its thread has no brick for it, if it has none. */
    Without without() {
        return without;
    }
}
