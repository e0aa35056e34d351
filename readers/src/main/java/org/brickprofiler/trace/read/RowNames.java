package org.brickprofiler.trace.read;

import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.brickprofiler.trace.read.TraceRows.Row;
import org.eclipse.collections.impl.map.mutable.primitive.IntIntHashMap;
import org.eclipse.collections.impl.map.mutable.primitive.IntObjectHashMap;
import org.eclipse.collections.impl.map.mutable.primitive.LongObjectHashMap;
import org.eclipse.collections.impl.set.mutable.primitive.IntHashSet;
import org.jspecify.annotations.Nullable;

/**
 * Recognises two kinds of rows by the names of processes, threads and tracks: the rows of devices, in traces that do
 * not mark each event, and lanes, which are rows beside another row for slices that would not nest on it. Names may
 * come before the events of a row or after them. One thread.
 *
 * <p><b>Devices.</b> XLA's profiler has a process {@code /device:GPU:0} for each device, TensorFlow's timelines one for
 * each stream of it, {@code /device:GPU:0/stream:14}, up to version 1.3 {@code /gpu:0/stream:14}; AMD's tools have
 * {@code GPU0} and {@code COPY}; PyTorch's profiler before Kineto has {@code CUDA functions}. XLA draws the same work
 * several times: as kernels of streams, as operations, modules and steps. Of each device only the rows with the finest
 * {@link Detail} count.
 */
final class RowNames {

    private static final int MOST_TRACKS = 1 << 18;
    private static final int MOST_THREADS = 1 << 14;

    /** The longest name that is tested; names of devices are short. */
    private static final int LONGEST = 256;

    private static final Pattern DEVICE = Pattern.compile(
            "(?:(?:.*/)?device:|(?:/job:[^/]+/replica:\\d+/task:\\d+)?/(?=(?i:gpu|xla_gpu|tpu|sycl):))((?!CPU\\b)\\w+:\\d+)(/stream:\\d+|/stream:all|/memcpy)?(?: Compute| SparseCore \\d+)?|(GPU ?\\d+)(?: r\\d+)?"
                    + "|(COPY)(?: r\\d+)?|Ascend Hardware(?: \\d+)?|(?:CUDA|XPU|HIP|MTIA|PRIVATEUSE1) [Ff]unctions");

    private static final Pattern RANK =
            Pattern.compile("\\[[^\\[\\]]{1,64}\\](?= )|(?i:rank|[tdpe]p)[ _-]?\\d{1,6}(?![A-Za-z0-9])");

    private static final Pattern NUMBERED_STREAM = Pattern.compile("/stream:\\d+");
    private static final Pattern SUMMARY = Pattern.compile(
            "Steps|(TensorFlow|Framework) (Ops|Name Scope)|Source( code)?|Async XLA Ops|Sparse Core Steps");

    /** The granularity at which a row of a device shows its work, from coarse to fine. */
    private enum Detail {
        /** Steps, scopes and lines of the source that are drawn around work. */
        SUMMARY,
        /** Whole programs. */
        MODULES,
        /** The name shows no granularity. */
        PLAIN,
        /** Operations; each may consist of several kernels. */
        OPERATIONS,
        /** Kernels and copies, by stream. */
        STREAM;

        /** Returns the granularity of a row by the name of its thread or track. */
        static Detail of(String name) {
            if (name.startsWith("Stream #") || name.startsWith("Stream ")) {
                return STREAM;
            }
            // Copies that run beside the operations of a TPU are drawn from their start to the end of the wait for
            // them.
            if (RowNames.SUMMARY.matcher(name).matches()) {
                return SUMMARY;
            }
            if (name.endsWith("XLA Ops") || name.equals("Sparse Core Ops")) {
                return OPERATIONS;
            }
            return name.equals("XLA Modules") || name.equals("Sparse Core Modules") ? MODULES : PLAIN;
        }
    }

    /** A process, track or stream of a device. Immutable. */
    private record Device(String name, Detail detail) {}

    private final TraceRows rows;
    private final String source;
    private final Map<String, Device> processes = new HashMap<>();
    private final Map<String, String> threadNames = new HashMap<>();
    private final IntObjectHashMap<Detail> details = new IntObjectHashMap<>();
    private final LongObjectHashMap<TrackDescription> tracks = new LongObjectHashMap<>();
    private final IntIntHashMap mainRows = new IntIntHashMap();
    private boolean devicesNamed;

    /** The devices of rows, from the names read so far. */
    private final IntObjectHashMap<Optional<Device>> known = new IntObjectHashMap<>();

    RowNames(TraceRows rows, String source) {
        this.rows = rows;
        this.source = source;
    }

    // ---- names ----

    /**
     * Reads metadata in Chrome's format.
     *
     * @throws TraceFormatException when there are too many rows
     */
    void metadata(TraceEvent event) throws TraceFormatException {
        switch (event.name) {
            case "process_name" -> process(event.process, event.label);
            case "thread_name" -> {
                Detail detail = Detail.of(event.label);
                if (detail != Detail.PLAIN) {
                    details.put(rows.line(event.process, event.thread, event.offset).number, detail);
                }
                if (threadNames.size() < MOST_THREADS && event.label.length() <= LONGEST) {
                    threadNames.put(keyOf(event.process, event.thread), event.label);
                }
            }
            case "thread_sort_index" -> {
                // The writer of this library gives a lane the sort index of the row beside which it is drawn.
                String place = Long.toString(event.sortIndex);
                String name = threadNames.get(keyOf(event.process, place));
                String lane = threadNames.getOrDefault(keyOf(event.process, event.thread), "");
                if (name != null && name.equals(TrackLayout.besideWhat(lane))) {
                    int main = rows.line(event.process, place, event.offset).number;
                    mainRows.put(rows.line(event.process, event.thread, event.offset).number, main);
                }
            }
            default -> {
                // This metadata names nothing.
            }
        }
    }

    private static String keyOf(String process, String thread) {
        return process + '\0' + thread;
    }

    private void process(String process, String name) {
        Device device = deviceOf(name);
        if (device != null) {
            processes.put(process, device);
            devicesNamed = true;
            known.clear();
        }
    }

    /**
     * Reads the description of a track.
     *
     * @throws TraceFormatException when there are too many
     */
    void track(TrackDescription track) throws TraceFormatException {
        if (tracks.size() == MOST_TRACKS) {
            throw new TraceFormatException(source, track.offset(), "there are more than " + MOST_TRACKS + " tracks");
        }
        tracks.getIfAbsentPut(track.id(), track);
        devicesNamed |= deviceOf(track) != null;
        known.clear();
        TrackDescription above = tracks.get(track.parent());
        if (above != null && above.name().equals(TrackLayout.besideWhat(track.name()))) {
            int main = rows.line("", Long.toUnsignedString(above.id()), track.offset()).number;
            mainRows.put(rows.line("", Long.toUnsignedString(track.id()), track.offset()).number, main);
        }
    }

    /** Returns whether a process is a device, judged by its name. */
    static boolean isDevice(String process) {
        return deviceOf(process) != null;
    }

    /** Returns the device of a track by its name; the name of a thread shows no device. */
    private static @Nullable Device deviceOf(TrackDescription track) {
        return track.isThread() ? null : deviceOf(track.name());
    }

    private static @Nullable Device deviceOf(String name) {
        Matcher device = DEVICE.matcher(name.length() > LONGEST ? "" : name);
        if (!device.matches()) {
            return null;
        }
        String part = device.group(2);
        boolean isStream = part != null && NUMBERED_STREAM.matcher(part).matches();
        return new Device(
                device.group(1) != null ? device.group(1).toUpperCase(Locale.ROOT) : name,
                isStream ? Detail.STREAM : part != null ? Detail.SUMMARY : Detail.PLAIN);
    }

    /**
     * Returns the rank that the identifier of a process names, in a trace that was merged from those of several ranks:
     * {@code [TP00] 83}. The numbers of different ranks, such as their correlations, have nothing to do with each
     * other.
     *
     * @return the rank as written; empty if none is named
     */
    static String rankOf(String process) {
        Matcher rank = RANK.matcher(process);
        return rank.lookingAt() ? rank.group() : "";
    }

    // ---- rows ----

    /** Returns the row beside which a lane is drawn; for any other row, the row itself. */
    int mainRow(int row) {
        return mainRows.getIfAbsent(row, row);
    }

    /** Returns whether any name or any row that was asked for shows a device. */
    boolean anyDevice() {
        return devicesNamed;
    }

    /** Returns whether a row belongs to a device, judged by the names read so far. */
    boolean isOnDevice(Row row) {
        boolean isOnDevice = device(row) != null;
        devicesNamed |= isOnDevice;
        return isOnDevice;
    }

    private @Nullable Device device(Row row) {
        return known.getIfAbsentPut(row.number, () -> Optional.ofNullable(find(row)))
                .orElse(null);
    }

    private @Nullable Device find(Row row) {
        if (tracks.isEmpty()) {
            Device named = processes.get(row.process);
            // A process without a name may have one as its identifier.
            return named == null ? deviceOf(row.process) : named;
        }
        TrackDescription at = tracks.get(Long.parseUnsignedLong(row.thread));
        for (int depth = 0; at != null && depth < tracks.size(); depth++) {
            Device device = deviceOf(at);
            if (device != null) {
                return device;
            }
            at = at.parent() == at.id() ? null : tracks.get(at.parent());
        }
        return null;
    }

    private Detail detail(Row row, Device device) {
        Detail ofRow = details.get(row.number);
        if (ofRow == null && !tracks.isEmpty()) {
            TrackDescription track = tracks.get(Long.parseUnsignedLong(row.thread));
            ofRow = track == null ? null : Detail.of(track.name());
        }
        return ofRow == null || ofRow == Detail.PLAIN ? device.detail() : ofRow;
    }

    /**
     * Returns the rows whose slices count: for each device the rows of finest granularity.
     *
     * @param used the rows with slices
     */
    IntHashSet finest(IntHashSet used) {
        Map<String, Detail> finest = new HashMap<>();
        used.forEach(number -> {
            Device device = device(rows.get(number));
            if (device != null) {
                finest.merge(
                        device.name(),
                        detail(rows.get(number), device),
                        (one, two) -> one.compareTo(two) >= 0 ? one : two);
            }
        });
        return used.select(number -> {
            Device device = device(rows.get(number));
            return device != null && detail(rows.get(number), device) == finest.get(device.name());
        });
    }
}
