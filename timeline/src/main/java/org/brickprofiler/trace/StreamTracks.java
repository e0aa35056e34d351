package org.brickprofiler.trace;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.LongPredicate;
import java.util.stream.LongStream;
import org.brickprofiler.internal.record.SpanSink;
import org.brickprofiler.trace.TraceInfo.Device;

/**
 * The tracks of all streams of devices: first the streams that an application added, with the application's numbers.
 * Profilers' spans on a stream of the same device and name are added to the same track. Other streams of profilers are
 * numbered from {@link #FIRST_STREAM} on, and their devices keep their numbers, unless a number is taken. One thread.
 */
final class StreamTracks {

    /** The number that CUDA's tools give the first stream of a process. Readers of traces interpret 0 as no stream. */
    private static final long FIRST_STREAM = 7;

    private final List<StreamTrack> tracks = new ArrayList<>();
    private final List<Device> devices = new ArrayList<>();

    /** The devices of the timeline by the devices as the profilers report them, whose numbers may differ. */
    private final Map<Device, Device> placed = new HashMap<>();

    /**
     * The track of a stream.
     *
     * @param parts its spans
     * @param laid the spans of which only the durations were known, on a track beside it
     */
    record StreamTrack(Device device, String name, long id, List<TrackPart> parts, List<TrackPart> laid) {}

    /** Adds a stream of an application. */
    void add(DeviceTrack stream, List<TrackPart> spans, List<TrackPart> laid) {
        if (!devices.contains(stream.device())) {
            devices.add(stream.device());
        }
        tracks.add(new StreamTrack(stream.device(), stream.name(), stream.streamId(), spans, laid));
    }

    /** Adds a stream that a profiler timed, after all streams of applications. */
    void add(ProfilerSpans.TimedStream stream, TrackPart spans) {
        SpanSink.Place place = stream.place();
        Device wanted = new Device(place.deviceIndex(), place.deviceName(), stream.backend(), OptionalLong.empty());
        Device device = placed.computeIfAbsent(wanted, this::place);
        trackOf(device, place).parts().add(spans);
    }

    private Device place(Device wanted) {
        Optional<Device> same = devices.stream()
                .filter(other -> other.id() == wanted.id()
                        && other.name().equals(wanted.name())
                        && other.backend() == wanted.backend())
                .findFirst();
        if (same.isPresent()) {
            return same.get();
        }
        long id = firstFree(wanted.id(), 0, number -> devices.stream().anyMatch(other -> other.id() == number));
        Device device = new Device(Math.toIntExact(id), wanted.name(), wanted.backend(), wanted.memoryBytes());
        devices.add(device);
        return device;
    }

    private StreamTrack trackOf(Device device, SpanSink.Place place) {
        List<StreamTrack> ofDevice = tracks.stream()
                .filter(track -> track.device().id() == device.id())
                .toList();
        return ofDevice.stream()
                .filter(track -> track.name().equals(place.name()))
                .findFirst()
                .orElseGet(() -> {
                    long id = firstFree(FIRST_STREAM + place.number(), FIRST_STREAM, number -> ofDevice.stream()
                            .anyMatch(track -> track.id() == number));
                    StreamTrack added = new StreamTrack(device, place.name(), id, new ArrayList<>(), List.of());
                    tracks.add(added);
                    return added;
                });
    }

    /** Returns {@code number} if it is free, otherwise the first free number from {@code from} on. */
    private static long firstFree(long number, long from, LongPredicate isTaken) {
        return isTaken.test(number)
                ? LongStream.iterate(from, free -> free + 1)
                        .filter(isTaken.negate())
                        .findFirst()
                        .orElseThrow()
                : number;
    }

    /** Returns the devices, in the order in which they were added. */
    List<Device> devices() {
        return devices;
    }

    /** Returns the tracks, in the order in which they were added. */
    List<StreamTrack> tracks() {
        return tracks;
    }
}
