package org.brickprofiler.trace.write;

import org.brickprofiler.trace.TraceInfo;

/**
 * The identifiers of one file. Tracks and flows are global in Perfetto, also where several files are opened as one, so
 * they carry a mark of the process. The mark is small: a track's identifier is repeated with each event on an extra
 * lane.
 */
final class PerfettoIds {

    /** The sequence of packets that no track owns. */
    static final int COMMON_SEQUENCE = 1;

    private static final int MARK_BITS = 14;
    private static final int TRACK_BITS = 20;
    private static final int FLOW_BITS = Long.SIZE - MARK_BITS;

    private final long mark;
    private final int tracks;
    private int extraTracks;

    PerfettoIds(TraceInfo info, int tracks) {
        this.mark = markOf(info);
        this.tracks = tracks;
    }

    /** Fibonacci hashing; never 0, so that no identifier is. */
    private static long markOf(TraceInfo info) {
        long all = (info.unixNs() * 31 + info.pid()) * 31 + info.rank().orElse(0);
        return (all * 0x9E37_79B9_7F4A_7C15L) >>> (Long.SIZE - MARK_BITS) | 1;
    }

    long process() {
        return mark << TRACK_BITS;
    }

    long track(int index) {
        return process() + 1 + index;
    }

    /** A track that the timeline does not have. */
    long extraTrack() {
        return track(tracks + extraTracks++);
    }

    long flow(long flow) {
        return flow ^ mark << FLOW_BITS;
    }

    static int sequence(int track) {
        return COMMON_SEQUENCE + 1 + track;
    }
}
