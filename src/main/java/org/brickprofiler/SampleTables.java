package org.brickprofiler;

import static org.brickprofiler.internal.base.Checks.requireNotNegative;

import java.lang.ref.WeakReference;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.function.Supplier;
import org.brickprofiler.internal.record.Layers;
import org.brickprofiler.internal.record.NameTable;
import org.brickprofiler.internal.record.PerThread;
import org.brickprofiler.internal.record.PhaseKey;
import org.brickprofiler.internal.record.ProfilerState;
import org.brickprofiler.internal.record.RowCounts;
import org.brickprofiler.internal.record.SpanSink;
import org.brickprofiler.internal.record.SpanStore;
import org.brickprofiler.internal.record.StatSums;
import org.brickprofiler.internal.record.StatTable;
import org.brickprofiler.internal.record.TableRegistry;
import org.brickprofiler.internal.record.ThreadTimes;
import org.brickprofiler.internal.record.TimerToken;
import org.jspecify.annotations.Nullable;

/**
 * The tables of a profiler's samples, and the path of a sample to its row. The fields belong to the profiler itself and
 * do not live behind another object: if the caches are cold, each object on the path costs as much as the sample, see
 * {@link StatTable}.
 *
 * <h2>The lane</h2>
 *
 * The thread that recorded first, which drives the passes of most engines, needs no lookup: these fields hold its rows.
 * Only that thread writes them, without a fence. Any other thread finds that it is not the owner, and looks up its
 * table. The owner is the first of the live threads, so another thread takes over only after the owner has ended.
 *
 * <p>The lane is open for one state of the profiler, and each change of the state closes it. A thread reads the state
 * before it looks up its table, and {@link ProfilerState} changes both before and after a reset replaces the tables: a
 * table that was replaced is selected for no later state, and a thread that has found its new table never uses the old
 * one again.
 *
 * <p>The lane holds rows of a selected phase: opening it needs a selection, and the table ends both at once, see
 * {@link StatTable#deselect}. A table does so when its rows or its phase change, and this class when the thread's step
 * or layer changes.
 */
abstract class SampleTables {

    /** In place of the phase of a sample: that of the lane, in which it was added. */
    static final int IN_LANE = -1;

    static final AtomicIntegerFieldUpdater<SampleTables> STATE =
            AtomicIntegerFieldUpdater.newUpdater(SampleTables.class, "state");

    /**
     * Whether the profiler is on, and which phases are under way: see {@link ProfilerState}. One load gives both, so a
     * worker whose table has the rows of another phase selected notices it at no cost.
     */
    volatile int state;

    // The lane. These fields are the owner's.

    private int openFor = StatTable.NO_STATE;
    private @Nullable Thread owner;
    private long[] rows = {};
    private int phaseOfLane;

    /**
     * The table of the rows, also after the lane was closed. It is the owner's table as long as a phase is selected
     * there for a state that may return: the selection has opened the lane, unless a reset was replacing the tables.
     */
    private @Nullable StatTable table;

    /** The table of the rows if its samples are spans, too; otherwise null. */
    private @Nullable StatTable traced;

    private final boolean hasPercentiles;

    /** The tables of the registry, by thread. */
    final PerThread<StatTable, ?> tables;

    final TableRegistry registry;
    final NameTable names = BrickId.newNameTable();
    final SpanSink.Names spanNames = names.spanNames(BrickCategory.displayNames());

    /** The samples whose timers could not hold their time. */
    final RowCounts unresolved = new RowCounts();

    /** The layer of each thread: its own, or the one that it works for. */
    final Layers layers = new Layers();

    private final StatTable.Lane end = new End(this);

    /** Creates the reader of the CPU time of a thread that serves requests. */
    private final Supplier<ThreadTimes> servingTimes;

    /** The threads that serve requests; null before the first call of {@link #followServingThreads}. */
    private volatile @Nullable ServingThreads serving;

    SampleTables(BrickProfilerBuilder options) {
        SpanSink sink = options.sink();
        SpanStore spans = sink == null ? null : sink.bricks(spanNames);
        hasPercentiles = options.percentiles;
        registry = new TableRegistry(BrickId.FIXED_KEYS, hasPercentiles, names, spans, layers);
        tables = registry.threads();
        servingTimes = options.servingTimes();
    }

    /**
     * Closes the lane. A weak reference: a timeline keeps the tables of a profiler of which samples are pending, and
     * must not keep the profiler with its lane.
     */
    private static final class End extends WeakReference<SampleTables> implements StatTable.Lane {

        private End(SampleTables lane) {
            super(lane);
        }

        @Override
        public void close() {
            SampleTables lane = get();
            if (lane != null) {
                lane.openFor = StatTable.NO_STATE;
            }
        }
    }

    /** Returns whether durations are counted in buckets, too. */
    final boolean hasPercentiles() {
        return hasPercentiles;
    }

    /**
     * Adds the sample of a timer in the lane.
     *
     * @param now the state of the profiler
     * @param caller the calling thread
     * @param timer a timer that is not void
     * @param elements elements the brick processed
     * @param nowNs the time at which the timer was stopped, ns
     * @return false if the lane is not open for the thread, or the sample needs more than its row
     */
    final boolean addInLane(int now, Thread caller, long timer, long elements, long nowNs) {
        if (now != openFor || caller != owner || !StatTable.addTimed(rows, hasPercentiles, timer, nowNs, elements)) {
            return false;
        }
        StatTable also = traced;
        if (also != null) {
            also.addTimedSpan(timer, nowNs, elements);
        }
        return true;
    }

    /**
     * Returns the number of the phase of the samples that the calling thread records now, and selects it in its table.
     */
    final int phase() {
        int now = state;
        if (now == openFor && Thread.currentThread() == owner) {
            return phaseOfLane;
        }
        StatTable own = tables.own();
        int phase = layers.phase(own, now);
        if (now != openFor && own != null && own == tables.first() && own.isSelectedFor(now)) {
            owner = Thread.currentThread();
            rows = own.openLane(end);
            phaseOfLane = phase;
            table = own;
            traced = registry.hasSpans() ? own : null;
            openFor = now;
        }
        return phase;
    }

    /**
     * Adds the sample of a timer to the calling thread's own table, or to a shared one.
     *
     * @return the number of its phase
     */
    final int add(int now, @Nullable StatTable own, long timer, long elements, long nowNs) {
        return own != null && own.addTimed(now, timer, nowNs, elements)
                ? own.phase()
                : addElsewhere(timer, elements, nowNs);
    }

    /**
     * Adds a sample if its phase must be looked up, if it has no row yet, if it is long, or if a virtual thread
     * recorded it.
     */
    private int addElsewhere(long timer, long elements, long nowNs) {
        requireNotNegative("elements", elements);
        int key = TimerToken.key(timer);
        return hasBrick(key) ? addTimed(key, TimerToken.elapsedNs(timer, nowNs), nowNs, elements) : PhaseKey.NO_PHASE;
    }

    /** Adds the sample of a timer, or counts it as unresolved. */
    final int addTimed(int key, long elapsedNs, long nowNs, long elements) {
        int phase = phase();
        if (elapsedNs == TimerToken.UNRESOLVED) {
            unresolved.increment(PhaseKey.of(phase, key));
        } else {
            addSample(phase, key, elapsedNs, nowNs, elements);
        }
        return phase;
    }

    /** Adds a sample of the calling thread that has ended now, not in the lane. */
    final void addSample(int phase, int key, long elapsedNs, long nowNs, long elements) {
        registry.add(phase, key, elapsedNs, nowNs, elements);
        followServing(elapsedNs, nowNs);
    }

    /** Gives a table of the registry back, to which a sample of the calling thread was added that has ended now. */
    final void release(StatTable used, long elapsedNs, long nowNs) {
        registry.release(used);
        followServing(elapsedNs, nowNs);
    }

    /** Notes that a brick of the calling thread has ended, if the thread serves a request. */
    private void followServing(long elapsedNs, long nowNs) {
        ServingThreads threads = serving;
        if (threads != null) {
            threads.ended(nowNs - elapsedNs, nowNs);
        }
    }

    /** Makes the threads that serve requests known. Called once, with the recorder of requests. */
    final ServingThreads followServingThreads() {
        ServingThreads threads = new ServingThreads(this, servingTimes);
        serving = threads;
        return threads;
    }

    final boolean hasBrick(int key) {
        return key >= 0 && key < names.size();
    }

    /** Returns the number of the phase of the sample that the calling thread has just added in the lane. */
    final int phaseOfLane() {
        return phaseOfLane;
    }

    /** Makes the calling thread look up its phase with its next timed sample. */
    final void deselect() {
        StatTable own = table;
        if (own == null || !own.isOf(Thread.currentThread())) {
            registry.deselect();
        } else {
            own.deselect();
        }
    }

    /**
     * Makes each thread look up its phase again, because the only phase of the steps under way has changed.
     *
     * @param phase its number, or {@link org.brickprofiler.internal.record.PhaseKey#NO_PHASE} if no steps are under
     *     way, or steps of several phases
     */
    final void setOnlyPhase(int phase) {
        ProfilerState.setOnly(STATE, this, phase);
    }

    /** Resets the sums of all threads, and returns them: see {@link TableRegistry#readAndReset(Runnable, Runnable)}. */
    final StatSums readAndResetSums() {
        return registry.readAndReset(this::replaceTables, this::tablesReplaced);
    }

    /** Makes each thread look up its table with each sample, because all tables are about to be replaced. */
    private void replaceTables() {
        ProfilerState.replace(STATE, this);
    }

    /** Makes each thread look up its table again, because all tables were replaced. */
    private void tablesReplaced() {
        ProfilerState.renew(STATE, this);
    }

    // ---- checks of keys, names and samples ----

    final void requireKey(int key) {
        if (!hasBrick(key)) {
            throw new IllegalArgumentException("no brick has the key " + key + "; keys come from brickKey");
        }
    }

    static String requireName(@Nullable String name) {
        if (name == null || name.isEmpty()) {
            throw new IllegalArgumentException("a brick's name must not be " + (name == null ? "null" : "empty"));
        }
        return name;
    }

    static void requireSample(long elapsedNs, long elements) {
        requireNotNegative("elapsedNs", elapsedNs);
        requireNotNegative("elements", elements);
    }

    static void requireBytes(long elapsedNs, long elements, long inputBytes, long outputBytes) {
        requireSample(elapsedNs, elements);
        requireNotNegative("inputBytes", inputBytes);
        requireNotNegative("outputBytes", outputBytes);
    }

    static void requireCycles(long elapsedNs, long elements, long cycles) {
        requireSample(elapsedNs, elements);
        requireNotNegative("cycles", cycles);
    }
}
