package org.brickprofiler.internal.record;

import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The timelines of all threads that record into one {@link TableRegistry}. A writer holds this object; a reader only
 * holds its {@linkplain #contents contents}, and can find out by a weak reference to the store that no thread will
 * write any more. Every method may be called from any thread.
 */
public final class SpanStore {

    private final SpanContents contents;

    /** Follows the steps of the threads that write to this store; null unless the timeline keeps only chosen steps. */
    private volatile @Nullable StepFollower follower;

    /**
     * Creates an empty store.
     *
     * @param capacity the most entries of a thread, 1 or more
     * @param keepsNewest whether a full buffer drops its oldest entry for a new one, instead of refusing the new one
     * @param budget the number of entries that all stores of this budget may still reserve; the room of each buffer is
     *     deducted
     */
    public SpanStore(int capacity, boolean keepsNewest, AtomicLong budget) {
        this.contents = new SpanContents(capacity, keepsNewest, budget);
    }

    /**
     * Returns the written entries.
     *
     * @return the same object each time; it does not refer to this one
     */
    public SpanContents contents() {
        return contents;
    }

    /**
     * Returns the follower of the steps of the threads that write to this store.
     *
     * @return the follower; null unless the timeline keeps only chosen steps
     */
    public @Nullable StepFollower follower() {
        return follower;
    }

    /**
     * Sets the follower of steps. Call it before the first step.
     *
     * @param steps the follower
     */
    public void follow(StepFollower steps) {
        follower = steps;
    }

    /**
     * Returns a new shared buffer. The caller ensures that only one thread at a time writes to it, and keeps a
     * reference to this store as long as threads write.
     *
     * @return an empty buffer, which the store keeps
     */
    public SpanBuffer newSharedBuffer() {
        return newBuffer(null);
    }

    /**
     * Returns a writer for a thread.
     *
     * @param owner the thread, or null for threads that hold it in turn
     * @return a writer of a new timeline, which the store keeps
     */
    public SpanWriter newWriter(@Nullable Thread owner) {
        return new SpanWriter(owner, this, null);
    }

    /** Returns a new buffer for a thread, or, without an owner, for threads that take turns. */
    SpanBuffer newBuffer(@Nullable Thread owner) {
        return contents.newBuffer(owner);
    }

    /**
     * Returns the entries of all threads since the store was last emptied.
     *
     * @return a copy of each buffer, in the order in which the buffers were created
     */
    public List<SpanCopy> copies() {
        return contents.copies();
    }

    /**
     * Notes that a phase of a run begins. The calling thread's timeline shows it.
     *
     * @param number the number of the phase
     * @param atNs the clock
     */
    public void phase(int number, long atNs) {
        contents.phase(number, atNs);
    }

    /** Discards all written entries, except for the current phase. The buffers of ended threads are then freed. */
    public void clear() {
        contents.clear();
    }
}
