package org.brickprofiler.internal.record;

import static org.assertj.core.api.Assertions.assertThat;

import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;

@Spec("25.22")
class WallClockTest {

    private static final long MS = 1_000_000;

    private long nowNs = 500 * MS;
    private long nowMs = 10_000;
    private long readingNs;
    private final WallClock clock = new WallClock(() -> nowNs += readingNs, () -> nowMs);

    @Test
    void convertsReadingsOfThePast() {
        assertThat(clock.applyAsLong(nowNs)).isEqualTo(10_000);
        assertThat(clock.applyAsLong(nowNs - 300 * MS)).isEqualTo(9_700);
        assertThat(clock.applyAsLong(nowNs - 1)).isEqualTo(9_999);
    }

    @Test
    void aStepOfTheSystemsClockCountsAfterASecond() {
        assertThat(clock.applyAsLong(nowNs)).isEqualTo(10_000);
        nowMs = 3_610_000;
        nowNs += 999 * MS;
        assertThat(clock.applyAsLong(nowNs)).isEqualTo(10_999);
        nowNs += MS;
        assertThat(clock.applyAsLong(nowNs)).isEqualTo(3_610_000);
    }

    @Test
    void clocksThatCannotBeReadTogetherGiveNoTime() {
        readingNs = MS + 1;
        assertThat(clock.applyAsLong(nowNs)).isEqualTo(WallClock.UNKNOWN);
        readingNs = MS;
        assertThat(clock.applyAsLong(nowNs + MS + MS / 2)).isEqualTo(10_000);
        nowNs += 1_000 * MS;
        readingNs = MS + 1;
        assertThat(clock.applyAsLong(nowNs)).isEqualTo(WallClock.UNKNOWN);
    }

    @Test
    void agreesWithTheClocksOfTheSystem() {
        WallClock system = new WallClock();
        long beforeMs = System.currentTimeMillis();
        long converted = system.applyAsLong(System.nanoTime());
        assertThat(converted).isBetween(beforeMs - 2, System.currentTimeMillis() + 2);
    }
}
