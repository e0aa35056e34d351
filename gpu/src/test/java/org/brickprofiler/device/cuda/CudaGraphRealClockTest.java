package org.brickprofiler.device.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import jcuda.driver.CUgraphExec;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.BrickStats;
import org.brickprofiler.testing.CapturedLog;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Launches over the simulated driver's real clock: the device reaches events, and later launches record them again,
 * while another thread queries their times. Every announced launch has the times of one launch, or none. The full test
 * runs with {@code -Dbrick.stress.passes=100000}.
 */
@Timeout(value = 10, unit = TimeUnit.MINUTES)
class CudaGraphRealClockTest {

    private static final int LAUNCHES = Integer.getInteger("brick.stress.passes", 1_500);
    private static final int BRICKS = 12;
    private static final long KERNEL_NS = 3_000;

    /** CUDA returns times as a float in ms, and each brick lies between two of them. */
    private static final long ROUNDING_NS = 2;

    @Spec("12.40")
    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void launchesThatAreAskedForWhileOthersFollowAreTimedRightlyOrNotAtAll(int keepsUntilReached)
            throws InterruptedException {
        SimulatedCuda.start();
        SimulatedCuda.useRealClock(1);
        SimulatedCuda.setKeepsUntilReached(keepsUntilReached);
        CudaEngine engine = new CudaEngine(0);
        try (CapturedLog log = new CapturedLog();
                CudaStream stream =
                        CudaStream.on(engine.context(), engine.stream()).open()) {
            BrickProfiler profiler =
                    BrickProfiler.builder().deviceStream(stream).build();
            profiler.enable();
            CudaCapture capture = stream.capture();
            CUgraphExec exec;
            try (capture) {
                exec = engine.instantiate(engine.capture(() -> bricks(profiler, engine)));
            }
            AtomicBoolean over = new AtomicBoolean();
            List<Throwable> thrown = new CopyOnWriteArrayList<>();
            Thread asking = new Thread(() -> engine.inContext(() -> {
                while (!over.get()) {
                    profiler.endPassAsync();
                }
            }));
            asking.setUncaughtExceptionHandler((thread, failure) -> thrown.add(failure));
            asking.start();
            Random random = new Random(1);
            for (int launch = 0; launch < LAUNCHES; launch++) {
                engine.launch(exec);
                if (random.nextInt(8) == 0) {
                    engine.launch(exec);
                }
                capture.launched(exec);
                if (random.nextInt(4) > 0) {
                    engine.synchronize();
                }
                if (random.nextInt(8) == 0) {
                    // This launch is not announced, and the one before may be resolved already or not.
                    engine.launch(exec);
                }
            }
            over.set(true);
            asking.join();
            profiler.endPass();

            assertThat(thrown).isEmpty();
            BrickStats first = profiler.brickStats(BrickId.RMS_NORM);
            BrickStats last = profiler.brickStats(BrickId.SAMPLING);
            assertThat(first.count() + first.device().unresolved()).isEqualTo((long) LAUNCHES * (BRICKS - 1));
            assertThat(last.count() + last.device().unresolved()).isEqualTo(LAUNCHES);
            assertThat(first.count()).isEqualTo(last.count() * (BRICKS - 1)).isPositive();
            assertThat(last.device().unresolved()).isPositive();
            for (BrickStats stats : new BrickStats[] {first, last}) {
                assertThat(stats.minNs()).isCloseTo(KERNEL_NS, within(ROUNDING_NS));
                assertThat(stats.maxNs()).isCloseTo(KERNEL_NS, within(ROUNDING_NS));
            }
            assertThat(log.linesWith("WARN")).isPositive();
        }
    }

    private static void bricks(BrickProfiler profiler, CudaEngine engine) {
        long timer = profiler.startBrick(BrickId.RMS_NORM);
        for (int brick = 1; brick < BRICKS; brick++) {
            engine.spin(KERNEL_NS);
            timer = profiler.lap(timer, 1, brick < BRICKS - 1 ? BrickId.RMS_NORM : BrickId.SAMPLING);
        }
        engine.spin(KERNEL_NS);
        profiler.stopBrick(timer, 1);
    }
}
