package org.brickprofiler.trace;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * The times in which the virtual machine stopped all threads, other than for a garbage collection, as the application
 * reports them: the newest {@value #MOST}. Any thread.
 */
final class StopLog {

    static final int MOST = 4_096;

    private final Deque<Stop> stops = new ArrayDeque<>();
    private boolean isReported;

    /** The latest end of a stop that is no longer kept. */
    private long forgottenNs = Long.MIN_VALUE;

    /** The time within which every stop was reported, if the application says so. */
    private boolean hasTime;

    private long fromNs;
    private long untilNs;

    /** A stop, on the recorder's clock. */
    record Stop(long startNs, long endNs) {}

    synchronized void add(Stop stop) {
        isReported = true;
        if (stops.size() == MOST) {
            forgottenNs = Math.max(forgottenNs, stops.removeFirst().endNs());
        }
        stops.add(stop);
    }

    /** All stops between two times were reported. A time that does not adjoin the one before replaces it. */
    synchronized void reported(long startNs, long endNs) {
        boolean adjoins = hasTime && startNs <= untilNs && endNs >= fromNs;
        fromNs = adjoins ? Math.min(fromNs, startNs) : startNs;
        untilNs = adjoins ? Math.max(untilNs, endNs) : endNs;
        hasTime = true;
    }

    /** Returns whether all stops between two times are known, and no further one will be reported. */
    synchronized boolean isComplete(long startNs, long endNs) {
        return hasTime && startNs >= fromNs && endNs <= untilNs && startNs >= forgottenNs;
    }

    /**
     * Returns whether all stops between two times are known. An application that reports stops and says nothing of
     * times reports all of them.
     */
    synchronized boolean isKnown(long startNs, long endNs) {
        return hasTime ? isComplete(startNs, endNs) : isReported && startNs >= forgottenNs;
    }

    /** Returns the stops that overlap a time. */
    synchronized List<Stop> within(long startNs, long endNs) {
        List<Stop> found = new ArrayList<>();
        for (Stop stop : stops) {
            if (stop.endNs() > startNs && stop.startNs() < endNs) {
                found.add(stop);
            }
        }
        return found;
    }
}
