package org.brickprofiler.bench;

import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.brickprofiler.trace.TraceRecorder;
import org.brickprofiler.trace.jfr.VirtualMachineStops;
import org.openjdk.jmh.annotations.AuxCounters;
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
 * Runs a path and its floor in turns of a fraction of a millisecond each, in a separate virtual machine. On a shared
 * machine, the speed changes from one second to the next by more than the difference to be shown; here both sides meet
 * the same changes. The counters are the times of each side; the score, which includes both, means nothing.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 4, time = 500, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 3, time = 400, timeUnit = TimeUnit.MILLISECONDS)
@Fork(3)
public class PairedBenchmark {

    /** How often a turn repeats the host's bricks. */
    private static final int HOST_RUNS = 3 * RecordingBenchmark.LAYERS;

    /** The bricks of a thread that a setting keeps for lines: 1 MiB. */
    private static final int LINES_CAPACITY = 43_690;

    /** Work that takes time, and a result that keeps it from being eliminated. */
    @FunctionalInterface
    interface Side {
        long run();
    }

    /**
     * A path and its floor. In a turn both time the same number of bricks.
     *
     * @param floorRuns how often a turn runs the floor
     * @param pathRuns how often a turn runs the path
     * @param after runs after each turn, untimed
     * @param close runs after the last turn
     */
    private record Pair(Side floor, int floorRuns, Side path, int pathRuns, Runnable after, Runnable close) {}

    /** The measured path. */
    public enum Path {
        BY_ID,
        BY_ID_BOUND,
        BY_ID_SECOND_THREAD,
        BY_KEY,
        BY_NAME,
        BY_ALIAS,
        WITH_PERCENTILES,
        WITH_TIMELINE,
        WITH_LINES,
        LAP_BY_ID,
        LAP_BY_KEY,
        SCOPE,
        TILE,
        RECORD,
        DEFERRED,
        MARKED,
        MARKED_BY_LAP,
        MARKED_TO_THE_END,
        UNMARKED,
        UNMARKED_BY_LAP;

        private Pair open() {
            RecordingBenchmark bench = new RecordingBenchmark();
            bench.prepare();
            return switch (this) {
                case BY_ID -> twoReads(bench, bench::startStop);
                case BY_ID_BOUND -> twoReads(bench, bench::startStopBound);
                case BY_ID_SECOND_THREAD -> bySecondThread(bench);
                case BY_KEY -> twoReads(bench, bench::startStopByKey);
                case BY_NAME -> twoReads(bench, bench::startStopByName);
                case BY_ALIAS -> twoReads(bench, bench::startStopByAlias);
                case WITH_PERCENTILES -> twoReads(bench, bench::startStopWithPercentiles);
                case WITH_TIMELINE -> withTimeline(bench);
                case WITH_LINES -> withLines(bench);
                case LAP_BY_ID -> twoReads(bench, bench::lap);
                case LAP_BY_KEY -> twoReads(bench, bench::lapByKey);
                case SCOPE -> twoReads(bench, bench::scope);
                case TILE -> twoReads(bench, bench::tileStartStop);
                case RECORD -> oneRead(bench, bench::record, HOST_RUNS);
                case DEFERRED -> oneRead(bench, bench::deferredAndFinalize, HOST_RUNS / RecordingBenchmark.LAYERS);
                case MARKED -> twoRecords(DeviceBenchmark::marked);
                case MARKED_BY_LAP -> twoRecords(DeviceBenchmark::markedByLap);
                case MARKED_TO_THE_END -> twoRecords(DeviceBenchmark::markedToTheEnd);
                case UNMARKED -> emptyLoop(SampledBenchmark::unmarked);
                case UNMARKED_BY_LAP -> emptyLoop(SampledBenchmark::unmarkedByLap);
            };
        }

        /** Returns the number of bricks in a turn of either side. */
        int bricks() {
            return switch (this) {
                case MARKED, MARKED_BY_LAP, MARKED_TO_THE_END -> DeviceBenchmark.BRICKS;
                case UNMARKED, UNMARKED_BY_LAP -> SampledBenchmark.BRICKS;
                default -> HOST_RUNS * RecordingBenchmark.BRICKS;
            };
        }

        private static Pair bySecondThread(RecordingBenchmark bench) {
            bench.recordElsewhereFirst();
            return twoReads(bench, bench::startStop);
        }

        private static Pair withTimeline(RecordingBenchmark bench) {
            RecordingBenchmark.Traced traced = new RecordingBenchmark.Traced();
            traced.prepare();
            return twoReads(bench, () -> bench.startStopTraced(traced));
        }

        /** Returns the bricks while stacks are sampled, over those without a recorder. */
        private static Pair withLines(RecordingBenchmark bench) {
            TraceRecorder recorder = TraceRecorder.builder()
                    .lines(true)
                    .threadCapacity(LINES_CAPACITY)
                    .build();
            RecordingBenchmark.Traced lined = new RecordingBenchmark.Traced(recorder);
            lined.prepare();
            VirtualMachineStops samples = VirtualMachineStops.of(recorder);
            return new Pair(
                    side(bench::startStop),
                    HOST_RUNS,
                    side(() -> bench.startStopTraced(lined)),
                    HOST_RUNS,
                    () -> {},
                    samples::close);
        }

        private static Pair twoReads(RecordingBenchmark bench, Runnable path) {
            return new Pair(bench::floorTwoClockReads, HOST_RUNS, side(path), HOST_RUNS, () -> {}, () -> {});
        }

        private static Pair oneRead(RecordingBenchmark bench, Runnable path, int runs) {
            return new Pair(bench::floorOneClockRead, HOST_RUNS, side(path), runs, () -> {}, () -> {});
        }

        private static Pair twoRecords(Consumer<DeviceBenchmark> path) {
            DeviceBenchmark bench = new DeviceBenchmark();
            bench.prepare();
            return new Pair(
                    side(bench::floorTwoEventRecords),
                    1,
                    side(() -> path.accept(bench)),
                    1,
                    bench::endPass,
                    bench::close);
        }

        private static Pair emptyLoop(Consumer<SampledBenchmark> path) {
            SampledBenchmark bench = new SampledBenchmark();
            bench.prepare();
            return new Pair(bench::floorEmptyLoop, 1, side(() -> path.accept(bench)), 1, bench::endPass, bench::close);
        }

        private static Side side(Runnable path) {
            return () -> {
                path.run();
                return 0;
            };
        }
    }

    /** The times of the turns of an iteration. JMH sums the counters of all iterations. */
    @AuxCounters(AuxCounters.Type.EVENTS)
    @State(Scope.Thread)
    public static class Turns {
        private static final int MOST = 1 << 16;

        private final long[] floorNs = new long[MOST];
        private final long[] pathNs = new long[MOST];
        private int count;

        @Setup(Level.Iteration)
        public void begin() {
            count = 0;
        }

        void add(long ofFloorNs, long ofPathNs) {
            if (count < MOST) {
                floorNs[count] = ofFloorNs;
                pathNs[count] = ofPathNs;
                count++;
            }
        }

        /** Returns 1 for each iteration. */
        public long iterations() {
            return 1;
        }

        /** Returns the mean time of a turn of the floor, ns. */
        public double floorAvgNs() {
            return Arrays.stream(floorNs, 0, count).average().orElse(Double.NaN);
        }

        /** Returns the mean time of a turn of the path, ns. */
        public double pathAvgNs() {
            return Arrays.stream(pathNs, 0, count).average().orElse(Double.NaN);
        }

        /** Returns the 10th percentile of the floor's turns, ns. */
        public double floorQuietNs() {
            return tenth(floorNs, count);
        }

        /** Returns the 10th percentile of the path's turns, ns. */
        public double pathQuietNs() {
            return tenth(pathNs, count);
        }

        private static double tenth(long[] turns, int count) {
            long[] sorted = Arrays.copyOf(turns, count);
            Arrays.sort(sorted);
            return count == 0 ? Double.NaN : sorted[count / 10];
        }
    }

    @Param
    public Path path;

    private Pair pair;

    @Setup
    public void open() {
        pair = path.open();
    }

    @TearDown
    public void close() {
        pair.close.run();
    }

    @Benchmark
    public long turns(Turns turns) {
        Pair both = pair;
        long result = 0;
        long beganNs = System.nanoTime();
        for (int i = 0; i < both.floorRuns; i++) {
            result += both.floor.run();
        }
        long floorNs = System.nanoTime() - beganNs;
        both.after.run();
        beganNs = System.nanoTime();
        for (int i = 0; i < both.pathRuns; i++) {
            result += both.path.run();
        }
        turns.add(floorNs, System.nanoTime() - beganNs);
        both.after.run();
        return result;
    }
}
