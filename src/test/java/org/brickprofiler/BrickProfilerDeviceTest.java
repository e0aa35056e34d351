package org.brickprofiler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.brickprofiler.testing.Crew;
import org.brickprofiler.testing.FakeClock;
import org.brickprofiler.testing.SimulatedStream;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;

/** Bricks that a device timed: their times, and the effects of resets and other threads on them. */
final class BrickProfilerDeviceTest extends ProfiledDevice {

    // ---- the device's own time ----

    @Spec("12.1")
    @Test
    void aBrickHasItsOwnDeviceTimeHoweverDeepTheQueueIs() {
        brick(BrickId.RMS_NORM, 700);
        brick(BrickId.LM_HEAD, 90_000);
        brick(BrickId.RMS_NORM, 300);
        assertThat(profiler.pendingCount()).isEqualTo(3);
        assertThat(stats(BrickId.RMS_NORM).count()).isZero();
        profiler.endPass();
        assertThat(profiler.hasPending()).isFalse();
        BrickStats norm = stats(BrickId.RMS_NORM);
        assertThat(norm.count()).isEqualTo(2);
        assertThat(norm.totalNs()).isEqualTo(1_000);
        assertThat(norm.minNs()).isEqualTo(300);
        assertThat(norm.maxNs()).isEqualTo(700);
        assertThat(norm.lastNs()).isEqualTo(300);
        assertThat(norm.totalElements()).isEqualTo(4);
        assertThat(stats(BrickId.LM_HEAD).totalNs()).isEqualTo(90_000);
    }

    @Spec("12.53")
    @Test
    void theTimeOfAStepHasNoMeasurementOfWhatMarksAdd() {
        stream.measuringTakes(80_000_000);
        profiler.beginStep(StepInfo.decode(1));
        brick(BrickId.RMS_NORM, 700);
        long ofStepNs = clock.nanoTime();
        profiler.endPass();
        assertThat(clock.nanoTime() - ofStepNs).isGreaterThan(80_000_000);
        assertThat(profiler.snapshot().steps().kept().get(0).durationNs()).isLessThan(2_000);
        assertThat(copies.hasMeasured()).isFalse();
    }

    @Spec("12.1")
    @Test
    void bothTimesAreKept() {
        brick(BrickId.RMS_NORM, 700);
        launchSlowly();
        profiler.endPass();
        assertThat(totals().clockErrorNs()).isZero();
        BrickStats norm = stats(BrickId.RMS_NORM);
        assertThat(norm.timeSource()).isEqualTo(DeviceTime.Source.DEVICE);
        assertThat(norm.device()).isEqualTo(new DeviceTime(1, 1, LAUNCH_NS, LAUNCH_NS, LAUNCH_NS, 0));
        assertThat(norm.isLaunchBound()).isFalse();
        assertThat(stats(BrickId.SAMPLING).isLaunchBound()).isTrue();
        assertThat(stats(BrickId.EMBEDDING).timeSource()).isEqualTo(DeviceTime.Source.HOST);
    }

    private void launchSlowly() {
        long timer = profiler.startBrick(BrickId.SAMPLING);
        clock.advance(5_000);
        stream.work(40);
        profiler.stopBrick(timer, 1);
    }

    @Spec("12.1")
    @Test
    void launchTimesAreThoseOfSomeBricksAndOfTheFirstAfterABoundary() {
        BrickProfiler some =
                BrickProfiler.builder().clock(clock).deviceStream(stream).build();
        some.enable();
        int passes = 400;
        for (int pass = 0; pass < passes; pass++) {
            for (BrickId id : List.of(BrickId.EMBEDDING, BrickId.RMS_NORM, BrickId.LM_HEAD, BrickId.SAMPLING)) {
                long timer = some.startBrick(id);
                launch(40);
                some.stopBrick(timer, 1);
            }
            some.endPass();
        }
        assertThat(some.brickStats(BrickId.EMBEDDING).device().launches()).isEqualTo(passes);
        for (BrickId id : List.of(BrickId.RMS_NORM, BrickId.LM_HEAD, BrickId.SAMPLING)) {
            BrickStats stats = some.brickStats(id);
            assertThat(stats.totalNs()).isEqualTo(40L * passes);
            assertThat(stats.timeSource()).isEqualTo(DeviceTime.Source.DEVICE);
            assertThat(stats.device().measured()).isEqualTo(passes);
            assertThat(stats.device().launches()).isBetween(4L, 30L);
            assertThat(stats.device().launchNs())
                    .isEqualTo(LAUNCH_NS * stats.device().launches());
        }
        assertThat(some.snapshot().streams().get(0).clockErrorNs()).isZero();
    }

    @Test
    void aLapTimesTheLaunchesOfAsFewBricks() {
        BrickProfiler few = BrickProfiler.builder()
                .clock(clock)
                .deviceStream(stream)
                .launchTimes(Integer.MAX_VALUE)
                .build();
        few.enable();
        long timer = few.startBrick(BrickId.EMBEDDING);
        for (int i = 0; i < 100; i++) {
            launch(40);
            timer = few.lap(timer, 1, BrickId.RMS_NORM);
        }
        few.stopBrick(timer, 1);
        few.endPass();
        assertThat(few.brickStats(BrickId.EMBEDDING).device().launches()).isEqualTo(1);
        assertThat(few.brickStats(BrickId.RMS_NORM).device().measured()).isEqualTo(100);
        assertThat(few.brickStats(BrickId.RMS_NORM).device().launches()).isZero();
    }

    @Spec("12.1")
    @Test
    void aGraphHasTheLaunchesOfAllBricks() {
        BrickProfiler some =
                BrickProfiler.builder().clock(clock).deviceStream(stream).build();
        some.enable();
        some.graph().enable();
        for (int i = 0; i < 100; i++) {
            long timer = some.startBrick(BrickId.RMS_NORM);
            launch(40);
            timer = some.lap(timer, 1, BrickId.LM_HEAD);
            launch(40);
            some.stopBrick(timer, 1);
        }
        some.endPass();
        assertThat(some.graph().graph().nodesByName("RmsNorm")).hasSize(100);
        assertThat(some.graph().graph().nodesByName("LmHead")).hasSize(100);
        assertThat(some.brickStats(BrickId.LM_HEAD).device().launches()).isEqualTo(100);
    }

    @Test
    void aNumberOfBricksWithLaunchTimesIsPositive() {
        assertThatThrownBy(() -> BrickProfiler.builder().launchTimes(0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("launchTimes 0: expected 1 or more");
    }

    @Test
    void dynamicBricksAndNamesAreTimedTheSame() {
        int key = profiler.brickKey("mine");
        long timer = profiler.startBrick(key);
        launch(11);
        timer = profiler.lap(timer, 1, key);
        launch(12);
        profiler.stopBrick(timer, 1);
        timer = profiler.startBrick("yours");
        launch(13);
        profiler.stopBrick(timer, 1);
        profiler.endPass();
        assertThat(profiler.stats("mine").orElseThrow().totalNs()).isEqualTo(23);
        assertThat(profiler.stats("yours").orElseThrow().totalNs()).isEqualTo(13);
    }

    @Test
    void aThousandLayersOfFifteenBricksAreExactInEveryMode() {
        SimulatedStream wide = new SimulatedStream("wide", clock, 1 << 16);
        for (SyncMode mode : List.of(SyncMode.IMMEDIATE, SyncMode.PER_LAYER, SyncMode.DEFERRED)) {
            BrickProfiler many = profiler(wide);
            many.setSyncMode(mode);
            for (int layer = 0; layer < 1_000; layer++) {
                for (int brick = 0; brick < 15; brick++) {
                    long timer = many.startBrick(BrickId.all().get(brick));
                    wide.work(1_000L * brick + layer);
                    many.stopBrick(timer, 1);
                }
                many.endLayer();
            }
            many.endPass();
            for (int brick = 0; brick < 15; brick++) {
                BrickStats stats = many.brickStats(BrickId.all().get(brick));
                assertThat(stats.totalNs()).as(mode + " " + brick).isEqualTo(1_000_000L * brick + 499_500);
                assertThat(stats.minNs()).isEqualTo(1_000L * brick);
                assertThat(stats.maxNs()).isEqualTo(1_000L * brick + 999);
            }
            assertThat(wide.marksHeld()).isZero();
        }
    }

    // ---- lap ----

    @Test
    void aLapOutlivesTheBoundary() {
        long timer = profiler.startBrick(BrickId.RMS_NORM);
        launch(10);
        timer = profiler.lap(timer, 1, BrickId.LM_HEAD);
        profiler.endPass();
        launch(20);
        profiler.stopBrick(timer, 1);
        profiler.endPass();
        assertThat(stats(BrickId.RMS_NORM).totalNs()).isEqualTo(10);
        assertThat(stats(BrickId.LM_HEAD).totalNs()).isEqualTo(20);
        assertThat(stream.marksHeld()).isZero();
    }

    @Test
    void aLapThatWaitsHidesNoGap() {
        profiler.setSyncMode(SyncMode.IMMEDIATE);
        long timer = profiler.startBrick(BrickId.RMS_NORM);
        launch(10);
        timer = profiler.lap(timer, 1, BrickId.LM_HEAD);
        stream.work(20);
        profiler.stopBrick(timer, 1);
        assertThat(stats(BrickId.RMS_NORM).totalNs()).isEqualTo(10);
        assertThat(stats(BrickId.LM_HEAD).totalNs()).isEqualTo(20);
        assertThat(stream.waits()).isEqualTo(2);
    }

    @Test
    void aLapOfAVoidTimerStartsOnTheFirstStream() {
        profiler.disable();
        long timer = profiler.startBrick(BrickId.RMS_NORM);
        profiler.enable();
        timer = profiler.lap(timer, 1, BrickId.LM_HEAD);
        launch(20);
        profiler.stopBrick(timer, 1);
        profiler.endPass();
        assertThat(stats(BrickId.RMS_NORM).isRecorded()).isFalse();
        assertThat(stats(BrickId.LM_HEAD).totalNs()).isEqualTo(20);
    }

    // ---- deferred measurements ----

    @Test
    void aDeferredMeasurementEndsWithItsWork() {
        long first = profiler.elapsedNs();
        launch(1_000);
        profiler.recordDeferred(BrickId.RMS_NORM, first, 1);
        long second = profiler.elapsedNs();
        launch(300);
        profiler.recordDeferred(BrickId.LM_HEAD, second, 1);
        profiler.endPass();
        // The first began when the host launched it; the second when the device had finished the first.
        assertThat(stats(BrickId.RMS_NORM).totalNs()).isEqualTo(1_000);
        assertThat(stats(BrickId.LM_HEAD).totalNs()).isEqualTo(300);
        assertThat(stats(BrickId.LM_HEAD).timeSource()).isEqualTo(DeviceTime.Source.DEVICE);
        assertThat(totals().busyNs()).isEqualTo(1_300);
        // The last mark stays, so that later measurements from these starts continue the stream's timeline.
        assertThat(stream.marksHeld()).isOne();
        profiler.reset();
        assertThat(stream.marksHeld()).isZero();
    }

    // ---- errors, resets, threads ----

    @Test
    void negativeElementsAreRefused() {
        long timer = profiler.startBrick(BrickId.RMS_NORM);
        assertThatThrownBy(() -> profiler.stopBrick(timer, -7))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("-7");
        assertThatThrownBy(() -> profiler.lap(timer, -8, BrickId.LM_HEAD))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("-8");
        profiler.stopBrick(timer, 1);
        profiler.endPass();
        assertThat(stats(BrickId.RMS_NORM).count()).isEqualTo(1);
    }

    @Test
    void aTimerOfAnotherProfilerDoesNoHarm() {
        // A timer of the host, whose clock's low bits read as a device's timer with a stream and a mark that do not
        // exist.
        FakeClock other = new FakeClock(-1);
        BrickProfiler host = BrickProfiler.builder().clock(other).build();
        host.enable();
        long foreign = host.startBrick(BrickId.RMS_NORM);
        profiler.stopBrick(foreign, 1);
        profiler.stopBrick(profiler.lap(foreign, 1, BrickId.LM_HEAD), 1);
        profiler.endPass();
        assertThat(stats(BrickId.RMS_NORM).count()).isZero();
        assertThat(stats(BrickId.RMS_NORM).device().unresolved()).isEqualTo(2);
        assertThat(stats(BrickId.LM_HEAD).count()).isEqualTo(1);
    }

    @Test
    void aResetDiscardsPendingMeasurements() {
        brick(BrickId.RMS_NORM, 100);
        stream.capture(true);
        brick(BrickId.RMS_NORM, 100);
        stream.capture(false);
        profiler.endPass();
        brick(BrickId.LM_HEAD, 100);
        profiler.reset();
        profiler.endPass();
        assertThat(profiler.allBrickStats()).isEmpty();
        assertThat(totals().busyNs()).isZero();
        assertThat(stream.marksHeld()).isZero();
    }

    @Spec("12.11")
    @Test
    void everySampleIsInOneOfConsecutiveSnapshots() {
        brick(BrickId.RMS_NORM, 100);
        profiler.endPass();
        brick(BrickId.RMS_NORM, 50);
        ProfileSnapshot first = profiler.snapshotAndReset();
        profiler.endPass();
        ProfileSnapshot second = profiler.snapshotAndReset();
        assertThat(first.brick("RmsNorm").orElseThrow().device().measured()).isEqualTo(1);
        assertThat(second.brick("RmsNorm").orElseThrow().totalNs()).isEqualTo(50);
        ProfileSnapshot both = first.merge(second);
        assertThat(both.brick("RmsNorm").orElseThrow().device())
                .isEqualTo(new DeviceTime(2, 2, 2 * LAUNCH_NS, LAUNCH_NS, LAUNCH_NS, 0));
        assertThat(both.streams()).hasSize(2);
        assertThat(profiler.snapshot().samples()).isZero();
    }

    @Test
    void threadsShareAStream() throws Exception {
        int threads = 4;
        int passes = 200;
        Crew crew = new Crew();
        for (int thread = 0; thread < threads; thread++) {
            crew.run(() -> {
                for (int pass = 0; pass < passes; pass++) {
                    long timer = profiler.startBrick(BrickId.RMS_NORM);
                    timer = profiler.lap(timer, 1, BrickId.LM_HEAD);
                    profiler.stopBrick(timer, 1);
                    profiler.endPassAsync();
                }
            });
        }
        crew.join();
        profiler.endPass();
        assertThat(stats(BrickId.RMS_NORM).count()).isEqualTo((long) threads * passes);
        assertThat(stats(BrickId.LM_HEAD).count()).isEqualTo((long) threads * passes);
        assertThat(profiler.snapshot().unresolved()).isZero();
        assertThat(stream.marksHeld()).isZero();
    }
}
