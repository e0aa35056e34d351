package org.brickprofiler.internal.record;

import java.lang.ref.Reference;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Writes to the timeline of one thread, or of the virtual threads that hold it in turn. Only the owner or the holder
 * may call it.
 */
public final class SpanWriter extends PerThread.Owned {

    /** Referenced so that readers do not regard the timeline as ended while an entry is written. */
    private final SpanStore store;

    private final SpanBuffer spans;
    private final @Nullable LongSupplier layer;

    /**
     * Creates a writer of a new timeline.
     *
     * @param owner the only thread that may write, or null if threads hold the writer in turn
     * @param store the store of the timeline
     * @param layer the token of the layer that the calling thread works for, or {@link LayerToken#OWN}; null if it is
     *     always the thread's own layer
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
     * @param kind its kind
     * @param row its name; of a sample, the {@link PhaseKey} of its name and phase
     * @param startNs the clock at its beginning
     * @param elapsedNs its duration, ns, 0 or more
     * @param value elements, or the bits of a counter's value
     */
    public void add(SpanKind kind, int row, long startNs, long elapsedNs, long value) {
        try {
            if (owner() == null) {
                addShared(kind, row, startNs, elapsedNs, value);
            } else {
                spans.add(kind, row, startNs, elapsedNs, value);
            }
        } finally {
            Reference.reachabilityFence(store);
        }
    }

    /** Adds an entry with its thread and its layer, because other threads may write between two entries of one. */
    private void addShared(SpanKind kind, int row, long startNs, long elapsedNs, long value) {
        long mine = Thread.currentThread().getId();
        if (kind == SpanKind.LAYER_CHANGE) {
            spans.addBy(mine, SpanKind.WORK_FOR, row, startNs, elapsedNs, value);
            return;
        }
        long forLayer = layer == null ? LayerToken.OWN : layer.getAsLong();
        if (forLayer == LayerToken.OWN) {
            spans.addBy(mine, kind, row, startNs, elapsedNs, value);
        } else {
            spans.addBy(mine, SpanKind.LAYER_CHANGE, 0, startNs, 0, LayerToken.change(LayerToken.OWN, forLayer));
            spans.addBy(mine, kind, row, startNs, elapsedNs, value);
            spans.addBy(mine, SpanKind.LAYER_CHANGE, 0, startNs, 0, LayerToken.change(forLayer, LayerToken.OWN));
        }
    }

    /** Returns the id of the timeline. */
    long lineId() {
        return spans.threadId();
    }
}
