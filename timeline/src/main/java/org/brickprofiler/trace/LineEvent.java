package org.brickprofiler.trace;

import static org.brickprofiler.internal.base.Checks.requireNotNegative;

import java.util.Objects;

/**
 * Memory that a thread allocated, or a time for which it waited for a lock, as a recording states it. Immutable.
 *
 * @param kind whether it is memory or a wait
 * @param amount the bytes for which the event stands, or the time, ns
 * @param place the method that allocated, or the class of the lock
 */
public record LineEvent(Kind kind, long amount, String place) {

    /** The kinds of events. */
    public enum Kind {
        /** An allocation that stands for others: an estimate, bytes. */
        ALLOCATION,
        /** A wait for a monitor, or of a thread that was parked, ns. */
        WAIT
    }

    /**
     * Checks the amount.
     *
     * @throws IllegalArgumentException when it is negative
     */
    public LineEvent {
        Objects.requireNonNull(kind, "kind");
        requireNotNegative("amount", amount);
        Objects.requireNonNull(place, "place");
    }
}
