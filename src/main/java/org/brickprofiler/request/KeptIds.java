package org.brickprofiler.request;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The ids of requests whose records are kept, and of their traces, by the place of the record. The records have the
 * numbers of their models. Guarded by the recorder.
 */
final class KeptIds {

    private final @Nullable String[] ids;
    private final @Nullable String[] traceIds;

    private final RequestModels models;

    KeptIds(int places, RequestModels models) {
        this.models = models;
        ids = new @Nullable String[places];
        traceIds = new @Nullable String[places];
    }

    void set(int place, @Nullable String id, @Nullable RequestTrace trace) {
        ids[place] = id;
        traceIds[place] = trace == null ? null : trace.traceId();
    }

    void clear() {
        Arrays.fill(ids, null);
        Arrays.fill(traceIds, null);
    }

    /** Copies the ids of a place to a place of others. */
    void copy(int place, KeptIds to, int toPlace) {
        to.ids[toPlace] = ids[place];
        to.traceIds[toPlace] = traceIds[place];
    }

    /** Returns the identity of the request at a place, whose record begins at an index of an array. */
    RequestIdentity identity(int place, long[] cells, int at) {
        return RequestIdentity.ofTraceId(
                ids[place],
                cells[at + RequestRecord.ARRIVED_MS],
                traceIds[place],
                models.name(cells[at + RequestRecord.MODEL]));
    }
}
