package org.brickprofiler.device.metal;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.jna.Pointer;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.BrickStats;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.device.StreamTotals;
import org.brickprofiler.testing.CapturedLog;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Bricks over Metal when something fails: the other bricks keep their times, and no time is made up. */
final class MetalProfilerFailuresTest extends ProfiledMetal {

    /** Of MTLCommandBufferError: a page fault, and the end of the device. */
    private static final int PAGE_FAULT = 3;

    private static final int DEVICE_REMOVED = 11;

    @Spec("12.17")
    @Test
    void theBrickOfACommandBufferThatFailsIsUnresolved() {
        try (CapturedLog log = new CapturedLog()) {
            BrickProfiler profiler = profiler();
            brick(profiler, BrickId.RMS_NORM, 1_000);
            brokenBrick(profiler, BrickId.LM_HEAD, PAGE_FAULT);
            brick(profiler, BrickId.RMS_NORM, 3_000);
            brokenBrick(profiler, BrickId.LM_HEAD, PAGE_FAULT);
            profiler.endPass();

            BrickStats norm = profiler.brickStats(BrickId.RMS_NORM);
            assertThat(norm.count()).isEqualTo(2);
            assertThat(norm.totalNs()).isEqualTo(4_000);
            assertThat(norm.device().unresolved()).isZero();
            assertThat(profiler.brickStats(BrickId.LM_HEAD).count()).isZero();
            assertThat(unresolved(profiler, BrickId.LM_HEAD)).isEqualTo(2);
            assertThat(totals(profiler).busyNs()).isEqualTo(4_000);
            assertThat(totals(profiler).idleNs()).isZero();
            assertThat(totals(profiler).failure()).contains("command buffer 4 (broken) failed with error 3");
            assertThat(log.linesWith("WARN")).isOne();
            assertThat(app.stream().isUsable()).isTrue();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void ofBricksInARowOnlyThatOfTheFailureIsUnresolved(boolean moreFollows) {
        BrickProfiler profiler = profiler();
        long step = profiler.startBrick(BrickId.FUSED_ATTENTION);
        long timer = profiler.startBrick(BrickId.RMS_NORM);
        app.submit("norm", 1_000);
        timer = profiler.lap(timer, 1, BrickId.LM_HEAD);
        submitBroken(5_000, PAGE_FAULT);
        if (moreFollows) {
            app.submit("of the same brick", 600);
        }
        timer = profiler.lap(timer, 1, BrickId.SAMPLING);
        app.submit("sample", 70);
        profiler.stopBrick(timer, 1);
        profiler.stopBrick(step, 1);
        profiler.endPass();

        assertThat(profiler.brickStats(BrickId.RMS_NORM).totalNs()).isEqualTo(1_000);
        assertThat(profiler.brickStats(BrickId.SAMPLING).totalNs()).isEqualTo(70);
        assertThat(unresolved(profiler, BrickId.LM_HEAD)).isOne();
        assertThat(unresolved(profiler, BrickId.FUSED_ATTENTION))
                .as("around it")
                .isOne();
        assertThat(profiler.snapshot().unresolved()).isEqualTo(2);
        assertThat(totals(profiler).busyNs()).isEqualTo(1_070);
        assertThat(totals(profiler).idleNs()).isZero();
    }

    @Test
    void aDeviceThatIsRemovedEndsProfilingWithOneWarning() {
        try (CapturedLog log = new CapturedLog()) {
            BrickProfiler profiler = profiler();
            brick(profiler, BrickId.RMS_NORM, 1_000);
            brokenBrick(profiler, BrickId.RMS_NORM, DEVICE_REMOVED);
            profiler.endPass();
            long waits = SimulatedMetal.waits();
            for (int i = 0; i < 100; i++) {
                profiler.stopBrick(profiler.startBrick(BrickId.RMS_NORM), 1);
                profiler.endPass();
            }

            assertThat(SimulatedMetal.waits()).isEqualTo(waits);
            assertThat(log.linesWith("WARN")).isOne();
            assertThat(profiler.brickStats(BrickId.RMS_NORM).totalNs()).isEqualTo(1_000);
            assertThat(unresolved(profiler, BrickId.RMS_NORM)).isEqualTo(101);
            assertThat(totals(profiler).failure().orElseThrow()).contains("error 11");
        }
    }

    /** Runs three passes of an application, and reads the profile. */
    private void run(BrickProfiler profiler) {
        for (int pass = 0; pass < 3; pass++) {
            brick(profiler, BrickId.RMS_NORM, 1_000);
            brick(profiler, BrickId.LM_HEAD, 2_000);
            profiler.endPass();
        }
        profiler.snapshot();
    }

    @Spec("12.6")
    @ParameterizedTest
    @CsvSource({
        "GPUStartTime, 1",
        "GPUStartTime, 2",
        "GPUStartTime, 3",
        "GPUEndTime, 1",
        "GPUEndTime, 2",
        "GPUEndTime, 3",
        "addCompletedHandler, 2",
        "addCompletedHandler, 3",
        "waiting, 2",
        "waiting, 3"
    })
    void whateverFailsNothingIsMadeUp(String method, int how) {
        for (int nth = 1; nth <= 3; nth++) {
            try (CapturedLog log = new CapturedLog()) {
                BrickProfiler profiler = profiler();
                run(profiler);
                SimulatedMetal.fail(method, nth, how);
                run(profiler);
                assertThat(SimulatedMetal.faults()).isOne();
                // If the wait itself failed, the next one resolves what it left.
                profiler.endPass();
                ProfileSnapshot snapshot = profiler.snapshot();
                assertThat(profiler.hasPending()).isFalse();
                assertThat(log.linesWith("WARN")).isLessThanOrEqualTo(2);
                assertThat(snapshot.bricks()).hasSize(2);
                for (BrickStats brick : snapshot.bricks()) {
                    long each = brick.name().equals("RmsNorm") ? 1_000 : 2_000;
                    assertThat(brick.count() + brick.device().unresolved())
                            .as("%d %s", nth, brick)
                            .isEqualTo(6);
                    assertThat(brick.count()).isBetween(5L, 6L);
                    assertThat(brick.minNs()).isEqualTo(each);
                    assertThat(brick.maxNs()).isEqualTo(each);
                }
                assertThat(snapshot.unresolved()).isEqualTo(method.equals("waiting") ? 0 : 2);
                // The time of command buffers of which nothing is known is neither busy nor idle.
                StreamTotals totals = snapshot.streams().get(0);
                assertThat(totals.busyNs())
                        .isEqualTo(snapshot.bricks().stream()
                                .mapToLong(BrickStats::totalNs)
                                .sum());
                assertThat(totals.idleNs()).isZero();
            }
        }
    }

    @Test
    void bricksWhoseCommandBuffersWereEvictedAreUnresolved() {
        try (MetalStream small = MetalStream.on(Pointer.nativeValue(app.queue()))
                        .buffers(4)
                        .open();
                CapturedLog log = new CapturedLog()) {
            BrickProfiler profiler = profiler(small);
            for (int i = 0; i < 10; i++) {
                long timer = profiler.startBrick(BrickId.RMS_NORM);
                submitTo(small, 100);
                SimulatedMetal.run(-1);
                profiler.stopBrick(timer, 1);
            }
            profiler.endPass();

            // The ends of the last four command buffers are known: three bricks have both ends.
            assertThat(profiler.brickStats(BrickId.RMS_NORM).count()).isEqualTo(3);
            assertThat(profiler.brickStats(BrickId.RMS_NORM).totalNs()).isEqualTo(300);
            assertThat(unresolved(profiler, BrickId.RMS_NORM)).isEqualTo(7);
            assertThat(log.linesWith("was evicted")).isOne();
        }
    }

    @Test
    void theLastPassIsReadBeforeTheStreamCloses() {
        BrickProfiler profiler = profiler();
        brick(profiler, BrickId.RMS_NORM, 1_000);
        profiler.endPass();
        brick(profiler, BrickId.RMS_NORM, 30);
        SimulatedMetal.run(1);
        brick(profiler, BrickId.LM_HEAD, 9_000);
        MetalApp.Buffer open = app.begin("never committed");
        app.stream().close();
        SimulatedMetal.release(open.pointer());

        assertThat(profiler.brickStats(BrickId.RMS_NORM).totalNs()).isEqualTo(1_030);
        assertThat(profiler.hasPending()).isTrue();
        SimulatedMetal.run(-1);
        profiler.endPass();
        assertThat(profiler.hasPending()).isFalse();
        assertThat(unresolved(profiler, BrickId.LM_HEAD)).isOne();
        brick(profiler, BrickId.LM_HEAD, 100);
        assertThat(unresolved(profiler, BrickId.LM_HEAD)).isEqualTo(2);
        assertThat(totals(profiler).busyNs()).isEqualTo(1_030);
        assertThat(totals(profiler).failure()).contains("the stream is closed");
    }
}
