package org.brickprofiler.trace;

import java.util.HashMap;
import java.util.Map;

/** The amounts of events by their places, of which it keeps {@value #MOST_PLACES}. Not thread-safe. */
final class LineSums {

    static final int MOST_PLACES = 1_000;

    private final Map<String, Long> byPlace = new HashMap<>();
    private long events;

    void add(LineEvent event) {
        events++;
        boolean hasRoom = byPlace.size() < MOST_PLACES || byPlace.containsKey(event.place());
        byPlace.merge(hasRoom ? event.place() : Frame.OTHER_PATHS.method(), event.amount(), Long::sum);
    }

    long events() {
        return events;
    }

    /** Returns the sum of all amounts. */
    long sum() {
        return byPlace.values().stream().mapToLong(Long::longValue).sum();
    }

    LineProfile.Amounts toAmounts() {
        return LineProfile.Amounts.of(events, byPlace);
    }
}
