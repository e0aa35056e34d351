package org.brickprofiler.trace.read;

import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.brickprofiler.trace.SpanName;

/**
 * The phases of a run that a trace of this library marks. A slice counts in the phase in which it ended, as it does for
 * the profiler: that forgets what was recorded until a warm-up is over. One thread.
 */
final class WarmupPhases {

    private static final int MOST_PHASES = 1_000_000;

    private final String source;

    /** Whether a warm-up begins at a time; else it is over by then. */
    private final NavigableMap<Long, Boolean> marks = new TreeMap<>();

    WarmupPhases(String source) {
        this.source = source;
    }

    /** Whether a moment marks a phase. */
    static boolean isPhase(RawEvent event) {
        return event.ownCategory.equals(SpanName.PHASE);
    }

    /**
     * Notes a mark.
     *
     * @throws TraceFormatException when there are too many
     */
    void add(RawEvent event) throws TraceFormatException {
        if (marks.size() == MOST_PHASES) {
            throw new TraceFormatException(source, event.offset, "there are more than " + MOST_PHASES + " phases");
        }
        marks.put(event.startNs, event.name.equals(SpanName.WARMUP));
    }

    /** Whether a slice counts for nothing. One without extent at a mark is of the phase that begins there. */
    boolean isWarmup(DeviceEvent event) {
        if (marks.isEmpty()) {
            return false;
        }
        boolean isMoment = event.startNs() == event.endNs();
        Map.Entry<Long, Boolean> phase =
                isMoment ? marks.floorEntry(event.endNs()) : marks.lowerEntry(event.endNs());
        return phase != null && phase.getValue();
    }
}
