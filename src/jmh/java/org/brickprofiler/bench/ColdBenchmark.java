package org.brickprofiler.bench;

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
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Measures recording after its data has left the caches, as it does when a matrix product reads its weights. The floor
 * is two clock reads, equally cold; {@link #nothing} measures the cost of the harness.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 2)
@Measurement(iterations = 5, time = 2)
@Fork(3)
public class ColdBenchmark {

    private static final int LONGS_A_LINE = 8;

    /** 64 MiB, more than a core's share of the caches. */
    private final long[] weights = new long[8 << 20];

    private final BrickProfiler profiler = BrickProfiler.enabled();
    private final StepInfo step = StepInfo.decode(100);
    private long sum;

    /** Reads the weights. */
    @Setup(Level.Invocation)
    public void multiply() {
        for (int i = 0; i < weights.length; i += LONGS_A_LINE) {
            sum += weights[i];
        }
    }

    @TearDown(Level.Trial)
    public void check() {
        if (sum != 0) {
            throw new IllegalStateException("the weights are not what they were: " + sum);
        }
    }

    @Benchmark
    public void nothing() {}

    @Benchmark
    public long clockReads() {
        return -System.nanoTime() + System.nanoTime();
    }

    @Benchmark
    public void brick() {
        long timer = profiler.startBrick(BrickId.RMS_NORM);
        profiler.stopBrick(timer, 1);
    }

    @Benchmark
    public void layer() {
        profiler.startLayer();
        profiler.endLayer();
    }

    @Benchmark
    public void step() {
        profiler.beginStep(step);
        profiler.endPass();
    }
}
