package org.brickprofiler.trace.write;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.brickprofiler.trace.TraceInfo;
import org.brickprofiler.trace.Track;

/**
 * The rows of all tracks in a viewer: a row is a process and a thread. Threads belong to the process, streams to their
 * device, which takes the place of a process. Two tracks never share a row.
 */
final class ChromeRows {

    /** Viewers read these numbers as 32 bits. */
    private static final long LIMIT = Integer.MAX_VALUE;

    /** Added to the number of the process if a device has the same number, as may happen in a container. */
    private static final long CLASH_STEP = 1_000_000;

    /**
     * A row.
     *
     * @param pid the process or the device
     * @param tid the thread or the stream, or another number if that one is taken
     * @param device the device, or {@link CheckedTracks#HOST}
     * @param stream the stream, if there is a device
     */
    record Row(long pid, long tid, long device, long stream) {}

    private final long hostPid;
    private final Set<Long> devices = new HashSet<>();
    private final List<Row> rows = new ArrayList<>();
    private final Map<Long, Set<Long>> taken = new HashMap<>();

    ChromeRows(TraceInfo info, CheckedTracks tracks) {
        info.devices().forEach(device -> devices.add((long) device.id()));
        for (int i = 0; i < tracks.size(); i++) {
            if (tracks.get(i).kind() == Track.Kind.DEVICE) {
                devices.add(tracks.get(i).id());
            }
        }
        long pid = info.pid();
        while (devices.contains(pid)) {
            pid += CLASH_STEP;
        }
        this.hostPid = pid;
        // First the rows with free numbers of their own; the other rows get numbers that are left.
        List<Boolean> placed = new ArrayList<>();
        for (int i = 0; i < tracks.size(); i++) {
            placed.add(hasOwnNumber(tracks.get(i))
                    && take(pidOf(tracks, i), tracks.get(i).id()));
        }
        for (int i = 0; i < tracks.size(); i++) {
            long ofPid = pidOf(tracks, i);
            long tid = placed.get(i) ? tracks.get(i).id() : takeFree(ofPid);
            long stream =
                    tracks.get(i).kind() == Track.Kind.STREAM ? tracks.get(i).id() : tid;
            rows.add(new Row(ofPid, tid, tracks.deviceOf(i), stream));
        }
    }

    /**
     * Returns whether a track has a row of its own. A counter has none, and a device may have events on its streams
     * only.
     */
    static boolean hasOwnNumber(Track track) {
        return track.kind() == Track.Kind.HOST_THREAD || track.kind() == Track.Kind.STREAM;
    }

    private long pidOf(CheckedTracks tracks, int index) {
        long device = tracks.deviceOf(index);
        return device == CheckedTracks.HOST ? hostPid : device;
    }

    private boolean take(long pid, long tid) {
        return tid >= 0 && tid < LIMIT && takenOf(pid).add(tid);
    }

    private long takeFree(long pid) {
        long tid = takenOf(pid).size();
        while (!take(pid, tid)) {
            tid++;
        }
        return tid;
    }

    private Set<Long> takenOf(long pid) {
        return taken.computeIfAbsent(pid, any -> new HashSet<>());
    }

    long hostPid() {
        return hostPid;
    }

    /** Returns the devices, each of which appears as a process. */
    List<Long> devices() {
        return devices.stream().sorted().toList();
    }

    Row of(int track) {
        return rows.get(track);
    }

    /** Returns a further row beside a track's, of the same device and stream. */
    Row addLane(int track) {
        Row row = of(track);
        return new Row(row.pid(), takeFree(row.pid()), row.device(), row.stream());
    }
}
