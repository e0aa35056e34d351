package org.brickprofiler.device;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * The latest marks that were set where the host's clock was read for a deferred measurement, to be found again by that
 * reading. Each is held, so that its number is not used again, until so many newer ones were set that nobody can be
 * expected to ask for it. Any thread; no lock, and nothing is allocated once the table is there.
 *
 * <h2>How a mark is found</h2>
 *
 * Places are searched from the one that the reading's hash gives, a few in a row. An entry is one long: the mark's handle,
 * and the count of entries when it came, which says how old it is. A new one takes the first place that is
 * free or whose entry is old enough; each also clears the next places of a round, so that old entries do not stay.
 * Whoever finds an entry holds its mark, and only then compares the reading that was noted with the mark: a mark that was
 * given up meanwhile cannot be held, and one that is held does not change.
 */
final class StartMarks {

    private static final VarHandle PLACE = MethodHandles.arrayElementVarHandle(long[].class);
    private static final VarHandle PLACES;
    private static final VarHandle COUNT;
    private static final VarHandle LATEST;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            PLACES = lookup.findVarHandle(StartMarks.class, "places", long[].class);
            COUNT = lookup.findVarHandle(StartMarks.class, "count", long.class);
            LATEST = lookup.findVarHandle(StartMarks.class, "latestNs", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** So many of the latest are kept at most: a pass of a large model has some thousand bricks. */
    private static final int MOST_KEPT = 4_096;

    /** The part of a stream's marks that may be kept, and as many again until they are cleared. */
    private static final int PART = 16;

    private static final int PLACES_EACH = 2;
    private static final int MOST_SEARCHED = 32;

    /** At a place: nothing. */
    private static final long EMPTY = Marks.NONE;

    /** The lowest bits of an entry. */
    private static final int AGE_BITS = 20;

    private static final long GOLDEN = 0x9E37_79B9_7F4A_7C15L;

    private final Marks marks;
    private final int kept;
    private final int searched;

    /** Made where the first mark is put. */
    private volatile long @Nullable [] places;

    private volatile long count;

    /** The latest reading that a mark is found by. */
    private volatile long latestNs = Long.MIN_VALUE;

    StartMarks(Marks marks) {
        this.marks = marks;
        this.kept = Integer.highestOneBit(Math.max(2, Math.min(MOST_KEPT, marks.bound() / PART)));
        this.searched = Math.min(MOST_SEARCHED, PLACES_EACH * kept);
    }

    /**
     * A reading of the host's clock that no other call has got: later by as little as it takes, where the clock stands
     * still between two.
     */
    long reading(long nowNs) {
        while (true) {
            long before = latestNs;
            long next = Math.max(nowNs, before + 1);
            if (LATEST.compareAndSet(this, before, next)) {
                return next;
            }
        }
    }

    /**
     * Keeps a mark, which the calling thread has set and holds; the hold is the table's from then on.
     *
     * @param readingNs the reading that was noted with the mark
     * @param handle the mark
     */
    void put(long readingNs, long handle) {
        long[] all = places();
        long now = (long) COUNT.getAndAdd(this, 1L);
        clearNext(all, now);
        long entry = (handle << AGE_BITS) | (now & ((1L << AGE_BITS) - 1));
        while (!tryPut(all, readingNs, entry, now)) {
            // Another thread took the place that was chosen.
            Thread.onSpinWait();
        }
    }

    private boolean tryPut(long[] all, long readingNs, long entry, long now) {
        int oldest = 0;
        long oldestAge = Long.MIN_VALUE;
        for (int i = 0; i < searched; i++) {
            int at = at(all, readingNs, i);
            long before = (long) PLACE.getAcquire(all, at);
            long age = before == EMPTY ? Long.MAX_VALUE : age(before, now);
            if (age > oldestAge) {
                oldest = at;
                oldestAge = age;
            }
            if (age >= kept) {
                break;
            }
        }
        long before = (long) PLACE.getAcquire(all, oldest);
        boolean put = PLACE.compareAndSet(all, oldest, before, entry);
        if (put) {
            letGo(before);
        }
        return put;
    }

    private void clearNext(long[] all, long now) {
        int from = PLACES_EACH * (int) (now & (kept - 1));
        for (int at = from; at < from + PLACES_EACH; at++) {
            long entry = (long) PLACE.getAcquire(all, at);
            if (entry != EMPTY && age(entry, now) >= kept && PLACE.compareAndSet(all, at, entry, EMPTY)) {
                letGo(entry);
            }
        }
    }

    /** How many entries came since, less than 0 where the calling thread is late. */
    private static long age(long entry, long now) {
        return (now - entry) << (Long.SIZE - AGE_BITS) >> (Long.SIZE - AGE_BITS);
    }

    /**
     * Finds a mark, and holds it once more for the caller.
     *
     * @return its handle; {@link Marks#NONE} where it is not kept
     */
    long find(long readingNs) {
        long[] all = places;
        for (int i = 0; all != null && i < searched; i++) {
            long handle = (long) PLACE.getAcquire(all, at(all, readingNs, i)) >>> AGE_BITS;
            if (handle != Marks.NONE && isHeldFor(readingNs, handle)) {
                return handle;
            }
        }
        return Marks.NONE;
    }

    private boolean isHeldFor(long readingNs, long handle) {
        if (marks.reading(Marks.mark(handle)) != readingNs || !marks.tryHold(handle)) {
            return false;
        }
        if (marks.reading(Marks.mark(handle)) == readingNs) {
            return true;
        }
        marks.letGo(handle);
        return false;
    }

    /** Gives up the older half, where no mark is left for others. */
    void giveUpOlder() {
        long[] all = places;
        long now = count;
        for (int at = 0; all != null && at < all.length; at++) {
            long entry = (long) PLACE.getAcquire(all, at);
            if (entry != EMPTY && age(entry, now) > kept / 2 && PLACE.compareAndSet(all, at, entry, EMPTY)) {
                letGo(entry);
            }
        }
    }

    private void letGo(long entry) {
        if (entry != EMPTY) {
            marks.letGo(entry >>> AGE_BITS);
        }
    }

    private static int at(long[] all, long readingNs, int step) {
        int first = (int) ((readingNs * GOLDEN) >>> Integer.SIZE);
        return (first + step) & (all.length - 1);
    }

    private long[] places() {
        long[] all = places;
        if (all == null) {
            long[] made = new long[PLACES_EACH * kept];
            long[] before = (long[]) PLACES.compareAndExchange(this, null, made);
            all = before == null ? made : before;
        }
        return all;
    }
}
