package org.brickprofiler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import java.util.concurrent.CountDownLatch;
import org.brickprofiler.device.StreamTotals;
import org.brickprofiler.testing.Crew;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The streams of a profiler: when each is waited for, when it is idle, and which bricks are on it. */
final class BrickProfilerStreamsTest extends ProfiledDevice {

    // ---- when the device is waited for ----

    @Spec("12.2")
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
                .isEqualTo(mode == SyncMode.NONE ? DeviceTime.Source.HOST : DeviceTime.Source.DEVICE);
        assertThat(stream.marksHeld()).isZero();
    }

    @Spec("12.2")
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

    @Spec("12.2")
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

    @Spec("12.2")
    @Test
    void finalizeResolvesFinishedWork() {
        brick(BrickId.RMS_NORM, 100);
        clock.advance(50);
        profiler.finalize(profiler.elapsedNs());
        assertThat(profiler.pendingCount()).isEqualTo(1);
        clock.advance(100);
        profiler.finalize(0);
        assertThat(stats(BrickId.RMS_NORM).totalNs()).isEqualTo(100);
        assertThat(stream.waits()).isZero();
    }

    // ---- idle time ----

    @Spec("12.7")
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

    @Spec("12.47")
    @Test
    void marksTakeNoLongerThanTheShortestGap() {
        assertThat(totals().gaps()).isZero();
        assertThat(totals().shortestGapNs()).isZero();
        for (long gapNs : new long[] {400, 200, 300}) {
            brick(BrickId.RMS_NORM, 100);
            clock.advance(gapNs);
        }
        brick(BrickId.RMS_NORM, 100);
        profiler.endPass();
        // The host spends LAUNCH_NS on each brick, and the device works during the first 100 ns of each gap.
        assertThat(totals().idleNs()).isEqualTo(600 + 3 * LAUNCH_NS);
        assertThat(totals().gaps()).isEqualTo(3);
        assertThat(totals().shortestGapNs()).isEqualTo(100 + LAUNCH_NS);
        assertThat(totals().idleOfMarksNs()).isEqualTo(300 + 3 * LAUNCH_NS);
        profiler.reset();
        assertThat(totals().shortestGapNs()).isZero();
    }

    @Spec("12.7")
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
                .containsExactly(tuple("copies", 2L), tuple("decode", 1L));
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

    @Spec("12.3")
    @Test
    void aThreadEndsTheStreamsThatItMarked() throws Exception {
        brick(BrickId.RMS_NORM, 100);
        Crew.runOnNewThread(() -> {
            long copy = profiler.stream("copies").startBrick(BrickId.HOST_TO_DEVICE);
            copies.work(4_000);
            profiler.stopBrick(copy, 64);
            profiler.endPass();
        });
        assertThat(stats(BrickId.HOST_TO_DEVICE).totalNs()).isEqualTo(4_000);
        assertThat(copies.waits()).isEqualTo(1);
        assertThat(stream.waits()).isZero();
        profiler.endPass();
        profiler.endPass();
        assertThat(copies.waits()).isEqualTo(1);
        assertThat(stats(BrickId.RMS_NORM).totalNs()).isEqualTo(100);
    }

    @Spec("12.3")
    @ParameterizedTest
    @EnumSource(
            value = SyncMode.class,
            names = {"IMMEDIATE", "PER_LAYER", "DEFERRED"})
    void aThreadWaitsForItsLastMarkAlone(SyncMode mode) throws Exception {
        profiler.setSyncMode(SyncMode.DEFERRED);
        brick(BrickId.RMS_NORM, 100);
        Crew.runOnNewThread(() -> brick(BrickId.LM_HEAD, 7_000));
        stream.work(900_000);
        profiler.setSyncMode(mode);
        long fromNs = clock.now();
        profiler.endLayer();
        profiler.endPass();
        assertThat(clock.now() - fromNs).isLessThan(100);
        assertThat(stats(BrickId.RMS_NORM).totalNs()).isEqualTo(100);
        assertThat(stats(BrickId.LM_HEAD).count()).isZero();
        assertThat(profiler.pendingCount()).isEqualTo(1);
    }

    @Spec("12.3")
    @Test
    void aStreamEndsItsPassAlone() throws Exception {
        Crew.runOnNewThread(() -> brick(BrickId.RMS_NORM, 100));
        long copy = profiler.stream("copies").startBrick(BrickId.HOST_TO_DEVICE);
        copies.work(4_000);
        profiler.stopBrick(copy, 64);
        profiler.stream("decode").endPass();
        assertThat(stats(BrickId.RMS_NORM).totalNs()).isEqualTo(100);
        assertThat(copies.waits()).isZero();
        clock.advance(10_000);
        brick(BrickId.RMS_NORM, 100);
        profiler.stream("decode").endPass();
        // The time between two passes is no idle time.
        assertThat(totals().idleNs()).isZero();
        profiler.setSyncMode(SyncMode.NONE);
        profiler.stream("copies").endPass();
        assertThat(copies.waits()).isZero();
        assertThat(stats(BrickId.HOST_TO_DEVICE).totalNs()).isEqualTo(4_000);
    }

    /** The stream "copies" finishes only after the other thread has ended its pass on the stream "decode". */
    @Test
    void aPassThatEndsReleasesTheStreamThatAnotherThreadWaitsFor() throws Exception {
        CountDownLatch waits = new CountDownLatch(1);
        CountDownLatch launched = new CountDownLatch(1);
        copies.beforeWait(() -> {
            waits.countDown();
            try {
                launched.await();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        });
        Crew crew = new Crew().run(() -> {
            long timer = profiler.stream("copies").startBrick(BrickId.ALL_REDUCE);
            copies.work(4_000);
            profiler.stopBrick(timer, 1);
            profiler.endPass();
        });
        waits.await();
        brick(BrickId.RMS_NORM, 100);
        profiler.endPass();
        assertThat(stats(BrickId.RMS_NORM).totalNs()).isEqualTo(100);
        assertThat(profiler.snapshot().samples()).isEqualTo(1);
        assertThat(profiler.pendingCount()).isEqualTo(1);
        profiler.finalize(profiler.elapsedNs());
        launched.countDown();
        crew.join();
        assertThat(stats(BrickId.ALL_REDUCE).totalNs()).isEqualTo(4_000);
        assertThat(profiler.pendingCount()).isZero();
    }

    @Test
    void aResetDiscardsMeasurementsThatAnotherThreadWaitsFor() throws Exception {
        stream.beforeWait(profiler::reset);
        brick(BrickId.RMS_NORM, 100);
        profiler.endPass();
        assertThat(profiler.snapshot().samples()).isZero();
        assertThat(profiler.snapshot().unresolved()).isZero();
        assertThat(stream.marksHeld()).isZero();
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
}
