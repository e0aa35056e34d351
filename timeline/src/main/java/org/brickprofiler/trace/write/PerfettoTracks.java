package org.brickprofiler.trace.write;

import static org.brickprofiler.internal.io.PerfettoSchema.ANNOTATION_INT;
import static org.brickprofiler.internal.io.PerfettoSchema.ANNOTATION_NAME;
import static org.brickprofiler.internal.io.PerfettoSchema.ANNOTATION_STRING;
import static org.brickprofiler.internal.io.PerfettoSchema.CLOCK_ID;
import static org.brickprofiler.internal.io.PerfettoSchema.CLOCK_MONOTONIC;
import static org.brickprofiler.internal.io.PerfettoSchema.CLOCK_REALTIME;
import static org.brickprofiler.internal.io.PerfettoSchema.CLOCK_TIMESTAMP;
import static org.brickprofiler.internal.io.PerfettoSchema.COUNTER_UNIT;
import static org.brickprofiler.internal.io.PerfettoSchema.COUNTER_UNIT_NAME;
import static org.brickprofiler.internal.io.PerfettoSchema.EVENT_ANNOTATIONS;
import static org.brickprofiler.internal.io.PerfettoSchema.EVENT_NAME;
import static org.brickprofiler.internal.io.PerfettoSchema.EVENT_TRACK_UUID;
import static org.brickprofiler.internal.io.PerfettoSchema.EVENT_TYPE;
import static org.brickprofiler.internal.io.PerfettoSchema.MERGE_NONE;
import static org.brickprofiler.internal.io.PerfettoSchema.ORDERING_EXPLICIT;
import static org.brickprofiler.internal.io.PerfettoSchema.PACKET_CLOCK_ID;
import static org.brickprofiler.internal.io.PerfettoSchema.PACKET_CLOCK_SNAPSHOT;
import static org.brickprofiler.internal.io.PerfettoSchema.PACKET_SEQUENCE_ID;
import static org.brickprofiler.internal.io.PerfettoSchema.PACKET_SERVICE_EVENT;
import static org.brickprofiler.internal.io.PerfettoSchema.PACKET_TIMESTAMP;
import static org.brickprofiler.internal.io.PerfettoSchema.PACKET_TRACK_DESCRIPTOR;
import static org.brickprofiler.internal.io.PerfettoSchema.PACKET_TRACK_EVENT;
import static org.brickprofiler.internal.io.PerfettoSchema.PROCESS_LABELS;
import static org.brickprofiler.internal.io.PerfettoSchema.PROCESS_NAME;
import static org.brickprofiler.internal.io.PerfettoSchema.PROCESS_PID;
import static org.brickprofiler.internal.io.PerfettoSchema.SERVICE_TRACING_DISABLED;
import static org.brickprofiler.internal.io.PerfettoSchema.SNAPSHOT_CLOCKS;
import static org.brickprofiler.internal.io.PerfettoSchema.SNAPSHOT_PRIMARY_CLOCK;
import static org.brickprofiler.internal.io.PerfettoSchema.THREAD_NAME;
import static org.brickprofiler.internal.io.PerfettoSchema.THREAD_PID;
import static org.brickprofiler.internal.io.PerfettoSchema.THREAD_TID;
import static org.brickprofiler.internal.io.PerfettoSchema.TRACE_PACKET;
import static org.brickprofiler.internal.io.PerfettoSchema.TRACK_CHILD_ORDERING;
import static org.brickprofiler.internal.io.PerfettoSchema.TRACK_COUNTER;
import static org.brickprofiler.internal.io.PerfettoSchema.TRACK_MERGE_BEHAVIOR;
import static org.brickprofiler.internal.io.PerfettoSchema.TRACK_NAME;
import static org.brickprofiler.internal.io.PerfettoSchema.TRACK_PARENT_UUID;
import static org.brickprofiler.internal.io.PerfettoSchema.TRACK_PROCESS;
import static org.brickprofiler.internal.io.PerfettoSchema.TRACK_SIBLING_RANK;
import static org.brickprofiler.internal.io.PerfettoSchema.TRACK_THREAD;
import static org.brickprofiler.internal.io.PerfettoSchema.TRACK_UUID;
import static org.brickprofiler.internal.io.PerfettoSchema.TYPE_INSTANT;
import static org.brickprofiler.internal.io.PerfettoSchema.UNIT_BYTES;
import static org.brickprofiler.internal.io.PerfettoSchema.UNIT_COUNT;
import static org.brickprofiler.internal.io.PerfettoSchema.UNIT_NS;

import java.util.HashSet;
import java.util.Set;
import org.brickprofiler.trace.SlowSteps;
import org.brickprofiler.trace.TraceInfo;
import org.brickprofiler.trace.Track;

/** Writes the packets before the events: the clocks, the process, its tracks, and the number of dropped spans. */
final class PerfettoTracks {

    private final ProtoBuffer out;
    private final Ids ids;
    private final TraceInfo info;
    private final CheckedTracks tracks;
    private final TraceFiles.Origin origin;
    private final Set<Long> threads = new HashSet<>();

    PerfettoTracks(ProtoBuffer out, Ids ids, TraceInfo info, CheckedTracks tracks, TraceFiles.Origin origin) {
        this.out = out;
        this.ids = ids;
        this.info = info;
        this.tracks = tracks;
        this.origin = origin;
    }

    /** Writes the relation of the timeline's clock to the calendar, and makes it the clock of the whole file. */
    void writeClocks(long shiftNs) {
        int packet = openPacket(Ids.COMMON_SEQUENCE);
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
        int packet = openPacket(Ids.COMMON_SEQUENCE);
        int descriptor = out.open(PACKET_TRACK_DESCRIPTOR);
        out.varint(TRACK_UUID, ids.process());
        int process = out.open(TRACK_PROCESS);
        out.varint(PROCESS_PID, info.pid());
        out.string(PROCESS_NAME, info.processName());
        if (origin == TraceFiles.Origin.OWN) {
            out.string(PROCESS_LABELS, PerfettoWriter.PRODUCER);
        }
        for (String label : CheckedTracks.processLabels(info)) {
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
        int packet = openPacket(Ids.COMMON_SEQUENCE);
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
     * Returns whether a track is written as a thread. Perfetto identifies threads by number, and number 0 is the idle
     * thread. A second thread with the same number gets a plain track, because Perfetto would mix the slices of the
     * two.
     */
    private boolean isThread(Track track) {
        return track.kind() == Track.Kind.HOST_THREAD && track.id() > 0 && threads.add(track.id());
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

    /**
     * Writes a further track beside a track of the timeline, for spans that would not nest on it; returns its
     * identifier.
     */
    long writeLane(int track, int lane) {
        long uuid = ids.extraTrack();
        int packet = openPacket(Ids.sequence(track));
        int descriptor = openDescriptor(uuid, tracks.laneName(track, lane));
        out.varint(TRACK_PARENT_UUID, ids.track(track));
        out.varint(TRACK_SIBLING_RANK, lane);
        out.varint(TRACK_MERGE_BEHAVIOR, MERGE_NONE);
        out.close(descriptor);
        out.closeTop(packet);
        return uuid;
    }

    /** Writes an instant at the first moment with the number of dropped spans, so that a query finds it. */
    void writeDropped(long atNs) {
        int packet = openPacket(Ids.COMMON_SEQUENCE);
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

    /** Writes an instant at the first moment with the explanation of the chosen steps, in parts that readers accept. */
    void writeSlowSteps(SlowSteps steps, long atNs) {
        int packet = openPacket(Ids.COMMON_SEQUENCE);
        out.varint(PACKET_TIMESTAMP, atNs);
        out.varint(PACKET_CLOCK_ID, CLOCK_MONOTONIC);
        int event = out.open(PACKET_TRACK_EVENT);
        out.varint(EVENT_TYPE, TYPE_INSTANT);
        out.varint(EVENT_TRACK_UUID, ids.process());
        out.string(EVENT_NAME, "chosen steps only");
        for (String part : CheckedTracks.parts(steps)) {
            int annotation = out.open(EVENT_ANNOTATIONS);
            out.string(ANNOTATION_NAME, "slow_steps");
            out.string(ANNOTATION_STRING, part);
            out.close(annotation);
        }
        out.close(event);
        out.closeTop(packet);
    }

    /** Writes the last packet, by which readers know that the file is whole. */
    void writeEnd() {
        int packet = openPacket(Ids.COMMON_SEQUENCE);
        int event = out.open(PACKET_SERVICE_EVENT);
        out.varint(SERVICE_TRACING_DISABLED, 1);
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

    /**
     * The identifiers of one file. Tracks and flows are global in Perfetto, even across files that are opened as one,
     * so identifiers contain a mark of the process. The mark is small, because each event on an extra lane repeats its
     * track's identifier.
     */
    static final class Ids {

        /** The sequence of packets that no track owns. */
        static final int COMMON_SEQUENCE = 1;

        private static final int MARK_BITS = 14;
        private static final int TRACK_BITS = 20;
        private static final int FLOW_BITS = Long.SIZE - MARK_BITS;

        private final long mark;
        private final int tracks;
        private int extraTracks;

        Ids(TraceInfo info, int tracks) {
            this.mark = markOf(info);
            this.tracks = tracks;
        }

        /** Returns the mark of a process by Fibonacci hashing; never 0, so that no identifier is 0. */
        private static long markOf(TraceInfo info) {
            long all = (info.unixNs() * 31 + info.pid()) * 31 + info.rank().orElse(0);
            return (all * 0x9E37_79B9_7F4A_7C15L) >>> (Long.SIZE - MARK_BITS) | 1;
        }

        long process() {
            return mark << TRACK_BITS;
        }

        long track(int index) {
            return process() + 1 + index;
        }

        /** Returns the identifier of a track that the timeline does not have. */
        long extraTrack() {
            return track(tracks + extraTracks++);
        }

        long flow(long flow) {
            return flow ^ mark << FLOW_BITS;
        }

        static int sequence(int track) {
            return COMMON_SEQUENCE + 1 + track;
        }
    }
}
