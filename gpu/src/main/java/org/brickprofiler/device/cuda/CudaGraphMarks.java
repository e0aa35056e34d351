package org.brickprofiler.device.cuda;

import java.lang.ref.WeakReference;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.brickprofiler.internal.mark.GraphMarks;
import org.jspecify.annotations.Nullable;

/**
 * The marks of one stream that captured graphs record. Any thread. Outside of scopes, setting a mark reads one field
 * more.
 *
 * <h2>Why no event of a graph is used for anything else</h2>
 *
 * A graph may be launched, and then records its events, until the application releases its capture. Until then, a mark
 * of the graph does not return to the pool when its holders give it back, and its event is not destroyed. After the
 * release, a mark that is given back may become another one.
 */
final class CudaGraphMarks implements GraphMarks {

    private final CudaMarks marks;

    /** The number of the capture whose scope is open, or {@link #NONE}. Written while holding {@code this}. */
    private volatile int open = NONE;

    /**
     * The capture of each mark, from the first scope on. A cell is written by the thread that sets or gives back the
     * mark.
     */
    private volatile @Nullable AtomicIntegerArray captures;

    /** Replaced while holding {@code this}. */
    private volatile List<WeakReference<Follower>> followers = List.of();

    // Guarded by this.

    private int lastCapture;

    /** Whether followers are being notified of a scope that is about to open. */
    private boolean opening;

    /** Of each capture that is not released, the marks that were given back. */
    private final Map<Integer, BitSet> givenBack = new HashMap<>();

    /** Creates the state without captures. */
    CudaGraphMarks(CudaMarks marks) {
        this.marks = marks;
    }

    // ---- setting marks ----

    /** Returns the capture whose scope is open, or {@link #NONE}. */
    int current() {
        return open;
    }

    /**
     * Sets a mark, which the caller owns, while the scope of a capture is open. Returns false if the driver refuses.
     */
    boolean record(int number, int capture) {
        CudaQueue.Recorded recorded = marks.queue().recordInScope(marks.event(number));
        if (recorded == CudaQueue.Recorded.IN_GRAPH) {
            setCapture(number, capture);
        }
        return recorded != CudaQueue.Recorded.NOT;
    }

    // ---- captures ----

    /** Opens a scope. Returns the number of its capture; {@link #NONE} if one is open. */
    int open() {
        int capture;
        synchronized (this) {
            if (open != NONE || opening) {
                return NONE;
            }
            opening = true;
            lastCapture++;
            capture = lastCapture;
            givenBack.put(capture, new BitSet());
            if (captures == null) {
                captures = new AtomicIntegerArray(marks.bound());
            }
        }
        // Followers set a mark before the capture, which is not part of the scope.
        notifyFollowers(follower -> follower.opened(capture));
        synchronized (this) {
            opening = false;
            open = capture;
        }
        notifyFollowers(Follower::began);
        return capture;
    }

    @Override
    public boolean isCapturing() {
        return open != NONE;
    }

    /** Closes a scope, if it is open. */
    synchronized void close(int capture) {
        if (open == capture) {
            open = NONE;
        }
    }

    /** Notifies the followers that a graph was launched at the end of the queue. Allocates nothing. */
    void launched(int capture) {
        List<WeakReference<Follower>> all = followers;
        for (int i = 0; i < all.size(); i++) {
            Follower follower = all.get(i).get();
            if (follower != null) {
                follower.launched(capture);
            }
        }
    }

    /** Gives back the marks of a capture, whose graph will not be launched again. A second call does nothing. */
    void release(int capture) {
        close(capture);
        BitSet gone;
        synchronized (this) {
            gone = givenBack.remove(capture);
        }
        if (gone != null) {
            gone.stream().forEach(this::giveBack);
            notifyFollowers(follower -> follower.released(capture));
        }
    }

    private void giveBack(int number) {
        setCapture(number, NONE);
        marks.giveBack(number);
    }

    private void setCapture(int number, int capture) {
        AtomicIntegerArray all = captures;
        if (all != null) {
            all.set(number, capture);
        }
    }

    private void notifyFollowers(Consumer<Follower> news) {
        for (WeakReference<Follower> reference : followers) {
            Follower follower = reference.get();
            if (follower != null) {
                news.accept(follower);
            }
        }
    }

    // ---- marks ----

    /** Returns whether some mark may be part of a graph. */
    boolean hasAny() {
        return captures != null;
    }

    /** Returns whether one of some marks is part of a graph. */
    boolean hasAny(int[] numbers, int count) {
        boolean has = false;
        for (int i = 0; hasAny() && i < count; i++) {
            has |= captureOf(numbers[i]) != NONE;
        }
        return has;
    }

    @Override
    public int captureOf(int mark) {
        AtomicIntegerArray all = captures;
        return all == null ? NONE : all.get(mark);
    }

    /**
     * Keeps a mark that is given back, if its graph may still be launched.
     *
     * @return false if the mark returns to the pool
     */
    boolean keeps(int number) {
        int capture = captureOf(number);
        if (capture == NONE) {
            return false;
        }
        synchronized (this) {
            BitSet kept = givenBack.get(capture);
            if (kept != null) {
                kept.set(number);
                return true;
            }
        }
        setCapture(number, NONE);
        return false;
    }

    /** Returns whether a graph may still record the event of a mark. */
    synchronized boolean mayBeLaunched(int number) {
        return givenBack.containsKey(captureOf(number));
    }

    @Override
    public void elapsedNs(int[] numbers, int count, long[] ns) {
        marks.latestNs(numbers, count, ns);
    }

    @Override
    public boolean takeStray() {
        return marks.queue().takeStray();
    }

    @Override
    public synchronized void follow(Follower follower) {
        followers = Stream.concat(
                        followers.stream().filter(reference -> reference.get() != null),
                        Stream.of(new WeakReference<>(follower)))
                .toList();
    }

    @Override
    public void report(Loss loss, String reason) {
        if (!marks.isClosed()) {
            marks.queue().reportLoss(loss, reason);
        }
    }
}
