package org.brickprofiler.record;

import java.lang.ref.Reference;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** A {@link StatTable} whose samples also go to the timeline of the same writer. */
final class TimelineTable extends StatTable {

    /** Held so that whoever reads the timeline does not take it for ended while a sample is written. */
    private final SpanStore store;

    private final SpanBuffer spans;
    private final LongSupplier layer;

    /**
     * An empty table. By this type, so that whoever calls this is verified without loading the class.
     *
     * @param owner the only thread that may write, or null for a shared table, written by whoever holds it
     * @param rowCount how many rows it begins with
     * @param withBuckets whether durations are also counted in {@link LatencyBuckets}
     * @param pending the queue of deferred measurements of the same writer
     * @param store where the timeline is
     * @param spans the timeline of the same writer
     * @param layer the token of the layer that the calling thread works for, or {@link LayerToken#OWN}
     */
    static StatTable of(
            @Nullable Thread owner,
            int rowCount,
            boolean withBuckets,
            PendingQueue pending,
            SpanStore store,
            SpanBuffer spans,
            LongSupplier layer) {
        return new TimelineTable(owner, rowCount, withBuckets, pending, store, spans, layer);
    }

    private TimelineTable(
            @Nullable Thread owner,
            int rowCount,
            boolean withBuckets,
            PendingQueue pending,
            SpanStore store,
            SpanBuffer spans,
            LongSupplier layer) {
        super(owner, rowCount, withBuckets, pending);
        this.store = store;
        this.spans = spans;
        this.layer = layer;
    }

    @Override
    void addSpan(SpanKind kind, int key, long startNs, long elapsedNs, long value) {
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

    /** Other threads write here between two entries of one thread: each says for itself what layer it is for. */
    private void addShared(SpanKind kind, int key, long startNs, long elapsedNs, long value) {
        long forLayer = layer.getAsLong();
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

    @Override
    long lineId() {
        return spans.threadId();
    }

    @Override
    StatTable renewed() {
        return new TimelineTable(owner(), rowCount(), withBuckets(), pending(), store, spans, layer);
    }
}
