package org.brickprofiler.bench;

import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.BrickScope;
import org.brickprofiler.ThreadProfiler;
import org.brickprofiler.tile.TileLevel;
import org.brickprofiler.tile.TileProfiler;
import org.brickprofiler.trace.TraceRecorder;
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
 * Measures one sample on each path, 23 bricks in rotation. The floor of a path is the part that it cannot avoid: its
 * clock reads, or the loop.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(3)
@OperationsPerInvocation(RecordingBenchmark.BRICKS)
public class RecordingBenchmark {

    static final int BRICKS = 23;
    static final int LAYERS = 16;

    /** As many aliases as exist, in rotation. */
    private static final String[] ALIASES = {
        "Qkv", "Rope", "RoPE", "Softmax", "OutProj", "Gate", "Up", "SiLU", "GELU", "ReLU", "Down", "Embed", "Head",
        "Sample", "spmv", "spmm", "fft1d", "FFT", "fft2d", "LU", "QR", "SVD", "Qkv"
    };

    private final BrickId[] ids = Arrays.copyOf(BrickId.values(), BRICKS);
    private final BrickId wanted = ids[BRICKS - 1];
    private final BrickProfiler on = BrickProfiler.enabled();
    private final BrickProfiler withPercentiles =
            BrickProfiler.builder().percentiles(true).build();
    private final BrickProfiler off = new BrickProfiler();
    private final TileProfiler tiles = on.tiles();
    private final int[] keys = new int[BRICKS];
    private final String[] names = new String[BRICKS];

    /** A profiler whose samples go to a timeline, too. */
    @State(Scope.Thread)
    public static class Traced {
        final BrickProfiler profiler;

        public Traced() {
            this(new TraceRecorder());
        }

        Traced(TraceRecorder recorder) {
            profiler = BrickProfiler.builder().tracing(recorder).build();
        }

        @Setup
        public void prepare() {
            profiler.enable();
        }
    }

    /** The timer that runs from one lap to the next, and past the end of an invocation. */
    private long running;

    /** The recorder of the measuring thread. */
    private ThreadProfiler bound = on.forThisThread();

    @Setup
    public void prepare() {
        bound = on.forThisThread();
        withPercentiles.enable();
        tiles.enable();
        for (int i = 0; i < BRICKS; i++) {
            // A new object for each name: an application also builds its names, so no name is found by identity alone.
            names[i] = "custom-" + i;
            keys[i] = on.brickKey("custom-" + i);
        }
    }

    /** Lets another thread record before the measuring thread does, so that the measuring thread must be looked up. */
    void recordElsewhereFirst() {
        Thread other = new Thread(() -> {
            startStop();
            LockSupport.park();
        });
        other.setDaemon(true);
        other.start();
        while (on.brickStats(wanted).count() == 0) {
            Thread.onSpinWait();
        }
    }

    // ---- floors ----

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

    /** The loop of {@link #startStopOff}: each brick is compared, so that the loop is not eliminated. */
    @Benchmark
    public long floorEmptyLoop() {
        long sum = 0;
        for (BrickId id : ids) {
            sum += id == wanted ? 1 : 0;
        }
        return sum;
    }

    // ---- timers ----

    @Benchmark
    public void startStop() {
        for (BrickId id : ids) {
            on.stopBrick(on.startBrick(id), 1);
        }
    }

    @Benchmark
    public void startStopBound() {
        ThreadProfiler mine = bound;
        for (BrickId id : ids) {
            mine.stopBrick(mine.startBrick(id), 1);
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
    public void startStopByAlias() {
        for (String alias : ALIASES) {
            on.stopBrick(on.startBrick(alias), 1);
        }
    }

    @Benchmark
    public void startStopWithPercentiles() {
        for (BrickId id : ids) {
            withPercentiles.stopBrick(withPercentiles.startBrick(id), 1);
        }
    }

    @Benchmark
    public void startStopTraced(Traced timeline) {
        BrickProfiler traced = timeline.profiler;
        for (BrickId id : ids) {
            traced.stopBrick(traced.startBrick(id), 1);
        }
    }

    @Benchmark
    public void lap() {
        long timer = running;
        for (BrickId id : ids) {
            timer = on.lap(timer, 1, id);
        }
        running = timer;
    }

    @Benchmark
    public void lapByKey() {
        long timer = running;
        for (int key : keys) {
            timer = on.lap(timer, 1, key);
        }
        running = timer;
    }

    @Benchmark
    public void scope() {
        for (BrickId id : ids) {
            try (BrickScope scope = on.scope(id, 1)) {
                // Empty: the cost of the scope alone.
            }
        }
    }

    @Benchmark
    public long startStopOff() {
        long sum = 0;
        for (BrickId id : ids) {
            long timer = off.startBrick(id);
            off.stopBrick(timer, 1);
            sum += timer;
        }
        return sum;
    }

    @Benchmark
    public void tileStartStop() {
        for (int i = 0; i < BRICKS; i++) {
            tiles.stop(tiles.start(TileLevel.MIDI, i, i), 1, 2);
        }
    }

    // ---- external durations, and deferred ones ----

    @Benchmark
    public void record() {
        long elapsedNs = 1_000;
        for (BrickId id : ids) {
            on.record(id, elapsedNs++, 1);
        }
    }

    /** A pass of some layers, with one synchronisation. */
    @Benchmark
    @OperationsPerInvocation(RecordingBenchmark.LAYERS * RecordingBenchmark.BRICKS)
    public void deferredAndFinalize() {
        for (int layer = 0; layer < LAYERS; layer++) {
            for (BrickId id : ids) {
                on.recordDeferred(id, on.elapsedNs(), 1);
            }
        }
        on.finalize(on.elapsedNs());
    }
}
