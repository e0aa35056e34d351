package org.brickprofiler.trace.write;

import java.util.List;
import org.brickprofiler.trace.SpanName;
import org.brickprofiler.trace.Timeline;
import org.brickprofiler.trace.TimelineVisitor;
import org.brickprofiler.trace.TraceInfo;
import org.brickprofiler.trace.Track;

/** Like another, with an instant before an earlier one. */
record UnsortedTimeline(FixedTimeline other) implements Timeline {

    @Override
    public TraceInfo info() {
        return other.info();
    }

    @Override
    public List<SpanName> names() {
        return other.names();
    }

    @Override
    public List<Track> tracks() {
        return other.tracks();
    }

    @Override
    public void replay(int track, TimelineVisitor visitor) {
        visitor.instant(5, 0);
        visitor.instant(4, 0);
    }
}
