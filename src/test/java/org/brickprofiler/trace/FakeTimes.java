package org.brickprofiler.trace;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/** The stops and waits that a test chooses, in place of those of this process. One thread. */
final class FakeTimes implements SystemTimes {

    final Set<SlowSteps.Kind> known = EnumSet.allOf(SlowSteps.Kind.class);
    private final List<Stop> stops = new ArrayList<>();
    long ranNs;
    long waitedNs;

    @Override
    public OfThread ofThisThread() {
        return new OfThread() {
            @Override
            public long ranNs() {
                return known.contains(SlowSteps.Kind.BLOCKED) ? ranNs : UNKNOWN;
            }

            @Override
            public long waitedNs() {
                return known.contains(SlowSteps.Kind.NO_PROCESSOR) ? waitedNs : UNKNOWN;
            }
        };
    }

    void stop(SlowSteps.Kind kind, long startNs, long endNs) {
        stops.add(new Stop(kind, startNs, endNs));
    }

    @Override
    public List<Stop> stops(long startNs, long endNs) {
        return stops.stream()
                .filter(stop -> stop.endNs() > startNs && stop.startNs() < endNs)
                .toList();
    }

    @Override
    public boolean knows(SlowSteps.Kind kind) {
        return known.contains(kind);
    }
}
