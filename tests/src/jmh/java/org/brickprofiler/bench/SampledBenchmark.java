package org.brickprofiler.bench;

import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.function.ToLongFunction;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.BrickStats;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Measures the host's cost of a brick without marks on a CUDA stream, over the <b>simulated driver</b>, beside the
 * empty loop. The profiler marks one brick in {@value #EVERY}, so nearly all bricks are counted alone; the mark of the
 * others is in the result, about 0.1 ns a brick. An invocation is a pass of {@value #LAYERS} layers of 12 bricks. The
 * mark at its start is set before, by the first brick of the pass, and the mark at its end after it.
 *
 * <p>{@link #close} fails if more than one brick in {@value #EVERY} / 4 had marks.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(3)
@OperationsPerInvocation(SampledBenchmark.BRICKS)
public class SampledBenchmark {

    static final int LAYERS = 768;
    static final int BRICKS = LAYERS * 12;

    /** One brick in this many has marks, once a row has passed the shorter blocks of its beginning. */
    static final int EVERY = 4_096;

    /** Covers the shorter blocks: 32 of one brick, and 16 each of 2, 4, 8, ... up to half of the longest. */
    private static final int FIRST_PASSES = (32 + 16 * EVERY) / LAYERS + 1;

    private final BrickId[] ids = Arrays.copyOf(BrickId.values(), 12);
    private final BrickId wanted = ids[11];
    private final DeviceBenchmark device = new DeviceBenchmark(EVERY);

    private BrickProfiler profiler;
    private long firstMarked;
    private long firstUnmarked;

    /** Runs the bricks of which more are marked, and begins a pass. */
    @Setup
    public void prepare() {
        device.prepare();
        profiler = device.profiler();
        for (int pass = 0; pass < FIRST_PASSES; pass++) {
            unmarked();
            endPass();
        }
        firstMarked = sum(brick -> brick.device().measured());
        firstUnmarked = sum(brick -> brick.device().unmarked());
    }

    /** Ends the pass, and begins the next one by a brick, which sets the mark at its start. */
    @TearDown(Level.Invocation)
    public void endPass() {
        device.endPass();
        profiler.stopBrick(profiler.startBrick(wanted), 1);
    }

    /** Checks that hardly any brick was marked, and releases all resources. */
    @TearDown
    public void close() {
        device.endPass();
        long marked = sum(brick -> brick.device().measured()) - firstMarked;
        long unmarked = sum(brick -> brick.device().unmarked()) - firstUnmarked;
        device.close();
        if (unmarked < BRICKS || marked > 4 * unmarked / EVERY) {
            throw new IllegalStateException(marked + " bricks were marked beside " + unmarked + " unmarked ones");
        }
    }

    private long sum(ToLongFunction<BrickStats> figure) {
        return Arrays.stream(ids).map(profiler::brickStats).mapToLong(figure).sum();
    }

    // ---- floor ----

    /** The loop of {@link #unmarked}: each brick is compared, so that the loop is not eliminated. */
    @Benchmark
    public long floorEmptyLoop() {
        long sum = 0;
        for (int layer = 0; layer < LAYERS; layer++) {
            for (BrickId id : ids) {
                sum += id == wanted ? 1 : 0;
            }
        }
        return sum;
    }

    // ---- bricks without marks ----

    @Benchmark
    public void unmarked() {
        for (int layer = 0; layer < LAYERS; layer++) {
            for (BrickId id : ids) {
                profiler.stopBrick(profiler.startBrick(id), 1);
            }
        }
    }

    @Benchmark
    public void unmarkedByLap() {
        long timer = profiler.startBrick(wanted);
        for (int layer = 0; layer < LAYERS; layer++) {
            for (BrickId id : ids) {
                timer = profiler.lap(timer, 1, id);
            }
        }
        profiler.stopBrick(timer, 1);
    }
}
