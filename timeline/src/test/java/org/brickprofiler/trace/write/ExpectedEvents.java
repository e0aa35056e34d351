package org.brickprofiler.trace.write;

import java.nio.charset.CharsetEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.brickprofiler.trace.SpanName;

/** The events that a decoder must find in every format. */
final class ExpectedEvents {

    private ExpectedEvents() {}

    /** A span, distinguished by everything that both formats keep. */
    record Slice(int track, String name, String category, long startNs, long endNs, Map<String, Long> annotations) {}

    static List<Slice> slices(FixedTimeline timeline) {
        List<Slice> slices = new ArrayList<>();
        for (int track = 0; track < timeline.tracks().size(); track++) {
            for (Event event : timeline.events().get(track)) {
                if (event.kind() == Event.Kind.SPAN) {
                    SpanName name = timeline.names().get(event.name());
                    slices.add(new Slice(
                            track,
                            readable(name.name()),
                            readable(name.category()),
                            event.startNs(),
                            Math.max(event.startNs(), event.endNs()),
                            annotations(event)));
                }
            }
        }
        return slices;
    }

    private static Map<String, Long> annotations(Event event) {
        Map<String, Long> annotations = new HashMap<>();
        annotations.put("elements", event.elements());
        annotations.put("layer", (long) event.layer());
        annotations.put("device_ns", event.deviceNs());
        annotations.put("sample", event.isDeviceSample() ? 1L : -1L);
        annotations.values().removeIf(value -> value < 0);
        return annotations;
    }

    /** Half a surrogate pair is escaped; anything else is kept. */
    static String readable(String text) {
        CharsetEncoder utf8 = StandardCharsets.UTF_8.newEncoder();
        StringBuilder clean = new StringBuilder();
        for (int at = 0; at < text.length(); at = text.offsetByCodePoints(at, 1)) {
            String one = text.substring(at, text.offsetByCodePoints(at, 1));
            clean.append(utf8.canEncode(one) ? one : "\uFFFD" + String.format("%04x", (int) one.charAt(0)));
        }
        return clean.toString();
    }

    /** Returns by how much all times of a file are moved, ns. */
    static long shiftNs(FixedTimeline timeline) {
        long first = timeline.events().stream()
                .flatMap(List::stream)
                .mapToLong(Event::startNs)
                .min()
                .orElse(0);
        return Math.max(0, -Math.min(first, timeline.info().monotonicNs()));
    }
}
