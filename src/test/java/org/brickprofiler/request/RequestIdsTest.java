package org.brickprofiler.request;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.brickprofiler.internal.record.WallClock;
import org.brickprofiler.testing.AllocatedBytes;
import org.brickprofiler.testing.CapturedLog;
import org.brickprofiler.testing.FakeClock;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

@Spec("25.21")
final class RequestIdsTest {

    private final FakeClock clock = new FakeClock(50);
    private final RequestRecorder requests = new RequestRecorder(clock, () -> 50);

    @BeforeEach
    void on() {
        requests.enable();
    }

    private long named(String id) {
        long request = requests.arrived(1);
        requests.named(request, id);
        return request;
    }

    private void serve(long request, long ns) {
        long step = requests.stepBegan(true, 1, clock.now());
        requests.inStep(request, 1);
        clock.advance(ns);
        requests.stepEnded(step, clock.now(), 0);
        requests.finished(request, Outcome.COMPLETED);
    }

    private static String id(RequestRecord record) {
        return record.identity().id().orElse("-");
    }

    @Test
    void everyKeptRequestHasItsId() {
        for (int i = 0; i < 2_000; i++) {
            serve(i % 3 == 0 ? requests.arrived(1) : named("id " + i), 10 + i);
        }

        List<RequestRecord> recent = requests.recent();
        assertThat(recent).hasSize(1_024);
        assertThat(requests.timeline().get().requests())
                .extracting(RequestTimeline.Request::record)
                .isEqualTo(recent);
        for (int i = 0; i < recent.size(); i++) {
            int number = 2_000 - 1_024 + i;
            assertThat(id(recent.get(i))).isEqualTo(number % 3 == 0 ? "-" : "id " + number);
        }
        assertThat(requests.stats().slowestFirstTokens()).hasSize(16).allSatisfy(record -> assertThat(id(record))
                .isEqualTo((record.durationNs() - 10) % 3 == 0 ? "-" : "id " + (record.durationNs() - 10)));
    }

    @Test
    void theOldestLiveRequestsAreListed() {
        for (int i = 0; i < 20; i++) {
            named("id " + i);
            clock.advance(100);
        }
        long step = requests.stepBegan(true, 1, clock.now());
        long running = requests.arrived(7);
        requests.inStep(running, 7);
        clock.advance(5);
        requests.stepEnded(step, clock.now(), 0);

        List<LiveRequest> oldest = requests.stats().oldestLive();
        assertThat(oldest).hasSize(16);
        assertThat(oldest.get(0))
                .isEqualTo(
                        new LiveRequest(2_005, false, 1, 0, RequestIdentity.of("id 0", WallClock.UNKNOWN, null, null)));
        assertThat(oldest.get(15).identity().id()).contains("id 15");

        requests.reset();
        named("new");
        requests.inStep(running, 1);
        long only = requests.stepBegan(false, 0, clock.now());
        long decoding = requests.arrived(0);
        requests.inStep(decoding, 0);
        clock.advance(5);
        requests.stepEnded(only, clock.now(), 0);
        assertThat(requests.stats().oldestLive())
                .extracting(LiveRequest::isRunning, LiveRequest::outputTokens, live -> live.identity()
                        .id())
                .containsExactlyInAnyOrder(tuple(false, 0L, Optional.of("new")), tuple(true, 1L, Optional.empty()));
    }

    /** Requests that arrived earlier may have had a step more recently. */
    @Test
    void theOldestAreThoseThatArrivedFirst() {
        long first = requests.arrived(1);
        clock.advance(1);
        for (int i = 0; i < 30; i++) {
            requests.arrived(1);
        }
        long step = requests.stepBegan(true, 1, clock.now());
        requests.inStep(first, 1);
        requests.stepEnded(step, clock.now(), 0);

        assertThat(requests.stats().oldestLive().get(0))
                .isEqualTo(new LiveRequest(1, true, 1, 1, RequestIdentity.NONE));
    }

    @Test
    void theSlotOfANamedRequestIsUsedAgainWithoutTheName() {
        serve(named("before"), 5);
        serve(requests.arrived(1), 5);
        long abandoned = named("abandoned");
        requests.abandoned(abandoned);
        serve(requests.arrived(1), 5);

        assertThat(requests.recent()).extracting(RequestIdsTest::id).containsExactly("before", "-", "-");
    }

    @Test
    void theLatestNameCountsAndAnEmptyOneRemovesIt() {
        long request = named("one");
        requests.named(request, "two");
        serve(request, 5);
        request = named("three");
        requests.named(request, "");
        serve(request, 5);

        assertThat(requests.recent()).extracting(RequestIdsTest::id).containsExactly("two", "-");
    }

    @Test
    void namesOfRequestsThatAreNotLiveAreIgnored() {
        long request = named("one");
        serve(request, 5);
        requests.named(request, "late");
        requests.named(0, "void");
        requests.disable();
        requests.named(request, "off");

        assertThat(requests.recent()).extracting(RequestIdsTest::id).containsExactly("one");
        assertThat(requests.stats().counts().ignoredCalls()).isEqualTo(2);
    }

    @Test
    void aLongIdIsCutAndCounted() {
        CapturedLog log = new CapturedLog();
        try (log) {
            serve(named("x".repeat(128)), 5);
            assertThat(requests.stats().counts().ignoredCalls()).isZero();
            serve(named("y".repeat(1_000_000)), 5);
            serve(named("z".repeat(127) + "\ud83d\ude00"), 5);
        }

        assertThat(requests.recent())
                .extracting(RequestIdsTest::id)
                .containsExactly("x".repeat(128), "y".repeat(128), "z".repeat(127));
        assertThat(requests.stats().counts().ignoredCalls()).isEqualTo(2);
        assertThat(log.lines()).singleElement().asString().contains("more than 128 characters", "1000000");
    }

    /** What an application passes by mistake is not held in memory. */
    @Test
    void aLongIdIsNotHeld() {
        long request = requests.arrived(1);
        WeakReference<String> held = nameAtLength(request);

        for (int i = 0; i < 100 && held.get() != null; i++) {
            System.gc();
        }
        assertThat(held.get()).isNull();
        serve(request, 5);
        assertThat(id(requests.recent().get(0))).hasSize(128);
    }

    private WeakReference<String> nameAtLength(long request) {
        String given = new String(new char[1_000_000]);
        requests.named(request, given);
        return new WeakReference<>(given);
    }

    @Test
    void halvesOfCharactersAreReplaced() {
        assertThat(RequestIdentity.of("a\ud83db\ude00c\ud83d\ude00", WallClock.UNKNOWN, null, null)
                        .id())
                .contains("a\ufffdb\ufffdc\ud83d\ude00");
        assertThat(RequestIdentity.of("", WallClock.UNKNOWN, null, null).id()).isEmpty();
    }

    @Test
    void aNameAllocatesNothing() {
        String[] ids = {"one", "two"};
        int[] next = {0};
        Runnable serve = () -> {
            long request = requests.arrived(1);
            requests.named(request, ids[next[0]++ & 1]);
            serve(request, 1_000);
        };
        AllocatedBytes.ofCalls(3_000, serve);

        assertThat(AllocatedBytes.fewest(10, () -> AllocatedBytes.ofCalls(1_000, serve)))
                .isZero();
    }

    @Test
    void aReadingKeepsTheLiveRequestsOfTheLatestPart() {
        named("one");
        RequestStats stats = requests.stats();
        LiveRequest other = new LiveRequest(99, true, 0, 0, RequestIdentity.NONE);
        RequestStats others = new RequestStats(
                RequestStats.NONE.counts(),
                RequestStats.NONE.tokens(),
                RequestStats.NONE.latencies(),
                Map.of(),
                RequestStats.NONE.firstTokenCauseNs(),
                List.of(),
                List.of(),
                List.of(),
                Map.of(),
                List.of(other),
                RequestStats.NONE.models(),
                RequestStats.Waits.NONE);

        assertThat(stats.since(RequestStats.NONE).oldestLive()).isEqualTo(stats.oldestLive());
        assertThat(stats.merge(others).oldestLive())
                .containsExactly(other, stats.oldestLive().get(0));
        assertThat(others.merge(stats)).isEqualTo(stats.merge(others));
        assertThat(stats.withLiveOf(RequestStats.NONE).oldestLive()).isEmpty();
        assertThat(stats.withLiveOf(RequestStats.NONE).counts().waiting()).isZero();
        assertThat(RequestStats.NONE.withLiveOf(stats).oldestLive()).isEqualTo(stats.oldestLive());
    }

    @Spec("25.24")
    @Test
    void requestsKeepTheTraceInWhichTheyArrived() {
        Object[] context = {"span"};
        List<Object> finished = new ArrayList<>();
        requests.onFinished(
                () -> true,
                (record, trace) -> finished.add(trace.map(RequestTrace::context).orElse("-")));
        requests.setTraceSource(
                () -> "none".equals(context[0]) ? null : new RequestTrace("trace " + context[0], context[0]));
        long first = requests.arrived(1);
        context[0] = "none";
        long second = requests.arrived(1);
        context[0] = "late";
        long third = requests.arrivedAt(0, 1);
        requests.traced(second, new RequestTrace("other", "explicit"));
        assertThat(requests.stats().oldestLive())
                .extracting(live -> live.identity().traceId().orElse("-"))
                .containsExactlyInAnyOrder("trace span", "other", "trace late");
        serve(third, 5);
        serve(second, 5);
        serve(first, 5);
        context[0] = "none";
        serve(requests.arrived(1), 5);
        requests.traced(first, new RequestTrace("too late", "x"));

        assertThat(requests.recent())
                .extracting(record -> record.identity().traceId().orElse("-"))
                .containsExactly("trace late", "other", "trace span", "-");
        assertThat(requests.timeline().get().requests())
                .extracting(RequestTimeline.Request::record)
                .isEqualTo(requests.recent());
        assertThat(finished).containsExactly("late", "explicit", "span", "-");
        assertThat(requests.stats().counts().ignoredCalls()).isOne();
    }

    @Spec("25.24")
    @Test
    void aSourceOfTracesThatFailsCostsNoRequest() {
        requests.setTraceSource(() -> {
            throw new IllegalStateException("no tracer");
        });
        serve(requests.arrived(1), 5);
        assertThat(requests.recent())
                .singleElement()
                .satisfies(record -> assertThat(record.identity().traceId()).isEmpty());
    }
}
