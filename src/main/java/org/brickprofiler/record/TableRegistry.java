package org.brickprofiler.record;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The tables of all recording threads. A table belongs to a thread for as long as the thread lives, whatever becomes
 * of its thread-locals; the tables of ended threads are folded into one sum. Virtual threads share a few tables.
 *
 * <p>Threads that record never wait: they find their table through an immutable {@link ThreadTables}, and the first
 * record of a thread replaces that by compare-and-set. Threads that read or reset wait for each other alone.
 *
 * <h2>Why nothing is lost or counted twice by a reset</h2>
 *
 * A reset replaces each written table by an empty one in a single compare-and-set, and then reads the old ones. A
 * recorder that had found its old table before the replacement can still finish a sample there. For every sample it
 * looks its table up, or asks whether tables were replaced since it did; but it does not wait for its stores first:
 * some samples before that one may be on their way too, as many as a processor holds back in its store buffer. An old
 * table is therefore kept as <i>late</i> until its thread has written to the new one or has ended. Whatever the old
 * one has more by then counts for the interval in which it is found. A shared table is emptied by holding it, which
 * no recorder waits for.
 *
 * <p>Sums of late samples are exact however many they are. Their shortest and longest can be told for two in a row; so
 * that there are no more, the reset gives stores time to arrive before it reads, far more than a store buffer needs.
 */
public final class TableRegistry {

    /** Instead of what {@link #caller()} answers: a thread that has queued nothing. */
    public static final long NOBODY = 0;

    private static final VarHandle TABLES;
    private static final VarHandle SHARED;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            TABLES = lookup.findVarHandle(TableRegistry.class, "tables", ThreadTables.class);
            SHARED = lookup.findVarHandle(TableRegistry.class, "shared", StatTable[].class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private static final long STORES_ARRIVE_WITHIN_NS = 50_000;

    private final int rowCount;
    private final boolean withBuckets;
    private final @Nullable SpanStore spans;
    private final LongSupplier layer;
    private final Object readers = new Object();

    /** Guarded by {@code readers}. */
    private final LateTables late = new LateTables();

    private volatile ThreadTables tables = ThreadTables.EMPTY;

    /** The tables of virtual threads; one is added where all are held. */
    private volatile StatTable[] shared = new StatTable[0];

    /**
     * An empty registry, whose samples nobody wants as spans.
     *
     * @param rowCount how many rows a table begins with
     * @param withBuckets whether durations are also counted in {@link LatencyBuckets}
     */
    public TableRegistry(int rowCount, boolean withBuckets) {
        this(rowCount, withBuckets, null);
    }

    /**
     * An empty registry.
     *
     * @param rowCount how many rows a table begins with
     * @param withBuckets whether durations are also counted in {@link LatencyBuckets}
     * @param spans where every sample goes as a span too, or null where nobody wants that
     */
    public TableRegistry(int rowCount, boolean withBuckets, @Nullable SpanStore spans) {
        this(rowCount, withBuckets, spans, () -> LayerToken.OWN);
    }

    /**
     * An empty registry, some of whose threads work for the layers of others.
     *
     * @param rowCount how many rows a table begins with
     * @param withBuckets whether durations are also counted in {@link LatencyBuckets}
     * @param spans where every sample goes as a span too, or null where nobody wants that
     * @param layer the token of the layer that the calling thread works for, or {@link LayerToken#OWN}; asked where threads
     *     share a timeline
     */
    public TableRegistry(int rowCount, boolean withBuckets, @Nullable SpanStore spans, LongSupplier layer) {
        this.layer = layer;
        this.rowCount = rowCount;
        this.withBuckets = withBuckets;
        this.spans = spans;
    }

    // ---- recording threads ----

    /**
     * Adds a sample to the calling thread's table. Allocates only for a thread's or a row's first sample.
     *
     * @param key the row, 0 or more
     * @param elapsedNs its duration, ns
     * @param atNs the clock when it ended
     * @param elements elements it processed
     */
    public void add(int key, long elapsedNs, long atNs, long elements) {
        StatTable own = own();
        if (own != null) {
            own.add(key, elapsedNs, atNs, elements);
        } else {
            addWithoutOwnTable(key, elapsedNs, atNs, elements);
        }
    }

    private void addWithoutOwnTable(int key, long elapsedNs, long atNs, long elements) {
        StatTable table = acquire();
        table.add(key, elapsedNs, atNs, elements);
        release(table);
    }

    /** Adds a sample whose end was told later, at a synchronisation. */
    void addDeferred(int key, long startNs, long elapsedNs, long atNs, long elements) {
        StatTable table = acquire();
        table.addDeferred(key, startNs, elapsedNs, atNs, elements);
        release(table);
    }

    /**
     * Queues a measurement until its end is known.
     *
     * @param key the row, 0 or more
     * @param startNs the clock at its start
     * @param elements elements it processes
     * @return false where the queue is full and the measurement was not taken
     */
    public boolean defer(int key, long startNs, long elements) {
        StatTable own = own();
        return own != null ? own.pending().offer(key, startNs, elements) : deferWithoutOwnTable(key, startNs, elements);
    }

    private boolean deferWithoutOwnTable(int key, long startNs, long elements) {
        StatTable table = acquire();
        boolean queued = table.owner() == null
                ? table.pending().offer(PendingQueue.sharing(Thread.currentThread()), key, startNs, elements)
                : table.pending().offer(key, startNs, elements);
        release(table);
        return queued;
    }

    /**
     * What stands for the calling thread where its measurements are drained.
     *
     * @return a number that no other living thread has, or {@link #NOBODY} where it has queued none
     */
    public long caller() {
        StatTable own = own();
        if (own == null) {
            Thread caller = Thread.currentThread();
            if (VirtualThreads.isVirtual(caller)) {
                return PendingQueue.sharing(caller);
            }
            own = tables.search(caller);
        }
        return own == null ? NOBODY : own.pending().owner();
    }

    /** The calling thread's own table, or null where it has none. */
    private @Nullable StatTable own() {
        return tables.of(Thread.currentThread());
    }

    /** The tables as they are now: while this is the same object, so is each thread's table. */
    ThreadTables tables() {
        return tables;
    }

    /**
     * A table that the calling thread may write until it gives it back; its own, or a shared one for a virtual thread.
     *
     * @return a table, to be handed to {@link #release}
     */
    public StatTable acquire() {
        StatTable own = own();
        if (own != null) {
            return own;
        }
        Thread caller = Thread.currentThread();
        if (VirtualThreads.isVirtual(caller)) {
            return holdShared(caller);
        }
        StatTable misplaced = tables.search(caller);
        return misplaced != null ? misplaced : register(caller);
    }

    /**
     * Gives a table back.
     *
     * @param table what {@link #acquire()} returned
     */
    public void release(StatTable table) {
        if (table.owner() == null) {
            table.release();
        }
    }

    private StatTable register(Thread caller) {
        StatTable table = newTable(caller);
        ThreadTables before;
        do {
            before = tables;
        } while (!TABLES.compareAndSet(this, before, before.sweptIfDue().with(table)));
        return table;
    }

    private StatTable holdShared(Thread caller) {
        StatTable[] all = shared;
        int first = (int) caller.getId();
        for (int i = 0; i < all.length; i++) {
            StatTable table = all[Math.floorMod(first + i, all.length)];
            if (table.tryHold()) {
                return table;
            }
        }
        return addShared();
    }

    private StatTable addShared() {
        StatTable added = newTable(null);
        boolean held = added.tryHold();
        assert held;
        StatTable[] before;
        StatTable[] after;
        do {
            before = shared;
            after = Arrays.copyOf(before, before.length + 1);
            after[before.length] = added;
        } while (!SHARED.compareAndSet(this, before, after));
        return added;
    }

    private StatTable newTable(@Nullable Thread owner) {
        PendingQueue pending = new PendingQueue(owner == null);
        return spans == null
                ? new StatTable(owner, rowCount, withBuckets, pending)
                : TimelineTable.of(owner, rowCount, withBuckets, pending, spans, spans.newBuffer(owner), layer);
    }

    /**
     * Whether somebody wants samples as spans.
     *
     * @return the same for the life of the registry
     */
    public boolean hasSpans() {
        return spans != null;
    }

    /**
     * Puts an entry on the calling thread's timeline and into no sum, where a timeline is wanted.
     *
     * @param kind what it is
     * @param key its name, up to {@link TimerToken#MAX_KEY}
     * @param startNs the clock at its beginning
     * @param elapsedNs how long it took, ns; 0 for a moment
     * @param value what comes with it
     * @return the id of that timeline, as {@link SpanCopy#threadId()} tells it; 0 where there is none
     */
    public long mark(SpanKind kind, int key, long startNs, long elapsedNs, long value) {
        StatTable table = acquire();
        table.addSpan(kind, key, startNs, elapsedNs, value);
        long line = table.lineId();
        release(table);
        return line;
    }

    /**
     * Notes that a phase of a run begins, where a timeline is wanted.
     *
     * @param number which phase
     * @param atNs the clock
     */
    public void phase(int number, long atNs) {
        if (spans != null) {
            spans.phase(number, atNs);
        }
    }

    /**
     * The calling thread's own table. Allocates nothing.
     *
     * @return the table; null where the thread has recorded nothing, or is virtual
     */
    public @Nullable StatTable ownTable() {
        return own();
    }

    // ---- readers ----

    /**
     * What all threads recorded since the last reset.
     *
     * @return the sums of every row, consistent row by row
     */
    public StatSums read() {
        return read(0, TimerToken.MAX_KEY + 1);
    }

    /**
     * What all threads recorded since the last reset in some rows.
     *
     * @param fromKey the first row
     * @param toKey the row after the last
     * @return the sums of those rows, consistent row by row
     */
    public StatSums read(int fromKey, int toKey) {
        synchronized (readers) {
            late.count(tables);
            ThreadTables now = sweep();
            StatSums sums = new StatSums();
            sums.add(late.sums(), fromKey, toKey);
            now.addTo(sums, fromKey, toKey);
            for (StatTable table : shared) {
                sums.addLive(table, fromKey, toKey);
                sums.addQueue(table.pending(), true);
            }
            return sums;
        }
    }

    /**
     * Begins anew, and returns what was recorded until then. Every sample is in exactly one of the returned sums and
     * the later readings. Measurements that are pending stay so.
     *
     * @return the sums since the last reset
     */
    public StatSums readAndReset() {
        synchronized (readers) {
            late.count(tables);
            StatSums ended = late.takeSums();
            ThreadTables before;
            ThreadTables after;
            do {
                before = sweep();
                after = before.renewed();
            } while (!TABLES.compareAndSet(this, before, after));
            if (before.hasOthersThan(Thread.currentThread())) {
                awaitStores();
            }
            ended.add(before.retired());
            before.takeQueues(ended);
            for (int i = 0; i < before.live().length; i++) {
                StatTable old = before.live()[i];
                // A table that was empty stays, and whatever came into it since is of the new interval.
                if (after.live()[i] != old) {
                    late.add(old, ended.add(old));
                }
            }
            for (StatTable table : shared) {
                emptyShared(table, ended);
            }
            return ended;
        }
    }

    private static void awaitStores() {
        long untilNs = System.nanoTime() + STORES_ARRIVE_WITHIN_NS;
        for (long leftNs = STORES_ARRIVE_WITHIN_NS; leftNs > 0; leftNs = untilNs - System.nanoTime()) {
            LockSupport.parkNanos(leftNs);
        }
    }

    private static void emptyShared(StatTable table, StatSums ended) {
        while (!table.tryHold()) {
            Thread.onSpinWait();
        }
        ended.add(table);
        ended.takeQueue(table.pending(), true);
        table.clear();
        table.release();
    }

    private ThreadTables sweep() {
        while (true) {
            ThreadTables before = tables;
            ThreadTables after = before.swept();
            if (after == before || TABLES.compareAndSet(this, before, after)) {
                return after;
            }
        }
    }

    // ---- pending measurements ----

    /**
     * Hands over every measurement that was pending at the call, oldest first for each thread. Only one caller at a time.
     *
     * @param consumer receives them
     */
    public void drainPending(PendingConsumer consumer) {
        ThreadTables now = sweep();
        for (StatTable table : now.live()) {
            table.pending().drainTo(consumer);
        }
        for (PendingQueue queue : now.orphans()) {
            queue.drainTo(consumer);
        }
        for (StatTable table : shared) {
            table.pending().drainTo(consumer);
        }
    }

    /**
     * How many measurements are pending.
     *
     * @return 0 or more; exact while nobody records
     */
    public int pendingCount() {
        ThreadTables now = tables;
        long count = 0;
        for (StatTable table : now.live()) {
            count += table.pending().size();
        }
        for (PendingQueue queue : now.orphans()) {
            count += queue.size();
        }
        for (StatTable table : shared) {
            count += table.pending().size();
        }
        return (int) Math.min(Integer.MAX_VALUE, count);
    }

    /** How many tables exist, folded ones aside. */
    int tableCount() {
        return sweep().live().length + shared.length;
    }

    /** How many replaced tables are kept because their thread may still finish a sample there. */
    int lateTableCount() {
        synchronized (readers) {
            return late.size();
        }
    }
}
