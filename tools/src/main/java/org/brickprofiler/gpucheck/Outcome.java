package org.brickprofiler.gpucheck;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The result of a check. Immutable.
 *
 * @param check the name of the check
 * @param status its status
 * @param claim the checked claim, with its bound
 * @param found the finding, or the reason why there is none
 * @param figures its numbers, for a file: numbers, texts, and lists and maps of them
 */
record Outcome(String check, Status status, String claim, String found, Map<String, Object> figures) {

    /** The status of a check. */
    enum Status {
        /** The claim holds. */
        HELD,
        /** The measurements spread too much to decide whether a bound is kept. */
        UNCLEAR,
        /** A bound is not kept: an operation takes longer than it should, and the measurement is right. */
        MISSED,
        /** A part does not work: a call is refused, a brick has no time, or a time is impossible. */
        BROKEN,
        /** The check could not be performed. */
        NOT_MADE,
        /** Nothing is claimed: the number is for comparison. */
        SHOWN;

        /** Returns the worse of two statuses of claims. */
        Status or(Status other) {
            return compareTo(other) >= 0 ? this : other;
        }
    }

    /** Preserves the order of the figures. */
    Outcome {
        figures = Collections.unmodifiableMap(new LinkedHashMap<>(figures));
    }

    /**
     * Returns the result of a claim: held or broken.
     *
     * @param check the name of the check
     * @param holds whether the claim holds
     * @param claim the checked claim
     * @param found the finding
     * @param figures its numbers
     * @return the outcome
     */
    static Outcome of(String check, boolean holds, String claim, String found, Map<String, Object> figures) {
        return new Outcome(check, holds ? Status.HELD : Status.BROKEN, claim, found, figures);
    }

    /**
     * Returns the result of a check that could not be performed.
     *
     * @param check its name
     * @param claim the claim
     * @param reason the reason
     * @return the outcome
     */
    static Outcome notMade(String check, String claim, String reason) {
        return new Outcome(check, Status.NOT_MADE, claim, reason, Map.of());
    }
}
