package org.brickprofiler.metrics.prometheus;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.RunIdentity;
import org.brickprofiler.StepInfo;
import org.brickprofiler.internal.access.ProfilerAccess;
import org.brickprofiler.metrics.prometheus.MetricsPage.Format;
import org.brickprofiler.request.LatencyHistogram.Kind;
import org.brickprofiler.request.Outcome;
import org.brickprofiler.request.Wait;
import org.brickprofiler.request.WaitSource;
import org.brickprofiler.testing.ChildProcess;
import org.brickprofiler.testing.FakeClock;
import org.brickprofiler.testing.Fixture;
import org.brickprofiler.testing.ProcessResult;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Spec("20.13")
class MetricsPageTest {

    private static final long MS = 1_000_000;

    @TempDir
    private Path folder;

    private final FakeClock clock = new FakeClock();
    private final BrickProfiler profiler = BrickProfiler.builder().clock(clock).build();
    private final MetricsPage page = new MetricsPage();

    @BeforeEach
    void record() {
        profiler.enable();
        profiler.record(BrickId.LM_HEAD, 5 * MS, 1);
        serve(100 * MS, Outcome.COMPLETED);
        serve(101 * MS, Outcome.LENGTH);
        serve(3_000 * MS, Outcome.FAILED);
        profiler.requests().arrived(7);
    }

    /** Serves a request whose first token comes after a time, and the second one 20 ms later. */
    private void serve(long firstNs, Outcome outcome) {
        long request = profiler.requests().arrived(10);
        step(request, StepInfo.prefill(10), 10, firstNs);
        step(request, StepInfo.decode(10), 0, 20 * MS);
        profiler.requests().finished(request, outcome);
    }

    private void step(long request, StepInfo info, long promptTokens, long ns) {
        profiler.beginStep(info);
        if (promptTokens > 0) {
            profiler.requests().inStep(request, promptTokens);
        } else {
            profiler.requests().inStep(request, 0);
        }
        long timer = profiler.startBrick(BrickId.LM_HEAD);
        clock.advance(ns);
        profiler.stopBrick(timer, 1);
        profiler.endPass();
    }

    private static List<String> lines(String page, String start) {
        return Arrays.stream(page.split("\n"))
                .filter(line -> line.startsWith(start))
                .toList();
    }

    private static double value(String page, String series) {
        return lines(page, series + " ").stream()
                .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' '))))
                .findFirst()
                .orElseThrow(() -> new AssertionError(series + " is not in " + page));
    }

    @Test
    void histogramsOfTokensHaveAnsweredRequestsOnlyAndAgreeWithTheSnapshot() {
        ProfileSnapshot snapshot = profiler.snapshot();
        String text = page.render(ProfilerAccess.sums(profiler), Format.PROMETHEUS);

        String firstTokens = "gen_ai_server_time_to_first_token_seconds";
        assertThat(value(text, firstTokens + "_count")).isEqualTo(2);
        assertThat(value(text, firstTokens + "_sum")).isCloseTo(0.201, within(1e-12));
        assertThat(value(text, firstTokens + "_bucket{le=\"0.08\"}")).isZero();
        assertThat(value(text, firstTokens + "_bucket{le=\"0.1\"}"))
                .as("up to and with the bound")
                .isEqualTo(1);
        assertThat(value(text, firstTokens + "_bucket{le=\"0.25\"}")).isEqualTo(2);
        assertThat(value(text, "gen_ai_server_time_per_output_token_seconds_sum"))
                .isCloseTo(0.04, within(1e-12));
        assertThat(value(text, "gen_ai_server_request_duration_seconds_count")).isEqualTo(2);
        assertThat(value(text, "gen_ai_server_request_duration_seconds_count{error_type=\"failed\"}"))
                .isEqualTo(1);
        for (Kind kind : List.of(Kind.TIME_TO_FIRST_TOKEN, Kind.TIME_PER_OUTPUT_TOKEN)) {
            String name = "gen_ai_server_" + kind.name().toLowerCase(Locale.ROOT) + "_seconds_bucket";
            List<Long> counts = snapshot.requests()
                    .histogram(kind, List.of(Outcome.COMPLETED, Outcome.LENGTH))
                    .counts();
            List<Long> cumulative = IntStream.range(0, counts.size())
                    .mapToObj(i -> counts.subList(0, i + 1).stream()
                            .mapToLong(Long::longValue)
                            .sum())
                    .toList();
            assertThat(lines(text, name))
                    .extracting(line -> (long) Double.parseDouble(line.substring(line.lastIndexOf(' '))))
                    .isEqualTo(cumulative);
        }
    }

    @Test
    void countersHaveBricksByPhaseRequestsByOutcomeAndWaitsByCause() {
        String text = page.render(ProfilerAccess.sums(profiler), Format.PROMETHEUS);

        String brick = "brick_time_seconds_total{brick=\"LmHead\",category=\"Other\",phase=\"%s\"}";
        assertThat(value(text, brick.formatted("none"))).isEqualTo(0.005);
        assertThat(value(text, brick.formatted("prefill"))).isCloseTo(3.201, within(1e-12));
        assertThat(value(text, brick.formatted("decode"))).isCloseTo(0.06, within(1e-12));
        assertThat(value(text, "brick_steps_total{phase=\"decode\"}")).isEqualTo(3);
        assertThat(value(text, "brick_step_tokens_total{kind=\"prompt\",phase=\"prefill\"}"))
                .isEqualTo(30);
        assertThat(value(text, "brick_requests_total{outcome=\"failed\"}")).isEqualTo(1);
        assertThat(value(text, "brick_requests_arrived_total")).isEqualTo(4);
        assertThat(value(text, "brick_requests_waiting")).isEqualTo(1);
        assertThat(value(text, "brick_requests_running")).isZero();
        assertThat(value(text, "brick_request_time_seconds_total{cause=\"own_prompt\"}"))
                .isCloseTo(3.201, within(1e-12));
        assertThat(value(text, "brick_request_tokens_total{kind=\"prompt\"}")).isEqualTo(30);
        assertThat(value(text, "brick_step_sequences_total{phase=\"decode\"}")).isEqualTo(3);
    }

    @Test
    void aWaitThatTheSourceDoesNotKnowHasNoSeries() {
        String throttled = "{wait=\"throttled\"}";
        assertThat(page.render(ProfilerAccess.sums(profiler), Format.PROMETHEUS))
                .contains(throttled);

        profiler.requests().setWaitSource(new WaitSource() {
            @Override
            public String name() {
                return "a test (" + Wait.THROTTLED.unknown() + ")";
            }

            @Override
            public Split split(List<Waiting> times) {
                return new Split(Map.of(), Optional.empty());
            }
        });
        serve(MS, Outcome.COMPLETED);
        profiler.requests().splitWaits(Long.MAX_VALUE);
        assertThat(page.render(ProfilerAccess.sums(profiler), Format.PROMETHEUS))
                .contains("{wait=\"no_processor\"}")
                .doesNotContain(throttled);
    }

    /** The gauges are those of the latest step of a phase; an engine may not know the cache. */
    @Test
    void gaugesOfTheBatchAndOfTheCacheAreThoseOfTheLatestStep() {
        profiler.beginStep(StepInfo.decode(70).withBatch(5));
        profiler.endPass();
        profiler.beginStep(StepInfo.decode(81).withBatch(6));
        profiler.endPass();

        String text = page.render(ProfilerAccess.sums(profiler), Format.PROMETHEUS);

        assertThat(value(text, "brick_batch{phase=\"decode\"}")).isEqualTo(6);
        assertThat(value(text, "brick_kv_cache_tokens{phase=\"decode\"}")).isEqualTo(81);
        assertThat(lines(text, "brick_kv_cache_tokens{phase=\"prefill\"}")).isEmpty();
        profiler.reset();
        assertThat(page.render(ProfilerAccess.sums(profiler), Format.PROMETHEUS))
                .doesNotContain("brick_batch", "brick_kv_cache");
    }

    @Test
    void aProfilerWithoutStepsOrRequestsHasAPageToo() {
        BrickProfiler empty = BrickProfiler.enabled();
        String text = new MetricsPage().render(ProfilerAccess.sums(empty), Format.PROMETHEUS);
        assertThat(text).contains("brick_wall_seconds_total ").doesNotContain("gen_ai");
    }

    @Test
    void theModelOfTheRunIsALabelIfItIsKnown() {
        assertThat(lines(page.render(ProfilerAccess.sums(profiler), Format.PROMETHEUS), "brick_run"))
                .containsExactly("brick_run 1.0");
        BrickProfiler named = BrickProfiler.builder()
                .identity(RunIdentity.builder().model("llama-3.1-8b").build())
                .build();
        assertThat(lines(new MetricsPage().render(ProfilerAccess.sums(named), Format.PROMETHEUS), "brick_run"))
                .containsExactly("brick_run{model=\"llama-3.1-8b\"} 1.0");
    }

    private void serve(String model, Outcome outcome) {
        long request = profiler.requests().arrived(10);
        profiler.requests().model(request, model);
        step(request, StepInfo.prefill(10), 10, 100 * MS);
        profiler.requests().finished(request, outcome);
    }

    @Spec("25.28")
    @Test
    void requestsThatNameTheirModelHaveSeriesOfTheirOwn() {
        serve("a \"b\"\n", Outcome.COMPLETED);
        serve("c", Outcome.COMPLETED);
        serve("c", Outcome.FAILED);

        String text = page.render(ProfilerAccess.sums(profiler), Format.PROMETHEUS);
        String firstTokens = "gen_ai_server_time_to_first_token_seconds_count";
        assertThat(value(text, firstTokens)).as("unnamed").isEqualTo(2);
        assertThat(value(text, firstTokens + "{gen_ai_request_model=\"a \\\"b\\\"\\n\"}"))
                .isEqualTo(1);
        assertThat(value(text, firstTokens + "{gen_ai_request_model=\"c\"}")).isEqualTo(1);
        assertThat(lines(text, "gen_ai_server_request_duration_seconds_count{"))
                .filteredOn(line -> line.contains("error_type"))
                .hasSize(2)
                .anyMatch(line -> line.contains("gen_ai_request_model=\"c\""));
        assertThat(value(text, "brick_model_requests_total{gen_ai_request_model=\"c\",outcome=\"failed\"}"))
                .isEqualTo(1);
        assertThat(sum(text, "brick_model_requests_total"))
                .isEqualTo(sum(text, "brick_requests_total"))
                .isEqualTo(6);
        assertThat(sum(text, "brick_model_request_tokens_total"))
                .isEqualTo(sum(text, "brick_request_tokens_total"))
                .isPositive();
        assertThat(text).contains("gen_ai_request_model=\"(unknown)\"");
    }

    @Spec("25.28")
    @Test
    void requestsWithoutAModelAreForThatOfTheRun() {
        BrickProfiler named = BrickProfiler.builder()
                .identity(RunIdentity.builder().model("run").build())
                .build();
        named.enable();
        for (String model : List.of("", "run", "other")) {
            long request = named.requests().arrived(1);
            named.requests().model(request, model);
            named.requests().finished(request, Outcome.CANCELLED);
        }

        String text = new MetricsPage().render(ProfilerAccess.sums(named), Format.PROMETHEUS);
        String durations =
                "gen_ai_server_request_duration_seconds_count{error_type=\"cancelled\",gen_ai_request_model=";
        assertThat(value(text, durations + "\"run\"}")).isEqualTo(2);
        assertThat(value(text, durations + "\"other\"}")).isEqualTo(1);
        assertThat(lines(text, "brick_model_requests_total"))
                .filteredOn(line -> line.endsWith(" 2.0"))
                .singleElement()
                .asString()
                .contains("\"run\"", "cancelled");
    }

    /** A profiler whose requests name as many models as have series of their own, and more. */
    @Spec("25.28")
    @Test
    void thePageOfManyModelsIsBounded() {
        for (int i = 0; i < 100; i++) {
            serve("model with a name of usual length " + i, Outcome.COMPLETED);
        }
        String text = page.render(ProfilerAccess.sums(profiler), Format.PROMETHEUS);
        assertThat(lines(text, "gen_ai_server_request_duration_seconds_count{gen_ai"))
                .hasSize(17);
        assertThat(text.length()).isLessThan(200_000);
    }

    private static double sum(String page, String name) {
        return lines(page, name).stream()
                .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' '))))
                .sum();
    }

    @Test
    void openMetricsStatesTheBeginningOfEachCounterAndItsEnd() {
        String text = page.render(ProfilerAccess.sums(profiler), Format.OPEN_METRICS);
        assertThat(text).endsWith("# EOF\n").contains("# TYPE gen_ai_server_time_to_first_token_seconds histogram");
        assertThat(Format.OPEN_METRICS.type()).isEqualTo("application/openmetrics-text; version=1.0.0");
    }

    /** Names of bricks may be anything. */
    @ParameterizedTest
    @EnumSource(Format.class)
    void hostileNamesStayOneLabel(Format format) {
        profiler.record("name with \"quotes\", a \\ and\nanother line", 1_000, 1);
        assertThat(page.render(ProfilerAccess.sums(profiler), format))
                .contains("brick=\"name with \\\"quotes\\\", a \\\\ and\\nanother line\"");
    }

    /** Both names are a question mark in UTF-8. */
    @Test
    void namesThatAreTheSameInUtf8ShareASeries() {
        profiler.record("half \ud800", 1_000, 1);
        profiler.record("half \udc01", 2_000, 1);
        profiler.record("whole \ud83e\uddf1", 3_000, 1);

        String text = page.render(ProfilerAccess.sums(profiler), Format.PROMETHEUS);

        assertThat(lines(text, "brick_samples_total{brick=\"half"))
                .containsExactly("brick_samples_total{brick=\"half ?\",category=\"Other\",phase=\"none\"} 2.0");
        assertThat(text).contains("brick=\"whole \ud83e\uddf1\"");
    }

    /** Each page is whole: a histogram has as many requests as its last bucket, and nothing is negative. */
    @Test
    void aPageDuringResetsIsWhole() throws InterruptedException {
        BrickProfiler busy = BrickProfiler.enabled();
        AtomicBoolean ended = new AtomicBoolean();
        Thread engine = new Thread(() -> {
            while (!ended.get()) {
                long request = busy.requests().arrived(1);
                busy.beginStep(StepInfo.prefill(1));
                busy.requests().inStep(request, 1);
                busy.record(BrickId.LM_HEAD, 1_000, 1);
                busy.endPass();
                busy.requests().finished(request, Outcome.COMPLETED);
            }
        });
        Thread resets = new Thread(() -> {
            while (!ended.get()) {
                busy.reset();
            }
        });
        engine.start();
        resets.start();
        try {
            MetricsPage pages = new MetricsPage();
            for (int i = 0; i < 200; i++) {
                String text = pages.render(ProfilerAccess.sums(busy), Format.PROMETHEUS);
                assertThat(text).doesNotContainPattern("(?m)^[^#].* -[0-9]").contains("brick_wall_seconds_total ");
                for (String name : List.of("gen_ai_server_request_duration", "brick_request_queue_time")) {
                    String last = name + "_seconds_bucket{le=\"+Inf\"}";
                    if (text.contains(last)) {
                        assertThat(value(text, last)).isEqualTo(value(text, name + "_seconds_count"));
                    }
                }
            }
        } finally {
            ended.set(true);
            engine.join();
            resets.join();
        }
    }

    /** The bound of a page: 60 bricks in three phases and outside of them, from 32 threads, with failed requests. */
    @Spec("20.16")
    @Test
    void thePageOfManyBricksHasAtMost200Kilobytes() throws InterruptedException {
        BrickProfiler large = BrickProfiler.builder().percentiles(true).build();
        large.enable();
        for (int thread = 0; thread < 32; thread++) {
            Thread recording = new Thread(() -> {
                for (StepInfo.Phase phase : StepInfo.Phase.values()) {
                    long request = large.requests().arrived(1);
                    large.beginStep(new StepInfo(phase, 4, 1, 2_000_000_000L, 4, 2));
                    large.requests().inStep(request, 1);
                    recordAll(large);
                    large.endPass();
                    large.requests().finished(request, Outcome.FAILED);
                }
                recordAll(large);
            });
            recording.start();
            recording.join();
        }

        String text = new MetricsPage().render(ProfilerAccess.sums(large), Format.PROMETHEUS);

        assertThat(lines(text, "brick_time_seconds_total{")).hasSize(240);
        assertThat(text.getBytes(StandardCharsets.UTF_8)).hasSizeBetween(50_000, 200_000);
        assertThat(ProfilerAccess.sums(large).snapshot().bricks())
                .hasSize(60)
                .allMatch(brick -> brick.count() == 128 && brick.latency().isEmpty());
        assertThat(large.snapshot().bricks()).allMatch(brick -> brick.latency().isPresent());
    }

    private static void recordAll(BrickProfiler to) {
        for (int brick = 0; brick < 60; brick++) {
            to.record("model.layers.attention.projection." + brick, 123_456_789 + brick, 1);
        }
    }

    @Test
    void promtoolFindsNoFault() throws IOException {
        Fixture.PROMETHEUS.needProgram("promtool");
        profiler.record("name with \"quotes\", a \\ and\nanother line", 1_000, 1);
        profiler.record("controls \r \0 \u2028", 1_000, 1);
        Path text = Files.writeString(
                folder.resolve("metrics"), page.render(ProfilerAccess.sums(profiler), Format.PROMETHEUS));
        ProcessResult result = ChildProcess.of("sh")
                .arguments(List.of("-c", "promtool check metrics < " + text))
                .run();

        assertThat(result.output()).isEmpty();
        assertThat(result.exitCode()).isZero();
    }
}
