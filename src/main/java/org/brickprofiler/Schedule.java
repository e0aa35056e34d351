package org.brickprofiler;

/**
 * Selects the steps of a run that count. After {@code skipFirst} steps a cycle follows {@code repeat} times:
 * {@code waitSteps} steps without recording, {@code warmup} steps that are recorded and forgotten, and {@code active}
 * steps that count. The application defines a step, usually as a forward pass. Immutable.
 *
 * @param skipFirst steps before the first cycle, 0 or more
 * @param waitSteps steps of a cycle without recording, 0 or more
 * @param warmup steps of a cycle that are kept out of the results, 0 or more
 * @param active steps of a cycle that count, 1 or more
 * @param repeat number of cycles, 0 for no end
 */
public record Schedule(int skipFirst, int waitSteps, int warmup, int active, int repeat) {

    /** The stages of a schedule. */
    public enum Stage {
        /** Before the first cycle; not recorded. */
        SKIP_FIRST,
        /** Not recorded. */
        WAIT,
        /** Recorded, and forgotten before the first active step. */
        WARMUP,
        /** Recorded; it counts. */
        ACTIVE,
        /** After the last cycle; not recorded. */
        DONE;

        /** Returns the number of the stage in a timeline. */
        @SuppressWarnings("EnumOrdinal") // this method wraps the ordinal
        int index() {
            return ordinal();
        }
    }

    /**
     * Checks the numbers.
     *
     * @throws IllegalArgumentException when a number is negative, or no step is active
     */
    public Schedule {
        requireAtLeast(0, "skipFirst", skipFirst);
        requireAtLeast(0, "waitSteps", waitSteps);
        requireAtLeast(0, "warmup", warmup);
        requireAtLeast(1, "active", active);
        requireAtLeast(0, "repeat", repeat);
    }

    private static void requireAtLeast(int least, String what, int value) {
        if (value < least) {
            throw new IllegalArgumentException(what + " " + value + " is less than " + least);
        }
    }

    /**
     * Returns a schedule of one cycle that leaves out the first steps.
     *
     * @param warmup steps that are kept out of the results, 0 or more
     * @param active steps that count, 1 or more
     * @return the schedule
     */
    public static Schedule once(int warmup, int active) {
        return new Schedule(0, 0, warmup, active, 1);
    }

    /**
     * Returns the stage of a step.
     *
     * @param step the step, counted from 0
     * @return its stage
     * @throws IllegalArgumentException when the step is negative
     */
    public Stage stage(long step) {
        if (step < 0) {
            throw new IllegalArgumentException("step " + step + " is negative");
        }
        if (step < skipFirst) {
            return Stage.SKIP_FIRST;
        }
        if (repeat > 0 && cycle(step) >= repeat) {
            return Stage.DONE;
        }
        long inCycle = (step - skipFirst) % cycleLength();
        if (inCycle < waitSteps) {
            return Stage.WAIT;
        }
        return inCycle < (long) waitSteps + warmup ? Stage.WARMUP : Stage.ACTIVE;
    }

    /**
     * Returns the cycle of a step.
     *
     * @param step the step, counted from 0
     * @return the cycle, counted from 0; -1 before the first
     */
    public long cycle(long step) {
        return step < skipFirst ? -1 : (step - skipFirst) / cycleLength();
    }

    /** Returns whether a step is the last of its cycle. */
    boolean endsCycle(long step) {
        return stage(step) == Stage.ACTIVE && (step - skipFirst) % cycleLength() == cycleLength() - 1;
    }

    /** Returns whether a step lies in a cycle of which an active step has ended. */
    boolean hasActiveBefore(long step) {
        return step > 0 && stage(step - 1) == Stage.ACTIVE && cycle(step - 1) == cycle(step);
    }

    private long cycleLength() {
        return (long) waitSteps + warmup + active;
    }
}
