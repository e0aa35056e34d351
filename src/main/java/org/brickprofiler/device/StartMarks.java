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
 * Places are searched from the one that the reading's hash gives, a few in a row. An entry is one long: the mark, its
 * generation, and the count of entries when it came, which says how old it is. A new one takes the first place that is
 * free or whose entry is old enough; each also clears the next places of a round, so that old entries do not stay.
 * Whoever finds an entry holds its mark, and only then compares the reading that was noted with the mark: a mark that was
 * given up meanwhile cannot be held, and one that is held does not change.
 */
final class StartMarks {

    /** Instead of a mark: there is none. */
    static final long NONE = 0;

    private static final VarHandle PLACE = MethodHandles.arrayElementVarHandle(long[].class);
    private static final VarHandle PLACES;
    private static final VarHandle COUNT;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            PLACES = lookup.findVarHandle(StartMarks.class, "places", long[].class);
            COUNT = lookup.findVarHandle(StartMarks.class, "count", long.class);
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

    // An entry: generation, mark and age; never 0, since no generation is.
    private static final int AGE_BITS = 20;
    private static final int MARK_BITS = 20;
    private static final int GENERATION_SHIFT = AGE_BITS + MARK_BITS;

    private static final long GOLDEN = 0x9E37_79B9_7F4A_7C15L;

    private final MarkStates marks;
    private final DeviceStream stream;
    private final int kept;
    private final int searched;

    /** Made where the first mark is put. */
    private volatile long @Nullable [] places;

    private volatile long count;

    StartMarks(MarkStates marks, DeviceStream stream) {
        this.marks = marks;
        this.stream = stream;
        this.kept = Integer.highestOneBit(Math.max(2, Math.min(MOST_KEPT, marks.count() / PART)));
        this.searched = Math.min(MOST_SEARCHED, PLACES_EACH * kept);
    }

    /**
     * Keeps a mark, which the calling thread has set and holds; the hold is the table's from then on.
     *
     * @param value the reading, which was noted with the mark
     */
    void put(long value, int mark) {
        long[] all = places();
        long now = (long) COUNT.getAndAdd(this, 1L);
        clearNext(all, now);
        long entry = ((long) marks.generation(mark) << GENERATION_SHIFT)
                | ((long) mark << AGE_BITS)
                | (now & ((1L << AGE_BITS) - 1));
        while (!tryPut(all, value, entry, now)) {
            // Another thread took the place that was chosen.
            Thread.onSpinWait();
        }
    }

    private boolean tryPut(long[] all, long value, long entry, long now) {
        int oldest = 0;
        long oldestAge = Long.MIN_VALUE;
        for (int i = 0; i < searched; i++) {
            int at = at(all, value, i);
            long before = (long) PLACE.getAcquire(all, at);
            long age = before == NONE ? Long.MAX_VALUE : age(before, now);
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
            if (entry != NONE && age(entry, now) >= kept && PLACE.compareAndSet(all, at, entry, NONE)) {
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
     * @return its entry, for {@link #mark} and {@link #generation}; {@link #NONE} where it is not kept
     */
    long find(long value) {
        long[] all = places;
        for (int i = 0; all != null && i < searched; i++) {
            long entry = held(all, at(all, value, i), value);
            if (entry != NONE) {
                return entry;
            }
        }
        return NONE;
    }

    /** The entry at a place, held once more, where it is that of a reading. */
    private long held(long[] all, int at, long value) {
        long entry = (long) PLACE.getAcquire(all, at);
        if (entry == NONE || marks.value(mark(entry)) != value || !marks.tryHold(mark(entry), generation(entry))) {
            return NONE;
        }
        if (marks.value(mark(entry)) == value) {
            return entry;
        }
        letGo(entry);
        return NONE;
    }

    /** Gives up the older half, where no mark is left for others. */
    void giveUpOlder() {
        long[] all = places;
        long now = count;
        for (int at = 0; all != null && at < all.length; at++) {
            long entry = (long) PLACE.getAcquire(all, at);
            if (entry != NONE && age(entry, now) > kept / 2 && PLACE.compareAndSet(all, at, entry, NONE)) {
                letGo(entry);
            }
        }
    }

    /** Lets go of the mark of an entry. */
    void letGo(long entry) {
        if (entry != NONE && marks.letGo(mark(entry), generation(entry))) {
            marks.retire(mark(entry));
            stream.release(mark(entry));
        }
    }

    static int mark(long entry) {
        return (int) (entry >>> AGE_BITS) & ((1 << MARK_BITS) - 1);
    }

    static int generation(long entry) {
        return (int) (entry >>> GENERATION_SHIFT);
    }

    private static int at(long[] all, long value, int step) {
        int first = (int) ((value * GOLDEN) >>> Integer.SIZE);
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
