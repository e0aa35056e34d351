package org.brickprofiler.trace.write;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.brickprofiler.internal.base.Plural;
import org.brickprofiler.trace.SlowSteps;
import org.brickprofiler.trace.TraceInfo;
import org.brickprofiler.trace.Track;

/**
 * The tracks of a timeline that is being written. Checks the rules of {@link org.brickprofiler.trace.Timeline} and
 * computes the names and devices that both formats need. Immutable.
 */
final class CheckedTracks {

    /** The most characters of a part of a long text. */
    private static final int LONGEST_PART = 1_000;

    /** Stands for the host instead of a device. */
    static final long HOST = -1;

    private static final Pattern COPY = Pattern.compile("(gpu_)?mem(cpy|set)", Pattern.CASE_INSENSITIVE);

    private final List<Track> tracks;

    /**
     * Checks the order of the tracks.
     *
     * @throws IllegalArgumentException when a child comes before its parent, or a stream belongs to no device
     */
    CheckedTracks(List<Track> tracks) {
        for (int index = 0; index < tracks.size(); index++) {
            Track track = tracks.get(index);
            if (track.parent() >= index) {
                throw new IllegalArgumentException(
                        "the track " + track.name() + " comes before its parent, track " + track.parent());
            }
            if (track.kind() == Track.Kind.STREAM
                    && (track.parent() == Track.PROCESS
                            || tracks.get(track.parent()).kind() != Track.Kind.DEVICE)) {
                throw new IllegalArgumentException("the stream " + track.name() + " belongs to no device");
            }
        }
        this.tracks = List.copyOf(tracks);
    }

    int size() {
        return tracks.size();
    }

    Track get(int track) {
        return tracks.get(track);
    }

    /** Returns the device that a track belongs to, or {@link #HOST}. */
    long deviceOf(int track) {
        for (int at = track; at != Track.PROCESS; at = tracks.get(at).parent()) {
            if (tracks.get(at).kind() == Track.Kind.DEVICE) {
                return tracks.get(at).id();
            }
        }
        return HOST;
    }

    /** Returns the name of a device's track; empty if it has none. */
    String nameOfDevice(long device) {
        return tracks.stream()
                .filter(track -> track.kind() == Track.Kind.DEVICE && track.id() == device)
                .map(Track::name)
                .findFirst()
                .orElse("");
    }

    /** Returns the name of a lane beside a track. Lane 0 is the track itself; names count from 1. */
    String laneName(int track, int lane) {
        return get(track).name() + " (lane " + (lane + 1) + ")";
    }

    /** Refuses values on a track that is no counter, and other events on a counter. */
    void requireKind(int track, boolean isCounter) {
        if (isCounter != (get(track).kind() == Track.Kind.COUNTER)) {
            throw new IllegalArgumentException(
                    (isCounter ? "a value on the track " : "a span or an instant on the counter ")
                            + get(track).name());
        }
    }

    /** Refuses an event that begins before the last one. */
    void requireOrder(int track, long ns, long lastNs) {
        if (ns < lastNs) {
            throw new IllegalArgumentException("an event at " + ns + " ns after one at " + lastNs + " ns on the track "
                    + get(track).name());
        }
    }

    /** Refuses a name that does not exist. */
    static int requireName(int name, int count) {
        if (name < 0 || name >= count) {
            throw new IllegalArgumentException("name " + name + " of " + count);
        }
        return name;
    }

    /** Returns whether another program's category stands for copies and fills of a device, whose elements are bytes. */
    static boolean isCopy(String category) {
        return COPY.matcher(category).matches();
    }

    /**
     * Returns the JSON of an explanation in parts, each short enough for readers of traces to accept it as one text.
     */
    static List<String> parts(SlowSteps steps) {
        String json = steps.toJson();
        List<String> parts = new ArrayList<>();
        for (int from = 0; from < json.length(); from += LONGEST_PART) {
            parts.add(json.substring(from, Math.min(json.length(), from + LONGEST_PART)));
        }
        return parts;
    }

    /** The label of a process whose profile has net times. */
    static final String AS_RECORDED = "times as recorded";

    /** Returns the labels of the process: its rank in a distributed run, and the limits of the timeline. */
    static List<String> processLabels(TraceInfo info) {
        List<String> labels = new ArrayList<>();
        info.rank().ifPresent(rank -> labels.add("rank " + rank + " of " + info.worldSize()));
        if (info.droppedSpans() > 0) {
            labels.add(Plural.of(info.droppedSpans(), "span") + " dropped");
        }
        info.slowSteps().ifPresent(steps -> labels.add("chosen steps only"));
        info.clockErrorNs().ifPresent(errorNs -> labels.add("device times within " + errorNs + " ns"));
        if (info.hasNetTimes()) {
            labels.add(AS_RECORDED);
        }
        return labels;
    }
}
