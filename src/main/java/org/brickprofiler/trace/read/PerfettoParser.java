package org.brickprofiler.trace.read;

import java.io.IOException;
import java.io.InputStream;
import java.util.StringJoiner;
import org.eclipse.collections.impl.map.mutable.primitive.LongObjectHashMap;

/** Walks through the packets of a Perfetto trace and hands out its track events. One thread. */
final class PerfettoParser {

    private final ProtoInput in;
    private final ReadLimits limits;
    private final EventSink sink;

    private final PerfettoPacket packet = new PerfettoPacket();
    private final PerfettoClocks clocks = new PerfettoClocks();
    private final PerfettoNames.Supply names = new PerfettoNames.Supply();
    private final LongObjectHashMap<PerfettoSequence> sequences = new LongObjectHashMap<>();
    private final RawEvent event = new RawEvent();

    private PerfettoParser(ProtoInput in, ReadLimits limits, EventSink sink) {
        this.in = in;
        this.limits = limits;
        this.sink = sink;
    }

    /**
     * Reads a trace.
     *
     * @param trace the bytes, unpacked; left open
     * @param source what to call it in messages
     * @param limits what bounds the memory
     * @param sink takes the events
     * @throws TraceFormatException when it is damaged, or beyond a limit
     * @throws IOException when it cannot be read
     */
    static void parse(InputStream trace, String source, ReadLimits limits, EventSink sink)
            throws IOException {
        ProtoInput in = new ProtoInput(trace, source);
        try {
            new PerfettoParser(in, limits, sink).trace();
        } catch (TraceInput.DamagedException | Rule.TooCostly fault) {
            throw new TraceFormatException(source, in.offset(), String.valueOf(fault.getMessage()), fault);
        }
    }

    private void trace() throws IOException {
        while (in.nextField()) {
            if (in.is(PerfettoFields.TRACE_PACKET, ProtoInput.LENGTH_DELIMITED)) {
                long outer = in.enter();
                packet.read(in, limits.stringLength());
                in.leave(outer);
                take();
            } else {
                in.skip();
            }
        }
        sink.end(in.offset());
    }

    private void take() throws IOException {
        PerfettoSequence sequence = sequence();
        if (!sequence.take(packet)) {
            throw in.error("the names of the trace take more than " + PerfettoNames.MOST + " characters");
        }
        clocks.take(packet, sequence);
        clocks.baseTimeNs().ifPresent(sink.head()::baseTime);
        PerfettoTrack track = packet.track;
        if (track != null) {
            for (String label : track.labels()) {
                sink.head().producer(label, OwnTrace.PERFETTO, sink.eventsRead(), packet.offset);
            }
            sink.describe(track);
        }
        if (packet.skipped > 0) {
            sink.passOver(packet.skipped);
        }
        long timeNs = clocks.timeNs(packet, sequence);
        if (!packet.hasEvent) {
            return;
        }
        if (sequence.lacksStateOf(packet)) {
            sink.lostState(packet.offset);
        } else {
            fill(sequence, timeNs);
            sink.accept(event);
        }
    }

    private PerfettoSequence sequence() throws TraceFormatException {
        PerfettoSequence known = sequences.get(packet.sequence);
        if (known != null) {
            return known;
        }
        if (sequences.size() == limits.rows()) {
            throw in.error("there are more than " + limits.rows() + " sequences of packets");
        }
        PerfettoSequence added = new PerfettoSequence(names);
        sequences.put(packet.sequence, added);
        return added;
    }

    // ---- events ----

    private void fill(PerfettoSequence sequence, long timeNs) {
        PerfettoEvent found = packet.event;
        event.clear(packet.offset);
        event.phase = phase(found.type);
        event.startNs = timeNs;
        event.value = found.value;
        event.skipped = found.skipped;
        event.flowsOut.addAll(found.flows);
        event.flowsIn.addAll(found.terminatingFlows);
        event.thread = Long.toUnsignedString(sequence.trackOf(found));
        // An end belongs to the innermost slice of its track, whatever it is called.
        if (found.type != PerfettoFields.TYPE_END) {
            event.name = found.nameIid == 0 ? found.name : sequence.names.name(found.nameIid);
            event.category = category(found, sequence.names);
            event.ownCategory = event.category;
            if (sink.head().leavesOut() && OwnTrace.category(event) != null) {
                event.elements = 1;
            }
            found.annotations.forEach(annotation -> argument(annotation, sequence.names));
        }
    }

    private static char phase(long type) {
        if (type == PerfettoFields.TYPE_BEGIN) {
            return 'B';
        }
        if (type == PerfettoFields.TYPE_END) {
            return 'E';
        }
        if (type == PerfettoFields.TYPE_INSTANT) {
            return 'i';
        }
        return type == PerfettoFields.TYPE_COUNTER ? 'C' : '?';
    }

    private static String category(PerfettoEvent found, PerfettoNames names) {
        if (found.categories.isEmpty() && found.categoryIids.size() == 1) {
            return names.category(found.categoryIids.getFirst());
        }
        StringJoiner all = new StringJoiner(",");
        found.categoryIids.forEach(iid -> all.add(names.category(iid)));
        found.categories.forEach(all::add);
        return Names.bounded(all.toString());
    }

    private void argument(PerfettoEvent.Annotation annotation, PerfettoNames names) {
        String key = annotation.nameIid() == 0 ? annotation.name() : names.annotationName(annotation.nameIid());
        boolean isCount = annotation.isWhole() && annotation.whole() >= 0;
        switch (key) {
            case "bytes" -> event.bytes = isCount ? annotation.whole() : RawEvent.MALFORMED_BYTES;
            case OwnTrace.ELEMENTS -> event.elements = isCount ? annotation.whole() : RawEvent.NO_ELEMENTS;
            case OwnTrace.SAMPLE -> {
                event.isDeviceSample = annotation.isWhole() && annotation.whole() == 1;
                event.elements = event.isDeviceSample ? event.elements : RawEvent.NO_ELEMENTS;
            }
            case OwnTrace.DEVICE -> event.onDevice = true;
            case OwnTrace.DROPPED -> {
                if (event.phase == 'i' && isCount) {
                    sink.head().lostSpans(annotation.whole(), packet.offset);
                }
            }
            default -> {
                // A rule may look at it.
            }
        }
        if (sink.keeps(key)) {
            event.keep(key, annotation.asText());
        }
    }
}
