package org.brickprofiler;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.brickprofiler.internal.record.ThreadTimes;
import org.brickprofiler.request.Cause;
import org.brickprofiler.request.Outcome;
import org.brickprofiler.request.RequestRecord;
import org.brickprofiler.request.RequestRecorder;
import org.brickprofiler.testing.AllocatedBytes;
import org.brickprofiler.testing.FakeClock;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Threads that serve a request each, while another thread decodes all the time. */
final class ServingThreadsTest {

    private final FakeClock clock = new FakeClock(1_000);
    private final ExecutorService other = Executors.newSingleThreadExecutor();
    private long ranNs;
    private BrickProfiler profiler = profiler(true);

    private BrickProfiler profiler(boolean knowsCpuTime) {
        BrickProfilerBuilder builder = BrickProfiler.builder().clock(clock);
        if (knowsCpuTime) {
            builder.threadTimes = () -> new ThreadTimes() {
                @Override
                public long ranNs() {
                    return ranNs;
                }
            };
        }
        BrickProfiler made = builder.build();
        made.enable();
        return made;
    }

    @BeforeEach
    void othersDecode() throws Exception {
        other.submit(() -> profiler.beginStep(StepInfo.decode(1))).get();
    }

    @AfterEach
    void stop() {
        other.shutdown();
    }

    private void work(long ns) {
        clock.advance(ns);
        ranNs += ns;
    }

    private void step(StepInfo info, long ns) {
        profiler.beginStep(info);
        work(ns);
        profiler.endPass();
    }

    private void brick(BrickId id, Runnable body) {
        long timer = profiler.startBrick(id);
        body.run();
        profiler.stopBrick(timer, 1);
    }

    private RequestRecord finished(long request) {
        profiler.requests().finished(request, Outcome.COMPLETED);
        return profiler.requests().recent().get(0);
    }

    @Spec("25.18")
    @Test
    void theTokenizerOfAThreadIsItsOwnWorkAndNoQueue() {
        RequestRecorder requests = profiler.requests();
        long request = requests.arrived(4);
        RequestRecord record;
        try (RequestRecorder.Scope scope = requests.serve(request)) {
            assertThat(scope).isNotNull();
            work(300);
            clock.advance(500);
            step(StepInfo.prefill(4), 100);
            work(20);
            clock.advance(30);
            step(StepInfo.decode(4), 10);
            work(7);
            record = finished(request);
        }

        assertThat(record.causeNs())
                .containsEntry(Cause.OWN_WORK, 300L + 20)
                .containsEntry(Cause.QUEUED_BEHIND_DECODING, 500L)
                .containsEntry(Cause.STALLED_BEHIND_DECODING, 30L)
                .containsEntry(Cause.OWN_PROMPT, 100L)
                .containsEntry(Cause.DECODE, 10L)
                .containsEntry(Cause.DELIVERY, 7L);
        assertThat(record.queueNs()).isEqualTo(500);
        assertThat(requests.stats().latencies().queueTime().percentileNs(100)).isBetween(790L, 810L);
    }

    /** A brick that waits for a device takes no CPU time. */
    @Spec("25.18")
    @Test
    void bricksCountOnceAndOnlyBetweenSteps() throws Exception {
        profiler = profiler(false);
        othersDecode();
        RequestRecorder requests = profiler.requests();
        long request = requests.arrived(4);
        long outer = profiler.startBrick(BrickId.EMBEDDING);
        clock.advance(1_000);
        RequestRecorder.Scope scope = requests.serve(request);
        clock.advance(10);
        brick(BrickId.RMS_NORM, () -> clock.advance(5));
        brick(BrickId.LM_HEAD, () -> {
            brick(BrickId.RMS_NORM, () -> clock.advance(5));
            clock.advance(1);
            brick(BrickId.RMS_NORM, () -> clock.advance(5));
        });
        clock.advance(10);
        // Of this brick, 36 ns are after the beginning of the scope; those of the others are within it.
        profiler.stopBrick(outer, 1);
        clock.advance(100);
        step(StepInfo.prefill(4), 50);
        long late = profiler.startBrick(BrickId.LM_HEAD);
        clock.advance(40);
        step(StepInfo.decode(4), 50);
        profiler.stopBrick(late, 1);
        profiler.record(BrickId.LM_HEAD, 3, 1);
        clock.advance(60);
        step(StepInfo.decode(5), 50);
        RequestRecord record = finished(request);
        scope.close();

        assertThat(record.causeNs(Cause.OWN_WORK)).isEqualTo(36);
        assertThat(record.causeNs(Cause.QUEUED_BEHIND_DECODING)).isEqualTo(1_000 + 100);
        assertThat(record.causeNs(Cause.STALLED_BEHIND_DECODING)).isEqualTo(40 + 60);
    }

    /** A thousand separate bricks are more than are remembered one by one. */
    @Spec("25.18")
    @Test
    void anyNumberOfBricksCounts() throws Exception {
        profiler = profiler(false);
        othersDecode();
        RequestRecorder requests = profiler.requests();
        long request = requests.arrived(4);
        try (RequestRecorder.Scope scope = requests.serve(request)) {
            assertThat(scope).isNotNull();
            for (int i = 0; i < 3_000; i++) {
                clock.advance(2);
                brick(BrickId.LM_HEAD, () -> clock.advance(3));
            }
        }
        assertThat(finished(request).causeNs())
                .containsEntry(Cause.OWN_WORK, 9_000L)
                .containsEntry(Cause.QUEUED_BEHIND_DECODING, 6_000L);
    }

    @Spec("17.9")
    @Test
    void bricksBetweenTheStepsOfAServingThreadHaveNoPhase() {
        RequestRecorder requests = profiler.requests();
        long request = requests.arrived(4);
        try (RequestRecorder.Scope scope = requests.serve(request)) {
            assertThat(scope).isNotNull();
            brick(BrickId.EMBEDDING, () -> work(3));
            step(StepInfo.prefill(4), 100);
            brick(BrickId.FUSED_ATTENTION, () -> work(5));
        }
        brick(BrickId.FUSED_ATTENTION, () -> work(7));

        assertThat(profiler.brickStats(BrickId.EMBEDDING).count()).isEqualTo(1);
        assertThat(profiler.brickStats(BrickId.FUSED_ATTENTION).count()).isEqualTo(2);
        for (StepInfo.Phase phase : StepInfo.Phase.values()) {
            assertThat(profiler.snapshot().bricks(phase)).isEmpty();
        }
    }

    /** The thread of a scheduler detokenizes between its steps, while another engine decodes. */
    @Spec("17.9")
    @Test
    void bricksBetweenTheStepsOfAnyThreadHaveNoPhaseAndThoseOfWorkersHave() throws Exception {
        step(StepInfo.prefill(4), 100);
        brick(BrickId.FUSED_ATTENTION, () -> work(5));
        ExecutorService worker = Executors.newSingleThreadExecutor();
        worker.submit(() -> profiler.record(BrickId.LM_HEAD, 5, 1)).get();
        worker.shutdown();

        assertThat(profiler.snapshot().bricks(StepInfo.Phase.DECODE))
                .singleElement()
                .satisfies(brick -> assertThat(brick.name()).isEqualTo(BrickId.LM_HEAD.displayName()));
        assertThat(profiler.snapshot().bricks(StepInfo.Phase.PREFILL)).isEmpty();
    }

    @Spec("25.18")
    @Test
    void theCpuTimeOfAThreadIsReadFromTheSystem() {
        BrickProfiler real = BrickProfiler.enabled();
        RequestRecorder requests = real.requests();
        long request = requests.arrived(1);
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        try (RequestRecorder.Scope scope = requests.serve(request)) {
            assertThat(scope).isNotNull();
            long untilNs = threads.getCurrentThreadCpuTime() + 20_000_000;
            while (threads.getCurrentThreadCpuTime() < untilNs) {
                Thread.onSpinWait();
            }
            real.beginStep(StepInfo.prefill(1));
            real.endPass();
        }
        requests.finished(request, Outcome.COMPLETED);

        assertThat(requests.recent().get(0).causeNs(Cause.OWN_WORK)).isGreaterThanOrEqualTo(20_000_000);
    }

    @Spec("25.18")
    @Test
    void theBoundariesOfAServingThreadAllocateNothing() {
        BrickProfiler real = BrickProfiler.enabled();
        RequestRecorder requests = real.requests();
        long request = requests.arrived(1);
        try (RequestRecorder.Scope scope = requests.serve(request)) {
            assertThat(scope).isNotNull();
            Runnable step = () -> {
                requests.stepEnded(requests.stepBegan(false, 0, System.nanoTime()), System.nanoTime(), 0);
                real.stopBrick(real.startBrick(BrickId.LM_HEAD), 1);
            };
            AllocatedBytes.ofCalls(3_000, step);
            assertThat(AllocatedBytes.fewest(10, () -> AllocatedBytes.ofCalls(1_000, step)))
                    .isZero();
        }
    }
}
