package org.brickprofiler.internal.record;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

final class RunPeriodTest {

    private final RunPeriod period = new RunPeriod(1_000);

    @Test
    void coversNothingUntilItRuns() {
        assertThat(period.until(5_000).coveredNs()).isZero();
    }

    @Test
    void coversTheTimeItRan() {
        period.resume(1_100);
        period.resume(1_150);
        assertThat(period.until(1_200).coveredNs()).isEqualTo(100);
        period.pause(1_300);
        period.pause(1_400);
        assertThat(period.until(2_000).coveredNs()).isEqualTo(200);
        period.resume(3_000);
        assertThat(period.until(3_011).coveredNs()).isEqualTo(211);
    }

    /** The first reading is now. A later or earlier reading is as much later or earlier on the calendar. */
    @Test
    void relatesTheClockToTheCalendar() {
        long before = TimeUnit.MILLISECONDS.toNanos(System.currentTimeMillis());
        RunPeriod begun = new RunPeriod(-7_000);
        long after = TimeUnit.MILLISECONDS.toNanos(System.currentTimeMillis() + 1);

        assertThat(begun.unixNs(-7_000)).isBetween(before, after);
        assertThat(begun.unixNs(-5_000) - begun.unixNs(-7_000)).isEqualTo(2_000);
        assertThat(begun.unixNs(-9_000) - begun.unixNs(-7_000)).isEqualTo(-2_000);
    }

    @Test
    void beginsAnew() {
        period.resume(1_100);
        RunPeriod.Part ended = period.endAndRestart(1_150);
        RunPeriod.Part next = period.until(1_157);

        assertThat(ended.coveredNs()).isEqualTo(50);
        assertThat(next.coveredNs()).isEqualTo(7);
        assertThat(next.startedAt()).isEqualTo(ended.endedAt());
        assertThat(Duration.between(ended.startedAt(), ended.endedAt())).isEqualTo(Duration.ofNanos(50));
    }

    @Test
    void startsWhenItIsFirstOn() {
        period.resume(1_400);
        period.pause(1_500);
        period.resume(1_600);
        RunPeriod.Part first = period.until(2_000);
        period.pause(2_100);
        period.endAndRestart(2_200);
        period.resume(3_000);
        RunPeriod.Part second = period.until(3_500);

        assertThat(Duration.between(first.startedAt(), first.endedAt())).isEqualTo(Duration.ofNanos(600));
        assertThat(Duration.between(second.startedAt(), second.endedAt())).isEqualTo(Duration.ofNanos(500));
    }

    @Test
    void staysPausedWhenItBeginsAnew() {
        assertThat(period.endAndRestart(2_000).coveredNs()).isZero();
        assertThat(period.until(3_000).coveredNs()).isZero();
    }

    @Test
    void aClockThatRanBackwardsCoversNothing() {
        period.resume(1_100);
        assertThat(period.until(900).coveredNs()).isZero();
        period.pause(900);
        assertThat(period.until(5_000).coveredNs()).isZero();
    }
}
