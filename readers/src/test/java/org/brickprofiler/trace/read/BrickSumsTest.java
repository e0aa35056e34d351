package org.brickprofiler.trace.read;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.BrickStats;
import org.brickprofiler.Work;
import org.brickprofiler.internal.record.LatencyBuckets;
import org.brickprofiler.stats.LatencyDistribution;
import org.junit.jupiter.api.Test;

final class BrickSumsTest {

    private static final TraceRule.Target BRICK = new TraceRule.Target("a", BrickCategory.FFN);
    private static final TraceHead.Clock RELATIVE = new TraceHead.Clock(false, 0);
    private static final long YEAR_2023_NS = 1_700_000_000_000_000_000L;

    private static BrickStats stats(TraceHead.Clock clock, long... startsAndNs) {
        BrickSums sums = new BrickSums();
        for (int i = 0; i < startsAndNs.length; i += 2) {
            long startNs = startsAndNs[i];
            long elapsedNs = startsAndNs[i + 1];
            sums.add(BRICK, new Execution(startNs, startNs + elapsedNs, i, 3, 0, 0, 0, 0), elapsedNs, 1, 3, Work.NONE);
        }
        return sums.stats(clock).get(0);
    }

    @Test
    void addsUp() {
        BrickStats brick = stats(RELATIVE, 100, 10, 0, 1_000, 300, 4);

        assertThat(brick.name()).isEqualTo("a");
        assertThat(brick.category()).isEqualTo(BrickCategory.FFN);
        assertThat(brick.count()).isEqualTo(3);
        assertThat(brick.totalNs()).isEqualTo(1_014);
        assertThat(brick.minNs()).isEqualTo(4);
        assertThat(brick.maxNs()).isEqualTo(1_000);
        assertThat(brick.totalElements()).isEqualTo(3);
        assertThat(brick.totalBytes()).isEqualTo(9);
    }

    /** The rate of a brick is all of its bytes over all of its time. */
    @Test
    void aBrickHasNoBytesIfOneOfItsEventsStatesNone() {
        BrickSums sums = new BrickSums();
        for (long bytes : new long[] {100, TraceEvent.NONE}) {
            sums.add(BRICK, new Execution(0, 10, bytes, bytes, 0, 0, 0, 0), 10, 0, bytes, Work.NONE);
        }

        assertThat(sums.stats(RELATIVE).get(0).totalBytes()).isZero();
    }

    @Test
    void theLastEventIsTheOneThatEndsLast() {
        assertThat(stats(RELATIVE, 100, 10, 0, 1_000, 300, 4).lastNs()).isEqualTo(1_000);
        assertThat(stats(RELATIVE, 0, 20, 10, 10).lastNs())
                .as("the longer of two that end together")
                .isEqualTo(20);
        assertThat(stats(RELATIVE, 0, 20).lastAtUnixNs()).isZero();
        assertThat(stats(new TraceHead.Clock(true, YEAR_2023_NS), 0, 20).lastAtUnixNs())
                .isEqualTo(YEAR_2023_NS + 20);
    }

    @Test
    void percentilesAreThoseOfTheDurations() {
        long[] durations = {5_000, 1, 1_000_000_000_000_000L, 130_000, 130_000, 64, 0};
        long[] counts = new long[LatencyBuckets.COUNT];
        long[] startsAndNs = new long[2 * durations.length];
        for (int i = 0; i < durations.length; i++) {
            counts[LatencyBuckets.indexOf(durations[i])]++;
            startsAndNs[2 * i + 1] = durations[i];
        }

        BrickStats brick = stats(RELATIVE, startsAndNs);

        assertThat(brick.latency()).contains(LatencyDistribution.ofCounts(counts));
    }

    @Test
    void bricksBeyondTheSupplyHaveNoPercentiles() {
        BrickSums.Spread.Supply supply = new BrickSums.Spread.Supply();
        List<BrickSums.Spread> spreads = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            BrickSums.Spread spread = new BrickSums.Spread(supply);
            spread.add(1);
            spread.add(Long.MAX_VALUE);
            spreads.add(spread);
        }

        assertThat(spreads.get(0).distribution().orElseThrow().count()).isEqualTo(2);
        assertThat(spreads.get(999).distribution()).isEmpty();
        long complete = spreads.stream()
                .filter(spread -> spread.distribution().isPresent())
                .count();
        assertThat(complete).isBetween(460L, 470L);
    }
}
