package org.brickprofiler.trace.read;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/** What a trace says of itself. One thread. */
final class TraceHead {

    private static final int MOST_DEVICES = 64;

    private final String source;
    private final Tally tally;
    private final Set<String> devices = new TreeSet<>();

    private boolean own;
    private boolean leavesOut;
    private long baseTimeNs;

    TraceHead(String source, Tally tally) {
        this.source = source;
        this.tally = tally;
    }

    /**
     * Names the program that wrote the trace; one that is not this library means nothing.
     *
     * @param producer what the trace says
     * @param understood the producers of this library that are understood in its format
     * @param eventsRead how many events came before
     * @param offset where it stands
     * @throws TraceFormatException when it is a version of this library whose traces mean something else, or when
     *     events came before
     */
    void producer(String producer, List<String> understood, long eventsRead, long offset)
            throws TraceFormatException {
        if (!OwnTrace.isProducer(producer)) {
            return;
        }
        if (!understood.contains(producer)) {
            throw new TraceFormatException(
                    source, offset, "the trace is of \"" + Figures.plain(producer) + "\"; understood is \""
                            + String.join("\" or \"", understood) + "\"");
        }
        if (eventsRead > 0 && !own) {
            throw new TraceFormatException(source, offset, "the producer is named after the events");
        }
        own = true;
        leavesOut = OwnTrace.leavesOut(producer);
    }

    /** This library lost spans while it recorded; said by another program it means nothing. */
    void lostSpans(long spans, long offset) {
        if (own && spans > 0) {
            tally.repair(Repair.Kind.LOST_SPANS, spans, offset);
        }
    }

    /** The time since 1970 that all times of the trace are relative to. */
    void baseTime(long ns) {
        baseTimeNs = ns;
    }

    /** A device that the trace was taken on. */
    void device(String name) {
        if (devices.size() < MOST_DEVICES && !name.isBlank()) {
            devices.add(Names.bounded(name));
        }
    }

    /** Whether this library wrote the trace. */
    boolean isOwn() {
        return own;
    }

    /** Whether what goes without saying is not said: see {@link OwnTrace#leavesOut}. */
    boolean leavesOut() {
        return leavesOut;
    }

    Set<String> devices() {
        return devices;
    }

    long baseTimeNs() {
        return baseTimeNs;
    }
}
