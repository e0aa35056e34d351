package org.brickprofiler.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.brickprofiler.internal.record.SpanSink;
import org.brickprofiler.testing.FakeClock;
import org.brickprofiler.testing.SimulatedStream;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;

final class DeviceTimerTest {

    private final FakeClock clock = new FakeClock(5_000);
    private final CpuTimer timer = new CpuTimer(clock);

    @Spec("12.14")
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

    @Spec("12.14")
    @Test
    void aTimerIsMadeByTheNameOfItsBackend() {
        SimulatedStream cuda = new SimulatedStream(new SpanSink.Place("CUDA", 0, "simulated", "decode", 0), clock, 8);
        SimulatedStream metal = new SimulatedStream(new SpanSink.Place("METAL", 0, "simulated", "queue", 0), clock, 8);

        DeviceTimer device = DeviceTimer.of("cuda", metal, cuda);
        assertThat(device.elapsedNs()).isZero();
        device.recordEnd();
        device.recordStart();
        cuda.work(700);
        assertThat(device.elapsedNs()).isZero();
        device.recordEnd();
        metal.work(5);
        assertThat(device.elapsedNs()).isEqualTo(700);
        assertThat(device.elapsedMs()).isEqualTo(0.0007);
        device.recordStart();
        cuda.work(30);
        device.recordEnd();
        cuda.work(40);
        device.recordEnd();
        assertThat(device.elapsedNs()).isEqualTo(70);
        assertThat(cuda.marksHeld()).isEqualTo(2);
        device.close();
        assertThat(cuda.marksHeld()).isZero();
        assertThat(metal.marksSet()).isZero();
        assertThat(device.elapsedNs()).isZero();

        device.recordStart();
        cuda.work(10);
        device.recordEnd();
        cuda.work(1_000_000);
        long beforeNs = clock.now();
        assertThat(device.elapsedNs()).isEqualTo(10);
        assertThat(clock.now() - beforeNs).as("waits for its end only").isEqualTo(10);
        device.close();

        assertThat(DeviceTimer.of("CPU", cuda)).isInstanceOf(CpuTimer.class);
        assertThat(DeviceTimer.of("cpu", new HostStream())).isInstanceOf(StreamTimer.class);
    }

    @Test
    @SuppressWarnings("NullAway") // null is refused
    void aBackendWithoutAStreamHasNoTimer() {
        SimulatedStream metal = new SimulatedStream(new SpanSink.Place("METAL", 0, "simulated", "queue", 0), clock, 8);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> DeviceTimer.of("CUDA", metal))
                .withMessage("no timer for backend 'CUDA': there are streams of [METAL]");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> DeviceTimer.of(null))
                .withMessageContaining("backend");
    }

    @Test
    void aTimerOfAStreamThatTellsNothingReadsZero() {
        SimulatedStream stream = new SimulatedStream("decode", clock);
        DeviceTimer timerOfIt = new StreamTimer(stream);
        stream.capture(true);
        timerOfIt.recordStart();
        timerOfIt.recordEnd();
        stream.capture(false);
        assertThat(timerOfIt.elapsedNs()).isZero();
        stream.lose();
        timerOfIt.recordStart();
        timerOfIt.recordEnd();
        assertThat(timerOfIt.elapsedNs()).isZero();
    }

    @Spec("12.14")
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
    void aTracedProbeIsRecordedInTheTrace() {
        List<String> pushed = new ArrayList<>();
        Optional<ProbeTimer> probe = ProbeTimer.startIf(
                true, timer, (name, category, elapsedNs, tid) -> pushed.add(name + category + elapsedNs + "/" + tid));
        clock.advance(7);
        assertThat(probe.map(running -> running.finishTraced("norm", "probe", 3)))
                .contains(7L);
        assertThat(pushed).containsExactly("normprobe7/3");
    }
}
