package org.brickprofiler.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.IntStream;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.StepInfo;
import org.brickprofiler.request.Outcome;
import org.brickprofiler.stats.LatencyDistribution;
import org.brickprofiler.testing.Golden;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TopWindowTest {

    private static final long BEGIN_MS = Instant.parse("2026-01-01T00:00:00Z").toEpochMilli();

    private final TopWindow window = new TopWindow();

    /** Returns the reading at a time after the begin: twenty decode steps and two requests a second. */
    static TopReading at(double seconds) {
        return at(seconds, 6);
    }

    private static TopReading at(double seconds, int bricks) {
        long n = Math.round(seconds * 10);
        Map<String, TopReading.Phase> phases = new LinkedHashMap<>();
        phases.put("prefill", new TopReading.Phase(2 * n / 10, n * 20_000_000, 64 * n, 2 * n / 10));
        phases.put("decode", new TopReading.Phase(2 * n, n * 50_000_000, 0, 8 * n));
        List<TopReading.Brick> all = IntStream.rangeClosed(1, bricks)
                .mapToObj(i -> new TopReading.Brick(
                        "brick " + i, "FFN", i * n, n * i * i * 1_000, Optional.empty(), TopReading.OfDevice.NONE))
                .toList();
        return TopReading.of(
                BEGIN_MS,
                BEGIN_MS + n * 100,
                n * 100_000_000,
                all,
                phases,
                new TopReading.Requests(
                        2 * n / 10,
                        n / 10,
                        3,
                        4,
                        LatencyDistribution.ofCounts(500, new long[] {n, n / 10}),
                        LatencyDistribution.ofCounts(300, new long[] {n / 10}),
                        List.of("the call of Llama.generate")));
    }

    @Spec("25.16")
    @Test
    void showsTheLastTenSeconds() throws Exception {
        for (int i = 0; i <= 30; i++) {
            window.add(at(i));
        }
        Golden.assertSame(window.render(), TopWindowTest.class, "top.txt");
    }

    /** A mark showed that the bricks before it were shorter than was supposed, or no sample had a mark. */
    @Spec("25.16")
    @ParameterizedTest
    @CsvSource({"1016, 9900000, 101", "1016, 10160000, 100", "1001, 10003000, 101", "1016, 9900000, -1"})
    void aTimeThatNoMarkShowsIsUnknownAndNotZero(long count, long totalNs, long measured) {
        window.add(sampled(0, 1_000, 10_000_000, measured < 0 ? -1 : 100, OptionalLong.empty()));
        window.add(sampled(1, count, totalNs, measured, OptionalLong.empty()));

        assertThat(window.render())
                .containsPattern("kernel +FFN +\\? +[0-9.]+ +\\?\n")
                .contains("\n?: no time is known of 1 brick, and none is in the sum");
        TopPage.Size screen = new TopPage.Size(40, 120, false, false, false);
        assertThat(String.join("\n", new TopPage("top", window, TopPage.Order.TOTAL, false).lines(screen)))
                .containsPattern("kernel +\\? +\\? ")
                .contains("?: no time is known of 1 brick");
    }

    /** What marks add was measured after the first reading; it holds for the samples of the window. */
    @Spec("12.54")
    @Test
    void timesOfAWindowAreNetIfTheLaterReadingKnowsWhatMarksAdd() {
        window.add(sampled(0, 1_000, 10_000_000, 100, OptionalLong.empty()));
        window.add(sampled(1, 2_000, 20_000_000, 200, OptionalLong.of(4_000_000)));

        assertThat(window.render())
                .containsPattern("kernel +FFN +~100.0 +1.000 k +~8.000 us\n")
                .contains("All bricks: 8.000 ms a second", "are net where it is known what the marks of devices add");
    }

    private static TopReading sampled(int second, long count, long totalNs, long measured, OptionalLong marksNs) {
        TopReading.OfDevice device = new TopReading.OfDevice(
                true, measured < 0 ? OptionalLong.empty() : OptionalLong.of(measured), marksNs, true);
        return TopReading.of(
                BEGIN_MS,
                BEGIN_MS + second * 1_000L,
                second * 1_000_000_000L,
                List.of(new TopReading.Brick("kernel", "FFN", count, totalNs, Optional.empty(), device)),
                Map.of(),
                new TopReading.Requests(0, 0, 0, 0, LatencyDistribution.EMPTY, LatencyDistribution.EMPTY, List.of()));
    }

    @Spec("25.16")
    @Test
    void aResetBeginsANewWindow() {
        assertThat(window.add(at(5))).isFalse();
        assertThat(window.add(at(6))).isTrue();
        assertThat(window.add(at(1))).isFalse();
        assertThat(window.render()).startsWith("The window begins now");
        assertThat(window.add(at(3))).isTrue();
        assertThat(window.render()).startsWith("The last 2.000 s\n");
    }

    @Spec("25.16")
    @Test
    void saysThatTheProfilerWasOffAndThatNothingWasRecorded() {
        TopReading.Requests none =
                new TopReading.Requests(0, 0, 0, 0, LatencyDistribution.EMPTY, LatencyDistribution.EMPTY, List.of());
        window.add(TopReading.of(BEGIN_MS, BEGIN_MS, 5, List.of(), Map.of(), none));
        window.add(TopReading.of(BEGIN_MS, BEGIN_MS + 1_000, 5, List.of(), Map.of(), none));
        assertThat(window.render()).isEqualTo("""
                        The last 1.000 s, in which the profiler was off

                        Requests: the engine announces none.

                        Steps: none ended.

                        Bricks: none were recorded.
                        """);
    }

    /** Requests that arrived before a reset go on. */
    @Spec("25.16")
    @Test
    void showsTheRequestsThatArrivedBeforeAReset() {
        TopReading.Requests live =
                new TopReading.Requests(0, 0, 1, 4, LatencyDistribution.EMPTY, LatencyDistribution.EMPTY, List.of());
        window.add(TopReading.of(BEGIN_MS, BEGIN_MS, 5, List.of(), Map.of(), live));
        window.add(TopReading.of(BEGIN_MS, BEGIN_MS + 1_000, 6, List.of(), Map.of(), live));
        assertThat(window.render())
                .contains("Requests: 4 running, 1 waiting; 0.000 arrived and 0.000 finished per second.\n");
    }

    /** An id is no part of the screen's layout, and none changes the terminal. */
    @Spec("25.21")
    @Test
    void showsTheIdsOfTheSlowestAndTheOldestRequests() {
        Optional<Instant> at = Optional.of(Instant.parse("2026-01-01T10:02:03.004Z"));
        TopReading.Requests requests = new TopReading.Requests(
                9,
                5,
                2,
                2,
                LatencyDistribution.EMPTY,
                LatencyDistribution.EMPTY,
                List.of(),
                List.of(new TopReading.Request(
                        Optional.of("a\u001b[2J\n\tb"), Optional.of("m\u001b"), at, 1_840_000_000, false)),
                List.of(
                        new TopReading.Request(
                                Optional.of("x".repeat(128)), Optional.empty(), at, 9_000_000_000L, true),
                        new TopReading.Request(
                                Optional.empty(), Optional.empty(), Optional.empty(), 3_000_000_000L, false),
                        new TopReading.Request(Optional.of("two"), Optional.empty(), at, 2_000_000_000L, false),
                        new TopReading.Request(Optional.of("hidden"), Optional.empty(), at, 1_000_000_000L, false)));
        window.add(TopReading.of(BEGIN_MS, BEGIN_MS, 5, List.of(), Map.of(), requests));
        window.add(TopReading.of(BEGIN_MS, BEGIN_MS + 1_000, 6, List.of(), Map.of(), requests));
        String text = window.render();
        assertThat(text).contains("""
                        Slowest first token since the last reset: a\\u001b[2J\\n\\tb, model m\\u001b: 1.840 s, arrived at 10:02:03.004 UTC.
                        Oldest live requests, time since arrival: %s...%s: 9.000 s, running, arrived at 10:02:03.004 UTC; a\
                         request without an id: 3.000 s, waiting; two: 2.000 s, waiting, arrived at 10:02:03.004 UTC.
                        """.formatted("x".repeat(23), "x".repeat(22))).doesNotContain("hidden");
        List<String> lines = new TopPage("top", window, TopPage.Order.TOTAL, false)
                .lines(new TopPage.Size(30, 60, true, false, false));
        assertThat(lines).hasSizeLessThanOrEqualTo(30).allMatch(line -> line.length() <= 60);
        assertThat(String.join(" ", lines)).contains("two: 2.000 s").doesNotContain("\u001b");
    }

    @Spec("25.16")
    @Test
    void readsTheSumsOfASnapshot() {
        BrickProfiler profiler = BrickProfiler.enabled();
        ProfileSnapshot before = profiler.snapshot();
        long request = profiler.requests().arrived(7);
        profiler.beginStep(new StepInfo(StepInfo.Phase.PREFILL, 1, 7, 0, 1, 0));
        profiler.requests().inStep(request, 7);
        profiler.record(BrickId.RMS_NORM, 100, 1);
        profiler.endPass();
        profiler.requests().finished(request, Outcome.LENGTH);

        TopReading now = TopReading.of(profiler.snapshot()).since(TopReading.of(before));

        assertThat(now.bricks()).containsOnlyKeys("Norm/RmsNorm");
        assertThat(now.bricks().get("Norm/RmsNorm")).satisfies(brick -> {
            assertThat(brick.count()).isEqualTo(1);
            assertThat(brick.totalNs()).isEqualTo(100);
            assertThat(brick.latency()).isEmpty();
        });
        TopReading.Phase prefill = Objects.requireNonNull(now.phases().get("prefill"));
        assertThat(List.of(prefill.count(), prefill.promptTokens(), prefill.outputTokens()))
                .containsExactly(1L, 7L, 1L);
        assertThat(now.requests().arrived()).isEqualTo(1);
        assertThat(now.requests().finished()).isEqualTo(1);
        assertThat(now.requests().firstToken().count()).isEqualTo(1);
    }
}
