package org.brickprofiler.trace;

import java.util.EnumSet;
import java.util.Set;
import org.brickprofiler.internal.record.ThreadTimes;

/** The times that a test chooses, in place of those of this process. One thread. */
final class FakeTimes implements SystemTimes {

    final Set<SlowSteps.Kind> known = EnumSet.allOf(SlowSteps.Kind.class);
    long ranNs;
    long waitedNs;
    long collectedNs;

    @Override
    public ThreadTimes ofThisThread() {
        return new ThreadTimes() {
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

    @Override
    public long ranNs(long threadId) {
        return ranNs;
    }

    @Override
    public long collectedNs() {
        return known.contains(SlowSteps.Kind.GARBAGE_COLLECTION) ? collectedNs : ThreadTimes.UNKNOWN;
    }
}
