package org.brickprofiler.request;

import java.util.Arrays;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The ids of requests whose records are kept, by the place of the record. Guarded by the recorder. */
final class KeptIds {

    private final @Nullable String[] ids;

    KeptIds(int places) {
        ids = new @Nullable String[places];
    }

    void set(int place, @Nullable String id) {
        ids[place] = id;
    }

    void clear() {
        Arrays.fill(ids, null);
    }

    /** Copies the id of a place to a place of others. */
    void copy(int place, KeptIds to, int toPlace) {
        to.ids[toPlace] = ids[place];
    }

    RequestIdentity identity(int place) {
        return identity(ids[place]);
    }

    static RequestIdentity identity(@Nullable String id) {
        return id == null ? RequestIdentity.NONE : new RequestIdentity(Optional.of(id));
    }
}
