package org.brickprofiler.gpucheck;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The result of a check. Immutable.
 *
 * @param check the name of the check
 * @param status how it ended
 * @param claim what was checked, with its bound
 * @param found what was found, or why nothing was
 * @param figures the numbers behind it, for a file: numbers, texts, and lists and maps of them
 */
record Outcome(String check, Status status, String claim, String found, Map<String, Object> figures) {

    /** How a check ended. */
    enum Status {
        /** The claim holds. */
        HELD,
        /** The measurements spread too far to say whether a bound is kept. */
        UNCLEAR,
        /** A bound is not kept: something takes longer than it should, and what is measured is right. */
        MISSED,
        /** Something does not work: a refusal, a brick without a time, a time that cannot be. */
        BROKEN,
        /** The check could not be made. */
        NOT_MADE,
        /** Nothing is claimed: a number to compare with. */
        SHOWN;

        /** The worse one of two that are claims. */
        Status or(Status other) {
            return compareTo(other) >= 0 ? this : other;
        }
    }

    /** Keeps the order of the figures. */
    Outcome {
        figures = Collections.unmodifiableMap(new LinkedHashMap<>(figures));
    }

    /**
     * A claim that is so, or something is broken.
     *
     * @param check the name of the check
     * @param holds whether it is so
     * @param claim what was checked
     * @param found what was found
     * @param figures the numbers behind it
     * @return the outcome
     */
    static Outcome of(String check, boolean holds, String claim, String found, Map<String, Object> figures) {
        return new Outcome(check, holds ? Status.HELD : Status.BROKEN, claim, found, figures);
    }

    /**
     * A check that could not be made.
     *
     * @param check its name
     * @param claim what it is about
     * @param reason why not
     * @return the outcome
     */
    static Outcome notMade(String check, String claim, String reason) {
        return new Outcome(check, Status.NOT_MADE, claim, reason, Map.of());
    }
}
