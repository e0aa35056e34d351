package org.brickprofiler.trace.read;

import java.util.Map;
import java.util.TreeMap;

/**
 * Finds the events of a trace that another clock timed: those that a gap of years separates from most events, and those
 * at 0 in a trace whose other events begin more than a day later. A recorder writes such a time if it has none for an
 * event. One thread.
 */
final class ClockSpan {

    private static final long DAY_NS = 86_400L * 1_000_000_000;
    private static final long YEAR_NS = Bounds.LONGEST_NS / 10;

    /** The events of each year of the clock with events; the bounds of times allow fewer than 300. */
    private final TreeMap<Long, Year> years = new TreeMap<>();

    private long atZero;
    private long events;

    // Cached for the next event, which is probably in the same year.
    private long lastYear = Long.MIN_VALUE;
    private Year last = new Year();

    private long fromNs = Long.MIN_VALUE;
    private long untilNs = Long.MAX_VALUE;
    private long others;

    /** The events of one year, or of several years that follow one another. */
    private static final class Year {
        private long count;
        private long firstNs = Long.MAX_VALUE;
        private long lastNs = Long.MIN_VALUE;

        void add(Year other) {
            count += other.count;
            firstNs = Math.min(firstNs, other.firstNs);
            lastNs = Math.max(lastNs, other.lastNs);
        }
    }

    /** Adds the start of an event. */
    void add(long startNs) {
        events++;
        if (startNs == 0) {
            atZero++;
            return;
        }
        long year = Math.floorDiv(startNs, YEAR_NS);
        if (year != lastYear) {
            last = years.computeIfAbsent(year, added -> new Year());
            lastYear = year;
        }
        last.count++;
        last.firstNs = Math.min(last.firstNs, startNs);
        last.lastNs = Math.max(last.lastNs, startNs);
    }

    /**
     * Decides which events the clock of the trace timed; call it after the last event.
     *
     * @param mostOthers if another clock timed more events than this, all events are taken to be of one clock
     * @return whether another clock timed some events
     */
    boolean decide(long mostOthers) {
        boolean isZeroFar = years.isEmpty() || years.firstEntry().getValue().firstNs > DAY_NS;
        if (atZero > 0 && (years.isEmpty() || !isZeroFar || years.firstKey() < 0)) {
            Year zero = years.computeIfAbsent(0L, added -> new Year());
            zero.count += atZero;
            zero.firstNs = Math.min(zero.firstNs, 0);
            zero.lastNs = Math.max(zero.lastNs, 0);
        }
        Year most = new Year();
        Year around = new Year();
        long before = Long.MIN_VALUE;
        for (Map.Entry<Long, Year> year : years.entrySet()) {
            boolean isNext = before != Long.MIN_VALUE && year.getKey() - before == 1;
            around = isNext ? around : new Year();
            around.add(year.getValue());
            before = year.getKey();
            most = around.count >= most.count ? around : most;
        }
        if (most.count < events && events - most.count <= mostOthers) {
            fromNs = most.firstNs;
            untilNs = most.lastNs;
            others = events - most.count;
        }
        return others > 0;
    }

    /** Returns the number of events that another clock timed. */
    long others() {
        return others;
    }

    /** Returns the start of the first event that the clock of the trace timed. */
    long firstNs(long earliestNs) {
        return Math.max(earliestNs, fromNs);
    }

    /** Returns whether the clock of the trace timed an event. */
    boolean contains(long startNs) {
        return startNs >= fromNs && startNs <= untilNs;
    }
}
