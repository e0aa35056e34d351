package org.brickprofiler.record;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One thing of each thread that asked for it, found as the tables of a {@link TableRegistry} are: a pool that clears
 * thread-locals takes nothing away. A virtual thread, whose thread-locals nobody else clears, keeps its own in one.
 *
 * <p>Every method may be called from any thread; nobody waits. What belongs to a thread that has ended goes at the next
 * {@link #sweep}, or when as many threads again have come; then nothing here refers to the thread.
 *
 * @param <T> the things
 */
public final class PerThread<T extends ThreadOwned> {

    private static final VarHandle SLOTS;

    static {
        try {
            SLOTS = MethodHandles.lookup().findVarHandle(PerThread.class, "slots", Slots.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final Function<Thread, T> maker;

    @SuppressWarnings("ThreadLocalUsage") // each object has its own things on every virtual thread
    private final ThreadLocal<@Nullable T> ofVirtual = new ThreadLocal<>();

    private volatile Slots<T> slots = Slots.empty();

    /** Slots, and with how many things the ended threads are looked for next: the search then costs each new one little. */
    private static final class Slots<T extends ThreadOwned> extends ThreadSlots<T> {
        private final int sweepAt;

        Slots(T[] live, int sweepAt) {
            super(live);
            this.sweepAt = sweepAt;
        }

        @SuppressWarnings("unchecked") // an empty array holds nothing of another type
        static <T extends ThreadOwned> Slots<T> empty() {
            return new Slots<>((T[]) new ThreadOwned[0], FIRST_LENGTH);
        }

        Slots<T> with(T added) {
            Slots<T> room = live().length < sweepAt ? this : swept();
            T[] more = Arrays.copyOf(room.live(), room.live().length + 1);
            more[more.length - 1] = added;
            return new Slots<>(more, room.sweepAt);
        }

        /** The same without the things of ended threads; this object where there are none, without allocation. */
        Slots<T> swept() {
            for (T each : live()) {
                if (!each.isOwnerAlive()) {
                    return withoutEnded();
                }
            }
            return live().length < sweepAt ? this : new Slots<>(live(), 2 * live().length + FIRST_LENGTH);
        }

        private Slots<T> withoutEnded() {
            List<T> alive = new ArrayList<>(live().length);
            for (T each : live()) {
                if (each.isOwnerAlive()) {
                    alive.add(each);
                }
            }
            return new Slots<>(alive.toArray(Arrays.copyOf(live(), 0)), 2 * alive.size() + FIRST_LENGTH);
        }
    }

    /**
     * Nothing of any thread.
     *
     * @param maker makes what belongs to a thread, on that thread
     */
    public PerThread(Function<Thread, T> maker) {
        this.maker = maker;
    }

    /**
     * What belongs to the calling thread. Allocates at its first call on a thread.
     *
     * @return the same at each call
     */
    public T mine() {
        T known = mineOrNull();
        return known != null ? known : make(Thread.currentThread());
    }

    /**
     * What belongs to the calling thread, if it ever asked for it. Allocates nothing.
     *
     * @return what {@link #mine} returned, or null
     */
    public @Nullable T mineOrNull() {
        Thread caller = Thread.currentThread();
        Slots<T> now = slots;
        T own = now.of(caller);
        if (own != null) {
            return own;
        }
        return VirtualThreads.isVirtual(caller) ? ofVirtual.get() : now.search(caller);
    }

    private T make(Thread caller) {
        T made = maker.apply(caller);
        if (VirtualThreads.isVirtual(caller)) {
            ofVirtual.set(made);
            return made;
        }
        Slots<T> before;
        do {
            before = slots;
        } while (!SLOTS.compareAndSet(this, before, before.with(made)));
        return made;
    }

    /** Lets go of what belongs to threads that have ended. */
    public void sweep() {
        Slots<T> before;
        Slots<T> after;
        do {
            before = slots;
            after = before.swept();
        } while (after != before && !SLOTS.compareAndSet(this, before, after));
    }

    /** How many platform threads have something here, ended ones among them until they are swept. */
    int count() {
        return slots.live().length;
    }
}
