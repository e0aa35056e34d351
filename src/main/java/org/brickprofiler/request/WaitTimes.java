package org.brickprofiler.request;

import java.util.ArrayList;
import java.util.List;

/** Finds the times in which the requests of a time line waited, for a {@link WaitSource}. Stateless; any thread. */
final class WaitTimes {

    private static final long NO_THREAD = -1;

    private WaitTimes() {}

    /**
     * Returns the waiting times of each request.
     *
     * @param threads the thread of each lane
     * @return a list for each request; empty if the steps of the request are no longer known
     */
    static List<List<WaitSource.Waiting>> of(RequestTimeline timeline, long[] threads) {
        return timeline.segments().stream()
                .map(segments -> of(segments, timeline, threads))
                .toList();
    }

    private static List<WaitSource.Waiting> of(
            List<RequestTimeline.Segment> segments, RequestTimeline timeline, long[] threads) {
        List<WaitSource.Waiting> times = new ArrayList<>();
        long fromNs = 0;
        long toNs = 0;
        long waitedNs = 0;
        boolean isOpen = false;
        for (RequestTimeline.Segment segment : segments) {
            boolean isWaiting = segment.cause().isWaiting();
            if (isWaiting || segment.cause() == Cause.OWN_WORK) {
                fromNs = isOpen ? fromNs : segment.startNs();
                toNs = segment.startNs() + segment.durationNs();
                waitedNs += isWaiting ? segment.durationNs() : 0;
                isOpen = true;
            } else {
                if (waitedNs > 0) {
                    int lane = segment.step() < 0
                            ? 0
                            : timeline.steps().get(segment.step()).lane();
                    times.add(waiting(timeline, fromNs, toNs, waitedNs, threads[lane]));
                }
                waitedNs = 0;
                isOpen = false;
            }
        }
        if (waitedNs > 0) {
            times.add(waiting(timeline, fromNs, toNs, waitedNs, NO_THREAD));
        }
        return times;
    }

    private static WaitSource.Waiting waiting(
            RequestTimeline timeline, long fromNs, long toNs, long waitedNs, long thread) {
        long epochNs = timeline.epochNs();
        return new WaitSource.Waiting(fromNs + epochNs, toNs + epochNs, waitedNs, thread == 0 ? NO_THREAD : thread);
    }
}
