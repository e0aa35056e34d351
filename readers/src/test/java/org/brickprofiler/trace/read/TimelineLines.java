package org.brickprofiler.trace.read;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.brickprofiler.trace.Span;
import org.brickprofiler.trace.Timeline;
import org.brickprofiler.trace.TimelineVisitor;
import org.brickprofiler.trace.Track;

/** Traces read as timelines, and the content of these as text. */
final class TimelineLines {

    private TimelineLines() {}

    static TraceTimeline read(String json) throws IOException {
        return TraceReader.timeline(new ByteArrayInputStream(json.getBytes(UTF_8)), ReadOptions.defaults());
    }

    static TraceFormatException refused(String json) {
        return Traces.refused(() -> read(json));
    }

    /** Each event in a line of text, in the order of the replay. */
    static List<String> lines(TraceTimeline reading) {
        List<String> lines = new ArrayList<>();
        Timeline timeline = reading.timeline();
        for (int track = 0; track < timeline.tracks().size(); track++) {
            String name = timeline.tracks().get(track).name();
            timeline.replay(track, new TimelineVisitor() {
                @Override
                public void span(Span span) {
                    lines.add(name + ": " + timeline.names().get(span.name()).name() + " " + span.startNs() + ".."
                            + span.endNs() + (span.isDeviceSample() ? " sample" : "")
                            + (span.flowOut() == 0 ? "" : " out " + span.flowOut())
                            + (span.flowIn() == 0 ? "" : " in " + span.flowIn()));
                }

                @Override
                public void instant(long atNs, int instant) {
                    lines.add(name + ": " + timeline.names().get(instant).name() + " at " + atNs);
                }

                @Override
                public void counter(long atNs, double value) {
                    lines.add(name + ": " + value + " at " + atNs);
                }
            });
        }
        assertThat(reading.events()).isEqualTo(lines.size());
        return lines;
    }

    /** Each track in a line of text. */
    static List<String> tracks(TraceTimeline reading) {
        List<Track> tracks = reading.timeline().tracks();
        return tracks.stream()
                .map(track -> track.kind() + " " + track.name() + " " + track.id()
                        + (track.parent() == Track.PROCESS
                                ? ""
                                : " of " + tracks.get(track.parent()).name())
                        + (track.unit().isEmpty() ? "" : " in " + track.unit()))
                .toList();
    }

    /** An event of thread 1/1. */
    static String event(String phase, String rest) {
        return "{\"ph\": \"" + phase + "\", \"pid\": 1, \"tid\": 1, " + rest + "}";
    }
}
