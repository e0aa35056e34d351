package org.brickprofiler;

import static org.assertj.core.api.Assertions.assertThat;

import org.brickprofiler.testing.CapturedLog;
import org.brickprofiler.testing.SimulatedStream;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;

/** Samples whose time is unknown, or not yet known: the profiler makes up no time and loses no mark. */
final class BrickProfilerUnresolvedTest extends ProfiledDevice {

    @Spec("12.6")
    @Test
    void aSampleWithoutATimeIsUnresolved() {
        brick(BrickId.RMS_NORM, 100);
        stream.capture(true);
        brick(BrickId.RMS_NORM, 100);
        profiler.endPass();
        assertThat(stream.waits()).isZero();
        assertThat(profiler.pendingCount()).isEqualTo(2);
        stream.capture(false);
        brick(BrickId.RMS_NORM, 70);
        profiler.endPass();
        BrickStats norm = stats(BrickId.RMS_NORM);
        assertThat(norm.count()).isEqualTo(2);
        assertThat(norm.totalNs()).isEqualTo(170);
        assertThat(norm.device().unresolved()).isEqualTo(1);
        assertThat(norm.timeSource()).isEqualTo(DeviceTime.Source.DEVICE);
        assertThat(profiler.snapshot().unresolved()).isEqualTo(1);
        assertThat(stream.marksHeld()).isZero();
    }

    private void captured(BrickId id, long deviceNs) {
        stream.capture(true);
        brick(id, deviceNs);
        stream.capture(false);
    }

    @Test
    void bricksBesideAnUnresolvedOneAreBusyTime() {
        captured(BrickId.EMBEDDING, 1_000);
        brick(BrickId.RMS_NORM, 100);
        captured(BrickId.LM_HEAD, 1_000);
        brick(BrickId.RMS_NORM, 70);
        stream.work(6);
        brick(BrickId.RMS_NORM, 30);
        captured(BrickId.SAMPLING, 1_000);
        profiler.endPass();
        assertThat(profiler.snapshot().unresolved()).isEqualTo(3);
        assertThat(totals().busyNs())
                .isEqualTo(stats(BrickId.RMS_NORM).totalNs())
                .isEqualTo(200);
        // If one of two bricks has no time, it is unknown whether the time between them was idle.
        assertThat(totals().idleNs()).isEqualTo(6);
        assertThat(stream.marksHeld()).isZero();
    }

    @Spec("12.7")
    @Test
    void gapsInsideAnUnresolvedBrickAreNeitherBusyNorIdle() {
        long layer = profiler.startBrick(BrickId.FUSED_ATTENTION);
        brick(BrickId.RMS_NORM, 100);
        stream.work(50);
        brick(BrickId.RMS_NORM, 20);
        stream.capture(true);
        profiler.stopBrick(layer, 1);
        stream.capture(false);
        profiler.endLayer();
        profiler.endPass();
        assertThat(totals().busyNs()).isEqualTo(120);
        assertThat(totals().idleNs()).isZero();
        assertThat(profiler.snapshot().unresolved()).isEqualTo(1);
    }

    @Test
    void unresolvedBricksInsideABrickDoNotInterruptIt() {
        long layer = profiler.startBrick(BrickId.FUSED_ATTENTION);
        captured(BrickId.RMS_NORM, 100);
        captured(BrickId.RMS_NORM, 50);
        profiler.stopBrick(layer, 1);
        profiler.endPass();
        assertThat(stats(BrickId.FUSED_ATTENTION).totalNs())
                .isEqualTo(totals().busyNs())
                .isEqualTo(150);
        assertThat(totals().idleNs()).isZero();
    }

    @Test
    void idleTimeIsCountedAfterALayerWithAnUnresolvedBrick() {
        profiler.setSyncMode(SyncMode.PER_LAYER);
        captured(BrickId.LM_HEAD, 1_000);
        brick(BrickId.RMS_NORM, 100);
        profiler.endLayer();
        clock.advance(40);
        brick(BrickId.RMS_NORM, 100);
        profiler.endLayer();
        captured(BrickId.LM_HEAD, 1_000);
        profiler.endLayer();
        profiler.endPass();
        assertThat(totals().busyNs()).isEqualTo(200);
        assertThat(totals().idleNs()).isEqualTo(40);
        assertThat(stream.marksHeld()).isZero();
    }

    @Test
    void aDeferredMeasurementAtAMarkWithoutATimeIsUnresolved() {
        long startNs = profiler.elapsedNs();
        launch(100);
        stream.capture(true);
        profiler.recordDeferred(BrickId.LM_HEAD, startNs, 1);
        stream.capture(false);
        profiler.endPass();
        assertThat(stats(BrickId.LM_HEAD).count()).isZero();
        assertThat(stats(BrickId.LM_HEAD).device().unresolved()).isEqualTo(1);
        assertThat(totals().busyNs()).isZero();
        // The mark of the start stays, since later measurements may begin there.
        assertThat(stream.marksHeld()).isEqualTo(1);
    }

    @Spec("12.6")
    @Test
    void aBrickWithoutAnyTimeIsShown() {
        stream.lose();
        brick(BrickId.RMS_NORM, 100);
        profiler.endPass();
        assertThat(profiler.brickNames()).containsExactly("RmsNorm");
        assertThat(stats(BrickId.RMS_NORM).device().unresolved()).isEqualTo(1);
        assertThat(stats(BrickId.RMS_NORM).minNs()).isZero();
        assertThat(profiler.snapshot().bricks()).hasSize(1);
        assertThat(totals().failure()).contains("the device was lost");
    }

    @Test
    void samplesResolvedBeforeALossStay() {
        brick(BrickId.RMS_NORM, 100);
        profiler.endPass();
        assertThat(stats(BrickId.RMS_NORM).totalNs()).isEqualTo(100);
        brick(BrickId.RMS_NORM, 100);
        profiler.endPass();
        brick(BrickId.RMS_NORM, 100);
        stream.lose();
        profiler.endPass();
        brick(BrickId.RMS_NORM, 100);
        assertThat(stats(BrickId.RMS_NORM).count()).isEqualTo(2);
        assertThat(stats(BrickId.RMS_NORM).device().unresolved()).isEqualTo(2);
        assertThat(profiler.hasPending()).isFalse();
    }

    @Test
    void finishedWorkIsReadBeforeAStreamCloses() {
        brick(BrickId.RMS_NORM, 100);
        profiler.endPass();
        brick(BrickId.RMS_NORM, 30);
        clock.advance(30);
        brick(BrickId.LM_HEAD, 40);
        stream.close();
        stream.close();
        assertThat(stats(BrickId.RMS_NORM).totalNs()).isEqualTo(130);
        profiler.endPass();
        assertThat(stats(BrickId.LM_HEAD).device().unresolved()).isEqualTo(1);
    }

    @Spec("12.4")
    @Test
    void timesAreAskedForByTheThreadThatWaitsAndNotByReaders() {
        brick(BrickId.RMS_NORM, 100);
        profiler.endPass();
        assertThat(stream.marksHeld()).isZero();
        assertThat(profiler.hasPending()).isFalse();
        brick(BrickId.RMS_NORM, 100);
        clock.advance(100);
        int asked = stream.asked();
        assertThat(stats(BrickId.RMS_NORM).totalNs()).isEqualTo(100);
        assertThat(profiler.snapshot().unresolved()).isZero();
        assertThat(profiler.pendingCount()).isEqualTo(1);
        assertThat(stream.asked()).isEqualTo(asked);
        profiler.endPass();
        assertThat(stats(BrickId.RMS_NORM).totalNs()).isEqualTo(200);
    }

    @Test
    void stoppingTwiceCountsTwiceWhileItsTimeIsKnown() {
        long timer = profiler.startBrick(BrickId.RMS_NORM);
        launch(100);
        profiler.stopBrick(timer, 1);
        profiler.stopBrick(timer, 1);
        profiler.endPass();
        assertThat(stats(BrickId.RMS_NORM).totalNs()).isEqualTo(200);
        profiler.stopBrick(timer, 1);
        profiler.endPass();
        assertThat(stats(BrickId.RMS_NORM).count()).isEqualTo(2);
        assertThat(stats(BrickId.RMS_NORM).device().unresolved()).isEqualTo(1);
        assertThat(stream.marksHeld()).isZero();
    }

    @Spec("12.9")
    @Test
    void aFullPoolIsEmptiedOfFinishedWork() {
        SimulatedStream small = new SimulatedStream("small", clock, 8);
        BrickProfiler tight = profiler(small);
        for (int i = 0; i < 100; i++) {
            long timer = tight.startBrick(BrickId.RMS_NORM);
            small.work(10);
            clock.advance(20);
            tight.stopBrick(timer, 1);
        }
        tight.endPass();
        assertThat(tight.brickStats(BrickId.RMS_NORM).count()).isEqualTo(100);
        assertThat(tight.brickStats(BrickId.RMS_NORM).device().unresolved()).isZero();
        assertThat(small.waits()).isLessThanOrEqualTo(1);
    }

    @Spec("12.9")
    @Test
    void withoutFinishedWorkTheSampleIsUnresolvedAndThisIsLoggedOnce() {
        SimulatedStream small = new SimulatedStream("small", clock, 8);
        BrickProfiler tight = profiler(small);
        try (CapturedLog log = new CapturedLog()) {
            for (int i = 0; i < 10; i++) {
                long timer = tight.startBrick(BrickId.RMS_NORM);
                small.work(10);
                tight.stopBrick(timer, 1);
            }
            assertThat(log.linesWith("all 8 marks of stream 'small'")).isEqualTo(1);
        }
        tight.endPass();
        assertThat(tight.brickStats(BrickId.RMS_NORM).totalNs()).isEqualTo(40);
        assertThat(tight.brickStats(BrickId.RMS_NORM).device().unresolved()).isEqualTo(6);
        assertThat(small.marksHeld()).isZero();
    }

    @Spec("12.9")
    @Test
    void marksOfForgottenTimersAreTakenBack() {
        SimulatedStream small = new SimulatedStream("small", clock, 8);
        BrickProfiler tight = profiler(small);
        long[] forgotten = new long[8];
        for (int i = 0; i < 8; i++) {
            forgotten[i] = tight.startBrick(BrickId.LM_HEAD);
        }
        tight.endPass();
        tight.endPass();
        long timer = tight.startBrick(BrickId.RMS_NORM);
        small.work(10);
        tight.stopBrick(timer, 1);
        tight.endPass();
        assertThat(tight.brickStats(BrickId.RMS_NORM).totalNs()).isEqualTo(10);
        tight.stopBrick(forgotten[0], 1);
        assertThat(tight.brickStats(BrickId.LM_HEAD).device().unresolved()).isEqualTo(1);
    }
}
