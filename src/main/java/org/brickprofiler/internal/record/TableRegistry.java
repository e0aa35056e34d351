package org.brickprofiler.internal.record;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import org.brickprofiler.internal.base.Sums;
import org.jspecify.annotations.Nullable;

/**
 * The tables of all recording threads, and the sums over them. Threads that record never wait. {@link PerThread} finds
 * their tables, and merges those of ended threads into one sum. Threads that read or reset wait only for each other.
 *
 * <h2>Why nothing is lost or counted twice by a reset</h2>
 *
 * A reset replaces each written table by an empty one in a single compare-and-set, and then reads the old ones. A
 * recorder that had found its old table before the replacement can still finish a sample there. A recorder looks its
 * table up for every sample, or compares a state that changes before and after each replacement, so it never returns to
 * its old table once it has found the new one. But it does not wait for its earlier stores: the store buffer of its
 * processor may still hold back some earlier samples, too. An old table is therefore kept as <i>late</i> until its
 * thread has written to the new one or has ended. Samples that the old table has received by then count for the
 * interval in which they are found. A reset holds a shared table while it empties it; no recorder waits for this.
 *
 * <p>The sums of late samples are always exact. Their shortest and longest durations are exact for at most two late
 * samples of a row. To prevent more, the reset waits before it reads the old tables, far longer than a store buffer
 * needs to drain.
 */
public final class TableRegistry {

    /** The number that {@link #caller()} returns for a thread that has queued no measurement. */
    public static final long NOBODY = 0;

    private static final long STORES_ARRIVE_WITHIN_NS = 50_000;

    private final @Nullable SpanStore spans;
    private final PerThread<StatTable, Left> threads;
    /**
     * Whether any measurement was ever queued. If not, as in an engine without a device, boundaries check no queue.
     * Written before the measurement, so that a reader that sees the measurement sees this, too.
     */
    private volatile boolean hasDeferred;

    /** The late tables, and the lock of readers. */
    private final LateTables late = new LateTables();

    /** The time of the samples that resets have returned, ns by phase and key. Guarded by {@code late}. */
    private final long[][] resetNs = new long[PhaseKey.PHASES][0];

    /** Whether there was a reset, after which tables may be late. Guarded by {@code late}. */
    private boolean wasReset;

    // The slow path of addTotalsNs sets these fields for the next calls, which run with cold caches. As long as the
    // slots are the same, those calls take no lock and need few loads. Only for the callers of that method, which take
    // turns.

    /** The slots at the last slow call; null before the first one. */
    private PerThread.@Nullable Slots<StatTable, Left> onlyIn;

    /** The only table in these slots; null if there were others, or late tables. */
    private @Nullable StatTable only;

    /** The time outside of the only table, by phase and tag; null if there was none. */
    private long @Nullable [][] othersNs;

    /** Negative if a sum of the time outside of the only table has reached its limit. */
    private long othersSigns;

    /**
     * The samples and queues of ended threads.
     *
     * @param sums their samples since the last reset; only read
     * @param queues the queues in which they left measurements; cannot be changed
     */
    record Left(StatSums sums, List<PendingQueue> queues) {

        static final Left NOTHING = new Left(new StatSums(), List.of());

        /**
         * Returns this object if no queue is empty; otherwise a copy without the empty queues, whose threads are
         * counted.
         */
        Left tidied() {
            boolean empty = false;
            for (int i = 0; i < queues.size(); i++) {
                empty |= queues.get(i).size() == 0;
            }
            return empty ? and(List.of()) : this;
        }

        Left and(List<StatTable> ended) {
            StatSums all = sums.copy();
            List<PendingQueue> waiting = new ArrayList<>(queues);
            for (StatTable table : ended) {
                all.add(table);
                waiting.add(table.pending());
            }
            waiting.removeIf(queue -> {
                boolean empty = queue.size() == 0;
                if (empty) {
                    all.addQueue(queue, false);
                }
                return empty;
            });
            return new Left(all, List.copyOf(waiting));
        }
    }

    /**
     * Creates tables, each with its queue and timeline.
     *
     * @param rowCount the initial number of rows of a table
     * @param withBuckets whether durations are also counted in {@link LatencyBuckets}
     * @param names the names whose keys may have rows, or null if every key may
     * @param spans the sink that also gets every sample as a span, or null
     * @param layer the token of the layer that the calling thread works for
     */
    record Tables(
            int rowCount,
            boolean withBuckets,
            @Nullable NameTable names,
            @Nullable SpanStore spans,
            @Nullable LongSupplier layer)
            implements PerThread.Keeper<StatTable, Left> {
        @Override
        public StatTable make(@Nullable Thread owner) {
            PendingQueue pending = new PendingQueue(owner == null);
            SpanWriter line = spans == null ? null : new SpanWriter(owner, spans, layer);
            return new StatTable(owner, rowCount, withBuckets, pending, line, names);
        }

        @Override
        public Left leave(Left before, List<StatTable> ended) {
            return ended.isEmpty() ? before.tidied() : before.and(ended);
        }
    }

    /** Receives measurements whose end was unknown when they were queued. */
    @FunctionalInterface
    public interface PendingConsumer {
        /**
         * Receives one measurement.
         *
         * @param row its row, as it was queued
         * @param origin its beginning, as it was queued
         * @param elements elements it processed
         */
        void accept(int row, long origin, long elements);

        /**
         * Sets the owner of the measurements that follow. Only {@link #drainPending} calls this.
         *
         * @param owner the number that {@link #caller()} returned to the thread that queued them
         */
        default void from(long owner) {}
    }

    /**
     * Creates an empty registry in which every key may have rows, without a timeline.
     *
     * @param rowCount the initial number of rows of a table
     * @param withBuckets whether durations are also counted in {@link LatencyBuckets}
     */
    public TableRegistry(int rowCount, boolean withBuckets) {
        this(rowCount, withBuckets, null, null, null);
    }

    /**
     * Creates an empty registry.
     *
     * @param rowCount the initial number of rows of a table
     * @param withBuckets whether durations are also counted in {@link LatencyBuckets}
     * @param names the names whose keys may have rows, or null if every key may
     * @param spans the sink that also gets every sample as a span, or null
     * @param layer the token of the layer that the calling thread works for, or {@link LayerToken#OWN}; read if threads
     *     share a timeline; null if it is always the thread's own layer
     */
    public TableRegistry(
            int rowCount,
            boolean withBuckets,
            @Nullable NameTable names,
            @Nullable SpanStore spans,
            @Nullable LongSupplier layer) {
        this.spans = spans;
        this.threads = new PerThread<>(new Tables(rowCount, withBuckets, names, spans, layer), Left.NOTHING, true);
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
        add(PhaseKey.NO_PHASE, key, elapsedNs, atNs, elements);
    }

    /**
     * Adds a sample of a phase to the calling thread's table. Allocates only for a thread's or a row's first sample.
     *
     * @param phase the number of the phase, or {@link PhaseKey#NO_PHASE}
     * @param key the row, 0 or more
     * @param elapsedNs its duration, ns
     * @param atNs the clock when it ended
     * @param elements elements it processed
     */
    public void add(int phase, int key, long elapsedNs, long atNs, long elements) {
        StatTable table = acquire(phase);
        table.add(key, elapsedNs, atNs, elements);
        threads.release(table);
    }

    /** Adds a sample of a phase whose end became known at a synchronisation. */
    void addDeferred(int row, long startNs, long elapsedNs, long atNs, long elements) {
        StatTable table = acquire(PhaseKey.phase(row));
        table.addDeferred(PhaseKey.key(row), startNs, elapsedNs, atNs, elements);
        threads.release(table);
    }

    /**
     * Queues a measurement until its end is known.
     *
     * @param row its {@link PhaseKey}, or another number on which the code that queues and the code that drains agree
     * @param origin its beginning: the clock, ns, or marks of a device, as the same code agrees; not interpreted here
     * @param elements elements it processes
     * @return false if the measurement was refused because the queue is full
     */
    public boolean defer(int row, long origin, long elements) {
        if (!hasDeferred) {
            hasDeferred = true;
        }
        StatTable own = ownTable();
        return own != null ? own.pending().offer(row, origin, elements) : deferElsewhere(row, origin, elements);
    }

    private boolean deferElsewhere(int row, long origin, long elements) {
        StatTable table = threads.mine();
        boolean queued = table.owner() == null
                ? table.pending().offer(PendingQueue.sharing(Thread.currentThread()), row, origin, elements)
                : table.pending().offer(row, origin, elements);
        threads.release(table);
        return queued;
    }

    /**
     * Returns the number of the calling thread as an owner of drained measurements.
     *
     * @return a number that no other living thread has, or {@link #NOBODY} if the thread has queued no measurement
     */
    public long caller() {
        StatTable own = threads.mineOrNull();
        if (own != null) {
            return own.pending().owner();
        }
        Thread caller = Thread.currentThread();
        return PerThread.isVirtual(caller) ? PendingQueue.sharing(caller) : NOBODY;
    }

    /**
     * Returns the tables, for callers that look up the calling thread's table themselves, which saves a load.
     *
     * @return the same for the life of the registry
     */
    public PerThread<StatTable, ?> threads() {
        return threads;
    }

    /** Returns the current tables. As long as this method returns the same object, each thread has the same table. */
    PerThread.Slots<StatTable, ?> tables() {
        return threads.slots();
    }

    /**
     * Returns the calling thread's own table, in a few loads. Allocates nothing.
     *
     * @return the table; null if the thread has recorded nothing, or is virtual, or has an id that changes
     */
    public @Nullable StatTable ownTable() {
        return threads.own();
    }

    /**
     * Returns a table that the calling thread may write until it gives the table back: its own, or a shared one for a
     * virtual thread.
     *
     * @return a table, to be handed to {@link #release}
     */
    public StatTable acquire() {
        return threads.mine();
    }

    /**
     * Returns a table that the calling thread may write until it gives the table back, and selects the phase of the
     * next samples.
     *
     * @param phase the number of the phase, or {@link PhaseKey#NO_PHASE}
     * @return a table, to be handed to {@link #release}
     */
    public StatTable acquire(int phase) {
        StatTable table = threads.mine();
        table.use(phase);
        return table;
    }

    /** Makes the calling thread look its phase up again with its next timed sample. */
    public void deselect() {
        StatTable own = threads.own();
        if (own != null) {
            own.deselect();
        }
    }

    /**
     * Gives a table back.
     *
     * @param table the table that {@link #acquire()} returned
     */
    public void release(StatTable table) {
        threads.release(table);
    }

    /**
     * Returns whether samples are also recorded as spans.
     *
     * @return the same for the life of the registry
     */
    public boolean hasSpans() {
        return spans != null;
    }

    /**
     * Returns the follower of steps.
     *
     * @return the follower; null unless there is a timeline that keeps only chosen steps
     */
    public @Nullable StepFollower stepFollower() {
        return spans == null ? null : spans.follower();
    }

    /**
     * Adds an entry to the calling thread's timeline, if there is one. The entry counts in no sum.
     *
     * @param kind its kind
     * @param key its name, up to {@link TimerToken#MAX_KEY}
     * @param startNs the clock at its beginning
     * @param elapsedNs its duration, ns; 0 for a moment
     * @param value its value
     * @return the id of that timeline, as in {@link SpanCopy#threadId()}; 0 if there is none
     */
    public long mark(SpanKind kind, int key, long startNs, long elapsedNs, long value) {
        StatTable table = acquire();
        table.addSpan(kind, key, startNs, elapsedNs, value);
        long line = table.lineId();
        release(table);
        return line;
    }

    /**
     * Notes that a phase of a run begins, if there is a timeline.
     *
     * @param number the number of the phase
     * @param atNs the clock
     */
    public void phase(int number, long atNs) {
        if (spans != null) {
            spans.phase(number, atNs);
        }
    }

    // ---- readers ----

    /**
     * Returns the sums of all threads since the last reset.
     *
     * @return the sums of every row, consistent row by row
     */
    public StatSums read() {
        return read(0, TimerToken.MAX_KEY + 1);
    }

    /**
     * Returns the sums of all threads since the last reset in some rows.
     *
     * @param fromKey the first row
     * @param toKey the row after the last
     * @return the sums of those rows, consistent row by row
     */
    public StatSums read(int fromKey, int toKey) {
        return read(fromKey, toKey, true);
    }

    /**
     * Returns the sums of all threads since the last reset in some rows, with or without the counts of durations, which
     * are hundreds of times as many.
     *
     * @param fromKey the first row
     * @param toKey the row after the last
     * @param withBuckets whether to return the counts of durations if they are kept
     * @return the sums of those rows, consistent row by row
     */
    public StatSums read(int fromKey, int toKey, boolean withBuckets) {
        synchronized (late) {
            late.count(threads.slots());
            PerThread.Slots<StatTable, Left> now = threads.swept();
            StatSums sums = new StatSums(withBuckets);
            sums.add(late.sums(), fromKey, toKey);
            sums.add(now.left().sums(), fromKey, toKey);
            for (StatTable table : now.live()) {
                sums.addLive(table, fromKey, toKey);
                sums.addQueue(table.pending(), false);
            }
            for (PendingQueue queue : now.left().queues()) {
                sums.addQueue(queue, false);
            }
            for (StatTable table : threads.shared()) {
                sums.addLive(table, fromKey, toKey);
                sums.addQueue(table.pending(), true);
            }
            return sums;
        }
    }

    /**
     * Adds the time of all samples of a phase to sums by the tags of their keys. All samples since the registry was
     * created count, including those before resets; samples that ended before the call are included. Allocates nothing
     * unless a reset has just happened, or a thread has come or gone. One caller at a time.
     *
     * @param phase the number of the phase, or {@link PhaseKey#NO_PHASE}
     * @param tags the tag of each key
     * @param totalsNs the array of the sums, ns
     * @param from the place of the sum of tag 0
     * @param sums the number of sums
     * @return false if a sum has reached its limit, so that the sums are not exact
     */
    public boolean addTotalsNs(int phase, byte[] tags, long[] totalsNs, int from, int sums) {
        StatTable table = only;
        if (table == null || !threads.areOnly(onlyIn)) {
            return addTotalsOfAllNs(phase, tags, totalsNs, from, sums) >= 0;
        }
        long signs = table.addTotalsNs(phase, tags, totalsNs, from);
        long[][] others = othersNs;
        if (others != null) {
            signs |= othersSigns;
            long[] ofPhase = others[phase];
            for (int tag = 0; tag < sums; tag++) {
                signs |= StatTable.addExactly(totalsNs, from + tag, ofPhase[tag]);
            }
        }
        return signs >= 0;
    }

    private long addTotalsOfAllNs(int phase, byte[] tags, long[] totalsNs, int from, int sums) {
        synchronized (late) {
            PerThread.Slots<StatTable, Left> now = threads.slots();
            boolean hasOthers = hasOthers(now);
            long signs = hasOthers ? addOthersNs(now, phase, tags, totalsNs, from) : 0;
            signs |= addAllTotalsNs(now, phase, tags, totalsNs, from);
            List<StatTable> shared = threads.shared();
            for (int i = 0; i < shared.size(); i++) {
                signs |= shared.get(i).addTotalsNs(phase, tags, totalsNs, from);
            }
            only = shared.isEmpty() && late.size() == 0 ? now.only() : null;
            onlyIn = now;
            othersNs = only != null && hasOthers ? othersNs(now, tags, sums) : null;
            return signs;
        }
    }

    private long[][] othersNs(PerThread.Slots<StatTable, Left> now, byte[] tags, int sums) {
        long[][] others = new long[PhaseKey.PHASES][sums];
        long signs = 0;
        for (int phase = 0; phase < others.length; phase++) {
            signs |= addOthersNs(now, phase, tags, others[phase], 0);
        }
        othersSigns = signs;
        return others;
    }

    private static long addAllTotalsNs(
            PerThread.Slots<StatTable, Left> now, int phase, byte[] tags, long[] totalsNs, int from) {
        long signs = 0;
        for (int i = 0; i < now.places(); i++) {
            StatTable table = now.at(i);
            if (table != null) {
                signs |= table.addTotalsNs(phase, tags, totalsNs, from);
            }
        }
        return signs;
    }

    /** Returns whether there is time that is in no table of the slots: of ended threads, or from before a reset. */
    @SuppressWarnings("ReferenceEquality") // the object itself shows that no thread has left anything
    private boolean hasOthers(PerThread.Slots<StatTable, Left> now) {
        return wasReset || now.left() != Left.NOTHING;
    }

    private long addOthersNs(PerThread.Slots<StatTable, Left> now, int phase, byte[] tags, long[] totalsNs, int from) {
        late.count(now);
        long signs = late.sums().addTotalsNs(phase, tags, totalsNs, from);
        signs |= now.left().sums().addTotalsNs(phase, tags, totalsNs, from);
        long[] reset = resetNs[phase];
        for (int key = 0; key < reset.length; key++) {
            signs |= StatTable.addExactly(totalsNs, from + tags[key], reset[key]);
        }
        return signs;
    }

    /** Adds the time that a reset is about to return to the times of all resets. */
    private void carry(StatSums ended) {
        for (int phase = 0; phase < resetNs.length; phase++) {
            int rowCount = ended.rowCount(phase);
            long[] reset = Arrays.copyOf(resetNs[phase], Math.max(resetNs[phase].length, rowCount));
            for (int key = 0; key < rowCount; key++) {
                reset[key] = Sums.limited(reset[key], ended.row(phase, key).totalNs());
            }
            resetNs[phase] = reset;
        }
    }

    /**
     * Resets the sums, and returns them. Every sample is in exactly one of the returned sums and the later readings.
     * Pending measurements stay pending.
     *
     * @return the sums since the last reset
     */
    public StatSums readAndReset() {
        return readAndReset(() -> {}, () -> {});
    }

    /**
     * Resets the sums, as {@link #readAndReset()} does, for callers that let threads keep their tables from one sample
     * to the next. No thread may use its kept table once it has found the new one.
     *
     * @param replacing runs before the tables are replaced; afterwards no thread may keep what it finds
     * @param replaced runs after the tables were replaced, and before the old ones are read, even if replacing them has
     *     failed; afterwards threads may keep what they find
     * @return the sums since the last reset
     */
    public StatSums readAndReset(Runnable replacing, Runnable replaced) {
        synchronized (late) {
            late.count(threads.slots());
            StatSums ended = late.takeSums();
            wasReset = true;
            PerThread.Slots<StatTable, Left> before;
            PerThread.Slots<StatTable, Left> after;
            replacing.run();
            try {
                do {
                    before = threads.swept();
                    after = renewed(before);
                } while (!threads.replace(before, after));
            } finally {
                replaced.run();
            }
            if (hasOthersThan(Thread.currentThread(), before.live())) {
                awaitStores();
            }
            ended.add(before.left().sums());
            for (StatTable table : before.live()) {
                ended.takeQueue(table.pending(), false);
            }
            for (PendingQueue queue : before.left().queues()) {
                ended.takeQueue(queue, false);
            }
            for (int i = 0; i < before.live().size(); i++) {
                StatTable old = before.live().get(i);
                // A table that was empty is kept, and its later samples belong to the new interval.
                if (after.live().get(i) != old) {
                    late.add(old, ended.add(old));
                }
            }
            for (StatTable table : threads.shared()) {
                emptyShared(table, ended);
            }
            carry(ended);
            return ended;
        }
    }

    /**
     * Returns slots of the same threads, in which an empty table replaces each written one, without the sums of ended
     * threads.
     */
    static PerThread.Slots<StatTable, Left> renewed(PerThread.Slots<StatTable, Left> before) {
        List<StatTable> renewed = new ArrayList<>(before.live());
        renewed.replaceAll(table -> table.isWritten() ? table.renewed() : table);
        return before.with(renewed, new Left(new StatSums(), before.left().queues()));
    }

    private static boolean hasOthersThan(Thread thread, List<StatTable> tables) {
        return tables.size() > 1 || (tables.size() == 1 && tables.get(0).owner() != thread);
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
        table.letGo();
    }

    // ---- pending measurements ----

    /**
     * Returns whether a measurement was ever queued. If not, nothing is pending.
     *
     * @return true from the first {@link #defer} on
     */
    public boolean hasDeferred() {
        return hasDeferred;
    }

    /**
     * Passes every measurement that was pending at the call to a consumer, the oldest first for each thread. Only one
     * caller at a time.
     *
     * @param consumer receives them
     */
    public void drainPending(PendingConsumer consumer) {
        PerThread.Slots<StatTable, Left> now = threads.swept();
        drain(now.live(), consumer);
        List<PendingQueue> left = now.left().queues();
        for (int i = 0; i < left.size(); i++) {
            left.get(i).drainTo(consumer);
        }
        drain(threads.shared(), consumer);
    }

    /** Drains the queues of some tables. Allocates nothing. */
    private static void drain(List<StatTable> tables, PendingConsumer consumer) {
        for (int i = 0; i < tables.size(); i++) {
            tables.get(i).pending().drainTo(consumer);
        }
    }

    /**
     * Returns the number of pending measurements.
     *
     * @return 0 or more; exact while no thread records
     */
    public int pendingCount() {
        if (!hasDeferred) {
            return 0;
        }
        PerThread.Slots<StatTable, Left> now = threads.slots();
        long count = waiting(now.live()) + waiting(threads.shared());
        List<PendingQueue> left = now.left().queues();
        for (int i = 0; i < left.size(); i++) {
            count += left.get(i).size();
        }
        return (int) Math.min(Integer.MAX_VALUE, count);
    }

    private static long waiting(List<StatTable> tables) {
        long count = 0;
        for (int i = 0; i < tables.size(); i++) {
            count += tables.get(i).pending().size();
        }
        return count;
    }

    /** Returns the number of tables, without the merged ones of ended threads. */
    int tableCount() {
        return threads.swept().live().size() + threads.shared().size();
    }

    /** Returns the number of replaced tables that are kept because their thread may still finish a sample there. */
    int lateTableCount() {
        synchronized (late) {
            return late.size();
        }
    }
}
