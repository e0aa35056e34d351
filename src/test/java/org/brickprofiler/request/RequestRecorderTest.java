package org.brickprofiler.request;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.brickprofiler.internal.record.WallClock;
import org.brickprofiler.testing.AllocatedBytes;
import org.brickprofiler.testing.CapturedLog;
import org.brickprofiler.testing.FakeClock;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class RequestRecorderTest {

    private static final boolean PROMPTS = true;
    private static final boolean DECODING = false;

    private final FakeClock clock = new FakeClock(50);
    private final RequestRecorder requests = new RequestRecorder(clock, () -> 50);

    @BeforeEach
    void on() {
        requests.enable();
    }

    private long begin(boolean prompts) {
        return requests.stepBegan(prompts, 0, clock.now());
    }

    private void end(long step, long afterNs) {
        clock.advance(afterNs);
        requests.stepEnded(step, clock.now(), 0);
    }

    private RequestRecord onlyRecord() {
        assertThat(requests.recent()).hasSize(1);
        return requests.recent().get(0);
    }

    private long ignored() {
        return requests.stats().counts().ignoredCalls();
    }

    /** A recorder whose threads work as long as they wait, and 40 ns more. */
    private RequestRecorder working() {
        RequestRecorder working = new RequestRecorder(
                clock,
                () -> 50,
                new RequestRecorder.OwnWork() {
                    private long sinceNs;

                    @Override
                    public void begin(long atNs) {
                        sinceNs = atNs;
                    }

                    @Override
                    public long endNs(long atNs) {
                        return Math.min(40, atNs - sinceNs);
                    }
                },
                clockNs -> WallClock.UNKNOWN);
        working.enable();
        return working;
    }

    @Spec("25.18")
    @Test
    void ownWorkOfNestedScopesIsThatOfTheInnerRequest() {
        RequestRecorder working = working();
        long one = working.arrived(0);
        long other = working.arrived(0);
        RequestRecorder.Scope outer = working.serve(one);
        clock.advance(10);
        RequestRecorder.Scope inner = working.serve(other);
        clock.advance(20);
        inner.close();
        inner.close();
        clock.advance(5);
        outer.close();
        clock.advance(100);
        working.finished(one, Outcome.COMPLETED);
        working.finished(other, Outcome.COMPLETED);

        assertThat(working.recent())
                .extracting(record -> record.causeNs(Cause.OWN_WORK), record -> record.causeNs(Cause.QUEUED_IDLE))
                .containsExactly(tuple(15L, 120L), tuple(20L, 115L));
    }

    /** Nobody knows how long the serving thread has worked by then. */
    @Spec("25.18")
    @Test
    void ofARequestThatAnotherThreadFinishesOnlyWorkBeforeItsLastStepIsKnown() throws Exception {
        RequestRecorder working = working();
        long request = working.arrived(0);
        RequestRecorder.Scope scope = working.serve(request);
        clock.advance(70);
        long step = working.stepBegan(DECODING, 0, clock.now());
        clock.advance(3);
        working.stepAbandoned(step, clock.now());
        clock.advance(50);
        Thread other = new Thread(() -> working.finished(request, Outcome.CANCELLED));
        other.start();
        other.join();
        scope.close();

        RequestRecord record = working.recent().get(0);
        assertThat(record.causeNs(Cause.OWN_WORK)).isEqualTo(40);
        assertThat(record.causeNs(Cause.QUEUED_IDLE)).isEqualTo(30 + 50);
        assertThat(record.causeNs(Cause.QUEUED_BEHIND_DECODING)).isEqualTo(3);
    }

    /** The sums at the end of the work are no longer remembered: the work counts later. */
    @Spec("25.18")
    @Test
    void ownWorkBeforeVeryManyStepsCountsFromTheOldestThatIsRemembered() throws Exception {
        RequestRecorder working = working();
        long request = working.arrived(0);
        RequestRecorder.Scope scope = working.serve(request);
        clock.advance(100);
        Thread engine = new Thread(() -> {
            for (int i = 0; i < StepTimes.BOUNDARIES; i++) {
                long step = working.stepBegan(DECODING, 0, clock.now());
                clock.advance(3);
                working.stepEnded(step, clock.now(), 0);
                clock.advance(1);
            }
        });
        engine.start();
        engine.join();
        scope.close();
        working.finished(request, Outcome.CANCELLED);

        RequestRecord record = working.recent().get(0);
        assertThat(record.durationNs()).isEqualTo(100 + 4 * StepTimes.BOUNDARIES);
        // Ten steps of 4 ns have 30 ns of the work.
        assertThat(record.causeNs())
                .containsEntry(Cause.OWN_WORK, 40L)
                .containsEntry(Cause.QUEUED_BEHIND_DECODING, 3L * StepTimes.BOUNDARIES - 30)
                .containsEntry(Cause.QUEUED_IDLE, 100L + StepTimes.BOUNDARIES - 10);
        List<RequestTimeline.Segment> segments =
                working.timeline().get().segments().get(0);
        assertThat(RequestRecord.everyCause(RequestTimeline.causeNs(segments))).isEqualTo(record.causeNs());
    }

    @Spec("25.19")
    @Test
    void aProfileStatesFromWhichMomentsRequestsCount() {
        assertThat(requests.stats().countedFrom()).isEmpty();
        requests.arrived(1, "the call of Server.submit");
        requests.arrived(1, "the call of Server.submit");
        requests.arrivedAt(0, 1);
        assertThat(requests.statsAndReset().countedFrom())
                .containsExactly("the call of Server.submit", "the moment given to RequestRecorder.arrivedAt");
        requests.arrived(1);
        RequestStats later = requests.stats();
        assertThat(later.countedFrom()).containsExactly("the call of RequestRecorder.arrived");
        assertThat(later.merge(RequestStats.NONE).merge(later).countedFrom()).isEqualTo(later.countedFrom());
        assertThatThrownBy(() -> requests.arrived(1, "a; b"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("'a; b'");
    }

    @Spec("25.4")
    @Test
    void aRequestHasACauseForEachPartOfItsTime() {
        long others = begin(PROMPTS);
        long request = requests.arrived(8);
        end(others, 100);
        clock.advance(10);
        long prompt = begin(PROMPTS);
        requests.inStep(request, 8);
        end(prompt, 200);
        long decoding = begin(DECODING);
        end(decoding, 30);
        long mixed = begin(PROMPTS);
        requests.inStep(request, 0);
        end(mixed, 40);
        clock.advance(5);
        long own = begin(DECODING);
        requests.inStep(request, 0);
        end(own, 7);
        clock.advance(3);
        requests.finished(request, Outcome.COMPLETED);

        RequestRecord record = onlyRecord();
        assertThat(record.causeNs())
                .isEqualTo(RequestRecord.everyCause(Map.of(
                        Cause.QUEUED_BEHIND_PROMPTS,
                        100L,
                        Cause.QUEUED_IDLE,
                        10L,
                        Cause.OWN_PROMPT,
                        200L,
                        Cause.STALLED_BEHIND_DECODING,
                        30L,
                        Cause.DECODE_BESIDE_PROMPTS,
                        40L,
                        Cause.STALLED_IDLE,
                        5L,
                        Cause.DECODE,
                        7L,
                        Cause.DELIVERY,
                        3L)));
        assertThat(record.arrivedNs()).isZero();
        assertThat(record.durationNs()).isEqualTo(395);
        assertThat(record.timeToFirstTokenNs()).isEqualTo(310);
        assertThat(record.longestGapNs()).isEqualTo(70);
        assertThat(record.outputTokens()).isEqualTo(3);
        assertThat(ignored()).isZero();
    }

    @Spec("25.6")
    @Test
    void thePartsOfAPromptGiveNoTokenBeforeTheLastOne() {
        long request = requests.arrived(10);
        requests.cached(request, 4);
        long first = begin(PROMPTS);
        requests.inStep(request, 5);
        end(first, 10);
        long second = begin(PROMPTS);
        requests.inStep(request, 1);
        end(second, 10);
        long third = begin(DECODING);
        requests.inStep(request, 0);
        requests.gives(request, 3);
        end(third, 10);
        requests.finished(request, Outcome.LENGTH);

        RequestRecord record = onlyRecord();
        assertThat(record.timeToFirstTokenNs()).isEqualTo(20);
        assertThat(record.outputTokens()).isEqualTo(4);
        assertThat(record.cachedTokens()).isEqualTo(4);
        RequestStats.Latencies latencies = requests.stats().latencies();
        assertThat(latencies.interToken().percentileNs(50)).isEqualTo(10);
        assertThat(latencies.timePerOutputToken().percentileNs(50)).isEqualTo(3);
        assertThat(requests.stats().tokens()).isEqualTo(new RequestStats.Tokens(10, 4, 4));
    }

    @Spec("25.5")
    @Test
    void aFinishWithinItsStepEndsTheDurationAndKeepsTheToken() {
        long request = requests.arrived(2);
        long step = begin(PROMPTS);
        requests.inStep(request, 2);
        clock.advance(10);
        requests.finished(request, Outcome.COMPLETED);
        assertThat(requests.recent()).isEmpty();
        end(step, 5);

        RequestRecord record = onlyRecord();
        assertThat(record.durationNs()).isEqualTo(10);
        assertThat(record.timeToFirstTokenNs()).isEqualTo(15);
        assertThat(record.outputTokens()).isOne();
        assertThat(record.causeNs().get(Cause.OWN_PROMPT)).isEqualTo(10);
    }

    @Spec("25.5")
    @Test
    void anAbandonedStepIsNoStepOfItsRequests() {
        long request = requests.arrived(2);
        long step = begin(PROMPTS);
        requests.inStep(request, 2);
        clock.advance(10);
        requests.stepAbandoned(step, clock.now());
        clock.advance(1);
        requests.finished(request, Outcome.FAILED);

        RequestRecord record = onlyRecord();
        assertThat(record.outputTokens()).isZero();
        assertThat(record.causeNs().get(Cause.QUEUED_BEHIND_PROMPTS)).isEqualTo(10);
        assertThat(record.causeNs().get(Cause.QUEUED_IDLE)).isEqualTo(1);
        assertThat(requests.stats().latencies().queueTime().count()).isZero();
    }

    /** The numbers of live requests follow the steps that count. */
    @Spec("25.5")
    @Test
    void aRequestWhoseOnlyStepIsAbandonedWaitsAgain() {
        long request = requests.arrived(2);
        long step = begin(PROMPTS);
        requests.inStep(request, 2);
        assertThat(requests.stats().counts().running()).isOne();
        requests.stepAbandoned(step, clock.now());

        assertThat(requests.stats().counts().waiting()).isOne();
        assertThat(requests.stats().counts().running()).isZero();
        requests.finished(request, Outcome.COMPLETED);
        assertThat(ignored()).as("an answer without a step").isOne();
        assertThat(requests.stats().counts().waiting()).isZero();
    }

    @Spec("25.3")
    @Test
    void anArrivalInThePastSeesTheStepsOfThatTime() {
        long step = begin(PROMPTS);
        end(step, 100);
        clock.advance(50);
        long request = requests.arrivedAt(60, 1);
        clock.advance(10);
        requests.finished(request, Outcome.CANCELLED);

        RequestRecord record = onlyRecord();
        assertThat(record.arrivedNs()).isEqualTo(60);
        assertThat(record.causeNs().get(Cause.QUEUED_BEHIND_PROMPTS)).isEqualTo(40);
        assertThat(record.causeNs().get(Cause.QUEUED_IDLE)).isEqualTo(60);
        assertThat(ignored()).isZero();
    }

    @Spec("25.3")
    @Test
    void anArrivalBeforeTheStepsThatAreRememberedOrInTheFutureIsCounted() {
        for (int i = 0; i < StepTimes.BOUNDARIES; i++) {
            end(begin(DECODING), 1);
        }
        long early = requests.arrivedAt(1, 1);
        long earliest = requests.arrivedAt(Long.MIN_VALUE, 1);
        long late = requests.arrivedAt(1_000_000, 1);
        long latest = requests.arrivedAt(Long.MAX_VALUE, 1);
        assertThat(ignored()).isEqualTo(4);
        clock.advance(10);
        for (long request : new long[] {early, earliest, late, latest}) {
            requests.finished(request, Outcome.CANCELLED);
        }

        long fromOldestNs = StepTimes.BOUNDARIES / 2 + 10;
        assertThat(requests.recent())
                .extracting(RequestRecord::durationNs)
                .containsExactly(fromOldestNs, fromOldestNs, 10L, 10L);
    }

    @Spec("25.7")
    @Test
    void aThreadServesOneRequestAtATime() {
        long request = requests.arrived(4);
        try (RequestRecorder.Scope scope = requests.serve(request)) {
            assertThat(scope).isNotNull();
            long prompt = requests.stepBegan(PROMPTS, 4, clock.now());
            end(prompt, 10);
            long decoding = requests.stepBegan(DECODING, 0, clock.now());
            clock.advance(10);
            requests.stepEnded(decoding, clock.now(), 2);
        }
        end(begin(DECODING), 10);
        requests.finished(request, Outcome.COMPLETED);

        RequestRecord record = onlyRecord();
        assertThat(record.outputTokens()).isEqualTo(4);
        assertThat(record.causeNs().get(Cause.OWN_PROMPT)).isEqualTo(10);
        assertThat(record.causeNs().get(Cause.DECODE)).isEqualTo(10);
        assertThat(record.causeNs().get(Cause.DELIVERY)).isEqualTo(10);
    }

    /** A scope that is closed twice, or after the one around it, ends no other one, and does not bring one back. */
    @Spec("25.7")
    @Test
    void scopesMayBeClosedInAnyOrderAndTwice() {
        long one = requests.arrived(0);
        long other = requests.arrived(0);
        RequestRecorder.Scope outer = requests.serve(one);
        RequestRecorder.Scope inner = requests.serve(other);
        outer.close();
        end(begin(DECODING), 10);
        inner.close();
        end(begin(DECODING), 10);
        RequestRecorder.Scope again = requests.serve(one);
        inner.close();
        outer.close();
        end(begin(DECODING), 10);
        again.close();
        requests.finished(one, Outcome.COMPLETED);
        requests.finished(other, Outcome.COMPLETED);

        assertThat(requests.recent()).extracting(RequestRecord::outputTokens).containsExactly(1L, 1L);
        assertThat(requests.recent())
                .extracting(record -> record.causeNs(Cause.DECODE))
                .containsExactly(10L, 10L);
        assertThat(ignored()).isZero();
    }

    @Spec("25.8")
    @Test
    void aRequestThatIsNotLiveChangesNothingAndIsCounted() {
        RequestRecorder other = new RequestRecorder(clock, () -> 0);
        other.enable();
        long foreign = other.arrived(1);
        long done = requests.arrived(1);
        requests.finished(done, Outcome.CANCELLED);
        RequestStats before = requests.stats();
        long step = begin(PROMPTS);
        for (long request : new long[] {0, foreign, done, done + 1, -1, Long.MAX_VALUE}) {
            requests.cached(request, 1);
            requests.inStep(request, 1);
            requests.gives(request, 1);
            requests.finished(request, Outcome.COMPLETED);
        }
        end(step, 10);

        RequestStats after = requests.stats();
        assertThat(after.counts().ignoredCalls()).isEqualTo(24);
        assertThat(after.counts().allFinished()).isOne();
        assertThat(after.latencies()).isEqualTo(before.latencies());
        assertThat(requests.recent()).hasSize(1);
    }

    @Spec("25.8")
    @Test
    void callsAtTheWrongPlaceChangeNothingAndAreCounted() {
        long request = requests.arrived(5);
        requests.inStep(request, 5);
        assertThat(ignored()).as("no step").isOne();
        long step = begin(PROMPTS);
        requests.gives(request, 7);
        assertThat(ignored()).as("not in the step").isEqualTo(2);
        requests.inStep(request, 5);
        requests.inStep(request, 5);
        assertThat(ignored()).as("twice").isEqualTo(3);
        end(step, 10);
        requests.inStep(request, 0);
        assertThat(ignored()).as("the step has ended").isEqualTo(4);
        long again = begin(PROMPTS);
        requests.inStep(request, 1);
        assertThat(ignored()).as("the prompt was complete").isEqualTo(5);
        end(again, 10);
        requests.cached(request, 6);
        assertThat(ignored()).as("cached more than the prompt").isEqualTo(6);
        requests.finished(request, Outcome.COMPLETED);
        requests.finished(requests.arrived(1), Outcome.COMPLETED);
        assertThat(ignored()).as("an answer without a step").isEqualTo(7);

        assertThat(requests.recent().get(0).outputTokens()).isEqualTo(2);
        assertThat(requests.stats().counts().allFinished()).isEqualTo(2);
    }

    /** A prompt that is processed again, as after a preemption, is no reason for a token to be late. */
    @Spec("25.8")
    @Test
    void moreTokensOfAPromptThanAreLeftCountAsThoseThatAreLeft() {
        long request = requests.arrived(5);
        for (int i = 0; i < 2; i++) {
            long step = begin(PROMPTS);
            requests.inStep(request, 50);
            end(step, 10);
        }
        assertThat(ignored()).isEqualTo(2);
        assertThat(requests.timeline().get()).isEqualTo(RequestTimeline.NONE);
        requests.tokenized(request, 6);
        assertThat(ignored()).as("the prompt is longer than 5").isEqualTo(2);
        requests.finished(request, Outcome.COMPLETED);

        assertThat(onlyRecord().promptTokens()).isEqualTo(6);
        assertThat(onlyRecord().causeNs().get(Cause.OWN_PROMPT)).isEqualTo(20);
        assertThat(requests.timeline().get().steps())
                .extracting(RequestTimeline.Step::promptTokens)
                .containsExactly(5L, 0L);
        assertThat(requests.timeline().get().steps()).allMatch(step -> step.prefilling() == 1 && step.decoding() == 0);
    }

    @Spec("25.15")
    @Test
    void aPromptMayHaveTheTokensOfItsSteps() {
        long request = requests.arrived(0);
        requests.promptOfSteps(request);
        requests.cached(request, 3);
        requests.inStep(request, 4);
        assertThat(ignored()).as("no step").isOne();
        long abandoned = begin(PROMPTS);
        requests.inStep(request, 4);
        requests.inStep(request, 4);
        assertThat(ignored()).as("twice").isEqualTo(2);
        requests.stepAbandoned(abandoned, clock.now());
        for (int i = 0; i < 2; i++) {
            long step = begin(PROMPTS);
            requests.inStep(request, 4);
            end(step, 10);
        }
        requests.finished(request, Outcome.COMPLETED);

        assertThat(ignored()).isEqualTo(2);
        assertThat(onlyRecord().promptTokens()).isEqualTo(11);
        assertThat(onlyRecord().cachedTokens()).isEqualTo(3);
        requests.promptOfSteps(request);
        assertThat(ignored()).as("it has finished").isEqualTo(3);
    }

    @Spec("25.8")
    @Test
    void noTwoOfManyRecordersHaveTheSameHandles() {
        Set<Long> handles = new HashSet<>();
        for (int i = 0; i < 600; i++) {
            RequestRecorder recorder = new RequestRecorder(clock, () -> 0);
            recorder.enable();
            handles.add(recorder.arrived(1));
        }
        assertThat(handles).hasSize(600);
    }

    /** The receiver of a finished request may finish another one that belongs to it. */
    @Spec("25.9")
    @Test
    void theReceiverOfARequestMayFinishAnotherOne() {
        long one = requests.arrived(11);
        long two = requests.arrived(22);
        List<Long> followed = new ArrayList<>();
        requests.onFinished(() -> true, (record, trace) -> {
            followed.add(record.promptTokens());
            if (record.promptTokens() == 11) {
                requests.finished(two, Outcome.FAILED);
            }
        });
        requests.finished(one, Outcome.CANCELLED);

        assertThat(followed).containsExactly(11L, 22L);
        assertThat(requests.recent()).extracting(RequestRecord::promptTokens).containsExactly(11L, 22L);
        assertThat(requests.stats().counts().running()
                        + requests.stats().counts().waiting())
                .isZero();
    }

    @Spec("25.8")
    @Test
    void aRequestInSeveralStepsAtOnceHasEachNanosecondOnce() throws Exception {
        long request = requests.arrived(5);
        List<Long> others = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            Thread other = new Thread(() -> {
                others.add(begin(DECODING));
                requests.inStep(request, 0);
            });
            other.start();
            other.join();
            clock.advance(10);
        }
        assertThat(ignored()).as("two steps").isOne();
        long third = begin(PROMPTS);
        requests.inStep(request, 5);
        assertThat(ignored()).as("three steps").isEqualTo(2);
        requests.gives(request, 9);
        assertThat(ignored()).as("it is in the third").isEqualTo(2);
        end(third, 10);
        end(others.get(0), 10);
        end(others.get(1), 10);
        requests.finished(request, Outcome.CANCELLED);

        assertThat(onlyRecord().outputTokens()).isEqualTo(11);
        assertThat(onlyRecord().causeNs().get(Cause.DECODE)).isEqualTo(50);
        assertThat(RequestTimeline.causeNs(requests.timeline().get().segments().get(0)))
                .isEqualTo(Map.of(Cause.DECODE, 50L));
    }

    /** Steps end in any order; those beyond the second account for the time once an earlier one has ended. */
    @Spec("25.8")
    @ParameterizedTest
    @ValueSource(strings = {"0123", "3210", "2031", "1302", "3012"})
    void tokensOfAnyNumberOfConcurrentStepsCount(String order) throws Exception {
        long request = requests.arrived(4);
        List<Long> steps = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            int tokens = 1 << i;
            Thread engine = new Thread(() -> {
                steps.add(begin(PROMPTS));
                requests.inStep(request, 1);
                requests.gives(request, tokens);
            });
            engine.start();
            engine.join();
        }
        order.chars().forEach(each -> end(steps.get(each - '0'), 10));
        requests.finished(request, Outcome.COMPLETED);

        assertThat(onlyRecord().outputTokens()).isEqualTo(15);
        assertThat(onlyRecord().promptTokens()).isEqualTo(4);
        assertThat(onlyRecord().durationNs()).isEqualTo(40);
        assertThat(onlyRecord().causeNs().get(Cause.OWN_PROMPT)).isEqualTo(40);
        assertThat(requests.stats().counts().running()).isZero();
    }

    @Spec("25.8")
    @Test
    void anAbandonedStepAmongManyGivesNoTokens() throws Exception {
        long request = requests.arrived(4);
        List<Long> steps = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            Thread engine = new Thread(() -> {
                steps.add(begin(DECODING));
                requests.inStep(request, 0);
                requests.gives(request, 1);
            });
            engine.start();
            engine.join();
        }
        clock.advance(10);
        requests.stepAbandoned(steps.get(3), clock.nanoTime());
        requests.stepAbandoned(steps.get(0), clock.nanoTime());
        end(steps.get(1), 10);
        end(steps.get(2), 10);
        requests.finished(request, Outcome.COMPLETED);

        assertThat(onlyRecord().outputTokens()).isEqualTo(2);
        assertThat(onlyRecord().causeNs().get(Cause.DECODE)).isEqualTo(30);
        assertThat(requests.stats().counts().waiting()).isZero();
    }

    /** The request is added to two steps that began before an earlier step of it ended, but only after that end. */
    @Spec("25.4")
    @Test
    void noCauseHasNegativeTime() throws Exception {
        long request = requests.arrived(5);
        long own = begin(PROMPTS);
        requests.inStep(request, 5);
        ExecutorService first = Executors.newSingleThreadExecutor();
        ExecutorService second = Executors.newSingleThreadExecutor();
        try {
            clock.advance(5);
            long earlier = first.submit(() -> begin(DECODING)).get();
            clock.advance(2);
            long later = second.submit(() -> begin(PROMPTS)).get();
            end(own, 3);
            first.submit(() -> requests.inStep(request, 0)).get();
            second.submit(() -> requests.inStep(request, 0)).get();
            end(earlier, 5);
            end(later, 5);
        } finally {
            first.shutdown();
            second.shutdown();
        }
        requests.finished(request, Outcome.COMPLETED);

        Map<Cause, Long> causes = new EnumMap<>(onlyRecord().causeNs());
        causes.values().removeIf(ns -> ns == 0);
        assertThat(causes).isEqualTo(Map.of(Cause.OWN_PROMPT, 10L, Cause.DECODE_BESIDE_PROMPTS, 10L));
        assertThat(onlyRecord().durationNs()).isEqualTo(20);
    }

    @Spec("25.8")
    @Test
    void eachKindOfMisuseIsLoggedOnce() {
        try (CapturedLog log = new CapturedLog()) {
            for (int i = 0; i < 3; i++) {
                requests.inStep(0, 1);
                long step = begin(PROMPTS);
                requests.inStep(0, 1);
                long request = requests.arrived(1);
                requests.inStep(request, 2);
                requests.inStep(request, 1);
                end(step, 1);
                requests.cached(request, 2);
                requests.finished(request, Outcome.COMPLETED);
                requests.finished(request, Outcome.COMPLETED);
                requests.finished(requests.arrived(1), Outcome.LENGTH);
            }
            assertThat(ignored()).isEqualTo(21);
            for (String kind : List.of(
                    "the request is void",
                    "in no step",
                    "is in this step already",
                    "than were left",
                    "more tokens are cached",
                    "has finished or was given up",
                    "and no step worked on it")) {
                assertThat(log.linesWith(kind)).as(kind).isOne();
            }
        }
    }

    @Spec("25.11")
    @Test
    void aRequestWhoseStepsAreNoLongerKeptHasNoSegments() {
        long early = requests.arrived(0);
        for (int i = 0; i < 20_000; i++) {
            end(begin(DECODING), 1);
        }
        long late = requests.arrived(0);
        long step = begin(DECODING);
        requests.inStep(early, 0);
        requests.inStep(late, 0);
        end(step, 7);
        requests.finished(early, Outcome.COMPLETED);
        requests.finished(late, Outcome.COMPLETED);

        RequestTimeline timeline = requests.timeline().get();
        assertThat(timeline.requests())
                .extracting(RequestTimeline.Request::isComplete)
                .containsExactly(false, true);
        assertThat(timeline.segments().get(0)).isEmpty();
        assertThat(timeline.segments().get(1)).containsExactly(new RequestTimeline.Segment(Cause.DECODE, 20_000, 7, 1));
        assertThat(timeline.steps()).hasSizeLessThan(3);

        requests.statsAndReset();
        assertThat(requests.timeline().get()).isEqualTo(RequestTimeline.NONE);
        assertThat(requests.recent()).hasSize(2);
    }

    /** A clock of low resolution shows some steps without a duration. */
    @Spec("25.11")
    @Test
    void aStepWithoutDurationAtTheArrivalMayBeLost() {
        long request = requests.arrived(0);
        long step = begin(DECODING);
        requests.inStep(request, 0);
        end(step, 0);
        for (int i = 0; i < 16_384; i++) {
            end(begin(DECODING), 1);
        }
        requests.finished(request, Outcome.COMPLETED);

        assertThat(requests.timeline().get().requests())
                .extracting(RequestTimeline.Request::isComplete)
                .containsExactly(false);
    }

    @Spec("25.11")
    @Test
    void aTimelineRefusesWorkOfStepsThatItDoesNotHave() {
        RequestRecord record = new RequestRecord(0, 0, 0, 0, 0, 0, Outcome.COMPLETED, Map.of(), 0, 0);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> timelineOf(record, new RequestTimeline.Work(0, 1, 0, 5, true)))
                .withMessage("steps 0 to 1 of a request are not in order within 0..0");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> timelineOf(record, new RequestTimeline.Work(0, 0, 6, 5, true)))
                .withMessage("work on a request ends at 5, before its beginning 6");
    }

    private static RequestTimeline timelineOf(RequestRecord record, RequestTimeline.Work work) {
        return new RequestTimeline(
                List.of(new RequestTimeline.Step(0, 5, 1, true, false, 1, 0, 5)),
                List.of(new RequestTimeline.Request(record, List.of(work), List.of(), true)),
                0);
    }

    @Spec("25.8")
    @Test
    void aClockThatRunsBackwardsCorruptsNothing() {
        clock.advance(10_000_000);
        long request = requests.arrived(1);
        long step = begin(PROMPTS);
        requests.inStep(request, 1);
        clock.advance(-5_000_000);
        requests.stepEnded(step, clock.now(), 0);
        requests.finished(request, Outcome.COMPLETED);

        assertThat(onlyRecord().durationNs()).isZero();
        assertThat(onlyRecord().outputTokens()).isOne();
        assertThat(ignored()).isEqualTo(2);
    }

    @Spec("25.2")
    @Test
    void theRequestThatWasSilentLongestIsGivenUpWhenTheTableIsFull() {
        List<Long> handles = new ArrayList<>();
        for (int i = 0; i < LiveRequests.MOST; i++) {
            handles.add(requests.arrived(1));
        }
        long step = begin(PROMPTS);
        requests.inStep(handles.get(0), 1);
        end(step, 10);
        requests.arrived(1);
        requests.arrived(1);
        assertThat(requests.stats().counts().abandoned()).isEqualTo(2);
        assertThat(requests.stats().counts().waiting()).isEqualTo(LiveRequests.MOST - 1);
        assertThat(requests.stats().counts().running()).isOne();

        requests.finished(handles.get(1), Outcome.CANCELLED);
        requests.finished(handles.get(2), Outcome.CANCELLED);
        assertThat(ignored()).isEqualTo(2);
        requests.finished(handles.get(0), Outcome.COMPLETED);
        requests.finished(handles.get(3), Outcome.CANCELLED);
        assertThat(ignored()).isEqualTo(2);
        assertThat(requests.stats().counts().allFinished()).isEqualTo(2);
    }

    /** A long step is no silence. */
    @Spec("25.2")
    @Test
    void aRequestInAStepIsNotGivenUpForOneThatArrives() {
        long working = requests.arrived(1);
        long step = begin(PROMPTS);
        requests.inStep(working, 1);
        long finished = requests.arrived(1);
        requests.inStep(finished, 1);
        requests.finished(finished, Outcome.LENGTH);
        long silent = requests.arrived(1);
        for (int i = 0; i < LiveRequests.MOST - 2; i++) {
            requests.arrived(1);
        }
        end(step, 10);
        requests.finished(working, Outcome.COMPLETED);
        assertThat(ignored()).isZero();
        requests.finished(silent, Outcome.CANCELLED);
        assertThat(ignored()).isOne();

        RequestStats.Counts counts = requests.stats().counts();
        assertThat(counts.abandoned()).isOne();
        assertThat(counts.finished(Outcome.COMPLETED)).isOne();
        assertThat(counts.finished(Outcome.LENGTH)).isOne();
        assertThat(requests.stats().tokens().output()).isEqualTo(2);
    }

    @Spec("25.1")
    @Test
    void aRequestThatHasFinishedWithinAStepIsNotGivenUpWhenTheRecorderIsSwitchedOff() {
        long finished = requests.arrived(1);
        requests.arrived(1);
        long step = begin(PROMPTS);
        requests.inStep(finished, 1);
        requests.finished(finished, Outcome.COMPLETED);
        requests.disable();
        requests.stepAbandoned(step, clock.now());

        RequestStats.Counts counts = requests.stats().counts();
        assertThat(counts.finished(Outcome.COMPLETED)).isOne();
        assertThat(counts.abandoned()).isOne();
        assertThat(counts.waiting() + counts.running()).isZero();
    }

    @Spec("25.1")
    @Test
    void offMeansThatNothingIsRecordedAndLiveRequestsAreGivenUp() {
        long request = requests.arrived(1);
        requests.disable();
        assertThat(requests.isEnabled()).isFalse();
        assertThat(requests.arrived(1)).isZero();
        assertThat(requests.arrivedAt(0, 1)).isZero();
        requests.finished(request, Outcome.COMPLETED);
        assertThat(requests.stats().counts().abandoned()).isOne();
        assertThat(requests.stats().counts().arrived()).isOne();
        assertThat(ignored()).isZero();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> requests.arrived(-1))
                .withMessage("promptTokens -1 is negative");
    }

    /** A thread that has seen the recorder on may wait for its lock while another one switches it off. */
    @Spec("25.1")
    @Test
    void aCallThatWaitsWhileTheRecorderIsSwitchedOffRecordsNothing() throws Exception {
        long request = requests.arrived(1);
        List<Long> handles = new ArrayList<>();
        List<Thread> threads = List.of(
                new Thread(() -> handles.add(requests.arrived(1))),
                new Thread(() -> requests.finished(request, Outcome.COMPLETED)));
        synchronized (requests) {
            for (Thread thread : threads) {
                thread.start();
                while (thread.getState() != Thread.State.BLOCKED) {
                    Thread.onSpinWait();
                }
            }
            requests.disable();
        }
        for (Thread thread : threads) {
            thread.join();
        }

        assertThat(handles).containsExactly(0L);
        RequestStats.Counts counts = requests.stats().counts();
        assertThat(counts.waiting() + counts.running()).isZero();
        assertThat(counts.arrived()).isOne();
        assertThat(counts.ignoredCalls()).isZero();
    }

    @Spec("25.1")
    @Test
    void negativeNumbersAreRefused() {
        long request = requests.arrived(1);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> requests.arrivedAt(0, -1))
                .withMessage("promptTokens -1 is negative");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> requests.cached(request, -2))
                .withMessage("promptTokens -2 is negative");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> requests.inStep(request, -3))
                .withMessage("promptTokens -3 is negative");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> requests.gives(request, -4))
                .withMessage("tokens -4 is negative");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> requests.tokenized(request, -5))
                .withMessage("promptTokens -5 is negative");
    }

    @Spec("25.9")
    @Test
    void theSlowestAreKeptAndTheirCausesAreThoseUpToTheFirstToken() {
        for (int i = 1; i <= 100; i++) {
            long request = requests.arrived(1);
            clock.advance(i <= 99 ? 10 : 1_000);
            long step = begin(PROMPTS);
            requests.inStep(request, 1);
            end(step, 5);
            clock.advance(7);
            requests.finished(request, Outcome.COMPLETED);
        }

        RequestStats stats = requests.stats();
        assertThat(stats.slowestFirstTokens()).hasSize(RequestStats.SLOWEST);
        assertThat(stats.slowestFirstTokens().get(0).timeToFirstTokenNs()).isEqualTo(1_005);
        assertThat(stats.longestGaps()).isEmpty();
        assertThat(stats.firstTokenCauses(45, 55))
                .containsEntry(Cause.QUEUED_IDLE, 10.0)
                .containsEntry(Cause.OWN_PROMPT, 5.0)
                .containsEntry(Cause.DELIVERY, 0.0);
        assertThat(stats.firstTokenCauses(99, 100)).containsEntry(Cause.QUEUED_IDLE, 1_000.0);
        assertThatIllegalArgumentException().isThrownBy(() -> stats.firstTokenCauses(50, 50));
    }

    /** Parts of a prompt give no token before the whole of it is known and done. */
    @Spec("25.15")
    @Test
    void thePromptMayBeKnownAfterTheArrival() {
        long request = requests.arrived(0);
        requests.tokenized(request, 10);
        requests.cached(request, 4);
        for (int part = 0; part < 2; part++) {
            long step = begin(PROMPTS);
            requests.inStep(request, 3);
            end(step, 5);
            assertThat(requests.stats().latencies().timeToFirstToken().count()).isEqualTo(part);
        }
        assertThat(ignored()).isZero();
        requests.tokenized(request, 9);
        assertThat(ignored()).isEqualTo(1);
        requests.finished(request, Outcome.COMPLETED);
        assertThat(onlyRecord().promptTokens()).isEqualTo(10);
        requests.tokenized(request, 9);
        assertThat(ignored()).isEqualTo(2);
    }

    @Spec("25.15")
    @Test
    void aRequestWhoseEndNobodyAnnouncesIsGivenUp() {
        long request = requests.arrived(3);
        long step = begin(PROMPTS);
        requests.inStep(request, 3);
        requests.abandoned(request);
        end(step, 5);
        requests.finished(request, Outcome.COMPLETED);

        RequestStats.Counts counts = requests.stats().counts();
        assertThat(counts.abandoned()).isEqualTo(1);
        assertThat(counts.waiting() + counts.running() + counts.allFinished()).isZero();
        assertThat(requests.stats().latencies().timeToFirstToken().count()).isZero();
        assertThat(counts.ignoredCalls()).isEqualTo(1);
    }

    @Spec("25.2")
    @Test
    void aResetForgetsEverything() {
        long request = requests.arrived(1);
        long step = begin(PROMPTS);
        requests.inStep(request, 1);
        requests.reset();
        requests.stepEnded(step, clock.now(), 0);

        assertThat(requests.stats()).isEqualTo(RequestStats.NONE);
        assertThat(requests.recent()).isEmpty();
        clock.advance(10);
        long next = requests.arrived(1);
        clock.advance(10);
        requests.finished(next, Outcome.CANCELLED);
        assertThat(onlyRecord().causeNs().get(Cause.QUEUED_IDLE)).isEqualTo(10);
    }

    @Spec("25.2")
    @Test
    void requestsAllocateNothing() {
        Runnable serve = () -> {
            long request = requests.arrived(0);
            long step = requests.stepBegan(DECODING, 0, clock.now());
            requests.inStep(request, 0);
            requests.gives(request, 2);
            clock.advance(5);
            requests.stepEnded(step, clock.now(), 0);
            requests.finished(request, Outcome.COMPLETED);
        };
        AllocatedBytes.ofCalls(3_000, serve);

        assertThat(AllocatedBytes.fewest(10, () -> AllocatedBytes.ofCalls(1_000, serve)))
                .isZero();
    }

    /** On a real clock: the constructor of a record refuses one whose causes do not sum to its duration. */
    @Spec("25.4")
    @Test
    void threadsThatServeAtOnceLoseNothing() throws Exception {
        RequestRecorder shared = new RequestRecorder(System::nanoTime, () -> 0);
        shared.enable();
        int threads = 4;
        int each = 2_000;
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        try {
            List<Future<?>> all = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                boolean prompts = i % 2 == 0;
                all.add(pool.submit(() -> {
                    long before = shared.arrived(1);
                    for (int n = 0; n < each; n++) {
                        long request = shared.arrived(1);
                        try (RequestRecorder.Scope scope = shared.serve(request)) {
                            assertThat(scope).isNotNull();
                            shared.stepEnded(shared.stepBegan(prompts, 1, System.nanoTime()), System.nanoTime(), 0);
                        }
                        shared.finished(before, Outcome.CANCELLED);
                        before = request;
                    }
                    shared.finished(before, Outcome.COMPLETED);
                }));
            }
            long arrived = 0;
            for (int reading = 0; reading < 100; reading++) {
                RequestStats.Counts between = shared.stats().counts();
                assertThat(between.arrived()).isBetween(arrived, (long) threads * (each + 1));
                assertThat(between.allFinished() + between.waiting() + between.running())
                        .as("requests that arrived, by state")
                        .isEqualTo(between.arrived());
                arrived = between.arrived();
            }
            for (Future<?> one : all) {
                one.get();
            }
        } finally {
            pool.shutdown();
        }

        RequestStats stats = shared.stats();
        assertThat(stats.counts().arrived()).isEqualTo((long) threads * (each + 1));
        assertThat(stats.counts().allFinished()).isEqualTo((long) threads * (each + 1));
        assertThat(stats.counts().waiting() + stats.counts().running()).isZero();
        assertThat(stats.counts().ignoredCalls()).isZero();
        assertThat(stats.tokens().output()).isEqualTo((long) threads * each);
        assertThat(shared.recent()).hasSize(1_024);
    }

    @Spec("20.7")
    @Test
    void sumsAreTheStatsWithoutSingleRequests() {
        long request = requests.arrived(10);
        requests.model(request, "small");
        for (int token = 0; token < 2; token++) {
            long step = begin(token == 0);
            requests.inStep(request, 10);
            end(step, 1_000);
        }
        requests.finished(request, Outcome.COMPLETED);
        requests.arrived(10);

        RequestStats whole = requests.stats();
        RequestStats sums = requests.sums();
        assertThat(whole.slowestFirstTokens()).hasSize(1);
        assertThat(whole.longestGaps()).hasSize(1);
        assertThat(whole.firstTokenCauseNs()).hasSize(1);
        assertThat(whole.oldestLive()).hasSize(1);
        assertThat(whole.models()).hasSize(1);
        assertThat(sums)
                .usingRecursiveComparison()
                .ignoringFields("slowestFirstTokens", "longestGaps", "firstTokenCauseNs", "oldestLive")
                .isEqualTo(whole);
        assertThat(sums.slowestFirstTokens()).isEmpty();
        assertThat(sums.longestGaps()).isEmpty();
        assertThat(sums.firstTokenCauseNs()).isEmpty();
        assertThat(sums.oldestLive()).isEmpty();
    }
}
