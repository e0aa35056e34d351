package org.brickprofiler.device.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;
import jcuda.driver.CUgraph;
import jcuda.driver.CUstream;
import jcuda.driver.CUstreamCaptureMode;
import jcuda.driver.JCudaDriver;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.BrickStats;
import org.brickprofiler.DeviceTime;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.SyncMode;
import org.brickprofiler.device.StreamTotals;
import org.brickprofiler.testing.CapturedLog;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The profiler over the simulated driver, whose virtual clock is also the host's: times must be exact to the
 * nanosecond, and the driver counts the waits.
 */
class CudaProfilerTest {

    private static final int BRICKS = 15;
    private static final BrickId[] IDS = BrickId.values();
    private static final int LAYERS = 1_000;
    private static final int SOME_ERROR = 999;
    private static final int ILLEGAL_ADDRESS = 700;

    private CudaEngine engine;

    @BeforeEach
    void start() {
        SimulatedCuda.start();
        engine = new CudaEngine(0);
    }

    /** Opens a stream whose calls of the driver are those for bricks alone. */
    private CudaStream lent() {
        return CudaStream.on(engine.context(), engine.stream())
                .name("decode")
                .withoutNetTimes()
                .open();
    }

    private static BrickProfiler profiler(CudaStream... streams) {
        var options = BrickProfiler.builder().clock(SimulatedCuda::now).launchTimes(1);
        for (CudaStream stream : streams) {
            options.deviceStream(stream);
        }
        BrickProfiler profiler = options.build();
        profiler.enable();
        return profiler;
    }

    private static long kernelNs(int layer, int brick) {
        return 700L + 10_000L * brick + layer;
    }

    private void brick(BrickProfiler profiler, BrickId id, long ns) {
        long timer = profiler.startBrick(id);
        engine.spin(ns);
        SimulatedCuda.advance(10);
        profiler.stopBrick(timer, 1);
        SimulatedCuda.advance(10);
    }

    // ---- a pool that could not grow ----

    private static final int BRICKS_OF_A_PASS = 700;
    private static final int FIRST_MARKS = 1_024;
    private static final int OUT_OF_MEMORY = 2;

    /** Runs a pass, and returns how many of its bricks are unresolved. */
    private long unresolvedOfPass(BrickProfiler profiler, Runnable end) {
        long before = profiler.snapshot().unresolved();
        for (int i = 0; i < BRICKS_OF_A_PASS; i++) {
            brick(profiler, BrickId.RMS_NORM, 1_000_000);
        }
        // The device is behind until here, so no mark comes free before.
        JCudaDriver.cuStreamSynchronize(engine.stream());
        end.run();
        return profiler.snapshot().unresolved() - before;
    }

    private static final long MISSING = BRICKS_OF_A_PASS - FIRST_MARKS / 2;

    @Spec("12.10")
    @Test
    void marksThatCouldNotBeCreatedOnceAreCreatedByTheNextPass() {
        try (CapturedLog log = new CapturedLog();
                CudaStream stream = lent()) {
            BrickProfiler profiler = profiler(stream);
            SimulatedCuda.failOnce("cuEventCreate", 1, OUT_OF_MEMORY);

            assertThat(unresolvedOfPass(profiler, profiler::endPass)).isEqualTo(MISSING);
            for (int pass = 0; pass < 5; pass++) {
                assertThat(unresolvedOfPass(profiler, profiler::endPass)).isZero();
            }
            assertThat(profiler.brickStats(BrickId.RMS_NORM).count()).isEqualTo(6 * BRICKS_OF_A_PASS - MISSING);
            assertThat(log.linesWith("cuEventCreate returned CUDA_ERROR_OUT_OF_MEMORY (2): there are fewer marks"))
                    .isOne();
            assertThat(log.linesWith("WARN")).isOne();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void theOtherEndsOfAPassTryForMarksToo(boolean deferred) {
        try (CudaStream stream = lent()) {
            BrickProfiler profiler = profiler(stream);
            Runnable end = deferred ? () -> profiler.finalize(profiler.elapsedNs()) : profiler::endPassAsync;
            SimulatedCuda.failOnce("cuEventCreate", 1, OUT_OF_MEMORY);
            assertThat(unresolvedOfPass(profiler, end)).isEqualTo(MISSING);
            assertThat(unresolvedOfPass(profiler, end)).isZero();
        }
    }

    @Test
    void aDriverWithoutMoreEventsIsAskedOnceForEachPass() {
        try (CudaStream stream = lent()) {
            BrickProfiler profiler = profiler(stream);
            SimulatedCuda.failAlways("cuEventCreate", OUT_OF_MEMORY);
            long asked = SimulatedCuda.calls("cuEventCreate");
            for (int pass = 1; pass <= 10; pass++) {
                assertThat(unresolvedOfPass(profiler, profiler::endPass)).isEqualTo(MISSING);
                // Asked when the marks ran out.
                assertThat(SimulatedCuda.calls("cuEventCreate") - asked).isEqualTo(pass);
            }
        }
    }

    /** Runs in the default stream of an application whose driver has no more events. */
    @Spec({"12.8", "12.9"})
    @Test
    void deferredBricksWithoutEventsChargeNoOther() {
        CUstream defaultStream = new CUstream();
        try (CudaStream stream = CudaStream.on(engine.context(), defaultStream).open()) {
            BrickProfiler profiler = profiler(stream);
            SimulatedCuda.failAlways("cuEventCreate", OUT_OF_MEMORY);
            for (int pass = 0; pass < 3; pass++) {
                for (int i = 0; i < 3 * FIRST_MARKS / 2; i++) {
                    long start = profiler.elapsedNs();
                    engine.spin(1_000 + i, defaultStream);
                    profiler.recordDeferred(profiler.brickKey("brick " + i), start, 1);
                    SimulatedCuda.advance(700);
                }
                profiler.endPass();
            }
            long timed = 0;
            for (int i = 0; i < 3 * FIRST_MARKS / 2; i++) {
                BrickStats stats = profiler.stats("brick " + i).orElseThrow();
                assertThat(stats.count() + stats.device().unresolved()).isEqualTo(3);
                assertThat(stats.totalNs()).isEqualTo(stats.count() * (1_000 + i));
                timed += stats.count();
            }
            assertThat(profiler.snapshot().unresolved()).isPositive();
            assertThat(timed).isGreaterThan(3 * FIRST_MARKS / 2);
        }
    }

    // ---- exact ----

    @ParameterizedTest
    @EnumSource(
            value = SyncMode.class,
            names = {"IMMEDIATE", "PER_LAYER", "DEFERRED"})
    void everyBrickLastsAsLongAsItsKernel(SyncMode mode) {
        try (CudaStream stream = lent()) {
            BrickProfiler profiler = profiler(stream);
            profiler.setSyncMode(mode);
            long before = SimulatedCuda.synchronisations();
            for (int layer = 0; layer < LAYERS; layer++) {
                for (int brick = 0; brick < BRICKS; brick++) {
                    brick(profiler, IDS[brick], kernelNs(layer, brick));
                }
                profiler.endLayer();
            }
            profiler.endPass();
            long expected =
                    switch (mode) {
                        case IMMEDIATE -> (long) LAYERS * BRICKS;
                        case PER_LAYER -> LAYERS;
                        default -> 1;
                    };
            assertThat(SimulatedCuda.synchronisations() - before).isEqualTo(expected);
            for (int brick = 0; brick < BRICKS; brick++) {
                BrickStats stats = profiler.brickStats(IDS[brick]);
                assertThat(stats.count()).isEqualTo(LAYERS);
                assertThat(stats.minNs()).isEqualTo(kernelNs(0, brick));
                assertThat(stats.maxNs()).isEqualTo(kernelNs(LAYERS - 1, brick));
                assertThat(stats.totalNs()).isEqualTo(LAYERS * kernelNs(0, brick) + 499_500);
            }
            assertThat(profiler.snapshot().unresolved()).isZero();
        }
        assertThat(SimulatedCuda.liveEvents()).isZero();
    }

    @Test
    void lapsAndSeveralStreamsAreExactToo() {
        try (CudaStream stream = lent();
                CudaStream copies =
                        CudaStream.onDevice(0).name("copies").withoutNetTimes().open()) {
            BrickProfiler profiler = profiler(stream, copies);
            long before = SimulatedCuda.calls("cuEventRecord");
            long copy = profiler.stream("copies").startBrick(BrickId.HOST_TO_DEVICE);
            long timer = profiler.startBrick(BrickId.RMS_NORM);
            for (int brick = 1; brick <= 100; brick++) {
                engine.spin(1_000 + brick);
                engine.spin(40_000 + brick, copies);
                timer = profiler.lap(timer, 1, BrickId.RMS_NORM);
                copy = profiler.lap(copy, 1, BrickId.HOST_TO_DEVICE);
            }
            engine.spin(50);
            profiler.stopBrick(timer, 1);
            profiler.stopBrick(copy, 1);
            profiler.endPass();
            assertThat(SimulatedCuda.calls("cuEventRecord") - before).isEqualTo(2 * 102);
            assertThat(profiler.brickStats(BrickId.RMS_NORM).totalNs()).isEqualTo(100_000 + 5_050 + 50);
            assertThat(profiler.brickStats(BrickId.HOST_TO_DEVICE).totalNs()).isEqualTo(4_000_000 + 5_050);
        }
    }

    /** With a second of work in the queue, a brick's time on the host is unrelated to its time on the device. */
    @Test
    void theHostsClockIsWrongByMoreThanTenTimes() {
        try (CudaStream stream = lent()) {
            BrickProfiler profiler = profiler(stream);
            for (int i = 0; i < 1_000; i++) {
                long timer = profiler.startBrick(BrickId.DOWN_PROJECTION);
                engine.spin(1_000_000);
                SimulatedCuda.advance(3_000);
                profiler.stopBrick(timer, 1);
            }
            profiler.endPass();
            BrickStats stats = profiler.brickStats(BrickId.DOWN_PROJECTION);
            assertThat(stats.totalNs()).isEqualTo(1_000_000_000);
            assertThat(stats.minNs()).isEqualTo(stats.maxNs()).isEqualTo(1_000_000);
            assertThat(stats.device()).isEqualTo(new DeviceTime(1_000, 1_000, 3_000_000, 3_000, 3_000, 0));
            assertThat(stats.totalNs()).isGreaterThan(10 * stats.device().launchNs());
            StreamTotals totals = profiler.snapshot().streams().get(0);
            assertThat(totals.busyNs()).isEqualTo(1_000_000_000);
            assertThat(totals.idleNs()).isZero();
        }
    }

    @Test
    void anEndWithoutWaitingNeverWaits() {
        try (CudaStream stream = lent()) {
            BrickProfiler profiler = profiler(stream);
            long before = SimulatedCuda.synchronisations();
            for (int pass = 0; pass < 50; pass++) {
                brick(profiler, BrickId.RMS_NORM, 2_000);
                SimulatedCuda.advance(1_500);
                profiler.endPassAsync();
            }
            assertThat(profiler.hasPending()).isTrue();
            SimulatedCuda.advance(100_000);
            profiler.endPassAsync();
            assertThat(profiler.hasPending()).isFalse();
            assertThat(profiler.brickStats(BrickId.RMS_NORM).totalNs()).isEqualTo(100_000);
            assertThat(SimulatedCuda.synchronisations()).isEqualTo(before);
        }
    }

    @Test
    void withoutSynchronisationTheDriverIsNotCalled() {
        try (CudaStream stream = lent()) {
            BrickProfiler profiler = profiler(stream);
            profiler.setSyncMode(SyncMode.NONE);
            long before = SimulatedCuda.allCalls();
            long timer = profiler.startBrick(BrickId.RMS_NORM);
            SimulatedCuda.advance(70);
            profiler.stopBrick(timer, 1);
            profiler.endLayer();
            profiler.endPass();
            assertThat(SimulatedCuda.allCalls()).isEqualTo(before);
            assertThat(profiler.brickStats(BrickId.RMS_NORM).totalNs()).isEqualTo(70);
        }
    }

    // ---- what goes wrong ----

    /** Runs three passes of an application, and reads the profile. */
    private void run(BrickProfiler profiler) {
        for (int pass = 0; pass < 3; pass++) {
            brick(profiler, BrickId.RMS_NORM, 1_000);
            brick(profiler, BrickId.LM_HEAD, 2_000);
            profiler.endPass();
        }
        profiler.snapshot();
    }

    private SortedMap<String, Long> calls() {
        try (CudaStream stream = lent()) {
            SortedMap<String, Long> before = SimulatedCuda.counts();
            run(profiler(stream));
            SortedMap<String, Long> calls = new TreeMap<>(SimulatedCuda.counts());
            before.forEach((name, count) -> calls.merge(name, -count, Long::sum));
            calls.remove("cuLaunchKernel");
            calls.values().removeIf(count -> count == 0);
            return calls;
        }
    }

    @Spec("12.6")
    @TestFactory
    Stream<DynamicTest> whateverFailsNothingIsMadeUp() {
        start();
        return calls().entrySet().stream().flatMap(call -> Stream.of(1L, 2L, call.getValue())
                .distinct()
                .map(nth -> dynamicTest(call.getKey() + " no. " + nth, () -> failsOnce(call.getKey(), nth))));
    }

    private void failsOnce(String call, long nth) {
        start();
        try (CudaStream stream = lent();
                CapturedLog log = new CapturedLog()) {
            BrickProfiler profiler = profiler(stream);
            run(profiler);
            SimulatedCuda.failOnce(call, nth, SOME_ERROR);
            run(profiler);
            // If the wait itself failed, the next one resolves what it left.
            profiler.endPass();
            ProfileSnapshot snapshot = profiler.snapshot();
            assertThat(log.linesWith("WARN")).as(call + nth).isLessThanOrEqualTo(1);
            assertThat(SimulatedCuda.launches()).isEqualTo(12);
            assertThat(snapshot.bricks()).hasSize(2);
            for (BrickStats brick : snapshot.bricks()) {
                long each = brick.name().equals("RmsNorm") ? 1_000 : 2_000;
                // Each failed call is repeated: that of a mark at once, that of times for each time alone, and that of
                // a wait at the next boundary.
                assertThat(brick.count()).as("%s %d %s", call, nth, brick).isEqualTo(6);
                assertThat(brick.device().unresolved())
                        .as("%s %d %s", call, nth, brick)
                        .isZero();
                assertThat(brick.minNs()).isEqualTo(each);
                assertThat(brick.maxNs()).isEqualTo(each);
            }
            assertThat(profiler.hasPending()).isFalse();
        }
        assertThat(SimulatedCuda.liveEvents()).isLessThanOrEqualTo(call.startsWith("cuEventDestroy") ? 1 : 0);
        assertThat(SimulatedCuda.staleHandles()).isZero();
    }

    @Spec("12.15")
    @Test
    void aLostContextEndsProfilingWithOneWarning() {
        try (CudaStream stream = lent();
                CapturedLog log = new CapturedLog()) {
            BrickProfiler profiler = profiler(stream);
            run(profiler);
            brick(profiler, BrickId.RMS_NORM, 1_000);
            SimulatedCuda.loseContexts(ILLEGAL_ADDRESS);
            profiler.endPass();
            long lost = SimulatedCuda.allCalls();
            for (int i = 0; i < 100; i++) {
                long timer = profiler.startBrick(BrickId.RMS_NORM);
                profiler.stopBrick(timer, 1);
                profiler.endPass();
            }
            assertThat(SimulatedCuda.allCalls()).isEqualTo(lost);
            assertThat(log.linesWith("WARN")).isOne();
            assertThat(log.linesWith("CUDA_ERROR_ILLEGAL_ADDRESS (700)")).isOne();
            BrickStats norm = profiler.brickStats(BrickId.RMS_NORM);
            assertThat(norm.totalNs()).isEqualTo(3_000);
            assertThat(norm.device().unresolved()).isEqualTo(101);
            assertThat(profiler.snapshot().streams().get(0).failure().orElseThrow())
                    .contains("CUDA_ERROR_ILLEGAL_ADDRESS");
        }
    }

    @Test
    void bricksOfACaptureAreUnresolved() {
        try (CudaStream stream = lent();
                CapturedLog log = new CapturedLog()) {
            BrickProfiler profiler = profiler(stream);
            brick(profiler, BrickId.RMS_NORM, 1_000);
            JCudaDriver.cuStreamBeginCapture(engine.stream(), CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL);
            brick(profiler, BrickId.LM_HEAD, 1_000);
            profiler.endPass();
            CUgraph graph = new CUgraph();
            assertThat(JCudaDriver.cuStreamEndCapture(engine.stream(), graph)).isZero();
            brick(profiler, BrickId.RMS_NORM, 500);
            profiler.endPass();
            assertThat(SimulatedCuda.spoiltCaptures()).isZero();
            assertThat(profiler.brickStats(BrickId.RMS_NORM).totalNs()).isEqualTo(1_500);
            assertThat(profiler.brickStats(BrickId.LM_HEAD).count()).isZero();
            assertThat(profiler.brickStats(BrickId.LM_HEAD).device().unresolved())
                    .isOne();
            assertThat(log.linesWith("CUDA_ERROR_CAPTURED_EVENT")).isOne();
        }
    }

    /** Warming up and then capturing is how applications begin with graphs. */
    @Test
    void aPassBeforeACaptureKeepsItsTimes() {
        try (CudaStream stream = lent()) {
            BrickProfiler profiler = profiler(stream);
            brick(profiler, BrickId.RMS_NORM, 1_000);
            profiler.endPass();
            JCudaDriver.cuStreamBeginCapture(engine.stream(), CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL);
            assertThat(profiler.snapshot().unresolved()).isZero();
            assertThat(profiler.pendingCount()).isZero();
            assertThat(JCudaDriver.cuStreamEndCapture(engine.stream(), new CUgraph()))
                    .isZero();
            profiler.endPassAsync();
            assertThat(SimulatedCuda.spoiltCaptures()).isZero();
            assertThat(profiler.brickStats(BrickId.RMS_NORM).totalNs()).isEqualTo(1_000);
            assertThat(profiler.snapshot().unresolved()).isZero();
        }
        assertThat(SimulatedCuda.liveEvents()).isZero();
    }

    /** A float has steps of 61 ns at one second. */
    @Test
    void aLongBrickAroundShortOnesIsTheirSum() {
        try (CudaStream stream = lent()) {
            BrickProfiler profiler = profiler(stream);
            long pass = profiler.startBrick(BrickId.FUSED_ATTENTION);
            for (int i = 0; i < 1_000; i++) {
                brick(profiler, BrickId.RMS_NORM, 1_000_003);
            }
            profiler.stopBrick(pass, 1);
            profiler.endPass();
            assertThat(profiler.brickStats(BrickId.FUSED_ATTENTION).totalNs())
                    .isEqualTo(profiler.brickStats(BrickId.RMS_NORM).totalNs())
                    .isEqualTo(1_000_003_000L);
        }
    }

    /** By then its start is stored as a number: the sum of short intervals, which a float holds exactly. */
    @Spec("12.20")
    @Test
    void aDeferredBrickAroundPassesIsTheirSum() {
        try (CudaStream stream = CudaStream.on(engine.context(), engine.stream())
                .marks(64, 64)
                .withoutNetTimes()
                .open()) {
            BrickProfiler profiler = profiler(stream);
            long generation = profiler.elapsedNs();
            for (int i = 0; i < 1_000; i++) {
                long start = profiler.elapsedNs();
                engine.spin(1_000_003);
                profiler.recordDeferred(BrickId.RMS_NORM, start, 1);
                if (i % 10 == 9) {
                    profiler.endPass();
                }
            }
            profiler.recordDeferred(BrickId.FUSED_ATTENTION, generation, 1);
            profiler.endPass();
            assertThat(profiler.snapshot().unresolved()).isZero();
            assertThat(profiler.brickStats(BrickId.FUSED_ATTENTION).totalNs())
                    .isEqualTo(profiler.brickStats(BrickId.RMS_NORM).totalNs())
                    .isEqualTo(1_000_003_000L);
        }
    }

    @Test
    void aBrickThatIsNotDoneWhenTheStreamClosesIsUnresolved() {
        BrickProfiler profiler;
        try (CudaStream stream = lent()) {
            profiler = profiler(stream);
            brick(profiler, BrickId.RMS_NORM, 1_000);
            profiler.endPass();
            brick(profiler, BrickId.LM_HEAD, 9_000);
        }
        assertThat(SimulatedCuda.liveEvents()).isZero();
        assertThat(profiler.brickStats(BrickId.RMS_NORM).totalNs()).isEqualTo(1_000);
        profiler.endPass();
        assertThat(profiler.brickStats(BrickId.LM_HEAD).device().unresolved()).isOne();
        assertThat(profiler.snapshot().streams().get(0).failure()).contains("the stream is closed");
    }

    @Test
    void timesOfAPassAreAskedForWithOneCallEach() {
        try (CudaStream stream = lent()) {
            BrickProfiler profiler = profiler(stream);
            List<Long> before =
                    List.of(SimulatedCuda.calls("cuEventElapsedTime"), SimulatedCuda.calls("cuStreamIsCapturing"));
            for (int i = 0; i < 100; i++) {
                brick(profiler, BrickId.RMS_NORM, 1_000);
            }
            profiler.endPass();
            profiler.snapshot();
            assertThat(SimulatedCuda.calls("cuEventElapsedTime") - before.get(0))
                    .isEqualTo(199);
            assertThat(SimulatedCuda.calls("cuStreamIsCapturing") - before.get(1))
                    .isLessThanOrEqualTo(5);
        }
    }
}
