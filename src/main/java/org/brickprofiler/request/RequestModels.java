package org.brickprofiler.request;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The models that requests name, numbered from 1; 0 is none. Guarded by the recorder. Allocates only for a new name.
 */
final class RequestModels {

    static final int NONE = 0;

    /** The number that all further models share. */
    static final int OTHER = RequestStats.MOST_MODELS + 1;

    static final int NUMBERS = OTHER + 1;

    private final @Nullable String[] names;
    private int next = 1;

    RequestModels() {
        names = new @Nullable String[NUMBERS];
        names[OTHER] = RequestStats.OTHER_MODELS;
    }

    private RequestModels(RequestModels other) {
        names = other.names.clone();
        next = other.next;
    }

    /** Returns a copy, which a reader may use without the lock. */
    RequestModels copy() {
        return new RequestModels(this);
    }

    /** Returns the number of a model; an empty name is none. */
    int number(String name) {
        int known = find(name);
        return known >= 0 ? known : add(RequestIdentity.whole(RequestIdentity.cut(name)));
    }

    private int add(String name) {
        int known = find(name);
        if (known >= 0) {
            return known;
        }
        if (next == OTHER) {
            return OTHER;
        }
        names[next] = name;
        return next++;
    }

    private int find(String name) {
        if (name.isEmpty()) {
            return NONE;
        }
        for (int number = 1; number < NUMBERS; number++) {
            if (name.equals(names[number])) {
                return number;
            }
        }
        return -1;
    }

    /** Returns the name of a number; null for {@link #NONE}. */
    @Nullable
    String name(long number) {
        return names[(int) number];
    }

    /** Forgets all names. No request may have a number. */
    void clear() {
        Arrays.fill(names, 1, OTHER, null);
        next = 1;
    }
}
