package org.brickprofiler.internal.record;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Which layer each thread is in, or works for. Layers are counted while the profiler is off, too: it may be switched on
 * within a pass. Any thread; allocates for a thread's first boundary alone.
 */
public final class Layers implements LongSupplier {

    /** Instead of a layer's number: the one after the last. */
    public static final int NEXT = -1;

    private final PerThread<Place, @Nullable Void> places = new PerThread<>(new Places(), null, false);
    private final AtomicLong passes = new AtomicLong();

    /** Increases with each {@link #reset()}: a thread whose place has an older epoch discards its pass. */
    private volatile int epoch;

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
        Place mine = places.mine();
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
        return LayerToken.of(mine.pass, mine.next);
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

    /** Ends the pass of the calling thread: its next layer is number 0. */
    public void endPass() {
        mine().endPass();
    }

    /** Ends the passes of all threads. */
    public synchronized void reset() {
        epoch++;
        places.sweep();
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
