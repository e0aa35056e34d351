package org.brickprofiler.request;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.brickprofiler.internal.record.FakeClock;
import org.brickprofiler.internal.record.LatencyBuckets;
import org.brickprofiler.stats.LatencyDistribution;

/** Requests for tests of what is made of them. */
public final class RequestSamples {

    private RequestSamples() {}

    /** Requests whose numbers follow from some numbers of 0 or more; none if the first of them is 0. */
    public static RequestStats of(List<Long> numbers) {
        long first = numbers.get(0);
        if (first == 0) {
            return RequestStats.NONE;
        }
        long second = numbers.get(1);
        LatencyDistribution times = distribution(first, second);
        Map<Cause, Long> causes = Map.of(Cause.OWN_PROMPT, first, Cause.DECODE, second);
        List<RequestRecord> records = List.of(RequestRecord.builder()
                .arrivedNs(second)
                .durationNs(first + second)
                .timeToFirstTokenNs(first)
                .promptTokens(numbers.get(2))
                .outputTokens(2)
                .outcome(Outcome.LENGTH)
                .causeNs(causes)
                .longestGapNs(1 + second)
                .build());
        return new RequestStats(
                new RequestStats.Counts(first, second, 1, Map.of(Outcome.LENGTH, second), 3, 4),
                new RequestStats.Tokens(second, 0, first),
                new RequestStats.Latencies(times, times, times, times, times),
                causes,
                new TreeMap<>(Map.of((int) (first % LatencyBuckets.COUNT), causes)),
                records,
                records);
    }

    /** 200 requests that a recorder saw: 196 were answered soon, two late, one was cancelled, and one waits. */
    public static RequestStats twoOfThemSlow() {
        FakeClock clock = new FakeClock();
        RequestRecorder requests = new RequestRecorder(clock, () -> 0);
        requests.enable();
        requests.finished(0, Outcome.FAILED);
        for (int i = 0; i < 198; i++) {
            long request = requests.arrived(64);
            if (i >= 196) {
                long others = requests.stepBegan(true, 0, clock.now());
                clock.advance(1_400_000_000);
                requests.stepEnded(others, clock.now(), 0);
                clock.advance(400_000_000);
            }
            clock.advance(2_000_000);
            long prompt = requests.stepBegan(true, 0, clock.now());
            requests.inStep(request, 64);
            clock.advance(40_000_000 + i * 10_000);
            requests.stepEnded(prompt, clock.now(), 0);
            for (int token = 0; token < 3; token++) {
                clock.advance(100_000);
                long decoding = requests.stepBegan(false, 0, clock.now());
                requests.inStep(request, 0);
                clock.advance(2_500_000);
                requests.stepEnded(decoding, clock.now(), 0);
            }
            requests.finished(request, Outcome.COMPLETED);
        }
        long cancelled = requests.arrived(1_000);
        clock.advance(300_000_000);
        requests.finished(cancelled, Outcome.CANCELLED);
        requests.arrived(10);
        return requests.stats();
    }

    private static LatencyDistribution distribution(long... ns) {
        long[] counts = new long[LatencyBuckets.COUNT];
        for (long each : ns) {
            counts[LatencyBuckets.indexOf(each)]++;
        }
        return LatencyDistribution.ofCounts(counts);
    }
}
