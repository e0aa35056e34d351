package org.brickprofiler.trace.write;

/** The names of the lanes beside a track. Stateless. */
final class LaneNames {

    private LaneNames() {}

    /** Lanes count from 0, the track itself; people count from 1. */
    static String of(String track, int lane) {
        return track + " (lane " + (lane + 1) + ")";
    }
}
