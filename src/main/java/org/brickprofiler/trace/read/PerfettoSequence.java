package org.brickprofiler.trace.read;

import org.eclipse.collections.impl.map.mutable.primitive.LongObjectHashMap;
import org.jspecify.annotations.Nullable;

/** What holds within one sequence of packets, from one packet to the next. One thread. */
final class PerfettoSequence {

    final PerfettoNames names;

    private final LongObjectHashMap<SequenceClock> clocks = new LongObjectHashMap<>();

    private boolean valid;
    private boolean hasDefaultTrack;
    private long defaultTrack;
    private long defaultClock;

    /** A clock of the sequence: what it shows, and what the trace's clock shows then. */
    static final class SequenceClock {
        private final boolean isIncremental;
        private final long unitNs;
        private long value;
        private long traceNs;

        SequenceClock(PerfettoPacket.Clock clock, long traceNs) {
            this.isIncremental = clock.isIncremental();
            this.unitNs = clock.unitNs() == 0 ? 1 : clock.unitNs();
            this.value = clock.value();
            this.traceNs = traceNs;
        }

        /** The trace's time of a time of this clock; an incremental one goes on by it. */
        long traceNs(long timestamp) {
            if (isIncremental) {
                value += timestamp;
                traceNs += timestamp * unitNs;
                return traceNs;
            }
            return traceNs + (timestamp - value) * unitNs;
        }
    }

    PerfettoSequence(PerfettoNames.Supply supply) {
        this.names = new PerfettoNames(supply);
    }

    /**
     * Takes from a packet what holds from it on.
     *
     * @return false where there is no room for its names
     */
    boolean take(PerfettoPacket packet) {
        if (packet.previousDropped) {
            valid = false;
        }
        if ((packet.flags & PerfettoFields.FLAG_STATE_CLEARED) != 0) {
            valid = true;
            names.clear();
            hasDefaultTrack = false;
            defaultClock = 0;
        }
        if (packet.hasDefaults) {
            hasDefaultTrack = packet.hasDefaultTrack;
            defaultTrack = packet.defaultTrack;
            defaultClock = packet.defaultClock;
        }
        return packet.interned.stream().allMatch(names::add);
    }

    /** Whether a packet needs what a missing one told. */
    boolean lacksStateOf(PerfettoPacket packet) {
        return (packet.flags & PerfettoFields.FLAG_NEEDS_STATE) != 0 && !valid;
    }

    long trackOf(PerfettoEvent event) {
        return event.hasTrack || !hasDefaultTrack ? event.track : defaultTrack;
    }

    /** The clock of a packet's time; 0 where nothing tells. */
    long clockOf(PerfettoPacket packet) {
        return packet.clockId != 0 ? packet.clockId : defaultClock;
    }

    void setClock(long id, SequenceClock clock) {
        clocks.put(id, clock);
    }

    @Nullable SequenceClock clock(long id) {
        return clocks.get(id);
    }
}
