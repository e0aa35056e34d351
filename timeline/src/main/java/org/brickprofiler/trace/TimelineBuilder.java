package org.brickprofiler.trace;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.brickprofiler.Schedule;
import org.brickprofiler.StepInfo;
import org.brickprofiler.internal.base.MergeSort;
import org.brickprofiler.internal.record.SpanContents;
import org.brickprofiler.internal.record.SpanCopy;
import org.brickprofiler.internal.record.SpanKind;
import org.brickprofiler.internal.record.SpanSink;
import org.brickprofiler.trace.StreamTracks.StreamTrack;

/**
 * Combines copies of buffers into tracks. Names are looked up after the copies are made, since a name exists before its
 * first span. One thread, once.
 */
final class TimelineBuilder {

    /** The id of the track of measurements that ended at a synchronisation: no thread of a Java program has this id. */
    private static final long DEFERRED_ID = 0;

    /** Added to the number of a track of pushed timers if a thread has the same number. */
    private static final long CLASH_STEP = 1_000_000;

    /** Added to the id of a stream for the track of its spans of which only the durations were known. */
    private static final long FIRST_LAID_ID = 1_000_000;

    /** The names of the phases of a run. */
    private static final SpanSink.Names PHASES = new SpanSink.Names() {

        private final List<Schedule.Stage> phases = List.of(Schedule.Stage.values());

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

    /** Returns the entries of a store that the timeline shows. */
    private final Function<SpanContents, List<SpanCopy>> copies;

    private final Map<Long, HostParts> threads = new LinkedHashMap<>();
    private final List<TrackPart> deferred = new ArrayList<>();
    private final Map<Long, SpanTrack> hostTracks = new TreeMap<>();
    private final StreamTracks streams = new StreamTracks();
    private final List<Track> tracks = new ArrayList<>();
    private final List<TrackEvents> events = new ArrayList<>();

    private long dropped;
    private long lastFlow;
    private OptionalLong clockErrorNs = OptionalLong.empty();
    private boolean hasNetTimes;
    private boolean isClockErrorKnown = true;

    /** The events of one track. Immutable once a timeline has them. */
    interface TrackEvents {

        /** No events. */
        TrackEvents NONE = new TrackEvents() {
            @Override
            public void replay(TimelineVisitor visitor) {
                // Nothing happened here.
            }

            @Override
            public long earliestNs() {
                return Long.MAX_VALUE;
            }
        };

        /** Passes the events to a visitor, in order. */
        void replay(TimelineVisitor visitor);

        /** Returns the beginning of the first event; {@link Long#MAX_VALUE} if there is none. */
        long earliestNs();
    }

    /** The data of one host thread. */
    private record HostParts(String name, List<TrackPart> parts, LayerSpans layers) {}

    /**
     * Begins a timeline.
     *
     * @param copies returns the entries of a store that it shows
     */
    TimelineBuilder(Function<SpanContents, List<SpanCopy>> copies) {
        this.copies = copies;
    }

    // ---- collecting ----

    /** Adds the bricks of a profiler, whose boundaries make layers and steps. */
    void addBricks(ProfilerSpans.Source source) {
        List<SpanCopy> shown = copies.apply(source.contents());
        int[] names = index.of(source.names());
        int step = index.of("step", SpanName.STEP);
        int[] steps = Arrays.stream(StepInfo.Phase.values())
                .mapToInt(phase -> index.of(phase.displayName(), SpanName.STEP))
                .toArray();
        List<SpanCopy> phases = source.contents().phases();
        if (!phases.isEmpty()) {
            addToThreads(phases, PHASES);
        }
        for (SpanCopy copy : counted(shown)) {
            HostParts thread = thread(copy.threadId(), copy.threadName());
            TrackPart part = TrackPart.ofThread(copy, names);
            thread.parts().add(part);
            thread.layers().add(part, layer -> index.of("Layer " + layer, SpanName.LAYER), step, steps);
            deferred.add(TrackPart.deferred(copy, names));
        }
    }

    /** Adds spans and instants that lie on the tracks of the threads that wrote them. */
    void addToThreads(List<SpanCopy> copies, SpanSink.Names source) {
        int[] names = index.of(source);
        for (SpanCopy copy : counted(copies)) {
            thread(copy.threadId(), copy.threadName()).parts().add(TrackPart.ofThread(copy, names));
        }
    }

    /** Adds spans and instants whose value is the id of the thread on whose track they lie. */
    void addToOtherThreads(List<SpanCopy> copies, SpanSink.Names source) {
        numbered(
                copies, source, (id, part) -> thread(id, "thread " + id).parts().add(part));
    }

    /** Counts lost entries of removed sources. */
    void addLost(long entries) {
        dropped += entries;
    }

    private List<SpanCopy> counted(List<SpanCopy> copies) {
        copies.forEach(copy -> dropped += copy.dropped());
        return copies;
    }

    private HostParts thread(long id, String name) {
        return threads.computeIfAbsent(id, ignored -> new HostParts(name, new ArrayList<>(), new LayerSpans()));
    }

    /** Receives the parts of numbered tracks. */
    private interface NumberedParts {
        void add(long number, TrackPart part);
    }

    private void numbered(List<SpanCopy> copies, SpanSink.Names source, NumberedParts parts) {
        int[] names = index.of(source);
        for (SpanCopy copy : counted(copies)) {
            Set<Long> numbers = new TreeSet<>();
            for (int entry = 0; entry < copy.size(); entry++) {
                numbers.add(copy.value(entry));
            }
            numbers.forEach(number -> parts.add(number, TrackPart.numbered(copy, names, number)));
        }
    }

    // ---- tracks ----

    /** Makes the tracks of the host's threads, in the order in which they were added. */
    void endThreads() {
        threads.forEach((id, thread) -> {
            SpanTrack spans = new SpanTrack(thread.parts(), thread.layers().inOrder());
            hostTracks.put(id, spans);
            addTrack(new Track(Track.Kind.HOST_THREAD, thread.name(), Track.PROCESS, id), spans);
        });
        addTrack(
                new Track(Track.Kind.HOST_THREAD, "deferred measurements", Track.PROCESS, DEFERRED_ID),
                new SpanTrack(deferred, List.of()));
    }

    private void addTrack(Track track, TrackEvents trackEvents) {
        if (trackEvents.earliestNs() != Long.MAX_VALUE) {
            tracks.add(track);
            events.add(trackEvents);
        }
    }

    /**
     * Adds the tracks of pushed timers, after the tracks of threads. The value of each span is the number of its track.
     */
    void addPushed(List<SpanCopy> copies, SpanSink.Names source) {
        TreeMap<Long, List<TrackPart>> timers = new TreeMap<>();
        numbered(copies, source, (number, part) -> timers.computeIfAbsent(number, ignored -> new ArrayList<>())
                .add(part));
        timers.forEach((number, parts) -> addTrack(
                new Track(Track.Kind.HOST_THREAD, "timers " + number, Track.PROCESS, freeId(number)),
                new SpanTrack(parts, List.of())));
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
    void addCounters(List<SpanCopy> copies, SpanSink.Names names, Map<Integer, String> units) {
        units.forEach((key, unit) -> addTrack(
                new Track(Track.Kind.COUNTER, names.name(key), Track.PROCESS, key, unit),
                new CounterEvents(copies, key)));
    }

    /** Adds the streams that applications recorded. */
    void addDevices(List<DeviceTrack> devices, SpanSink.Names source, SpanContents store) {
        int[] names = index.of(source);
        List<SpanCopy> all = copies.apply(store);
        for (DeviceTrack device : devices) {
            streams.add(device, parts(all, device.spans(), names), parts(all, device.laid(), names));
            atClockError(OptionalLong.of(device.clockErrorNs()));
        }
    }

    private List<TrackPart> parts(List<SpanCopy> all, Object buffer, int[] names) {
        List<SpanCopy> ofBuffer =
                all.stream().filter(copy -> copy.buffer() == buffer).toList();
        List<TrackPart> parts = new ArrayList<>();
        counted(ofBuffer).forEach(copy -> parts.add(TrackPart.ofThread(copy, names)));
        return parts;
    }

    /** Adds the streams that profilers timed, after the streams of applications. A stream without spans is left out. */
    void addTimed(List<ProfilerSpans.TimedStream> timed) {
        for (ProfilerSpans.TimedStream stream : timed) {
            dropped += stream.withoutPlace();
            for (SpanCopy spans : counted(stream.copies(copies))) {
                if (spans.size() > 0) {
                    streams.add(stream, TrackPart.ofThread(spans, index.of(stream.names())));
                    atClockError(stream.clockErrorNs());
                    hasNetTimes |= stream.isNetKnown();
                }
            }
        }
    }

    private void atClockError(OptionalLong ns) {
        isClockErrorKnown &= ns.isPresent();
        clockErrorNs = OptionalLong.of(Math.max(ns.orElse(0), clockErrorNs.orElse(0)));
    }

    /** Makes the tracks of devices, each with its streams, after the tracks of threads. */
    void endDevices() {
        Map<Integer, Integer> deviceTracks = new LinkedHashMap<>();
        for (StreamTrack stream : streams.tracks()) {
            int parent = deviceTracks.computeIfAbsent(stream.device().id(), id -> {
                tracks.add(new Track(Track.Kind.DEVICE, stream.device().name(), Track.PROCESS, id));
                events.add(TrackEvents.NONE);
                return tracks.size() - 1;
            });
            SpanTrack spans = new SpanTrack(stream.parts(), List.of());
            tieToLaunches(spans);
            addTrack(new Track(Track.Kind.STREAM, stream.name(), parent, stream.id()), spans);
            addTrack(
                    new Track(
                            Track.Kind.STREAM,
                            stream.name() + DeviceTrack.LAID_END_TO_END,
                            parent,
                            FIRST_LAID_ID + stream.id()),
                    new SpanTrack(stream.laid(), List.of()));
        }
    }

    /** Connects each span of a stream to the host's span that launched it, if that is known and still held. */
    private void tieToLaunches(SpanTrack stream) {
        for (int part = 0; part < stream.parts().size(); part++) {
            SpanCopy copy = stream.parts().get(part).copy();
            for (int entry = 1; entry < copy.size(); entry++) {
                // A launch follows its span.
                SpanTrack host = copy.kind(entry) == SpanKind.LAUNCH ? hostTracks.get(copy.value(entry)) : null;
                if (host != null) {
                    tie(stream, part, entry - 1, host, copy.startNs(entry));
                }
            }
        }
    }

    private void tie(SpanTrack stream, int part, int span, SpanTrack host, long launchNs) {
        SpanCopy copy = stream.parts().get(part).copy();
        SpanKind launch = copy.kind(span) == SpanKind.DEVICE_SAMPLE ? SpanKind.ENQUEUED : SpanKind.SPAN;
        int launcher = host.launcher(launch, launchNs, stream.parts().get(part).name(span));
        if (launcher >= 0) {
            lastFlow++;
            host.flowOut(launcher, lastFlow, copy.endNs(span) - copy.startNs(span));
            stream.flowIn(part, span, lastFlow);
        }
    }

    // ---- the whole ----

    Timeline build(
            TraceRecorder.Builder.RunProcess process, long monotonicNs, long unixNs, Optional<SlowSteps> slowSteps) {
        TraceInfo info = TraceInfo.builder(
                        process.name(), ProcessHandle.current().pid())
                .rank(process.rank(), process.worldSize())
                .moment(monotonicNs, unixNs)
                .droppedSpans(dropped)
                .clockErrorNs(isClockErrorKnown ? clockErrorNs : OptionalLong.empty())
                .netTimes(hasNetTimes)
                .devices(streams.devices())
                .slowSteps(slowSteps)
                .build();
        return new RecordedTimeline(info, List.copyOf(index.names), List.copyOf(tracks), List.copyOf(events));
    }

    /** A timeline of recorded tracks; the events of a track have the same index as the track. Immutable. */
    private record RecordedTimeline(TraceInfo info, List<SpanName> names, List<Track> tracks, List<TrackEvents> events)
            implements Timeline {

        @Override
        public void replay(int track, TimelineVisitor visitor) {
            events.get(track).replay(visitor);
        }

        @Override
        public long earliestNs() {
            long first =
                    events.stream().mapToLong(TrackEvents::earliestNs).min().orElse(Long.MAX_VALUE);
            return first == Long.MAX_VALUE ? info.monotonicNs() : first;
        }
    }

    /** Gives each name of the timeline its index. */
    private static final class NameIndex {

        private final List<SpanName> names = new ArrayList<>();
        private final Map<SpanName, Integer> places = new HashMap<>();

        int of(String name, String category) {
            return places.computeIfAbsent(new SpanName(name, category), added -> {
                names.add(added);
                return names.size() - 1;
            });
        }

        /** Returns the index of each key in use. */
        int[] of(SpanSink.Names source) {
            int[] indices = new int[source.size()];
            for (int key = 0; key < indices.length; key++) {
                indices[key] = of(source.name(key), source.category(key));
            }
            return indices;
        }
    }

    /** The values of one counter, whichever threads set it. */
    private static final class CounterEvents implements TrackEvents {

        private final long[] timesNs;
        private final double[] values;
        private final int[] order;

        CounterEvents(List<SpanCopy> copies, int key) {
            LongStream.Builder starts = LongStream.builder();
            DoubleStream.Builder reached = DoubleStream.builder();
            for (SpanCopy copy : copies) {
                for (int entry = 0; entry < copy.size(); entry++) {
                    if (copy.kind(entry) == SpanKind.COUNTER && copy.key(entry) == key) {
                        starts.add(copy.startNs(entry));
                        reached.add(Double.longBitsToDouble(copy.value(entry)));
                    }
                }
            }
            timesNs = starts.build().toArray();
            values = reached.build().toArray();
            order = IntStream.range(0, timesNs.length).toArray();
            MergeSort.sort(order, (a, b) -> {
                int byTime = Long.compare(timesNs[a], timesNs[b]);
                return byTime != 0 ? byTime : Integer.compare(a, b);
            });
        }

        @Override
        public void replay(TimelineVisitor visitor) {
            for (int i : order) {
                visitor.counter(timesNs[i], values[i]);
            }
        }

        @Override
        public long earliestNs() {
            return order.length == 0 ? Long.MAX_VALUE : timesNs[order[0]];
        }
    }
}
