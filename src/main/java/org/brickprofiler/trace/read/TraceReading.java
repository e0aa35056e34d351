package org.brickprofiler.trace.read;

import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.brickprofiler.ProfileSnapshot;

/**
 * What was read of a trace: the profile, and what did and did not go into it. Every event that was read is counted,
 * left out, ignored, or dropped as faulty. Immutable.
 *
 * @param snapshot the profile; its wall time is {@link #wallNs}, its bytes are those of copies; its elements are
 *     events, but for a trace of this library, where they are the bricks'
 * @param counting which events count
 * @param wallNs from the start of the first event that counts to the end of the last one, without the time in which
 *     nothing ran but events that were left out, ns
 * @param busyNs the union of the intervals of all events that count, on all rows, ns
 * @param rows rows (process and thread: of Kineto, device and stream) with an event that counts
 * @param steps slices {@code ProfilerStep#N} in the trace
 * @param eventsRead elements of the array of events; in a Perfetto trace, track events
 * @param eventsCounted events in the profile
 * @param ignored events that do not count, by reason; reasons without any are not in it
 * @param leftOut what was left out, by reason, most time first
 * @param unmatched what no rule matched
 * @param repairs what was wrong, in the order of {@link Repair.Kind}
 */
public record TraceReading(
        ProfileSnapshot snapshot,
        Counting counting,
        long wallNs,
        long busyNs,
        int rows,
        int steps,
        long eventsRead,
        long eventsCounted,
        Map<IgnoredReason, Long> ignored,
        List<LeftOut> leftOut,
        Unmatched unmatched,
        List<Repair> repairs) {

    /**
     * What no rule matched and what is no brick by its own name; it is in the profile under its own name.
     *
     * @param kernels different names; at least so many where the trace has more than were told apart
     * @param events events that count
     * @param elapsedNs their time, ns
     */
    public record Unmatched(int kernels, long events, long elapsedNs) {

        /**
         * The share of a total. The caller names the base by choosing it.
         *
         * @param baseNs the base, ns
         * @return percent, 0 where the base is 0
         */
        public double percentage(long baseNs) {
            return baseNs == 0 ? 0.0 : 100.0 * elapsedNs / baseNs;
        }
    }

    /** Takes copies. */
    public TraceReading {
        Objects.requireNonNull(snapshot, "snapshot");
        Objects.requireNonNull(counting, "counting");
        Objects.requireNonNull(ignored, "ignored");
        Objects.requireNonNull(leftOut, "leftOut");
        Objects.requireNonNull(unmatched, "unmatched");
        Objects.requireNonNull(repairs, "repairs");
        Map<IgnoredReason, Long> copy = new EnumMap<>(IgnoredReason.class);
        copy.putAll(ignored);
        ignored = Collections.unmodifiableMap(copy);
        leftOut = List.copyOf(leftOut);
        repairs = List.copyOf(repairs);
    }

    /**
     * Time in which no event that counts ran.
     *
     * @return {@link #wallNs} minus {@link #busyNs}, ns
     */
    public long idleNs() {
        return wallNs - busyNs;
    }

    /**
     * How many events were left out.
     *
     * @return events, for all reasons
     */
    public long eventsLeftOut() {
        return leftOut.stream().mapToLong(LeftOut::events).sum();
    }

    /**
     * How much time was left out.
     *
     * @return the sum over the events, ns
     */
    public long leftOutNs() {
        return leftOut.stream().mapToLong(LeftOut::elapsedNs).sum();
    }

    /**
     * How many spans were lost while this library recorded: they are not in the trace, and the profile lacks them.
     *
     * @return spans; 0 where the trace is complete, or another program's
     */
    public long spansLost() {
        return repairs.stream()
                .filter(repair -> repair.kind() == Repair.Kind.LOST_SPANS)
                .mapToLong(Repair::count)
                .sum();
    }

    /**
     * How many events were dropped because they were faulty.
     *
     * @return events, for all kinds of faults
     */
    public long eventsDropped() {
        return repairs.stream()
                .filter(repair -> repair.kind().isDropped())
                .mapToLong(Repair::count)
                .sum();
    }
}
