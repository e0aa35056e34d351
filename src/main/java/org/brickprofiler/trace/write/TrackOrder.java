package org.brickprofiler.trace.write;

import java.util.List;
import org.brickprofiler.trace.Track;

/** Checks that parents come before their children, and that streams belong to devices. Stateless. */
final class TrackOrder {

    private TrackOrder() {}

    static List<Track> checked(List<Track> tracks) {
        for (int index = 0; index < tracks.size(); index++) {
            Track track = tracks.get(index);
            if (track.parent() >= index) {
                throw new IllegalArgumentException(
                        "the track " + track.name() + " comes before its parent, track " + track.parent());
            }
            if (track.kind() == Track.Kind.STREAM
                    && (track.parent() == Track.PROCESS || tracks.get(track.parent()).kind() != Track.Kind.DEVICE)) {
                throw new IllegalArgumentException("the stream " + track.name() + " belongs to no device");
            }
        }
        return List.copyOf(tracks);
    }
}
