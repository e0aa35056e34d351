package org.brickprofiler.internal.record;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The layer that each thread is in, or works for. Layers are counted while the profiler is off, too: it may be switched
 * on within a pass. Any thread; allocates for a thread's first boundary alone.
 */
public final class Layers implements LongSupplier {

    /** Instead of a layer's number: the one after the last. */
    public static final int NEXT = -1;

    /** Instead of the phase of a step: there is no step. */
    private static final int NO_STEP = 0;

    /** Instead of the phase of a step: the step is not recorded, so its samples have no phase. */
    private static final int UNRECORDED = PhaseRow.PHASES;

    private final PerThread<Place, @Nullable Void> places = new PerThread<>(new Places(), null, false);
    /**
     * The place of the thread that was the first to reach a boundary, which finds it here without a lookup. Written
     * without a fence: a thread takes it if it is its own.
     */
    private @Nullable Place first;

    private final AtomicLong passes = new AtomicLong();

    /** Increases with each {@link #reset}: a thread whose place has an older epoch discards its pass. */
    private volatile int epoch;

    /** Increases with each reset that forgets steps: a thread whose place has an older one has no step. */
    private volatile int stepEpoch;

    /** Whether any step ever began; before, nobody has a phase. */
    private volatile boolean hasSteps;

    /** Counts layers from the first pass. */
    public Layers() {}

    /** The state of a thread. Only that thread uses it. */
    private static final class Place extends PerThread.Owned {
        private int epoch;

        /** The number of the pass; 0 before its first boundary. */
        private long pass;

        /** The number of the layer that is under way or comes next. */
        private int next;

        /** The layer that this thread began and did not end. */
        private long own;

        /**
         * The phase of the step that this thread began and did not end; or {@link #NO_STEP}, or {@link #UNRECORDED}.
         */
        private int step = NO_STEP;

        private int stepEpoch;

        /** The token that it works for: that of its own layer, unless it was given another layer's. */
        private long current;

        Place(@Nullable Thread thread) {
            super(thread);
        }

        void endPass() {
            current = current == own ? LayerToken.VOID : current;
            own = LayerToken.VOID;
            pass = 0;
            next = 0;
        }

        boolean isForeign() {
            return current != own;
        }
    }

    /** A named class: the first lambda of a virtual machine takes longer to make than a profiler. */
    private static final class Places implements PerThread.Keeper<Place, @Nullable Void> {
        @Override
        public Place make(@Nullable Thread owner) {
            return new Place(owner);
        }
    }

    private Place mine() {
        Place mine = first;
        if (mine == null || !mine.isOf(Thread.currentThread())) {
            mine = places.mine();
            if (mine == places.first()) {
                first = mine;
            }
        }
        int now = epoch;
        if (mine.epoch != now) {
            mine.epoch = now;
            mine.endPass();
        }
        return mine;
    }

    private long next(Place mine) {
        if (mine.pass == 0) {
            mine.pass = passes.incrementAndGet();
        }
        return LayerToken.of(mine.pass, step(mine), mine.next);
    }

    /**
     * Returns whether the calling thread began a layer and has not ended it.
     *
     * @return whether a layer of the calling thread is open
     */
    public boolean isOpen() {
        return mine().own != LayerToken.VOID;
    }

    /**
     * Begins a layer of the calling thread.
     *
     * @param number its number, or {@link #NEXT}
     * @return the layer's token
     */
    public long start(int number) {
        Place mine = mine();
        if (number != NEXT) {
            if (number < mine.next) {
                // A layer of that number may have been in this pass: no two share a token.
                mine.pass = 0;
            }
            mine.next = Math.min(number, LayerToken.LAST_LAYER);
        }
        mine.own = next(mine);
        mine.current = mine.own;
        return mine.own;
    }

    /**
     * Ends a layer of the calling thread, whether or not its beginning was announced.
     *
     * @return the token of the layer that ended
     */
    public long end() {
        Place mine = mine();
        long ended = next(mine);
        mine.next++;
        mine.own = LayerToken.VOID;
        mine.current = LayerToken.VOID;
        return ended;
    }

    /**
     * Ends the pass of the calling thread: its next layer is number 0.
     *
     * @param endsStep whether its step ends, too
     */
    public void endPass(boolean endsStep) {
        Place mine = mine();
        mine.endPass();
        mine.step = endsStep ? NO_STEP : mine.step;
    }

    /** Ends the step of the calling thread, and not its pass. */
    public void endStep() {
        mine().step = NO_STEP;
    }

    /**
     * Begins a step of the calling thread: its layers and samples belong to the step from now on.
     *
     * @param phase the number of its phase; {@link PhaseRow#NO_PHASE} for a step that is not recorded
     */
    public void beginStep(int phase) {
        Place mine = mine();
        mine.step = phase == PhaseRow.NO_PHASE ? UNRECORDED : phase;
        mine.stepEpoch = stepEpoch;
        if (!hasSteps) { // a volatile store waits for all stores before it
            hasSteps = true;
        }
    }

    private int step(Place mine) {
        return mine.stepEpoch == stepEpoch ? mine.step : NO_STEP;
    }

    /**
     * Returns the phase of the samples that the calling thread records now, and selects it in the thread's table: of
     * the step of the layer that it was given by {@link #workFor}, or else of its own step, or else the only phase of
     * which steps are under way.
     *
     * @param own the thread's own table, which nobody else writes; null if it has none
     * @param state a {@link ProfilerState}
     * @return the number of the phase, or {@link PhaseRow#NO_PHASE}
     */
    public int phase(@Nullable StatTable own, int state) {
        if (own != null && own.isSelectedFor(state)) {
            return own.phase();
        }
        int phase = hasSteps ? phase(ProfilerState.only(state)) : PhaseRow.NO_PHASE;
        if (own != null && ProfilerState.isOn(state)) {
            own.select(phase, state);
        }
        return phase;
    }

    private int phase(int only) {
        Place hint = first;
        Place mine = hint != null && hint.isOf(Thread.currentThread()) ? hint : places.mineOrNull();
        if (mine == null) {
            return only;
        }
        int given = mine.isForeign() ? LayerToken.step(mine.current) : NO_STEP;
        int step = given != NO_STEP ? given : step(mine);
        return step == NO_STEP ? only : step % UNRECORDED;
    }

    /**
     * Ends the passes of all threads.
     *
     * @param endsSteps whether their steps end, too
     */
    public synchronized void reset(boolean endsSteps) {
        epoch++;
        stepEpoch += endsSteps ? 1 : 0;
        places.sweep();
        first = places.first();
    }

    /**
     * Returns the layer that the calling thread works for.
     *
     * @return its token, or {@link LayerToken#VOID}
     */
    public long current() {
        Place mine = places.mineOrNull();
        if (mine == null) {
            return LayerToken.VOID;
        }
        return mine.epoch == epoch || mine.isForeign() ? mine.current : LayerToken.VOID;
    }

    /**
     * Makes the calling thread work for a layer. The thread's own layer has no hand-off.
     *
     * @param layer the token of the layer, with its hand-off
     * @return the token that the thread worked for until now
     */
    public long workFor(long layer) {
        Place mine = mine();
        long before = mine.current;
        mine.current = LayerToken.layerOf(layer) == mine.own ? mine.own : layer;
        return before;
    }

    /** Returns the layer that the calling thread was given by {@link #workFor}, or {@link LayerToken#OWN}. */
    @Override
    public long getAsLong() {
        Place mine = mine();
        return mine.isForeign() ? mine.current : LayerToken.OWN;
    }

    /**
     * Returns whether the calling thread works for a layer that it did not begin, and the layer may have a phase; a
     * boundary of its own ends that.
     *
     * @return true from {@link #workFor} on; false if no step ever began
     */
    public boolean isGiven() {
        return hasSteps && mine().isForeign();
    }

    /**
     * Encodes a change of layers that the calling thread has just made as the value of an entry.
     *
     * @param before the token that the thread worked for
     * @param after the token that it works for now
     * @return the value, see {@link LayerToken#change}
     */
    public long change(long before, long after) {
        long own = mine().own;
        return LayerToken.change(
                before == own ? LayerToken.OWN : before, LayerToken.layerOf(after) == own ? LayerToken.OWN : after);
    }
}
