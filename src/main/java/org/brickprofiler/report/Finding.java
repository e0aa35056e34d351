package org.brickprofiler.report;

import java.util.Locale;
import java.util.Objects;

/**
 * One answer to the question where time goes and what to do about it: a sentence with one number, its whole and its
 * cause, and the next step. Immutable; any thread.
 *
 * @param kind the kind
 * @param place the brick, phase, wait, rank or stream that it is about; empty for the whole profile
 * @param share the share of the whole that could be won at most, 0 to 1
 * @param sentence the sentence, without a line break, with its full stop. It states the cause only if a source of data
 *     states it, and contains the reason to doubt it, if there is one
 * @param next the next command or section, without a full stop; empty if there is none
 */
public record Finding(Kind kind, String place, double share, String sentence, String next) {

    /** The time of which a share is. */
    private enum Whole {
        REQUESTS,
        WALL_TIME,
        BRICK_TIME,
        UP_TIME,
        SLOW_STEPS,
        NONE
    }

    /** The kinds of findings, in the order of their wholes. Further kinds may follow in later versions. */
    public enum Kind {
        /** The profile is too short to conclude from it. */
        TOO_SHORT(Whole.NONE),
        /** The machine or the run was disturbed, or the profile contradicts itself. */
        DISTURBED(Whole.NONE),
        /** Requests wait before their first step. */
        REQUESTS_QUEUE(Whole.REQUESTS),
        /** Requests wait between their tokens. */
        REQUESTS_STALL(Whole.REQUESTS),
        /** A wait that the virtual machine or the system states, while requests are queued or stalled. */
        REQUESTS_WAIT(Whole.REQUESTS),
        /** The thread that serves a request does other work between its steps. */
        OWN_WORK(Whole.REQUESTS),
        /** Requests wait after their last token. */
        DELIVERY(Whole.REQUESTS),
        /** Time in which no step was under way, or in which nothing ran. */
        IDLE(Whole.WALL_TIME),
        /** Time of steps outside of their bricks. */
        BETWEEN_BRICKS(Whole.WALL_TIME),
        /** Steps that take longer than the median step. */
        SLOW_STEPS(Whole.WALL_TIME),
        /** The slowest steps, of a recording that keeps these only. */
        SLOWEST_STEPS(Whole.SLOW_STEPS),
        /** Garbage collection. */
        GARBAGE_COLLECTION(Whole.UP_TIME),
        /** Threads of steps that were ready to run and had no processor. */
        NO_PROCESSOR(Whole.WALL_TIME),
        /** Time within passes in which a stream of a device ran no brick. */
        DEVICE_IDLE(Whole.WALL_TIME),
        /** A brick that is slower than the limits of the machine allow. */
        BELOW_ROOF(Whole.BRICK_TIME),
        /** A rank of a fleet that is slower than its peers. */
        STRAGGLER(Whole.WALL_TIME),
        /** Collectives between ranks, waiting for the slowest rank included. */
        COMMUNICATION(Whole.WALL_TIME),
        /** The brick with the most time. */
        LARGEST_BRICK(Whole.BRICK_TIME),
        /** No finding has a share of five percent. */
        NOTHING(Whole.NONE);

        private final Whole whole;

        Kind(Whole whole) {
            this.whole = whole;
        }

        /**
         * Returns the name of the time of which {@link Finding#share()} is.
         *
         * @return {@code requests}, {@code wall_time}, {@code brick_time}, {@code up_time} (of the virtual machine),
         *     {@code slow_steps} (the time of these steps) or {@code none}
         */
        public String of() {
            return whole.name().toLowerCase(Locale.ROOT);
        }
    }

    /**
     * Checks the values.
     *
     * @throws IllegalArgumentException when the share is not in 0 to 1, or the sentence is empty
     */
    public Finding {
        Objects.requireNonNull(kind, "kind");
        Objects.requireNonNull(place, "place");
        Objects.requireNonNull(next, "next");
        if (!(share >= 0 && share <= 1)) {
            throw new IllegalArgumentException("the share of a finding is in 0 to 1: " + share);
        }
        if (Objects.requireNonNull(sentence, "sentence").isBlank()) {
            throw new IllegalArgumentException("a finding has a sentence: '" + sentence + "'");
        }
    }
}
