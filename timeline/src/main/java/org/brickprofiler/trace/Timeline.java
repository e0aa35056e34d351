package org.brickprofiler.trace;

import java.util.List;
import java.util.LongSummaryStatistics;

/**
 * The events of a run with their times, for writers. One thread at a time. A track can be replayed any number of times,
 * with the same events.
 *
 * <p>Times are those of {@link System#nanoTime()}: ns since an origin that only {@link TraceInfo} relates to the
 * calendar. They may be negative.
 */
public interface Timeline {

    /**
     * Returns the data about the whole timeline.
     *
     * @return the same each time
     */
    TraceInfo info();

    /**
     * Returns the names of spans and instants.
     *
     * @return the names, each at the index that {@link Span#name()} returns
     */
    List<SpanName> names();

    /**
     * Returns the bricks as which a profile of the same events counts their spans.
     *
     * @return the bricks, each at the index that {@link Span#brick()} returns; empty, as in this default, if spans are
     *     bricks themselves or were not counted
     */
    default List<SpanBrick> bricks() {
        return List.of();
    }

    /**
     * Returns the tracks.
     *
     * @return the tracks by index; parents come before their children
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
     * Returns a time before which no event begins, so that a file can count from it. This default replays every track;
     * override it if the answer is known.
     *
     * @return ns; {@link TraceInfo#monotonicNs()} if there is no event
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
