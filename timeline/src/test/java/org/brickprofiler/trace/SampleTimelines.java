package org.brickprofiler.trace;

import org.brickprofiler.BrickProfiler;
import org.brickprofiler.StepInfo;
import org.brickprofiler.testing.FakeClock;
import org.brickprofiler.testing.Profiles;

/** Timelines of simulated runs. */
public final class SampleTimelines {

    private SampleTimelines() {}

    /**
     * A timeline of steps without gaps. Each step has an embedding of 1 us, and in each layer a norm of 1 us and a
     * product of the step's {@code productUs}.
     */
    public static Timeline ofSteps(int[] productUs, int layers) {
        FakeClock clock = new FakeClock();
        TraceRecorder recorder = TraceRecorder.builder().clock(clock).build();
        BrickProfiler profiler =
                BrickProfiler.builder().clock(clock).tracing(recorder).build();
        profiler.enable();
        for (int us : productUs) {
            Profiles.pass(profiler, clock, us, layers);
        }
        return recorder.timeline();
    }

    /** A timeline of a prompt and three tokens, each announced by {@code beginStep}. */
    public static Timeline ofPhases() {
        FakeClock clock = new FakeClock();
        TraceRecorder recorder = TraceRecorder.builder().clock(clock).build();
        BrickProfiler profiler =
                BrickProfiler.builder().clock(clock).tracing(recorder).build();
        profiler.enable();
        profiler.beginStep(StepInfo.prefill(100));
        Profiles.pass(profiler, clock, 200, 1);
        for (int us : new int[] {20, 40, 10}) {
            profiler.beginStep(StepInfo.decode(100));
            Profiles.pass(profiler, clock, us, 1);
        }
        return recorder.timeline();
    }
}
