package org.brickprofiler.device.metal;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.jna.Pointer;
import java.util.ArrayList;
import java.util.List;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.BrickStats;
import org.brickprofiler.DeviceTime;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.SyncMode;
import org.brickprofiler.TimeSource;
import org.brickprofiler.device.DeviceStream;
import org.brickprofiler.device.StreamTotals;
import org.brickprofiler.record.CapturedLog;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The profiler over the simulated Metal, whose virtual clock is the host's too: times must come out to the nanosecond, and
 * the simulation counts who waited for it. A brick is the command buffers that are watched between its marks; see {@link
 * MetalStream}.
 */
final class MetalProfilerTest {

    private static final int BRICKS = 15;
    private static final BrickId[] IDS = BrickId.values();
    private static final int LAYERS = 200;

    /** Of MTLCommandBufferError: a page fault, and the end of the device. */
    private static final int PAGE_FAULT = 3;

    private static final int DEVICE_REMOVED = 11;

    private MetalApp app;

    @BeforeEach
    void start() {
        SimulatedMetal.start();
        app = new MetalApp(1 << 12);
    }

    @AfterEach
    void close() {
        app.close();
    }

    private BrickProfiler profiler() {
        return profiler(app.stream());
    }

    private static BrickProfiler profiler(MetalStream... streams) {
        var options = BrickProfiler.builder().clock(SimulatedMetal::nowNs).launchTimes(1);
        for (MetalStream stream : streams) {
            options.deviceStream(stream);
        }
        BrickProfiler profiler = options.build();
        profiler.enable();
        return profiler;
    }

    private static StreamTotals totals(BrickProfiler profiler) {
        return profiler.snapshot().streams().get(0);
    }

    /** A brick of one command buffer, which is committed as it begins. */
    private void brick(BrickProfiler profiler, BrickId id, long ns) {
        long timer = profiler.startBrick(id);
        app.submit(id.displayName(), ns);
        SimulatedMetal.advance(10);
        profiler.stopBrick(timer, 1);
        SimulatedMetal.advance(10);
    }

    private void brokenBrick(BrickProfiler profiler, BrickId id, int errorCode) {
        long timer = profiler.startBrick(id);
        submitBroken(5_000, errorCode);
        profiler.stopBrick(timer, 1);
    }

    private void submitBroken(long ns, int errorCode) {
        MetalApp.Buffer broken = app.begin("broken");
        SimulatedMetal.work(broken.pointer(), ns);
        SimulatedMetal.breakBuffer(broken.pointer(), errorCode);
        broken.commit();
    }

    private static long unresolved(BrickProfiler profiler, BrickId id) {
        return profiler.brickStats(id).device().unresolved();
    }

    // ---- exact ----

    private static long workNs(int layer, int brick) {
        return 700L + 10_000L * brick + layer;
    }

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

    /** What it takes to encode is in the brick where the device has nothing else to do; the command buffer has its own. */
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
        assertThat(profiler.brickStats(BrickId.RESIDUAL_ADD).count()).isOne();
        assertThat(profiler.brickStats(BrickId.RESIDUAL_ADD).totalNs()).isZero();
        assertThat(profiler.brickStats(BrickId.ATTENTION_SOFTMAX).totalNs()).isEqualTo(4_000);
        assertThat(profiler.brickStats(BrickId.FUSED_ATTENTION).totalNs()).isEqualTo(4_123);
        assertThat(totals(profiler).busyNs()).isEqualTo(4_123);
        assertThat(totals(profiler).idleNs()).isZero();
    }

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

    private static void submitTo(MetalStream stream, long ns) {
        Pointer buffer = SimulatedMetal.bufferNew(new Pointer(stream.queue()), "work");
        assertThat(stream.watch(Pointer.nativeValue(buffer), null)).isPositive();
        SimulatedMetal.work(buffer, ns);
        SimulatedMetal.commit(buffer);
        SimulatedMetal.release(buffer);
    }

    /** The simulated device does the work of both queues in one row: each lap holds what the other queue had in between. */
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
            assertThat(copied.count()).isEqualTo(101);
            assertThat(copied.maxNs()).isEqualTo(41_100);
            assertThat(copied.minNs()).as("without work").isZero();
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
        assertThat(profiler.brickStats(BrickId.RMS_NORM).timeSource()).isEqualTo(TimeSource.HOST);
        profiler.setSyncMode(SyncMode.DEFERRED);
        profiler.startBrick(BrickId.RMS_NORM);
        assertThat(SimulatedMetal.faults()).as("it was asked").isOne();
        open.commit();
    }

    // ---- what goes wrong ----

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
        assertThat(unresolved(profiler, BrickId.FUSED_ATTENTION)).as("around it").isOne();
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

    /** What an application does with its profiler; the first pass is read before anything fails. */
    private void run(BrickProfiler profiler) {
        for (int pass = 0; pass < 3; pass++) {
            brick(profiler, BrickId.RMS_NORM, 1_000);
            brick(profiler, BrickId.LM_HEAD, 2_000);
            profiler.endPass();
        }
        profiler.snapshot();
    }

    @ParameterizedTest
    @CsvSource({
        "GPUStartTime, 1", "GPUStartTime, 2", "GPUStartTime, 3",
        "GPUEndTime, 1", "GPUEndTime, 2", "GPUEndTime, 3",
        "addCompletedHandler, 2", "addCompletedHandler, 3",
        "waitUntilCompleted, 2", "waitUntilCompleted, 3"
    })
    void whateverFailsNothingIsMadeUp(String method, int how) {
        for (int nth = 1; nth <= 3; nth++) {
            try (CapturedLog log = new CapturedLog()) {
                BrickProfiler profiler = profiler();
                run(profiler);
                SimulatedMetal.fail(method, nth, how);
                run(profiler);
                assertThat(SimulatedMetal.faults()).isOne();
                // Where the wait itself failed, the next one finds what it left.
                profiler.endPass();
                ProfileSnapshot snapshot = profiler.snapshot();
                assertThat(profiler.hasPending()).isFalse();
                assertThat(log.linesWith("WARN")).isLessThanOrEqualTo(2);
                assertThat(snapshot.bricks()).hasSize(2);
                for (BrickStats brick : snapshot.bricks()) {
                    long each = brick.name().equals("RmsNorm") ? 1_000 : 2_000;
                    assertThat(brick.count() + brick.device().unresolved()).as("%d %s", nth, brick).isEqualTo(6);
                    assertThat(brick.count()).isBetween(5L, 6L);
                    assertThat(brick.minNs()).isEqualTo(each);
                    assertThat(brick.maxNs()).isEqualTo(each);
                }
                assertThat(snapshot.unresolved()).isEqualTo(method.equals("waitUntilCompleted") ? 0 : 2);
                // Time of command buffers that nothing is known of is neither.
                StreamTotals totals = snapshot.streams().get(0);
                assertThat(totals.busyNs())
                        .isEqualTo(snapshot.bricks().stream().mapToLong(BrickStats::totalNs).sum());
                assertThat(totals.idleNs()).isZero();
            }
        }
    }

    @Test
    void bricksThatNobodyAskedForInTimeAreUnresolved() {
        try (MetalStream small =
                        MetalStream.on(Pointer.nativeValue(app.queue())).buffers(4).open();
                CapturedLog log = new CapturedLog()) {
            BrickProfiler profiler = profiler(small);
            for (int i = 0; i < 10; i++) {
                long timer = profiler.startBrick(BrickId.RMS_NORM);
                submitTo(small, 100);
                SimulatedMetal.run(-1);
                profiler.stopBrick(timer, 1);
            }
            profiler.endPass();

            // Of the last four it is known when they ended: of three bricks both ends.
            assertThat(profiler.brickStats(BrickId.RMS_NORM).count()).isEqualTo(3);
            assertThat(profiler.brickStats(BrickId.RMS_NORM).totalNs()).isEqualTo(300);
            assertThat(unresolved(profiler, BrickId.RMS_NORM)).isEqualTo(7);
            assertThat(log.linesWith("is not kept any more")).isOne();
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
