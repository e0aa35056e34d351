package org.brickprofiler.trace.write;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.OptionalLong;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;
import net.jqwik.api.domains.DomainContextBase;
import org.brickprofiler.Backend;
import org.brickprofiler.trace.Span;
import org.brickprofiler.trace.SpanName;
import org.brickprofiler.trace.TraceInfo;
import org.brickprofiler.trace.TraceInfo.Device;
import org.brickprofiler.trace.Track;

/**
 * Random timelines. Times lie close together, so that spans begin and end at the same moment, contain each other and
 * overlap; they lie about 0, or in the range of a computer's clock. Numbers of threads and streams repeat; names are
 * anything.
 */
final class Timelines extends DomainContextBase {

    private static final int NAMES = 5;

    @Provide
    Arbitrary<FixedTimeline> timelines() {
        return Combinators.combine(
                        infos(),
                        names(),
                        tracks(),
                        Arbitraries.of(0L, -15L, 1_000L, 86_400_000_000_000L),
                        Arbitraries.of(1L, 1_000L, 30_000_000_000L),
                        events().list().ofMaxSize(14).list().ofSize(6))
                .as((info, names, tracks, firstNs, unitNs, events) -> new FixedTimeline(
                                info, names, tracks, placed(tracks, events, firstNs, unitNs))
                        .withPhasesOfStepsAndSamples())
                .withoutEdgeCases();
    }

    private static Arbitrary<TraceInfo> infos() {
        return Combinators.combine(
                        texts(),
                        Arbitraries.longs().between(1, 3),
                        Arbitraries.integers().between(0, 7).optional(0.7),
                        Arbitraries.longs().between(-20, 2_000),
                        Arbitraries.longs().between(0, 1L << 60),
                        Arbitraries.longs().between(0, 2),
                        Arbitraries.longs().between(0, 1_000).optional(0.5),
                        Arbitraries.of(Backend.class))
                .as((name, pid, rank, monotonicNs, unixNs, dropped, errorNs, backend) -> TraceInfo.builder(name, pid)
                        .rank(rank.map(OptionalInt::of).orElseGet(OptionalInt::empty), 8)
                        .moment(monotonicNs, unixNs)
                        .droppedSpans(dropped)
                        .clockErrorNs(errorNs.map(OptionalLong::of).orElseGet(OptionalLong::empty))
                        .netTimes(unixNs % 2 == 1)
                        .devices(List.of(new Device(1, name, backend, OptionalLong.empty())))
                        .build());
    }

    private static Arbitrary<List<SpanName>> names() {
        return Combinators.combine(
                        texts(), Arbitraries.of("Norm", "Transfer", SpanName.STEP, "", "a \"category\"\n\ud800"))
                .as(SpanName::new)
                .list()
                .ofSize(NAMES);
    }

    /** All contents of strings: quotes, control characters, halves of surrogate pairs. */
    private static Arbitrary<String> texts() {
        return Arbitraries.oneOf(
                Arbitraries.strings().all().ofMaxLength(12),
                Arbitraries.strings()
                        .withChars('"', '\\', '\n', '\0', '\u001f', '\u007f', '\ud800', '\udc00', '\ud83d', '\ude00')
                        .ofMaxLength(6));
    }

    /** Threads, a device, its streams and counters; numbers repeat, names do not. */
    private static Arbitrary<List<Track>> tracks() {
        return Combinators.combine(
                        texts(), Arbitraries.longs().between(-1, 2).list().ofSize(6))
                .as((text, ids) -> List.of(
                        new Track(Track.Kind.HOST_THREAD, "0 " + text, Track.PROCESS, ids.get(0)),
                        new Track(Track.Kind.DEVICE, "1 " + text, Track.PROCESS, 1),
                        new Track(Track.Kind.STREAM, "2 " + text, 1, Math.abs(ids.get(2))),
                        new Track(Track.Kind.HOST_THREAD, "3 " + text, Track.PROCESS, ids.get(3)),
                        new Track(Track.Kind.STREAM, "4 " + text, 1, Math.abs(ids.get(4))),
                        new Track(Track.Kind.COUNTER, "5 " + text, 1, 0, text)));
    }

    private static Arbitrary<Event> events() {
        Arbitrary<Long> known = Arbitraries.longs().between(-1, 200);
        Arbitrary<Event> spans = Combinators.combine(
                        Arbitraries.longs().between(0, 20),
                        Arbitraries.longs().between(-1, 12),
                        Arbitraries.integers().between(0, NAMES - 1),
                        known,
                        known,
                        Arbitraries.longs().between(-1, 1L << 50),
                        Arbitraries.longs().between(0, 4),
                        Arbitraries.longs().between(0, 4))
                .as((start, length, name, elements, layer, deviceNs, out, in) -> Event.span(start, start + length, name)
                        .of(elements, layer.intValue(), deviceNs)
                        .flow(out, in));
        Arbitrary<Event> inPhases = Combinators.combine(spans, Arbitraries.of(Span.StatedPhase.class))
                .as(Event::inPhase);
        Arbitrary<Event> samples = inPhases.filter(span -> span.elements() >= 0).map(Event::timedByDevice);
        Arbitrary<Event> instants = Combinators.combine(
                        Arbitraries.longs().between(0, 20),
                        Arbitraries.integers().between(0, NAMES - 1))
                .as(Event::instant);
        return Arbitraries.frequencyOf(Tuple.of(8, inPhases), Tuple.of(2, samples), Tuple.of(1, instants));
    }

    private static List<List<Event>> placed(List<Track> tracks, List<List<Event>> events, long firstNs, long unitNs) {
        List<List<Event>> placed = new ArrayList<>();
        for (int track = 0; track < tracks.size(); track++) {
            boolean counter = tracks.get(track).kind() == Track.Kind.COUNTER;
            placed.add(events.get(track).stream()
                    .map(event -> event.movedTo(firstNs + event.startNs() * unitNs, firstNs + event.endNs() * unitNs))
                    .map(event -> counter ? Event.value(event.startNs(), event.elements() / 4.0) : event)
                    .toList());
        }
        return placed;
    }
}
