package org.brickprofiler.trace.write;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.InvalidProtocolBufferException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.brickprofiler.trace.write.proto.PerfettoTrace;
import org.jspecify.annotations.Nullable;

/**
 * Models Perfetto's trace processor: protobuf's generated classes decode the packets; the state of the sequences, the
 * clocks and the stacks of slices are followed as in its sources. Everything that it would count as an error, or
 * silently repair, fails.
 */
final class PerfettoDecoder {

    private static final int MONOTONIC = 3;

    /** The categories whose slices have one element if they state none. */
    private static final Set<String> BRICKS = Set.of(
            "Norm",
            "Attention",
            "FFN",
            "Other",
            "Sparse",
            "FFT",
            "Solver",
            "Quantization",
            "Communication",
            "Transfer");

    /** A slice, instant or value as it was decoded. */
    record Decoded(
            PerfettoTrace.TrackEvent.Type type,
            long track,
            String name,
            String category,
            long startNs,
            long endNs,
            Details details) {

        Map<String, Long> annotations() {
            return details.annotations;
        }

        Map<String, Long> said() {
            return details.said;
        }

        List<Long> flows() {
            return details.flows;
        }

        List<Long> terminatingFlows() {
            return details.terminatingFlows;
        }

        double value() {
            return details.value;
        }
    }

    /**
     * What is known of it beside its name and times.
     *
     * @param annotations the annotations, including implied ones
     * @param said the annotations of its packet
     */
    private record Details(
            Map<String, Long> annotations,
            Map<String, Long> said,
            List<Long> flows,
            List<Long> terminatingFlows,
            double value) {}

    /** The state of a sequence of packets. */
    private static final class Sequence {
        boolean valid;
        long clockNs;
        long lastNs = Long.MIN_VALUE;
        PerfettoTrace.TracePacketDefaults defaults = PerfettoTrace.TracePacketDefaults.getDefaultInstance();
        final Map<Long, String> names = new HashMap<>();
        final Map<Long, String> categories = new HashMap<>();
        final Map<Long, String> annotationNames = new HashMap<>();
    }

    private final Map<Integer, Sequence> sequences = new HashMap<>();
    private final Map<Long, Deque<Decoded>> open = new HashMap<>();

    final Map<Long, PerfettoTrace.TrackDescriptor> tracks = new LinkedHashMap<>();
    final List<Decoded> events = new ArrayList<>();
    long monotonicNs = -1;
    long realtimeNs = -1;

    private boolean isOwn;

    private PerfettoDecoder() {}

    static PerfettoDecoder decode(byte[] trace) throws InvalidProtocolBufferException {
        PerfettoDecoder decoder = new PerfettoDecoder();
        for (PerfettoTrace.TracePacket packet :
                PerfettoTrace.Trace.parseFrom(trace).getPacketList()) {
            assertThat(packet.getUnknownFields().asMap()).isEmpty();
            decoder.packet(packet);
        }
        assertThat(decoder.open.values()).allSatisfy(stack -> assertThat(stack).isEmpty());
        return decoder;
    }

    private void packet(PerfettoTrace.TracePacket packet) {
        assertThat(packet.getTrustedPacketSequenceId()).isPositive();
        Sequence sequence = sequences.computeIfAbsent(packet.getTrustedPacketSequenceId(), id -> new Sequence());
        if ((packet.getSequenceFlags() & 1) != 0) {
            assertThat(sequence.valid).as("cleared once").isFalse();
            sequence.valid = true;
        }
        if (packet.hasTracePacketDefaults()) {
            sequence.defaults = packet.getTracePacketDefaults();
        }
        intern(packet.getInternedData().getEventNamesList(), sequence.names);
        intern(packet.getInternedData().getEventCategoriesList(), sequence.categories);
        intern(packet.getInternedData().getDebugAnnotationNamesList(), sequence.annotationNames);
        if (packet.hasClockSnapshot()) {
            // Nothing else in such a packet is looked at.
            assertThat(packet.hasTrackEvent() || packet.hasTrackDescriptor()).isFalse();
            snapshot(packet.getClockSnapshot(), sequence);
            return;
        }
        if ((packet.getSequenceFlags() & 2) != 0) {
            assertThat(sequence.valid).as("state was set up").isTrue();
        }
        if (packet.hasTrackDescriptor()) {
            declare(packet.getTrackDescriptor());
        }
        if (packet.hasTrackEvent()) {
            event(packet, sequence);
        }
    }

    private static void intern(List<PerfettoTrace.Interned> entries, Map<Long, String> known) {
        for (PerfettoTrace.Interned entry : entries) {
            assertThat(entry.getIid()).isPositive();
            String before = known.put(entry.getIid(), entry.getName());
            assertThat(before).isIn(null, entry.getName());
        }
    }

    private void snapshot(PerfettoTrace.ClockSnapshot snapshot, Sequence sequence) {
        Map<Integer, Long> clocks = new HashMap<>();
        for (PerfettoTrace.ClockSnapshot.Clock clock : snapshot.getClocksList()) {
            assertThat(clock.getTimestamp()).as("read as a signed number").isNotNegative();
            assertThat(clock.getIsIncremental()).isEqualTo(clock.getClockId() >= 64);
            clocks.put(clock.getClockId(), clock.getTimestamp());
        }
        if (snapshot.hasPrimaryTraceClock()) {
            assertThat(snapshot.getPrimaryTraceClock()).isEqualTo(MONOTONIC);
            assertThat(sequences).as("nothing before the clocks").hasSize(1);
            monotonicNs = found(clocks, MONOTONIC);
            realtimeNs = found(clocks, 1);
        } else {
            assertThat(clocks).containsOnlyKeys(MONOTONIC, 64);
            assertThat(clocks.get(64)).isEqualTo(clocks.get(MONOTONIC));
            sequence.clockNs = found(clocks, 64);
        }
    }

    private void declare(PerfettoTrace.TrackDescriptor track) {
        assertThat(track.getUuid()).isNotZero();
        assertThat(tracks).as("declared once").doesNotContainKey(track.getUuid());
        if (track.hasParentUuid()) {
            assertThat(tracks).as("parents first").containsKey(track.getParentUuid());
        }
        tracks.put(track.getUuid(), track);
        isOwn |= track.getProcess().getProcessLabelsList().contains("brick-profiler 3");
    }

    private void event(PerfettoTrace.TracePacket packet, Sequence sequence) {
        PerfettoTrace.TrackEvent event = packet.getTrackEvent();
        long atNs = timeOf(packet, sequence);
        assertThat(atNs).isNotNegative().as("in order within the sequence").isGreaterThanOrEqualTo(sequence.lastNs);
        sequence.lastNs = atNs;
        long track = event.hasTrackUuid()
                ? event.getTrackUuid()
                : sequence.defaults.getTrackEventDefaults().getTrackUuid();
        assertThat(tracks).as("declared before use").containsKey(track);
        Deque<Decoded> stack = open.computeIfAbsent(track, id -> new ArrayDeque<>());
        switch (event.getType()) {
            case TYPE_SLICE_BEGIN -> {
                Decoded slice = decoded(event, sequence, track, atNs, atNs);
                complete(slice, stack.peek());
                stack.push(slice);
            }
            case TYPE_SLICE_END -> {
                assertThat(stack).as("each end has its begin").isNotEmpty();
                events.add(ended(stack.pop(), atNs));
            }
            case TYPE_INSTANT, TYPE_COUNTER -> events.add(decoded(event, sequence, track, atNs, atNs));
            default -> throw new AssertionError(event.getType());
        }
        assertThat(found(tracks, track).hasCounter())
                .isEqualTo(event.getType() == PerfettoTrace.TrackEvent.Type.TYPE_COUNTER);
    }

    /** Adds implied values. */
    private void complete(Decoded slice, @Nullable Decoded around) {
        Map<String, Long> all = slice.annotations();
        if (isOwn) {
            if (BRICKS.contains(slice.category()) && !all.remove("sample", 0L)) {
                all.putIfAbsent("elements", 1L);
            }
            if (around != null && around.annotations().containsKey("layer")) {
                all.putIfAbsent("layer", found(around.annotations(), "layer"));
            }
            all.remove("layer", -1L);
            // RereadProperties compares phases, which most samples do not state.
            all.remove("phase");
        }
    }

    private static <K, V> V found(Map<K, V> map, K key) {
        V value = map.get(key);
        if (value == null) {
            throw new AssertionError(key + " is not among " + map.keySet());
        }
        return value;
    }

    private static long timeOf(PerfettoTrace.TracePacket packet, Sequence sequence) {
        assertThat(packet.hasTimestamp()).isTrue();
        int clock =
                packet.hasTimestampClockId() ? packet.getTimestampClockId() : sequence.defaults.getTimestampClockId();
        if (clock == 64) {
            sequence.clockNs += packet.getTimestamp();
            return sequence.clockNs;
        }
        assertThat(clock).isEqualTo(MONOTONIC);
        return packet.getTimestamp();
    }

    private static Decoded decoded(
            PerfettoTrace.TrackEvent event, Sequence sequence, long track, long startNs, long endNs) {
        Map<String, Long> annotations = new HashMap<>();
        for (PerfettoTrace.DebugAnnotation annotation : event.getDebugAnnotationsList()) {
            String name = annotation.hasName()
                    ? annotation.getName()
                    : found(sequence.annotationNames, annotation.getNameIid());
            assertThat(annotations.put(name, annotation.getIntValue())).isNull();
        }
        List<String> categories = event.getCategoryIidsList().stream()
                .map(iid -> found(sequence.categories, iid))
                .toList();
        assertThat(categories).hasSizeLessThanOrEqualTo(1);
        String name = event.hasNameIid() ? found(sequence.names, event.getNameIid()) : event.getName();
        return new Decoded(
                event.getType(),
                track,
                name,
                categories.isEmpty() ? "" : categories.get(0),
                startNs,
                endNs,
                new Details(
                        annotations,
                        Map.copyOf(annotations),
                        event.getFlowIdsList(),
                        event.getTerminatingFlowIdsList(),
                        event.hasCounterValue() ? event.getCounterValue() : event.getDoubleCounterValue()));
    }

    private static Decoded ended(Decoded begun, long endNs) {
        return new Decoded(
                begun.type(), begun.track(), begun.name(), begun.category(), begun.startNs(), endNs, begun.details());
    }

    List<Decoded> of(PerfettoTrace.TrackEvent.Type type) {
        return events.stream().filter(event -> event.type() == type).toList();
    }
}
