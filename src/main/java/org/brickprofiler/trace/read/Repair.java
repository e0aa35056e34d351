package org.brickprofiler.trace.read;

import java.util.Objects;

/**
 * A fault of a trace that did not end the reading. Immutable.
 *
 * @param kind which
 * @param count how often
 * @param firstOffset where the first one is, in bytes of the unpacked trace; of overlaps, the one earliest in time
 */
public record Repair(Kind kind, long count, long firstOffset) {

    /**
     * Refuses null.
     *
     * @throws NullPointerException when a component is null; the message names it
     */
    public Repair {
        Objects.requireNonNull(kind, "kind");
    }

    /** What was wrong, and what was made of it. */
    public enum Kind {
        /** An event without a phase was dropped. */
        NO_PHASE("no phase, dropped", true),
        /** A slice without a start, or a complete event without a duration, was dropped. */
        NO_TIME("no ts or no dur, dropped", true),
        /** A slice whose time is no number was dropped. */
        MALFORMED_TIME("ts or dur is no number, dropped", true),
        /** A slice that starts or lasts beyond 2<sup>62</sup> ns (146 years) was dropped. */
        TIME_OUT_OF_RANGE("ts or dur beyond 2^62 ns, dropped", true),
        /** A slice that ends before it starts was dropped. */
        NEGATIVE_DURATION("negative duration, dropped", true),
        /** A begin whose end is not in the trace was dropped. */
        BEGIN_WITHOUT_END("begin without end, dropped", true),
        /** An end whose begin is not in the trace was dropped. */
        END_WITHOUT_BEGIN("end without begin, dropped", true),
        /** Of a key that stands twice in an event, the last value was taken. */
        REPEATED_KEY("repeated key, the last value taken", false),
        /** Bytes that are no whole number, or negative, were taken as 0. */
        MALFORMED_BYTES("bytes are no whole number, taken as 0", false),
        /** Two slices of a row overlap and neither holds the other: both count in full, busy time counts them once. */
        OVERLAP("overlapping on a row, counted in full", false),
        /** The array of events has no end; it was read up to its last whole event. */
        OPEN_ARRAY("array without end, read to its last event", false),
        /** An event that needs what an earlier, missing packet of its sequence told was dropped. */
        LOST_STATE("needs a packet that is missing, dropped", true),
        /** Spans that were lost while this library recorded: they are not in the trace, and the sums are too small. */
        LOST_SPANS("spans lost while recording: the table is incomplete", false);

        private final String displayName;
        private final boolean dropped;

        Kind(String displayName, boolean dropped) {
            this.displayName = displayName;
            this.dropped = dropped;
        }

        /**
         * The words in reports.
         *
         * @return for example {@code "negative duration, dropped"}
         */
        public String displayName() {
            return displayName;
        }

        /**
         * Whether the event counts nowhere because of it.
         *
         * @return false where the event counts all the same
         */
        public boolean isDropped() {
            return dropped;
        }
    }
}
