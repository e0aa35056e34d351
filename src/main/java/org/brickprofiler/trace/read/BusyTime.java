package org.brickprofiler.trace.read;

/**
 * The union of intervals that come in order of their starts: of those that count, and of all, to know when nothing ran
 * but events that were left out. One thread.
 */
final class BusyTime {

    private boolean begun;
    private long firstNs;
    private long countedUntilNs;
    private long countedNs;
    private long allUntilNs = Long.MIN_VALUE;
    private long allNs;

    /** Adds an interval. */
    void add(DeviceEvent event, boolean counts) {
        if (counts && !begun) {
            begin(event.startNs());
        }
        if (begun) {
            allNs += Math.max(0, event.endNs() - Math.max(event.startNs(), allUntilNs));
        }
        allUntilNs = Math.max(allUntilNs, event.endNs());
        if (counts) {
            countedNs += Math.max(0, event.endNs() - Math.max(event.startNs(), countedUntilNs));
            countedUntilNs = Math.max(countedUntilNs, event.endNs());
        }
    }

    private void begin(long nowNs) {
        begun = true;
        firstNs = nowNs;
        countedUntilNs = nowNs;
        // What was left out before may still run.
        allUntilNs = Math.max(allUntilNs, nowNs);
        allNs = allUntilNs - nowNs;
    }

    /** When the first event that counts began, on the trace's clock; 0 without one. */
    long firstNs() {
        return firstNs;
    }

    /** When the last event that counts ended, on the trace's clock; 0 without one. */
    long lastNs() {
        return countedUntilNs;
    }

    /** The union of what counts, ns. */
    long busyNs() {
        return countedNs;
    }

    /** From the first event that counts to the end of the last one, without the time of events left out only, ns. */
    long wallNs() {
        // What runs on after the last event that counts began before it, so nothing is missing between the two.
        long afterNs = begun ? Math.max(0, allUntilNs - countedUntilNs) : 0;
        long leftOutOnlyNs = allNs - afterNs - countedNs;
        return countedUntilNs - firstNs - leftOutOnlyNs;
    }
}
