package org.brickprofiler.device.cuda;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.StampedLock;
import jcuda.driver.CUevent_flags;
import org.brickprofiler.device.DeviceStream;
import org.brickprofiler.device.MarkCost;
import org.brickprofiler.device.polling.Polling;
import org.brickprofiler.internal.mark.GraphMarks;
import org.brickprofiler.internal.mark.MarkPool;
import org.brickprofiler.internal.record.PerThread;
import org.jspecify.annotations.Nullable;

/**
 * The marks of one queue, each with an event. Any thread; setting and releasing one takes no lock and allocates nothing
 * unless the pool grows.
 *
 * <h2>Why no event is used after it was destroyed</h2>
 *
 * A thread that sets a mark owns it: the thread has taken its number from the pool, and no other thread can take it.
 * {@link #close()} destroys only marks that it owns: it takes the free ones from the pool, and the set ones from their
 * holders. Any other mark is being set or released by a call of another thread, for which {@link #close()} waits. The
 * pool cannot grow meanwhile, so in the end every number is outside of the pool, and stays there. So setting a mark
 * needs no lock, and no check whether the queue is closed.
 *
 * <p>A thread that queries events holds the read lock; {@link #close()} holds the write lock. A wait polls, and holds
 * the lock only during each query. A thread that sleeps in the driver holds the lock all the time; if closing reaches
 * its timeout first, the events stay.
 */
final class CudaMarks implements Polling.Question {

    /** The consequence of an event that could not be created. */
    private static final String MORE_LATER = ": there are fewer marks, and more are tried for in the next pass";

    private final CudaQueue queue;
    /**
     * The events by number, as many as were made. Written by the thread that makes more, before any of them is given
     * out, so a thread that has a number finds its event.
     */
    private CudaHandle[] events = {};

    private final MarkPool pool;
    private final CudaGraphMarks graphs = new CudaGraphMarks(this);
    private final StampedLock use = new StampedLock();

    /** Flags of the events, see {@link jcuda.driver.CUevent_flags}. */
    private final int eventFlags;

    private final long timeoutNs;

    /** Null if it is not to be measured. */
    private final @Nullable CudaMarkCost cost;

    private final AtomicBoolean closed = new AtomicBoolean();

    /** Whether events are left because the context was refused; used by the thread that closes. */
    private boolean refused;

    /** How many events are left because graphs may record them; used by the thread that closes. */
    private int kept;

    /** Whether a wait has timed out, and none has succeeded since. */
    private volatile boolean stalled;

    /**
     * Makes the first marks.
     *
     * @param queue the queue in which they are set
     * @param first the number of marks that are made at once
     * @param bound the most marks
     * @param timeoutNs the timeout of a wait, ns
     * @param sleeps whether threads sleep in the driver while they wait, if their context allows it
     * @param measures whether to measure what marks add
     */
    CudaMarks(CudaQueue queue, int first, int bound, long timeoutNs, boolean sleeps, boolean measures) {
        this.queue = queue;
        this.cost = measures ? CudaMarkCost.in(queue.context()) : null;
        this.timeoutNs = timeoutNs;
        this.eventFlags = sleeps ? CUevent_flags.CU_EVENT_BLOCKING_SYNC : CUevent_flags.CU_EVENT_DEFAULT;
        this.pool = new MarkPool(first, bound, this::make);
        if (pool.made() > 0) {
            queue.learnCaptures(event(0));
        }
    }

    private int make(int from, int to) {
        if (closed.get()) {
            return from;
        }
        CudaHandle[] more = Arrays.copyOf(events, to);
        Arrays.setAll(
                more, number -> number < from ? events[number] : queue.calls().newEvent());
        int until = from + queue.create(Arrays.asList(more).subList(from, to), eventFlags, MORE_LATER);
        events = Arrays.copyOf(more, until);
        return until;
    }

    CudaQueue queue() {
        return queue;
    }

    /** Returns the most marks there will be. */
    int bound() {
        return pool.bound();
    }

    /** Returns how many marks there are. */
    int made() {
        return pool.made();
    }

    /**
     * Sets a mark at the end of the queue.
     *
     * @return its number, or {@link DeviceStream#NO_MARK}
     */
    int set() {
        int number = pool.take();
        if (number == DeviceStream.NO_MARK) {
            return DeviceStream.NO_MARK;
        }
        int capture = graphs.current();
        if (capture == GraphMarks.NONE ? queue.record(event(number)) : graphs.record(number, capture)) {
            pool.set(number);
            return number;
        }
        pool.give(number);
        return DeviceStream.NO_MARK;
    }

    /** Allows another attempt to make marks, if an earlier attempt failed and a mark was missing since then. */
    void tryAgain() {
        pool.tryAgain();
    }

    /** Measures what marks add in the context, unless that was done or a capture scope is open. */
    void measure() {
        if (cost != null && !closed.get() && !graphs.isCapturing()) {
            cost.measure(queue);
        }
    }

    /** Returns what marks add in the context. */
    MarkCost cost() {
        return cost == null ? MarkCost.unknown("the stream was opened without net times") : cost.cost();
    }

    /**
     * Gives back a mark. Does nothing if the mark is not set, so a second or a late call does no harm. A mark of a
     * graph returns to the pool once the graph is released.
     */
    void release(int number) {
        if (!graphs.keeps(number)) {
            pool.release(number);
        }
    }

    /** Gives back marks, as {@link #release(int)} does. */
    void release(int[] numbers, int count) {
        if (!graphs.hasAny()) {
            pool.release(numbers, count);
            return;
        }
        for (int i = 0; i < count; i++) {
            release(numbers[i]);
        }
    }

    /** Gives back a mark whose graph was released. */
    void giveBack(int number) {
        pool.release(number);
    }

    /** Returns the marks that are part of graphs. */
    CudaGraphMarks graphs() {
        return graphs;
    }

    // ---- queries: slower, and made at boundaries ----

    /**
     * Returns whether a mark is reached, or never will be. A mark of a graph has a time only for followers of its
     * capture.
     */
    boolean isReached(int number) {
        long stamp = begin();
        if (stamp == 0 || graphs.captureOf(number) != GraphMarks.NONE) {
            end(stamp);
            return true;
        }
        try {
            return queue.isReached(event(number));
        } finally {
            use.unlockRead(stamp);
        }
    }

    /** Returns the time between two marks, ns; {@link DeviceStream#NOT_REACHED} or {@link DeviceStream#UNRESOLVED}. */
    long elapsedNs(int from, int to) {
        long stamp = begin();
        if (stamp == 0 || graphs.captureOf(from) != GraphMarks.NONE || graphs.captureOf(to) != GraphMarks.NONE) {
            end(stamp);
            return DeviceStream.UNRESOLVED;
        }
        try {
            return queue.elapsedNs(event(from), event(to));
        } finally {
            use.unlockRead(stamp);
        }
    }

    /** Writes, for each mark but the first, the time from the mark before. */
    void elapsedNs(int[] numbers, int count, long[] ns) {
        if (graphs.hasAny(numbers, count)) {
            for (int i = 1; i < count; i++) {
                ns[i] = elapsedNs(numbers[i - 1], numbers[i]);
            }
        } else {
            latestNs(numbers, count, ns);
        }
    }

    /** Writes the same times, also for marks of graphs, which have the time of their latest recording. */
    void latestNs(int[] numbers, int count, long[] ns) {
        long stamp = begin();
        if (stamp == 0) {
            Arrays.fill(ns, 0, count, DeviceStream.UNRESOLVED);
            return;
        }
        try {
            queue.elapsedNs(this, numbers, count, ns);
        } finally {
            use.unlockRead(stamp);
        }
    }

    /** Waits until a mark is reached. Returns false if this cannot be waited for, and after the timeout. */
    boolean waitFor(int number) {
        boolean sleeps = eventFlags == CUevent_flags.CU_EVENT_BLOCKING_SYNC
                && !PerThread.isVirtual(Thread.currentThread())
                && queue.answersHere();
        Polling.Answer answer = sleeps ? sleep(number) : Polling.SYSTEM.await(this, number, timeoutNs);
        if (answer == Polling.Answer.REACHED) {
            stalled = false;
        } else if (!closed.get()) {
            stalled |= answer == Polling.Answer.NOT_YET;
            queue.reportNotReached(answer, timeoutNs);
        }
        return answer == Polling.Answer.REACHED;
    }

    /** Queries a mark once, for a wait. */
    @Override
    public Polling.Answer ask(int number) {
        long stamp = begin();
        if (stamp == 0 || graphs.captureOf(number) != GraphMarks.NONE) {
            end(stamp);
            return Polling.Answer.REFUSED;
        }
        try {
            return queue.poll(event(number));
        } finally {
            use.unlockRead(stamp);
        }
    }

    private Polling.Answer sleep(int number) {
        long stamp = begin();
        if (stamp == 0 || graphs.captureOf(number) != GraphMarks.NONE) {
            end(stamp);
            return Polling.Answer.REFUSED;
        }
        try {
            return queue.sleep(event(number));
        } finally {
            use.unlockRead(stamp);
        }
    }

    /** Returns whether this was closed, or is about to be. */
    boolean isClosed() {
        return closed.get();
    }

    /** Returns whether a wait has timed out, and none has succeeded since. */
    boolean isStalled() {
        return stalled;
    }

    /** Takes the read lock; returns 0 if the marks are closed or closing. */
    private long begin() {
        long stamp = use.tryReadLock();
        // Checked while the lock is held: closing may have ended since an earlier check.
        if (stamp != 0 && closed.get()) {
            use.unlockRead(stamp);
            return 0;
        }
        return stamp;
    }

    private void end(long stamp) {
        if (stamp != 0) {
            use.unlockRead(stamp);
        }
    }

    /** Returns the event of a mark. */
    CudaHandle event(int number) {
        return events[number];
    }

    // ---- closing ----

    /** Destroys all events, also those of marks that are set, and gives back the queue. A second call does nothing. */
    void close() {
        if (closed.compareAndSet(false, true)) {
            if (cost != null) {
                cost.close();
            }
            long stamp = writeLock();
            boolean isAlone = stamp != 0;
            try {
                isAlone = isAlone && retireAll();
            } finally {
                if (stamp != 0) {
                    use.unlockWrite(stamp);
                }
            }
            if (kept > 0) {
                queue.reportKept(kept);
            }
            if (isAlone) {
                queue.close(
                        stalled
                                ? "the device did not reach a mark"
                                : refused ? "the context cannot be made current" : null);
            } else {
                queue.reportInUse();
            }
        }
    }

    /** Takes the write lock; returns 0 if another thread sleeps in the driver until the timeout. */
    private long writeLock() {
        long[] stamp = {0};
        Polling.SYSTEM.await(
                any -> {
                    stamp[0] = use.tryWriteLock();
                    return stamp[0] != 0 ? Polling.Answer.REACHED : Polling.Answer.NOT_YET;
                },
                0,
                timeoutNs);
        return stamp[0];
    }

    /** Destroys the events. Returns false if another thread did not return from setting a mark before the timeout. */
    private boolean retireAll() {
        int[] gone = {0};
        Polling.Answer answer = Polling.SYSTEM.await(
                any -> {
                    gone[0] += retire();
                    return gone[0] < pool.made() ? Polling.Answer.NOT_YET : Polling.Answer.REACHED;
                },
                0,
                timeoutNs);
        return answer == Polling.Answer.REACHED;
    }

    /**
     * Destroys the events that no other thread owns now, unless a graph may record them. Returns how many those were.
     */
    private int retire() {
        List<CudaHandle> gone = new ArrayList<>();
        int keptBefore = kept;
        for (int number = pool.take(); number != DeviceStream.NO_MARK; number = pool.take()) {
            gone.add(event(number));
        }
        int made = pool.made();
        for (int number = 0; number < made; number++) {
            if (pool.retire(number)) {
                if (graphs.mayBeLaunched(number)) {
                    kept++;
                } else {
                    gone.add(event(number));
                }
            }
        }
        if (!gone.isEmpty()) {
            refused |= !queue.destroy(gone);
        }
        return gone.size() + kept - keptBefore;
    }
}
