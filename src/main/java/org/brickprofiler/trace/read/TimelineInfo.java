package org.brickprofiler.trace.read;

import org.brickprofiler.trace.TraceInfo;

/** What a trace tells of the whole timeline. Stateless; any thread. */
final class TimelineInfo {

    private TimelineInfo() {}

    /**
     * The information.
     *
     * @param head what the trace says of itself
     * @param layout its tracks
     * @param earliestNs when its first event was; {@link Long#MAX_VALUE} where there is none
     */
    static TraceInfo of(TraceHead head, TrackLayout layout, long earliestNs) {
        long baseNs = baseNs(head, earliestNs);
        // A moment that has a place in the calendar, which does not go back beyond 1970.
        long monotonicNs = Math.max(0, -baseNs);
        return new TraceInfo(
                layout.processName(),
                layout.pid(),
                head.rank(),
                head.worldSize(),
                monotonicNs,
                baseNs + monotonicNs,
                Math.max(0, head.spansLost()),
                head.clockErrorNs(),
                head.deviceInfos());
    }

    /** The calendar time of the trace's 0; 0 where nobody knows. */
    private static long baseNs(TraceHead head, long earliestNs) {
        if (head.isOwn()) {
            return Math.abs(head.baseTimeNs()) <= Microseconds.LARGEST_NS ? head.baseTimeNs() : 0;
        }
        boolean isEmpty = earliestNs == Long.MAX_VALUE;
        return isEmpty ? 0 : TraceClock.of(head.baseTimeNs(), earliestNs).baseNs();
    }
}
