package org.brickprofiler.trace.read;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.brickprofiler.trace.Track;
import org.jspecify.annotations.Nullable;

/**
 * Makes tracks of rows: first the threads, then each device with its streams, then the counters. One thread, once.
 */
final class TrackLayout {

    /** A row that is no track. */
    static final int NO_TRACK = -1;

    /** What the writers of this library call the rows beside a track. */
    private static final Pattern LANE = Pattern.compile("(.*) \\(lane \\d+\\)", Pattern.DOTALL);

    private final TraceHead head;
    private final List<Track> tracks = new ArrayList<>();
    private final int[] trackOfRow;
    private final TreeMap<Long, Device> devices = new TreeMap<>();
    private final List<Line> counters = new ArrayList<>();
    private final Set<String> furtherProcesses = new LinkedHashSet<>();
    private String processName = "";
    private long pid;

    /** A row that becomes a track below a device, or is a counter. */
    private record Line(int row, String name, long id, String unit, long device) {}

    /** A device and its streams. */
    private static final class Device {
        private String name = "";
        private final List<Line> streams = new ArrayList<>();
    }

    TrackLayout(TraceHead head, int rows) {
        this.head = head;
        this.trackOfRow = new int[rows];
        Arrays.fill(trackOfRow, NO_TRACK);
    }

    /** The name of the track that a row stands beside, going by the row's own; null where it stands for itself. */
    static @Nullable String besideWhat(String name) {
        Matcher lane = LANE.matcher(name);
        return lane.matches() ? lane.group(1) : null;
    }

    // ---- filling ----

    /** The traced process. */
    void process(String name, String number) {
        processName = name;
        pid = Math.max(0, wholeNumber(number));
    }

    /** A thread of the traced process. */
    void thread(int row, String name, long id) {
        trackOfRow[row] = tracks.size();
        tracks.add(new Track(Track.Kind.HOST_THREAD, name, Track.PROCESS, id));
    }

    /** A thread of another process, which only its name tells. */
    void foreignThread(int row, String process, String name) {
        furtherProcesses.add(process);
        thread(row, process + ": " + name, TimelineRows.NONE);
    }

    /** A device; what it is called where the trace does not tell its model. */
    void device(long id, String name) {
        Device device = devices.computeIfAbsent(id, any -> new Device());
        device.name = device.name.isEmpty() ? name : device.name;
    }

    /** A stream of a device that was told. */
    void stream(int row, String name, long id, long device) {
        deviceOf(device).streams.add(new Line(row, name, id, "", device));
    }

    private Device deviceOf(long id) {
        return devices.computeIfAbsent(id, any -> new Device());
    }

    /** A counter of a device, or where that is {@link TimelineRows#NONE}, of the process. */
    void counter(int row, String name, String unit, long device) {
        counters.add(new Line(row, name, counters.size(), unit, device));
        if (device != TimelineRows.NONE) {
            deviceOf(device);
        }
    }

    // ---- the end ----

    /** Adds the tracks of devices and counters. */
    void end() {
        TreeMap<Long, Integer> deviceTracks = new TreeMap<>();
        devices.forEach((id, device) -> {
            deviceTracks.put(id, tracks.size());
            tracks.add(new Track(Track.Kind.DEVICE, nameOf(id, device), Track.PROCESS, id));
            device.streams.sort(Comparator.comparingLong(Line::id));
            for (Line stream : device.streams) {
                trackOfRow[stream.row()] = tracks.size();
                tracks.add(new Track(Track.Kind.STREAM, stream.name(), deviceTracks.get(id), stream.id()));
            }
        });
        for (Line counter : counters) {
            int parent = deviceTracks.getOrDefault(counter.device(), Track.PROCESS);
            trackOfRow[counter.row()] = tracks.size();
            tracks.add(new Track(Track.Kind.COUNTER, counter.name(), parent, counter.id(), counter.unit()));
        }
    }

    private String nameOf(long id, Device device) {
        String model = head.device(id).map(known -> known.name()).orElse("");
        if (head.isOwn() && !model.isBlank()) {
            return model;
        }
        // Several devices of one model are told apart by the label that a process of Kineto's has.
        String called = (device.name + " " + model).strip();
        return called.isEmpty() ? "device " + id : called;
    }

    /** Puts the events of a row on the track of another one. */
    void merge(int row, int into) {
        trackOfRow[row] = trackOfRow[into];
    }

    List<Track> tracks() {
        return List.copyOf(tracks);
    }

    int trackOf(int row) {
        return trackOfRow[row];
    }

    String processName() {
        return processName;
    }

    long pid() {
        return pid;
    }

    int furtherProcesses() {
        return furtherProcesses.size();
    }

    /** A number as a trace writes it; {@link TimelineRows#NONE} where it is none, or negative. */
    static long wholeNumber(String text) {
        try {
            return Math.max(TimelineRows.NONE, Long.parseLong(text));
        } catch (NumberFormatException noNumber) {
            return TimelineRows.NONE;
        }
    }
}
