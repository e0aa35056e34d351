package org.brickprofiler.trace;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.StepInfo;
import org.brickprofiler.request.Wait;
import org.brickprofiler.request.WaitSource.Waiting;
import org.brickprofiler.testing.FakeClock;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;

@Spec("25.32")
final class ProcessorWaitsTest {

    private static final long US = 1_000;

    private static final long OTHER = 1L << 40;

    private final FakeClock clock = new FakeClock();
    private final FakeTimes times = new FakeTimes();
    private final TraceRecorder recorder =
            TraceRecorder.builder().clock(clock).times(times).keepSlowSteps(1).build();
    private final BrickProfiler profiler =
            BrickProfiler.builder().clock(clock).tracing(recorder).build();

    private void host(long ns, long waitedNs) {
        clock.advance(ns);
        times.waitedNs += waitedNs;
    }

    private void step(long ns, long waitedNs) {
        profiler.beginStep(StepInfo.decode(1));
        host(ns, waitedNs);
        profiler.endPass();
    }

    private long waitedNs(long fromNs, long toNs) {
        return waitedNs(recorder, Thread.currentThread().getId(), fromNs, toNs);
    }

    private static long waitedNs(TraceRecorder recorder, long threadId, long fromNs, long toNs) {
        Waiting all = new Waiting(fromNs, toNs, toNs - fromNs, threadId);
        return recorder.waitSource("a test").split(List.of(all)).waitNs().getOrDefault(Wait.NO_PROCESSOR, 0L);
    }

    @Test
    void theWaitsOfStepsAndBetweenThemAreKnown() {
        profiler.enable();
        long startNs = clock.now();
        step(100 * US, 40 * US);
        host(200 * US, 50 * US);
        step(100 * US, 0);
        host(10 * US, 0);

        // A step waits evenly; a thread between steps waits at the end, when it has something to do.
        assertThat(waitedNs(startNs, startNs + 400 * US)).isEqualTo(90 * US);
        assertThat(waitedNs(startNs + 50 * US, startNs + 400 * US)).isEqualTo(70 * US);
        assertThat(waitedNs(startNs + 120 * US, startNs + 300 * US)).isEqualTo(50 * US);
        assertThat(waitedNs(startNs + 270 * US, startNs + 300 * US)).isEqualTo(30 * US);
        assertThat(waitedNs(startNs + 300 * US, startNs + 500 * US)).isZero();
        assertThat(waitedNs(recorder, OTHER, startNs, startNs + 400 * US)).isZero();
    }

    @Test
    void unknownAndShortWaitsAreNotKept() {
        profiler.enable();
        times.known.clear();
        long startNs = clock.now();
        step(100 * US, 40 * US);
        host(200 * US, 50 * US);
        step(100 * US, 999);
        assertThat(waitedNs(startNs, clock.now())).isZero();
        assertThat(waitedNs(new TraceRecorder(), 1, 0, Long.MAX_VALUE)).isZero();
    }

    @Test
    void theOldestWaitsAreForgotten() {
        profiler.enable();
        long startNs = clock.now();
        for (int i = 0; i < (1 << 14) + 1; i++) {
            step(10 * US, 2 * US);
        }
        assertThat(waitedNs(startNs, clock.now())).isEqualTo((1L << 14) * 2 * US);
        assertThat(waitedNs(startNs, startNs + 10 * US)).isZero();
    }
}
