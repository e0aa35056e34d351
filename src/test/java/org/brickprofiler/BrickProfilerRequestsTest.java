package org.brickprofiler;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.brickprofiler.report.TextReport;
import org.brickprofiler.request.Cause;
import org.brickprofiler.request.Outcome;
import org.brickprofiler.request.RequestIdentity;
import org.brickprofiler.request.RequestRecord;
import org.brickprofiler.request.RequestRecorder;
import org.brickprofiler.request.RequestStats;
import org.brickprofiler.testing.FakeClock;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;

/** The profiler announces its steps and its switch to the recorder of its requests. */
final class BrickProfilerRequestsTest {

    private final FakeClock clock = new FakeClock(100);
    private final BrickProfiler profiler = BrickProfiler.builder().clock(clock).build();

    private void step(StepInfo info, long request, long promptTokens, long ns) {
        profiler.beginStep(info);
        profiler.requests().inStep(request, promptTokens);
        clock.advance(ns);
        profiler.endPass();
    }

    @Spec("25.4")
    @Test
    void stepsOfTheProfilerAreStepsOfRequests() {
        profiler.enable();
        long request = profiler.requests().arrived(16);
        clock.advance(20);
        step(StepInfo.prefill(16), request, 16, 300);
        step(StepInfo.decode(16), request, 0, 10);
        step(new StepInfo(StepInfo.Phase.MIXED, 2, 8, 16, 2, 0), request, 0, 40);
        profiler.requests().finished(request, Outcome.COMPLETED);

        RequestRecord record = profiler.requests().recent().get(0);
        assertThat(record.arrivedNs()).isZero();
        assertThat(record.outputTokens()).isEqualTo(3);
        assertThat(record.timeToFirstTokenNs()).isEqualTo(320);
        assertThat(record.causeNs())
                .containsEntry(Cause.QUEUED_IDLE, 20L)
                .containsEntry(Cause.OWN_PROMPT, 300L)
                .containsEntry(Cause.DECODE, 10L)
                .containsEntry(Cause.DECODE_BESIDE_PROMPTS, 40L);
    }

    /** Without a request, the times to first token are those of prompts. */
    @Spec("25.8")
    @Test
    void ignoredCallsAloneAreNoRequests() {
        profiler.enable();
        profiler.requests().finished(7, Outcome.COMPLETED);
        profiler.beginStep(StepInfo.prefill(4));
        clock.advance(300);
        profiler.endPass();

        ProfileSnapshot snapshot = profiler.snapshot();
        assertThat(snapshot.requests().counts().ignoredCalls()).isOne();
        assertThat(snapshot.timeToFirstToken().count()).isOne();
        assertThat(TextReport.render(snapshot)).contains("Time to first token");
    }

    /**
     * One thread switches the profiler off and blocks on the lock of the steps; the thread that holds the lock then
     * switches the profiler on.
     */
    @Spec("25.1")
    @Test
    void afterConcurrentSwitchesProfilerAndRequestRecorderAgree() throws Exception {
        profiler.enable();
        RequestRecorder requests = profiler.requests();
        Thread other = new Thread(profiler::disable);
        requests.onFinished(() -> true, (record, trace) -> {
            other.start();
            while (other.getState() != Thread.State.BLOCKED) {
                Thread.onSpinWait();
            }
            profiler.enable();
        });
        long request = requests.arrived(1);
        profiler.beginStep(StepInfo.prefill(1));
        requests.inStep(request, 1);
        requests.finished(request, Outcome.COMPLETED);
        profiler.endPass();
        other.join();

        assertThat(profiler.isEnabled()).isTrue();
        assertThat(requests.isEnabled()).isTrue();
    }

    @Spec("25.7")
    @Test
    void aServedRequestGetsThePromptAndTheDraftOfTheSteps() {
        profiler.enable();
        RequestRecorder requests = profiler.requests();
        long request = requests.arrived(10);
        try (RequestRecorder.Scope scope = requests.serve(request)) {
            assertThat(scope).isNotNull();
            profiler.beginStep(StepInfo.prefill(6).partOfPrompt());
            clock.advance(10);
            profiler.endPass();
            profiler.beginStep(StepInfo.prefill(4).withKvLength(6));
            clock.advance(10);
            profiler.endPass();
            profiler.beginStep(StepInfo.decode(10).withDraftedTokens(4));
            profiler.recordAcceptedTokens(3);
            clock.advance(10);
            profiler.endPass();
        }
        requests.finished(request, Outcome.LENGTH);

        RequestRecord record = requests.recent().get(0);
        assertThat(record.outputTokens()).isEqualTo(1 + 4);
        assertThat(record.timeToFirstTokenNs()).isEqualTo(20);
        assertThat(requests.stats().counts().ignoredCalls()).isZero();
    }

    @Spec("25.5")
    @Test
    void aStepThatTheProfilerAbandonsIsNoStepOfARequest() {
        profiler.enable();
        long request = profiler.requests().arrived(1);
        profiler.beginStep(StepInfo.prefill(1));
        profiler.requests().inStep(request, 1);
        clock.advance(10);
        step(StepInfo.prefill(1), request, 1, 5);
        profiler.requests().finished(request, Outcome.COMPLETED);

        RequestRecord record = profiler.requests().recent().get(0);
        assertThat(record.outputTokens()).isOne();
        assertThat(record.causeNs())
                .containsEntry(Cause.QUEUED_BEHIND_PROMPTS, 10L)
                .containsEntry(Cause.OWN_PROMPT, 5L);
    }

    @Spec("25.4")
    @Test
    void aStepThatIsUnderWayAtTheFirstCallIsWaitedForAndIsNobodysStep() throws Exception {
        profiler.enable();
        ExecutorService other = Executors.newSingleThreadExecutor();
        try {
            other.submit(() -> profiler.beginStep(StepInfo.decode(1))).get();
            long request = profiler.requests().arrived(1);
            profiler.requests().inStep(request, 1);
            clock.advance(30);
            other.submit(profiler::endPass).get();
            clock.advance(2);
            profiler.requests().finished(request, Outcome.CANCELLED);
        } finally {
            other.shutdown();
        }

        assertThat(profiler.requests().recent().get(0).causeNs())
                .containsEntry(Cause.QUEUED_BEHIND_DECODING, 30L)
                .containsEntry(Cause.QUEUED_IDLE, 2L);
        assertThat(profiler.requests().stats().counts().ignoredCalls()).isOne();
    }

    /** Otherwise a window would list the requests of earlier windows again, with other times of arrival. */
    @Spec("25.9")
    @Test
    void aNewEpochMovesNoRequestThatHasFinished() {
        profiler.enable();
        RequestStats[] readings = new RequestStats[2];
        for (int i = 0; i < 2; i++) {
            clock.advance(7);
            long request = profiler.requests().arrived(4);
            step(StepInfo.prefill(4), request, 4, 300);
            profiler.requests().finished(request, Outcome.COMPLETED);
            readings[i] = profiler.snapshot().requests();
            profiler.resetEpoch();
        }

        assertThat(readings[1].slowestFirstTokens())
                .extracting(RequestRecord::arrivedNs)
                .containsExactly(7L, 7L);
        assertThat(readings[1].since(readings[0]).slowestFirstTokens()).hasSize(1);
    }

    @Spec("25.1")
    @Test
    void theRecorderIsOnWhileTheProfilerIs() {
        assertThat(profiler.requests().arrived(1)).isZero();
        profiler.enable();
        assertThat(profiler.requests()).isSameAs(profiler.requests());
        long request = profiler.requests().arrived(1);
        assertThat(request).isPositive();
        profiler.disable();
        assertThat(profiler.requests().arrived(1)).isZero();
        assertThat(profiler.requests().stats().counts().abandoned()).isOne();
        profiler.enable();
        profiler.reset();
        assertThat(profiler.requests().stats().isRecorded()).isFalse();
    }

    @Spec("25.22")
    @Test
    void requestsHaveTheirTimesOfDay() {
        BrickProfiler own = BrickProfiler.enabled();
        Instant before = Instant.now().minusMillis(2);
        long first = own.requests().arrived(1);
        own.requests().arrived(1);
        Instant after = Instant.now().plusMillis(2);
        own.requests().finished(first, Outcome.CANCELLED);

        ProfileSnapshot snapshot = own.snapshot();
        assertThat(snapshot.requests().oldestLive()).hasSize(1);
        for (RequestIdentity identity : List.of(
                own.requests().recent().get(0).identity(),
                snapshot.requestTimeline().requests().get(0).record().identity(),
                snapshot.requests().oldestLive().get(0).identity())) {
            assertThat(identity.arrivedAt().orElseThrow()).isBetween(before, after);
        }
        assertThat(own.requests().timeline().get().requests())
                .isEqualTo(snapshot.requestTimeline().requests());
    }

    /** A clock of the profiler's own is tied to the time of day when the profiler is made. */
    @Spec("25.22")
    @Test
    void anOwnClockGivesTheTimesOfDay() {
        FakeClock clock = new FakeClock();
        Instant before = Instant.now().truncatedTo(ChronoUnit.MILLIS);
        BrickProfiler own = BrickProfiler.builder().clock(clock).build();
        Instant after = Instant.now();
        own.enable();
        clock.advance(3_600_000_000_000L);
        own.requests().finished(own.requests().arrived(1), Outcome.FAILED);

        assertThat(own.requests().recent().get(0).identity().arrivedAt().orElseThrow())
                .isBetween(before.plusSeconds(3_600), after.plusSeconds(3_600));
    }
}
