package org.brickprofiler.trace.write;

import org.brickprofiler.trace.Timeline;
import org.brickprofiler.trace.TimelineVisitor;

/**
 * Checks the events of one track after another, puts its spans on lanes, and leaves the format to a subclass. One
 * thread at a time.
 */
abstract class TrackWriter implements TimelineVisitor, SpanLanes.Closer {

    final CheckedTracks tracks;

    /** The index of the current track. */
    int track;

    SpanLanes lanes = new SpanLanes();

    private boolean begun;
    private long lastStartNs;

    TrackWriter(CheckedTracks tracks) {
        this.tracks = tracks;
    }

    /** Writes the events of all tracks. */
    final void writeAll(Timeline timeline) {
        for (track = 0; track < tracks.size(); track++) {
            begun = false;
            lanes = new SpanLanes();
            beginTrack();
            timeline.replay(track, this);
            lanes.closeAll(this);
        }
    }

    /** Checks the order of the current track's events, and closes the spans that end by a time. */
    final void advanceTo(long ns, boolean isCounter) {
        if (begun) {
            tracks.requireOrder(track, ns, lastStartNs);
        } else {
            tracks.requireKind(track, isCounter);
            begun = true;
            beginEvents(ns, isCounter);
        }
        lastStartNs = ns;
        lanes.closeUpTo(ns, this);
    }

    /** Prepares for the current track, which may have no events. */
    abstract void beginTrack();

    /** Writes the text before the first event of the current track. */
    abstract void beginEvents(long ns, boolean isCounter);
}
