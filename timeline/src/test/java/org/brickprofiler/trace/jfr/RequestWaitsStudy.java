package org.brickprofiler.trace.jfr;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.StepInfo;
import org.brickprofiler.request.Outcome;
import org.brickprofiler.request.RequestRecorder;
import org.brickprofiler.trace.TraceRecorder;
import org.jspecify.annotations.Nullable;

/**
 * The cost of a token while a flight recording splits the waits of requests. An engine decodes 32 requests in steps of
 * some milliseconds. Blocks with and without the recording alternate, in random order within a pair, in one process;
 * slow steps are kept in both. The processor times of the engine's thread and of the whole process are compared,
 * because other programs of a machine change the time by a clock much more.
 *
 * <p>Arguments: the pairs, 8 by default, and the length of a step, 160 by default; a unit is about 60 us.
 */
public final class RequestWaitsStudy {

    private static final int BATCH = 32;
    private static final int TOKENS = 50;
    private static final long BLOCK_NS = 5_000_000_000L;
    private static final long SETTLE_NS = 2_500_000_000L;
    private static final int FLOATS = 1 << 16;

    private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    private final OperatingSystemMXBean process = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    private final TraceRecorder recorder =
            TraceRecorder.builder().keepSlowSteps(8).build();
    private final BrickProfiler profiler =
            BrickProfiler.builder().tracing(recorder).build();
    private final RequestRecorder requests = profiler.requests();
    private final long[] batch = new long[BATCH];
    private final float[] data = new float[FLOATS];
    private float result;
    private long steps;

    /** The processor time of a step, ns: of the engine's thread, and of the process. */
    private record Cost(double ofThread, double ofProcess) {}

    private final int rounds;

    private RequestWaitsStudy(int rounds) {
        this.rounds = rounds;
        profiler.enable();
    }

    private void step() {
        profiler.beginStep(StepInfo.decode(BATCH));
        for (int i = 0; i < BATCH; i++) {
            if ((steps + i) % TOKENS == 0 || batch[i] == 0) {
                requests.finished(batch[i], Outcome.COMPLETED);
                batch[i] = requests.arrived(1);
            }
            requests.inStep(batch[i], 0);
        }
        for (int round = 0; round < rounds; round++) {
            for (float each : data) {
                result += each * 0.5f + round;
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

    private Cost block(boolean isSplit) {
        @Nullable VirtualMachineStops stops = null;
        if (isSplit) {
            stops = VirtualMachineStops.of(recorder);
            stops.splitWaits(requests);
        }
        // The start of a recording is not part of a token.
        run(SETTLE_NS);
        long first = steps;
        long threadNs = -threads.getCurrentThreadCpuTime();
        long processNs = -process.getProcessCpuTime();
        run(BLOCK_NS);
        threadNs += threads.getCurrentThreadCpuTime();
        processNs += process.getProcessCpuTime();
        double done = steps - first;
        if (stops != null) {
            stops.close();
        }
        return new Cost(threadNs / done, processNs / done);
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
     * @param arguments the number of pairs, and the length of a step
     */
    public static void main(String[] arguments) {
        int pairs = arguments.length == 0 || arguments[0].isEmpty() ? 8 : Integer.parseInt(arguments[0]);
        int rounds = arguments.length < 2 ? 160 : Integer.parseInt(arguments[1]);
        RequestWaitsStudy study = new RequestWaitsStudy(rounds);
        study.block(true);
        List<Cost> with = new ArrayList<>();
        List<Cost> without = new ArrayList<>();
        for (int pair = 0; pair < pairs; pair++) {
            boolean isFirst = pair % 2 == 0;
            (isFirst ? with : without).add(study.block(isFirst));
            (isFirst ? without : with).add(study.block(!isFirst));
        }
        double[] ofThread = new double[pairs];
        double[] ofProcess = new double[pairs];
        for (int i = 0; i < pairs; i++) {
            ofThread[i] = with.get(i).ofThread() / without.get(i).ofThread();
            ofProcess[i] = with.get(i).ofProcess() / without.get(i).ofProcess();
        }
        System.out.printf(
                Locale.ROOT,
                "a step of %d requests, %.0f us of processor time, %d pairs (%s)%n",
                BATCH,
                without.get(0).ofThread() / 1e3,
                pairs,
                study.result > 0 ? "done" : "nothing done");
        System.out.println(line("thread of the engine", ofThread));
        System.out.println(line("process", ofProcess));
        System.out.println(study.requests.stats().waits());
    }
}
