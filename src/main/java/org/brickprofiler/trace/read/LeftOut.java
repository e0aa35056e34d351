package org.brickprofiler.trace.read;

import java.util.Objects;

/**
 * Events of one kernel that would have counted and were left out. Immutable.
 *
 * @param reason why
 * @param kernel its name in the trace
 * @param events how many
 * @param elapsedNs their time, ns
 */
public record LeftOut(Reason reason, String kernel, long events, long elapsedNs) {

    /**
     * Refuses null.
     *
     * @throws NullPointerException when a component is null; the message names it
     */
    public LeftOut {
        Objects.requireNonNull(reason, "reason");
        Objects.requireNonNull(kernel, "kernel");
    }

    /** Why an event was left out. */
    public enum Reason {
        /** It began before the first step that is kept. */
        SKIPPED_STEP("skipped steps"),
        /**
         * It is a first execution far out of line with the later ones or, in a trace of this library, was recorded in the
         * warm-up of a schedule; see {@link ReadOptions#keepWarmup}.
         */
        WARM_UP("warm-up");

        private final String displayName;

        Reason(String displayName) {
            this.displayName = displayName;
        }

        /**
         * The words in reports.
         *
         * @return for example {@code "warm-up"}
         */
        public String displayName() {
            return displayName;
        }
    }
}
