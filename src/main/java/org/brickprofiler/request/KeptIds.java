package org.brickprofiler.request;

import java.util.Arrays;
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

    @Nullable
    String get(int place) {
        return ids[place];
    }
}
