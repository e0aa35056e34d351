package org.brickprofiler;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicInteger;
import org.brickprofiler.device.DispatchTimer;
import org.brickprofiler.device.ProbeTimer;
import org.brickprofiler.device.StreamTimer;
import org.brickprofiler.device.StreamTotals;
import org.brickprofiler.testing.ClockKind;
import org.brickprofiler.testing.Crew;
import org.brickprofiler.testing.FakeClock;
import org.brickprofiler.testing.SimulatedStream;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Runs the same bricks on a clock that stands still and on one that runs: the device's times are the same, to the
 * nanosecond. Therefore the device is busy with other work whenever bricks are launched, and stays behind the host
 * until the host waits. The host's clock differs between the two runs, and must not matter.
 */
final class BrickProfilerClocksTest {

    /** Longer than the host takes to load the classes and to launch the bricks of a pass. */
    private static final long BACKLOG_NS = 250_000_000;

    /** A profiler of two streams, which have other work to do first. */
    private static final class Bench {
        private final FakeClock clock;
        private final SimulatedStream stream;
        private final SimulatedStream copies;
        private final BrickProfiler profiler;

        Bench(ClockKind kind) {
            clock = kind.clock(1_000_000);
            stream = new SimulatedStream("decode", clock);
            copies = new SimulatedStream("copies", clock);
            profiler = BrickProfiler.builder()
                    .clock(clock)
                    .deviceStream(stream)
                    .deviceStream(copies)
                    .build();
            profiler.enable();
            delay();
        }

        /** The device falls behind. */
        void delay() {
            stream.work(BACKLOG_NS);
            copies.work(BACKLOG_NS);
        }

        void brick(BrickId id, long ns) {
            long timer = profiler.startBrick(id);
            stream.work(ns);
            profiler.stopBrick(timer, 1);
        }

        void deferred(BrickId id, long ns) {
            long start = profiler.elapsedNs();
            stream.work(ns);
            profiler.recordDeferred(id, start, 1);
        }

        long totalNs(BrickId id) {
            return profiler.brickStats(id).totalNs();
        }

        StreamTotals totals(String name) {
            return profiler.snapshot().streams().stream()
                    .filter(each -> each.stream().equals(name))
                    .findFirst()
                    .orElseThrow();
        }

        void assertAllResolved() {
            assertThat(profiler.pendingCount()).isZero();
            assertThat(profiler.snapshot().unresolved()).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource
    void bricksOfEveryDepthAndLength(ClockKind kind) {
        Bench bench = new Bench(kind);
        long outer = bench.profiler.startBrick(BrickId.FUSED_ATTENTION);
        bench.brick(BrickId.ATTENTION_SCORE, 1);
        bench.brick(BrickId.ATTENTION_SOFTMAX, 40_000);
        bench.stream.work(300);
        bench.profiler.stopBrick(outer, 1);
        bench.brick(BrickId.LM_HEAD, 2_000_000);
        bench.profiler.endPass();
        assertThat(bench.totalNs(BrickId.ATTENTION_SCORE)).isEqualTo(1);
        assertThat(bench.totalNs(BrickId.ATTENTION_SOFTMAX)).isEqualTo(40_000);
        assertThat(bench.totalNs(BrickId.FUSED_ATTENTION)).isEqualTo(40_301);
        assertThat(bench.totalNs(BrickId.LM_HEAD)).isEqualTo(2_000_000);
        assertThat(bench.totals("decode").busyNs()).isEqualTo(2_040_301);
        assertThat(bench.totals("decode").idleNs()).isZero();
        bench.assertAllResolved();
        assertThat(bench.stream.marksHeld()).isZero();
    }

    @Spec("12.5")
    @ParameterizedTest
    @EnumSource
    void lapsShareTheirMarksAndOutliveAPass(ClockKind kind) {
        Bench bench = new Bench(kind);
        long timer = bench.profiler.startBrick(BrickId.RMS_NORM);
        for (int i = 1; i <= 10; i++) {
            bench.stream.work(10L * i);
            timer = bench.profiler.lap(timer, 1, BrickId.LM_HEAD);
        }
        bench.stream.work(5_000);
        // The next work is launched while the device still works on this.
        bench.profiler.endPassAsync();
        bench.stream.work(100);
        bench.profiler.stopBrick(timer, 1);
        assertThat(bench.stream.marksSet()).isEqualTo(12);
        bench.profiler.endPass();
        assertThat(bench.totalNs(BrickId.RMS_NORM)).isEqualTo(10);
        assertThat(bench.totalNs(BrickId.LM_HEAD)).isEqualTo(20 + 30 + 40 + 50 + 60 + 70 + 80 + 90 + 100 + 5_100);
        assertThat(bench.profiler.brickStats(BrickId.RMS_NORM).count()).isOne();
        assertThat(bench.profiler.brickStats(BrickId.LM_HEAD).count()).isEqualTo(10);
        bench.assertAllResolved();
        assertThat(bench.stream.marksHeld()).isZero();
    }

    @ParameterizedTest
    @EnumSource
    void layersInEveryModeThatMarks(ClockKind kind) {
        for (SyncMode mode : new SyncMode[] {SyncMode.IMMEDIATE, SyncMode.PER_LAYER, SyncMode.DEFERRED}) {
            Bench bench = new Bench(kind);
            bench.profiler.setSyncMode(mode);
            for (int layer = 0; layer < 2; layer++) {
                for (int brick = 0; brick < 3; brick++) {
                    bench.brick(BrickId.all().get(brick), 1_000L * brick + 100L * layer);
                    if (mode == SyncMode.IMMEDIATE) {
                        bench.delay();
                    }
                }
                bench.profiler.endLayer();
                bench.delay();
            }
            bench.profiler.endPass();
            for (int brick = 0; brick < 3; brick++) {
                assertThat(bench.totalNs(BrickId.all().get(brick)))
                        .as(mode + " " + brick)
                        .isEqualTo(2_000L * brick + 100);
            }
            bench.assertAllResolved();
        }
    }

    @ParameterizedTest
    @EnumSource
    void gapsAreIdleWithinAPassAlone(ClockKind kind) {
        Bench bench = new Bench(kind);
        bench.brick(BrickId.RMS_NORM, 100);
        bench.stream.work(400);
        bench.brick(BrickId.RMS_NORM, 100);
        bench.profiler.endPassAsync();
        bench.stream.work(7_000);
        bench.brick(BrickId.RMS_NORM, 50);
        bench.profiler.endPass();
        assertThat(bench.totals("decode").busyNs()).isEqualTo(250);
        assertThat(bench.totals("decode").idleNs()).isEqualTo(400);
        bench.assertAllResolved();
    }

    @ParameterizedTest
    @EnumSource
    void bricksOfSeveralStreams(ClockKind kind) throws Exception {
        Bench bench = new Bench(kind);
        Crew.runOnNewThread(() -> {
            long copy = bench.profiler.stream("copies").startBrick(BrickId.HOST_TO_DEVICE);
            bench.copies.work(400_000);
            copy = bench.profiler.lap(copy, 64, BrickId.DEVICE_TO_HOST);
            bench.copies.work(1_000);
            bench.profiler.stopBrick(copy, 64);
        });
        bench.brick(BrickId.RMS_NORM, 100);
        bench.profiler.endPass();
        assertThat(bench.totalNs(BrickId.RMS_NORM)).isEqualTo(100);
        bench.profiler.stream("copies").endPass();
        assertThat(bench.totalNs(BrickId.HOST_TO_DEVICE)).isEqualTo(400_000);
        assertThat(bench.totalNs(BrickId.DEVICE_TO_HOST)).isEqualTo(1_000);
        assertThat(bench.totals("copies").busyNs()).isEqualTo(401_000);
        bench.assertAllResolved();
    }

    @ParameterizedTest
    @EnumSource
    void deferredMeasurementsThatShareAndChainTheirStarts(ClockKind kind) {
        Bench bench = new Bench(kind);
        long outer = bench.profiler.elapsedNs();
        bench.deferred(BrickId.RMS_NORM, 500);
        bench.stream.work(70);
        bench.deferred(BrickId.LM_HEAD, 3_000);
        bench.profiler.recordDeferred(BrickId.FUSED_ATTENTION, outer, 1);
        long next = bench.profiler.elapsedNs();
        bench.stream.work(11);
        bench.profiler.recordDeferred("mine", next, 1);
        bench.stream.finish();
        bench.profiler.finalize(bench.profiler.elapsedNs());
        assertThat(bench.totalNs(BrickId.RMS_NORM)).isEqualTo(500);
        assertThat(bench.totalNs(BrickId.LM_HEAD)).isEqualTo(3_000);
        assertThat(bench.totalNs(BrickId.FUSED_ATTENTION)).isEqualTo(3_570);
        assertThat(bench.profiler.stats("mine").orElseThrow().totalNs()).isEqualTo(11);
        bench.assertAllResolved();
    }

    @ParameterizedTest
    @EnumSource
    void passesThatEndWithoutAWait(ClockKind kind) {
        Bench bench = new Bench(kind);
        for (int pass = 0; pass < 20; pass++) {
            bench.brick(BrickId.RMS_NORM, 1_000);
            bench.deferred(BrickId.LM_HEAD, 200);
            bench.profiler.endPassAsync();
        }
        assertThat(bench.profiler.pendingCount()).isEqualTo(40);
        bench.stream.finish();
        bench.profiler.endPassAsync();
        assertThat(bench.totalNs(BrickId.RMS_NORM)).isEqualTo(20_000);
        assertThat(bench.totalNs(BrickId.LM_HEAD)).isEqualTo(4_000);
        assertThat(bench.stream.waits()).isZero();
        bench.assertAllResolved();
    }

    @ParameterizedTest
    @EnumSource
    void bricksOfACaptureAreUnresolvedAndTheOthersAreNot(ClockKind kind) {
        Bench bench = new Bench(kind);
        bench.brick(BrickId.RMS_NORM, 100);
        bench.stream.capture(true);
        bench.brick(BrickId.RMS_NORM, 9_000);
        bench.deferred(BrickId.RMS_NORM, 9_000);
        bench.stream.capture(false);
        bench.brick(BrickId.RMS_NORM, 70);
        bench.profiler.endPass();
        assertThat(bench.totalNs(BrickId.RMS_NORM)).isEqualTo(170);
        assertThat(bench.profiler.snapshot().unresolved()).isEqualTo(2);
        assertThat(bench.totals("decode").busyNs()).isEqualTo(170);
    }

    @ParameterizedTest
    @EnumSource
    void threadsThatShareAStream(ClockKind kind) throws Exception {
        Bench bench = new Bench(kind);
        int threads = 3;
        int bricks = 100;
        AtomicInteger launched = new AtomicInteger();
        Crew crew = new Crew();
        for (int thread = 0; thread < threads; thread++) {
            crew.run(() -> {
                for (int i = 0; i < bricks; i++) {
                    // One brick at a time, so that no brick encloses the work of another.
                    synchronized (bench) {
                        bench.brick(BrickId.RMS_NORM, 1_000);
                        launched.incrementAndGet();
                    }
                    if (i % 10 == 9) {
                        bench.profiler.endPassAsync();
                    }
                }
                bench.profiler.endPass();
            });
        }
        crew.join();
        assertThat(bench.profiler.brickStats(BrickId.RMS_NORM).count())
                .isEqualTo(launched.get())
                .isEqualTo(300);
        assertThat(bench.profiler.brickStats(BrickId.RMS_NORM).minNs()).isEqualTo(1_000);
        bench.assertAllResolved();
        assertThat(bench.stream.marksHeld()).isZero();
    }

    @ParameterizedTest
    @EnumSource
    void timersOfAStream(ClockKind kind) {
        Bench bench = new Bench(kind);
        DispatchTimer dispatches = new DispatchTimer(bench.stream, 16);
        StreamTimer timer = new StreamTimer(bench.stream);
        timer.recordStart();
        dispatches.time("matmul", () -> bench.stream.work(4_000));
        dispatches.time("rope", () -> bench.stream.work(70));
        timer.recordEnd();
        bench.stream.work(1_000_000);
        assertThat(timer.elapsedNs()).isEqualTo(4_070);
        StringBuilder drained = new StringBuilder();
        dispatches.drain(
                Backend.CUDA,
                (name, backend, ns) ->
                        drained.append(name).append(' ').append(ns).append(' '));
        assertThat(drained).hasToString("matmul 4000 rope 70 ");
        timer.close();
        bench.delay();
        ProbeTimer probe = ProbeTimer.startIf(true, timer).orElseThrow();
        bench.stream.work(300);
        assertThat(probe.finish()).isEqualTo(300);
        timer.close();
        assertThat(bench.stream.marksHeld()).isZero();
    }
}
