package org.brickprofiler.trace.read;

import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Which tracks of a Perfetto trace are threads, devices and streams. A track whose spans have the annotation
 * {@code device} belongs to one: to the track above it, or it is a device itself. One thread, once.
 */
final class PerfettoLayout {

    private static final Pattern STREAM = Pattern.compile("stream (\\d{1,9})\\b.*", Pattern.DOTALL);

    private final TimelineRows rows;
    private final TraceHead head;
    private final Map<Long, PerfettoTrack> described;
    private final TrackLayout layout;
    /** The device of a track that is one. */
    private final Map<Long, Long> devices = new LinkedHashMap<>();

    private final Map<Long, Integer> streams = new HashMap<>();
    private final @Nullable PerfettoTrack host;

    private PerfettoLayout(TimelineRows rows, TraceHead head, Map<Long, PerfettoTrack> described) {
        this.rows = rows;
        this.head = head;
        this.described = described;
        this.layout = new TrackLayout(head, rows.size());
        this.host = described.values().stream()
                .filter(PerfettoTrack::isProcess)
                .findFirst()
                .orElse(null);
        if (host != null) {
            layout.process(host.name(), String.valueOf(host.process()));
        }
    }

    /**
     * The tracks of the rows.
     *
     * @param described what the trace says of its tracks, by identifier; rows bear it in place of a thread
     */
    static TrackLayout of(TimelineRows rows, TraceHead head, Map<Long, PerfettoTrack> described) {
        PerfettoLayout perfetto = new PerfettoLayout(rows, head, described);
        perfetto.findDevices();
        for (int row = 0; row < rows.size(); row++) {
            if (perfetto.isShown(row) && perfetto.mainRow(row) == row) {
                perfetto.add(row);
            }
        }
        perfetto.layout.end();
        for (int row = 0; row < rows.size(); row++) {
            perfetto.layout.merge(row, perfetto.mainRow(row));
        }
        return perfetto.layout;
    }

    /** A thread is shown even where nothing happened on it. */
    private boolean isShown(int row) {
        PerfettoTrack track = trackOf(row);
        return rows.get(row).events > 0 || (track != null && track.isThread());
    }

    private @Nullable PerfettoTrack trackOf(int row) {
        return described.get(uuidOf(row));
    }

    private long uuidOf(int row) {
        TimelineRows.Row of = rows.get(row);
        return Long.parseUnsignedLong(of.isCounter ? of.name : of.thread);
    }

    // ---- devices ----

    private void findDevices() {
        Set<Long> taken = new HashSet<>();
        for (int number = 0; number < rows.size(); number++) {
            TimelineRows.Row row = rows.get(number);
            if (row.isOnDevice) {
                devices.putIfAbsent(deviceAbove(uuidOf(mainRow(number))), row.device);
                taken.add(row.device);
            }
        }
        if (head.isOwn()) {
            findDevicesWithoutSpans();
        }
        devices.replaceAll((uuid, id) -> id >= 0 ? id : free(taken));
        devices.forEach((uuid, id) -> layout.device(id, nameOf(uuid)));
    }

    /** The track of the device that a track with spans on it belongs to. */
    private long deviceAbove(long uuid) {
        PerfettoTrack track = described.get(uuid);
        PerfettoTrack above = track == null ? null : described.get(track.parent());
        return above == null || above.isProcess() || above.isThread() ? uuid : above.uuid();
    }

    /** In a trace of this library a track that has others below it is a device. */
    private void findDevicesWithoutSpans() {
        for (PerfettoTrack track : described.values()) {
            PerfettoTrack above = described.get(track.parent());
            boolean isLane = above != null && above.name().equals(TrackLayout.besideWhat(track.name()));
            if (above != null && !isLane && !above.isProcess() && !above.isThread()) {
                devices.putIfAbsent(above.uuid(), TimelineRows.NONE);
            }
        }
    }

    private static long free(Set<Long> taken) {
        long id = 0;
        while (!taken.add(id)) {
            id++;
        }
        return id;
    }

    // ---- rows ----

    private void add(int number) {
        TimelineRows.Row row = rows.get(number);
        PerfettoTrack track = trackOf(number);
        long uuid = uuidOf(number);
        Long ofItself = devices.getOrDefault(uuid, TimelineRows.NONE);
        long device = devices.getOrDefault(track == null ? uuid : track.parent(), ofItself);
        if (row.isCounter) {
            String unit = track == null ? null : track.unit();
            layout.counter(number, nameOf(uuid), unit == null ? "" : unit, device);
        } else if (device >= 0) {
            layout.stream(number, nameOf(uuid), streamNumber(nameOf(uuid), device), device);
        } else {
            addThread(number, track, uuid);
        }
    }

    /** The format does not hold it: the one that the name tells, or else they are numbered. */
    private long streamNumber(String name, long device) {
        Matcher stream = STREAM.matcher(name);
        int next = streams.merge(device, 1, Integer::sum) - 1;
        return stream.matches() ? Long.parseLong(stream.group(1)) : next;
    }

    private void addThread(int number, @Nullable PerfettoTrack track, long uuid) {
        Long process = processOf(track);
        boolean isForeign = host != null && process != null && !process.equals(host.process());
        if (isForeign) {
            layout.foreignThread(number, "process " + process, nameOf(uuid));
        } else {
            layout.thread(number, nameOf(uuid), track != null && track.isThread() ? track.tid() : 0);
        }
    }

    /** The process of a track, or of one above it. */
    private @Nullable Long processOf(@Nullable PerfettoTrack track) {
        PerfettoTrack at = track;
        for (int depth = 0; at != null && depth < described.size(); depth++) {
            if (at.process() != null) {
                return at.process();
            }
            at = described.get(at.parent());
        }
        return null;
    }

    private String nameOf(long uuid) {
        PerfettoTrack track = described.get(uuid);
        return track == null || track.name().isEmpty() ? "track " + Long.toUnsignedString(uuid) : track.name();
    }

    /** The row that a row of this library's traces stands beside, for spans that overlap; else the row itself. */
    private int mainRow(int number) {
        PerfettoTrack track = rows.get(number).isCounter ? null : trackOf(number);
        PerfettoTrack above = track == null ? null : described.get(track.parent());
        if (track == null || above == null || !above.name().equals(TrackLayout.besideWhat(track.name()))) {
            return number;
        }
        int found = rows.find("", Long.toUnsignedString(above.uuid()));
        return found >= 0 ? found : number;
    }
}
