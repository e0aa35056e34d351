package org.brickprofiler.bench;

import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.StepInfo;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Measures the announcement of a step after threads have recorded 23 bricks each. The floor is a pass without a step.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class StepBenchmark {

    @Param({"1", "8"})
    private int threads;

    private final BrickProfiler profiler = BrickProfiler.enabled();
    private final CountDownLatch end = new CountDownLatch(1);
    private long position;

    @Setup
    public void record() throws InterruptedException {
        CountDownLatch recorded = new CountDownLatch(threads - 1);
        for (int i = 1; i < threads; i++) {
            Thread thread = new Thread(() -> {
                recordAll();
                recorded.countDown();
                try {
                    end.await();
                } catch (InterruptedException stop) {
                    Thread.currentThread().interrupt();
                }
            });
            thread.setDaemon(true);
            thread.start();
        }
        recordAll();
        recorded.await();
    }

    private void recordAll() {
        for (BrickId id : Arrays.copyOf(BrickId.values(), RecordingBenchmark.BRICKS)) {
            profiler.record(id, 1_000, 1);
        }
    }

    @TearDown(Level.Trial)
    public void check() {
        end.countDown();
        boolean announced = position > 0;
        if (announced != (profiler.snapshot().steps().count() > 0)) {
            throw new IllegalStateException(
                    "steps were lost: " + profiler.snapshot().steps());
        }
    }

    @Benchmark
    public void pass() {
        profiler.endPass();
    }

    @Benchmark
    public void step() {
        profiler.beginStep(StepInfo.decode(position++));
        profiler.endPass();
    }
}
