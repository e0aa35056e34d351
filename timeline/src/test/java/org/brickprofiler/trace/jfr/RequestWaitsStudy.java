package org.brickprofiler.trace.jfr;

import org.brickprofiler.BrickProfiler;
import org.brickprofiler.StepInfo;
import org.brickprofiler.request.Outcome;
import org.brickprofiler.request.RequestRecorder;
import org.brickprofiler.trace.TraceRecorder;

/**
 * The cost of a token while a flight recording splits the waits of requests: an engine decodes 32 requests in steps of
 * some milliseconds. Slow steps are kept with and without it.
 *
 * <p>Arguments: the pairs, 8 by default, and the length of a step, 160 by default; a unit is about 60 us.
 */
public final class RequestWaitsStudy {

    private static final int BATCH = 32;
    private static final int TOKENS = 50;
    private static final int FLOATS = 1 << 16;

    private final TraceRecorder recorder =
            TraceRecorder.builder().keepSlowSteps(8).build();
    private final BrickProfiler profiler =
            BrickProfiler.builder().tracing(recorder).build();
    private final RequestRecorder requests = profiler.requests();
    private final long[] batch = new long[BATCH];
    private final float[] data = new float[FLOATS];
    private final int rounds;
    private float result;
    private long steps;

    private RequestWaitsStudy(int rounds) {
        this.rounds = rounds;
        profiler.enable();
    }

    private void step() {
        profiler.beginStep(StepInfo.decode(BATCH));
        for (int i = 0; i < BATCH; i++) {
            if ((steps + i) % TOKENS == 0 || batch[i] == 0) {
                if (batch[i] != 0) {
                    requests.finished(batch[i], Outcome.COMPLETED);
                }
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

    private VirtualMachineStops begin() {
        VirtualMachineStops stops = VirtualMachineStops.of(recorder);
        stops.splitWaits(requests);
        return stops;
    }

    /**
     * Runs the study.
     *
     * @param arguments the number of pairs, and the length of a step
     */
    public static void main(String[] arguments) {
        int pairs = arguments.length == 0 || arguments[0].isEmpty() ? 8 : Integer.parseInt(arguments[0]);
        RequestWaitsStudy study = new RequestWaitsStudy(arguments.length < 2 ? 160 : Integer.parseInt(arguments[1]));
        new RecordedBlocks(study::step, study::begin).compare(pairs, "a step of " + BATCH + " requests");
        System.out.println(study.requests.stats().waits());
        System.out.println(study.result > 0 ? "computed" : "nothing computed");
    }
}
