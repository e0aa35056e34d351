package org.brickprofiler.trace.write;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.brickprofiler.trace.Span;
import org.brickprofiler.trace.SpanName;
import org.brickprofiler.trace.Timeline;
import org.brickprofiler.trace.TimelineVisitor;
import org.brickprofiler.trace.Track;

/**
 * The content of a timeline, in a form in which two can be compared: times count from its first event.
 *
 * @param events the events, in no order
 * @param flows which span leads to which
 */
record RereadTimeline(List<Replayed> events, Map<Replayed, List<Replayed>> flows) {

    /** One event; absent values are -1. */
    record Replayed(
            String track, String what, String name, String category, long startNs, long endNs, Details details) {}

    /** What is known of an event beside its name and times. */
    private record Details(
            long elements,
            int layer,
            long deviceNs,
            long correlation,
            boolean isDeviceSample,
            Span.StatedPhase phase,
            double value) {

        static final Details NONE = ofValue(-1);

        static Details ofValue(double value) {
            return new Details(-1, -1, -1, -1, false, Span.StatedPhase.NONE, value);
        }
    }

    static RereadTimeline of(Timeline timeline) {
        Teller teller = new Teller(timeline);
        for (int track = 0; track < timeline.tracks().size(); track++) {
            teller.begin(timeline.tracks().get(track));
            timeline.replay(track, teller);
        }
        return new RereadTimeline(teller.events, teller.flows());
    }

    private static final class Teller implements TimelineVisitor {
        private final List<SpanName> names;
        private final long earliestNs;
        private final List<Replayed> events = new ArrayList<>();
        private final Map<Long, List<Replayed>> starts = new HashMap<>();
        private final Map<Long, List<Replayed>> ends = new HashMap<>();
        private String track = "";

        Teller(Timeline timeline) {
            names = timeline.names();
            earliestNs = timeline.earliestNs();
        }

        void begin(Track next) {
            String name = next.unit().isEmpty() ? next.name() : next.name() + " [" + next.unit() + "]";
            track = ExpectedEvents.readable(name);
        }

        @Override
        public void span(Span span) {
            SpanName name = names.get(span.name());
            Replayed replayed = new Replayed(
                    track,
                    "span",
                    ExpectedEvents.readable(name.name()),
                    ExpectedEvents.readable(name.category()),
                    span.startNs() - earliestNs,
                    Math.max(span.startNs(), span.endNs()) - earliestNs,
                    new Details(
                            span.elements(),
                            span.layer(),
                            span.deviceNs(),
                            span.correlation(),
                            span.isDeviceSample(),
                            span.phase(),
                            -1));
            events.add(replayed);
            if (span.flowOut() != 0) {
                starts.computeIfAbsent(span.flowOut(), flow -> new ArrayList<>())
                        .add(replayed);
            }
            if (span.flowIn() != 0) {
                ends.computeIfAbsent(span.flowIn(), flow -> new ArrayList<>()).add(replayed);
            }
        }

        @Override
        public void instant(long atNs, int name) {
            SpanName of = names.get(name);
            events.add(new Replayed(
                    track,
                    "instant",
                    ExpectedEvents.readable(of.name()),
                    ExpectedEvents.readable(of.category()),
                    atNs - earliestNs,
                    -1,
                    Details.NONE));
        }

        @Override
        public void counter(long atNs, double value) {
            events.add(new Replayed(track, "value", "", "", atNs - earliestNs, -1, Details.ofValue(value)));
        }

        Map<Replayed, List<Replayed>> flows() {
            Map<Replayed, List<Replayed>> flows = new HashMap<>();
            starts.forEach((flow, from) -> from.forEach(start ->
                    flows.computeIfAbsent(start, any -> new ArrayList<>()).addAll(ends.getOrDefault(flow, List.of()))));
            return flows;
        }
    }
}
