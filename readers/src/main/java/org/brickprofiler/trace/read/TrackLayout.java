package org.brickprofiler.trace.read;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.LongStream;
import org.brickprofiler.trace.Track;
import org.brickprofiler.trace.read.TraceRows.Row;
import org.eclipse.collections.impl.list.mutable.primitive.IntArrayList;
import org.jspecify.annotations.Nullable;

/**
 * Arranges rows as tracks: first the threads, then each device with its streams, then the counters. The role of a row
 * follows from the trace: from its processes and the categories of its slices ({@link OfProcesses}), or from the tracks
 * that it describes ({@link OfTracks}). A lane, which this library's writers put beside a track for spans that overlap,
 * belongs to that track. One thread; used once.
 */
abstract class TrackLayout {

    private static final int NO_TRACK = -1;
    private static final long NONE = TraceRows.NONE;

    /** The names that this library's writers give to lanes. */
    private static final Pattern LANE = Pattern.compile("(.*) \\(lane \\d+\\)", Pattern.DOTALL);

    final TraceRows rows;
    final TraceHead head;
    private final List<Track> tracks = new ArrayList<>();
    private final int[] trackOfRow;
    private final TreeMap<Long, Device> devices = new TreeMap<>();
    private final List<Branch> counters = new ArrayList<>();
    private final Set<String> furtherProcesses = new LinkedHashSet<>();
    private String processName = "";
    private long pid;

    /** A row that becomes a track below a device, or is a counter. */
    private record Branch(int row, String name, long id, String unit, long device) {}

    /** A device and its streams. */
    private static final class Device {
        private String name = "";
        private final List<Branch> streams = new ArrayList<>();
    }

    private TrackLayout(TraceRows rows, TraceHead head) {
        this.rows = rows;
        this.head = head;
        this.trackOfRow = new int[rows.size()];
        Arrays.fill(trackOfRow, NO_TRACK);
    }

    /**
     * Returns the tracks of the rows.
     *
     * @param described the trace's descriptions of its tracks, by identifier
     */
    static TrackLayout of(TraceRows rows, TraceHead head, Map<Long, TrackDescription> described) {
        TrackLayout layout = head.hasTracks ? new OfTracks(rows, head, described) : new OfProcesses(rows, head);
        layout.findDevices();
        for (int row = 0; row < rows.size(); row++) {
            if (layout.isShown(rows.get(row)) && layout.shownRow(row) == row) {
                layout.add(rows.get(row));
            }
        }
        layout.addDevicesAndCounters();
        for (int row = 0; row < rows.size(); row++) {
            layout.trackOfRow[row] = layout.trackOfRow[layout.shownRow(row)];
        }
        return layout;
    }

    private int shownRow(int row) {
        int main = mainRow(rows.get(row));
        return isShown(rows.get(main)) ? main : row;
    }

    // ---- the roles of rows ----

    /** Finds the devices, and calls {@link #device} for each. */
    abstract void findDevices();

    /** Returns whether a row has anything to show. */
    abstract boolean isShown(Row row);

    /** Returns the row beside which a lane is drawn; for any other row, the row itself. */
    abstract int mainRow(Row row);

    /** Makes a track from a row. */
    abstract void add(Row row);

    /**
     * Returns the name of the track to which a lane belongs, judged by the lane's name; null if the name is not that of
     * a lane.
     */
    static @Nullable String besideWhat(String name) {
        Matcher lane = LANE.matcher(name);
        return lane.matches() ? lane.group(1) : null;
    }

    /** Assigns free numbers to devices whose number is unknown. */
    static <T> void numberTheRest(Map<T, Long> devices) {
        Set<Long> taken = new HashSet<>(devices.values());
        devices.replaceAll((device, id) -> {
            long free = 0;
            while (id < 0 && !taken.add(free)) {
                free++;
            }
            return id < 0 ? Long.valueOf(free) : id;
        });
    }

    // ---- filling ----

    /** Adds the traced process. */
    void process(String name, String number) {
        processName = name;
        pid = Math.max(0, TraceEvent.wholeNumberOf(number));
    }

    /** Adds a thread of the traced process. */
    void thread(Row row, String name, long id) {
        trackOfRow[row.number] = tracks.size();
        tracks.add(new Track(Track.Kind.HOST_THREAD, name, Track.PROCESS, id));
    }

    /** Adds a thread of another process. Only the name of the thread shows the process. */
    void foreignThread(Row row, String process, String name) {
        furtherProcesses.add(process);
        thread(row, process + ": " + name, NONE);
    }

    /** Adds a device; the name is used if its model is unknown. */
    void device(long id, String name) {
        Device device = deviceOf(id);
        device.name = device.name.isEmpty() ? name : device.name;
    }

    /** Adds a stream of a device. */
    void stream(Row row, String name, long id, long device) {
        deviceOf(device).streams.add(new Branch(row.number, name, id, "", device));
    }

    private Device deviceOf(long id) {
        return devices.computeIfAbsent(id, any -> new Device());
    }

    /** Adds a counter of a device or, if the device is {@link TraceRows#NONE}, of the process. */
    void counter(Row row, String name, String unit, long device) {
        counters.add(new Branch(row.number, name, counters.size(), unit, device));
        if (device != NONE) {
            deviceOf(device);
        }
    }

    private void addDevicesAndCounters() {
        Map<Long, Integer> deviceTracks = new HashMap<>();
        devices.forEach((id, device) -> {
            deviceTracks.put(id, tracks.size());
            tracks.add(new Track(Track.Kind.DEVICE, nameOf(id, device), Track.PROCESS, id));
            device.streams.sort(Comparator.comparingLong(Branch::id));
            for (Branch stream : device.streams) {
                trackOfRow[stream.row()] = tracks.size();
                tracks.add(new Track(Track.Kind.STREAM, stream.name(), deviceTracks.get(id), stream.id()));
            }
        });
        for (Branch counter : counters) {
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
        // Devices of the same model are distinguished by the label of Kineto's process.
        String called = (device.name + " " + model).strip();
        return called.isEmpty() ? "device " + id : called;
    }

    // ---- the result ----

    List<Track> tracks() {
        return List.copyOf(tracks);
    }

    /** Returns the rows of each track. */
    int[][] rowsOfTracks() {
        IntArrayList[] rowsOf = new IntArrayList[tracks.size()];
        Arrays.setAll(rowsOf, track -> new IntArrayList());
        for (int row = 0; row < trackOfRow.length; row++) {
            if (trackOfRow[row] != NO_TRACK) {
                rowsOf[trackOfRow[row]].add(row);
            }
        }
        return Arrays.stream(rowsOf).map(IntArrayList::toArray).toArray(int[][]::new);
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

    /** Rows of processes and threads, by Kineto's conventions: a device takes the place of a process. */
    private static final class OfProcesses extends TrackLayout {
        private static final String STREAM = "stream ";

        private static final String HOST_LABEL = "CPU";
        private static final Pattern NUMBER = Pattern.compile("-?\\d+");
        private static final Pattern DEVICE_LABEL = Pattern.compile("GPU \\d+.*", Pattern.DOTALL);

        private final String host;
        private final Map<String, Long> devices = new HashMap<>();

        OfProcesses(TraceRows rows, TraceHead head) {
            super(rows, head);
            this.host = host();
            boolean isNamed = head.isOwn() && !head.processName.isEmpty();
            process(isNamed ? head.processName : rows.process(host).name, host);
        }

        /**
         * Returns the traced process: the one that the trace names, or else the one with the most events outside
         * devices.
         */
        private String host() {
            Map<String, Long> events = new HashMap<>();
            String most = rows.size() == 0 ? "" : rows.get(0).process;
            long mostEvents = 0;
            for (int number = 0; number < rows.size(); number++) {
                Row row = rows.get(number);
                if (head.isOwn() && rows.process(row.process).label.startsWith(HOST_LABEL)) {
                    return row.process;
                }
                if (!row.isCounter && !row.isOnDevice && !isLabelledDevice(row)) {
                    long sum = events.merge(row.process, row.events, Long::sum);
                    if (sum > mostEvents) {
                        mostEvents = sum;
                        most = row.process;
                    }
                }
            }
            return most;
        }

        private boolean isLabelledDevice(Row row) {
            return isNamedDevice(row)
                    || DEVICE_LABEL.matcher(rows.process(row.process).label).matches();
        }

        /** Returns whether another program names the process after a device instead of marking the events on it. */
        private boolean isNamedDevice(Row row) {
            return !head.isOwn() && RowNames.isDevice(nameOf(row.process));
        }

        /** Returns the name of a process; its identifier if it has no name. */
        private String nameOf(String process) {
            String name = rows.process(process).name;
            return name.isEmpty() ? process : name;
        }

        /** Assigns a number to each process that is a device: the number in its events, its own, or a free one. */
        @Override
        void findDevices() {
            for (int number = 0; number < rows.size(); number++) {
                Row row = rows.get(number);
                boolean isDevice = head.isOwn() || row.isOnDevice || isLabelledDevice(row);
                if (isShown(row) && !row.process.equals(host) && isDevice) {
                    devices.merge(row.process, row.device, Math::max);
                }
            }
            devices.replaceAll((process, id) -> id >= 0 ? id : TraceEvent.wholeNumberOf(process));
            numberTheRest(devices);
            devices.forEach((process, id) -> {
                String name = nameOf(process);
                String label = rows.process(process).label;
                int end = label.indexOf(',');
                boolean isNamed = !head.isOwn() && RowNames.isDevice(name);
                device(id, isNamed ? name : end < 0 ? label : label.substring(0, end));
            });
        }

        @Override
        boolean isShown(Row row) {
            return row.events > 0 || !row.name.isEmpty();
        }

        @Override
        int mainRow(Row row) {
            String main = head.isOwn() && !row.isCounter ? besideWhat(row.name) : null;
            if (main == null) {
                return row.number;
            }
            int found = rows.find(row.process, Long.toString(row.sortIndex));
            return found >= 0 && rows.get(found).name.equals(main) ? found : row.number;
        }

        @Override
        void add(Row row) {
            Long ofProcess = devices.get(row.process);
            long device = ofProcess != null ? ofProcess : row.isOnDevice ? Math.max(0, row.device) : NONE;
            if (row.isCounter) {
                boolean isHosts = device != NONE || row.process.equals(host);
                counter(row, isHosts ? row.name : processName(row.process) + ": " + row.name, row.unit, device);
            } else if (device != NONE && isOfDevice(row)) {
                // Older versions of Kineto have the word in the row's own name.
                String number = row.thread.startsWith(STREAM) ? row.thread.substring(STREAM.length()) : row.thread;
                long stream = row.stream >= 0 ? row.stream : TraceEvent.wholeNumberOf(number);
                stream(row, row.name.isEmpty() ? STREAM + number : row.name, stream, device);
            } else if (row.process.equals(host)) {
                thread(row, threadName(row), TraceEvent.wholeNumberOf(row.thread));
            } else {
                foreignThread(row, processName(row.process), threadName(row));
            }
        }

        /**
         * Returns whether a row of a device's process is the device's: a process of the host may have the same number.
         */
        private boolean isOfDevice(Row row) {
            return head.isOwn() || row.isOnDevice || row.hasWaits || row.events == 0 || isNamedDevice(row);
        }

        private static String threadName(Row row) {
            if (!row.name.isEmpty()) {
                return row.name;
            }
            boolean isNumber = NUMBER.matcher(row.thread).matches();
            return isNumber ? "thread " + row.thread : row.thread.isEmpty() ? "(no thread)" : row.thread;
        }

        private String processName(String process) {
            String number = process.isEmpty() ? "(no process)" : process;
            String name = rows.process(process).name;
            return name.isEmpty() ? number : name + " " + number;
        }
    }

    /**
     * Rows of tracks that the trace describes, as in Perfetto's format. A track whose spans have the annotation
     * {@code device} belongs to the device of the track above it, or is itself a device.
     */
    private static final class OfTracks extends TrackLayout {
        private static final Pattern STREAM = Pattern.compile("stream (\\d{1,9})\\b.*", Pattern.DOTALL);

        /** The first number of streams whose number is unknown: readers interpret 0 as no stream. */
        private static final long FIRST_STREAM = 7;

        private final Map<Long, TrackDescription> described;
        /** The device numbers of tracks that are devices. */
        private final Map<Long, Long> devices = new LinkedHashMap<>();

        /** The numbers in the names of streams. */
        private final Set<Long> numbered = new HashSet<>();

        /** The count of a device's streams without a number in their names. */
        private final Map<Long, Integer> streams = new HashMap<>();

        private final @Nullable TrackDescription host;

        OfTracks(TraceRows rows, TraceHead head, Map<Long, TrackDescription> described) {
            super(rows, head);
            this.described = described;
            this.host = described.values().stream()
                    .filter(TrackDescription::isProcess)
                    .findFirst()
                    .orElse(null);
            if (host != null) {
                process(host.name(), String.valueOf(host.process()));
            }
            for (TrackDescription track : described.values()) {
                Matcher stream = STREAM.matcher(track.name());
                if (stream.matches()) {
                    numbered.add(Long.parseLong(stream.group(1)));
                }
            }
        }

        private static long idOf(Row row) {
            return Long.parseUnsignedLong(row.isCounter ? row.name : row.thread);
        }

        private @Nullable TrackDescription trackOf(Row row) {
            return described.get(idOf(row));
        }

        @Override
        void findDevices() {
            for (int number = 0; number < rows.size(); number++) {
                Row row = rows.get(number);
                if (row.isOnDevice) {
                    devices.putIfAbsent(deviceAbove(idOf(rows.get(mainRow(row)))), row.device);
                }
            }
            if (head.isOwn()) {
                findDevicesWithoutSpans();
            }
            numberTheRest(devices);
            devices.forEach((track, id) -> device(id, nameOf(track)));
        }

        /** Returns the track of the device that a track with device spans belongs to. */
        private long deviceAbove(long id) {
            TrackDescription track = described.get(id);
            TrackDescription above = track == null ? null : described.get(track.parent());
            return above == null || above.isProcess() || above.isThread() ? id : above.id();
        }

        /**
         * Finds devices without spans: in a trace of this library, a track with tracks below it that are no lanes is a
         * device, unless it is a process or a thread.
         */
        private void findDevicesWithoutSpans() {
            for (TrackDescription track : described.values()) {
                TrackDescription above = described.get(track.parent());
                boolean isLane = above != null && above.name().equals(besideWhat(track.name()));
                if (above != null && !isLane && !above.isProcess() && !above.isThread()) {
                    devices.putIfAbsent(above.id(), NONE);
                }
            }
        }

        @Override
        boolean isShown(Row row) {
            TrackDescription track = trackOf(row);
            return row.events > 0 || (track != null && track.isThread());
        }

        @Override
        int mainRow(Row row) {
            TrackDescription track = row.isCounter ? null : trackOf(row);
            TrackDescription above = track == null ? null : described.get(track.parent());
            if (track == null || above == null || !above.name().equals(besideWhat(track.name()))) {
                return row.number;
            }
            int found = rows.find("", Long.toUnsignedString(above.id()));
            return found >= 0 ? found : row.number;
        }

        @Override
        void add(Row row) {
            TrackDescription track = trackOf(row);
            long id = idOf(row);
            Long ofItself = devices.getOrDefault(id, NONE);
            long device = devices.getOrDefault(track == null ? id : track.parent(), ofItself);
            if (row.isCounter) {
                String unit = track == null ? null : track.unit();
                counter(row, nameOf(id), unit == null ? "" : unit, device);
            } else if (device >= 0) {
                stream(row, nameOf(id), streamNumber(nameOf(id), device), device);
            } else {
                addThread(row, track, nameOf(id));
            }
        }

        /**
         * Returns the number in the name of a stream or, as the format does not store numbers, the next one that occurs
         * in no name.
         */
        private long streamNumber(String name, long device) {
            Matcher stream = STREAM.matcher(name);
            if (stream.matches()) {
                return Long.parseLong(stream.group(1));
            }
            int before = streams.merge(device, 1, Integer::sum) - 1;
            return LongStream.iterate(FIRST_STREAM, number -> number + 1)
                    .filter(number -> !numbered.contains(number))
                    .skip(before)
                    .findFirst()
                    .orElseThrow();
        }

        private void addThread(Row row, @Nullable TrackDescription track, String name) {
            Long process = processOf(track);
            boolean isForeign = host != null && process != null && !process.equals(host.process());
            if (isForeign) {
                foreignThread(row, "process " + process, name);
            } else {
                thread(row, name, track != null && track.isThread() ? track.tid() : 0);
            }
        }

        /** Returns the process of a track, or of the nearest track above it that has one. */
        private @Nullable Long processOf(@Nullable TrackDescription track) {
            TrackDescription at = track;
            for (int depth = 0; at != null && depth < described.size(); depth++) {
                if (at.process() != null) {
                    return at.process();
                }
                at = described.get(at.parent());
            }
            return null;
        }

        private String nameOf(long id) {
            TrackDescription track = described.get(id);
            return track == null || track.name().isEmpty() ? "track " + Long.toUnsignedString(id) : track.name();
        }
    }
}
