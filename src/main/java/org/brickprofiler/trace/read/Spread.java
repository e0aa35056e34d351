package org.brickprofiler.trace.read;

import java.util.Optional;
import org.brickprofiler.LatencyDistribution;
import org.brickprofiler.internal.record.LatencyBuckets;

/**
 * How the durations of a brick are spread, in as many buckets as they need. The buckets of all bricks of a reading come
 * from one supply; a brick for which it does not last has no percentiles. One thread.
 */
final class Spread {

    private static final int STEP = 64;

    private final Supply supply;
    private int first;
    private long[] counts = {};
    private boolean complete = true;

    /** The buckets that are left for all bricks, 8 bytes each. */
    static final class Supply {
        private int left = 1 << 20;

        private boolean take(int buckets) {
            boolean enough = buckets <= left;
            left -= enough ? buckets : 0;
            return enough;
        }
    }

    Spread(Supply supply) {
        this.supply = supply;
    }

    void add(long elapsedNs) {
        int bucket = LatencyBuckets.indexOf(elapsedNs);
        if (complete && (bucket < first || bucket >= first + counts.length)) {
            widen(bucket);
        }
        if (complete) {
            counts[bucket - first]++;
        }
    }

    private void widen(int bucket) {
        int from = bucket / STEP * STEP;
        int to = from + STEP;
        if (counts.length > 0) {
            from = Math.min(from, first);
            to = Math.max(to, first + counts.length);
        }
        if (!supply.take(to - from - counts.length)) {
            supply.left += counts.length;
            counts = new long[0];
            complete = false;
            return;
        }
        long[] wider = new long[to - from];
        if (counts.length > 0) {
            System.arraycopy(counts, 0, wider, first - from, counts.length);
        }
        first = from;
        counts = wider;
    }

    /** The distribution, or nothing where the supply did not last. */
    Optional<LatencyDistribution> distribution() {
        if (!complete) {
            return Optional.empty();
        }
        long[] all = new long[Math.min(LatencyBuckets.COUNT, first + counts.length)];
        System.arraycopy(counts, 0, all, first, all.length - first);
        return Optional.of(LatencyDistribution.ofCounts(all));
    }
}
