package org.brickprofiler.request;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.brickprofiler.internal.record.LatencyBuckets;
import org.brickprofiler.request.LatencyHistogram.Kind;
import org.brickprofiler.stats.LatencyDistribution;
import org.brickprofiler.testing.OneJdk;
import org.brickprofiler.testing.Spec;

/** The recorder agrees to the nanosecond with a program that looks at each nanosecond of each request. */
@OneJdk
final class RequestRecorderProperties {

    /** 3,000 requests in all. */
    @Spec("25.4")
    @Property(tries = 15)
    void everyNanosecondHasTheCauseThatANaiveProgramFinds(@ForAll long seed) throws Exception {
        try (SimulatedEngines engines = new SimulatedEngines(seed, 200)) {
            engines.run(() -> {});

            List<RequestRecord> expected = new ArrayList<>();
            List<Long> queued = new ArrayList<>();
            List<Long> firstTokens = new ArrayList<>();
            List<Long> gaps = new ArrayList<>();
            List<Long> perToken = new ArrayList<>();
            Map<Cause, Long> causes = new EnumMap<>(RequestRecord.everyCause(Map.of()));
            for (SimulatedEngines.LoggedRequest request : engines.finished) {
                SimulatedEngines.Expected one = engines.expected(request);
                RequestRecord record = one.record();
                expected.add(record);
                record.causeNs().forEach((cause, ns) -> causes.merge(cause, ns, Long::sum));
                if (one.queuedNs() >= 0) {
                    queued.add(one.queuedNs());
                }
                gaps.addAll(one.gapsNs());
                if (record.outputTokens() > 0) {
                    firstTokens.add(record.timeToFirstTokenNs());
                }
                if (record.outputTokens() > 1) {
                    perToken.add(Math.round((double) one.tokensNs() / (record.outputTokens() - 1)));
                }
            }
            assertThat(engines.recorder.recent()).containsExactlyInAnyOrderElementsOf(expected);
            RequestStats stats = engines.recorder.stats();
            assertThat(stats.causeNs()).isEqualTo(causes);
            // The schedules are long enough for each cause.
            assertThat(causes).doesNotContainValue(0L);
            assertThat(stats.counts().arrived()).isEqualTo(200);
            assertThat(stats.counts().allFinished()).isEqualTo(200);
            assertThat(stats.counts().waiting() + stats.counts().running()).isZero();
            assertThat(stats.latencies().queueTime()).isEqualTo(distribution(queued));
            assertThat(stats.latencies().timeToFirstToken()).isEqualTo(distribution(firstTokens));
            assertThat(stats.latencies().interToken()).isEqualTo(distribution(gaps));
            assertThat(stats.latencies().timePerOutputToken()).isEqualTo(distribution(perToken));
            assertThat(stats.latencies().duration())
                    .isEqualTo(distribution(
                            expected.stream().map(RequestRecord::durationNs).toList()));
            assertThat(stats.histograms()).isEqualTo(histograms(expected));
            long toFirstTokenNs = stats.firstTokenCauseNs().values().stream()
                    .flatMap(ns -> ns.values().stream())
                    .mapToLong(ns -> ns)
                    .sum();
            assertThat(toFirstTokenNs)
                    .isLessThanOrEqualTo(
                            firstTokens.stream().mapToLong(ns -> ns).sum());
        }
    }

    /** Returns the histograms of finished requests, computed from each latency and each bound. */
    private static Map<Outcome, List<LatencyHistogram>> histograms(List<RequestRecord> finished) {
        Map<Outcome, List<LatencyHistogram>> all = new EnumMap<>(Outcome.class);
        for (Outcome outcome : Outcome.values()) {
            List<RequestRecord> some = finished.stream()
                    .filter(record -> record.outcome() == outcome)
                    .toList();
            List<RequestRecord> withTokens =
                    some.stream().filter(record -> record.outputTokens() > 0).toList();
            List<LatencyHistogram> each = Stream.of(
                            histogram(Kind.QUEUE_TIME, some.stream().map(RequestRecord::queueNs)),
                            histogram(
                                    Kind.TIME_TO_FIRST_TOKEN,
                                    withTokens.stream().map(RequestRecord::timeToFirstTokenNs)),
                            histogram(
                                    Kind.TIME_PER_OUTPUT_TOKEN,
                                    withTokens.stream()
                                            .filter(record -> record.outputTokens() > 1)
                                            .map(record -> Math.round(record.timePerOutputTokenNs()
                                                    .orElseThrow()))),
                            histogram(Kind.DURATION, some.stream().map(RequestRecord::durationNs)))
                    .filter(histogram -> histogram.count() > 0)
                    .toList();
            if (!each.isEmpty()) {
                all.put(outcome, each);
            }
        }
        return all;
    }

    private static LatencyHistogram histogram(Kind kind, Stream<Long> latencies) {
        List<Long> all = latencies.toList();
        List<Long> bounds = new ArrayList<>(List.of(-1L));
        bounds.addAll(kind.boundsNs());
        bounds.add(Long.MAX_VALUE);
        List<Long> counts = IntStream.range(1, bounds.size())
                .mapToObj(i -> all.stream()
                        .filter(ns -> ns > bounds.get(i - 1) && ns <= bounds.get(i))
                        .count())
                .toList();
        return new LatencyHistogram(
                kind, counts, all.stream().mapToLong(Long::longValue).sum());
    }

    /** A timeline has its requests in the order in which they finished. */
    @Spec("25.11")
    @Property(tries = 6)
    void segmentsHaveTheCauseOfEachNanosecond(@ForAll long seed) throws Exception {
        try (SimulatedEngines engines = new SimulatedEngines(seed, 100)) {
            engines.run(() -> {});

            RequestTimeline timeline = engines.recorder.timeline().get();
            List<List<RequestTimeline.Segment>> segments = timeline.segments();
            Map<RequestRecord, List<Cause>> expected = new HashMap<>();
            engines.finished.stream().map(engines::expected).forEach(one -> expected.put(one.record(), one.causes()));
            assertThat(timeline.requests()).hasSize(100).allMatch(RequestTimeline.Request::isComplete);
            for (int i = 0; i < 100; i++) {
                RequestRecord record = timeline.requests().get(i).record();
                List<Cause> causes = new ArrayList<>();
                segments.get(i).forEach(segment -> {
                    assertThat(segment.startNs()).isEqualTo(record.arrivedNs() + causes.size());
                    causes.addAll(Collections.nCopies((int) segment.durationNs(), segment.cause()));
                });
                assertThat(causes).isEqualTo(expected.get(record));
                assertThat(RequestRecord.everyCause(RequestTimeline.causeNs(segments.get(i))))
                        .isEqualTo(record.causeNs());
            }
        }
    }

    @Spec("25.9")
    @Property(tries = 8)
    void windowsAddUpToTheWhole(@ForAll long seed) throws Exception {
        try (SimulatedEngines whole = new SimulatedEngines(seed, 100);
                SimulatedEngines parts = new SimulatedEngines(seed, 100)) {
            List<RequestStats> differences = new ArrayList<>(List.of(RequestStats.NONE));
            List<RequestStats> readings = new ArrayList<>(List.of(RequestStats.NONE));
            whole.run(() -> {
                RequestStats now = whole.recorder.stats();
                differences.add(now.since(readings.get(readings.size() - 1)));
                readings.add(now);
            });
            RequestStats last = whole.recorder.stats();
            differences.add(last.since(readings.get(readings.size() - 1)));
            List<RequestStats> windows = new ArrayList<>();
            parts.run(() -> windows.add(parts.recorder.statsAndReset()));
            windows.add(parts.recorder.statsAndReset());

            assertThat(withoutGauges(merged(windows))).isEqualTo(withoutGauges(last));
            RequestStats ofDifferences = merged(differences);
            assertThat(ofDifferences.latencies()).isEqualTo(last.latencies());
            assertThat(ofDifferences.causeNs()).isEqualTo(last.causeNs());
            assertThat(ofDifferences.tokens()).isEqualTo(last.tokens());
            assertThat(ofDifferences.firstTokenCauseNs()).isEqualTo(last.firstTokenCauseNs());
            assertThat(parts.recorder.stats()).isEqualTo(RequestStats.NONE);
        }
    }

    private static RequestStats merged(List<RequestStats> parts) {
        return parts.stream().reduce(RequestStats.NONE, RequestStats::merge);
    }

    /** Leaves out the numbers of live requests: a merge would add up those of all windows. */
    private static RequestStats withoutGauges(RequestStats stats) {
        RequestStats.Counts counts = stats.counts();
        return new RequestStats(
                new RequestStats.Counts(
                        counts.arrived(), 0, 0, counts.finished(), counts.abandoned(), counts.ignoredCalls()),
                stats.tokens(),
                stats.latencies(),
                stats.causeNs(),
                stats.firstTokenCauseNs(),
                stats.slowestFirstTokens(),
                stats.longestGaps());
    }

    private static LatencyDistribution distribution(List<Long> durationsNs) {
        long[] counts = new long[LatencyBuckets.COUNT];
        durationsNs.forEach(ns -> counts[LatencyBuckets.indexOf(ns)]++);
        return LatencyDistribution.ofCounts(counts);
    }
}
