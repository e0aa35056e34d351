package org.brickprofiler.trace.write;

import static org.brickprofiler.internal.io.PerfettoSchema.ANNOTATION_INT;
import static org.brickprofiler.internal.io.PerfettoSchema.ANNOTATION_NAME_IID;
import static org.brickprofiler.internal.io.PerfettoSchema.CLOCK_ID;
import static org.brickprofiler.internal.io.PerfettoSchema.CLOCK_IS_INCREMENTAL;
import static org.brickprofiler.internal.io.PerfettoSchema.CLOCK_MONOTONIC;
import static org.brickprofiler.internal.io.PerfettoSchema.CLOCK_TIMESTAMP;
import static org.brickprofiler.internal.io.PerfettoSchema.DEFAULTS_CLOCK_ID;
import static org.brickprofiler.internal.io.PerfettoSchema.DEFAULTS_TRACK_EVENT;
import static org.brickprofiler.internal.io.PerfettoSchema.EVENT_ANNOTATIONS;
import static org.brickprofiler.internal.io.PerfettoSchema.EVENT_CATEGORY_IIDS;
import static org.brickprofiler.internal.io.PerfettoSchema.EVENT_COUNTER_VALUE;
import static org.brickprofiler.internal.io.PerfettoSchema.EVENT_DOUBLE_COUNTER_VALUE;
import static org.brickprofiler.internal.io.PerfettoSchema.EVENT_FLOWS;
import static org.brickprofiler.internal.io.PerfettoSchema.EVENT_NAME_IID;
import static org.brickprofiler.internal.io.PerfettoSchema.EVENT_TERMINATING_FLOWS;
import static org.brickprofiler.internal.io.PerfettoSchema.EVENT_TRACK_UUID;
import static org.brickprofiler.internal.io.PerfettoSchema.EVENT_TYPE;
import static org.brickprofiler.internal.io.PerfettoSchema.FIRST_CLOCK_OF_SEQUENCE;
import static org.brickprofiler.internal.io.PerfettoSchema.FLAG_NEEDS_STATE;
import static org.brickprofiler.internal.io.PerfettoSchema.FLAG_STATE_CLEARED;
import static org.brickprofiler.internal.io.PerfettoSchema.INTERNED_ANNOTATION_NAMES;
import static org.brickprofiler.internal.io.PerfettoSchema.INTERNED_CATEGORIES;
import static org.brickprofiler.internal.io.PerfettoSchema.INTERNED_IID;
import static org.brickprofiler.internal.io.PerfettoSchema.INTERNED_NAMES;
import static org.brickprofiler.internal.io.PerfettoSchema.INTERNED_TEXT;
import static org.brickprofiler.internal.io.PerfettoSchema.PACKET_CLOCK_SNAPSHOT;
import static org.brickprofiler.internal.io.PerfettoSchema.PACKET_DEFAULTS;
import static org.brickprofiler.internal.io.PerfettoSchema.PACKET_INTERNED_DATA;
import static org.brickprofiler.internal.io.PerfettoSchema.PACKET_SEQUENCE_FLAGS;
import static org.brickprofiler.internal.io.PerfettoSchema.PACKET_SEQUENCE_ID;
import static org.brickprofiler.internal.io.PerfettoSchema.PACKET_TIMESTAMP;
import static org.brickprofiler.internal.io.PerfettoSchema.PACKET_TRACK_EVENT;
import static org.brickprofiler.internal.io.PerfettoSchema.SNAPSHOT_CLOCKS;
import static org.brickprofiler.internal.io.PerfettoSchema.TRACE_PACKET;
import static org.brickprofiler.internal.io.PerfettoSchema.TYPE_BEGIN;
import static org.brickprofiler.internal.io.PerfettoSchema.TYPE_COUNTER;
import static org.brickprofiler.internal.io.PerfettoSchema.TYPE_END;
import static org.brickprofiler.internal.io.PerfettoSchema.TYPE_INSTANT;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.trace.Span;
import org.brickprofiler.trace.SpanName;

/**
 * Writes the events of one track after another as packets. Each track is a packet sequence of its own, whose first
 * packet holds the defaults: the track, and a clock that counts from packet to packet. One thread at a time.
 */
final class PerfettoEvents extends TrackWriter {

    private static final int ELEMENTS_IID = 1;
    private static final int LAYER_IID = 2;
    private static final int DEVICE_NS_IID = 3;
    private static final int DEVICE_IID = 4;
    private static final int SAMPLE_IID = 5;
    private static final int BYTES_IID = 6;
    private static final int CORRELATION_IID = 7;
    private static final int PHASE_IID = 8;

    /** The number of elements that a brick's span has without an annotation: one token. */
    private static final long USUAL_ELEMENTS = 1;

    private final ProtoBuffer out;
    private final PerfettoTracks.Ids ids;
    private final PerfettoTracks descriptors;
    private final InternedNames names;
    /** Added to each time, so that none is negative. */
    private final long shiftNs;
    /** True if annotations are omitted when they have the value that a reader assumes. */
    private final boolean isOwn;

    /** The device of the track, or {@link CheckedTracks#HOST}. */
    private long device;

    /** The time of the last packet, which may be the end of a span. */
    private long lastNs;

    /** The tracks of the lanes from 1 on. */
    private final List<Long> laneUuids = new ArrayList<>();

    PerfettoEvents(
            ProtoBuffer out,
            PerfettoTracks.Ids ids,
            PerfettoTracks descriptors,
            CheckedTracks tracks,
            List<SpanName> names,
            long shiftNs,
            TraceFiles.Origin origin) {
        super(tracks);
        this.out = out;
        this.ids = ids;
        this.descriptors = descriptors;
        this.names = new InternedNames(names);
        this.shiftNs = shiftNs;
        this.isOwn = origin == TraceFiles.Origin.OWN;
    }

    @Override
    void beginTrack() {
        device = tracks.deviceOf(track);
        laneUuids.clear();
        names.clear();
    }

    @Override
    public void span(Span span) {
        long startNs = span.startNs();
        advanceTo(startNs, false);
        int lane = lanes.open(Math.max(startNs, span.endNs()), span.layer());
        if (lane > laneUuids.size()) {
            laneUuids.add(descriptors.writeLane(track, lane));
        }
        int name = span.name();
        boolean isNew = names.add(name);
        int packet = openPacket(startNs);
        int event = openEvent(TYPE_BEGIN, lane);
        writeName(name);
        if (isOwn) {
            writeElements(span.elements(), names.isBrick(name));
            if (span.isDeviceSample()) {
                annotate(SAMPLE_IID, 1);
            }
            writePhase(span, lane);
        } else {
            annotateKnown(names.isCopy(name) ? BYTES_IID : ELEMENTS_IID, span.elements());
            annotateKnown(CORRELATION_IID, span.correlation());
        }
        writeLayer(span.layer(), isOwn ? lanes.layerAround(lane) : SpanLanes.NO_LAYER);
        annotateKnown(DEVICE_NS_IID, span.deviceNs());
        annotateKnown(DEVICE_IID, device);
        if (span.flowOut() != 0) {
            out.fixed64(EVENT_FLOWS, ids.flow(span.flowOut()));
        }
        if (span.flowIn() != 0) {
            out.fixed64(EVENT_TERMINATING_FLOWS, ids.flow(span.flowIn()));
        }
        out.close(event);
        if (isNew) {
            writeInterned(name);
        }
        out.closeTop(packet);
    }

    @Override
    public void close(int lane, long endNs) {
        int packet = openPacket(endNs);
        int event = openEvent(TYPE_END, lane);
        out.close(event);
        out.closeTop(packet);
    }

    @Override
    public void instant(long atNs, int name) {
        advanceTo(atNs, false);
        boolean isNew = names.add(name);
        int packet = openPacket(atNs);
        int event = openEvent(TYPE_INSTANT, 0);
        writeName(name);
        out.close(event);
        if (isNew) {
            writeInterned(name);
        }
        out.closeTop(packet);
    }

    @Override
    public void counter(long atNs, double value) {
        advanceTo(atNs, true);
        int packet = openPacket(atNs);
        int event = openEvent(TYPE_COUNTER, 0);
        long whole = (long) value;
        if (Double.compare((double) whole, value) == 0) {
            out.varint(EVENT_COUNTER_VALUE, whole);
        } else {
            out.float64(EVENT_DOUBLE_COUNTER_VALUE, value);
        }
        out.close(event);
        out.closeTop(packet);
    }

    @Override
    void beginEvents(long ns, boolean isCounter) {
        int packet = out.open(TRACE_PACKET);
        out.varint(PACKET_SEQUENCE_ID, PerfettoTracks.Ids.sequence(track));
        out.varint(PACKET_SEQUENCE_FLAGS, FLAG_STATE_CLEARED);
        int snapshot = out.open(PACKET_CLOCK_SNAPSHOT);
        writeClock(CLOCK_MONOTONIC, ns, false);
        writeClock(FIRST_CLOCK_OF_SEQUENCE, ns, true);
        out.close(snapshot);
        int defaults = out.open(PACKET_DEFAULTS);
        int eventDefaults = out.open(DEFAULTS_TRACK_EVENT);
        out.varint(EVENT_TRACK_UUID, ids.track(track));
        out.close(eventDefaults);
        out.varint(DEFAULTS_CLOCK_ID, FIRST_CLOCK_OF_SEQUENCE);
        out.close(defaults);
        int interned = out.open(PACKET_INTERNED_DATA);
        writeInterned(INTERNED_ANNOTATION_NAMES, ELEMENTS_IID, "elements");
        writeInterned(INTERNED_ANNOTATION_NAMES, LAYER_IID, "layer");
        writeInterned(INTERNED_ANNOTATION_NAMES, DEVICE_NS_IID, "device_ns");
        if (device >= 0) {
            writeInterned(INTERNED_ANNOTATION_NAMES, DEVICE_IID, "device");
        }
        if (isOwn) {
            writeInterned(INTERNED_ANNOTATION_NAMES, SAMPLE_IID, "sample");
            writeInterned(INTERNED_ANNOTATION_NAMES, PHASE_IID, "phase");
        } else {
            writeInterned(INTERNED_ANNOTATION_NAMES, BYTES_IID, "bytes");
            writeInterned(INTERNED_ANNOTATION_NAMES, CORRELATION_IID, "correlation");
        }
        out.close(interned);
        out.closeTop(packet);
        lastNs = ns;
    }

    private void writeClock(int id, long ns, boolean incremental) {
        int clock = out.open(SNAPSHOT_CLOCKS);
        out.varint(CLOCK_ID, id);
        out.varint(CLOCK_TIMESTAMP, ns + shiftNs);
        if (incremental) {
            out.varint(CLOCK_IS_INCREMENTAL, 1);
        }
        out.close(clock);
    }

    private int openPacket(long ns) {
        int packet = out.open(TRACE_PACKET);
        out.varint(PACKET_TIMESTAMP, ns - lastNs);
        lastNs = ns;
        out.varint(PACKET_SEQUENCE_ID, PerfettoTracks.Ids.sequence(track));
        out.varint(PACKET_SEQUENCE_FLAGS, FLAG_NEEDS_STATE);
        return packet;
    }

    private int openEvent(int type, int lane) {
        int event = out.open(PACKET_TRACK_EVENT);
        out.varint(EVENT_TYPE, type);
        if (lane > 0) {
            out.varint(EVENT_TRACK_UUID, laneUuids.get(lane - 1));
        }
        return event;
    }

    private void writeName(int name) {
        out.varint(EVENT_NAME_IID, names.nameIid(name));
        out.varint(EVENT_CATEGORY_IIDS, names.categoryIid(name));
    }

    /**
     * Writes the elements unless a reader assumes them. Without an annotation, a span of a brick's category has one
     * element and is a sample, and another span has none.
     */
    private void writeElements(long elements, boolean isBrick) {
        if (isBrick && elements < 0) {
            annotate(SAMPLE_IID, 0);
        } else if (!isBrick || elements != USUAL_ELEMENTS) {
            annotateKnown(ELEMENTS_IID, elements);
        }
    }

    /** Writes the layer unless it is the layer of the span around, which a reader assumes. */
    private void writeLayer(int layer, int around) {
        if (layer != around) {
            annotate(LAYER_IID, layer);
        }
    }

    /**
     * Writes the phase of a step, and that of a sample unless it is the one that a reader assumes. Other spans have
     * none.
     */
    private void writePhase(Span span, int lane) {
        boolean isSample = names.isBrick(span.name())
                && span.elements() >= 0
                && (device == CheckedTracks.HOST || span.isDeviceSample());
        Span.StatedPhase phase = span.phase();
        Span.StatedPhase assumed = lanes.phase(lane, phase, isSample);
        if (isSample ? phase != assumed : phase != Span.StatedPhase.NONE) {
            annotate(PHASE_IID, phase.number());
        }
    }

    private void annotateKnown(int nameIid, long value) {
        if (value >= 0) {
            annotate(nameIid, value);
        }
    }

    private void annotate(int nameIid, long value) {
        int annotation = out.open(EVENT_ANNOTATIONS);
        out.varint(ANNOTATION_NAME_IID, nameIid);
        out.varint(ANNOTATION_INT, value);
        out.close(annotation);
    }

    /** Interns a name for the packet that is open. Its category is written again with each of its names. */
    private void writeInterned(int name) {
        int interned = out.open(PACKET_INTERNED_DATA);
        writeInterned(INTERNED_CATEGORIES, names.categoryIid(name), names.category(name));
        writeInterned(INTERNED_NAMES, names.nameIid(name), names.text(name));
        out.close(interned);
    }

    private void writeInterned(int field, int iid, String text) {
        int entry = out.open(field);
        out.varint(INTERNED_IID, iid);
        out.string(INTERNED_TEXT, text);
        out.close(entry);
    }

    /**
     * The interned ids of names and categories within one sequence of packets, in order of first use from 1, so that
     * most take one byte. One thread at a time.
     */
    private static final class InternedNames {

        private static final Set<String> BRICK_CATEGORIES = Arrays.stream(BrickCategory.values())
                .map(BrickCategory::displayName)
                .collect(Collectors.toUnmodifiableSet());

        private final List<SpanName> names;
        /** The index of each name's category. */
        private final int[] categories;
        /** True for each name whose category is a brick's. */
        private final boolean[] bricks;

        /** True for each name whose category stands for another program's copies. */
        private final boolean[] copies;

        private final Numbers nameIids;
        private final Numbers categoryIids;

        InternedNames(List<SpanName> names) {
            this.names = names;
            this.categories = new int[names.size()];
            this.bricks = new boolean[names.size()];
            this.copies = new boolean[names.size()];
            Map<String, Integer> places = new HashMap<>();
            for (int name = 0; name < categories.length; name++) {
                String category = names.get(name).category();
                categories[name] = places.computeIfAbsent(category, added -> places.size());
                bricks[name] = BRICK_CATEGORIES.contains(category);
                copies[name] = CheckedTracks.isCopy(category);
            }
            this.nameIids = new Numbers(names.size());
            this.categoryIids = new Numbers(places.size());
        }

        /** Begins another sequence. */
        void clear() {
            nameIids.clear();
            categoryIids.clear();
        }

        /** Interns a name; returns true if it is new to the sequence. */
        boolean add(int name) {
            if (!nameIids.add(CheckedTracks.requireName(name, categories.length))) {
                return false;
            }
            categoryIids.add(categories[name]);
            return true;
        }

        int nameIid(int name) {
            return nameIids.of(name);
        }

        int categoryIid(int name) {
            return categoryIids.of(categories[name]);
        }

        /** Returns whether the elements of a name are the bytes of another program's copy. */
        boolean isCopy(int name) {
            return copies[name];
        }

        /** Returns whether the category of a name is that of a brick. */
        boolean isBrick(int name) {
            return bricks[name];
        }

        String text(int name) {
            return names.get(name).name();
        }

        String category(int name) {
            return names.get(name).category();
        }

        /** Numbers given to indices by first use. */
        private static final class Numbers {

            private final int[] iids;
            private int used;

            Numbers(int places) {
                this.iids = new int[places];
            }

            boolean add(int place) {
                if (iids[place] != 0) {
                    return false;
                }
                iids[place] = ++used;
                return true;
            }

            int of(int place) {
                return iids[place];
            }

            void clear() {
                Arrays.fill(iids, 0);
                used = 0;
            }
        }
    }
}
