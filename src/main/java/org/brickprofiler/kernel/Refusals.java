package org.brickprofiler.kernel;

import org.jspecify.annotations.Nullable;

/** Arguments that are not accepted, each named in the message. Stateless; any thread. */
final class Refusals {

    private Refusals() {}

    static void requireName(String what, @Nullable String name) {
        if (name == null || name.isEmpty()) {
            throw new IllegalArgumentException(what + " must not be " + (name == null ? "null" : "empty"));
        }
    }

    static void requirePresent(String what, @Nullable Object value) {
        if (value == null) {
            throw new IllegalArgumentException(what + " must not be null");
        }
    }

    static void requireNotNegative(String what, long value) {
        if (value < 0) {
            throw new IllegalArgumentException(what + " " + value + " is negative");
        }
    }
}
