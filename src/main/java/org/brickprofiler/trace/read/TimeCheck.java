package org.brickprofiler.trace.read;

/** Tells times that are none, and counts them. One thread. */
final class TimeCheck {

    private final Tally tally;

    TimeCheck(Tally tally) {
        this.tally = tally;
    }

    /** Whether a start or a duration is a time; if not, it is counted. */
    boolean isRight(long timeNs, long offset) {
        if (Microseconds.isTime(timeNs)) {
            return true;
        }
        if (timeNs == Microseconds.ABSENT) {
            tally.repair(Repair.Kind.NO_TIME, offset);
        } else if (timeNs == Microseconds.MALFORMED) {
            tally.repair(Repair.Kind.MALFORMED_TIME, offset);
        } else {
            tally.repair(Repair.Kind.TIME_OUT_OF_RANGE, offset);
        }
        return false;
    }

    /** Whether a slice ends when it may; if not, it is counted. */
    boolean isInOrder(long startNs, long endNs, long offset) {
        if (endNs < startNs) {
            tally.repair(Repair.Kind.NEGATIVE_DURATION, offset);
            return false;
        }
        if (endNs > Microseconds.LARGEST_NS) {
            tally.repair(Repair.Kind.TIME_OUT_OF_RANGE, offset);
            return false;
        }
        return true;
    }
}
