package org.brickprofiler.device.metal;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.jna.Pointer;
import java.util.ArrayList;
import java.util.List;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.BrickStats;
import org.brickprofiler.DeviceTime;
import org.brickprofiler.SyncMode;
import org.brickprofiler.device.DeviceStream;
import org.brickprofiler.device.StreamTotals;
import org.brickprofiler.testing.CapturedLog;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The times of bricks over Metal. A brick is the command buffers that are watched between its marks; see
 * {@link MetalStream}.
 */
final class MetalProfilerTest extends ProfiledMetal {

    private static final int BRICKS = 15;
    private static final BrickId[] IDS = BrickId.values();
    private static final int LAYERS = 200;

    // ---- exact ----

    private static long workNs(int layer, int brick) {
        return 700L + 10_000L * brick + layer;
    }

    @Spec("12.17")
    @ParameterizedTest
    @EnumSource(
            value = SyncMode.class,
            names = {"IMMEDIATE", "PER_LAYER", "DEFERRED"})
    void everyBrickLastsAsLongAsItsCommandBuffer(SyncMode mode) {
        BrickProfiler profiler = profiler();
        profiler.setSyncMode(mode);
        for (int layer = 0; layer < LAYERS; layer++) {
            for (int brick = 0; brick < BRICKS; brick++) {
                brick(profiler, IDS[brick], workNs(layer, brick));
            }
            profiler.endLayer();
        }
        profiler.endPass();

        long waits =
                switch (mode) {
                    case IMMEDIATE -> (long) LAYERS * BRICKS;
                    case PER_LAYER -> LAYERS;
                    default -> 1;
                };
        assertThat(SimulatedMetal.waits()).isEqualTo(waits);
        long busyNs = 0;
        for (int brick = 0; brick < BRICKS; brick++) {
            BrickStats stats = profiler.brickStats(IDS[brick]);
            assertThat(stats.count()).isEqualTo(LAYERS);
            assertThat(stats.minNs()).isEqualTo(workNs(0, brick));
            assertThat(stats.maxNs()).isEqualTo(workNs(LAYERS - 1, brick));
            assertThat(stats.totalNs()).isEqualTo(LAYERS * workNs(0, brick) + 19_900);
            busyNs += stats.totalNs();
        }
        StreamTotals totals = totals(profiler);
        assertThat(totals.stream()).isEqualTo("decode");
        assertThat(totals.device()).isEqualTo(SimulatedMetal.DEVICE);
        assertThat(totals.samples()).isEqualTo((long) LAYERS * BRICKS);
        assertThat(totals.waits()).isEqualTo(waits);
        assertThat(totals.busyNs()).isEqualTo(busyNs);
        // Where each brick is waited for, the device has nothing to do until the host begins the next, 10 ns later.
        assertThat(totals.idleNs()).isEqualTo(mode == SyncMode.IMMEDIATE ? 10L * (LAYERS * BRICKS - 1) : 0);
        assertThat(totals.clockErrorNs()).isZero();
        assertThat(totals.failure()).isEmpty();
        assertThat(profiler.snapshot().unresolved()).isZero();
        assertThat(app.stream().lostBuffers()).isZero();
    }

    @Test
    void theHostsClockIsWrongByMoreThanTenTimes() {
        BrickProfiler profiler = profiler();
        for (int i = 0; i < 1_000; i++) {
            long timer = profiler.startBrick(BrickId.DOWN_PROJECTION);
            app.submit("down", 1_000_000);
            SimulatedMetal.advance(3_000);
            profiler.stopBrick(timer, 1);
        }
        profiler.endPass();

        BrickStats stats = profiler.brickStats(BrickId.DOWN_PROJECTION);
        assertThat(stats.totalNs()).isEqualTo(1_000_000_000);
        assertThat(stats.minNs()).isEqualTo(stats.maxNs()).isEqualTo(1_000_000);
        assertThat(stats.device()).isEqualTo(new DeviceTime(1_000, 1_000, 3_000_000, 3_000, 3_000, 0));
        assertThat(totals(profiler).busyNs()).isEqualTo(1_000_000_000);
        assertThat(totals(profiler).idleNs()).isZero();
    }

    /** On an idle device, a brick includes the time of encoding. The command buffer's own time does not. */
    @Test
    void onAnIdleDeviceTheHostsEncodingIsInTheBrick() {
        BrickProfiler profiler = profiler();
        long timer = profiler.startBrick(BrickId.RMS_NORM);
        SimulatedMetal.advance(40);
        app.submit("norm", 600);
        profiler.stopBrick(timer, 1);
        profiler.endPass();

        assertThat(profiler.brickStats(BrickId.RMS_NORM).totalNs()).isEqualTo(640);
        List<Long> ownNs = new ArrayList<>();
        app.stream().drain(buffer -> ownNs.add(buffer.gpuEndNs() - buffer.gpuStartNs()), dispatch -> {});
        assertThat(ownNs).containsExactly(600L);
    }

    // ---- what a brick is ----

    @Test
    void aBrickIsAllCommandBuffersBetweenItsMarks() {
        BrickProfiler profiler = profiler();
        app.submit("before", 9_000);
        long layer = profiler.startBrick(BrickId.FUSED_ATTENTION);
        long score = profiler.startBrick(BrickId.ATTENTION_SCORE);
        app.submit("qk", 100);
        app.submit("scale", 20);
        app.submit("mask", 3);
        profiler.stopBrick(score, 1);
        long none = profiler.startBrick(BrickId.RESIDUAL_ADD);
        profiler.stopBrick(none, 1);
        long softmax = profiler.startBrick(BrickId.ATTENTION_SOFTMAX);
        app.submit("softmax", 4_000);
        profiler.stopBrick(softmax, 1);
        profiler.stopBrick(layer, 1);
        app.submit("after", 50_000);
        profiler.endPass();

        assertThat(profiler.brickStats(BrickId.ATTENTION_SCORE).totalNs()).isEqualTo(123);
        assertThat(profiler.brickStats(BrickId.RESIDUAL_ADD).count()).isZero();
        assertThat(unresolved(profiler, BrickId.RESIDUAL_ADD)).isOne();
        assertThat(profiler.brickStats(BrickId.ATTENTION_SOFTMAX).totalNs()).isEqualTo(4_000);
        assertThat(profiler.brickStats(BrickId.FUSED_ATTENTION).totalNs()).isEqualTo(4_123);
        assertThat(totals(profiler).busyNs()).isEqualTo(4_123);
        assertThat(totals(profiler).idleNs()).isZero();
    }

    /**
     * The application's work in command buffers that are not watched is unknown, and the host's time does not measure
     * it.
     */
    @Spec("12.17")
    @ParameterizedTest
    @EnumSource(
            value = SyncMode.class,
            names = {"IMMEDIATE", "PER_LAYER", "DEFERRED"})
    void aBrickWithoutWatchedWorkIsUnresolvedWhateverTimeTheHostTook(SyncMode mode) {
        try (CapturedLog log = new CapturedLog()) {
            BrickProfiler profiler = profiler();
            profiler.setSyncMode(mode);
            for (int i = 0; i < 10; i++) {
                brick(profiler, BrickId.RMS_NORM, 600);
                long unwatched = profiler.startBrick(BrickId.SAMPLING);
                SimulatedMetal.advance(5_000);
                profiler.stopBrick(unwatched, 1);
                long forgotten = profiler.startBrick(BrickId.EMBEDDING);
                MetalApp.Buffer buffer = app.begin("given up");
                assertThat(app.stream().forget(buffer.sequence())).isTrue();
                SimulatedMetal.release(buffer.pointer());
                SimulatedMetal.advance(5_000);
                profiler.stopBrick(forgotten, 1);
                profiler.endLayer();
            }
            profiler.endPass();

            assertThat(profiler.brickStats(BrickId.SAMPLING).count()).isZero();
            assertThat(unresolved(profiler, BrickId.SAMPLING)).isEqualTo(10);
            assertThat(profiler.brickStats(BrickId.EMBEDDING).count()).isZero();
            assertThat(unresolved(profiler, BrickId.EMBEDDING)).isEqualTo(10);
            assertThat(profiler.brickStats(BrickId.RMS_NORM).totalNs()).isEqualTo(6_000);
            assertThat(totals(profiler).busyNs()).isEqualTo(6_000);
            assertThat(log.linesWith("no watched command buffer lies between two marks of a brick"))
                    .isOne();
            assertThat(log.linesWith("WARN")).isOne();
        }
    }

    @Test
    void aDeferredMeasurementWithoutWatchedWorkIsUnresolvedToo() {
        BrickProfiler profiler = profiler();
        brick(profiler, BrickId.RMS_NORM, 600);
        long read = profiler.elapsedNs();
        SimulatedMetal.advance(5_000);
        profiler.recordDeferred(BrickId.SAMPLING, read, 1);
        long made = profiler.elapsedNs() - 100;
        SimulatedMetal.advance(5_000);
        profiler.recordDeferred(BrickId.EMBEDDING, made, 1);
        long worked = profiler.elapsedNs();
        app.submit("head", 900);
        profiler.recordDeferred(BrickId.LM_HEAD, worked, 1);
        SimulatedMetal.run(-1);
        profiler.finalize(profiler.elapsedNs());

        assertThat(profiler.brickStats(BrickId.SAMPLING).count()).isZero();
        assertThat(unresolved(profiler, BrickId.SAMPLING)).isOne();
        assertThat(profiler.brickStats(BrickId.EMBEDDING).count()).isZero();
        assertThat(unresolved(profiler, BrickId.EMBEDDING)).isOne();
        assertThat(profiler.brickStats(BrickId.LM_HEAD).totalNs()).isEqualTo(900);
    }

    @Spec("12.17")
    @Test
    void bricksThatShareACommandBufferAreUnresolvedAndTheOneAroundThemIsNot() {
        try (CapturedLog log = new CapturedLog()) {
            BrickProfiler profiler = profiler();
            brick(profiler, BrickId.EMBEDDING, 700);
            long layer = profiler.startBrick(BrickId.FUSED_ATTENTION);
            MetalApp.Buffer shared = app.begin("attention");
            for (BrickId id : List.of(BrickId.ATTENTION_SCORE, BrickId.ATTENTION_SOFTMAX)) {
                long timer = profiler.startBrick(id);
                SimulatedMetal.work(shared.pointer(), 2_000);
                profiler.stopBrick(timer, 1);
            }
            shared.commit();
            profiler.stopBrick(layer, 1);
            brick(profiler, BrickId.LM_HEAD, 80);
            profiler.endPass();

            assertThat(unresolved(profiler, BrickId.ATTENTION_SCORE)).isOne();
            assertThat(unresolved(profiler, BrickId.ATTENTION_SOFTMAX)).isOne();
            assertThat(profiler.brickStats(BrickId.EMBEDDING).totalNs()).isEqualTo(700);
            assertThat(profiler.brickStats(BrickId.FUSED_ATTENTION).totalNs()).isEqualTo(4_000);
            assertThat(profiler.brickStats(BrickId.LM_HEAD).totalNs()).isEqualTo(80);
            assertThat(totals(profiler).busyNs()).isEqualTo(4_780);
            assertThat(totals(profiler).idleNs()).isZero();
            assertThat(totals(profiler).failure().orElseThrow()).contains("inside of a command buffer");
            assertThat(log.linesWith("WARN")).isOne();
        }
    }

    @Test
    void aBrickThatBeginsInsideACommandBufferIsUnresolvedUpToTheNextOne() {
        BrickProfiler profiler = profiler();
        MetalApp.Buffer early = app.begin("watched before the brick");
        long timer = profiler.startBrick(BrickId.RMS_NORM);
        SimulatedMetal.work(early.pointer(), 300);
        early.commit();
        timer = profiler.lap(timer, 1, BrickId.LM_HEAD);
        app.submit("head", 5_000);
        profiler.stopBrick(timer, 1);
        profiler.endPass();

        assertThat(unresolved(profiler, BrickId.RMS_NORM)).isOne();
        assertThat(profiler.brickStats(BrickId.RMS_NORM).count()).isZero();
        assertThat(profiler.brickStats(BrickId.LM_HEAD).totalNs()).isEqualTo(5_000);
    }

    @Test
    void aDeferredMeasurementEndsAtItsMarkUnlessThatLiesInside() {
        BrickProfiler profiler = profiler();
        long startNs = profiler.elapsedNs();
        app.submit("norm", 900);
        profiler.recordDeferred(BrickId.RMS_NORM, startNs, 1);
        profiler.endPass();
        startNs = profiler.elapsedNs();
        MetalApp.Buffer open = app.begin("open");
        SimulatedMetal.work(open.pointer(), 60);
        profiler.recordDeferred(BrickId.LM_HEAD, startNs, 1);
        open.commit();
        profiler.endPass();

        assertThat(profiler.brickStats(BrickId.RMS_NORM).totalNs()).isEqualTo(900);
        assertThat(profiler.brickStats(BrickId.LM_HEAD).count()).isZero();
        assertThat(unresolved(profiler, BrickId.LM_HEAD)).isOne();
        assertThat(totals(profiler).busyNs()).isEqualTo(900);
    }

    @Test
    void aBrickMayGoOnOverTheEndOfAPass() {
        BrickProfiler profiler = profiler();
        long timer = profiler.startBrick(BrickId.RMS_NORM);
        MetalApp.Buffer open = app.begin("open");
        SimulatedMetal.work(open.pointer(), 400);
        profiler.endPass();
        assertThat(SimulatedMetal.waits()).isZero();
        open.commit();
        profiler.stopBrick(timer, 1);
        assertThat(profiler.hasPending()).isTrue();
        profiler.endPass();

        assertThat(profiler.brickStats(BrickId.RMS_NORM).totalNs()).isEqualTo(400);
        assertThat(SimulatedMetal.waits()).isOne();
    }

    // ---- laps and several streams ----

    @Test
    void lapsNeedOneMarkMoreThanThereAreBricks() {
        try (MetalStream narrow =
                MetalStream.on(Pointer.nativeValue(app.queue())).marks(101, 101).open()) {
            BrickProfiler profiler = profiler(narrow);
            long timer = profiler.startBrick(BrickId.RMS_NORM);
            for (int brick = 1; brick <= 99; brick++) {
                submitTo(narrow, 1_000 + brick);
                timer = profiler.lap(timer, 1, BrickId.RMS_NORM);
            }
            submitTo(narrow, 50);
            profiler.stopBrick(timer, 1);
            assertThat(narrow.mark()).as("no mark is left").isEqualTo(DeviceStream.NO_MARK);
            profiler.endPass();

            assertThat(profiler.brickStats(BrickId.RMS_NORM).count()).isEqualTo(100);
            assertThat(profiler.brickStats(BrickId.RMS_NORM).totalNs()).isEqualTo(99_000 + 4_950 + 50);
            assertThat(profiler.snapshot().unresolved()).isZero();
        }
    }

    /**
     * The simulated device does the work of both queues one after the other, so each lap includes the other queue's
     * work in between.
     */
    @Test
    void everyStreamHasMarksOfItsOwn() {
        try (MetalStream copies = MetalStream.onDevice().name("copies").open()) {
            BrickProfiler profiler = profiler(app.stream(), copies);
            long copy = profiler.stream("copies").startBrick(BrickId.HOST_TO_DEVICE);
            long timer = profiler.startBrick(BrickId.RMS_NORM);
            for (int brick = 1; brick <= 100; brick++) {
                app.submit("norm", 1_000 + brick);
                submitTo(copies, 40_000);
                timer = profiler.lap(timer, 1, BrickId.RMS_NORM);
                copy = profiler.lap(copy, 1, BrickId.HOST_TO_DEVICE);
            }
            app.submit("norm", 50);
            profiler.stopBrick(timer, 1);
            profiler.stopBrick(copy, 1);
            profiler.endPass();

            BrickStats norm = profiler.brickStats(BrickId.RMS_NORM);
            assertThat(norm.minNs()).isEqualTo(1_001);
            assertThat(norm.maxNs()).isEqualTo(41_100);
            assertThat(norm.totalNs()).isEqualTo(100 * 1_000 + 5_050 + 100 * 40_000 + 50);
            BrickStats copied = profiler.brickStats(BrickId.HOST_TO_DEVICE);
            assertThat(copied.count()).isEqualTo(100);
            assertThat(copied.device().unresolved()).as("without work").isOne();
            assertThat(copied.maxNs()).isEqualTo(41_100);
            assertThat(copied.minNs()).isEqualTo(41_001);
            assertThat(copied.totalNs()).isEqualTo(100 * 1_000 + 5_050 + 100 * 40_000);
            assertThat(profiler.snapshot().streams())
                    .extracting(StreamTotals::busyNs)
                    .as("by name")
                    .containsExactly(copied.totalNs(), norm.totalNs());
        }
    }

    // ---- without waiting ----

    @Test
    void anEndWithoutWaitingNeverWaits() {
        BrickProfiler profiler = profiler();
        for (int pass = 0; pass < 50; pass++) {
            brick(profiler, BrickId.RMS_NORM, 2_000);
            SimulatedMetal.run(pass % 2);
            profiler.endPassAsync();
            assertThat(profiler.brickStats(BrickId.RMS_NORM).count()).isEqualTo((pass + 1) / 2);
        }
        assertThat(profiler.pendingCount()).isEqualTo(25);
        SimulatedMetal.runElsewhere(-1);
        profiler.endPassAsync();

        assertThat(profiler.hasPending()).isFalse();
        assertThat(profiler.brickStats(BrickId.RMS_NORM).totalNs()).isEqualTo(100_000);
        assertThat(totals(profiler).busyNs()).isEqualTo(100_000);
        assertThat(totals(profiler).waits()).isZero();
        assertThat(SimulatedMetal.waits()).isZero();
    }

    @Test
    void withoutSynchronisationNoMarkIsSet() {
        BrickProfiler profiler = profiler();
        profiler.setSyncMode(SyncMode.NONE);
        MetalApp.Buffer open = app.begin("a mark would ask whether it is committed");
        SimulatedMetal.fail("status", 0, SimulatedMetal.NIL);
        long timer = profiler.startBrick(BrickId.RMS_NORM);
        SimulatedMetal.advance(70);
        profiler.stopBrick(timer, 1);
        profiler.endLayer();
        profiler.endPass();

        assertThat(SimulatedMetal.faults()).isZero();
        assertThat(SimulatedMetal.waits()).isZero();
        assertThat(profiler.brickStats(BrickId.RMS_NORM).totalNs()).isEqualTo(70);
        assertThat(profiler.brickStats(BrickId.RMS_NORM).timeSource()).isEqualTo(DeviceTime.Source.HOST);
        profiler.setSyncMode(SyncMode.DEFERRED);
        profiler.startBrick(BrickId.RMS_NORM);
        assertThat(SimulatedMetal.faults()).as("it was asked").isOne();
        open.commit();
    }
}
