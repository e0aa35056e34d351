package org.brickprofiler.internal.mark;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Objects;

/**
 * The numbers of the marks of one stream: the free ones, and the owners of the others. Taking and giving numbers needs
 * no lock and allocates nothing; only growth, which creates a chunk of numbers, is serialised. Any thread.
 *
 * <p>If growth fails, for instance because a driver is temporarily out of memory, the pool keeps its size until
 * {@link #tryAgain} is called: asking the driver again for every mark would slow the application down.
 *
 * <p>A taken number has one owner at a time: the thread that took it, until the number is {@link #set}; then the one
 * caller whose {@link #release} or {@link #retire} succeeds. If an object behind a number cannot be used too late,
 * {@link #take} and {@link #give} are sufficient.
 *
 * <h2>Why a number is never taken twice</h2>
 *
 * Free numbers form a stack. Its head is one long: the lower half is the topmost number plus one, and the upper half
 * counts changes. Both halves change together by compare-and-set. A taker first reads the number below the top. If the
 * top is taken and given back in between, that number may be stale; but the count has changed too, so the
 * compare-and-set fails.
 */
public final class MarkPool {

    /** The largest bound: 2<sup>20</sup>, minus one number that is never used. */
    public static final int MAX_BOUND = (1 << 20) - 1;

    /** In place of a number: no number is free. A device stream returns it, too, if it has no mark left. */
    public static final int NONE = -1;

    private static final VarHandle HEAD = head();
    private static final VarHandle STATE = MethodHandles.arrayElementVarHandle(int[].class);

    private static final int CHUNK = 1_024;
    private static final long NUMBER = 0xFFFF_FFFFL;
    private static final long CHANGE = 1L << 32;

    // States of a number. The state of a free number is the number below it, plus one, or 0 if there is none. A state
    // of 0 or more of any other number has no meaning.
    private static final int OWNED = 0;
    private static final int SET = -1;
    private static final int RETIRED = -2;

    /** Creates the objects behind numbers. */
    @FunctionalInterface
    public interface Maker {
        /**
         * Creates the objects behind a range of numbers. Calls are serialised.
         *
         * @param from the first number
         * @param to the number after the last
         * @return the number after the last that could be created; {@code from} if none could
         */
        int make(int from, int to);
    }

    private final Maker maker;

    /** The states of all numbers up to the bound. If they were in chunks, each mark would wait for one more load. */
    private final int[] states;

    private volatile long head;

    /** Guarded by this. */
    private int made;

    /** Whether growth failed, so that it is not tried again. Set by the growing thread; cleared by any thread. */
    private volatile boolean failed;

    /** Whether a caller has found no number since growth was last permitted. */
    private volatile boolean missed;

    private static VarHandle head() {
        try {
            return MethodHandles.lookup().findVarHandle(MarkPool.class, "head", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /**
     * Creates a pool, filled with its first numbers.
     *
     * @param first the number of numbers to create at a time
     * @param bound the most numbers of the pool, up to {@link #MAX_BOUND}
     * @param maker creates the objects behind numbers
     * @throws IllegalArgumentException when {@code bound} is not in 1 to {@link #MAX_BOUND}, or {@code first} not in 1
     *     to {@code bound}
     */
    public MarkPool(int first, int bound, Maker maker) {
        requireNumbers(first, bound);
        this.maker = maker;
        this.states = new int[bound];
        grow(first);
    }

    /**
     * Checks the numbers of which a pool is to be created.
     *
     * @param first the number of numbers to create at a time
     * @param bound the most numbers of the pool
     * @throws IllegalArgumentException as of the constructor
     */
    public static void requireNumbers(int first, int bound) {
        if (bound < 1 || bound > MAX_BOUND) {
            throw new IllegalArgumentException("mark bound " + bound + ": expected 1 to " + MAX_BOUND);
        }
        if (first < 1 || first > bound) {
            throw new IllegalArgumentException("initial marks " + first + ": expected 1 to " + bound);
        }
    }

    /**
     * Takes a free number. Creates a chunk of numbers if none is free, the bound permits it, and growth has not failed.
     *
     * @return a number without an owner, or {@link #NONE}
     */
    public int take() {
        while (true) {
            long top = head;
            int number = (int) top - 1;
            if (number < 0) {
                if (!growIfEmpty()) {
                    return NONE;
                }
            } else if (HEAD.compareAndSet(this, top, changed(top, states[number]))) {
                return number;
            }
        }
    }

    /**
     * Gives a number back; called by its owner.
     *
     * @param number the number that {@link #take()} returned; not checked
     */
    public void give(int number) {
        push(number, number);
    }

    /**
     * Marks a number as in use, which ends the caller's ownership; called by its owner.
     *
     * @param number the number that {@link #take()} returned
     */
    public void set(int number) {
        STATE.setRelease(states, number, SET);
    }

    /**
     * Gives back a number that is in use. Does nothing with any other number, so a second or a late call is harmless.
     *
     * @param number a number that was taken once
     */
    public void release(int number) {
        if (own(number)) {
            give(number);
        }
    }

    /**
     * Makes the caller the owner of a number that is in use. The caller gives the number back once the object behind it
     * is gone.
     *
     * @param number a number that was taken once
     * @return whether the caller is the owner now; false if it is not in use
     */
    public boolean own(int number) {
        return STATE.compareAndSet(states, number, SET, OWNED);
    }

    /**
     * Gives back all numbers that are in use, as {@link #release(int)} does, with one change of the shared head.
     *
     * @param numbers numbers that were taken once
     * @param count the number of them to give back, from the first on
     */
    public void release(int[] numbers, int count) {
        Objects.requireNonNull(numbers, "numbers");
        int first = NONE;
        int last = NONE;
        for (int i = 0; i < count; i++) {
            int number = numbers[i];
            if (STATE.compareAndSet(states, number, SET, OWNED)) {
                if (first == NONE) {
                    last = number;
                } else {
                    states[number] = first + 1;
                }
                first = number;
            }
        }
        if (first != NONE) {
            push(first, last);
        }
    }

    /**
     * Makes the caller the owner of a number that is in use, for good: the number does not return to the pool.
     *
     * @param number a number that was taken once
     * @return whether the caller is the owner now; false if it is not in use
     */
    public boolean retire(int number) {
        return STATE.compareAndSet(states, number, SET, RETIRED);
    }

    private synchronized boolean growIfEmpty() {
        // Another thread may have created numbers, or given one back, in the meantime.
        if ((int) head != 0) {
            return true;
        }
        missed = true;
        return !failed && grow(nextChunk());
    }

    /**
     * If growing failed and a caller has found no number since, allows one more attempt, by the next caller that finds
     * none. Call it at boundaries, not for every mark. Does not wait.
     */
    public void tryAgain() {
        if (missed) {
            missed = false;
            failed = false;
        }
    }

    private int nextChunk() {
        return Math.min(CHUNK, states.length - made);
    }

    private synchronized boolean grow(int wanted) {
        int from = made;
        int until = wanted == 0 ? from : maker.make(from, from + wanted);
        failed = until < from + wanted;
        made = until;
        if (until == from) {
            return false;
        }
        for (int number = from + 1; number < until; number++) {
            states[number] = number;
        }
        push(until - 1, from);
        return true;
    }

    /** Puts a chain of numbers, linked from the first to the last, on top of the stack. */
    private void push(int first, int last) {
        long top;
        do {
            top = head;
            states[last] = (int) top;
        } while (!HEAD.compareAndSet(this, top, changed(top, first + 1)));
    }

    private static long changed(long top, int newTop) {
        return ((top & ~NUMBER) + CHANGE) | newTop;
    }

    /**
     * Returns the number of existing marks. Waits while the pool grows.
     *
     * @return from 0 to {@link #bound()}
     */
    public synchronized int made() {
        return made;
    }

    /**
     * Returns the largest possible number of marks.
     *
     * @return the bound that the pool was made with
     */
    public int bound() {
        return states.length;
    }

    /**
     * Returns the number of free marks, for tests and diagnosis. The call takes time, and its result is exact only if
     * no other thread takes or gives back marks.
     *
     * @return 0 or more
     */
    public int free() {
        int free = 0;
        for (int number = (int) head; number != 0 && free < states.length; number = states[number - 1]) {
            free++;
        }
        return free;
    }
}
