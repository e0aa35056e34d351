package org.brickprofiler.trace;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.TreeSet;
import org.brickprofiler.record.SpanCopy;
import org.brickprofiler.record.SpanKind;
import org.brickprofiler.record.SpanNames;

/** Puts copies of buffers together to tracks. One thread, once. */
final class TimelineBuilder {

    /** The category of the spans that are layers. */
    private static final String LAYER = "layer";

    /** The track of measurements whose end a synchronisation told: no thread of a Java program has this id. */
    private static final long DEFERRED_ID = 0;

    /** Lines of pushed timers have ids from here on, far from those of threads. */
    private static final long FIRST_PUSHED_ID = 1L << 31;

    /** Lines of streams of which only durations were known have ids from here on. */
    private static final long FIRST_LAID_ID = 1_000_000;

    private final NameIndex index = new NameIndex();
    private final Map<Long, HostParts> threads = new LinkedHashMap<>();
    private final List<LinePart> brickParts = new ArrayList<>();
    private final Map<Long, Line> hostLines = new TreeMap<>();
    private final List<Track> tracks = new ArrayList<>();
    private final List<TrackEvents> events = new ArrayList<>();

    private long dropped;

    /** What is known of a thread of the host. */
    private record HostParts(String name, List<LinePart> parts, Stages stages) {}

    // ---- collecting ----

    /** Adds the bricks of a profiler, whose boundaries make layers and steps. */
    void addBricks(SpanSource source) {
        int step = index.of("step", SpanName.STEP);
        for (LinePart part : parts(source.store().copies(), source.names())) {
            HostParts thread = addToThread(part);
            thread.stages().add(part.copy(), layer -> index.of("Layer " + layer, LAYER), step);
            brickParts.add(part);
        }
    }

    /** Adds spans and instants that lie on the lines of their threads. */
    void addToThreads(List<SpanCopy> copies, SpanNames names) {
        parts(copies, names).forEach(this::addToThread);
    }

    /** The copies must be older than this call: a name is there before its first span. */
    private List<LinePart> parts(List<SpanCopy> copies, SpanNames names) {
        int[] indices = index.of(names);
        return copies.stream().map(copy -> part(copy, indices)).toList();
    }

    private LinePart part(SpanCopy copy, int[] indices) {
        dropped += copy.dropped();
        return new LinePart(copy, indices);
    }

    private HostParts addToThread(LinePart part) {
        HostParts thread = threads.computeIfAbsent(
                part.copy().threadId(),
                id -> new HostParts(part.copy().threadName(), new ArrayList<>(), new Stages()));
        thread.parts().add(part);
        return thread;
    }

    // ---- tracks ----

    /** Makes the tracks of the host's threads, in the order in which they were met. */
    void endThreads() {
        threads.forEach((id, thread) -> {
            thread.stages().sort();
            Line line = new Line(thread.parts(), TimelineBuilder::isOfThread, thread.stages(), true);
            hostLines.put(id, line);
            addLine(new Track(Track.Kind.HOST_THREAD, thread.name(), Track.PROCESS, id), line);
        });
        Line deferred = new Line(brickParts, TimelineBuilder::isDeferred, new Stages(), true);
        addLine(new Track(Track.Kind.HOST_THREAD, "deferred measurements", Track.PROCESS, DEFERRED_ID), deferred);
    }

    private static boolean isOfThread(SpanCopy copy, int entry) {
        SpanKind kind = copy.kind(entry);
        return kind == SpanKind.SPAN || kind == SpanKind.INSTANT;
    }

    private static boolean isDeferred(SpanCopy copy, int entry) {
        return copy.kind(entry) == SpanKind.DEFERRED;
    }

    private static boolean isSpan(SpanCopy copy, int entry) {
        return copy.kind(entry) == SpanKind.SPAN;
    }

    private void addLine(Track track, TrackEvents line) {
        if (line.earliestNs() != Long.MAX_VALUE) {
            tracks.add(track);
            events.add(line);
        }
    }

    /** Adds the lines of timers that were closed by hand: the value of each span is the number of its line. */
    void addPushed(List<SpanCopy> copies, SpanNames names) {
        List<LinePart> parts = parts(copies, names);
        TreeSet<Long> numbers = new TreeSet<>();
        for (SpanCopy copy : copies) {
            for (int entry = 0; entry < copy.size(); entry++) {
                numbers.add(copy.value(entry));
            }
        }
        for (long number : numbers) {
            Line line = new Line(parts, (copy, entry) -> copy.value(entry) == number, new Stages(), false);
            addLine(
                    new Track(Track.Kind.HOST_THREAD, "timers " + number, Track.PROCESS, FIRST_PUSHED_ID + number),
                    line);
        }
    }

    /** Adds a track for each counter. */
    void addCounters(List<SpanCopy> copies, SpanNames names, Map<Integer, String> units) {
        units.forEach((key, unit) -> addLine(
                new Track(Track.Kind.COUNTER, names.name(key), Track.PROCESS, key, unit),
                new CounterEvents(copies, key)));
    }

    /** Adds the tracks of devices, each with its streams, once the threads' are there. */
    void addDevices(List<DeviceTrack> streams, SpanNames names) {
        List<SpanCopy> spans = streams.stream().map(DeviceTrack::copy).toList();
        List<SpanCopy> laid = streams.stream().map(DeviceTrack::laidCopy).toList();
        int[] indices = index.of(names);
        Map<Integer, Integer> deviceTracks = new LinkedHashMap<>();
        Flows flows = new Flows(hostLines);
        for (int i = 0; i < streams.size(); i++) {
            DeviceTrack stream = streams.get(i);
            int parent = deviceTracks.computeIfAbsent(stream.device().id(), id -> {
                tracks.add(new Track(Track.Kind.DEVICE, stream.device().name(), Track.PROCESS, id));
                events.add(TrackEvents.NONE);
                return tracks.size() - 1;
            });
            Line line = streamLine(part(spans.get(i), indices));
            flows.tie(spans.get(i), indices, line);
            addLine(new Track(Track.Kind.STREAM, stream.name(), parent, stream.streamId()), line);
            addLine(
                    new Track(
                            Track.Kind.STREAM,
                            stream.name() + DeviceTrack.LAID_END_TO_END,
                            parent,
                            FIRST_LAID_ID + stream.streamId()),
                    streamLine(part(laid.get(i), indices)));
        }
    }

    private static Line streamLine(LinePart part) {
        return new Line(List.of(part), TimelineBuilder::isSpan, new Stages(), true);
    }

    // ---- the whole ----

    Timeline build(TraceProcess process, List<DeviceTrack> streams, long monotonicNs, long unixNs) {
        TraceInfo info = new TraceInfo(
                process.name(),
                ProcessHandle.current().pid(),
                process.rank(),
                process.worldSize(),
                monotonicNs,
                unixNs,
                dropped,
                streams.isEmpty()
                        ? OptionalLong.empty()
                        : streams.stream().mapToLong(DeviceTrack::clockErrorNs).max(),
                streams.stream().map(DeviceTrack::device).distinct().toList());
        return new RecordedTimeline(info, index.names(), tracks, events);
    }
}
