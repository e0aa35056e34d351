package org.brickprofiler.trace.write;

import static org.brickprofiler.trace.write.PerfettoSchema.ANNOTATION_INT;
import static org.brickprofiler.trace.write.PerfettoSchema.ANNOTATION_NAME;
import static org.brickprofiler.trace.write.PerfettoSchema.CLOCK_ID;
import static org.brickprofiler.trace.write.PerfettoSchema.CLOCK_MONOTONIC;
import static org.brickprofiler.trace.write.PerfettoSchema.CLOCK_REALTIME;
import static org.brickprofiler.trace.write.PerfettoSchema.CLOCK_TIMESTAMP;
import static org.brickprofiler.trace.write.PerfettoSchema.COUNTER_UNIT;
import static org.brickprofiler.trace.write.PerfettoSchema.COUNTER_UNIT_NAME;
import static org.brickprofiler.trace.write.PerfettoSchema.EVENT_ANNOTATIONS;
import static org.brickprofiler.trace.write.PerfettoSchema.EVENT_NAME;
import static org.brickprofiler.trace.write.PerfettoSchema.EVENT_TRACK_UUID;
import static org.brickprofiler.trace.write.PerfettoSchema.EVENT_TYPE;
import static org.brickprofiler.trace.write.PerfettoSchema.MERGE_NONE;
import static org.brickprofiler.trace.write.PerfettoSchema.ORDERING_EXPLICIT;
import static org.brickprofiler.trace.write.PerfettoSchema.PACKET_CLOCK_ID;
import static org.brickprofiler.trace.write.PerfettoSchema.PACKET_CLOCK_SNAPSHOT;
import static org.brickprofiler.trace.write.PerfettoSchema.PACKET_SEQUENCE_ID;
import static org.brickprofiler.trace.write.PerfettoSchema.PACKET_TIMESTAMP;
import static org.brickprofiler.trace.write.PerfettoSchema.PACKET_TRACK_DESCRIPTOR;
import static org.brickprofiler.trace.write.PerfettoSchema.PACKET_TRACK_EVENT;
import static org.brickprofiler.trace.write.PerfettoSchema.PROCESS_LABELS;
import static org.brickprofiler.trace.write.PerfettoSchema.PROCESS_NAME;
import static org.brickprofiler.trace.write.PerfettoSchema.PROCESS_PID;
import static org.brickprofiler.trace.write.PerfettoSchema.SNAPSHOT_CLOCKS;
import static org.brickprofiler.trace.write.PerfettoSchema.SNAPSHOT_PRIMARY_CLOCK;
import static org.brickprofiler.trace.write.PerfettoSchema.THREAD_NAME;
import static org.brickprofiler.trace.write.PerfettoSchema.THREAD_PID;
import static org.brickprofiler.trace.write.PerfettoSchema.THREAD_TID;
import static org.brickprofiler.trace.write.PerfettoSchema.TRACE_PACKET;
import static org.brickprofiler.trace.write.PerfettoSchema.TRACK_CHILD_ORDERING;
import static org.brickprofiler.trace.write.PerfettoSchema.TRACK_COUNTER;
import static org.brickprofiler.trace.write.PerfettoSchema.TRACK_MERGE_BEHAVIOR;
import static org.brickprofiler.trace.write.PerfettoSchema.TRACK_NAME;
import static org.brickprofiler.trace.write.PerfettoSchema.TRACK_PARENT_UUID;
import static org.brickprofiler.trace.write.PerfettoSchema.TRACK_PROCESS;
import static org.brickprofiler.trace.write.PerfettoSchema.TRACK_SIBLING_RANK;
import static org.brickprofiler.trace.write.PerfettoSchema.TRACK_THREAD;
import static org.brickprofiler.trace.write.PerfettoSchema.TRACK_UUID;
import static org.brickprofiler.trace.write.PerfettoSchema.TYPE_INSTANT;
import static org.brickprofiler.trace.write.PerfettoSchema.UNIT_BYTES;
import static org.brickprofiler.trace.write.PerfettoSchema.UNIT_COUNT;
import static org.brickprofiler.trace.write.PerfettoSchema.UNIT_NS;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.brickprofiler.trace.TraceInfo;
import org.brickprofiler.trace.Track;

/** Writes what comes before the events: the clocks, the process, its tracks, and what is missing. */
final class PerfettoTracks {

    private final ProtoBuffer out;
    private final PerfettoIds ids;
    private final TraceInfo info;
    private final List<Track> tracks;
    private final Origin origin;
    private final Set<Long> threads = new HashSet<>();

    PerfettoTracks(ProtoBuffer out, PerfettoIds ids, TraceInfo info, List<Track> tracks, Origin origin) {
        this.out = out;
        this.ids = ids;
        this.info = info;
        this.tracks = tracks;
        this.origin = origin;
    }

    /** Relates the timeline's clock to the calendar, and makes it the clock of the whole file. */
    void writeClocks(long shiftNs) {
        int packet = openPacket(PerfettoIds.COMMON_SEQUENCE);
        int snapshot = out.open(PACKET_CLOCK_SNAPSHOT);
        writeClock(CLOCK_MONOTONIC, info.monotonicNs() + shiftNs);
        writeClock(CLOCK_REALTIME, info.unixNs());
        out.varint(SNAPSHOT_PRIMARY_CLOCK, CLOCK_MONOTONIC);
        out.close(snapshot);
        out.closeTop(packet);
    }

    private void writeClock(int id, long ns) {
        int clock = out.open(SNAPSHOT_CLOCKS);
        out.varint(CLOCK_ID, id);
        out.varint(CLOCK_TIMESTAMP, ns);
        out.close(clock);
    }

    void writeProcess() {
        int packet = openPacket(PerfettoIds.COMMON_SEQUENCE);
        int descriptor = out.open(PACKET_TRACK_DESCRIPTOR);
        out.varint(TRACK_UUID, ids.process());
        int process = out.open(TRACK_PROCESS);
        out.varint(PROCESS_PID, info.pid());
        out.string(PROCESS_NAME, info.processName());
        if (origin == Origin.OWN) {
            out.string(PROCESS_LABELS, PerfettoWriter.PRODUCER);
        }
        for (String label : ProcessLabels.of(info)) {
            out.string(PROCESS_LABELS, label);
        }
        out.close(process);
        out.close(descriptor);
        out.closeTop(packet);
    }

    void writeTracks() {
        for (int index = 0; index < tracks.size(); index++) {
            writeTrack(index);
        }
    }

    private void writeTrack(int index) {
        Track track = tracks.get(index);
        int packet = openPacket(PerfettoIds.COMMON_SEQUENCE);
        int descriptor = openDescriptor(ids.track(index), track.name());
        if (isThread(track)) {
            int thread = out.open(TRACK_THREAD);
            out.varint(THREAD_PID, info.pid());
            out.varint(THREAD_TID, track.id());
            out.string(THREAD_NAME, track.name());
            out.close(thread);
        } else {
            out.varint(TRACK_PARENT_UUID, parent(track));
            out.varint(TRACK_CHILD_ORDERING, ORDERING_EXPLICIT);
            out.varint(TRACK_SIBLING_RANK, index);
            out.varint(TRACK_MERGE_BEHAVIOR, MERGE_NONE);
        }
        if (track.kind() == Track.Kind.COUNTER) {
            writeUnit(track.unit());
        }
        out.close(descriptor);
        out.closeTop(packet);
    }

    /**
     * A thread is known to Perfetto by its number, and 0 is the idle thread's: a second one of the same number would
     * mix its slices into the first one's, so it gets a plain track.
     */
    private boolean isThread(Track track) {
        return track.kind() == Track.Kind.HOST_THREAD && track.id() > 0 && threads.add(track.id());
    }

    /** The device that a track belongs to, or -1 where it is the host's. */
    long device(int index) {
        for (int at = index; at != Track.PROCESS; at = tracks.get(at).parent()) {
            if (tracks.get(at).kind() == Track.Kind.DEVICE) {
                return tracks.get(at).id();
            }
        }
        return -1;
    }

    private long parent(Track track) {
        return track.parent() == Track.PROCESS ? ids.process() : ids.track(track.parent());
    }

    private void writeUnit(String unit) {
        int counter = out.open(TRACK_COUNTER);
        switch (unit) {
            case "ns" -> out.varint(COUNTER_UNIT, UNIT_NS);
            case "count" -> out.varint(COUNTER_UNIT, UNIT_COUNT);
            case "bytes" -> out.varint(COUNTER_UNIT, UNIT_BYTES);
            case "" -> {}
            default -> out.string(COUNTER_UNIT_NAME, unit);
        }
        out.close(counter);
    }

    /** A further track beside one of the timeline's, for spans that would not nest on it; returns its identifier. */
    long writeLane(int track, int lane) {
        long uuid = ids.extraTrack();
        int packet = openPacket(PerfettoIds.sequence(track));
        int descriptor = openDescriptor(uuid, LaneNames.of(tracks.get(track).name(), lane));
        out.varint(TRACK_PARENT_UUID, ids.track(track));
        out.varint(TRACK_SIBLING_RANK, lane);
        out.varint(TRACK_MERGE_BEHAVIOR, MERGE_NONE);
        out.close(descriptor);
        out.closeTop(packet);
        return uuid;
    }

    /** Says at the first moment how many spans are missing, in a way that a query finds. */
    void writeDropped(long atNs) {
        int packet = openPacket(PerfettoIds.COMMON_SEQUENCE);
        out.varint(PACKET_TIMESTAMP, atNs);
        out.varint(PACKET_CLOCK_ID, CLOCK_MONOTONIC);
        int event = out.open(PACKET_TRACK_EVENT);
        out.varint(EVENT_TYPE, TYPE_INSTANT);
        out.varint(EVENT_TRACK_UUID, ids.process());
        out.string(EVENT_NAME, "dropped spans");
        int annotation = out.open(EVENT_ANNOTATIONS);
        out.string(ANNOTATION_NAME, "dropped_spans");
        out.varint(ANNOTATION_INT, info.droppedSpans());
        out.close(annotation);
        out.close(event);
        out.closeTop(packet);
    }

    private int openPacket(int sequence) {
        int packet = out.open(TRACE_PACKET);
        out.varint(PACKET_SEQUENCE_ID, sequence);
        return packet;
    }

    private int openDescriptor(long uuid, String name) {
        int descriptor = out.open(PACKET_TRACK_DESCRIPTOR);
        out.varint(TRACK_UUID, uuid);
        out.string(TRACK_NAME, name);
        return descriptor;
    }
}
