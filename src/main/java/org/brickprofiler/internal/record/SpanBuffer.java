package org.brickprofiler.internal.record;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.WeakReference;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The timeline of one recording thread, or of threads that take turns: a bounded ring of entries, 24 bytes each, and 8
 * more if threads share it. One writer, the thread that writes the {@link StatTable} it belongs to; any number of
 * readers. Writing takes no lock, never waits, and allocates only while the ring grows to its bound, by doubling.
 *
 * <h2>Why a reader gets whole entries:</h2>
 *
 * The writer stores an entry and then its count, with release; a reader loads the count with acquire, so that all
 * entries below it are visible. The place of an old entry may be overwritten while a reader copies it. The writer's
 * fence orders the overwriting after the previous count. After copying, a reader loads the count again and leaves out
 * every entry whose place the writer may have reached by then. One place stays spare for the entry that is being
 * written.
 */
public final class SpanBuffer {

    static final int LONGS_EACH = 3;

    private static final int FIRST_SLOTS = 256;

    /**
     * Entries are written at their end. If threads share the buffer, an entry may come at most about this many places
     * late.
     */
    private static final int LATE_ENTRIES = 64;

    private static final int KIND_BITS = 4;
    private static final int ELAPSED_SHIFT = PhaseKey.BITS + KIND_BITS + 1;

    /**
     * Set in the word of an entry whose duration does not fit into the word: the value then also holds the highest bits
     * of the duration.
     */
    private static final long IS_LONG = 1L << (ELAPSED_SHIFT - 1);

    private static final int SHORT_BITS = Long.SIZE - ELAPSED_SHIFT;

    /** The largest duration that fits beside a value of any size, ns: 9.7 hours. */
    static final long MAX_SHORT_NS = (1L << SHORT_BITS) - 1;

    /** The number of bits of the value of an entry with a longer duration. */
    private static final int VALUE_BITS = Long.SIZE - ELAPSED_SHIFT + 1;

    private static final VarHandle COUNT;
    private static final VarHandle REFUSED;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            COUNT = lookup.findVarHandle(SpanBuffer.class, "count", long.class);
            REFUSED = lookup.findVarHandle(SpanBuffer.class, "refused", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final SpanContents store;
    private final @Nullable WeakReference<Thread> owner;
    private final long threadId;
    private final String threadName;
    private final Object identity = new Object();

    /** Replaced by the writer alone, by a longer copy that holds the same entries at the same places. */
    private volatile long[] cells = new long[0];

    /**
     * The threads that wrote the entries, by the places of these; null until {@link #addBy} is called. Replaced by the
     * writer alone, by a longer copy.
     */
    private volatile long @Nullable [] writers;

    /** The number of entries that were ever written. The writer stores it with release after each entry. */
    private long count;

    /** The number of entries that were refused. */
    private long refused;

    // The writer's position; from "until" on it must make room.
    private int at;
    private int until;

    /** The number of the first entry that is not discarded. Set by readers. */
    private volatile long keptFrom;

    /** The number of entries that had been refused when the buffer was last emptied. Guarded by this. */
    private long refusedBefore;

    /**
     * Creates an empty buffer.
     *
     * @param store the bounds
     * @param owner the writer, or null if it is shared by threads that hold it in turn
     * @param sharedNumber the number of a shared buffer
     */
    SpanBuffer(SpanContents store, @Nullable Thread owner, int sharedNumber) {
        this.store = store;
        this.owner = owner == null ? null : new WeakReference<>(owner);
        this.threadId = owner == null ? -sharedNumber : owner.getId();
        this.threadName = owner == null ? "virtual threads " + sharedNumber : owner.getName();
    }

    // ---- the writer ----

    /**
     * Adds an entry. Only the writer.
     *
     * @param kind its kind
     * @param row its name; of a sample, the {@link PhaseKey} of its name and phase
     * @param startNs the clock at its beginning
     * @param elapsedNs its duration, ns, 0 or more
     * @param value elements, or the bits of a counter's value
     * @return false if the entry is refused and counted as lost: there is no room, or both the duration and the value
     *     are too large
     */
    public boolean add(SpanKind kind, int row, long startNs, long elapsedNs, long value) {
        boolean isLong = elapsedNs > MAX_SHORT_NS;
        if ((isLong && !fitsBesideLong(value)) || (at >= until && !findRoom())) {
            REFUSED.setOpaque(this, refused + 1);
            return false;
        }
        long[] free = cells;
        int base = at;
        VarHandle.storeStoreFence();
        free[base] = startNs;
        free[base + 1] = word(kind, row, elapsedNs) | (isLong ? IS_LONG : 0);
        free[base + 2] = isLong ? withHighBits(elapsedNs, value) : value;
        at = base + LONGS_EACH;
        COUNT.setRelease(this, count + 1);
        return true;
    }

    /**
     * Adds an entry of one of the threads that share the buffer. Only the writer.
     *
     * @param writer the thread, by {@link Thread#getId()}
     * @param kind its kind
     * @param row its name; of a sample, the {@link PhaseKey} of its name and phase
     * @param startNs the clock at its beginning
     * @param elapsedNs its duration, ns, 0 or more
     * @param value elements, or the bits of a counter's value
     */
    public void addBy(long writer, SpanKind kind, int row, long startNs, long elapsedNs, long value) {
        if (at < until || findRoom()) {
            long[] ids = writersOfAllPlaces();
            // Like the entry itself, which is refused without a change if it does not fit.
            VarHandle.storeStoreFence();
            ids[at / LONGS_EACH] = writer;
        }
        add(kind, row, startNs, elapsedNs, value);
    }

    private long[] writersOfAllPlaces() {
        long[] ids = writers;
        int slots = cells.length / LONGS_EACH;
        if (ids == null || ids.length < slots) {
            ids = ids == null ? new long[slots] : Arrays.copyOf(ids, slots);
            writers = ids;
        }
        return ids;
    }

    private static boolean fitsBesideLong(long value) {
        return valueBesideLong(value) == value;
    }

    private static long withHighBits(long elapsedNs, long value) {
        return elapsedNs >>> SHORT_BITS << VALUE_BITS | (value & ((1L << VALUE_BITS) - 1));
    }

    private static long valueBesideLong(long packed) {
        return packed << (Long.SIZE - VALUE_BITS) >> (Long.SIZE - VALUE_BITS);
    }

    private boolean findRoom() {
        boolean grown = grow();
        if (!grown && at == cells.length) {
            at = 0;
        }
        int slots = cells.length / LONGS_EACH;
        long free = store.keepsNewest() ? slots : Math.max(0, slots - 1 - (count - keptFrom));
        // The spare place is used only once it is known that the ring grows no more.
        int end = grown ? cells.length - LONGS_EACH : cells.length;
        until = (int) Math.min(end, at + free * LONGS_EACH);
        return at < until;
    }

    /** Makes the ring longer, unless it has wrapped. Until then places and counts agree. */
    private boolean grow() {
        if (at != count * LONGS_EACH) {
            return false;
        }
        int slots = cells.length / LONGS_EACH;
        int more = store.reserve(slots == 0 ? FIRST_SLOTS : slots, slots);
        if (more > 0) {
            cells = Arrays.copyOf(cells, (slots + more) * LONGS_EACH);
        }
        return more > 0;
    }

    // ---- readers ----

    /** Returns the id of the writer; negative if the buffer is shared. */
    long threadId() {
        return threadId;
    }

    /** Returns the name of the writer when it wrote first. */
    String threadName() {
        return threadName;
    }

    /**
     * Returns an object that identifies this buffer without retaining its memory.
     *
     * @return the {@link SpanCopy#buffer()} of its copies
     */
    public Object identity() {
        return identity;
    }

    /**
     * Returns the entries of the buffer.
     *
     * @return an immutable copy, oldest entry first by the time of writing
     */
    public synchronized SpanCopy copy() {
        long end = (long) COUNT.getAcquire(this);
        long[] ring = cells;
        return copy(ring, Math.max(keptFrom, end - ring.length / LONGS_EACH), end);
    }

    /**
     * Returns the latest entries: all that end at or after a moment, and some that end before it.
     *
     * @param ns the clock
     * @return an immutable copy, oldest entry first by the time of writing; entries count as dropped only if the buffer
     *     may have lost entries that end after that moment
     */
    synchronized SpanCopy copyAfter(long ns) {
        long end = (long) COUNT.getAcquire(this);
        long[] ring = cells;
        int slots = ring.length / LONGS_EACH;
        long oldest = Math.max(keptFrom, end - slots);
        long from = end;
        int earlier = 0;
        while (from > oldest && earlier <= LATE_ENTRIES) {
            from--;
            int base = (int) (from % slots) * LONGS_EACH;
            earlier = ring[base] + elapsedNs(ring, base) < ns ? earlier + 1 : 0;
        }
        SpanCopy copy = copy(ring, from, end);
        boolean isComplete = earlier > LATE_ENTRIES && copy.size() == end - from;
        return isComplete ? copy.select(entry -> true) : copy;
    }

    private SpanCopy copy(long[] ring, long from, long end) {
        int slots = ring.length / LONGS_EACH;
        long[] copied = new long[(int) (end - from) * LONGS_EACH];
        for (int to = 0; to < copied.length; ) {
            int base = (int) ((from + to / LONGS_EACH) % slots) * LONGS_EACH;
            int length = Math.min(ring.length - base, copied.length - to);
            System.arraycopy(ring, base, copied, to, length);
            to += length;
        }
        long[] ids = writers;
        long @Nullable [] copiedIds = ids == null ? null : new long[(int) (end - from)];
        for (int i = 0; ids != null && copiedIds != null && i < copiedIds.length; i++) {
            copiedIds[i] = ids[(int) ((from + i) % slots)];
        }
        VarHandle.loadLoadFence();
        long written = (long) COUNT.getOpaque(this);
        long valid = Math.max(from, Math.min(end, written - slots + 1));
        long lost = valid - keptFrom + (long) REFUSED.getOpaque(this) - refusedBefore;
        int first = (int) (valid - from);
        return new SpanCopy(
                Arrays.copyOfRange(copied, first * LONGS_EACH, copied.length),
                copiedIds == null ? null : Arrays.copyOfRange(copiedIds, first, copiedIds.length),
                lost,
                this,
                valid);
    }

    /**
     * Returns whether the writer has filled half of the ring since a moment, so that the entries of that moment will be
     * overwritten soon.
     */
    boolean isLosing(long ns) {
        long end = (long) COUNT.getAcquire(this);
        long[] ring = cells;
        int slots = ring.length / LONGS_EACH;
        // Torn reads are harmless: the answer only decides when entries are copied.
        return slots > 0 && end > slots / 2 && ring[(int) ((end - slots / 2) % slots) * LONGS_EACH] > ns;
    }

    /** Returns whether the entry that was written last ended before a moment. */
    boolean endsBefore(long ns) {
        long end = (long) COUNT.getAcquire(this);
        long[] ring = cells;
        int slots = ring.length / LONGS_EACH;
        if (end == 0) {
            return true;
        }
        int base = (int) ((end - 1) % slots) * LONGS_EACH;
        return ring[base] + elapsedNs(ring, base) < ns;
    }

    /** Returns the number of entries that were written since the buffer was last emptied, including lost ones. */
    synchronized long written() {
        return (long) COUNT.getAcquire(this) - keptFrom + (long) REFUSED.getOpaque(this) - refusedBefore;
    }

    /** Returns the number of entries that a copy would have now. */
    synchronized long size() {
        long written = (long) COUNT.getAcquire(this);
        return written - Math.max(keptFrom, Math.min(written, written - slots() + 1));
    }

    /** Discards all written entries, and the count of refused ones. */
    synchronized void clear() {
        refusedBefore = (long) REFUSED.getOpaque(this);
        keptFrom = (long) COUNT.getAcquire(this);
    }

    /** Returns whether the writer has ended; false if the buffer is shared. */
    boolean isAbandoned() {
        Thread thread = owner == null ? null : owner.get();
        return owner != null && (thread == null || !thread.isAlive());
    }

    int slots() {
        return cells.length / LONGS_EACH;
    }

    private static long word(SpanKind kind, int row, long elapsedNs) {
        return elapsedNs << ELAPSED_SHIFT | (long) kind.index() << PhaseKey.BITS | row;
    }

    /** Returns the cells of an entry without a duration. */
    static long[] cells(SpanKind kind, int key, long atNs) {
        return new long[] {atNs, word(kind, key, 0), 0};
    }

    static int row(long word) {
        return (int) word & ((1 << PhaseKey.BITS) - 1);
    }

    static SpanKind kind(long word) {
        return SpanKind.at((int) (word >>> PhaseKey.BITS) & ((1 << KIND_BITS) - 1));
    }

    /** Returns the duration of the entry at a place. */
    static long elapsedNs(long[] cells, int base) {
        long word = cells[base + 1];
        long shortNs = word >>> ELAPSED_SHIFT;
        return (word & IS_LONG) == 0 ? shortNs : cells[base + 2] >>> VALUE_BITS << SHORT_BITS | shortNs;
    }

    /** Returns the value of the entry at a place. */
    static long value(long[] cells, int base) {
        return (cells[base + 1] & IS_LONG) == 0 ? cells[base + 2] : valueBesideLong(cells[base + 2]);
    }
}
