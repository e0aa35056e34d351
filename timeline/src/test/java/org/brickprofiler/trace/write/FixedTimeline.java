package org.brickprofiler.trace.write;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.stream.IntStream;
import org.brickprofiler.Backend;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.trace.Span;
import org.brickprofiler.trace.SpanName;
import org.brickprofiler.trace.Timeline;
import org.brickprofiler.trace.TimelineVisitor;
import org.brickprofiler.trace.TraceInfo;
import org.brickprofiler.trace.TraceInfo.Device;
import org.brickprofiler.trace.Track;

/** A timeline of events that a test chose, sorted as the contract asks. */
record FixedTimeline(TraceInfo info, List<SpanName> names, List<Track> tracks, List<List<Event>> events)
        implements Timeline {

    private static final Comparator<Event> BY_START_LONGER_FIRST =
            Comparator.comparingLong(Event::startNs).thenComparing(Event::endNs, Comparator.reverseOrder());

    FixedTimeline {
        events = events.stream()
                .map(line -> line.stream().sorted(BY_START_LONGER_FIRST).toList())
                .toList();
    }

    /** One thread, and names A, B, C of the category Other. */
    static FixedTimeline ofOneThread(Event... events) {
        return new FixedTimeline(
                someInfo(),
                List.of(new SpanName("A", "Other"), new SpanName("B", "Other"), new SpanName("C", "Other")),
                List.of(new Track(Track.Kind.HOST_THREAD, "main", Track.PROCESS, 7)),
                List.of(List.of(events)));
    }

    static TraceInfo someInfo() {
        return someInfo(OptionalInt.empty(), 1, 0, List.of());
    }

    static TraceInfo someInfo(OptionalInt rank, int worldSize, long droppedSpans, List<Device> devices) {
        return TraceInfo.builder("model", 4711)
                .rank(rank, worldSize)
                .moment(1_000, 1_700_000_000_000_000_000L)
                .droppedSpans(droppedSpans)
                .devices(devices)
                .build();
    }

    static Device device(int id, Backend backend) {
        return new Device(id, "device " + id, backend, OptionalLong.empty());
    }

    FixedTimeline with(TraceInfo other) {
        return new FixedTimeline(other, names, tracks, events);
    }

    /**
     * The same timeline; each flow leaves one span and ends in one other, as {@link org.brickprofiler.trace.Span}
     * requires.
     */
    FixedTimeline withFlowsOfTwoSpans() {
        Set<Long> left = new HashSet<>();
        Set<Long> ended = new HashSet<>();
        List<List<Event>> lines = events.stream()
                .map(line -> line.stream()
                        .map(event -> {
                            long out = left.add(event.flowOut()) ? event.flowOut() : 0;
                            boolean isOther = event.flowIn() != out && ended.add(event.flowIn());
                            return event.flow(out, isOther ? event.flowIn() : 0);
                        })
                        .toList())
                .toList();
        return new FixedTimeline(info, names, tracks, lines);
    }

    /** The same timeline, of which only steps and samples have phases, as {@link Span.StatedPhase} requires. */
    FixedTimeline withPhasesOfStepsAndSamples() {
        return mapped((track, event) -> {
            boolean isStep = names.get(event.name()).category().equals(SpanName.STEP);
            boolean isUnknown = event.phase() == Span.StatedPhase.UNKNOWN;
            return isSample(track, event) || (isStep && !isUnknown) ? event : event.inPhase(Span.StatedPhase.NONE);
        });
    }

    /** The same timeline, of which the phases of samples are unknown. */
    FixedTimeline withSamplesOfUnknownPhases() {
        return mapped((track, event) -> isSample(track, event) ? event.inPhase(Span.StatedPhase.UNKNOWN) : event);
    }

    /** Whether an event is a sample of a brick. */
    boolean isSample(Track track, Event event) {
        String category = names.get(event.name()).category();
        boolean isBrick = Arrays.stream(BrickCategory.values())
                .anyMatch(each -> each.displayName().equals(category));
        boolean onHost = track.kind() == Track.Kind.HOST_THREAD;
        return event.kind() == Event.Kind.SPAN
                && isBrick
                && event.elements() >= 0
                && (onHost || event.isDeviceSample());
    }

    private FixedTimeline mapped(BiFunction<Track, Event, Event> change) {
        List<List<Event>> lines = IntStream.range(0, tracks.size())
                .mapToObj(track -> events.get(track).stream()
                        .map(event -> change.apply(tracks.get(track), event))
                        .toList())
                .toList();
        return new FixedTimeline(info, names, tracks, lines);
    }

    @Override
    public void replay(int track, TimelineVisitor visitor) {
        for (Event event : events.get(track)) {
            switch (event.kind()) {
                case SPAN -> visitor.span(event);
                case INSTANT -> visitor.instant(event.startNs(), event.name());
                case VALUE -> visitor.counter(event.startNs(), event.value());
            }
        }
    }

    /** A step on a thread that launches kernels on a GPU, with a counter: everything there is. */
    static FixedTimeline sample() {
        List<SpanName> names = List.of(
                new SpanName("step", SpanName.STEP),
                new SpanName("RmsNorm", "Norm"),
                new SpanName("Qkv \"proj\"\n\u00e9\ud83d\ude00", "Attention"),
                new SpanName("HostToDevice", "Transfer"),
                new SpanName("request done", "Other"));
        List<Track> tracks = List.of(
                new Track(Track.Kind.HOST_THREAD, "main", Track.PROCESS, 4711),
                new Track(Track.Kind.HOST_THREAD, "worker-1", Track.PROCESS, 4712),
                new Track(Track.Kind.DEVICE, "A GPU", Track.PROCESS, 0),
                new Track(Track.Kind.STREAM, "stream 7", 2, 7),
                new Track(Track.Kind.STREAM, "stream 8", 2, 8),
                new Track(Track.Kind.COUNTER, "memory", 2, 0, "bytes"),
                new Track(Track.Kind.COUNTER, "temperature", Track.PROCESS, 0, "degrees"));
        List<Event> main = new ArrayList<>(List.of(
                Event.span(10_000, 90_000, 0),
                Event.span(10_000, 20_000, 1).of(1, 0, -1).flow(11, 0),
                Event.span(20_000, 30_001, 2).of(1, 0, 12_345).flow(12, 0),
                Event.span(30_001, 30_001, 1).of(0, 1, -1),
                Event.instant(90_000, 4),
                Event.span(90_000, 100_000, 0)));
        List<Event> worker = List.of(Event.span(15_000, 25_000, 1), Event.span(20_000, 35_000, 1));
        List<Event> seven = List.of(
                Event.span(21_000, 29_500, 1).of(1, 0, 8_500).flow(0, 11),
                Event.span(29_500, 41_845, 2).of(1, 0, 12_345).flow(0, 12));
        List<Event> eight = List.of(Event.span(15_000, 16_000, 3).of(4096, -1, 1_000));
        return new FixedTimeline(
                TraceInfo.builder("decode", 4711)
                        .rank(OptionalInt.of(3), 8)
                        .moment(5_000, 1_700_000_000_000_005_000L)
                        .droppedSpans(42)
                        .clockErrorNs(OptionalLong.of(250))
                        .devices(List.of(new Device(0, "A GPU", Backend.CUDA, OptionalLong.of(80L << 30))))
                        .build(),
                names,
                tracks,
                List.of(
                        main,
                        worker,
                        List.of(),
                        seven,
                        eight,
                        List.of(Event.value(10_000, 1 << 20), Event.value(50_000, 3 << 20)),
                        List.of(Event.value(12_000, 61.5), Event.value(60_000, -1))));
    }
}
