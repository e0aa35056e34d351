package org.brickprofiler.request;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.report.JsonReport;
import org.brickprofiler.request.LatencyHistogram.Kind;
import org.brickprofiler.testing.FakeClock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class LatencyHistogramTest {

    private static final long MS = 1_000_000;

    private final FakeClock clock = new FakeClock();
    private final BrickProfiler profiler = BrickProfiler.builder().clock(clock).build();

    private void finish(long afterNs, Outcome outcome) {
        long request = profiler.requests().arrived(1);
        clock.advance(afterNs);
        profiler.requests().finished(request, outcome);
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void aLatencyThatEqualsABoundIsCountedThere(Kind kind) {
        List<Long> bounds = kind.boundsNs();
        for (int i = 0; i < bounds.size(); i++) {
            assertThat(kind.bucketOf(bounds.get(i))).isEqualTo(i);
            assertThat(kind.bucketOf(bounds.get(i) + 1)).isEqualTo(i + 1);
        }
        assertThat(kind.bucketOf(0)).isZero();
        assertThat(bounds).isSorted().doesNotHaveDuplicates();
    }

    @Test
    void theHistogramsOfASnapshotAreExactAndReadBack() throws Exception {
        profiler.enable();
        finish(10 * MS, Outcome.COMPLETED);
        finish(10 * MS + 1, Outcome.COMPLETED);
        finish(100_000 * MS, Outcome.FAILED);

        ProfileSnapshot snapshot = profiler.snapshot();
        LatencyHistogram completed = snapshot.requests().histogram(Kind.DURATION, List.of(Outcome.COMPLETED));
        assertThat(completed.counts()).startsWith(1L, 1L, 0L).endsWith(0L);
        assertThat(completed.sumNs()).isEqualTo(20 * MS + 1);
        LatencyHistogram failed = snapshot.requests().histogram(Kind.DURATION, List.of(Outcome.FAILED));
        assertThat(failed.counts()).endsWith(1L);
        assertThat(snapshot.requests().histogram(Kind.TIME_TO_FIRST_TOKEN, List.of(Outcome.values())))
                .isEqualTo(LatencyHistogram.empty(Kind.TIME_TO_FIRST_TOKEN));
        String json = JsonReport.toJson(snapshot);
        assertThat(JsonReport.fromJson(json).requests()).isEqualTo(snapshot.requests());
        assertThatThrownBy(() -> JsonReport.fromJson(json.replace("\"1,1,0,", "\"1,2,0,")))
                .hasMessageContaining("2 ended completed, and the histogram of their durations has 3");
        assertThatThrownBy(() -> JsonReport.fromJson(json.replace("\"1,1,0,", "\"1,x,0,")))
                .hasMessageContaining("a histogram is wrong: 1,x,0,");
        assertThatThrownBy(() -> JsonReport.fromJson(json.replace("\"1,1,0,", "\"1,1,0,0,")))
                .hasMessageContaining("16 counts of DURATION, which has 14 bounds");
    }

    @Test
    void aLaterReadingMinusAnEarlierOneHasTheRequestsBetween() {
        profiler.enable();
        finish(10 * MS, Outcome.COMPLETED);
        RequestStats earlier = profiler.snapshot().requests();
        finish(30 * MS, Outcome.COMPLETED);
        RequestStats later = profiler.snapshot().requests();

        RequestStats between = later.since(earlier);
        assertThat(between.histogram(Kind.DURATION, List.of(Outcome.COMPLETED)).counts())
                .startsWith(0L, 0L, 1L, 0L);
        assertThat(between.merge(earlier).histograms()).isEqualTo(later.histograms());
        profiler.reset();
        assertThat(profiler.snapshot().requests().histograms()).isEmpty();
    }

    /** A file of an older version has none, and a part of the requests would be a wrong number. */
    @Test
    void requestsWhoseHistogramsAreNotKnownLeaveTheSumWithout() throws Exception {
        profiler.enable();
        finish(10 * MS, Outcome.COMPLETED);
        ProfileSnapshot now = profiler.snapshot();
        String json = JsonReport.toJson(now);
        int at = json.indexOf("\"histograms\"");
        assertThat(at).isPositive();
        ProfileSnapshot older = JsonReport.fromJson(json.replaceAll("(?s),\\s*\"histograms\" *: *\\[.*?\\]", ""));
        assertThat(older.requests().histograms()).isEmpty();

        RequestStats both = now.requests().merge(older.requests());

        assertThat(both.counts().allFinished()).isEqualTo(2);
        assertThat(both.histograms()).isEmpty();
        assertThat(older.requests().merge(now.requests())).isEqualTo(both);
        assertThat(now.requests().merge(RequestStats.NONE)).isEqualTo(now.requests());
    }

    @Test
    void contradictoryHistogramsAreRefused() {
        List<Long> counts = new ArrayList<>(Collections.nCopies(15, 0L));
        counts.set(3, -1L);
        assertThatThrownBy(() -> new LatencyHistogram(Kind.DURATION, counts, 0)).hasMessageContaining("-1");
        LatencyHistogram one = new LatencyHistogram(Kind.DURATION, Collections.nCopies(15, 1L), 0);
        assertThatThrownBy(() -> one.plus(LatencyHistogram.empty(Kind.QUEUE_TIME)))
                .hasMessage("histograms of DURATION and of QUEUE_TIME");
        RequestStats none = RequestStats.NONE;
        assertThatThrownBy(() -> new RequestStats(
                        none.counts(),
                        none.tokens(),
                        none.latencies(),
                        Map.of(),
                        none.firstTokenCauseNs(),
                        List.of(),
                        List.of(),
                        List.of(),
                        Map.of(Outcome.FAILED, List.of(one, one)),
                        List.of(),
                        none.models(),
                        none.waits()))
                .hasMessageStartingWith("two histograms of one kind: FAILED");
    }
}
