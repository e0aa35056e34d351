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
 * One thing of each thread that records: its table of sums with its queue of deferred measurements, its ring of spans,
 * its open entries of a graph, its place among the layers. All of them are found, registered, shared and given up here.
 *
 * <h2>The memory model of recording</h2>
 *
 * <ol>
 *   <li><b>One writer.</b> The slot of a platform thread is written by that thread alone, with plain stores and without
 *       a lock. How readers get whole values from it meanwhile is the thing's own affair: {@link StatTable} has two
 *       counts a row, {@link SpanBuffer} and {@link PendingQueue} a count that is released after the cells below it.
 *   <li><b>Finding it.</b> The things lie in an immutable {@link Slots}, which one volatile field refers to. A thread
 *       finds its own in a few dependent loads, whatever becomes of its thread-locals, which pools clear. The thread
 *       that registered first is compared with before anything is looked up.
 *   <li><b>Registering.</b> A thread's first call makes its thing and replaces the slots by compare-and-set. It waits
 *       for nobody; who loses the race repeats it over the winner's slots.
 *   <li><b>Ended threads.</b> Their slots are folded into one value by the next reader, or, once as many new threads
 *       have come, by the next thread that registers: in the same compare-and-set that gives up the thing, so that each
 *       is in exactly one of both. The end of a thread happens before {@link Thread#isAlive} answers false.
 *   <li><b>Virtual threads</b> either have a thing each, in a thread-local, or share a few. A shared one is held while
 *       it is written: taken with a compare-and-set, given back with a release, so that each holder sees what the one
 *       before wrote. A thread that finds all of them held adds one; nobody waits.
 *   <li><b>Replacing</b> everybody's thing, as a reset does, is one compare-and-set of the slots. A writer may still
 *       finish what it had begun in the old one; what follows from that is in {@link TableRegistry}.
 * </ol>
 *
 * <p>Every method may be called from any thread.
 *
 * @param <T> the things
 * @param <L> what the things of ended threads leave
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

    /** The slot of one thread, or of the virtual thread that holds it. The owner never changes. */
    public abstract static class Owned {
        private final @Nullable Thread owner;
        private final AtomicBoolean held = new AtomicBoolean();

        /**
         * Something of a thread.
         *
         * @param owner the thread, or null if threads share it
         */
        protected Owned(@Nullable Thread owner) {
            this.owner = owner;
        }

        final @Nullable Thread owner() {
            return owner;
        }

        /**
         * Returns whether the owner may still come.
         *
         * @return false if it has ended or there is none
         */
        public final boolean isOwnerAlive() {
            Thread thread = owner;
            return thread != null && thread.isAlive();
        }

        /** Takes a shared thing for the calling thread to write, without waiting; false if another holds it. */
        final boolean tryHold() {
            // Opaque: a caller that tries again and again must see the release.
            return !held.getOpaque() && held.compareAndSet(false, true);
        }

        /** Gives a shared thing back; what was written is seen by whoever holds it next. */
        final void letGo() {
            held.setRelease(false);
        }
    }

    /**
     * Makes what belongs to threads, and keeps what ended ones leave. Any thread.
     *
     * @param <T> the things
     * @param <L> what is left of them
     */
    @FunctionalInterface
    public interface Keeper<T extends Owned, L extends @Nullable Object> {

        /**
         * Makes what belongs to a thread, on that thread.
         *
         * @param owner the thread, or null for something that virtual threads share
         * @return a new thing
         */
        T make(@Nullable Thread owner);

        /**
         * Returns the value of all ended threads once more threads have ended. It must not change what is given.
         *
         * @param before what was left of others; null at first, where {@code L} may be null
         * @param ended the things of threads that have ended since, which may be none
         * @return what is left now; the same object if nothing has changed
         */
        default L leave(L before, List<T> ended) {
            return before;
        }
    }

    /**
     * Which thing belongs to which thread, and what is left of ended ones. Immutable; a change is a new object.
     *
     * @param <T> the things
     * @param <L> what the things of ended threads leave
     */
    public static final class Slots<T extends Owned, L extends @Nullable Object> {
        private final @Nullable Thread firstOwner;
        private final @Nullable T first;

        /** Twice as long as there are things or longer; each lies at its thread's id, or at the next free place. */
        private final @Nullable Owned[] placed;

        private final List<T> live;
        private final L left;

        /** With how many things the ended threads are looked for next: the search then costs each new one little. */
        private final int sweepAt;

        private Slots(List<T> live, L left, int sweepAt) {
            this.first = live.isEmpty() ? null : live.get(0);
            this.firstOwner = first == null ? null : first.owner();
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

        /** Returns the slot of a thread, or null. */
        @Nullable
        T of(Thread thread) {
            return thread == firstOwner ? first : probe(thread);
        }

        @SuppressWarnings("unchecked") // there are only things of this type
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
         * Returns the slot of a thread, or null, wherever it lies: a subclass of Thread may answer with another id each
         * time.
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

        /** Returns the things of threads that were alive when last looked at; cannot be changed. */
        List<T> live() {
            return live;
        }

        /** Returns the value of the ended threads. */
        L left() {
            return left;
        }

        /**
         * Returns the same, or without the things of ended threads where so many have come that it is time to look for
         * them.
         */
        Slots<T, L> sweptIfDue(Keeper<T, L> keeper) {
            return live.size() < sweepAt ? this : swept(keeper);
        }

        /** Returns the same threads with other things, in the same order, and something else left. */
        Slots<T, L> with(List<T> others, L leftNow) {
            return new Slots<>(others, leftNow, sweepAt);
        }

        /** With the thing of one thread more. */
        Slots<T, L> and(T added) {
            List<T> more = new ArrayList<>(live.size() + 1);
            more.addAll(live);
            more.add(added);
            return new Slots<>(more, left, sweepAt);
        }

        /**
         * Returns the same without the things of ended threads; this object if nothing has changed, without allocation.
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

    /** The things of virtual threads that have one each; null if they share. */
    @SuppressWarnings("ThreadLocalUsage") // each object has its own things on every virtual thread
    private final @Nullable ThreadLocal<@Nullable T> ofVirtual;

    private volatile Slots<T, L> slots;

    /** The things that virtual threads share. Replaced by a longer list. */
    private volatile List<T> shared = List.of();

    /**
     * Nothing of any thread.
     *
     * @param keeper makes what belongs to threads
     * @param nothing what is left before any thread has ended
     * @param shares whether virtual threads share things, rather than have one each
     */
    public PerThread(Keeper<T, L> keeper, L nothing, boolean shares) {
        this.keeper = keeper;
        this.ofVirtual = shares ? null : new ThreadLocal<>();
        this.slots = new Slots<>(List.of(), nothing, FIRST_LENGTH);
    }

    // ---- the calling thread ----

    /**
     * Returns the slot of the calling thread. Allocates at its first call on a thread.
     *
     * @return the same at each call until it is replaced; on a virtual thread that shares, something that nobody else
     *     has until it is given to {@link #release}
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
     * Gives back what {@link #mine} returned. Does nothing with what is the thread's own.
     *
     * @param mine what was returned
     */
    public void release(T mine) {
        if (mine.owner() == null) {
            mine.letGo();
        }
    }

    /**
     * Returns the slot of the calling thread alone, with the fewest loads. Allocates nothing.
     *
     * @return what {@link #mine} returned; null if there is none, it is a virtual thread's, or the thread has an id
     *     that changes
     */
    public @Nullable T own() {
        return slots.of(Thread.currentThread());
    }

    /**
     * Returns the slot of the calling thread alone, if the thread has one. Allocates nothing.
     *
     * @return what {@link #mine} returned; null if there is none, or it is shared
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
        List<T> all = shared;
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
            after = new ArrayList<>(before.size() + 1);
            after.addAll(before);
            after.add(added);
        } while (!SHARED.compareAndSet(this, before, Collections.unmodifiableList(after)));
        return added;
    }

    // ---- whoever looks at the things of all threads ----

    /**
     * Returns the things as they are now.
     *
     * @return while this is the same object, so is each thread's thing
     */
    public Slots<T, L> slots() {
        return slots;
    }

    /** Returns the things that virtual threads share. */
    List<T> shared() {
        return shared;
    }

    /** Replaces the slots where they are still the given ones. */
    boolean replace(Slots<T, L> before, Slots<T, L> after) {
        return SLOTS.compareAndSet(this, before, after);
    }

    /**
     * Lets go of what belongs to threads that have ended; nothing here refers to them then.
     *
     * @return the things that are left
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

    /** Lets go of what belongs to threads that have ended. */
    public void sweep() {
        swept();
    }

    /** Returns how many platform threads have something here, ended ones among them until they are swept. */
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

    /** A class of its own: the method is looked for when the first thread asks that has nothing yet. */
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
