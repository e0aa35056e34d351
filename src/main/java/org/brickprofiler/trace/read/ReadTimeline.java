package org.brickprofiler.trace.read;

import java.util.List;
import org.brickprofiler.trace.Span;
import org.brickprofiler.trace.SpanName;
import org.brickprofiler.trace.Timeline;
import org.brickprofiler.trace.TimelineVisitor;
import org.brickprofiler.trace.TraceInfo;
import org.brickprofiler.trace.Track;

/** A timeline that was read. Immutable. */
final class ReadTimeline implements Timeline {

    private final TraceInfo info;
    private final List<SpanName> names;
    private final List<Track> tracks;
    private final EventColumns events;
    private final TimelineLines lines;

    ReadTimeline(
            TraceInfo info, List<SpanName> names, List<Track> tracks, EventColumns events, TimelineLines lines) {
        this.info = info;
        this.names = names;
        this.tracks = tracks;
        this.events = events;
        this.lines = lines;
    }

    @Override
    public TraceInfo info() {
        return info;
    }

    @Override
    public List<SpanName> names() {
        return names;
    }

    @Override
    public List<Track> tracks() {
        return tracks;
    }

    @Override
    public void replay(int track, TimelineVisitor visitor) {
        ReadSpan span = new ReadSpan();
        for (int event : lines.line(track)) {
            if (events.isValue(event)) {
                visitor.counter(events.startNs(event), events.value(event));
            } else if (events.isInstant(event)) {
                visitor.instant(events.startNs(event), events.name(event));
            } else {
                span.event = event;
                visitor.span(span);
            }
        }
    }

    @Override
    public long earliestNs() {
        long earliestNs = lines.earliestNs();
        return earliestNs == Long.MAX_VALUE ? info.monotonicNs() : earliestNs;
    }

    /** One span after the other. */
    private final class ReadSpan implements Span {
        private int event;

        @Override
        public long startNs() {
            return events.startNs(event);
        }

        @Override
        public long endNs() {
            return events.endNs(event);
        }

        @Override
        public int name() {
            return events.name(event);
        }

        @Override
        public long elements() {
            return events.elements(event);
        }

        @Override
        public boolean isDeviceSample() {
            return events.isDeviceSample(event);
        }

        @Override
        public int layer() {
            return events.layer(event);
        }

        @Override
        public long deviceNs() {
            return events.deviceNs(event);
        }

        @Override
        public long flowOut() {
            return events.flowOut(event);
        }

        @Override
        public long flowIn() {
            return events.flowIn(event);
        }
    }
}
