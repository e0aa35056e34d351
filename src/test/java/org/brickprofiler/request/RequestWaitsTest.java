package org.brickprofiler.request;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.brickprofiler.internal.record.WallClock;
import org.brickprofiler.request.WaitSource.Split;
import org.brickprofiler.request.WaitSource.Waiting;
import org.brickprofiler.testing.CapturedLog;
import org.brickprofiler.testing.FakeClock;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The waits of requests by a source that a test controls. */
final class RequestWaitsTest {

    private final FakeClock clock = new FakeClock(50);
    private final RequestRecorder requests = new RequestRecorder(clock, () -> 50);
    private final List<List<Waiting>> asked = new ArrayList<>();

    /** Finds a collection of 3 ns in each request that waited, and a lock in the rest. */
    private final WaitSource source = new WaitSource() {
        @Override
        public String name() {
            return "a test";
        }

        @Override
        public Split split(List<Waiting> times) {
            asked.add(times);
            long waitedNs = times.stream().mapToLong(Waiting::waitedNs).sum();
            return waitedNs == 0
                    ? new Split(Map.of(), Optional.empty())
                    : new Split(Map.of(Wait.GC, 3L, Wait.BLOCKED, waitedNs - 10), Optional.of("a lock"));
        }
    };

    @BeforeEach
    void on() {
        requests.enable();
    }

    private void step(long request, long ns) {
        long step = requests.stepBegan(false, 0, clock.now());
        requests.inStep(request, 0);
        clock.advance(ns);
        requests.stepEnded(step, clock.now(), 0);
    }

    /** Serves a request that waits for 20 ns, and then for 30. */
    private long served() {
        long request = requests.arrived(0);
        clock.advance(20);
        step(request, 5);
        clock.advance(30);
        step(request, 5);
        clock.advance(7);
        requests.finished(request, Outcome.COMPLETED);
        return request;
    }

    private RequestRecord latest() {
        List<RequestRecord> recent = requests.recent();
        return recent.get(recent.size() - 1);
    }

    @Spec("25.32")
    @Test
    void theSourceIsAskedOnceForTheTimesBetweenTheStepsOfEachRequest() {
        requests.setWaitSource(source);
        served();
        assertThat(latest().waitNs()).isEqualTo(waits(0, 0, 50));
        assertThat(requests.stats().waits()).isEqualTo(RequestStats.Waits.NONE);
        RequestStats before = requests.stats();

        requests.splitWaits(clock.now() - 1);
        assertThat(asked).isEmpty();
        requests.splitWaits(clock.now());
        requests.splitWaits(clock.now());

        long thread = Thread.currentThread().getId();
        assertThat(asked).containsExactly(List.of(new Waiting(50, 70, 20, thread), new Waiting(75, 105, 30, thread)));
        assertThat(latest().waitNs()).isEqualTo(waits(3, 40, 7));
        assertThat(latest().lock()).contains("a lock");
        RequestStats stats = requests.stats();
        assertThat(stats.waits().ns()).isEqualTo(waits(3, 40, 7));
        assertThat(stats.waits().sources()).containsExactly("a test");
        assertThat(stats.slowestFirstTokens()).containsExactly(latest());
        assertThat(stats.longestGaps()).containsExactly(latest());
        assertThat(requests.lastMinutes().get(0).slowestFirstToken()).contains(latest());
        assertThat(requests.timeline().get().requests().get(0).record()).isEqualTo(latest());

        // The request was among the slowest before, too, with unknown waits.
        RequestStats since = stats.since(before);
        assertThat(since.slowestFirstTokens()).isEmpty();
        assertThat(since.waits().ns()).isEqualTo(waits(3, 40, 7));
        assertThat(since.merge(stats).waits().ns()).isEqualTo(waits(6, 80, 14));
    }

    @Spec("25.32")
    @Test
    void ownWorkBetweenTwoStepsIsPartOfTheTimeAndNotOfTheWait() {
        RequestRecorder working = new RequestRecorder(
                clock,
                () -> 50,
                new RequestRecorder.OwnWork() {
                    @Override
                    public void begin(long atNs) {}

                    @Override
                    public long endNs(long atNs) {
                        return 8;
                    }
                },
                clockNs -> WallClock.UNKNOWN);
        working.enable();
        working.setWaitSource(source);
        long request = working.arrived(0);
        try (RequestRecorder.Scope scope = working.serve(request)) {
            assertThat(scope).isNotNull();
            clock.advance(20);
            long step = working.stepBegan(false, 0, clock.now());
            clock.advance(5);
            working.stepEnded(step, clock.now(), 0);
            working.finished(request, Outcome.COMPLETED);
        }
        working.splitWaits(clock.now());

        assertThat(asked)
                .containsExactly(
                        List.of(new Waiting(50, 70, 12, Thread.currentThread().getId())));
    }

    @Spec("25.32")
    @Test
    void aRequestThatNoStepWorksOnWaitsForNoThread() {
        requests.setWaitSource(source);
        long request = requests.arrived(0);
        clock.advance(20);
        requests.finished(request, Outcome.CANCELLED);
        requests.splitWaits(clock.now());

        assertThat(asked).containsExactly(List.of(new Waiting(50, 70, 20, -1)));
    }

    @Spec("25.32")
    @Test
    void waitsAreUnknownWithoutASourceAndAfterItsEnd() {
        served();
        assertThat(requests.stats().waits().ns()).isEqualTo(waits(0, 0, 50));
        assertThat(requests.stats().waits().sources()).isEmpty();

        requests.setWaitSource(source);
        served();
        assertThat(requests.stats().waits().ns()).isEqualTo(waits(0, 0, 50));
        requests.removeWaitSource(source);
        requests.splitWaits(clock.now());
        assertThat(requests.stats().waits().ns()).isEqualTo(waits(0, 0, 100));
        assertThat(asked).isEmpty();
    }

    @Spec("25.32")
    @Test
    void ofMoreRequestsThanAreRememberedTheOldestAreUnknown() {
        requests.setWaitSource(source);
        for (int i = 0; i < 1_026; i++) {
            served();
        }
        assertThat(requests.stats().waits().ns()).isEqualTo(waits(0, 0, 100));
        requests.splitWaits(clock.now());
        assertThat(asked).hasSize(1_024);
        assertThat(requests.stats().waits().ns()).isEqualTo(waits(1_024 * 3, 1_024 * 40, 100 + 1_024 * 7));

        requests.reset();
        assertThat(requests.stats().waits()).isEqualTo(RequestStats.Waits.NONE);
        served();
        requests.splitWaits(clock.now());
        assertThat(requests.stats().waits().ns()).isEqualTo(waits(3, 40, 7));
    }

    @Spec("25.32")
    @Test
    void aSourceThatFailsOrStatesTooMuchLeavesWaitsUnknown() {
        requests.setWaitSource(new WaitSource() {
            private boolean fails;

            @Override
            public String name() {
                return "a broken source";
            }

            @Override
            public Split split(List<Waiting> times) {
                fails = !fails;
                if (fails) {
                    throw new IllegalStateException("broken");
                }
                return new Split(Map.of(Wait.GC, 51L), Optional.empty());
            }
        });
        served();
        served();
        try (CapturedLog log = new CapturedLog()) {
            requests.splitWaits(clock.now());
            assertThat(log.linesWith("a broken source could not split the waits of a request, which are unknown:"
                            + " java.lang.IllegalStateException: broken; not logged again"))
                    .isEqualTo(1);
            assertThat(log.linesWith("WARN")).isEqualTo(1);
        }
        assertThat(requests.stats().waits().ns()).isEqualTo(waits(0, 0, 100));
    }

    @Spec("25.32")
    @Test
    void aRecordsWaitsSumToItsQueuedAndStalledTime() {
        RequestRecord record = record(Map.of(Wait.GC, 30L));
        assertThat(record.waitingNs()).isEqualTo(40);
        assertThat(record.waitNs()).isEqualTo(waits(30, 0, 10));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> record(Map.of(Wait.GC, 30L, Wait.UNKNOWN, 11L)))
                .withMessage("the waits sum to 41 ns, and the request waited for 40 ns");
        assertThatIllegalArgumentException().isThrownBy(() -> record(Map.of(Wait.GC, -1L)));
        assertThatIllegalArgumentException().isThrownBy(() -> new Waiting(0, 5, 6, 1));
        assertThatIllegalArgumentException().isThrownBy(() -> new Waiting(0, 5, -1, 1));
    }

    private static RequestRecord record(Map<Wait, Long> waits) {
        return new RequestRecord(
                0,
                100,
                50,
                1,
                0,
                1,
                Outcome.COMPLETED,
                Map.of(Cause.QUEUED_IDLE, 40L, Cause.OWN_PROMPT, 10L, Cause.DELIVERY, 50L),
                0,
                0,
                RequestIdentity.NONE,
                waits,
                Optional.empty());
    }

    private static Map<Wait, Long> waits(long gcNs, long blockedNs, long unknownNs) {
        return Map.of(
                Wait.GC,
                gcNs,
                Wait.BLOCKED,
                blockedNs,
                Wait.THROTTLED,
                0L,
                Wait.NO_PROCESSOR,
                0L,
                Wait.UNKNOWN,
                unknownNs);
    }
}
