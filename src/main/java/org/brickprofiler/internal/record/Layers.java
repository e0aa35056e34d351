package org.brickprofiler.internal.record;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The layer that each thread is in, or works for. Layers are also counted while the profiler is off, because it may be
 * switched on within a pass. Any thread; allocates only at a thread's first boundary.
 */
public final class Layers implements LongSupplier {

    /** In place of a layer's number: the number after that of the previous layer. */
    public static final int NEXT = -1;

    /** In place of the phase of a step: there is no step. */
    private static final int NO_STEP = 0;

    /** In place of the phase of a step: the step is not recorded, so its samples have no phase. */
    private static final int UNRECORDED = PhaseKey.PHASES;

    private final PerThread<Place, @Nullable Void> places = new PerThread<>(new Places(), null, false);
    /**
     * The place of the thread that was the first to reach a boundary, which finds it here without a lookup. Written
     * without a fence: a thread uses the place only if it is the thread's own.
     */
    private @Nullable Place first;

    private final AtomicLong passes = new AtomicLong();

    /** Increases with each {@link #reset}: a thread whose place has an older epoch discards its pass. */
    private volatile int epoch;

    /** Increases with each reset that forgets steps: a thread whose place has an older step epoch has no step. */
    private volatile int stepEpoch;

    /** Whether any step ever began, or a thread served a request. Until then no sample has a phase. */
    private volatile boolean hasSteps;

    /** Counts layers from the first pass. */
    public Layers() {}

    /** The state of a thread. Only that thread uses it. */
    private static final class Place extends PerThread.Owned {
        private int epoch;

        /** The number of the pass; 0 before its first boundary. */
        private long pass;

        /** The number of the layer that is under way, or else of the next one. */
        private int next;

        /** The layer that this thread began and did not end. */
        private long own;

        /**
         * The phase of the step that this thread began and did not end; or {@link #NO_STEP}, or {@link #UNRECORDED}.
         */
        private int step = NO_STEP;

        private int stepEpoch;

        /**
         * Whether the thread has begun a step or served a request: outside of its steps, its samples belong to no step.
         */
        private boolean hasOwnSteps;

        /** Whether the thread serves a request and is outside of its steps: each sample looks its phase up. */
        private boolean isBetweenSteps;

        /**
         * The token of the layer that the thread works for: its own layer, unless {@link #workFor} gave it another
         * layer.
         */
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

    /** A named class: the first lambda of a virtual machine takes longer to create than a profiler. */
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
                // This pass may have had a layer of that number, and no two layers may share a token: a new pass
                // begins.
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

    /** Ends the step of the calling thread, but not its pass. */
    public void endStep() {
        mine().step = NO_STEP;
    }

    /**
     * Begins a step of the calling thread: its layers and samples belong to the step from now on.
     *
     * @param phase the number of its phase; {@link PhaseKey#NO_PHASE} for a step that is not recorded
     */
    public void beginStep(int phase) {
        Place mine = mine();
        mine.step = phase == PhaseKey.NO_PHASE ? UNRECORDED : phase;
        mine.stepEpoch = stepEpoch;
        mine.hasOwnSteps = true;
        expectSteps();
    }

    /**
     * Notes whether the calling thread serves a request and is outside of its steps. Its samples then have no phase,
     * and none is selected in its table, so that each sample calls {@link #phase(StatTable, int)}. A table in which a
     * phase is selected must be deselected by the caller.
     *
     * @param now whether it is
     */
    public void setBetweenSteps(boolean now) {
        Place mine = mine();
        mine.isBetweenSteps = now;
        mine.hasOwnSteps |= now;
        expectSteps();
    }

    private void expectSteps() {
        if (!hasSteps) { // a volatile store waits for all stores before it
            hasSteps = true;
        }
    }

    private int step(Place mine) {
        return mine.stepEpoch == stepEpoch ? mine.step : NO_STEP;
    }

    /**
     * Returns the phase of the samples that the calling thread records now, and selects it in the thread's table if the
     * state lasts. It is the phase of the first of these that exists: the step of the layer that {@link #workFor} gave
     * to the thread; the thread's own step; the steps under way, if they all have one phase and the thread never begins
     * steps of its own, nor serves a request.
     *
     * @param own the thread's own table, which nobody else writes; null if it has none
     * @param state a {@link ProfilerState}
     * @return the number of the phase, or {@link PhaseKey#NO_PHASE}
     */
    public int phase(@Nullable StatTable own, int state) {
        if (own != null && own.isSelectedFor(state)) {
            return own.phase();
        }
        Place mine = hasSteps ? mineOrNull() : null;
        int phase = hasSteps ? phase(mine, ProfilerState.only(state)) : PhaseKey.NO_PHASE;
        if (own != null && ProfilerState.isLasting(state) && !(mine != null && mine.isBetweenSteps)) {
            own.select(phase, state);
        }
        return phase;
    }

    private @Nullable Place mineOrNull() {
        Place hint = first;
        return hint != null && hint.isOf(Thread.currentThread()) ? hint : places.mineOrNull();
    }

    private int phase(@Nullable Place mine, int only) {
        if (mine == null) {
            return only;
        }
        int given = mine.isForeign() ? LayerToken.step(mine.current) : NO_STEP;
        int step = given != NO_STEP ? given : step(mine);
        if (step == NO_STEP) {
            return mine.hasOwnSteps ? PhaseKey.NO_PHASE : only;
        }
        return step % UNRECORDED;
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
     * Returns whether the calling thread works for a layer that it did not begin, and that may have a phase. A boundary
     * of the thread's own ends this work.
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
