package org.brickprofiler.request;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The texts of requests whose records are kept, by the place of the record: their ids, those of their traces, and the
 * locks that blocked them. The records have the numbers of their models. Guarded by the recorder.
 */
final class KeptIds {

    private final @Nullable String[] ids;
    private final @Nullable String[] traceIds;
    private final @Nullable String[] locks;

    private final RequestModels models;

    KeptIds(int places, RequestModels models) {
        this.models = models;
        ids = new @Nullable String[places];
        traceIds = new @Nullable String[places];
        locks = new @Nullable String[places];
    }

    void set(int place, @Nullable String id, @Nullable RequestTrace trace) {
        ids[place] = id;
        traceIds[place] = trace == null ? null : trace.traceId();
        locks[place] = null;
    }

    void setLock(int place, @Nullable String lock) {
        locks[place] = lock;
    }

    void clear() {
        Arrays.fill(ids, null);
        Arrays.fill(traceIds, null);
        Arrays.fill(locks, null);
    }

    /** Copies the texts of a place to a place of others. */
    void copy(int place, KeptIds to, int toPlace) {
        to.ids[toPlace] = ids[place];
        to.traceIds[toPlace] = traceIds[place];
        to.locks[toPlace] = locks[place];
    }

    /** Returns the record of the request at a place, which begins at an index of an array. */
    RequestRecord record(int place, long[] cells, int at) {
        RequestIdentity identity = RequestIdentity.ofTraceId(
                ids[place],
                cells[at + RequestRecord.ARRIVED_MS],
                traceIds[place],
                models.name(cells[at + RequestRecord.MODEL]));
        return RequestRecord.of(cells, at, identity, locks[place]);
    }
}
