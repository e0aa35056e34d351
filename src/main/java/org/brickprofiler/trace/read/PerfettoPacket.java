package org.brickprofiler.trace.read;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A packet of a Perfetto trace, as far as it matters here; the same object for all of them. One thread. */
final class PerfettoPacket {

    private static final int MOST_CLOCKS = 64;

    final PerfettoEvent event = new PerfettoEvent();
    final List<Interned> interned = new ArrayList<>();
    final List<Clock> clocks = new ArrayList<>();
    /** What the packet says of a track. */
    @Nullable PerfettoTrack track;

    long offset;
    long sequence;
    long flags;
    boolean previousDropped;
    boolean hasTimestamp;
    long timestamp;
    long clockId;
    boolean hasEvent;
    /** Fields that were passed over. */
    long skipped;
    long primaryClock;
    boolean hasDefaults;
    boolean hasDefaultTrack;
    long defaultTrack;
    long defaultClock;

    private int textLength;

    /** A number that stands for a text. Immutable. */
    record Interned(int kind, long iid, String text) {}

    /** What a clock shows at the moment of a snapshot, in units of its own. Immutable. */
    record Clock(long id, long value, boolean isIncremental, long unitNs) {}

    /**
     * Reads the message that was entered.
     *
     * @throws TraceFormatException when it is malformed, or beyond a limit
     */
    void read(ProtoInput in, int mostBytes) throws IOException {
        clear(in.offset());
        while (in.nextField()) {
            if (in.wireType() == ProtoInput.VARINT) {
                number(in);
            } else {
                message(in, mostBytes);
            }
        }
    }

    private void clear(long at) {
        interned.clear();
        clocks.clear();
        track = null;
        offset = at;
        sequence = 0;
        flags = 0;
        previousDropped = false;
        hasTimestamp = false;
        timestamp = 0;
        clockId = 0;
        hasEvent = false;
        skipped = 0;
        primaryClock = 0;
        hasDefaults = false;
        hasDefaultTrack = false;
        defaultTrack = 0;
        defaultClock = 0;
        textLength = 0;
    }

    private void number(ProtoInput in) throws IOException {
        switch (in.fieldOf(ProtoInput.VARINT)) {
            case PerfettoFields.PACKET_TIMESTAMP -> {
                hasTimestamp = true;
                timestamp = in.varint();
            }
            case PerfettoFields.PACKET_SEQUENCE_ID -> sequence = in.varint();
            case PerfettoFields.PACKET_SEQUENCE_FLAGS -> flags = in.varint();
            case PerfettoFields.PACKET_PREVIOUS_DROPPED -> previousDropped = in.varint() != 0;
            case PerfettoFields.PACKET_CLOCK_ID -> clockId = in.varint();
            default -> {
                skipped++;
                in.skip();
            }
        }
    }

    private void message(ProtoInput in, int mostBytes) throws IOException {
        int field = in.fieldOf(ProtoInput.LENGTH_DELIMITED);
        switch (field) {
            case PerfettoFields.PACKET_TRACK_EVENT,
                    PerfettoFields.PACKET_INTERNED_DATA,
                    PerfettoFields.PACKET_CLOCK_SNAPSHOT,
                    PerfettoFields.PACKET_DEFAULTS,
                    PerfettoFields.PACKET_TRACK_DESCRIPTOR -> {
                long outer = in.enter();
                inside(field, in, mostBytes);
                in.leave(outer);
            }
            case PerfettoFields.PACKET_COMPRESSED -> throw in.error(
                    "compressed packets are not read; convert the trace with Perfetto's traceconv first");
            default -> {
                skipped++;
                in.skip();
            }
        }
    }

    private void inside(int field, ProtoInput in, int mostBytes) throws IOException {
        switch (field) {
            case PerfettoFields.PACKET_TRACK_EVENT -> {
                hasEvent = true;
                event.read(in, mostBytes);
            }
            case PerfettoFields.PACKET_INTERNED_DATA -> internedData(in, mostBytes);
            case PerfettoFields.PACKET_CLOCK_SNAPSHOT -> snapshot(in);
            case PerfettoFields.PACKET_DEFAULTS -> defaults(in);
            default -> track = PerfettoTrack.read(in, mostBytes);
        }
    }

    // ---- interned data ----

    private void internedData(ProtoInput in, int mostBytes) throws IOException {
        while (in.nextField()) {
            int kind = in.fieldOf(ProtoInput.LENGTH_DELIMITED);
            if (kind == PerfettoFields.INTERNED_CATEGORIES
                    || kind == PerfettoFields.INTERNED_NAMES
                    || kind == PerfettoFields.INTERNED_ANNOTATION_NAMES) {
                long outer = in.enter();
                intern(kind, in, mostBytes);
                in.leave(outer);
            } else {
                in.skip();
            }
        }
    }

    private void intern(int kind, ProtoInput in, int mostBytes) throws IOException {
        long iid = 0;
        String text = "";
        while (in.nextField()) {
            if (in.is(PerfettoFields.INTERNED_IID, ProtoInput.VARINT)) {
                iid = in.varint();
            } else if (in.is(PerfettoFields.INTERNED_TEXT, ProtoInput.LENGTH_DELIMITED)) {
                text = Names.bounded(in.text(mostBytes));
            } else {
                in.skip();
            }
        }
        textLength += PerfettoNames.costOf(text);
        if (textLength > PerfettoNames.MOST) {
            throw in.error("the names of a packet take more than " + PerfettoNames.MOST + " characters");
        }
        interned.add(new Interned(kind, iid, text));
    }

    // ---- clocks, defaults ----

    private void snapshot(ProtoInput in) throws IOException {
        while (in.nextField()) {
            if (in.is(PerfettoFields.SNAPSHOT_CLOCKS, ProtoInput.LENGTH_DELIMITED)) {
                long outer = in.enter();
                Clock clock = clock(in);
                in.leave(outer);
                if (clocks.size() < MOST_CLOCKS) {
                    clocks.add(clock);
                }
            } else if (in.is(PerfettoFields.SNAPSHOT_PRIMARY_CLOCK, ProtoInput.VARINT)) {
                primaryClock = in.varint();
            } else {
                in.skip();
            }
        }
    }

    private static Clock clock(ProtoInput in) throws IOException {
        long id = 0;
        long value = 0;
        boolean isIncremental = false;
        long unitNs = 1;
        while (in.nextField()) {
            switch (in.fieldOf(ProtoInput.VARINT)) {
                case PerfettoFields.CLOCK_ID -> id = in.varint();
                case PerfettoFields.CLOCK_TIMESTAMP -> value = in.varint();
                case PerfettoFields.CLOCK_IS_INCREMENTAL -> isIncremental = in.varint() != 0;
                case PerfettoFields.CLOCK_UNIT_NS -> unitNs = in.varint();
                default -> in.skip();
            }
        }
        return new Clock(id, value, isIncremental, unitNs);
    }

    private void defaults(ProtoInput in) throws IOException {
        hasDefaults = true;
        while (in.nextField()) {
            if (in.is(PerfettoFields.DEFAULTS_CLOCK_ID, ProtoInput.VARINT)) {
                defaultClock = in.varint();
            } else if (in.is(PerfettoFields.DEFAULTS_TRACK_EVENT, ProtoInput.LENGTH_DELIMITED)) {
                long outer = in.enter();
                while (in.nextField()) {
                    if (in.is(PerfettoFields.EVENT_TRACK_UUID, ProtoInput.VARINT)) {
                        hasDefaultTrack = true;
                        defaultTrack = in.varint();
                    } else {
                        in.skip();
                    }
                }
                in.leave(outer);
            } else {
                in.skip();
            }
        }
    }
}
