package org.brickprofiler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import java.util.List;
import org.brickprofiler.device.SimulatedStream;
import org.brickprofiler.device.StreamTotals;
import org.brickprofiler.record.CapturedLog;
import org.brickprofiler.record.Crew;
import org.brickprofiler.record.FakeClock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

final class BrickProfilerDeviceTest {

    private static final long LAUNCH_NS = 5;

    private final FakeClock clock = new FakeClock(1_000_000);
    private final SimulatedStream stream = new SimulatedStream("decode", clock);
    private final SimulatedStream copies = new SimulatedStream("copies", clock);
    private final BrickProfiler profiler = profiler(stream, copies);

    private BrickProfiler profiler(SimulatedStream... streams) {
        BrickProfilerBuilder options = BrickProfiler.builder().clock(clock).launchTimes(1);
        for (SimulatedStream each : streams) {
            options.deviceStream(each);
        }
        BrickProfiler made = options.build();
        made.enable();
        return made;
    }

    /** A brick that the host launches in 5 ns and the device does in the given time. */
    private void brick(BrickId id, long deviceNs) {
        long timer = profiler.startBrick(id);
        launch(deviceNs);
        profiler.stopBrick(timer, 2);
    }

    private void launch(long deviceNs) {
        stream.work(deviceNs);
        clock.advance(LAUNCH_NS);
    }

    private BrickStats stats(BrickId id) {
        return profiler.brickStats(id);
    }

    private StreamTotals totals() {
        return profiler.snapshot().streams().stream()
                .filter(each -> each.stream().equals("decode"))
                .findFirst()
                .orElseThrow();
    }

    // ---- the device's own time ----

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

    @Test
    void bothTimesAreKept() {
        brick(BrickId.RMS_NORM, 700);
        launchSlowly();
        profiler.endPass();
        assertThat(totals().clockErrorNs()).isZero();
        BrickStats norm = stats(BrickId.RMS_NORM);
        assertThat(norm.timeSource()).isEqualTo(TimeSource.DEVICE);
        assertThat(norm.device()).isEqualTo(new DeviceTime(1, 1, LAUNCH_NS, LAUNCH_NS, LAUNCH_NS, 0));
        assertThat(norm.isLaunchBound()).isFalse();
        assertThat(stats(BrickId.SAMPLING).isLaunchBound()).isTrue();
        assertThat(stats(BrickId.EMBEDDING).timeSource()).isEqualTo(TimeSource.HOST);
    }

    private void launchSlowly() {
        long timer = profiler.startBrick(BrickId.SAMPLING);
        clock.advance(5_000);
        stream.work(40);
        profiler.stopBrick(timer, 1);
    }

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
            assertThat(stats.timeSource()).isEqualTo(TimeSource.DEVICE);
            assertThat(stats.device().samples()).isEqualTo(passes);
            assertThat(stats.device().launches()).isBetween(4L, 30L);
            assertThat(stats.device().launchNs()).isEqualTo(LAUNCH_NS * stats.device().launches());
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
        assertThat(few.brickStats(BrickId.RMS_NORM).device().samples()).isEqualTo(100);
        assertThat(few.brickStats(BrickId.RMS_NORM).device().launches()).isZero();
    }

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
                .hasMessageContaining("in 0");
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

    // ---- when the device is waited for ----

    @ParameterizedTest
    @EnumSource(SyncMode.class)
    void theModeSaysHowOftenTheDeviceIsWaitedFor(SyncMode mode) {
        profiler.setSyncMode(mode);
        for (int layer = 0; layer < 4; layer++) {
            brick(BrickId.RMS_NORM, 100);
            brick(BrickId.GATE_PROJECTION, 200);
            profiler.endLayer();
        }
        profiler.endPass();
        int expected =
                switch (mode) {
                    case IMMEDIATE -> 8;
                    case PER_LAYER -> 4;
                    case DEFERRED -> 1;
                    case NONE -> 0;
                };
        assertThat(stream.waits()).isEqualTo(expected);
        assertThat(copies.waits()).isZero();
        assertThat(stats(BrickId.RMS_NORM).count()).isEqualTo(4);
        assertThat(stats(BrickId.RMS_NORM).totalNs()).isEqualTo(mode == SyncMode.NONE ? 4 * LAUNCH_NS : 400);
        assertThat(stats(BrickId.RMS_NORM).timeSource())
                .isEqualTo(mode == SyncMode.NONE ? TimeSource.HOST : TimeSource.DEVICE);
        assertThat(stream.marksHeld()).isZero();
    }

    @Test
    void withoutASynchronisationNothingIsMarked() {
        profiler.setSyncMode(SyncMode.NONE);
        brick(BrickId.RMS_NORM, 100);
        assertThat(stream.marksSet()).isZero();
    }

    @Test
    void aTimerMayOutliveItsMode() {
        long marked = profiler.startBrick(BrickId.RMS_NORM);
        launch(100);
        profiler.setSyncMode(SyncMode.NONE);
        long read = profiler.startBrick(BrickId.LAYER_NORM);
        clock.advance(30);
        profiler.stopBrick(marked, 1);
        profiler.setSyncMode(SyncMode.DEFERRED);
        profiler.stopBrick(read, 1);
        profiler.endPass();
        assertThat(stats(BrickId.RMS_NORM).totalNs()).isEqualTo(100);
        assertThat(stats(BrickId.LAYER_NORM).totalNs()).isEqualTo(30);
    }

    @Test
    void aPassMayEndWithoutWaiting() {
        brick(BrickId.RMS_NORM, 1_000);
        brick(BrickId.LM_HEAD, 1_000);
        profiler.endPassAsync();
        assertThat(stats(BrickId.RMS_NORM).count()).isZero();
        clock.advance(1_200);
        brick(BrickId.RMS_NORM, 500);
        profiler.endPassAsync();
        assertThat(stats(BrickId.RMS_NORM).totalNs()).isEqualTo(1_000);
        assertThat(profiler.pendingCount()).isEqualTo(2);
        clock.advance(5_000);
        profiler.endPassAsync();
        assertThat(stats(BrickId.RMS_NORM).totalNs()).isEqualTo(1_500);
        assertThat(stats(BrickId.LM_HEAD).totalNs()).isEqualTo(1_000);
        assertThat(stream.waits()).isZero();
    }

    @Test
    void finalizeResolvesWhatTheDeviceHasDone() {
        brick(BrickId.RMS_NORM, 100);
        clock.advance(50);
        profiler.finalize(profiler.elapsedNs());
        assertThat(profiler.pendingCount()).isEqualTo(1);
        clock.advance(100);
        profiler.finalize(0);
        assertThat(stats(BrickId.RMS_NORM).totalNs()).isEqualTo(100);
        assertThat(stream.waits()).isZero();
    }

    // ---- lap ----

    @Test
    void lapsShareTheirMarks() {
        long timer = profiler.startBrick(BrickId.RMS_NORM);
        for (int brick = 1; brick <= 10; brick++) {
            launch(10L * brick);
            timer = profiler.lap(timer, 1, BrickId.RMS_NORM);
        }
        launch(100);
        profiler.stopBrick(timer, 1);
        assertThat(stream.marksSet()).isEqualTo(12);
        profiler.endPass();
        assertThat(stats(BrickId.RMS_NORM).totalNs()).isEqualTo(650);
        assertThat(stats(BrickId.RMS_NORM).count()).isEqualTo(11);
        assertThat(stream.marksHeld()).isZero();
    }

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

    // ---- idle time ----

    @Test
    void gapsBetweenBricksOfAPassAreIdleTime() {
        brick(BrickId.RMS_NORM, 100);
        clock.advance(400);
        brick(BrickId.RMS_NORM, 100);
        profiler.endPass();
        clock.advance(10_000);
        brick(BrickId.RMS_NORM, 100);
        profiler.endPass();
        StreamTotals totals = totals();
        assertThat(totals.busyNs()).isEqualTo(stats(BrickId.RMS_NORM).totalNs()).isEqualTo(300);
        assertThat(totals.idleNs()).isEqualTo(300 + LAUNCH_NS);
        assertThat(totals.idleShare()).isEqualTo(305.0 / 605);
        assertThat(totals.samples()).isEqualTo(3);
        assertThat(totals.waits()).isEqualTo(2);
    }

    @Test
    void bricksInsideBricksAreCountedOnceAsBusy() {
        long outer = profiler.startBrick(BrickId.FUSED_ATTENTION);
        brick(BrickId.ATTENTION_SCORE, 100);
        brick(BrickId.ATTENTION_SOFTMAX, 50);
        profiler.stopBrick(outer, 1);
        profiler.endPass();
        assertThat(stats(BrickId.FUSED_ATTENTION).totalNs()).isEqualTo(150);
        assertThat(totals().busyNs()).isEqualTo(150);
        assertThat(totals().idleNs()).isZero();
    }

    @Test
    void waitingBetweenLayersShowsAsIdleTime() {
        profiler.setSyncMode(SyncMode.PER_LAYER);
        brick(BrickId.RMS_NORM, 100);
        profiler.endLayer();
        clock.advance(70);
        brick(BrickId.RMS_NORM, 100);
        profiler.endLayer();
        profiler.endPass();
        assertThat(totals().idleNs()).isEqualTo(70);
        assertThat(stream.marksHeld()).isZero();
    }

    // ---- several streams ----

    @Test
    void aBrickMayNameItsStream() {
        long copy = profiler.stream("copies").startBrick(BrickId.HOST_TO_DEVICE);
        copies.work(4_000);
        copy = profiler.lap(copy, 64, BrickId.DEVICE_TO_HOST);
        copies.work(1_000);
        profiler.stopBrick(copy, 64);
        brick(BrickId.RMS_NORM, 100);
        profiler.endPass();
        assertThat(stats(BrickId.HOST_TO_DEVICE).totalNs()).isEqualTo(4_000);
        assertThat(stats(BrickId.DEVICE_TO_HOST).totalNs()).isEqualTo(1_000);
        assertThat(stream.waits()).isEqualTo(1);
        assertThat(copies.waits()).isEqualTo(1);
        assertThat(profiler.snapshot().streams())
                .extracting(StreamTotals::stream, StreamTotals::samples)
                .containsExactly(
                        tuple("copies", 2L),
                        tuple("decode", 1L));
    }

    @Test
    void aStreamStartsDynamicBricksToo() {
        BrickStream named = profiler.stream("copies");
        int key = profiler.brickKey("page out");
        for (long timer : new long[] {named.startBrick(key), named.startBrick("page out")}) {
            profiler.stopBrick(timer, 1);
        }
        assertThat(copies.marksSet()).isEqualTo(4);
        assertThat(named.startBrick(4_000)).isZero();
        profiler.disable();
        assertThat(named.startBrick(BrickId.RMS_NORM)).isZero();
        assertThat(named.startBrick(key)).isZero();
        assertThat(named.startBrick("page out")).isZero();
    }

    @Test
    void anUnknownStreamIsRefused() {
        assertThatThrownBy(() -> profiler.stream("prefill"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("'prefill'")
                .hasMessageContaining("[decode, copies]");
        assertThatThrownBy(() -> new BrickProfiler().stream("decode"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("'decode'");
    }

    @Test
    void twoStreamsOfOneNameAreRefused() {
        assertThatThrownBy(() -> BrickProfiler.builder().deviceStream(stream).deviceStream("decode", copies))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("'decode'");
    }

    // ---- deferred measurements ----

    @Test
    void aDeferredMeasurementEndsWhereItsWorkDoes() {
        long first = profiler.elapsedNs();
        launch(1_000);
        profiler.recordDeferred(BrickId.RMS_NORM, first, 1);
        long second = profiler.elapsedNs();
        launch(300);
        profiler.recordDeferred(BrickId.LM_HEAD, second, 1);
        profiler.endPass();
        // The first began when the host did; the second when the device was done with the first.
        assertThat(stats(BrickId.RMS_NORM).totalNs()).isEqualTo(1_000);
        assertThat(stats(BrickId.LM_HEAD).totalNs()).isEqualTo(300);
        assertThat(stats(BrickId.LM_HEAD).timeSource()).isEqualTo(TimeSource.DEVICE);
        assertThat(totals().busyNs()).isEqualTo(1_300);
        assertThat(stream.marksHeld()).isZero();
    }

    // ---- nothing is made up ----

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
        assertThat(norm.timeSource()).isEqualTo(TimeSource.DEVICE);
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
        assertThat(totals().busyNs()).isEqualTo(stats(BrickId.RMS_NORM).totalNs()).isEqualTo(200);
        // Of the time between two bricks nobody knows whether it was idle where one of them has no time.
        assertThat(totals().idleNs()).isEqualTo(6);
        assertThat(stream.marksHeld()).isZero();
    }

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
        assertThat(stats(BrickId.FUSED_ATTENTION).totalNs()).isEqualTo(totals().busyNs()).isEqualTo(150);
        assertThat(totals().idleNs()).isZero();
    }

    @Test
    void idleTimeGoesOnBehindALayerWithAnUnresolvedBrick() {
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
        assertThat(stream.marksHeld()).isZero();
    }

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
    void whatWasReadBeforeALossStays() {
        brick(BrickId.RMS_NORM, 100);
        profiler.endPass();
        assertThat(stats(BrickId.RMS_NORM).totalNs()).isEqualTo(100);
        brick(BrickId.RMS_NORM, 100);
        profiler.endPass();
        stream.lose();
        profiler.endPass();
        brick(BrickId.RMS_NORM, 100);
        assertThat(stats(BrickId.RMS_NORM).count()).isEqualTo(1);
        assertThat(stats(BrickId.RMS_NORM).device().unresolved()).isEqualTo(2);
        assertThat(profiler.hasPending()).isFalse();
    }

    @Test
    void whatIsDoneIsReadBeforeAStreamCloses() {
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

    @Test
    void timesAreAskedForWhileTheDeviceIsBusyAgain() {
        brick(BrickId.RMS_NORM, 100);
        profiler.endPass();
        assertThat(stream.marksHeld()).isEqualTo(2);
        assertThat(profiler.hasPending()).isFalse();
        brick(BrickId.RMS_NORM, 100);
        profiler.endPass();
        assertThat(stream.marksHeld()).isEqualTo(2);
        assertThat(stats(BrickId.RMS_NORM).totalNs()).isEqualTo(200);
        assertThat(stream.marksHeld()).isZero();
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

    @Test
    void aFullPoolIsEmptiedOfWhatIsDone() {
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

    @Test
    void whereNothingIsDoneTheSampleIsUnresolvedAndThatIsToldOnce() {
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
        // On the host, and the lower bits of its clock say "device", a stream and a mark that are not there.
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
    void aResetForgetsWhatIsPending() {
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

    @Test
    void everySampleIsInOneOfConsecutiveSnapshots() {
        brick(BrickId.RMS_NORM, 100);
        profiler.endPass();
        brick(BrickId.RMS_NORM, 50);
        ProfileSnapshot first = profiler.snapshotAndReset();
        profiler.endPass();
        ProfileSnapshot second = profiler.snapshotAndReset();
        assertThat(first.brick("RmsNorm").orElseThrow().device().samples()).isEqualTo(1);
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
