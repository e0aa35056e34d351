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
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/** What one sample costs on each path, 23 bricks in rotation; the floors are the clock reads that it needs. */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(3)
@OperationsPerInvocation(RecordingBenchmark.BRICKS)
public class RecordingBenchmark {

    static final int BRICKS = 23;
    private static final int LAYERS = 16;

    private final BrickId[] ids = Arrays.copyOf(BrickId.values(), BRICKS);
    private final BrickProfiler on = BrickProfiler.enabled();
    private final BrickProfiler withPercentiles =
            BrickProfiler.builder().percentiles(true).build();
    private final BrickProfiler off = new BrickProfiler();
    private final int[] keys = new int[BRICKS];
    private final String[] names = new String[BRICKS];

    @Setup
    public void registerNames() {
        withPercentiles.enable();
        for (int i = 0; i < BRICKS; i++) {
            names[i] = "custom-" + i;
            keys[i] = on.brickKey(names[i]);
        }
    }

    @Benchmark
    public long floorOneClockRead() {
        long sum = 0;
        for (int i = 0; i < BRICKS; i++) {
            sum += System.nanoTime();
        }
        return sum;
    }

    @Benchmark
    public long floorTwoClockReads() {
        long sum = 0;
        for (int i = 0; i < BRICKS; i++) {
            long start = System.nanoTime();
            sum += System.nanoTime() - start;
        }
        return sum;
    }

    @Benchmark
    public long floorEmptyLoop() {
        long sum = 0;
        for (BrickId id : ids) {
            sum += id.hashCode();
        }
        return sum;
    }

    @Benchmark
    public void startStop() {
        for (BrickId id : ids) {
            on.stopBrick(on.startBrick(id), 1);
        }
    }

    @Benchmark
    public void startStopByKey() {
        for (int key : keys) {
            on.stopBrick(on.startBrick(key), 1);
        }
    }

    @Benchmark
    public void startStopByName() {
        for (String name : names) {
            on.stopBrick(on.startBrick(name), 1);
        }
    }

    @Benchmark
    public void startStopWithPercentiles() {
        for (BrickId id : ids) {
            withPercentiles.stopBrick(withPercentiles.startBrick(id), 1);
        }
    }

    /** The timer that runs from one lap to the next. */
    @State(Scope.Thread)
    public static class Lap {
        long timer;
    }

    @Benchmark
    public void lap(Lap running) {
        long timer = running.timer;
        for (BrickId id : ids) {
            timer = on.lap(timer, 1, id);
        }
        running.timer = timer;
    }

    @Benchmark
    public void startStopOff() {
        for (BrickId id : ids) {
            off.stopBrick(off.startBrick(id), 1);
        }
    }

    /** A pass of some layers, with one synchronisation. */
    @Benchmark
    @OperationsPerInvocation(LAYERS * BRICKS)
    public void recordDeferredAndFinalize() {
        for (int layer = 0; layer < LAYERS; layer++) {
            for (BrickId id : ids) {
                on.recordDeferred(id, on.elapsedNs(), 1);
            }
        }
        on.finalize(on.elapsedNs());
    }
}
