package org.brickprofiler.trace.jfr;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;
import java.util.Locale;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.StepInfo;
import org.brickprofiler.trace.LineProfile;
import org.brickprofiler.trace.TraceRecorder;
import org.jspecify.annotations.Nullable;

/**
 * The cost of a token while a flight recording samples the lines of its bricks. An engine decodes tokens of 368 bricks.
 * Blocks with and without the recording alternate in one process, first one and then the other kind within a pair; the
 * timeline of the bricks is recorded in both. The start and the end of a recording are left out of the blocks, and
 * printed. The processor times of the engine's thread and of the whole process are compared, because other programs of
 * a machine change the time by a clock much more.
 *
 * <p>Arguments: the pairs, 8 by default, and the work of a brick, 60 by default.
 */
public final class LinesStudy {

    private static final int LAYERS = 16;
    private static final BrickId[] BRICKS = Arrays.copyOf(BrickId.values(), 23);
    private static final long BLOCK_NS = 5_000_000_000L;
    private static final long SETTLE_MS = 2_500;
    private static final int FLOATS = 1 << 8;

    private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    private final OperatingSystemMXBean process = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    private final TraceRecorder recorder =
            TraceRecorder.builder().lines(true).threadCapacity(43_690).build();
    private final BrickProfiler profiler =
            BrickProfiler.builder().tracing(recorder).build();
    private final float[] data = new float[FLOATS];
    private final int rounds;
    private float result;
    private long steps;
    private double startNs;

    /** The processor time of the thread that reads the stream, ns, and the time of the blocks with it. */
    private double readerNs;

    private double readBlocksNs;

    /** The processor time of a token, ns: of the engine's thread, and of the process. */
    private record Cost(double ofThread, double ofProcess) {}

    private LinesStudy(int rounds) {
        this.rounds = rounds;
        profiler.enable();
    }

    private void step() {
        profiler.beginStep(StepInfo.decode(1));
        for (int layer = 0; layer < LAYERS; layer++) {
            long timer = profiler.startBrick(BRICKS[0]);
            for (int brick = 1; brick <= BRICKS.length; brick++) {
                for (int round = 0; round < rounds; round++) {
                    for (float each : data) {
                        result += each * 0.5f + round;
                    }
                }
                timer = profiler.lap(timer, 1, BRICKS[brick % BRICKS.length]);
            }
        }
        profiler.endPass();
        steps++;
    }

    private void run(long ns) {
        long untilNs = System.nanoTime() + ns;
        while (System.nanoTime() < untilNs) {
            step();
        }
    }

    private Cost block(boolean samples) {
        @Nullable VirtualMachineStops stops = null;
        if (samples) {
            startNs -= process.getProcessCpuTime();
            stops = VirtualMachineStops.of(recorder);
            startNs += process.getProcessCpuTime();
        }
        run(SETTLE_MS * 1_000_000);
        long first = steps;
        long threadNs = -threads.getCurrentThreadCpuTime();
        long processNs = -process.getProcessCpuTime();
        readerNs -= readerTimeNs();
        run(BLOCK_NS);
        readerNs += readerTimeNs();
        readBlocksNs += samples ? BLOCK_NS : 0;
        threadNs += threads.getCurrentThreadCpuTime();
        processNs += process.getProcessCpuTime();
        double done = steps - first;
        if (stops != null) {
            stops.close();
        }
        return new Cost(threadNs / done, processNs / done);
    }

    /** Returns the processor time of the thread that reads the stream so far, ns; 0 without one. */
    private long readerTimeNs() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().equals("brick-stops"))
                .mapToLong(thread -> threads.getThreadCpuTime(thread.getId()))
                .sum();
    }

    private static String line(String name, double[] ratios) {
        Arrays.sort(ratios);
        return String.format(
                Locale.ROOT,
                "%s: median %+.2f %% (%+.2f .. %+.2f)",
                name,
                100 * (ratios[ratios.length / 2] - 1),
                100 * (ratios[ratios.length / 4] - 1),
                100 * (ratios[ratios.length - 1 - ratios.length / 4] - 1));
    }

    /**
     * Runs the study.
     *
     * @param arguments the number of pairs, and the work of a brick
     */
    public static void main(String[] arguments) {
        int pairs = arguments.length == 0 || arguments[0].isEmpty() ? 8 : Integer.parseInt(arguments[0]);
        LinesStudy study = new LinesStudy(arguments.length < 2 ? 60 : Integer.parseInt(arguments[1]));
        study.block(true);
        study.startNs = 0;
        study.readerNs = 0;
        study.readBlocksNs = 0;
        double[] ofThread = new double[pairs];
        double[] ofProcess = new double[pairs];
        double tokenNs = 0;
        for (int pair = 0; pair < pairs; pair++) {
            boolean isFirst = pair % 2 == 0;
            Cost one = study.block(isFirst);
            Cost two = study.block(!isFirst);
            Cost with = isFirst ? one : two;
            Cost without = isFirst ? two : one;
            ofThread[pair] = with.ofThread() / without.ofThread();
            ofProcess[pair] = with.ofProcess() / without.ofProcess();
            tokenNs += without.ofThread() / pairs;
        }
        LineProfile lines = study.recorder.lines().orElseThrow();
        System.out.printf(
                Locale.ROOT,
                "a token of %d bricks, %.0f us of processor time, %d pairs (%s)%n",
                LAYERS * BRICKS.length,
                tokenNs / 1e3,
                pairs,
                study.result > 0 ? "done" : "nothing done");
        System.out.println(line("thread of the engine", ofThread));
        System.out.println(line("process", ofProcess));
        System.out.printf(
                Locale.ROOT,
                "start of a recording: %.0f ms of processor time; reader of the stream: %.2f %% of a processor%n",
                study.startNs / pairs / 1e6,
                100 * study.readerNs / study.readBlocksNs);
        System.out.println(lines.samples());
    }
}
