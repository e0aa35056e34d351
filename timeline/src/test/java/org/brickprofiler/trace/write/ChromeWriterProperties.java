package org.brickprofiler.trace.write;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.domains.Domain;
import org.brickprofiler.testing.OneJdk;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.trace.SpanName;
import org.brickprofiler.trace.Track;
import org.brickprofiler.trace.write.ChromeTrace.Row;
import org.brickprofiler.trace.write.ExpectedEvents.Slice;

@Domain(Timelines.class)
@OneJdk
final class ChromeWriterProperties {

    private static Map<Row, Integer> tracksOf(ChromeTrace trace, FixedTimeline timeline) {
        List<String> names = timeline.tracks().stream()
                .map(Track::name)
                .map(ExpectedEvents::readable)
                .toList();
        Map<Row, Integer> tracks = new HashMap<>();
        trace.rowNames()
                .forEach((row, name) -> tracks.put(row, names.indexOf(name.replaceFirst(" \\(lane \\d+\\)$", ""))));
        return tracks;
    }

    private static long earliestNs(FixedTimeline timeline) {
        return timeline.events().stream()
                .flatMap(List::stream)
                .mapToLong(Event::startNs)
                .min()
                .orElse(timeline.info().monotonicNs());
    }

    /** Steps get their numbers in order of time, track by track. */
    private static List<Slice> expected(FixedTimeline timeline) {
        List<Slice> slices = new ArrayList<>();
        Map<Integer, Integer> steps = new HashMap<>();
        for (Slice slice : ExpectedEvents.slices(timeline)) {
            boolean step = slice.category().equals(SpanName.STEP);
            String name = step ? "ProfilerStep#" + (steps.merge(slice.track(), 1, Integer::sum) - 1) : slice.name();
            slices.add(new Slice(
                    slice.track(), name, slice.category(), slice.startNs(), slice.endNs(), slice.annotations()));
        }
        return slices;
    }

    @Property(tries = 400)
    void everySpanComesBackOnItsTrack(@ForAll FixedTimeline timeline) throws IOException {
        ChromeTrace trace = ChromeTrace.of(timeline);
        Map<Row, Integer> tracks = tracksOf(trace, timeline);
        long firstNs = earliestNs(timeline);

        List<Slice> slices = trace.spans().stream()
                .map(span -> {
                    long startNs = ChromeTrace.ns(span.get("ts")) + firstNs;
                    return new Slice(
                            tracks.getOrDefault(Row.of(span), -1),
                            brickName(span),
                            span.get("args").get("category").textValue(),
                            startNs,
                            startNs + ChromeTrace.ns(span.get("dur")),
                            annotations(span.get("args")));
                })
                .toList();

        assertThat(slices).containsExactlyInAnyOrderElementsOf(expected(timeline));
    }

    /**
     * Returns the name of a brick even if its slice has the name that readers know; for a step, the name with its
     * number.
     */
    private static String brickName(JsonNode span) {
        boolean isStep = span.get("args").get("category").textValue().equals(SpanName.STEP);
        return !isStep && span.get("args").has("brick")
                ? span.get("args").get("brick").textValue()
                : span.get("name").textValue();
    }

    private static Map<String, Long> annotations(JsonNode args) {
        Map<String, Long> annotations = new HashMap<>();
        for (String key : List.of("elements", "sample", "layer", "device_ns")) {
            if (args.has(key)) {
                annotations.put(key, args.get(key).longValue());
            }
        }
        return annotations;
    }

    @Spec("13.6")
    @Property(tries = 200)
    void theSlicesOfARowNest(@ForAll FixedTimeline timeline) throws IOException {
        Map<Row, List<JsonNode>> rows = new HashMap<>();
        ChromeTrace.of(timeline).of("X").forEach(slice -> rows.computeIfAbsent(Row.of(slice), row -> new ArrayList<>())
                .add(slice));

        for (List<JsonNode> slices : rows.values()) {
            assertThat(slices).isSortedAccordingTo(Comparator.comparing(slice -> ChromeTrace.ns(slice.get("ts"))));
            for (int i = 0; i < slices.size(); i++) {
                for (int j = i + 1; j < slices.size(); j++) {
                    assertNest(slices.get(i), slices.get(j));
                }
            }
        }
    }

    private static void assertNest(JsonNode earlier, JsonNode later) {
        long endNs = ChromeTrace.ns(earlier.get("ts")) + ChromeTrace.ns(earlier.get("dur"));
        long startNs = ChromeTrace.ns(later.get("ts"));
        assertThat(startNs >= endNs || startNs + ChromeTrace.ns(later.get("dur")) <= endNs)
                .as("%s and %s nest or lie apart", earlier, later)
                .isTrue();
    }

    @Property(tries = 100)
    void flowsComeBack(@ForAll FixedTimeline timeline) throws IOException {
        ChromeTrace trace = ChromeTrace.of(timeline);
        List<Event> spans = timeline.events().stream()
                .flatMap(List::stream)
                .filter(event -> event.kind() == Event.Kind.SPAN)
                .toList();

        assertThat(trace.of("s"))
                .extracting(flow -> flow.get("id").longValue())
                .containsExactlyInAnyOrderElementsOf(
                        spans.stream().map(Event::flowOut).filter(id -> id != 0).toList());
        assertThat(trace.of("f"))
                .extracting(flow -> flow.get("id").longValue())
                .containsExactlyInAnyOrderElementsOf(
                        spans.stream().map(Event::flowIn).filter(id -> id != 0).toList());
    }

    @Property(tries = 100)
    void instantsAndValuesComeBack(@ForAll FixedTimeline timeline) throws IOException {
        ChromeTrace trace = ChromeTrace.of(timeline);
        long firstNs = earliestNs(timeline);
        List<Event> events = timeline.events().stream().flatMap(List::stream).toList();

        assertThat(trace.of("i"))
                .extracting(instant -> ChromeTrace.ns(instant.get("ts")) + firstNs)
                .containsExactlyInAnyOrderElementsOf(starts(events, Event.Kind.INSTANT));
        assertThat(trace.of("C"))
                .extracting(value -> ChromeTrace.ns(value.get("ts")) + firstNs)
                .containsExactlyInAnyOrderElementsOf(starts(events, Event.Kind.VALUE));
        assertThat(trace.events)
                .allSatisfy(event ->
                        assertThat(event.get("ts").decimalValue().signum()).isNotNegative());
    }

    private static List<Long> starts(List<Event> events, Event.Kind kind) {
        return events.stream()
                .filter(event -> event.kind() == kind)
                .map(Event::startNs)
                .toList();
    }
}
