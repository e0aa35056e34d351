package org.brickprofiler.internal.record;

import java.lang.ref.Reference;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Writes to the timeline of one thread, or of the virtual threads that hold it in turn. Only by the owner or holder.
 */
public final class SpanWriter extends PerThread.Owned {

    /** Held so that whoever reads the timeline does not take it for ended while an entry is written. */
    private final SpanStore store;

    private final SpanBuffer spans;
    private final @Nullable LongSupplier layer;

    /**
     * A writer of a new timeline.
     *
     * @param owner the only thread that may write, or null if threads hold it in turn
     * @param store where the timeline is kept
     * @param layer the token of the layer that the calling thread works for, or {@link LayerToken#OWN}; null if that is
     *     always the thread's own
     */
    SpanWriter(@Nullable Thread owner, SpanStore store, @Nullable LongSupplier layer) {
        super(owner);
        this.store = store;
        this.spans = store.newBuffer(owner);
        this.layer = layer;
    }

    /**
     * Adds an entry.
     *
     * @param kind what it is
     * @param key its name, up to {@link TimerToken#MAX_KEY}
     * @param startNs the clock at its beginning
     * @param elapsedNs how long it took, ns, 0 or more
     * @param value elements, or the bits of a counter's value
     */
    public void add(SpanKind kind, int key, long startNs, long elapsedNs, long value) {
        try {
            if (owner() == null) {
                addShared(kind, key, startNs, elapsedNs, value);
            } else {
                spans.add(kind, key, startNs, elapsedNs, value);
            }
        } finally {
            Reference.reachabilityFence(store);
        }
    }

    /** Other threads write here between two entries of one thread: each entry says by itself what layer it is for. */
    private void addShared(SpanKind kind, int key, long startNs, long elapsedNs, long value) {
        long forLayer = layer == null ? LayerToken.OWN : layer.getAsLong();
        boolean says = forLayer != LayerToken.OWN && kind != SpanKind.LAYER_CHANGE;
        if (says) {
            spans.add(SpanKind.LAYER_CHANGE, 0, startNs, 0, LayerToken.change(LayerToken.OWN, forLayer));
        }
        if (kind != SpanKind.LAYER_CHANGE) {
            spans.add(kind, key, startNs, elapsedNs, value);
        }
        if (says) {
            spans.add(SpanKind.LAYER_CHANGE, 0, startNs, 0, LayerToken.change(forLayer, LayerToken.OWN));
        }
    }

    /** Returns the id of the timeline. */
    long lineId() {
        return spans.threadId();
    }
}
