package org.brickprofiler.trace.jfr;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.Arrays;
import java.util.Locale;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Blocks of an engine's steps with and without a flight recording, in turns, in one process. The start and the end of a
 * recording lie outside of the blocks. The processor times of the engine's thread and of the whole process are
 * compared, because other programs of a machine change the time by a clock much more. One thread: that of the engine.
 */
final class RecordedBlocks {

    /** At least two readings of the stream, which happen each second. Short blocks have less of a machine's drift. */
    private static final long BLOCK_NS = 2_000_000_000L;

    private static final long SETTLE_NS = 1_000_000_000L;

    private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    private final OperatingSystemMXBean process = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    private final Runnable step;
    private final Supplier<VirtualMachineStops> recording;
    private long steps;
    private double startNs;

    /** The processor time of the thread that reads the stream, ns, and the time of the blocks with it. */
    private double readerNs;

    private double readBlocksNs;

    /** The processor time of a step, ns: of the engine's thread, and of the process. */
    private record Cost(double ofThread, double ofProcess) {}

    RecordedBlocks(Runnable step, Supplier<VirtualMachineStops> recording) {
        this.step = step;
        this.recording = recording;
    }

    /**
     * Runs pairs of blocks, and prints what the recording adds: medians with their 95 % intervals, and quartiles.
     *
     * @param what the step, in words
     */
    void compare(int pairs, String what) {
        block(true);
        startNs = 0;
        readerNs = 0;
        readBlocksNs = 0;
        double[] ofThread = new double[pairs];
        double[] ofProcess = new double[pairs];
        double stepNs = 0;
        for (int pair = 0; pair < pairs; pair++) {
            boolean isFirst = pair % 2 == 0;
            Cost one = block(isFirst);
            Cost two = block(!isFirst);
            Cost with = isFirst ? one : two;
            Cost without = isFirst ? two : one;
            ofThread[pair] = with.ofThread() / without.ofThread();
            ofProcess[pair] = with.ofProcess() / without.ofProcess();
            stepNs += without.ofThread() / pairs;
        }
        System.out.printf(Locale.ROOT, "%s, %.0f us of processor time, %d pairs%n", what, stepNs / 1e3, pairs);
        System.out.println(line("thread of the engine", ofThread));
        System.out.println(line("process", ofProcess));
        System.out.printf(
                Locale.ROOT,
                "start of a recording: %.0f ms of processor time; reader of the stream: %.2f %% of a processor%n",
                startNs / pairs / 1e6,
                100 * readerNs / readBlocksNs);
    }

    private Cost block(boolean isRecorded) {
        @Nullable VirtualMachineStops stops = null;
        if (isRecorded) {
            startNs -= process.getProcessCpuTime();
            stops = recording.get();
            startNs += process.getProcessCpuTime();
        }
        run(SETTLE_NS);
        long first = steps;
        long threadNs = -threads.getCurrentThreadCpuTime();
        long processNs = -process.getProcessCpuTime();
        readerNs -= readerTimeNs();
        run(BLOCK_NS);
        readerNs += readerTimeNs();
        readBlocksNs += isRecorded ? BLOCK_NS : 0;
        threadNs += threads.getCurrentThreadCpuTime();
        processNs += process.getProcessCpuTime();
        double done = steps - first;
        if (stops != null) {
            stops.close();
        }
        return new Cost(threadNs / done, processNs / done);
    }

    private void run(long ns) {
        long untilNs = System.nanoTime() + ns;
        while (System.nanoTime() < untilNs) {
            step.run();
            steps++;
        }
    }

    /** Returns the processor time of the thread that reads the stream so far, ns; 0 without one. */
    private long readerTimeNs() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().equals("brick-stops"))
                .mapToLong(thread -> threads.getThreadCpuTime(thread.getId()))
                .sum();
    }

    /** The interval of the median is that between two order statistics, by the normal approximation of their ranks. */
    private static String line(String name, double[] ratios) {
        Arrays.sort(ratios);
        int n = ratios.length;
        int low = (int) Math.max(0, Math.floor((n - 1.96 * Math.sqrt(n)) / 2));
        return String.format(
                Locale.ROOT,
                "%s: median %+.2f %% (95 %% %+.2f .. %+.2f; quartiles %+.2f .. %+.2f)",
                name,
                100 * (ratios[n / 2] - 1),
                100 * (ratios[low] - 1),
                100 * (ratios[n - 1 - low] - 1),
                100 * (ratios[n / 4] - 1),
                100 * (ratios[n - 1 - n / 4] - 1));
    }
}
