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
 * What a timeline tells, in a form that two can be compared in: times count from its first event.
 *
 * @param events what happened, in no order
 * @param flows which span leads to which
 */
record RereadTimeline(List<Told> events, Map<Told, List<Told>> flows) {

    /** One event; what it does not have is -1. */
    record Told(
            String track,
            String what,
            String name,
            String category,
            long startNs,
            long endNs,
            long elements,
            int layer,
            long deviceNs,
            boolean isDeviceSample,
            double value) {}

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
        private final List<Told> events = new ArrayList<>();
        private final Map<Long, List<Told>> starts = new HashMap<>();
        private final Map<Long, List<Told>> ends = new HashMap<>();
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
            Told told = new Told(
                    track,
                    "span",
                    ExpectedEvents.readable(name.name()),
                    ExpectedEvents.readable(name.category()),
                    span.startNs() - earliestNs,
                    Math.max(span.startNs(), span.endNs()) - earliestNs,
                    span.elements(),
                    span.layer(),
                    span.deviceNs(),
                    span.isDeviceSample(),
                    -1);
            events.add(told);
            if (span.flowOut() != 0) {
                starts.computeIfAbsent(span.flowOut(), flow -> new ArrayList<>()).add(told);
            }
            if (span.flowIn() != 0) {
                ends.computeIfAbsent(span.flowIn(), flow -> new ArrayList<>()).add(told);
            }
        }

        @Override
        public void instant(long atNs, int name) {
            SpanName of = names.get(name);
            events.add(new Told(
                    track,
                    "instant",
                    ExpectedEvents.readable(of.name()),
                    ExpectedEvents.readable(of.category()),
                    atNs - earliestNs,
                    -1,
                    -1,
                    -1,
                    -1,
                    false,
                    -1));
        }

        @Override
        public void counter(long atNs, double value) {
            events.add(new Told(track, "value", "", "", atNs - earliestNs, -1, -1, -1, -1, false, value));
        }

        Map<Told, List<Told>> flows() {
            Map<Told, List<Told>> flows = new HashMap<>();
            starts.forEach((flow, from) -> from.forEach(start ->
                    flows.computeIfAbsent(start, any -> new ArrayList<>()).addAll(ends.getOrDefault(flow, List.of()))));
            return flows;
        }
    }
}
