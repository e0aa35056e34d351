package org.brickprofiler.trace;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import org.brickprofiler.trace.internal.LatestTimes;

/**
 * The newest {@value #MOST} stops of all threads by the virtual machine, and the newest {@value #MOST} times in which a
 * thread waited for a lock, as the application reports them. Stops for garbage collections are not among them. Any
 * thread.
 */
final class StopLog {

    static final int MOST = 4_096;

    private final Deque<Stop> stops = new ArrayDeque<>();
    private final LatestTimes<Block> blocks = new LatestTimes<>(MOST);
    private boolean isReported;

    /** The latest end of a stop that is no longer kept. */
    private long forgottenNs = Long.MIN_VALUE;

    /** The period for which all stops were reported, if the application has stated one. */
    private boolean hasTime;

    private long fromNs;
    private long untilNs;

    /** A stop, on the recorder's clock. */
    record Stop(long startNs, long endNs) {}

    /** A time in which a thread waited for a lock. */
    record Block(long threadId, long startNs, long endNs, String lock) implements LatestTimes.OfThread {}

    void add(Block block) {
        blocks.add(block);
    }

    synchronized void add(Stop stop) {
        isReported = true;
        if (stops.size() == MOST) {
            forgottenNs = Math.max(forgottenNs, stops.removeFirst().endNs());
        }
        stops.add(stop);
    }

    /**
     * Records that all stops between two times were reported. A period that neither adjoins nor overlaps the recorded
     * one replaces it.
     */
    synchronized void reported(long startNs, long endNs) {
        boolean adjoins = hasTime && startNs <= untilNs && endNs >= fromNs;
        fromNs = adjoins ? Math.min(fromNs, startNs) : startNs;
        untilNs = adjoins ? Math.max(untilNs, endNs) : endNs;
        hasTime = true;
    }

    /** Returns whether all stops between two times are known, and no further one will be reported. */
    synchronized boolean isComplete(long startNs, long endNs) {
        return hasTime && startNs >= fromNs && endNs <= untilNs && startNs >= forgottenNs;
    }

    /**
     * Returns whether all stops between two times are known. An application that reports stops, but no periods, is
     * assumed to report all stops.
     */
    synchronized boolean isKnown(long startNs, long endNs) {
        return hasTime ? isComplete(startNs, endNs) : isReported && startNs >= forgottenNs;
    }

    /** Returns the stops that overlap the period between two times. */
    synchronized List<Stop> within(long startNs, long endNs) {
        return stops.stream()
                .filter(stop -> stop.endNs() > startNs && stop.startNs() < endNs)
                .toList();
    }

    /** Returns when a thread waited for a lock between two times. */
    List<Block> blocked(long threadId, long startNs, long endNs) {
        return blocks.within(threadId, startNs, endNs);
    }
}
