package org.brickprofiler.trace.read;

import java.util.OptionalLong;

/**
 * Computes unions of intervals, which come in order of their starts: the union of the intervals that count, and the
 * union of all intervals, which shows when only omitted events ran. One thread.
 */
final class BusyTime {

    private boolean begun;
    private long firstNs;
    private long countedUntilNs;
    private long countedNs;
    private long allUntilNs = Long.MIN_VALUE;
    private long allNs;
    private boolean launchSeen;
    private long unlaunchedNs;

    /** The same time since the last event that counts. */
    private long unlaunchedSinceNs;

    /** Adds the interval of an event. */
    void add(Execution event, boolean counts) {
        launchSeen |= event.launchNs() > Long.MIN_VALUE;
        if (begun) {
            unlaunchedSinceNs += Math.max(allUntilNs, event.launchNs()) - allUntilNs;
        }
        add(event.startNs(), event.endNs(), counts);
        if (counts) {
            unlaunchedNs += unlaunchedSinceNs;
            unlaunchedSinceNs = 0;
        }
    }

    /** Adds an interval. */
    void add(long startNs, long endNs, boolean counts) {
        if (counts && !begun) {
            begin(startNs);
        }
        if (begun) {
            allNs += Math.max(0, endNs - Math.max(startNs, allUntilNs));
        }
        allUntilNs = Math.max(allUntilNs, endNs);
        if (counts) {
            countedNs += Math.max(0, endNs - Math.max(startNs, countedUntilNs));
            countedUntilNs = Math.max(countedUntilNs, endNs);
        }
    }

    private void begin(long nowNs) {
        begun = true;
        firstNs = nowNs;
        countedUntilNs = nowNs;
        // An event that was left out may still be running.
        allUntilNs = Math.max(allUntilNs, nowNs);
        allNs = allUntilNs - nowNs;
    }

    /** Returns the begin of the first event that counts, on the trace's clock; 0 without one. */
    long firstNs() {
        return firstNs;
    }

    /** Returns the end of the last event that counts, on the trace's clock; 0 without one. */
    long lastNs() {
        return countedUntilNs;
    }

    /** Returns the union of the events that count, ns. */
    long busyNs() {
        return countedNs;
    }

    /**
     * Returns the time in which no event ran and the event that began next was not launched yet, up to the last event
     * that counts, ns; empty if no launch is known.
     */
    OptionalLong unlaunchedNs() {
        return launchSeen ? OptionalLong.of(unlaunchedNs) : OptionalLong.empty();
    }

    /**
     * Returns the time from the start of the first event that counts to the end of the last one, without times at which
     * only omitted events ran, ns.
     */
    long wallNs() {
        // Any event that runs on after the last one that counts began before the end of that one, so there is no
        // gap between the two.
        long afterNs = begun ? Math.max(0, allUntilNs - countedUntilNs) : 0;
        long leftOutOnlyNs = allNs - afterNs - countedNs;
        return countedUntilNs - firstNs - leftOutOnlyNs;
    }
}
