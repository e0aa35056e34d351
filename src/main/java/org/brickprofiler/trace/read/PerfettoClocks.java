package org.brickprofiler.trace.read;

import java.util.OptionalLong;
import org.eclipse.collections.impl.map.mutable.primitive.LongLongHashMap;

/**
 * Brings the times of all clocks of a trace to one of them: its primary clock or, where it names none,
 * {@code BOOTTIME}. The distance of two clocks is that of the first snapshot that has both; without one it is taken for
 * 0. One thread.
 */
final class PerfettoClocks {

    private static final int MOST_CLOCKS = 1_024;

    /** What to add to a clock's time. */
    private final LongLongHashMap offsets = new LongLongHashMap();

    private long reference = PerfettoFields.CLOCK_BOOTTIME;
    private boolean begun;

    /** Takes the snapshot of a packet, if it has one. */
    void take(PerfettoPacket packet, PerfettoSequence sequence) {
        if (packet.clocks.isEmpty()) {
            return;
        }
        if (!begun) {
            begun = true;
            reference = packet.primaryClock != 0 ? packet.primaryClock : reference;
            offsets.put(reference, 0);
        }
        long nowNs = nowNs(packet);
        for (PerfettoPacket.Clock clock : packet.clocks) {
            if (isOfSequence(clock.id())) {
                sequence.setClock(clock.id(), new PerfettoSequence.SequenceClock(clock, nowNs));
            } else if (!offsets.containsKey(clock.id()) && offsets.size() < MOST_CLOCKS) {
                offsets.put(clock.id(), nowNs - clock.value());
            }
        }
    }

    /** What the reference shows at the moment of a snapshot. */
    private long nowNs(PerfettoPacket packet) {
        PerfettoPacket.Clock unknown = null;
        for (PerfettoPacket.Clock clock : packet.clocks) {
            if (!isOfSequence(clock.id())) {
                if (offsets.containsKey(clock.id())) {
                    return clock.value() + offsets.get(clock.id());
                }
                unknown = unknown == null ? clock : unknown;
            }
        }
        return unknown == null ? 0 : unknown.value();
    }

    private static boolean isOfSequence(long clock) {
        return clock >= PerfettoFields.FIRST_CLOCK_OF_SEQUENCE && clock <= PerfettoFields.LAST_CLOCK_OF_SEQUENCE;
    }

    /** The time since 1970 of the reference's 0, once a snapshot has told it. */
    OptionalLong baseTimeNs() {
        return offsets.containsKey(PerfettoFields.CLOCK_REALTIME) && reference != PerfettoFields.CLOCK_REALTIME
                ? OptionalLong.of(-offsets.get(PerfettoFields.CLOCK_REALTIME))
                : OptionalLong.empty();
    }

    /**
     * The time of a packet. To be asked once for each, since clocks may count from packet to packet.
     *
     * @return ns on the reference, or one of the special values of {@link Microseconds}
     */
    long timeNs(PerfettoPacket packet, PerfettoSequence sequence) {
        if (!packet.hasTimestamp) {
            return Microseconds.ABSENT;
        }
        if (packet.timestamp < 0) {
            return Microseconds.OUT_OF_RANGE;
        }
        long id = sequence.clockOf(packet);
        if (isOfSequence(id)) {
            PerfettoSequence.SequenceClock clock = sequence.clock(id);
            return clock == null ? Microseconds.ABSENT : inRange(clock.traceNs(packet.timestamp));
        }
        long global = id == 0 ? PerfettoFields.CLOCK_BOOTTIME : id;
        return inRange(packet.timestamp + offsets.get(global));
    }

    private static long inRange(long ns) {
        return ns >= -Microseconds.LARGEST_NS && ns <= Microseconds.LARGEST_NS ? ns : Microseconds.OUT_OF_RANGE;
    }
}
