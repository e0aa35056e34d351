package org.brickprofiler.internal.record;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * One object for each recording thread, for example its table of sums with its queue of deferred measurements, its ring
 * of spans, its open entries of a graph, or its position among the layers. This class finds, registers, shares and
 * removes these objects.
 *
 * <h2>The memory model of recording:</h2>
 *
 * <ol>
 *   <li><b>One writer.</b> The object of a platform thread is written by that thread alone, with plain stores and
 *       without a lock. The object itself ensures that readers get whole values: {@link StatTable} has two counts per
 *       row, {@link SpanBuffer} and {@link PendingQueue} have a count that is released after the cells below it.
 *   <li><b>Lookup.</b> The objects are in an immutable {@link Slots}, to which one volatile field refers. A thread
 *       finds its own object in a few dependent loads, independently of its thread-locals, which thread pools clear.
 *       The lookup first compares with the thread that registered first.
 *   <li><b>Registering.</b> The first call of a thread creates its object and replaces the slots by compare-and-set. It
 *       does not wait; a thread that loses the race repeats the operation on the winner's slots.
 *   <li><b>Ended threads.</b> The next reader merges their objects into one value. If no reader comes, a thread that
 *       registers does so, once there are twice as many objects as threads were alive at the last check, plus 16. One
 *       compare-and-set both removes the objects and replaces the value, so each object counts exactly once. The end of
 *       a thread happens before {@link Thread#isAlive} returns false.
 *   <li><b>Virtual threads</b> either have one object each, in a thread-local, or share a few objects. A thread holds a
 *       shared object while it writes: it takes the object with a compare-and-set and gives it back with a release, so
 *       each holder sees the writes of the previous one. If all shared objects are held, the thread adds one; no thread
 *       waits.
 *   <li><b>Replacing</b> all objects, as a reset does, is one compare-and-set of the slots. A writer may still finish
 *       an operation in its old object; {@link TableRegistry} describes the consequences.
 * </ol>
 *
 * <p>Every method may be called from any thread.
 *
 * @param <T> the type of the objects
 * @param <L> the type of the value that the objects of ended threads leave
 */
public final class PerThread<T extends PerThread.Owned, L extends @Nullable Object> {

    private static final int FIRST_LENGTH = 16;

    private static final VarHandle SLOTS;
    private static final VarHandle SHARED;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            SLOTS = lookup.findVarHandle(PerThread.class, "slots", Slots.class);
            SHARED = lookup.findVarHandle(PerThread.class, "shared", List.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** The object of one thread, or of the virtual thread that holds it. The owner never changes. */
    public abstract static class Owned {
        private final @Nullable Thread owner;
        private final AtomicBoolean held = new AtomicBoolean();

        /**
         * Creates the object of a thread.
         *
         * @param owner the thread, or null if threads share it
         */
        protected Owned(@Nullable Thread owner) {
            this.owner = owner;
        }

        /**
         * Returns the thread that owns this object.
         *
         * @return the thread, which may have ended; null if threads share the object
         */
        public final @Nullable Thread owner() {
            return owner;
        }

        /**
         * Returns whether this is the object of a thread; another object may have replaced it.
         *
         * @param thread a thread
         * @return false if another thread owns it, or threads share it
         */
        public final boolean isOf(Thread thread) {
            return owner == thread;
        }

        /**
         * Returns whether the owner may still write.
         *
         * @return false if the owner has ended, or if there is none
         */
        public final boolean isOwnerAlive() {
            Thread thread = owner;
            return thread != null && thread.isAlive();
        }

        /** Takes a shared object for the calling thread to write, without waiting; false if another thread holds it. */
        final boolean tryHold() {
            // Opaque, because a caller that spins must see the release.
            return !held.getOpaque() && held.compareAndSet(false, true);
        }

        /** Gives a shared object back; the next holder sees all writes. */
        final void letGo() {
            held.setRelease(false);
        }
    }

    /**
     * Creates the objects of threads, and computes the value that ended threads leave. Any thread.
     *
     * @param <T> the type of the objects
     * @param <L> the type of their remaining value
     */
    @FunctionalInterface
    public interface Keeper<T extends Owned, L extends @Nullable Object> {

        /**
         * Creates the object of a thread, on that thread.
         *
         * @param owner the thread, or null for an object that virtual threads share
         * @return a new object
         */
        T make(@Nullable Thread owner);

        /**
         * Returns the value of all ended threads once more threads have ended. It must not change its arguments.
         *
         * @param before the value of earlier ended threads; null at first, if {@code L} may be null
         * @param ended the objects of threads that have ended since; may be empty
         * @return the new value; the same object if nothing has changed
         */
        default L leave(L before, List<T> ended) {
            return before;
        }
    }

    /**
     * The objects of threads, and the value of ended threads. Immutable; a change creates a new object.
     *
     * @param <T> the type of the objects
     * @param <L> the type of the value of ended threads
     */
    public static final class Slots<T extends Owned, L extends @Nullable Object> {
        private final @Nullable Thread firstOwner;
        private final @Nullable T first;

        /** A hash table by thread id, with linear probing; at least twice as long as the number of objects. */
        private final @Nullable Owned[] placed;

        private final boolean isOnly;
        private final List<T> live;
        private final L left;

        /**
         * The number of objects at which a registering thread next looks for ended threads, chosen so that the search
         * costs little per new object.
         */
        private final int sweepAt;

        private Slots(List<T> live, L left, int sweepAt) {
            this.first = live.isEmpty() ? null : live.get(0);
            this.firstOwner = first == null ? null : first.owner();
            this.isOnly = live.size() == 1;
            this.placed = place(live);
            this.live = Collections.unmodifiableList(live);
            this.left = left;
            this.sweepAt = sweepAt;
        }

        private static <T extends Owned> @Nullable Owned[] place(List<T> all) {
            int length = FIRST_LENGTH;
            while (length < 2 * all.size()) {
                length *= 2;
            }
            @Nullable Owned[] placed = new Owned[length];
            for (Owned each : all) {
                Thread owner = each.owner();
                int i = owner == null ? 0 : (int) owner.getId() & (length - 1);
                while (placed[i] != null) {
                    i = (i + 1) & (length - 1);
                }
                placed[i] = each;
            }
            return placed;
        }

        /**
         * Returns the objects of platform threads.
         *
         * @return the objects, those of ended threads included until they are swept; unmodifiable
         */
        public List<T> all() {
            return live;
        }

        /** Returns the object of a thread, or null. */
        @Nullable
        T of(Thread thread) {
            return thread == firstOwner ? first : probe(thread);
        }

        @SuppressWarnings("unchecked") // all objects have this type
        private @Nullable T probe(Thread thread) {
            @Nullable Owned[] all = placed;
            int mask = all.length - 1;
            for (int i = (int) thread.getId() & mask; ; i = (i + 1) & mask) {
                Owned own = all[i];
                if (own == null || own.owner == thread) {
                    return (T) own;
                }
            }
        }

        /**
         * Returns the object of a thread, or null, by searching all objects: a subclass of Thread may return another id
         * each time.
         */
        @Nullable
        T search(Thread thread) {
            for (int i = 0; i < live.size(); i++) {
                if (live.get(i).owner() == thread) {
                    return live.get(i);
                }
            }
            return null;
        }

        /** Returns the object of the only thread; null if there is another number of threads. */
        @Nullable
        T only() {
            return isOnly ? first : null;
        }

        /** Returns the number of places, of which some are empty, for loops that need few loads. */
        int places() {
            return placed.length;
        }

        /** Returns the object at a place, or null. */
        @SuppressWarnings("unchecked") // all objects have this type
        @Nullable
        T at(int place) {
            return (T) placed[place];
        }

        /** Returns the objects of threads that were alive at the last check; cannot be changed. */
        List<T> live() {
            return live;
        }

        /** Returns the value of the ended threads. */
        L left() {
            return left;
        }

        /** Returns these slots, or slots without the objects of ended threads if a check for these is due. */
        Slots<T, L> sweptIfDue(Keeper<T, L> keeper) {
            return live.size() < sweepAt ? this : swept(keeper);
        }

        /**
         * Returns slots for the same threads with other objects, in the same order, and with another value of ended
         * threads.
         */
        Slots<T, L> with(List<T> others, L leftNow) {
            return new Slots<>(others, leftNow, sweepAt);
        }

        /** Returns slots with the object of one more thread. */
        Slots<T, L> and(T added) {
            List<T> more = new ArrayList<>(live.size() + 1);
            more.addAll(live);
            more.add(added);
            return new Slots<>(more, left, sweepAt);
        }

        /**
         * Returns slots without the objects of ended threads; this object if nothing has changed, without allocation.
         */
        Slots<T, L> swept(Keeper<T, L> keeper) {
            boolean clean = live.size() < sweepAt;
            for (int i = 0; clean && i < live.size(); i++) {
                clean = live.get(i).isOwnerAlive();
            }
            if (clean) {
                L now = keeper.leave(left, List.of());
                return now == left ? this : new Slots<>(live, now, sweepAt);
            }
            List<T> alive = new ArrayList<>(live.size());
            List<T> ended = new ArrayList<>();
            for (T each : live) {
                (each.isOwnerAlive() ? alive : ended).add(each);
            }
            return new Slots<>(alive, keeper.leave(left, ended), 2 * alive.size() + FIRST_LENGTH);
        }
    }

    private final Keeper<T, L> keeper;

    /** The objects of virtual threads that have one each; null if virtual threads share objects. */
    @SuppressWarnings("ThreadLocalUsage") // each instance has its own objects of virtual threads
    private final @Nullable ThreadLocal<@Nullable T> ofVirtual;

    private volatile Slots<T, L> slots;

    /** The objects that virtual threads share; null if there are none. Replaced by a longer list. */
    private volatile @Nullable List<T> shared;

    /**
     * Creates slots without threads.
     *
     * @param keeper creates the objects
     * @param nothing the value of ended threads before any thread has ended
     * @param shares whether virtual threads share objects, instead of having one each
     */
    public PerThread(Keeper<T, L> keeper, L nothing, boolean shares) {
        this.keeper = keeper;
        this.ofVirtual = shares ? null : new ThreadLocal<>();
        this.slots = new Slots<>(List.of(), nothing, FIRST_LENGTH);
    }

    // ---- the calling thread ----

    /**
     * Returns the object of the calling thread. Allocates at its first call on a thread.
     *
     * @return the same object at each call until it is replaced; on a virtual thread that shares, an object that no
     *     other thread has until it is passed to {@link #release}
     */
    public T mine() {
        T own = own();
        return own != null ? own : mineElsewhere();
    }

    private T mineElsewhere() {
        Thread caller = Thread.currentThread();
        if (isVirtual(caller)) {
            return ofVirtual == null ? hold(caller) : ofVirtual(ofVirtual, caller);
        }
        T misplaced = slots.search(caller);
        return misplaced != null ? misplaced : register(caller);
    }

    /**
     * Gives back the object that {@link #mine} returned. Does nothing with a thread's own object.
     *
     * @param mine the object
     */
    public void release(T mine) {
        if (mine.owner() == null) {
            mine.letGo();
        }
    }

    /**
     * Returns the calling thread's own object, with the fewest loads. Allocates nothing.
     *
     * @return the object that {@link #mine} returned; null if there is none, if the thread is virtual, or if the thread
     *     has an id that changes
     */
    public @Nullable T own() {
        return slots.of(Thread.currentThread());
    }

    /**
     * Returns the object of the thread that registered first among those that are alive.
     *
     * @return the object that {@link #own} returns there; null if no thread has registered
     */
    public @Nullable T first() {
        return slots.first;
    }

    /**
     * Returns the calling thread's own object, if it has one. Allocates nothing.
     *
     * @return the object that {@link #mine} returned; null if there is none, or it is shared
     */
    public @Nullable T mineOrNull() {
        Thread caller = Thread.currentThread();
        Slots<T, L> now = slots;
        T own = now.of(caller);
        if (own != null) {
            return own;
        }
        if (isVirtual(caller)) {
            return ofVirtual == null ? null : ofVirtual.get();
        }
        return now.search(caller);
    }

    private T register(Thread caller) {
        T made = keeper.make(caller);
        Slots<T, L> before;
        do {
            before = slots;
        } while (!replace(before, before.sweptIfDue(keeper).and(made)));
        return made;
    }

    private T ofVirtual(ThreadLocal<@Nullable T> local, Thread caller) {
        T known = local.get();
        if (known == null) {
            known = keeper.make(caller);
            local.set(known);
        }
        return known;
    }

    private T hold(Thread caller) {
        List<T> all = shared();
        int first = (int) caller.getId();
        for (int i = 0; i < all.size(); i++) {
            T each = all.get(Math.floorMod(first + i, all.size()));
            if (each.tryHold()) {
                return each;
            }
        }
        T added = keeper.make(null);
        boolean held = added.tryHold();
        assert held;
        List<T> before;
        List<T> after;
        do {
            before = shared;
            after = before == null ? new ArrayList<>() : new ArrayList<>(before);
            after.add(added);
        } while (!SHARED.compareAndSet(this, before, Collections.unmodifiableList(after)));
        return added;
    }

    // ---- readers of all threads' objects ----

    /**
     * Returns the current slots.
     *
     * @return the slots; as long as this method returns the same slots, each thread has the same object
     */
    public Slots<T, L> slots() {
        return slots;
    }

    /** Returns whether the slots are still the given ones, and virtual threads share no object. */
    boolean areOnly(@Nullable Slots<T, L> given) {
        return slots == given && shared == null;
    }

    /** Returns the objects that virtual threads share. */
    List<T> shared() {
        List<T> all = shared;
        return all == null ? List.of() : all;
    }

    /** Replaces the slots if they are still the given ones. */
    boolean replace(Slots<T, L> before, Slots<T, L> after) {
        return SLOTS.compareAndSet(this, before, after);
    }

    /**
     * Removes the objects of threads that have ended; nothing here refers to them afterwards.
     *
     * @return the remaining objects
     */
    Slots<T, L> swept() {
        while (true) {
            Slots<T, L> before = slots;
            Slots<T, L> after = before.swept(keeper);
            if (after == before || replace(before, after)) {
                return after;
            }
        }
    }

    /** Removes the objects of threads that have ended. */
    public void sweep() {
        swept();
    }

    /** Returns the number of platform threads with an object, including ended threads until they are swept. */
    int count() {
        return slots.live.size();
    }

    /**
     * Returns whether a thread is a virtual one, on every JDK from 17 on.
     *
     * @param thread any thread
     * @return false on a JDK without virtual threads
     */
    public static boolean isVirtual(Thread thread) {
        return VirtualThreads.contain(thread);
    }

    /** A class of its own, so that the method is looked up lazily, when the first thread without an object comes. */
    private static final class VirtualThreads {
        private static final MethodHandle IS_VIRTUAL = isVirtualHandle();

        private static MethodHandle isVirtualHandle() {
            MethodType type = MethodType.methodType(boolean.class);
            try {
                return MethodHandles.publicLookup().findVirtual(Thread.class, "isVirtual", type);
            } catch (NoSuchMethodException | IllegalAccessException beforeJdk21) {
                return MethodHandles.dropArguments(MethodHandles.constant(boolean.class, false), 0, Thread.class);
            }
        }

        static boolean contain(Thread thread) {
            try {
                return (boolean) IS_VIRTUAL.invokeExact(thread);
            } catch (Throwable e) {
                throw new LinkageError("Thread.isVirtual cannot be called", e);
            }
        }
    }
}
