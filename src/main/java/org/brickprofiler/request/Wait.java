package org.brickprofiler.request;

/**
 * A reason, as the virtual machine and the system state it, for which a request was queued or stalled: a second split
 * of this time, beside its {@link Cause}s. If several apply to a moment, the first in this order counts.
 */
public enum Wait {
    /** A garbage collection had stopped all threads. */
    GC("garbage collection"),
    /** The thread of the request's next step waited for a monitor or a lock. */
    BLOCKED("blocked by a lock"),
    /** This thread was ready to run, a CPU quota of the process was used up, and no processor ran the thread. */
    THROTTLED("throttled by a CPU quota"),
    /** This thread was ready to run, and no processor ran it. */
    NO_PROCESSOR("no processor"),
    /** None of these is known: the scheduler had nothing to run, the thread slept or waited for data, or no one saw. */
    UNKNOWN("unknown");

    private final String displayName;

    Wait(String displayName) {
        this.displayName = displayName;
    }

    /**
     * Returns the name for people.
     *
     * @return a few words in lower case
     */
    public String displayName() {
        return displayName;
    }

    /**
     * Returns the note in the name of a {@link WaitSource} that does not know this wait.
     *
     * @return for example {@code "throttled by a CPU quota: unknown"}
     */
    public String unknown() {
        return displayName + ": unknown";
    }

    /** Returns the number of this wait; the only reader of the ordinal. */
    @SuppressWarnings("EnumOrdinal") // this method is where it is wrapped
    int index() {
        return ordinal();
    }
}
