package org.brickprofiler.record;

import java.lang.ref.Reference;
import org.jspecify.annotations.Nullable;

/** A {@link StatTable} whose samples also go to the timeline of the same writer. */
final class TimelineTable extends StatTable {

    /** Held so that whoever reads the timeline does not take it for ended while a sample is written. */
    private final SpanStore store;

    private final SpanBuffer spans;

    /**
     * An empty table. By this type, so that whoever calls this is verified without loading the class.
     *
     * @param owner the only thread that may write, or null for a shared table, written by whoever holds it
     * @param rowCount how many rows it begins with
     * @param withBuckets whether durations are also counted in {@link LatencyBuckets}
     * @param pending the queue of deferred measurements of the same writer
     * @param store where the timeline is
     * @param spans the timeline of the same writer
     */
    static StatTable of(
            @Nullable Thread owner,
            int rowCount,
            boolean withBuckets,
            PendingQueue pending,
            SpanStore store,
            SpanBuffer spans) {
        return new TimelineTable(owner, rowCount, withBuckets, pending, store, spans);
    }

    private TimelineTable(
            @Nullable Thread owner,
            int rowCount,
            boolean withBuckets,
            PendingQueue pending,
            SpanStore store,
            SpanBuffer spans) {
        super(owner, rowCount, withBuckets, pending);
        this.store = store;
        this.spans = spans;
    }

    @Override
    void addSpan(SpanKind kind, int key, long startNs, long elapsedNs, long value) {
        try {
            spans.add(kind, key, startNs, elapsedNs, value);
        } finally {
            Reference.reachabilityFence(store);
        }
    }

    @Override
    long lineId() {
        return spans.threadId();
    }

    @Override
    StatTable renewed() {
        return new TimelineTable(owner(), rowCount(), withBuckets(), pending(), store, spans);
    }
}
