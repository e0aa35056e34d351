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

    /** A stop, on the recorder's clock. */
    record Stop(long startNs, long endNs) {}

    synchronized void add(Stop stop) {
        isReported = true;
        if (stops.size() == MOST) {
            stops.removeFirst();
        }
        stops.add(stop);
    }

    /** Returns whether anybody reports stops. */
    synchronized boolean isReported() {
        return isReported;
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
