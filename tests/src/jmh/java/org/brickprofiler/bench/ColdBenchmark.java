package org.brickprofiler.bench;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.perfmark.PerfMark;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.SingleWriterRecorder;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.StepInfo;
import org.brickprofiler.ThreadProfiler;
import org.openjdk.jmh.annotations.AuxCounters;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.CompilerControl;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Measures recording after its data has left the caches, as it does while a matrix product reads its weights: a buffer
 * is read before each shot, and a shot times one path. The paths take turns in random order in one virtual machine, so
 * that all meet the same state of the machine. Before the first turn each path runs until it is compiled; a path that
 * ran only once after each reading of the buffer would still be interpreted.
 *
 * <p>The counters are the median of each path, ns; the score, which includes the reading of the buffer, means nothing.
 * Four instances of each tool take turns, since the cost of one depends on the pages on which its objects lie.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.SingleShotTime)
@OutputTimeUnit(TimeUnit.MILLISECONDS)
@Warmup(iterations = 0)
@Measurement(iterations = 1)
@Fork(
        value = 3,
        jvmArgsAppend = {"-Xms1g", "-Xmx1g", "-Xmn32m", "-Xbatch"})
public class ColdBenchmark {

    /** The index of the first long of the row of {@link #oneRow}, on another page than the length of its array. */
    private static final int ROW = 1 << 10;

    private static final int BRICKS = RecordingBenchmark.BRICKS;
    private static final int STEP_THREADS = 8;

    private static final int INSTANCES = 4;

    private static final BrickId[] IDS = Arrays.copyOf(BrickId.values(), BRICKS);
    private static final StepInfo DECODE = StepInfo.decode(100);

    private static final int WARMUP_CALLS = 30_000;
    private static final int SLOW_STEPS = 16;
    private static final long SLOW_STEP_NS = 5_000_000;

    /** The number of garbage arrays of 256 KiB: enough for the young collections after which an object is promoted. */
    private static final int GARBAGE_ARRAYS = 4_000;

    private final Tools[] tools = new Tools[INSTANCES];

    /** A measured path. */
    private enum Path {
        TWO_CLOCK_READS,
        ONE_ROW,
        BRICK,
        BOUND,
        VARIABLE,
        WITH_PERCENTILES,
        LAP,
        STEP,
        STEP_AFTER_THREADS,
        STEP_OF_BRICKS,
        STEP_OF_BRICKS_WITH_PERCENTILES,
        PERF_MARK,
        HDR_SINGLE_WRITER,
        MICROMETER_RECORD,
        MICROMETER_SAMPLE;

        /** Runs the path once, and returns the ns between a clock read before it and one after it. */
        long shoot(Tools tools) {
            return switch (this) {
                case TWO_CLOCK_READS -> twoClockReads();
                case ONE_ROW -> oneRow(tools.rows);
                case BRICK -> brick(tools.plain);
                case BOUND -> bound(tools.bound);
                case VARIABLE -> variable(tools.varied, tools.id);
                case WITH_PERCENTILES -> withPercentiles(tools.percentiles);
                case LAP -> lap(tools.lapped);
                case STEP -> step(tools.stepped);
                case STEP_AFTER_THREADS -> stepAfterThreads(tools.steppedByThreads);
                case STEP_OF_BRICKS -> stepOfBricks(tools.wholeSteps);
                case STEP_OF_BRICKS_WITH_PERCENTILES -> stepOfBricks(tools.wholeStepsWithPercentiles);
                case PERF_MARK -> perfMark();
                case HDR_SINGLE_WRITER -> hdrSingleWriter(tools.hdr);
                case MICROMETER_RECORD -> micrometerRecord(tools.recorded);
                case MICROMETER_SAMPLE -> micrometerSample(tools.meters, tools.sampled);
            };
        }
    }

    /** The measured tools, each in use by one path alone; made by the measuring thread. */
    private static final class Tools {
        final long[] rows = new long[2 * ROW];
        final BrickProfiler plain = BrickProfiler.enabled();
        final BrickProfiler varied = BrickProfiler.enabled();
        final BrickProfiler lapped = BrickProfiler.enabled();
        final ThreadProfiler bound = BrickProfiler.enabled().forThisThread();
        final BrickProfiler percentiles = enabledWithPercentiles();
        final BrickProfiler stepped = BrickProfiler.enabled();
        final BrickProfiler steppedByThreads = BrickProfiler.enabled();
        final BrickProfiler wholeSteps = BrickProfiler.enabled();
        final BrickProfiler wholeStepsWithPercentiles = enabledWithPercentiles();
        final SingleWriterRecorder hdr = new SingleWriterRecorder(TimeUnit.MINUTES.toNanos(18), 2);
        final MeterRegistry meters = new SimpleMeterRegistry();
        final Timer recorded = meters.timer("recorded");
        final Timer sampled = meters.timer("sampled");

        BrickId id = IDS[0];

        private static BrickProfiler enabledWithPercentiles() {
            BrickProfiler profiler = BrickProfiler.builder().percentiles(true).build();
            profiler.enable();
            return profiler;
        }

        private List<BrickProfiler> steppedOnes() {
            return List.of(stepped, steppedByThreads, wholeSteps, wholeStepsWithPercentiles);
        }
    }

    /** The medians of the shots. */
    @AuxCounters(AuxCounters.Type.EVENTS)
    @State(Scope.Thread)
    public static class Medians {
        private final Map<Path, Double> ns = new EnumMap<>(Path.class);

        public double twoClockReads() {
            return of(Path.TWO_CLOCK_READS);
        }

        public double oneRow() {
            return of(Path.ONE_ROW);
        }

        public double brick() {
            return of(Path.BRICK);
        }

        public double bound() {
            return of(Path.BOUND);
        }

        public double variable() {
            return of(Path.VARIABLE);
        }

        public double withPercentiles() {
            return of(Path.WITH_PERCENTILES);
        }

        public double lap() {
            return of(Path.LAP);
        }

        public double step() {
            return of(Path.STEP);
        }

        public double stepAfterThreads() {
            return of(Path.STEP_AFTER_THREADS);
        }

        public double stepOfBricks() {
            return of(Path.STEP_OF_BRICKS);
        }

        public double stepOfBricksWithPercentiles() {
            return of(Path.STEP_OF_BRICKS_WITH_PERCENTILES);
        }

        public double perfMark() {
            return of(Path.PERF_MARK);
        }

        public double hdrSingleWriter() {
            return of(Path.HDR_SINGLE_WRITER);
        }

        public double micrometerRecord() {
            return of(Path.MICROMETER_RECORD);
        }

        public double micrometerSample() {
            return of(Path.MICROMETER_SAMPLE);
        }

        private double of(Path path) {
            return ns.getOrDefault(path, Double.NaN);
        }
    }

    /**
     * Compiles the paths, and moves the tools' objects to the old generation, as in an engine that has run for a while.
     */
    @Setup
    public void prepare() throws InterruptedException {
        PerfMark.setEnabled(true);
        for (int i = 0; i < INSTANCES; i++) {
            tools[i] = new Tools();
            recordByThreads(tools[i].steppedByThreads);
            recordInStep(tools[i].stepped);
            tools[i].steppedOnes().forEach(ColdBenchmark::recordSlowSteps);
        }
        // Run the steps of one profiler alone, so that the compiler sees how few of its steps a process keeps.
        for (int i = 0; i < WARMUP_CALLS; i++) {
            shoot(Path.STEP, tools[0]);
        }
        for (int i = 0; i < WARMUP_CALLS; i++) {
            Tools used = tools[i % INSTANCES];
            used.id = IDS[i % BRICKS];
            for (Path path : Path.values()) {
                shoot(path, used);
            }
        }
        byte[][] garbage = new byte[8][];
        for (int i = 0; i < GARBAGE_ARRAYS; i++) {
            garbage[i % garbage.length] = new byte[1 << 18];
        }
    }

    private static void shoot(Path path, Tools tools) {
        if (path.shoot(tools) < 0) {
            throw new IllegalStateException("the clock ran backwards in " + path);
        }
    }

    /** Leaves rows of several threads that are alive, all in the phase of the measured steps. */
    private static void recordByThreads(BrickProfiler profiler) throws InterruptedException {
        CountDownLatch recorded = new CountDownLatch(STEP_THREADS - 1);
        profiler.beginStep(DECODE);
        recordAll(profiler);
        for (int i = 1; i < STEP_THREADS; i++) {
            Thread thread = new Thread(() -> {
                recordAll(profiler);
                recorded.countDown();
                while (true) {
                    LockSupport.park();
                }
            });
            thread.setDaemon(true);
            thread.start();
        }
        recorded.await();
        profiler.endPass();
    }

    /**
     * Records steps that are slower than any measured one: a typical step is not one of the slowest, which are kept.
     */
    private static void recordSlowSteps(BrickProfiler profiler) {
        for (int i = 0; i < SLOW_STEPS; i++) {
            profiler.beginStep(DECODE);
            LockSupport.parkNanos(SLOW_STEP_NS);
            profiler.endPass();
        }
    }

    private static void recordInStep(BrickProfiler profiler) {
        profiler.beginStep(DECODE);
        recordAll(profiler);
        profiler.endPass();
    }

    private static void recordAll(BrickProfiler profiler) {
        for (BrickId id : IDS) {
            profiler.record(id, 1_000, 1);
        }
    }

    @Benchmark
    public void turns(Medians medians, Weights weights) {
        weights.load();
        List<Path> order = Arrays.asList(Path.values());
        Random random = new Random(weights.megabytes);
        int shots = weights.shots();
        Map<Path, long[]> ns = new EnumMap<>(Path.class);
        order.forEach(path -> ns.put(path, new long[shots]));
        for (int shot = 0; shot < shots; shot++) {
            Collections.shuffle(order, random);
            Tools used = tools[shot % INSTANCES];
            for (Path path : order) {
                used.id = IDS[random.nextInt(BRICKS)];
                long[] ofPath = Objects.requireNonNull(ns.get(path), path::name);
                weights.read();
                ofPath[shot] = path.shoot(used);
            }
        }
        ns.forEach((path, ofPath) -> medians.ns.put(path, Weights.median(ofPath)));
    }

    // The paths are not inlined, so that the tool is in a register when the clock is first read: loading it is not part
    // of a path.

    // ---- floors ----

    @CompilerControl(CompilerControl.Mode.DONT_INLINE)
    private static long twoClockReads() {
        long beganNs = System.nanoTime();
        long startNs = System.nanoTime();
        long stopNs = System.nanoTime();
        // The sign is 0: it only keeps both readings from being eliminated.
        return System.nanoTime() - beganNs + ((stopNs - startNs) >>> (Long.SIZE - 1));
    }

    /** Two clock reads, and the stores of a row whose place is known. */
    @CompilerControl(CompilerControl.Mode.DONT_INLINE)
    private static long oneRow(long[] rows) {
        long beganNs = System.nanoTime();
        long startNs = System.nanoTime();
        long stopNs = System.nanoTime();
        rows[ROW]++;
        rows[ROW + 1] += stopNs - startNs;
        rows[ROW + 2] = Math.min(rows[ROW + 2], stopNs - startNs);
        rows[ROW + 3] = Math.max(rows[ROW + 3], stopNs - startNs);
        rows[ROW + 4] = stopNs;
        return System.nanoTime() - beganNs;
    }

    // ---- samples ----

    @CompilerControl(CompilerControl.Mode.DONT_INLINE)
    private static long brick(BrickProfiler profiler) {
        long beganNs = System.nanoTime();
        profiler.stopBrick(profiler.startBrick(BrickId.RMS_NORM), 1);
        return System.nanoTime() - beganNs;
    }

    @CompilerControl(CompilerControl.Mode.DONT_INLINE)
    private static long bound(ThreadProfiler profiler) {
        long beganNs = System.nanoTime();
        profiler.stopBrick(profiler.startBrick(BrickId.RMS_NORM), 1);
        return System.nanoTime() - beganNs;
    }

    @CompilerControl(CompilerControl.Mode.DONT_INLINE)
    private static long variable(BrickProfiler profiler, BrickId id) {
        long beganNs = System.nanoTime();
        profiler.stopBrick(profiler.startBrick(id), 1);
        return System.nanoTime() - beganNs;
    }

    @CompilerControl(CompilerControl.Mode.DONT_INLINE)
    private static long withPercentiles(BrickProfiler profiler) {
        long beganNs = System.nanoTime();
        profiler.stopBrick(profiler.startBrick(BrickId.RMS_NORM), 1);
        return System.nanoTime() - beganNs;
    }

    @CompilerControl(CompilerControl.Mode.DONT_INLINE)
    private static long lap(BrickProfiler profiler) {
        long beganNs = System.nanoTime();
        long timer = profiler.startBrick(BrickId.RMS_NORM);
        timer = profiler.lap(timer, 1, BrickId.QKV_PROJECTION);
        profiler.stopBrick(timer, 1);
        return System.nanoTime() - beganNs;
    }

    // ---- steps ----

    @CompilerControl(CompilerControl.Mode.DONT_INLINE)
    private static long step(BrickProfiler profiler) {
        long beganNs = System.nanoTime();
        profiler.beginStep(DECODE);
        profiler.endPass();
        return System.nanoTime() - beganNs;
    }

    @CompilerControl(CompilerControl.Mode.DONT_INLINE)
    private static long stepAfterThreads(BrickProfiler profiler) {
        long beganNs = System.nanoTime();
        profiler.beginStep(DECODE);
        profiler.endPass();
        return System.nanoTime() - beganNs;
    }

    @CompilerControl(CompilerControl.Mode.DONT_INLINE)
    private static long stepOfBricks(BrickProfiler profiler) {
        long beganNs = System.nanoTime();
        profiler.beginStep(DECODE);
        for (BrickId id : IDS) {
            profiler.stopBrick(profiler.startBrick(id), 1);
        }
        profiler.endPass();
        return System.nanoTime() - beganNs;
    }

    // ---- other tools ----

    @CompilerControl(CompilerControl.Mode.DONT_INLINE)
    private static long perfMark() {
        long beganNs = System.nanoTime();
        PerfMark.startTask("RmsNorm");
        PerfMark.stopTask("RmsNorm");
        return System.nanoTime() - beganNs;
    }

    @CompilerControl(CompilerControl.Mode.DONT_INLINE)
    private static long hdrSingleWriter(SingleWriterRecorder recorder) {
        long beganNs = System.nanoTime();
        long startNs = System.nanoTime();
        recorder.recordValue(System.nanoTime() - startNs);
        return System.nanoTime() - beganNs;
    }

    @CompilerControl(CompilerControl.Mode.DONT_INLINE)
    private static long micrometerRecord(Timer timer) {
        long beganNs = System.nanoTime();
        long startNs = System.nanoTime();
        timer.record(System.nanoTime() - startNs, TimeUnit.NANOSECONDS);
        return System.nanoTime() - beganNs;
    }

    @CompilerControl(CompilerControl.Mode.DONT_INLINE)
    private static long micrometerSample(MeterRegistry meters, Timer timer) {
        long beganNs = System.nanoTime();
        Timer.start(meters).stop(timer);
        return System.nanoTime() - beganNs;
    }
}
