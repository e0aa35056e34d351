package org.brickprofiler.device;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.brickprofiler.record.FakeClock;
import org.junit.jupiter.api.Test;

final class DeviceTimerTest {

    private final FakeClock clock = new FakeClock(5_000);
    private final CpuTimer timer = new CpuTimer(clock);

    @Test
    void aTimerReadsZeroUntilBothEndsAreRecorded() {
        timer.recordEnd();
        assertThat(timer.elapsedNs()).isZero();
        timer.recordStart();
        clock.advance(1_500_000);
        assertThat(timer.elapsedNs()).isZero();
        assertThat(timer.elapsedMs()).isZero();
        timer.recordEnd();
        assertThat(timer.elapsedNs()).isEqualTo(1_500_000);
        assertThat(timer.elapsedMs()).isEqualTo(1.5);
    }

    @Test
    void aTimerIsUsedAgain() {
        timer.recordStart();
        clock.advance(10);
        timer.recordEnd();
        timer.recordStart();
        assertThat(timer.elapsedNs()).isZero();
        clock.advance(3);
        timer.recordEnd();
        assertThat(timer.elapsedNs()).isEqualTo(3);
        timer.close();
        timer.close();
        assertThat(timer.elapsedNs()).isZero();
    }

    @Test
    void aClockThatRunsBackwardsGivesZero() {
        timer.recordStart();
        clock.advance(-10);
        timer.recordEnd();
        assertThat(timer.elapsedNs()).isZero();
    }

    @Test
    void theSystemsClockIsTheDefault() {
        CpuTimer real = new CpuTimer();
        real.recordStart();
        long before = System.nanoTime();
        while (System.nanoTime() == before) {
            Thread.onSpinWait();
        }
        real.recordEnd();
        assertThat(real.elapsedNs()).isPositive();
    }

    @Test
    void aProbeThatNobodyAskedForReadsNoClock() {
        assertThat(ProbeTimer.startIf(false, timer)).isEmpty();
        assertThat(clock.reads()).isZero();
    }

    @Test
    void aProbeTellsItsTime() {
        Optional<ProbeTimer> probe = ProbeTimer.startIf(true, timer);
        clock.advance(42);
        assertThat(probe.map(ProbeTimer::finish)).contains(42L);
        assertThat(ProbeTimer.startIf(true, timer).map(running -> running.finishTraced("a", "b", 1)))
                .contains(0L);
    }

    @Test
    void aTracedProbeTellsTheTrace() {
        List<String> pushed = new ArrayList<>();
        Optional<ProbeTimer> probe = ProbeTimer.startIf(
                true, timer, (name, category, elapsedNs, tid) -> pushed.add(name + category + elapsedNs + "/" + tid));
        clock.advance(7);
        assertThat(probe.map(running -> running.finishTraced("norm", "probe", 3))).contains(7L);
        assertThat(pushed).containsExactly("normprobe7/3");
    }
}
