package org.brickprofiler.testing;

import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import org.brickprofiler.internal.record.LatencyBuckets;
import org.brickprofiler.request.Cause;
import org.brickprofiler.request.LiveRequest;
import org.brickprofiler.request.Outcome;
import org.brickprofiler.request.RequestIdentity;
import org.brickprofiler.request.RequestRecord;
import org.brickprofiler.request.RequestRecorder;
import org.brickprofiler.request.RequestStats;
import org.brickprofiler.request.RequestTimeline;
import org.brickprofiler.request.Wait;
import org.brickprofiler.stats.LatencyDistribution;

/** Sample requests for tests of their statistics and reports. */
public final class RequestSamples {

    /** An id that breaks each format that does not escape it. */
    public static final String HOSTILE_ID = "=1+\"x\",'y';\r\n</script><img src=x onerror=alert(1)>\u001b[31m\u202e\\";

    private RequestSamples() {}

    /** Requests whose numbers follow from some numbers of 0 or more; none if the first of them is 0. */
    public static RequestStats of(List<Long> numbers) {
        long first = numbers.get(0);
        if (first == 0) {
            return RequestStats.NONE;
        }
        long second = numbers.get(1);
        LatencyDistribution times = distribution(first, second);
        Map<Cause, Long> causes = Map.of(Cause.QUEUED_IDLE, first, Cause.DECODE, second);
        String model = "model-" + second;
        RequestIdentity named = identity("request-" + second);
        RequestIdentity identity = second % 2 == 0
                ? RequestIdentity.NONE
                : new RequestIdentity(named.id(), named.arrivedAt(), named.traceId(), Optional.of(model));
        Map<Wait, Long> waits = Map.of(Wait.GC, first / 3, Wait.BLOCKED, first / 2);
        Optional<String> lock = second % 3 == 0 ? Optional.empty() : Optional.of("monitor of Cache");
        List<RequestRecord> records = List.of(new RequestRecord(
                second,
                first + second,
                first,
                numbers.get(2),
                0,
                2,
                Outcome.LENGTH,
                causes,
                1 + second,
                0,
                identity,
                waits,
                lock));
        LiveRequest waiting = new LiveRequest(first, false, numbers.get(2), 0, identity);
        LiveRequest running = new LiveRequest(second, true, first, second, RequestIdentity.NONE);
        return new RequestStats(
                new RequestStats.Counts(first, second, 1, Map.of(Outcome.LENGTH, times.count()), 3, 4),
                new RequestStats.Tokens(second, 0, first),
                new RequestStats.Latencies(times, times, times, times, times),
                causes,
                new TreeMap<>(Map.of(LatencyBuckets.indexOf(first), causes)),
                records,
                records,
                List.of(),
                Map.of(),
                second == 0 ? List.of(waiting) : List.of(waiting, running),
                new TreeMap<>(Map.of(
                        model,
                        RequestStats.ofFinished(
                                Map.of(Outcome.LENGTH, 1L), new RequestStats.Tokens(second, 0, first), Map.of()))),
                new RequestStats.Waits(waits, List.of("a test")));
    }

    /** The identity of a request that an application names. */
    public static RequestIdentity identity(String id) {
        return new RequestIdentity(
                Optional.of(id),
                Optional.of(Instant.ofEpochMilli(1_767_323_045_000L)),
                Optional.of("0af7651916cd43dd8448eb211c80319c"));
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

    /** Returns a timeline of at most two requests, which follows from a number of 0 or more. */
    public static RequestTimeline timelineOf(List<Long> numbers) {
        return served((int) (numbers.get(0) % 3)).timeline().get();
    }

    /**
     * Returns the recorder of a simulated engine. It serves requests that arrive at random, in batches of at most 16,
     * with whole prompts: decoding stalls while a prompt is processed.
     */
    public static RequestRecorder served(int number) {
        Random random = new Random(7);
        FakeClock clock = new FakeClock();
        RequestRecorder requests = new RequestRecorder(clock, () -> 0);
        requests.enable();
        Deque<long[]> waiting = new ArrayDeque<>();
        List<long[]> running = new ArrayList<>();
        long nextNs = 0;
        int arrived = 0;
        while (arrived < number || !waiting.isEmpty() || !running.isEmpty()) {
            while (arrived < number && nextNs <= clock.now()) {
                long prompt = random.nextInt(6) == 0 ? 1_500 + random.nextInt(1_500) : 40 + random.nextInt(200);
                waiting.add(new long[] {requests.arrivedAt(nextNs, prompt), prompt, 5 + random.nextInt(40)});
                nextNs += (long) (-Math.log(1 - random.nextDouble()) * 60_000_000);
                arrived++;
            }
            if (waiting.isEmpty() && running.isEmpty()) {
                clock.advance(nextNs - clock.now());
                continue;
            }
            clock.advance(200_000);
            long[] first = running.size() < 16 ? waiting.poll() : null;
            long step = requests.stepBegan(first != null, 0, clock.now());
            if (first != null) {
                requests.inStep(first[0], first[1]);
                running.add(first);
                clock.advance(2_000_000 + first[1] * 30_000);
            } else {
                running.forEach(each -> requests.inStep(each[0], 0));
                clock.advance(4_000_000 + running.size() * 250_000L);
            }
            requests.stepEnded(step, clock.now(), 0);
            List<long[]> given = first == null ? List.copyOf(running) : List.of(first);
            for (long[] each : given) {
                if (--each[2] == 0) {
                    running.remove(each);
                    requests.finished(each[0], random.nextInt(20) == 0 ? Outcome.CANCELLED : Outcome.COMPLETED);
                }
            }
        }
        return requests;
    }

    /**
     * Returns a recorder of three requests, each of which its own thread serves behind the steps of others: a tokenizer
     * takes half of the time before a step, and a detokenizer half of the time after it. Two of them have an id.
     */
    public static RequestRecorder withOwnWork() {
        FakeClock clock = new FakeClock();
        RequestRecorder requests = new RequestRecorder(
                clock,
                () -> 0,
                new RequestRecorder.OwnWork() {
                    private long sinceNs;

                    @Override
                    public void begin(long atNs) {
                        sinceNs = atNs;
                    }

                    @Override
                    public long endNs(long atNs) {
                        return (atNs - sinceNs) / 2;
                    }
                },
                clockNs -> 1_767_323_045_007L + clockNs / 1_000_000);
        requests.enable();
        for (int i = 0; i < 3; i++) {
            long others = requests.stepUnderWay(i == 0, clock.now());
            long request = requests.arrived(16, "the call of Server.complete");
            if (i > 0) {
                requests.named(request, i == 1 ? HOSTILE_ID : "chat-2");
            }
            try (RequestRecorder.Scope scope = requests.serve(request)) {
                Objects.requireNonNull(scope);
                for (int token = 0; token < 4; token++) {
                    clock.advance(30_000_000);
                    if (token == 1) {
                        requests.stepEnded(others, clock.now(), 0);
                    }
                    clock.advance(30_000_000);
                    long step = requests.stepBegan(token == 0, token == 0 ? 16 : 0, clock.now());
                    clock.advance(20_000_000);
                    requests.stepEnded(step, clock.now(), 0);
                }
                clock.advance(10_000_000);
            }
            requests.finished(request, Outcome.COMPLETED);
        }
        return requests;
    }

    private static LatencyDistribution distribution(long... ns) {
        long[] counts = new long[LatencyBuckets.COUNT];
        for (long each : ns) {
            counts[LatencyBuckets.indexOf(each)]++;
        }
        return LatencyDistribution.ofCounts(counts);
    }
}
