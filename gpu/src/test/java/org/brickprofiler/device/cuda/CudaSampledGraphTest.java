package org.brickprofiler.device.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.function.Consumer;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.BrickStats;
import org.brickprofiler.device.StreamTotals;
import org.brickprofiler.testing.CapturedLog;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Captured graphs beside bricks that are marked by sampling, over the simulated driver with its virtual clock. */
class CudaSampledGraphTest {

    private static final long IN_GRAPH_NS = 1_000;
    private static final long OUTSIDE_NS = 9_000;

    private CudaEngine engine;
    private CudaStream stream;
    private BrickProfiler profiler;

    @BeforeEach
    void open() {
        SimulatedCuda.start();
        engine = new CudaEngine(0);
        stream = CudaStream.on(engine.context(), engine.stream())
                .name("decode")
                .withoutNetTimes()
                .open();
        profiler = BrickProfiler.builder()
                .clock(SimulatedCuda::now)
                .deviceStream(stream)
                .deviceSampling(16)
                .percentiles(true)
                .build();
        profiler.enable();
    }

    @AfterEach
    void close() {
        assertThat(SimulatedCuda.staleHandles()).isZero();
        stream.close();
    }

    private CapturedStep captured(Consumer<BrickProfiler> work) {
        return CapturedStep.of(engine, stream, () -> work.accept(profiler));
    }

    private void brick(BrickId id, long ns) {
        long timer = profiler.startBrick(id);
        engine.spin(ns);
        profiler.stopBrick(timer, 1);
    }

    private void bricks(int number) {
        for (int i = 0; i < number; i++) {
            brick(BrickId.RMS_NORM, OUTSIDE_NS);
        }
    }

    @Spec("12.49")
    @Test
    void eachLaunchMarksEachBrickWhichIsSaidOnce() {
        try (CapturedLog log = new CapturedLog()) {
            CapturedStep step = captured(on -> brick(BrickId.RMS_NORM, IN_GRAPH_NS));
            captured(on -> brick(BrickId.RMS_NORM, IN_GRAPH_NS));
            for (int launch = 0; launch < 100; launch++) {
                step.launch();
                profiler.endPass();
            }

            assertThat(log.linesWith("deviceSampling(16) does not apply to captured graphs: marks are part of a graph"))
                    .isOne();
        }
        BrickStats norm = profiler.brickStats(BrickId.RMS_NORM);
        assertThat(norm.count()).isEqualTo(100);
        assertThat(norm.totalNs()).isEqualTo(100 * IN_GRAPH_NS);
        assertThat(norm.device().measured()).isEqualTo(100);
        assertThat(norm.device().isEstimated()).isFalse();
    }

    /** A launch is no sample of bricks outside of the graph, whose blocks are open at almost every reading. */
    @Spec("12.49")
    @Test
    void launchesLeaveTheEstimateOfOtherBricksOfTheirRowAlone() throws InterruptedException {
        CapturedStep step = captured(on -> brick(BrickId.RMS_NORM, IN_GRAPH_NS));
        Thread other = new Thread(() -> engine.inContext(() -> {
            for (int pass = 1; pass <= 300; pass++) {
                bricks(3);
                step.launch();
                profiler.endPass();

                BrickStats norm = profiler.brickStats(BrickId.RMS_NORM);
                assertThat(norm.count()).isEqualTo(4L * pass);
                assertThat(norm.totalNs()).as("pass %d", pass).isEqualTo(pass * (3 * OUTSIDE_NS + IN_GRAPH_NS));
                assertThat(norm.device().halfIntervalNs()).hasValue(0);
            }
        }));
        Throwable[] failure = {null};
        other.setUncaughtExceptionHandler((thread, failed) -> failure[0] = failed);
        other.start();
        other.join();

        assertThat(failure[0]).isNull();
        BrickStats norm = profiler.brickStats(BrickId.RMS_NORM);
        assertThat(norm.device().unmarked()).isGreaterThan(500);
        assertThat(norm.percentileNs(25)).isBetween(IN_GRAPH_NS, IN_GRAPH_NS + 20);
        assertThat(norm.percentileNs(26)).isBetween(OUTSIDE_NS - 150, OUTSIDE_NS);
    }

    /** Until the capture begins, hardly any brick of the pass has marks. */
    @Spec("12.49")
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aCaptureInTheMiddleOfAPassMarksEachOfItsBricks(boolean byLap) {
        for (int pass = 0; pass < 100; pass++) {
            bricks(10);
            profiler.endPass();
        }
        bricks(5);
        CapturedStep step = captured(on -> {
            long timer = on.startBrick(BrickId.RMS_NORM);
            for (int brick = 0; brick < 20; brick++) {
                engine.spin(IN_GRAPH_NS);
                if (byLap) {
                    timer = on.lap(timer, 1, BrickId.RMS_NORM);
                } else {
                    on.stopBrick(timer, 1);
                    timer = on.startBrick(BrickId.RMS_NORM);
                }
            }
            engine.spin(IN_GRAPH_NS);
            on.stopBrick(timer, 1);
        });
        bricks(5);
        profiler.endPass();
        long marked = profiler.brickStats(BrickId.RMS_NORM).device().measured();
        step.launch();
        profiler.endPass();

        BrickStats norm = profiler.brickStats(BrickId.RMS_NORM);
        assertThat(norm.count()).isEqualTo(1_010 + 21);
        assertThat(norm.device().measured()).isEqualTo(marked + 21);
        assertThat(norm.totalNs()).isEqualTo(1_010 * OUTSIDE_NS + 21 * IN_GRAPH_NS);
    }

    @Spec("12.49")
    @Test
    void thePassesAreUnknownIfOneBeginsWithALaunch() {
        CapturedStep step = captured(on -> brick(BrickId.RMS_NORM, IN_GRAPH_NS));
        bricks(1);
        step.launch();
        profiler.endPass();
        StreamTotals before = profiler.snapshot().streams().get(0);
        step.launch();
        bricks(1);
        profiler.endPass();

        assertThat(before.passNs()).hasValue(OUTSIDE_NS + IN_GRAPH_NS);
        StreamTotals totals = profiler.snapshot().streams().get(0);
        assertThat(totals.busyNs()).isEqualTo(2 * (OUTSIDE_NS + IN_GRAPH_NS));
        assertThat(totals.passNs()).isEmpty();
        profiler.reset();
        bricks(1);
        profiler.endPass();
        assertThat(profiler.snapshot().streams().get(0).passNs()).hasValue(OUTSIDE_NS);
    }

    /** Nothing has run, so what has no mark must not count as if it had. */
    @Spec("12.16")
    @Test
    void bricksOfAGraphThatWasCapturedOutsideOfAScopeAreUnresolved() {
        for (int pass = 0; pass < 100; pass++) {
            bricks(10);
            profiler.endPass();
        }
        BrickStats before = profiler.brickStats(BrickId.RMS_NORM);
        assertThat(before.count()).isEqualTo(1_000);

        bricks(10);
        engine.capture(() -> bricks(50));
        bricks(10);
        profiler.endPass();

        BrickStats after = profiler.brickStats(BrickId.RMS_NORM);
        assertThat(after.count()).as("%s", after.device()).isLessThanOrEqualTo(1_020);
        assertThat(after.count() + after.device().unresolved()).isEqualTo(1_070);
    }
}
