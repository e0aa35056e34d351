package org.brickprofiler.request;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.StepInfo;
import org.brickprofiler.stats.LatencyDistribution;
import org.brickprofiler.testing.AllocatedBytes;
import org.brickprofiler.testing.FakeClock;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The requests of the last 1, 5 and 60 minutes, on a clock of the test. */
@Spec("25.31")
final class RecentRequestsTest {

    private static final long MS = 1_000_000;
    private static final long S = 1_000 * MS;

    private final FakeClock clock = new FakeClock();
    private final BrickProfiler profiler = BrickProfiler.builder().clock(clock).build();
    private final RequestRecorder requests = profiler.requests();

    RecentRequestsTest() {
        profiler.enable();
    }

    /** Serves a request whose first token takes a time, half of which is its prompt, and a second token. */
    private void serve(long firstTokenNs, long perTokenNs) {
        long request = requests.arrived(4);
        clock.advance(firstTokenNs - firstTokenNs / 2);
        profiler.beginStep(StepInfo.prefill(4));
        requests.inStep(request, 4);
        clock.advance(firstTokenNs / 2);
        profiler.endPass();
        profiler.beginStep(StepInfo.decode(5));
        requests.inStep(request, 0);
        clock.advance(perTokenNs);
        profiler.endPass();
        requests.finished(request, Outcome.COMPLETED);
    }

    private RecentRequests window(int minutes) {
        return requests.lastMinutes().stream()
                .filter(each -> each.minutes() == minutes)
                .findFirst()
                .orElseThrow();
    }

    private long p99Ms(int minutes) {
        return window(minutes).timeToFirstToken().percentileNs(99) / MS;
    }

    @Test
    void withoutRequestsTheWindowsAreEmpty() {
        assertThat(requests.lastMinutes()).extracting(RecentRequests::minutes).containsExactly(1, 5, 60);
        assertThat(window(60).text()).isEqualTo("Last 60 minutes: 0 requests finished.");
        requests.finished(requests.arrived(1), Outcome.FAILED);
        assertThat(window(1).text()).isEqualTo("Last 1 minute: 1 request finished, 1 of them failed.");
        assertThat(profiler.progress().recent()).isEqualTo(requests.lastMinutes());
    }

    @Test
    void afterAnIncidentTheNumbersRecover() {
        for (int i = 0; i < 20; i++) {
            serve(2_000 * MS, 100 * MS);
        }
        assertThat(p99Ms(1)).isBetween(1_980L, 2_020L);
        clock.advance(71 * S);
        for (int i = 0; i < 5; i++) {
            serve(10 * MS, MS);
        }
        assertThat(p99Ms(1)).isEqualTo(10);
        assertThat(window(1).finished()).isEqualTo(5);
        assertThat(p99Ms(5)).isBetween(1_980L, 2_020L);
        assertThat(window(5).text())
                .startsWith("Last 5 minutes: 25 requests finished. Time to first token: p50 ")
                .contains(
                        " The slowest: 2.00 s; queued while no step ran 1.00 s. Time per output token: ",
                        " The slowest: 100.00 ms; decoding 100.00 ms.");
        clock.advance(361 * S);
        serve(10 * MS, MS);
        assertThat(p99Ms(5)).isEqualTo(10);
        assertThat(p99Ms(60)).isBetween(1_980L, 2_020L);
        clock.advance(3_661 * S);
        serve(10 * MS, MS);
        assertThat(p99Ms(60)).isEqualTo(10);
        assertThat(window(60).finished()).isEqualTo(1);
    }

    /** The exact percentiles of all requests of the latest minutes and of one slot more enclose each window's. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void eachWindowHasTheRequestsOfItsTime(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        long[] finishNs = new long[3_000];
        long[] firstNs = new long[finishNs.length];
        for (int i = 0; i < finishNs.length; i++) {
            firstNs[i] = random.nextLong(1, 900 * MS);
            serve(firstNs[i], 1);
            finishNs[i] = clock.now();
            clock.advance(random.nextLong(4 * S));
            if (i % 100 == 0) {
                for (RecentRequests window : requests.lastMinutes()) {
                    long fromNs = clock.now() - window.lengthNs();
                    long[] expected = LongStream.range(0, i + 1)
                            .filter(each -> finishNs[(int) each] >= fromNs)
                            .map(each -> firstNs[(int) each])
                            .sorted()
                            .toArray();
                    assertThat(window.finished()).isEqualTo(expected.length);
                    if (expected.length > 0) {
                        double exact = expected[(int) Math.ceil(expected.length * 0.9) - 1];
                        assertThat((double) window.timeToFirstToken().percentileNs(90))
                                .isCloseTo(exact, within(1 + exact * LatencyDistribution.RELATIVE_ERROR));
                        assertThat(window.slowestFirstToken().orElseThrow().timeToFirstTokenNs())
                                .isEqualTo(expected[expected.length - 1]);
                    }
                    long longestNs = window.minutes() == 1 ? 70 * S : (window.minutes() + 1L) * 60 * S;
                    assertThat(window.lengthNs()).isLessThanOrEqualTo(longestNs);
                }
            }
        }
    }

    /** The first finish makes all slots, and later ones, also of other periods, allocate nothing. */
    @Test
    void theMemoryIsBounded() {
        RecentSlots slots = new RecentSlots(0, new RequestModels());
        long[] record = new long[RequestRecord.CELLS];
        record[RequestRecord.OUTPUT_TOKENS] = 2;
        assertThat(AllocatedBytes.of(() -> slots.add(record, "id", null, 0))).isBetween(1_000_000L, 1_500_000L);
        long[] at = {0};
        assertThat(AllocatedBytes.fewest(
                        10, () -> AllocatedBytes.ofCalls(100, () -> slots.add(record, "id", null, at[0] += 7 * S))))
                .isZero();
    }

    @Test
    void aResetForgetsAndWindowsOfTheExportDoNot() {
        serve(10 * MS, MS);
        requests.statsAndReset();
        assertThat(window(1).finished()).isEqualTo(1);
        clock.advance(S);
        profiler.reset();
        assertThat(requests.lastMinutes()).extracting(RecentRequests::finished).isEqualTo(List.of(0L, 0L, 0L));
        clock.advance(S);
        assertThat(window(60).lengthNs()).isEqualTo(S);
    }
}
