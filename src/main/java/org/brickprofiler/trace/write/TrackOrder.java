package org.brickprofiler.trace.write;

import java.util.List;
import org.brickprofiler.trace.Track;

/** Checks that parents come before their children. Stateless. */
final class TrackOrder {

    private TrackOrder() {}

    static List<Track> checked(List<Track> tracks) {
        for (int index = 0; index < tracks.size(); index++) {
            if (tracks.get(index).parent() >= index) {
                throw new IllegalArgumentException("track " + index + " comes before its parent "
                        + tracks.get(index).parent());
            }
        }
        return List.copyOf(tracks);
    }
}
