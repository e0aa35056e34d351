package org.brickprofiler.trace.write;

import org.brickprofiler.trace.Track;

/** What a timeline promises about the events of a track, checked. Stateless. */
final class EventOrder {

    private EventOrder() {}

    static IllegalArgumentException broken(long ns, long lastNs, Track track) {
        return new IllegalArgumentException(
                "an event at " + ns + " ns after one at " + lastNs + " ns on the track " + track.name());
    }

    static void requireKind(boolean isCounter, Track track) {
        if (isCounter != (track.kind() == Track.Kind.COUNTER)) {
            throw new IllegalArgumentException(
                    (isCounter ? "a value on the line " : "a span or an instant on the counter ") + track.name());
        }
    }
}
