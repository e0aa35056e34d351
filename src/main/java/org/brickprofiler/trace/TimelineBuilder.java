package org.brickprofiler.trace;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.brickprofiler.Schedule;
import org.brickprofiler.record.SpanCopy;
import org.brickprofiler.record.SpanNames;
import org.brickprofiler.trace.StreamLines.StreamLine;

/**
 * Puts copies of buffers together to tracks. Names are looked up after the copies were made: a name is there before its
 * first span. One thread, once.
 */
final class TimelineBuilder {

    /** The track of measurements whose end a synchronisation told: no thread of a Java program has this id. */
    private static final long DEFERRED_ID = 0;

    /** Added to the number of a line of pushed timers that is also a thread's. */
    private static final long CLASH_STEP = 1_000_000;

    /** Lines of streams of which only durations were known have ids from here on. */
    private static final long FIRST_LAID_ID = 1_000_000;

    /** What the phases of a run are called. */
    private static final SpanNames PHASES = new SpanNames() {

        private final List<Schedule.Phase> phases = List.of(Schedule.Phase.values());

        @Override
        public int size() {
            return phases.size();
        }

        @Override
        public String name(int key) {
            return switch (phases.get(key)) {
                case WARMUP -> SpanName.WARMUP;
                case ACTIVE -> "active";
                case SKIP_FIRST, WAIT, DONE -> "not recorded";
            };
        }

        @Override
        public String category(int key) {
            return SpanName.PHASE;
        }
    };

    private final NameIndex index = new NameIndex();
    private final Map<Long, HostParts> threads = new LinkedHashMap<>();
    private final List<LinePart> deferred = new ArrayList<>();
    private final Map<Long, Line> hostLines = new TreeMap<>();
    private final StreamLines streams = new StreamLines();
    private final List<Track> tracks = new ArrayList<>();
    private final List<TrackEvents> events = new ArrayList<>();

    private long dropped;
    private OptionalLong clockErrorNs = OptionalLong.empty();

    /** What is known of a thread of the host. */
    private record HostParts(String name, List<LinePart> parts, Stages stages) {}

    // ---- collecting ----

    /** Adds the bricks of a profiler, whose boundaries make layers and steps. */
    void addBricks(ProfilerSpans.Source source) {
        List<SpanCopy> copies = source.contents().copies();
        int[] names = index.of(source.names());
        int step = index.of("step", SpanName.STEP);
        List<SpanCopy> phases = source.contents().phases();
        if (!phases.isEmpty()) {
            addToThreads(phases, PHASES);
        }
        for (SpanCopy copy : counted(copies)) {
            HostParts thread = thread(copy.threadId(), copy.threadName());
            LinePart part = LinePart.ofThread(copy, names);
            thread.parts().add(part);
            thread.stages().add(part, layer -> index.of("Layer " + layer, SpanName.LAYER), step);
            deferred.add(LinePart.deferred(copy, names));
        }
    }

    /** Adds spans and instants that lie on the lines of the threads that wrote them. */
    void addToThreads(List<SpanCopy> copies, SpanNames source) {
        int[] names = index.of(source);
        for (SpanCopy copy : counted(copies)) {
            thread(copy.threadId(), copy.threadName()).parts().add(LinePart.ofThread(copy, names));
        }
    }

    /** Adds spans and instants whose value is the id of the thread on whose line they lie. */
    void addToOtherThreads(List<SpanCopy> copies, SpanNames source) {
        int[] names = index.of(source);
        for (SpanCopy copy : counted(copies)) {
            for (long id : values(copy)) {
                thread(id, "thread " + id).parts().add(LinePart.numbered(copy, names, id));
            }
        }
    }

    /** Counts entries that were lost with nothing left to say so. */
    void addLost(long entries) {
        dropped += entries;
    }

    private List<SpanCopy> counted(List<SpanCopy> copies) {
        copies.forEach(copy -> dropped += copy.dropped());
        return copies;
    }

    private HostParts thread(long id, String name) {
        return threads.computeIfAbsent(id, ignored -> new HostParts(name, new ArrayList<>(), new Stages()));
    }

    private static Set<Long> values(SpanCopy copy) {
        Set<Long> values = new TreeSet<>();
        for (int entry = 0; entry < copy.size(); entry++) {
            values.add(copy.value(entry));
        }
        return values;
    }

    // ---- tracks ----

    /** Makes the tracks of the host's threads, in the order in which they were met. */
    void endThreads() {
        threads.forEach((id, thread) -> {
            thread.stages().sort();
            Line line = new Line(thread.parts(), thread.stages());
            hostLines.put(id, line);
            addLine(new Track(Track.Kind.HOST_THREAD, thread.name(), Track.PROCESS, id), line);
        });
        addLine(
                new Track(Track.Kind.HOST_THREAD, "deferred measurements", Track.PROCESS, DEFERRED_ID),
                new Line(deferred, new Stages()));
    }

    private void addLine(Track track, TrackEvents line) {
        if (line.earliestNs() != Long.MAX_VALUE) {
            tracks.add(track);
            events.add(line);
        }
    }

    /**
     * Adds the lines of timers that were closed by hand, once the threads' are there: the value of each span is the
     * number of its line.
     */
    void addPushed(List<SpanCopy> copies, SpanNames source) {
        int[] names = index.of(source);
        TreeMap<Long, List<LinePart>> lines = new TreeMap<>();
        for (SpanCopy copy : counted(copies)) {
            for (long number : values(copy)) {
                lines.computeIfAbsent(number, ignored -> new ArrayList<>())
                        .add(LinePart.numbered(copy, names, number));
            }
        }
        lines.forEach((number, parts) -> addLine(
                new Track(Track.Kind.HOST_THREAD, "timers " + number, Track.PROCESS, freeId(number)),
                new Line(parts, new Stages())));
    }

    private long freeId(long number) {
        long id = number;
        while (isTaken(id)) {
            id += CLASH_STEP;
        }
        return id;
    }

    private boolean isTaken(long id) {
        return tracks.stream().anyMatch(track -> track.id() == id);
    }

    /** Adds a track for each counter. */
    void addCounters(List<SpanCopy> copies, SpanNames names, Map<Integer, String> units) {
        units.forEach((key, unit) -> addLine(
                new Track(Track.Kind.COUNTER, names.name(key), Track.PROCESS, key, unit),
                new CounterEvents(copies, key)));
    }

    /** Adds what was told by hand of streams of devices. */
    void addDevices(List<DeviceTrack> told, SpanNames source) {
        List<SpanCopy> spans = counted(told.stream().map(DeviceTrack::copy).toList());
        List<SpanCopy> laid = counted(told.stream().map(DeviceTrack::laidCopy).toList());
        int[] names = index.of(source);
        for (int i = 0; i < told.size(); i++) {
            streams.add(
                    told.get(i), LinePart.ofThread(spans.get(i), names), LinePart.ofThread(laid.get(i), names));
            atClockError(told.get(i).clockErrorNs());
        }
    }

    /** Adds what profilers timed on streams of devices, after what was told by hand. A stream without any is left out. */
    void addTimed(List<ProfilerSpans.TimedStream> timed) {
        for (ProfilerSpans.TimedStream stream : timed) {
            dropped += stream.withoutPlace();
            for (SpanCopy spans : counted(stream.copies())) {
                if (spans.size() > 0) {
                    streams.add(stream, LinePart.ofThread(spans, index.of(stream.names())));
                    atClockError(stream.clockErrorNs());
                }
            }
        }
    }

    private void atClockError(long ns) {
        clockErrorNs = OptionalLong.of(Math.max(ns, clockErrorNs.orElse(0)));
    }

    /** Makes the tracks of devices, each with its streams, once the threads' are there. */
    void endDevices() {
        Map<Integer, Integer> deviceTracks = new LinkedHashMap<>();
        Flows flows = new Flows(hostLines);
        for (StreamLine stream : streams.lines()) {
            int parent = deviceTracks.computeIfAbsent(stream.device().id(), id -> {
                tracks.add(new Track(Track.Kind.DEVICE, stream.device().name(), Track.PROCESS, id));
                events.add(TrackEvents.NONE);
                return tracks.size() - 1;
            });
            Line line = new Line(stream.parts(), new Stages());
            flows.tie(line);
            addLine(new Track(Track.Kind.STREAM, stream.name(), parent, stream.id()), line);
            addLine(
                    new Track(
                            Track.Kind.STREAM,
                            stream.name() + DeviceTrack.LAID_END_TO_END,
                            parent,
                            FIRST_LAID_ID + stream.id()),
                    new Line(stream.laid(), new Stages()));
        }
    }

    // ---- the whole ----

    Timeline build(TraceRecorderBuilder.Process process, long monotonicNs, long unixNs) {
        TraceInfo info = new TraceInfo(
                process.name(),
                ProcessHandle.current().pid(),
                process.rank(),
                process.worldSize(),
                monotonicNs,
                unixNs,
                dropped,
                clockErrorNs,
                streams.devices());
        return new RecordedTimeline(info, index.names(), tracks, events);
    }
}
