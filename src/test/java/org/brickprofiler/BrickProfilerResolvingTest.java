package org.brickprofiler;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import org.brickprofiler.device.StreamTotals;
import org.brickprofiler.report.TextReport;
import org.brickprofiler.testing.SimulatedStream;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;

/**
 * The time at which samples of a device are resolved, and their state if the device cannot return their times at once.
 */
final class BrickProfilerResolvingTest extends ProfiledDevice {

    private DeviceTime device(BrickId id) {
        return profiler.brickStats(id).device();
    }

    private long begin(BrickId id, long deviceNs) {
        long timer = profiler.startBrick(id);
        launch(deviceNs);
        return timer;
    }

    // ---- a device that does not answer now ----

    @Test
    void aPassThatWasWaitedForHasItsTimesInACapture() {
        brick(BrickId.RMS_NORM, 300);
        profiler.endPass();
        stream.capture(true);
        assertThat(device(BrickId.RMS_NORM).measured()).isEqualTo(1);
        assertThat(profiler.pendingCount()).isZero();
        stream.capture(false);
        profiler.endPassAsync();
        assertThat(profiler.brickStats(BrickId.RMS_NORM).totalNs()).isEqualTo(300);
        assertThat(device(BrickId.RMS_NORM).unresolved()).isZero();
        assertThat(stream.marksHeld()).isZero();
    }

    @Test
    void aBrickOfACaptureLeavesThePassBeforeResolved() {
        brick(BrickId.RMS_NORM, 300);
        profiler.endPass();
        stream.capture(true);
        brick(BrickId.LM_HEAD, 50);
        profiler.endPass();
        stream.capture(false);
        profiler.endPass();
        assertThat(profiler.brickStats(BrickId.RMS_NORM).totalNs()).isEqualTo(300);
        assertThat(device(BrickId.RMS_NORM).unresolved()).isZero();
        assertThat(device(BrickId.LM_HEAD).unresolved()).isEqualTo(1);
        assertThat(device(BrickId.LM_HEAD).measured()).isZero();
    }

    @Test
    void aBoundaryThatMustNotWaitDoesNotWaitForOneThatDoes() throws InterruptedException {
        CountDownLatch waiting = new CountDownLatch(1);
        CountDownLatch enough = new CountDownLatch(1);
        stream.beforeWait(() -> {
            waiting.countDown();
            try {
                enough.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
        Thread waiter = new Thread(() -> {
            brick(BrickId.RMS_NORM, 300);
            profiler.endPass();
        });
        waiter.start();
        waiting.await();
        brick(BrickId.LM_HEAD, 20);
        profiler.endPassAsync();
        profiler.finalize(profiler.elapsedNs());
        enough.countDown();
        waiter.join();
        profiler.endPass();
        assertThat(profiler.brickStats(BrickId.RMS_NORM).totalNs()).isEqualTo(300);
        assertThat(profiler.brickStats(BrickId.LM_HEAD).totalNs()).isEqualTo(20);
    }

    @Test
    void aFinishedPassIsFoundWithOneQuery() {
        for (int i = 0; i < 1_000; i++) {
            brick(BrickId.RMS_NORM, 10);
        }
        clock.advance(100_000);
        int before = stream.asked();
        profiler.endPassAsync();
        assertThat(stream.asked() - before).isEqualTo(1);
        assertThat(device(BrickId.RMS_NORM).measured()).isEqualTo(1_000);
    }

    // ---- timers that are stopped twice ----

    @Test
    void bothSamplesOfATimerThatIsStoppedTwiceAreWhole() {
        long timer = begin(BrickId.RMS_NORM, 100);
        profiler.stopBrick(timer, 1);
        launch(100);
        profiler.stopBrick(timer, 1);
        // The first sample's end is reached, the second's is not.
        clock.advance(120);
        profiler.endPassAsync();
        assertThat(device(BrickId.RMS_NORM).measured()).isEqualTo(1);
        long other = begin(BrickId.LM_HEAD, 40);
        profiler.stopBrick(other, 1);
        profiler.endPass();
        assertThat(profiler.brickStats(BrickId.RMS_NORM).count()).isEqualTo(2);
        assertThat(profiler.brickStats(BrickId.RMS_NORM).totalNs()).isEqualTo(100 + 200);
        assertThat(profiler.brickStats(BrickId.LM_HEAD).totalNs()).isEqualTo(40);
        assertThat(device(BrickId.LM_HEAD).unresolved()).isZero();
        profiler.endPass();
        profiler.snapshot();
        assertThat(stream.marksHeld()).isZero();
    }

    @Test
    void aTimerThatIsStoppedManyTimesTakesNoMarkFromOthers() {
        long timer = begin(BrickId.RMS_NORM, 10);
        for (int i = 0; i < 100; i++) {
            profiler.stopBrick(timer, 1);
        }
        profiler.endPass();
        assertThat(profiler.brickStats(BrickId.RMS_NORM).count()).isEqualTo(100);
        assertThat(stream.marksHeld()).isZero();
    }

    // ---- unknown times ----

    @Test
    void theTimeOfABrickWithoutMarksIsNotIdleTime() {
        SimulatedStream few = new SimulatedStream("few", clock, 3);
        BrickProfiler tight = profiler(few);
        tight.setSyncMode(SyncMode.PER_LAYER);
        long first = tight.startBrick(BrickId.RMS_NORM);
        few.work(10);
        tight.stopBrick(first, 1);
        long second = tight.startBrick(BrickId.LM_HEAD);
        few.work(5_000);
        tight.stopBrick(second, 1);
        tight.endLayer();
        clock.advance(70);
        long third = tight.startBrick(BrickId.RMS_NORM);
        few.work(20);
        tight.stopBrick(third, 1);
        tight.endPass();
        assertThat(tight.brickStats(BrickId.LM_HEAD).device().unresolved()).isEqualTo(1);
        StreamTotals totals = tight.snapshot().streams().get(0);
        assertThat(totals.busyNs()).isEqualTo(30);
        assertThat(totals.idleNs()).isZero();
    }

    /**
     * The start after the brick without marks delimits nothing, and its mark is gone when the next brick is resolved.
     */
    @Test
    void aStartThatIsReadAfterABrickWithoutMarksHidesNoGap() {
        SimulatedStream few = new SimulatedStream("few", clock, 4);
        BrickProfiler tight = profiler(few);
        for (int i = 0; i < 2; i++) {
            long timer = tight.startBrick(BrickId.RMS_NORM);
            few.work(10);
            tight.stopBrick(timer, 1);
        }
        long missed = tight.startBrick(BrickId.LM_HEAD);
        few.work(5_000);
        tight.stopBrick(missed, 1);
        few.finish();
        tight.elapsedNs();
        tight.finalize(tight.elapsedNs());
        long timer = tight.startBrick(BrickId.RMS_NORM);
        few.work(20);
        tight.stopBrick(timer, 1);
        tight.endPass();
        assertThat(tight.brickStats(BrickId.LM_HEAD).device().unresolved()).isEqualTo(1);
        StreamTotals totals = tight.snapshot().streams().get(0);
        assertThat(totals.busyNs()).isEqualTo(40);
        assertThat(totals.idleNs()).isZero();
    }

    // ---- measurements whose start is no mark ----

    /** The start comes from the application's own clock; between the marks around it, there may be other work. */
    @Spec("12.8")
    @Test
    void aDeferredMeasurementFromAnotherClockIsUnresolvedAndCounted() {
        long epochNs = clock.now();
        launch(70_000);
        long start = clock.now() - epochNs;
        launch(500);
        profiler.recordDeferred(BrickId.RMS_NORM, start, 1);
        launch(900_000);
        brick(BrickId.LM_HEAD, 30);
        profiler.endPass();
        assertThat(profiler.brickStats(BrickId.RMS_NORM).count()).isZero();
        assertThat(device(BrickId.RMS_NORM)).isEqualTo(new DeviceTime(0, 0, 0, 0, 0, 1, 1));
        assertThat(profiler.brickStats(BrickId.LM_HEAD).totalNs()).isEqualTo(30);
        assertThat(TextReport.render(profiler.snapshot()))
                .contains("deferred measurements without a known start: 1 (RmsNorm)");
        assertThat(stream.marksHeld()).isZero();
    }

    @Test
    void aStartOfAnEarlierIntervalIsNotKnownAfterAReset() {
        long start = profiler.elapsedNs();
        launch(500);
        profiler.endPass();
        profiler.reset();
        profiler.recordDeferred(BrickId.RMS_NORM, start, 1);
        profiler.endPass();
        assertThat(device(BrickId.RMS_NORM).withoutStart()).isOne();
        assertThat(profiler.brickStats(BrickId.RMS_NORM).count()).isZero();
        assertThat(stream.marksHeld()).isZero();
    }
}
