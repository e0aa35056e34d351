package org.brickprofiler.trace.read;

import static org.brickprofiler.internal.io.PerfettoSchema.*;

import java.io.IOException;
import java.io.InputStream;
import java.util.OptionalLong;
import java.util.StringJoiner;
import org.brickprofiler.trace.Span;
import org.brickprofiler.trace.read.PerfettoPacket.Annotation;
import org.brickprofiler.trace.read.PerfettoPacket.Clock;
import org.brickprofiler.trace.read.PerfettoPacket.Interned;
import org.brickprofiler.trace.write.PerfettoWriter;
import org.eclipse.collections.impl.map.mutable.primitive.LongLongHashMap;
import org.eclipse.collections.impl.map.mutable.primitive.LongObjectHashMap;
import org.jspecify.annotations.Nullable;

/** Reads the packets of a Perfetto trace and passes its track events to a collector. One thread. */
final class PerfettoParser {

    private static final int MOST_CLOCKS = 1_024;

    private final ProtoInput in;
    private final int mostSequences;
    private final EventCollector collector;

    private final PerfettoPacket packet;
    private final LongObjectHashMap<Sequence> sequences = new LongObjectHashMap<>();
    private final TraceEvent event = new TraceEvent();

    /** The offsets between the clocks of the whole trace; see {@link #takeClocks}. */
    private final LongLongHashMap clockOffsets = new LongLongHashMap();

    private long referenceClock = CLOCK_BOOTTIME;
    private boolean clocksBegun;

    /** The characters that remain for the names of all sequences. */
    private int charactersLeft = PerfettoPacket.MOST_CHARACTERS;

    /** Whether a file of this library is being read that must state its end, and has not stated it yet. */
    private boolean isEndMissing;

    /** The number of concatenated files of this library that lack their end. */
    private int cutOff;

    private PerfettoParser(ProtoInput in, ReadOptions.Limits limits, EventCollector collector) {
        this.in = in;
        this.mostSequences = limits.rows();
        this.collector = collector;
        this.packet = new PerfettoPacket(in, limits.stringLength());
    }

    /**
     * Reads a trace.
     *
     * @param trace the bytes, unpacked; left open
     * @param limits the limits of memory
     * @param collector receives the events
     * @throws TraceFormatException when it is damaged, or beyond a limit
     * @throws IOException when it cannot be read
     */
    static void parse(InputStream trace, ReadOptions.Limits limits, EventCollector collector) throws IOException {
        ProtoInput in = new ProtoInput(trace, collector.source);
        collector.head.hasTracks = true;
        try {
            PerfettoParser parser = new PerfettoParser(in, limits, collector);
            in.fields(parser::field);
            parser.end();
        } catch (TraceInput.DamagedException damaged) {
            throw TraceFormatException.damage(
                    collector.source, in.offset(), String.valueOf(damaged.getMessage()), damaged);
        } catch (TraceRule.TooCostly fault) {
            throw new TraceFormatException(collector.source, in.offset(), String.valueOf(fault.getMessage()), fault);
        }
    }

    private void end() throws TraceFormatException {
        endFile();
        collector.head.cutOff(cutOff, in.offset());
        collector.end(in.offset());
    }

    /** Ends a file of this library; another one may follow, as files can be joined. */
    private void endFile() {
        cutOff += isEndMissing ? 1 : 0;
        isEndMissing = false;
    }

    private void field(int tag) throws IOException {
        if (tag == (TRACE_PACKET << 3 | ProtoInput.BYTES)) {
            packet.read();
            take();
        } else {
            in.skip();
        }
    }

    private void take() throws IOException {
        TraceHead head = collector.head;
        Sequence sequence = sequence();
        sequence.take();
        takeClocks(sequence);
        baseTimeNs().ifPresent(ns -> head.baseTimeNs = ns);
        TrackDescription track = packet.track;
        if (track != null) {
            for (String label : track.labels()) {
                head.producer(label, TraceHead.PERFETTO_PRODUCERS, collector.eventsRead(), packet.offset);
                if (label.equals(PerfettoWriter.PRODUCER)) {
                    endFile();
                    isEndMissing = true;
                }
            }
            collector.describe(track);
        }
        isEndMissing &= !packet.endsRecording;
        collector.skipFields(packet.skipped);
        long timeNs = timeNs(sequence);
        if (!packet.hasEvent) {
            return;
        }
        if (sequence.lacksState()) {
            collector.acceptWithLostState(packet.offset);
        } else {
            fill(sequence, timeNs);
            collector.accept(event);
        }
    }

    // ---- sequences ----

    private Sequence sequence() throws TraceFormatException {
        Sequence known = sequences.get(packet.sequence);
        if (known == null) {
            if (sequences.size() == mostSequences) {
                throw in.error("there are more than " + mostSequences + " sequences of packets");
            }
            known = new Sequence();
            sequences.put(packet.sequence, known);
        }
        return known;
    }

    /** The state of a sequence of packets, which lasts from packet to packet. */
    private final class Sequence {
        private final LongObjectHashMap<String> categories = new LongObjectHashMap<>();
        private final LongObjectHashMap<String> names = new LongObjectHashMap<>();
        private final LongObjectHashMap<String> annotationNames = new LongObjectHashMap<>();
        private final LongObjectHashMap<SequenceClock> clocks = new LongObjectHashMap<>();
        private int characters;
        private boolean isValid;
        private boolean hasDefaultTrack;
        private long defaultTrack;
        private long defaultClock;

        /** Applies the state that the packet sets for itself and later packets. */
        void take() throws TraceFormatException {
            if (packet.previousDropped) {
                isValid = false;
            }
            if ((packet.flags & FLAG_STATE_CLEARED) != 0) {
                isValid = true;
                clearNames();
                hasDefaultTrack = false;
                defaultClock = 0;
            }
            if (packet.hasDefaults) {
                hasDefaultTrack = packet.hasDefaultTrack;
                defaultTrack = packet.defaultTrack;
                defaultClock = packet.defaultClock;
            }
            packet.interned.forEach(this::add);
            if (charactersLeft < 0) {
                throw in.error(
                        "the names of the trace take more than " + PerfettoPacket.MOST_CHARACTERS + " characters");
            }
        }

        /** Keeps an interned text; it replaces an earlier one with the same number. */
        private void add(Interned interned) {
            LongObjectHashMap<String> texts =
                    switch (interned.kind()) {
                        case INTERNED_CATEGORIES -> categories;
                        case INTERNED_NAMES -> names;
                        default -> annotationNames;
                    };
            String before = texts.put(interned.iid(), interned.text());
            int cost = Interned.costOf(interned.text()) - (before == null ? 0 : Interned.costOf(before));
            characters += cost;
            charactersLeft -= cost;
        }

        private void clearNames() {
            categories.clear();
            names.clear();
            annotationNames.clear();
            charactersLeft += characters;
            characters = 0;
        }

        /** Returns whether the packet depends on a missing packet. */
        boolean lacksState() {
            return (packet.flags & FLAG_NEEDS_STATE) != 0 && !isValid;
        }

        long track() {
            return packet.hasEventTrack || !hasDefaultTrack ? packet.eventTrack : defaultTrack;
        }

        /** Returns the clock of the packet's time; 0 if the packet names none. */
        long clock() {
            return packet.clockId != 0 ? packet.clockId : defaultClock;
        }
    }

    private static String textOf(LongObjectHashMap<String> texts, long iid) {
        return texts.getIfAbsent(iid, () -> "");
    }

    // ---- clocks ----

    /** A clock of a sequence: a reading of it, and the trace's time at that reading. */
    private static final class SequenceClock {
        private final boolean isIncremental;
        private final long unitNs;
        private final long value;
        private long traceNs;

        SequenceClock(Clock clock, long traceNs) {
            this.isIncremental = clock.isIncremental();
            this.unitNs = clock.unitNs() == 0 ? 1 : clock.unitNs();
            this.value = clock.value();
            this.traceNs = traceNs;
        }

        /**
         * Returns the trace's time of a reading of this clock; the reading of an incremental clock is added to the last
         * one.
         *
         * @return ns, or {@link Microseconds#OUT_OF_RANGE} if this reading, or an earlier one that it depends on, is no
         *     time
         */
        long traceNs(long timestamp) {
            long ns = isIncremental ? after(timestamp) : after(timestamp - value);
            traceNs = isIncremental ? ns : traceNs;
            return ns;
        }

        private long after(long units) {
            boolean isProduct = Math.multiplyHigh(units, unitNs) == (units * unitNs) >> (Long.SIZE - 1);
            return isProduct && Microseconds.isTime(traceNs)
                    ? Bounds.timeOf(traceNs, units * unitNs)
                    : Microseconds.OUT_OF_RANGE;
        }
    }

    /**
     * Applies the clock snapshot of the packet, if it has one. The times of all clocks are converted to a reference
     * clock: the trace's primary clock or, if the trace names none, {@code BOOTTIME}. The offset between two clocks is
     * taken from the first snapshot that has both; without such a snapshot it is 0.
     */
    private void takeClocks(Sequence sequence) {
        if (packet.clocks.isEmpty()) {
            return;
        }
        if (!clocksBegun) {
            clocksBegun = true;
            referenceClock = packet.primaryClock != 0 ? packet.primaryClock : referenceClock;
            clockOffsets.put(referenceClock, 0);
        }
        long nowNs = referenceNow();
        for (Clock clock : packet.clocks) {
            if (isOfSequence(clock.id())) {
                sequence.clocks.put(clock.id(), new SequenceClock(clock, nowNs));
            } else if (!clockOffsets.containsKey(clock.id()) && clockOffsets.size() < MOST_CLOCKS) {
                clockOffsets.put(clock.id(), nowNs - clock.value());
            }
        }
    }

    /** Returns the reading of the reference clock at the moment of the snapshot. */
    private long referenceNow() {
        Clock unknown = null;
        for (Clock clock : packet.clocks) {
            if (!isOfSequence(clock.id())) {
                if (clockOffsets.containsKey(clock.id())) {
                    return clock.value() + clockOffsets.get(clock.id());
                }
                unknown = unknown == null ? clock : unknown;
            }
        }
        return unknown == null ? 0 : unknown.value();
    }

    private static boolean isOfSequence(long clock) {
        return clock >= FIRST_CLOCK_OF_SEQUENCE && clock <= LAST_CLOCK_OF_SEQUENCE;
    }

    /** Returns the time since 1970 of the reference clock's 0, once a snapshot has shown it. */
    private OptionalLong baseTimeNs() {
        return clockOffsets.containsKey(CLOCK_REALTIME) && referenceClock != CLOCK_REALTIME
                ? OptionalLong.of(-clockOffsets.get(CLOCK_REALTIME))
                : OptionalLong.empty();
    }

    /** Returns the time of the packet. Call it once for each packet, since each call advances an incremental clock. */
    private long timeNs(Sequence sequence) {
        if (!packet.hasTimestamp) {
            return Microseconds.ABSENT;
        }
        if (packet.timestamp < 0) {
            return Microseconds.OUT_OF_RANGE;
        }
        long id = sequence.clock();
        if (isOfSequence(id)) {
            @Nullable SequenceClock clock = sequence.clocks.get(id);
            return clock == null ? Microseconds.ABSENT : clock.traceNs(packet.timestamp);
        }
        return Bounds.timeOf(packet.timestamp, clockOffsets.get(id == 0 ? CLOCK_BOOTTIME : id));
    }

    // ---- events ----

    private void fill(Sequence sequence, long timeNs) throws TraceFormatException {
        event.clear(packet.offset);
        event.phase = phase(packet.eventType);
        event.startNs = timeNs;
        event.value = packet.eventValue;
        event.skipped = packet.eventSkipped;
        event.flowsOut.addAll(packet.flows);
        event.flowsIn.addAll(packet.terminatingFlows);
        event.thread = Long.toUnsignedString(sequence.track());
        // An end belongs to the innermost slice of its track, regardless of its name.
        if (packet.eventType != TYPE_END) {
            event.name = packet.eventNameIid == 0 ? packet.eventName : textOf(sequence.names, packet.eventNameIid);
            event.category = category(sequence);
            event.ownCategory = event.category;
            if (collector.head.isImplicit() && event.brickCategory() != null) {
                event.elements = 1;
            }
        }
        for (Annotation annotation : packet.annotations) {
            argument(annotation, sequence);
        }
    }

    private static char phase(long type) {
        if (type < TYPE_BEGIN || type > TYPE_COUNTER) {
            return '?';
        }
        return switch ((int) type) {
            case TYPE_BEGIN -> 'B';
            case TYPE_END -> 'E';
            case TYPE_INSTANT -> 'i';
            default -> 'C';
        };
    }

    private String category(Sequence sequence) {
        if (packet.categories.isEmpty() && packet.categoryIids.size() == 1) {
            return textOf(sequence.categories, packet.categoryIids.getFirst());
        }
        StringJoiner all = new StringJoiner(",");
        packet.categoryIids.forEach(iid -> all.add(textOf(sequence.categories, iid)));
        packet.categories.forEach(all::add);
        return TraceNames.bounded(all.toString());
    }

    private void argument(Annotation annotation, Sequence sequence) throws TraceFormatException {
        String key = annotation.nameIid == 0 ? annotation.name : textOf(sequence.annotationNames, annotation.nameIid);
        boolean isCount = annotation.isWhole && annotation.whole >= 0;
        switch (key) {
            case TraceEvent.BYTES -> {
                long bytes = TraceEvent.wholeNumberOf(annotation.asText());
                event.bytes = bytes >= 0 ? bytes : TraceEvent.MALFORMED_BYTES;
            }
            case TraceEvent.ELEMENTS -> event.elements = isCount ? annotation.whole : TraceEvent.NONE;
            case TraceEvent.CORRELATION -> event.correlation = TraceEvent.wholeNumberOf(annotation.asText());
            case TraceEvent.SAMPLE -> {
                event.isDeviceSample = annotation.isWhole && annotation.whole == 1;
                event.elements = event.isDeviceSample ? event.elements : TraceEvent.NONE;
            }
            case TraceEvent.PHASE -> event.statedPhase = Span.StatedPhase.of(isCount ? annotation.whole : -1);
            case TraceEvent.DEVICE -> event.onDevice = true;
            case TraceEvent.DROPPED_SPANS -> {
                if (event.phase == 'i' && isCount) {
                    collector.head.lostSpans(annotation.whole, packet.offset);
                }
            }
            case TraceEvent.SLOW_STEPS -> {
                if (event.phase == 'i') {
                    collector.head.slowSteps(annotation.asText(), packet.offset);
                    return;
                }
            }
            default -> {
                // A rule may test this argument.
            }
        }
        if (collector.wants(key)) {
            collector.keep(event, key, annotation.asText(), "");
        } else if (collector.wantsKeys()) {
            collector.keep(event, key, "", "");
        }
    }
}
