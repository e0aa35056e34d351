package org.brickprofiler.trace;

import java.util.List;
import java.util.LongSummaryStatistics;

/**
 * What happened when: what a writer writes. Read by one thread at a time, and may be read more than once: each replay
 * of a track passes the same events.
 *
 * <p>Times are those of {@link System#nanoTime()}: ns since an origin that only {@link TraceInfo} relates to the
 * calendar. They may be negative.
 */
public interface Timeline {

    /**
     * What is known about the whole.
     *
     * @return the same each time
     */
    TraceInfo info();

    /**
     * The names of spans and instants.
     *
     * @return each at the place that {@link Span#name()} gives
     */
    List<SpanName> names();

    /**
     * The tracks.
     *
     * @return each at the place that is its index; parents come before their children
     */
    List<Track> tracks();

    /**
     * Passes the events of one track to a visitor in order of their starts. Of two spans that start together the longer
     * one comes first.
     *
     * @param track the index of the track
     * @param visitor gets each event
     */
    void replay(int track, TimelineVisitor visitor);

    /**
     * A time that no event begins before, so that a file can count from it. This default replays every track; an
     * implementation that knows the answer does better to give it.
     *
     * @return ns; {@link TraceInfo#monotonicNs()} where there is no event
     */
    default long earliestNs() {
        LongSummaryStatistics starts = new LongSummaryStatistics();
        TimelineVisitor visitor = new TimelineVisitor() {
            @Override
            public void span(Span span) {
                starts.accept(span.startNs());
            }

            @Override
            public void instant(long atNs, int name) {
                starts.accept(atNs);
            }

            @Override
            public void counter(long atNs, double value) {
                starts.accept(atNs);
            }
        };
        for (int track = 0; track < tracks().size(); track++) {
            replay(track, visitor);
        }
        return starts.getCount() == 0 ? info().monotonicNs() : starts.getMin();
    }
}
