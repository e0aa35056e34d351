package org.brickprofiler.trace.read;

import static org.brickprofiler.internal.io.PerfettoSchema.*;
import static org.brickprofiler.trace.read.ProtoInput.BYTES;
import static org.brickprofiler.trace.read.ProtoInput.FIXED64;
import static org.brickprofiler.trace.read.ProtoInput.VARINT;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.eclipse.collections.impl.list.mutable.primitive.LongArrayList;
import org.jspecify.annotations.Nullable;

/**
 * The relevant fields of a packet of a Perfetto trace, before its sequence is known. One object is reused for all
 * packets. One thread.
 */
final class PerfettoPacket {

    /** The most characters of names that are kept at a time. */
    static final int MOST_CHARACTERS = 1 << 22;

    // More entries than real packets have; further ones are skipped.
    private static final int MOST_CLOCKS = 64;
    private static final int MOST_LABELS = 64;
    private static final int MOST_CATEGORIES = 64;
    private static final int MOST_ANNOTATIONS = 256;
    private static final int MOST_FLOWS = 64;

    /** The overhead of a name, counted in characters. */
    private static final int NAME_ENTRY = 32;

    final List<Interned> interned = new ArrayList<>();
    final List<Clock> clocks = new ArrayList<>();
    /** The packet's description of a track. */
    @Nullable
    TrackDescription track;

    long offset;
    long sequence;
    long flags;
    boolean previousDropped;
    boolean hasTimestamp;
    long timestamp;
    long clockId;
    long primaryClock;
    boolean hasDefaults;
    boolean hasDefaultTrack;
    long defaultTrack;
    long defaultClock;
    /** Whether the packet states that the recording had ended. */
    boolean endsRecording;
    /** The number of skipped fields outside the event. */
    long skipped;

    boolean hasEvent;
    final LongArrayList categoryIids = new LongArrayList();
    final List<String> categories = new ArrayList<>();
    final List<Annotation> annotations = new ArrayList<>();
    final LongArrayList flows = new LongArrayList();
    final LongArrayList terminatingFlows = new LongArrayList();
    long eventType;
    double eventValue;
    long eventNameIid;
    String eventName = "";
    boolean hasEventTrack;
    long eventTrack;
    /** The number of skipped fields of the event, and of entries beyond the limits. */
    int eventSkipped;

    private final ProtoInput in;
    private final int mostBytes;
    private int characters;

    /** A text and the number by which later packets refer to it. Immutable. */
    record Interned(int kind, long iid, String text) {

        /** Returns the memory cost of a text, in characters. */
        static int costOf(String text) {
            return NAME_ENTRY + text.length();
        }
    }

    /** The reading of a clock at the moment of a snapshot, in the clock's own units. Immutable. */
    record Clock(long id, long value, boolean isIncremental, long unitNs) {}

    /**
     * Creates a packet that has read nothing.
     *
     * @param in the source of packets
     * @param mostBytes the longest text, in bytes
     */
    PerfettoPacket(ProtoInput in, int mostBytes) {
        this.in = in;
        this.mostBytes = mostBytes;
    }

    /**
     * Reads the packet that the current field holds.
     *
     * @throws TraceFormatException when it is malformed, or beyond a limit
     */
    void read() throws IOException {
        long outer = in.enter();
        clear(in.offset());
        in.fields(this::field);
        in.leave(outer);
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
        primaryClock = 0;
        hasDefaults = false;
        hasDefaultTrack = false;
        defaultTrack = 0;
        defaultClock = 0;
        endsRecording = false;
        skipped = 0;
        characters = 0;
        hasEvent = false;
    }

    private void clearEvent() {
        hasEvent = true;
        categoryIids.clear();
        categories.clear();
        annotations.clear();
        flows.clear();
        terminatingFlows.clear();
        eventType = 0;
        eventValue = Double.NaN;
        eventNameIid = 0;
        eventName = "";
        hasEventTrack = false;
        eventTrack = 0;
        eventSkipped = 0;
    }

    private void field(int tag) throws IOException {
        switch (tag) {
            case PACKET_TIMESTAMP << 3 | VARINT -> {
                hasTimestamp = true;
                timestamp = in.varint();
            }
            case PACKET_SEQUENCE_ID << 3 | VARINT -> sequence = in.varint();
            case PACKET_SEQUENCE_FLAGS << 3 | VARINT -> flags |= in.varint();
            case PACKET_STATE_CLEARED << 3 | VARINT -> flags |= in.varint() == 0 ? 0 : FLAG_STATE_CLEARED;
            case PACKET_PREVIOUS_DROPPED << 3 | VARINT -> previousDropped = in.varint() != 0;
            case PACKET_CLOCK_ID << 3 | VARINT -> clockId = in.varint();
            case PACKET_TRACK_EVENT << 3 | BYTES -> {
                clearEvent();
                in.message(this::eventField);
            }
            case PACKET_INTERNED_DATA << 3 | BYTES -> in.message(this::internedField);
            case PACKET_CLOCK_SNAPSHOT << 3 | BYTES -> in.message(this::snapshotField);
            case PACKET_DEFAULTS << 3 | BYTES -> {
                hasDefaults = true;
                in.message(this::defaultsField);
            }
            case PACKET_TRACK_DESCRIPTOR << 3 | BYTES -> {
                long outer = in.enter();
                track = new TrackReader().read();
                in.leave(outer);
            }
            case PACKET_SERVICE_EVENT << 3 | BYTES -> in.message(this::serviceField);
            case PACKET_COMPRESSED << 3 | BYTES ->
                throw in.error("compressed packets are not read; convert the trace with Perfetto's traceconv first");
            default -> {
                skipped++;
                in.skip();
            }
        }
    }

    private void serviceField(int tag) throws IOException {
        if (tag == (SERVICE_TRACING_DISABLED << 3 | VARINT)) {
            endsRecording |= in.varint() != 0;
        } else {
            skipped++;
            in.skip();
        }
    }

    // ---- the event ----

    private void eventField(int tag) throws IOException {
        switch (tag) {
            case EVENT_TYPE << 3 | VARINT -> eventType = in.varint();
            case EVENT_NAME_IID << 3 | VARINT -> eventNameIid = in.varint();
            case EVENT_CATEGORY_IIDS << 3 | VARINT -> addCategory(in.varint());
            case EVENT_CATEGORY_IIDS << 3 | BYTES -> in.packed(this::addCategory);
            case EVENT_TRACK_UUID << 3 | VARINT -> {
                hasEventTrack = true;
                eventTrack = in.varint();
            }
            case EVENT_COUNTER_VALUE << 3 | VARINT -> eventValue = (double) in.varint();
            case EVENT_DOUBLE_COUNTER_VALUE << 3 | FIXED64 -> eventValue = Double.longBitsToDouble(in.fixed64());
            case EVENT_FLOWS << 3 | FIXED64 -> addFlow(flows, in.fixed64());
            case EVENT_TERMINATING_FLOWS << 3 | FIXED64 -> addFlow(terminatingFlows, in.fixed64());
            case EVENT_NAME << 3 | BYTES -> eventName = in.name(mostBytes);
            case EVENT_CATEGORIES << 3 | BYTES -> {
                String category = in.name(mostBytes);
                if (categories.size() < MOST_CATEGORIES) {
                    categories.add(category);
                }
            }
            case EVENT_ANNOTATIONS << 3 | BYTES -> {
                if (annotations.size() < MOST_ANNOTATIONS) {
                    Annotation annotation = new Annotation();
                    in.message(annotation::field);
                    annotations.add(annotation);
                } else {
                    eventSkipped++;
                    in.skip();
                }
            }
            default -> {
                eventSkipped++;
                in.skip();
            }
        }
    }

    private void addCategory(long iid) {
        if (categoryIids.size() < MOST_CATEGORIES) {
            categoryIids.add(iid);
        }
    }

    private void addFlow(LongArrayList ends, long flow) {
        if (ends.size() < MOST_FLOWS) {
            ends.add(flow);
        } else {
            eventSkipped++;
        }
    }

    /** An argument. */
    final class Annotation {
        /** The number of its interned name; 0 if the name is in the packet. */
        long nameIid;

        String name = "";
        /** Whether the value is a whole number that fits. */
        boolean isWhole;

        long whole;
        /** The value as text if it is no whole number; empty for nested values. */
        private String text = "";

        String asText() {
            return isWhole ? Long.toString(whole) : text;
        }

        private void field(int tag) throws IOException {
            switch (tag) {
                case ANNOTATION_NAME_IID << 3 | VARINT -> nameIid = in.varint();
                case ANNOTATION_NAME << 3 | BYTES -> name = in.name(mostBytes);
                case ANNOTATION_INT << 3 | VARINT -> {
                    whole = in.varint();
                    isWhole = true;
                }
                case ANNOTATION_UINT << 3 | VARINT -> {
                    whole = in.varint();
                    isWhole = whole >= 0;
                    text = Long.toUnsignedString(whole);
                }
                case ANNOTATION_BOOL << 3 | VARINT -> text = String.valueOf(in.varint() != 0);
                case ANNOTATION_DOUBLE << 3 | FIXED64 -> text = String.valueOf(Double.longBitsToDouble(in.fixed64()));
                case ANNOTATION_STRING << 3 | BYTES -> text = in.name(mostBytes);
                default -> in.skip();
            }
        }
    }

    // ---- names, clocks, defaults ----

    private void internedField(int tag) throws IOException {
        switch (tag) {
            case INTERNED_CATEGORIES << 3 | BYTES,
                    INTERNED_NAMES << 3 | BYTES,
                    INTERNED_ANNOTATION_NAMES << 3 | BYTES -> {
                long[] iid = new long[1];
                String[] text = {""};
                in.message(inner -> {
                    switch (inner) {
                        case INTERNED_IID << 3 | VARINT -> iid[0] = in.varint();
                        case INTERNED_TEXT << 3 | BYTES -> text[0] = in.name(mostBytes);
                        default -> in.skip();
                    }
                });
                characters += Interned.costOf(text[0]);
                if (characters > MOST_CHARACTERS) {
                    throw in.error("the names of a packet take more than " + MOST_CHARACTERS + " characters");
                }
                interned.add(new Interned(tag >>> 3, iid[0], text[0]));
            }
            default -> in.skip();
        }
    }

    private void snapshotField(int tag) throws IOException {
        switch (tag) {
            case SNAPSHOT_CLOCKS << 3 | BYTES -> {
                long[] clock = new long[CLOCK_UNIT_NS + 1];
                clock[CLOCK_UNIT_NS] = 1;
                in.message(inner -> {
                    switch (inner) {
                        case CLOCK_ID << 3 | VARINT,
                                CLOCK_TIMESTAMP << 3 | VARINT,
                                CLOCK_IS_INCREMENTAL << 3 | VARINT,
                                CLOCK_UNIT_NS << 3 | VARINT -> clock[inner >>> 3] = in.varint();
                        default -> in.skip();
                    }
                });
                if (clocks.size() < MOST_CLOCKS) {
                    clocks.add(new Clock(
                            clock[CLOCK_ID],
                            clock[CLOCK_TIMESTAMP],
                            clock[CLOCK_IS_INCREMENTAL] != 0,
                            clock[CLOCK_UNIT_NS]));
                }
            }
            case SNAPSHOT_PRIMARY_CLOCK << 3 | VARINT -> primaryClock = in.varint();
            default -> in.skip();
        }
    }

    private void defaultsField(int tag) throws IOException {
        switch (tag) {
            case DEFAULTS_CLOCK_ID << 3 | VARINT -> defaultClock = in.varint();
            case DEFAULTS_TRACK_EVENT << 3 | BYTES ->
                in.message(inner -> {
                    if (inner == (EVENT_TRACK_UUID << 3 | VARINT)) {
                        hasDefaultTrack = true;
                        defaultTrack = in.varint();
                    } else {
                        in.skip();
                    }
                });
            default -> in.skip();
        }
    }

    /** Reads the description of a track. */
    private final class TrackReader {
        private final List<String> labels = new ArrayList<>();
        private long uuid;
        private String name = "";
        private String innerName = "";
        private long parent;
        private @Nullable Long process;
        private boolean isThread;
        private long tid;
        private @Nullable String unit;

        /** Reads the current message. */
        TrackDescription read() throws IOException {
            long at = in.offset();
            in.fields(this::field);
            return new TrackDescription(
                    uuid,
                    name.isEmpty() ? innerName : name,
                    parent,
                    new TrackDescription.Owner(process, isThread, tid),
                    unit,
                    labels,
                    at);
        }

        private void field(int tag) throws IOException {
            switch (tag) {
                case TRACK_UUID << 3 | VARINT -> uuid = in.varint();
                case TRACK_PARENT_UUID << 3 | VARINT -> parent = in.varint();
                case TRACK_NAME << 3 | BYTES -> name = in.name(mostBytes);
                case TRACK_PROCESS << 3 | BYTES -> {
                    process = process == null ? Long.valueOf(0) : process;
                    in.message(this::processField);
                }
                case TRACK_THREAD << 3 | BYTES -> {
                    isThread = true;
                    process = process == null ? Long.valueOf(0) : process;
                    in.message(this::threadField);
                }
                case TRACK_COUNTER << 3 | BYTES -> {
                    unit = "";
                    in.message(this::counterField);
                }
                default -> in.skip();
            }
        }

        private void processField(int tag) throws IOException {
            switch (tag) {
                case PROCESS_PID << 3 | VARINT -> process = in.varint();
                case PROCESS_NAME << 3 | BYTES -> innerName = in.name(mostBytes);
                case PROCESS_LABELS << 3 | BYTES -> {
                    String label = in.name(mostBytes);
                    if (labels.size() < MOST_LABELS) {
                        labels.add(label);
                    }
                }
                default -> in.skip();
            }
        }

        private void threadField(int tag) throws IOException {
            switch (tag) {
                case THREAD_PID << 3 | VARINT -> process = in.varint();
                case THREAD_TID << 3 | VARINT -> tid = in.varint();
                case THREAD_NAME << 3 | BYTES -> innerName = in.name(mostBytes);
                default -> in.skip();
            }
        }

        private void counterField(int tag) throws IOException {
            switch (tag) {
                case COUNTER_UNIT << 3 | VARINT -> {
                    long number = in.varint();
                    String named = number == UNIT_BYTES ? "bytes" : "";
                    unit = number == UNIT_NS ? "ns" : number == UNIT_COUNT ? "count" : named;
                }
                case COUNTER_UNIT_NAME << 3 | BYTES -> unit = in.name(mostBytes);
                default -> in.skip();
            }
        }
    }
}
