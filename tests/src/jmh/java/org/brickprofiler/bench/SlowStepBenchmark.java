package org.brickprofiler.bench;

import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.StepInfo;
import org.brickprofiler.trace.TraceRecorder;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/** Measures a step of 23 bricks whose timeline keeps slow steps. The floor is the same step with a plain timeline. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class SlowStepBenchmark {

    private static final int KEPT = 8;

    private final TraceRecorder keeping =
            TraceRecorder.builder().keepSlowSteps(KEPT).build();
    private final BrickProfiler kept = profiler(keeping);
    private final BrickProfiler plain = profiler(TraceRecorder.builder().build());
    private BrickId[] bricks;

    private static BrickProfiler profiler(TraceRecorder recorder) {
        BrickProfiler profiler = BrickProfiler.builder().tracing(recorder).build();
        profiler.enable();
        return profiler;
    }

    @Setup
    public void chooseBricks() {
        bricks = Arrays.copyOf(BrickId.values(), RecordingBenchmark.BRICKS);
    }

    @TearDown(Level.Trial)
    public void check() {
        boolean chose =
                keeping.timeline().info().slowSteps().orElseThrow().slowest().size() == KEPT;
        if (kept.snapshot().steps().count() > KEPT && !chose) {
            throw new IllegalStateException("slow steps were lost: "
                    + keeping.timeline().info().slowSteps().orElseThrow().text());
        }
    }

    private void step(BrickProfiler profiler) {
        profiler.beginStep(StepInfo.decode(1));
        for (BrickId brick : bricks) {
            profiler.stopBrick(profiler.startBrick(brick), 1);
        }
        profiler.endPass();
    }

    @Benchmark
    public void floorPlainTimeline() {
        step(plain);
    }

    @Benchmark
    public void keepsSlowSteps() {
        step(kept);
    }
}
