package org.brickprofiler.graph;

import org.jspecify.annotations.Nullable;

/** Refusals that several classes of this package share. Stateless; any thread. */
final class Arguments {

    private Arguments() {}

    /**
     * Refuses a name that is missing.
     *
     * @throws IllegalArgumentException when it is null or empty
     */
    static void requireName(String what, @Nullable String name) {
        if (name == null || name.isEmpty()) {
            throw new IllegalArgumentException(what + " must not be " + (name == null ? "null" : "empty"));
        }
    }

    /**
     * Refuses a negative number.
     *
     * @throws IllegalArgumentException when it is below 0
     */
    static void requireNotNegative(String what, long value) {
        if (value < 0) {
            throw new IllegalArgumentException(what + " " + value + " is negative");
        }
    }

    /**
     * Refuses what is no quantity.
     *
     * @throws IllegalArgumentException when it is negative, infinite or not a number
     */
    static void requireFinite(String what, double value) {
        if (!(value >= 0) || Double.isInfinite(value)) {
            throw new IllegalArgumentException(what + " " + value + " is not a finite number of 0 or more");
        }
    }
}
