package org.brickprofiler.bench;

import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Threads;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Measures the samples per microsecond of one thread and of two threads that record into one profiler. The floors show
 * how far the clock alone scales on the machine.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(3)
@OperationsPerInvocation(RecordingBenchmark.BRICKS)
public class ThreadsBenchmark {

    private final BrickId[] ids = Arrays.copyOf(BrickId.values(), RecordingBenchmark.BRICKS);
    private final BrickProfiler profiler = BrickProfiler.enabled();

    @Benchmark
    @Threads(1)
    public void oneThread() {
        startStop();
    }

    @Benchmark
    @Threads(2)
    public void twoThreads() {
        startStop();
    }

    @Benchmark
    @Threads(1)
    public long floorOneThread() {
        return clockReads();
    }

    @Benchmark
    @Threads(2)
    public long floorTwoThreads() {
        return clockReads();
    }

    private void startStop() {
        for (BrickId id : ids) {
            profiler.stopBrick(profiler.startBrick(id), 1);
        }
    }

    private static long clockReads() {
        long sum = 0;
        for (int i = 0; i < RecordingBenchmark.BRICKS; i++) {
            long start = System.nanoTime();
            sum += System.nanoTime() - start;
        }
        return sum;
    }
}
