package org.brickprofiler;

import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import org.brickprofiler.internal.record.Layers;
import org.brickprofiler.internal.record.NameTable;
import org.brickprofiler.internal.record.PerThread;
import org.brickprofiler.internal.record.ProfilerState;
import org.brickprofiler.internal.record.SpanSink;
import org.brickprofiler.internal.record.SpanStore;
import org.brickprofiler.internal.record.StatTable;
import org.brickprofiler.internal.record.TableRegistry;
import org.jspecify.annotations.Nullable;

/**
 * The tables of a profiler's samples, and the way of a sample to its row. The fields are the profiler's own and not
 * behind another object: if nothing is in a cache, each object on the way costs as much as the sample, see
 * {@link StatTable}.
 *
 * <h2>The lane</h2>
 *
 * The thread that recorded first, which drives the passes of most engines, needs no lookup: these fields hold its rows.
 * Only that thread writes them, without a fence. Any other thread finds that it is not the owner, and looks its table
 * up. The owner is the first of the live threads, so another one takes over only after it has ended.
 *
 * <p>The lane is open for one state of the profiler, and each change of the state closes it. A reset changes the state
 * when it has replaced the tables. A thread therefore reads the state before it looks its table up: a table that is
 * found after the state has changed is a new one, and a table that was replaced is never selected for a later state.
 * The table closes the lane when its rows or its phase change.
 */
abstract class SampleTables {

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

    /** The table of the rows, also after the lane was closed. */
    private @Nullable StatTable table;

    private final boolean hasPercentiles;

    /** The tables of the registry, by thread. */
    final PerThread<StatTable, ?> tables;

    final TableRegistry registry;
    final NameTable names = BrickId.newNameTable();
    final SpanSink.Names spanNames = names.spanNames(BrickCategory.displayNames());

    /** The layer of each thread: its own, or the one that it works for. */
    final Layers layers = new Layers();

    private final StatTable.Lane end = new End();

    SampleTables(BrickProfilerBuilder options) {
        SpanSink sink = options.tracing;
        SpanStore spans = sink == null ? null : sink.bricks(spanNames);
        hasPercentiles = options.percentiles;
        registry = new TableRegistry(BrickId.FIXED_KEYS, hasPercentiles, names, spans, layers);
        tables = registry.threads();
    }

    /** A named class: the first lambda of a virtual machine takes longer to make than a profiler. */
    private final class End implements StatTable.Lane {
        @Override
        public void close() {
            openFor = StatTable.NO_STATE;
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
     * @param nowNs the clock when it was stopped
     * @return false if the lane is not open for the thread, or the sample needs more than its row
     */
    final boolean addInLane(int now, Thread caller, long timer, long elements, long nowNs) {
        return now == openFor && caller == owner && StatTable.addTimed(rows, hasPercentiles, timer, nowNs, elements);
    }

    /**
     * Returns the number of the phase of the samples that the calling thread records now, and selects it in its table.
     */
    final int phase() {
        int now = state;
        StatTable own = tables.own();
        int phase = layers.phase(own, now);
        if (now != openFor && own != null && own == tables.first() && own.isSelectedFor(now) && !registry.hasSpans()) {
            owner = Thread.currentThread();
            rows = own.openLane(end);
            table = own;
            openFor = now;
        }
        return phase;
    }

    /** Makes the calling thread look its phase up with its next timed sample. */
    final void deselect() {
        StatTable own = table;
        if (own == null || !own.isOf(Thread.currentThread())) {
            registry.deselect();
        } else if (openFor != StatTable.NO_STATE) {
            own.deselect();
        }
        // Else no phase of the owner is selected: selecting one opens the lane.
    }

    /**
     * Lets each thread look its phase up: there is another only phase of which steps are under way.
     *
     * @param phase its number, or {@link org.brickprofiler.internal.record.PhaseRow#NO_PHASE} if there are none or
     *     several
     */
    final void setOnlyPhase(int phase) {
        ProfilerState.setOnly(STATE, this, phase);
    }

    /** Lets each thread look its table up: all were replaced. */
    final void tablesReplaced() {
        ProfilerState.renew(STATE, this);
    }
}
