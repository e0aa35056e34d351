package org.brickprofiler.trace;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** The events of a timeline as text, a line each: {@code name start..end}, and further known values. */
final class Replay {

    private Replay() {}

    /** The events of the track of a name. */
    static List<String> of(Timeline timeline, String track) {
        return of(timeline, indexOf(timeline, track));
    }

    static int indexOf(Timeline timeline, String track) {
        return IntStream.range(0, timeline.tracks().size())
                .filter(i -> timeline.tracks().get(i).name().equals(track))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no track '" + track + "' in " + timeline.tracks()));
    }

    static List<String> trackNames(Timeline timeline) {
        return timeline.tracks().stream().map(Track::name).toList();
    }

    /** The events of a track. */
    static List<String> of(Timeline timeline, int track) {
        List<String> events = new ArrayList<>();
        timeline.replay(track, new TimelineVisitor() {
            @Override
            public void span(Span span) {
                events.add(timeline.names().get(span.name()).name() + " " + span.startNs() + ".." + span.endNs()
                        + text(" x", span.elements())
                        + text(" layer ", span.layer())
                        + text(" device ", span.deviceNs())
                        + (span.isDeviceSample() ? " sample" : "")
                        + (span.flowOut() == 0 ? "" : " out " + span.flowOut())
                        + (span.flowIn() == 0 ? "" : " in " + span.flowIn()));
            }

            @Override
            public void instant(long atNs, int name) {
                events.add(timeline.names().get(name).name() + " at " + atNs);
            }

            @Override
            public void counter(long atNs, double value) {
                events.add(value + " at " + atNs);
            }
        });
        return events;
    }

    private static String text(String what, long value) {
        return value == -1 ? "" : what + value;
    }
}
