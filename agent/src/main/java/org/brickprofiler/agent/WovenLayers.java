package org.brickprofiler.agent;

import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.brickprofiler.internal.base.Plural;

/**
 * The layers that threads have begun and not ended. Layers do not nest: if a layer or a step begins within a layer of
 * the same thread, the outer layer ends. Any thread; allocates for a thread's first layer.
 */
final class WovenLayers {

    private static final int LAYER = 0;
    private static final int OPEN = 1;

    /** The thread's latest layer, and 1 if it is open. */
    private final ThreadLocal<long[]> latest = ThreadLocal.withInitial(() -> new long[2]);

    private final AtomicLong nested = new AtomicLong();

    /**
     * Closes the calling thread's open layer, because another layer or a step begins within it; returns whether one was
     * open.
     */
    boolean cut() {
        long[] mine = latest.get();
        if (mine[OPEN] == 0) {
            return false;
        }
        mine[OPEN] = 0;
        nested.incrementAndGet();
        return true;
    }

    /** Opens a layer of the calling thread, and returns its number among the layers of the thread, from 1. */
    long open() {
        long[] mine = latest.get();
        mine[OPEN] = 1;
        return ++mine[LAYER];
    }

    /** Closes a layer of the calling thread; returns whether it was still open. */
    boolean close(long layer) {
        long[] mine = latest.get();
        boolean isOpen = mine[OPEN] != 0 && mine[LAYER] == layer;
        if (isOpen) {
            mine[OPEN] = 0;
        }
        return isOpen;
    }

    /** Closes the calling thread's open layer, if any, because its pass ends. */
    void passEnds() {
        latest.get()[OPEN] = 0;
    }

    /** Discards the number of nested layers. */
    void discard() {
        nested.set(0);
    }

    /**
     * Returns how often a layer or a step began within a layer.
     *
     * @return a remark in words; empty if nothing began within a layer
     */
    Optional<String> nestedText() {
        long times = nested.get();
        return times == 0
                ? Optional.empty()
                : Optional.of(Plural.of(times, "time") + ", a layer or step"
                        + " began within a layer of the same thread, which ended there: name one method for each layer"
                        + " under layer:");
    }
}
