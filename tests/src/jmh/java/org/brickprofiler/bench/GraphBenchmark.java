package org.brickprofiler.bench;

import java.util.concurrent.TimeUnit;
import org.brickprofiler.graph.Dim3;
import org.brickprofiler.graph.GraphRecorder;
import org.brickprofiler.spi.NanoClock;
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

/**
 * Measures a brick in the recorder of the execution graph, including its two clock reads. An invocation is a pass of 23
 * bricks. The recorder is reset before its budget is used up; the reset is measured too.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(3)
@OperationsPerInvocation(GraphBenchmark.BRICKS)
public class GraphBenchmark {

    static final int BRICKS = 23;
    private static final String BRICK = "brick";
    private static final Dim3 GRID = Dim3.of(32, 8);
    private static final Dim3 BLOCK = Dim3.of(256);

    /** An upper bound of the nodes that one pass records. */
    private static final int MARGIN = 4 * BRICKS;

    private final NanoClock clock = NanoClock.SYSTEM;
    private final GraphRecorder on = new GraphRecorder(clock);
    private final GraphRecorder off = new GraphRecorder(clock);
    private final GraphRecorder full = new GraphRecorder(clock, 1);

    /** The last returned id. */
    private int lastId;

    @Setup
    public void prepare() {
        on.enable();
        full.enable();
        full.recordBrick(BRICK, 1, 1);
    }

    private void endPass() {
        on.endPass();
        if (lastId > GraphRecorder.DEFAULT_NODE_BUDGET - MARGIN) {
            on.reset();
        }
    }

    // ---- floor ----

    @Benchmark
    public long floorTwoClockReads() {
        long sum = 0;
        for (int i = 0; i < BRICKS; i++) {
            long start = clock.nanoTime();
            sum += clock.nanoTime() - start;
        }
        return sum;
    }

    // ---- recording ----

    @Benchmark
    public void brickOn() {
        for (int i = 0; i < BRICKS; i++) {
            long start = clock.nanoTime();
            lastId = on.brick(BRICK, start, clock.nanoTime(), 1);
        }
        endPass();
    }

    /** Each brick adopts a kernel, and a layer adopts the bricks. */
    @Benchmark
    public void brickWithKernelInLayerOn() {
        for (int i = 0; i < BRICKS; i++) {
            long start = clock.nanoTime();
            on.recordKernel(BRICK, i, GRID, BLOCK, 0);
            lastId = on.brick(BRICK, start, clock.nanoTime(), 1);
        }
        on.endLayer();
        endPass();
    }

    @Benchmark
    public long brickOff() {
        long sum = 0;
        for (int i = 0; i < BRICKS; i++) {
            long start = clock.nanoTime();
            sum += off.brick(BRICK, start, clock.nanoTime(), 1);
        }
        return sum;
    }

    @Benchmark
    public long brickPastTheBudget() {
        long sum = 0;
        for (int i = 0; i < BRICKS; i++) {
            long start = clock.nanoTime();
            sum += full.brick(BRICK, start, clock.nanoTime(), 1);
        }
        return sum;
    }
}
