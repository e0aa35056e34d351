package org.brickprofiler.trace;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.LongPredicate;
import java.util.stream.LongStream;
import org.brickprofiler.record.StreamPlace;

/**
 * The lines of all streams of devices: first those that were told by hand, with the numbers that they were given. What
 * profilers timed on streams of the same device and name lies on the same line; other streams and devices of profilers
 * keep their numbers where these are free. One thread.
 */
final class StreamLines {

    private final List<StreamLine> lines = new ArrayList<>();
    private final List<DeviceInfo> devices = new ArrayList<>();

    /** Where the devices of profilers are, by what they would be called if nobody else had their number. */
    private final Map<DeviceInfo, DeviceInfo> placed = new HashMap<>();

    /**
     * The line of a stream.
     *
     * @param parts what lies on it
     * @param laid what lies on a line beside it, where only durations were known
     */
    record StreamLine(DeviceInfo device, String name, long id, List<LinePart> parts, List<LinePart> laid) {}

    /** Adds a stream that was told by hand. */
    void add(DeviceTrack stream, LinePart spans, LinePart laid) {
        if (!devices.contains(stream.device())) {
            devices.add(stream.device());
        }
        lines.add(new StreamLine(
                stream.device(),
                stream.name(),
                stream.streamId(),
                new ArrayList<>(List.of(spans)),
                List.of(laid)));
    }

    /** Adds a stream that a profiler timed, once those told by hand are there. */
    void add(ProfilerSpans.TimedStream stream, LinePart spans) {
        StreamPlace place = stream.place();
        DeviceInfo asTold =
                new DeviceInfo(place.deviceIndex(), place.deviceName(), stream.backend(), OptionalLong.empty());
        DeviceInfo device = placed.computeIfAbsent(asTold, this::place);
        lineOf(device, place).parts().add(spans);
    }

    private DeviceInfo place(DeviceInfo asTold) {
        Optional<DeviceInfo> same = devices.stream()
                .filter(other -> other.id() == asTold.id()
                        && other.name().equals(asTold.name())
                        && other.backend() == asTold.backend())
                .findFirst();
        if (same.isPresent()) {
            return same.get();
        }
        long id = firstFree(asTold.id(), number -> devices.stream().anyMatch(other -> other.id() == number));
        DeviceInfo device =
                new DeviceInfo(Math.toIntExact(id), asTold.name(), asTold.backend(), asTold.memoryBytes());
        devices.add(device);
        return device;
    }

    private StreamLine lineOf(DeviceInfo device, StreamPlace place) {
        List<StreamLine> ofDevice =
                lines.stream().filter(line -> line.device().id() == device.id()).toList();
        return ofDevice.stream()
                .filter(line -> line.name().equals(place.name()))
                .findFirst()
                .orElseGet(() -> {
                    long id = firstFree(
                            place.number(), number -> ofDevice.stream().anyMatch(line -> line.id() == number));
                    StreamLine added =
                            new StreamLine(device, place.name(), id, new ArrayList<>(), List.of());
                    lines.add(added);
                    return added;
                });
    }

    private static long firstFree(long wanted, LongPredicate isTaken) {
        return isTaken.test(wanted)
                ? LongStream.iterate(0, number -> number + 1)
                        .filter(isTaken.negate())
                        .findFirst()
                        .orElseThrow()
                : wanted;
    }

    /** The devices, in the order in which they were met. */
    List<DeviceInfo> devices() {
        return devices;
    }

    /** The lines, in the order in which they were met. */
    List<StreamLine> lines() {
        return lines;
    }
}
