package org.brickprofiler.internal.base;

import org.jspecify.annotations.Nullable;

/** Checks arguments; the messages of the exceptions name the argument and its value. Stateless; any thread. */
public final class Checks {

    private Checks() {}

    /**
     * Requires a name.
     *
     * @param what the argument, for the message
     * @param name its value
     * @throws IllegalArgumentException when it is null or empty
     */
    public static void requireName(String what, @Nullable String name) {
        if (name == null || name.isEmpty()) {
            throw new IllegalArgumentException(what + " must not be " + (name == null ? "null" : "empty"));
        }
    }

    /**
     * Requires a number of 0 or more.
     *
     * @param what the argument, for the message
     * @param value its value
     * @throws IllegalArgumentException when it is below 0
     */
    public static void requireNotNegative(String what, long value) {
        if (value < 0) {
            throw negative(what, value);
        }
    }

    /** A method of its own, so that the check is small enough to be inlined into a hot caller. */
    private static IllegalArgumentException negative(String what, long value) {
        return new IllegalArgumentException(what + " " + value + " is negative");
    }

    /**
     * Requires a finite number of 0 or more.
     *
     * @param what the argument, for the message
     * @param value its value
     * @throws IllegalArgumentException when it is negative, infinite or not a number
     */
    public static void requireFinite(String what, double value) {
        if (!(value >= 0) || Double.isInfinite(value)) {
            throw new IllegalArgumentException(what + " " + value + " is not a finite number of 0 or more");
        }
    }

    /**
     * Requires a finite number above 0.
     *
     * @param what the argument, for the message
     * @param value its value
     * @throws IllegalArgumentException when it is 0 or less, infinite or not a number
     */
    public static void requirePositive(String what, double value) {
        if (!(value > 0) || Double.isInfinite(value)) {
            throw new IllegalArgumentException(what + " " + value + " is not a finite number above 0");
        }
    }
}
