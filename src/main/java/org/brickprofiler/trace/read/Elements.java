package org.brickprofiler.trace.read;

/** What came of a trace, whatever becomes of it: how many elements, whether any was an event, how the text ends. */
final class Elements {

    private final String source;
    private final Tally tally;

    private long read;
    private boolean phaseSeen;
    private boolean openArray;

    /**
     * Nothing so far.
     *
     * @param source what to call the trace in messages
     * @param tally counts repairs
     */
    Elements(String source, Tally tally) {
        this.source = source;
        this.tally = tally;
    }

    /** An event, or what should have been one. */
    void count(RawEvent event) {
        read++;
        if (event.repeatedKey) {
            tally.repair(Repair.Kind.REPEATED_KEY, event.offset);
        }
        phaseSeen |= event.phase != RawEvent.NO_PHASE;
    }

    /** Something that is no event at all. */
    void countOther() {
        read++;
    }

    /** An event that cannot be told, since what it refers to was lost. */
    void lostState(long offset) {
        read++;
        phaseSeen = true;
        tally.repair(Repair.Kind.LOST_STATE, offset);
    }

    /** The array of events does not end. */
    void openArray(long offset) {
        openArray = true;
        tally.repair(Repair.Kind.OPEN_ARRAY, offset);
    }

    boolean isOpenArray() {
        return openArray;
    }

    /** Refuses text with elements of which none is an event. */
    void end(long offset) throws TraceFormatException {
        if (read > 0 && !phaseSeen) {
            throw new TraceFormatException(
                    source, offset, "none of " + Figures.count(read, "element") + " has a phase (ph): the text"
                            + " is JSON, but no trace");
        }
    }

    long read() {
        return read;
    }
}
