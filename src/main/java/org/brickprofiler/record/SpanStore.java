package org.brickprofiler.record;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The timelines of all threads that record into one {@link TableRegistry}. A buffer outlives its thread until it is
 * emptied. Every method may be called from any thread.
 */
public final class SpanStore {

    /** The most phases that are kept. */
    static final int MOST_PHASES = 4_096;

    private final int capacity;
    private final boolean keepsNewest;
    private final AtomicLong budget;

    /** Guarded by itself. */
    private final List<SpanBuffer> buffers = new ArrayList<>();

    /** Guarded by {@code buffers}. */
    private int sharedBuffers;

    /** Guarded by itself. */
    private final List<Phase> phases = new ArrayList<>();

    /** A phase of a run, and the thread that began it. */
    private record Phase(int number, long atNs, long threadId, String threadName) {}

    /**
     * An empty store.
     *
     * @param capacity the most entries of a thread that are kept, 1 or more
     * @param keepsNewest whether a full buffer gives up its oldest entry for a new one, rather than refuse that
     * @param budget the most entries that are kept in all, less those of other stores with the same budget; what a
     *     buffer takes is taken off
     */
    public SpanStore(int capacity, boolean keepsNewest, AtomicLong budget) {
        this.capacity = capacity;
        this.keepsNewest = keepsNewest;
        this.budget = budget;
    }

    boolean keepsNewest() {
        return keepsNewest;
    }

    /**
     * A buffer for whoever makes sure that one thread at a time writes to it.
     *
     * @return an empty buffer, which the store keeps
     */
    public SpanBuffer newSharedBuffer() {
        return newBuffer(null);
    }

    /** A buffer for a thread, or for threads that take turns where there is no owner. */
    SpanBuffer newBuffer(@Nullable Thread owner) {
        synchronized (buffers) {
            SpanBuffer buffer = new SpanBuffer(this, owner, owner == null ? ++sharedBuffers : 0);
            buffers.add(buffer);
            return buffer;
        }
    }

    /**
     * Room for more entries of a buffer.
     *
     * @param wanted how many more
     * @param slots how many it has room for
     * @return how many more it may have, 0 where a bound is reached
     */
    int reserve(int wanted, int slots) {
        long allowed = Math.min(wanted, capacity + 1L - slots);
        for (long left = budget.get(); left > 0 && allowed > 0; left = budget.get()) {
            long granted = Math.min(allowed, left);
            if (budget.compareAndSet(left, left - granted)) {
                return (int) granted;
            }
        }
        return 0;
    }

    /**
     * What all threads wrote since the store was last emptied.
     *
     * @return a copy of each buffer, in the order in which they were made
     */
    public List<SpanCopy> copies() {
        synchronized (buffers) {
            return buffers.stream().map(SpanBuffer::copy).toList();
        }
    }

    /**
     * Notes that a phase of a run begins. The calling thread's line shows it. Phases are kept apart from spans, so that
     * one stays known when its beginning would be overwritten; of more than {@value #MOST_PHASES} the newest.
     *
     * @param number which phase
     * @param atNs the clock
     */
    public void phase(int number, long atNs) {
        Thread thread = Thread.currentThread();
        synchronized (phases) {
            if (phases.size() == MOST_PHASES) {
                phases.remove(0);
            }
            phases.add(new Phase(number, atNs, thread.getId(), thread.getName()));
        }
    }

    /**
     * The phases that have begun.
     *
     * @return a copy of each, an instant whose key is the number of the phase, in the order in which they began
     */
    public List<SpanCopy> phases() {
        synchronized (phases) {
            return phases.stream()
                    .map(phase -> SpanCopy.ofInstant(phase.number, phase.atNs, phase.threadId, phase.threadName))
                    .toList();
        }
    }

    /** Forgets what was written so far, but for the phase that is under way. Threads that have ended leave nothing behind then. */
    public void clear() {
        synchronized (phases) {
            phases.subList(0, Math.max(0, phases.size() - 1)).clear();
        }
        synchronized (buffers) {
            buffers.removeIf(buffer -> {
                // Asked first: whatever such a thread wrote is then there to be forgotten.
                boolean abandoned = buffer.isAbandoned();
                buffer.clear();
                budget.addAndGet(abandoned ? buffer.slots() : 0);
                return abandoned;
            });
        }
    }
}
