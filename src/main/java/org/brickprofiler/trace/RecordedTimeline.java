package org.brickprofiler.trace;

import java.util.List;

/** A timeline that was recorded. Immutable. */
final class RecordedTimeline implements Timeline {

    private final TraceInfo info;
    private final List<SpanName> names;
    private final List<Track> tracks;
    private final List<TrackEvents> events;

    /**
     * A timeline.
     *
     * @param events the events of each track, at the same places
     */
    RecordedTimeline(TraceInfo info, List<SpanName> names, List<Track> tracks, List<TrackEvents> events) {
        this.info = info;
        this.names = List.copyOf(names);
        this.tracks = List.copyOf(tracks);
        this.events = List.copyOf(events);
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
        events.get(track).replay(visitor);
    }

    @Override
    public long earliestNs() {
        long first = events.stream().mapToLong(TrackEvents::earliestNs).min().orElse(Long.MAX_VALUE);
        return first == Long.MAX_VALUE ? info.monotonicNs() : first;
    }
}
