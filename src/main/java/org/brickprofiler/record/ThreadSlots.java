package org.brickprofiler.record;

import org.jspecify.annotations.Nullable;

/**
 * Which of some things belongs to which thread. Immutable: a thread finds its own in a few loads, whatever becomes of its
 * thread-locals, which pools clear.
 *
 * <p>The things lie in an array twice as long as there are things or longer, at the place that the thread's id gives
 * or, where that is taken, at the next free one.
 *
 * @param <T> the things
 */
class ThreadSlots<T extends ThreadOwned> {

    static final int FIRST_LENGTH = 16;

    private final @Nullable ThreadOwned[] slots;
    private final T[] live;

    /**
     * Slots of some things.
     *
     * @param live one of each thread; not to be changed
     */
    ThreadSlots(T[] live) {
        this.slots = place(live);
        this.live = live;
    }

    private static @Nullable ThreadOwned[] place(ThreadOwned[] all) {
        int length = FIRST_LENGTH;
        while (length < 2 * all.length) {
            length *= 2;
        }
        @Nullable ThreadOwned[] slots = new ThreadOwned[length];
        for (ThreadOwned each : all) {
            Thread owner = each.owner();
            int i = owner == null ? 0 : (int) owner.getId() & (length - 1);
            while (slots[i] != null) {
                i = (i + 1) & (length - 1);
            }
            slots[i] = each;
        }
        return slots;
    }

    /** What belongs to a thread, or null. */
    @SuppressWarnings("unchecked") // there are only things of this type
    final @Nullable T of(Thread thread) {
        @Nullable ThreadOwned[] placed = slots;
        ThreadOwned own = placed[(int) thread.getId() & (placed.length - 1)];
        return (T) (own != null && own.owner() == thread ? own : probe(placed, thread));
    }

    private static @Nullable ThreadOwned probe(@Nullable ThreadOwned[] placed, Thread thread) {
        int mask = placed.length - 1;
        for (int i = (int) thread.getId() & mask; ; i = (i + 1) & mask) {
            ThreadOwned own = placed[i];
            if (own == null || own.owner() == thread) {
                return own;
            }
        }
    }

    /** What belongs to a thread, or null, wherever it lies: a subclass of Thread may answer with another id each time. */
    final @Nullable T search(Thread thread) {
        for (T own : live) {
            if (own.owner() == thread) {
                return own;
            }
        }
        return null;
    }

    /** The things of the threads that were alive when last looked at; not to be changed. */
    final T[] live() {
        return live;
    }
}
