package org.brickprofiler;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintStream;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.brickprofiler.testing.ChildProcess;
import org.brickprofiler.testing.ProcessResult;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The first snapshot of a virtual machine, which loads classes while a thread records. */
final class SnapshotUnderLoadIT {

    /**
     * A step takes some 50 us, and the first snapshot loads classes for 100 ms and more. On a busy machine the reading
     * thread may lose the processor for some milliseconds between two rows.
     */
    private static final int MOST_STEPS = 100;

    /** An engine whose steps have ten bricks each, and which is read twice. */
    static final class Engine {
        private static final int BRICKS = 10;

        private Engine() {}

        public static void main(String[] arguments) throws InterruptedException {
            BrickProfiler profiler = BrickProfiler.enabled();
            CountDownLatch begun = new CountDownLatch(500);
            Thread decoding = new Thread(() -> {
                for (int step = 0; ; step++) {
                    profiler.beginStep(StepInfo.decode(step));
                    for (int brick = 0; brick < BRICKS; brick++) {
                        profiler.record(BrickId.RMS_NORM, 1_000, 1);
                    }
                    profiler.endPass();
                    begun.countDown();
                    long untilNs = System.nanoTime() + 50_000;
                    while (System.nanoTime() < untilNs) {
                        Thread.onSpinWait();
                    }
                }
            });
            decoding.setDaemon(true);
            decoding.start();
            begun.await();
            ProfileSnapshot first = arguments[0].equals("reset") ? profiler.snapshotAndReset() : profiler.snapshot();
            ProfileSnapshot second = profiler.snapshot();
            PrintStream out = System.out;
            for (ProfileSnapshot each : List.of(first, second)) {
                out.println(each.bricks().stream().mapToLong(BrickStats::count).sum()
                        - BRICKS * each.steps().count());
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"keep", "reset"})
    @Spec("17.8")
    void readsBricksAndStepsAtTheSameMoment(String how) throws Exception {
        ProcessResult result =
                ChildProcess.java(Engine.class).arguments(List.of(how)).run();
        result.assertSucceeded();
        long[] apart = result.out().lines().mapToLong(Long::parseLong).toArray();
        assertThat(apart).hasSize(2);
        assertThat(Arrays.stream(apart).map(Math::abs).max().orElseThrow())
                .as("samples")
                .isLessThanOrEqualTo(MOST_STEPS * Engine.BRICKS);
    }
}
