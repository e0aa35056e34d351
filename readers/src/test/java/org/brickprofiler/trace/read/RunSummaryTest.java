package org.brickprofiler.trace.read;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.brickprofiler.trace.read.Traces.refused;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Phases and requests in files without bricks. */
final class RunSummaryTest {

    private static final Path FOLDER = Path.of("src", "test", "resources", "summaries");
    private static final String BENCH = "llama-bench-gemma3-27b.json";
    private static final String SERVER = "llama-server-8b.log.gz";
    private static final String PERF = "llama-perf-cpu.log.gz";
    private static final String OLLAMA = "ollama-generate-doc-example.json";
    private static final String VLLM = "vllm-bench-serve-M3-c4.json";

    private static String text(String file) throws IOException {
        try (InputStream bytes = Files.newInputStream(FOLDER.resolve(file))) {
            return new String((file.endsWith(".gz") ? new GZIPInputStream(bytes) : bytes).readAllBytes(), UTF_8);
        }
    }

    private static RunSummary read(String text) throws IOException {
        byte[] bytes = text.getBytes(UTF_8);
        assertThat(RunSummary.begins(bytes)).as("whether it is known").isTrue();
        assertThat(RunSummary.begins(Traces.packed(bytes))).as("packed").isTrue();
        return RunSummary.read(new ByteArrayInputStream(bytes), "the file");
    }

    private static JsonNode json(String text) throws IOException {
        RunSummary summary = read(text);
        assertThat(summary.text()).contains("  bricks      none: the file has sums of phases or requests");
        JsonNode json = new JsonMapper().readTree(summary.toJson());
        assertThat(json.get("has_bricks").booleanValue()).isFalse();
        return json;
    }

    // ---- real files; the numbers are those of the table beside them ----

    @Test
    void testsOfLlamaBench() throws IOException {
        JsonNode test = json(text(BENCH)).get("tests").get(0);

        assertThat(test.get("test").asText()).isEqualTo("tg128");
        assertThat(test.get("avg_ns").longValue()).isEqualTo(2_535_748_928L);
        assertThat(String.format(Locale.ROOT, "%.3f", test.get("tokens_per_s").doubleValue()))
                .isEqualTo("50.478");
    }

    @Test
    void requestsOfAServerWithCachedPrompts() throws IOException {
        JsonNode json = json(text(SERVER));
        JsonNode slot = json.get("slots").get(0);
        JsonNode shortest = json.get("requests").get(9);

        assertThat(json.get("requests")).hasSize(10);
        assertThat(json.get("slots")).hasSize(1);
        assertThat(slot.get("total_ns").longValue()).isBetween(17_921_850_000L, 17_921_950_000L);
        assertThat(List.of(
                        shortest.get("task").longValue(),
                        shortest.get("cached_tokens").longValue(),
                        shortest.get("evaluated_tokens").longValue(),
                        shortest.get("prompt_ns").longValue(),
                        shortest.get("output_tokens").longValue()))
                .containsExactly(5L, 35L, 1L, 35_080_000L, 4L);
    }

    @Test
    void phasesOfAContext() throws IOException {
        JsonNode phases = json(text(PERF)).get("phases");

        assertThat(phases)
                .extracting(phase ->
                        phase.get("phase").asText() + " " + phase.get("ns").asLong())
                .containsExactly("load 32250000", "prompt 6220000", "output 15170000", "total 61200000");
    }

    @Test
    void aResponseOfOllama() throws IOException {
        JsonNode request = json(text(OLLAMA)).get("requests").get(0);

        assertThat(request.get("total_ns").longValue()).isEqualTo(5_043_500_667L);
        assertThat(request.get("rest_ns").longValue()).isEqualTo(3_308_708L);
    }

    @Test
    void aRunOfVllmBench() throws IOException {
        JsonNode json = json(text(VLLM));

        assertThat(json.get("runs").get(0).get("output_tokens").longValue()).isEqualTo(4_085);
        assertThat(json.get("runs").get(0).get("wall_ns").longValue()).isEqualTo(8_026_852_383L);
        assertThat(json.get("times")).hasSize(3);
        assertThat(json.get("times").get(2).get("mean_ns").longValue()).isEqualTo(108_735_388L);
    }

    @Test
    void theHighestPercentileOfARunOfVllmBench() throws IOException {
        String run = "{\"completed\": 1, \"total_input_tokens\": 1, \"total_output_tokens\": 2, \"duration\": 2,"
                + " \"output_throughput\": 1, \"mean_ttft_ms\": 1, \"p9_ttft_ms\": 1, \"p99_ttft_ms\": 2,"
                + " \"p99.9_ttft_ms\": 3}";

        assertThat(json(run).get("times").get(0).get("percentile").asText()).isEqualTo("p99.9");
    }

    /** The keys of SGLang's bench_serving. */
    @Test
    void theWholeRequestsOfARunOfSglang() throws IOException {
        String run = "{\"completed\": 1, \"total_input_tokens\": 1, \"total_output_tokens\": 2, \"duration\": 2,"
                + " \"output_throughput\": 1, \"mean_ttft_ms\": 1, \"mean_e2e_latency_ms\": 7,"
                + " \"p99_e2e_latency_ms\": 9}";

        JsonNode request = json(run).get("times").get(0);
        assertThat(request.get("time").asText()).isEqualTo("whole request");
        assertThat(request.get("mean_ns").longValue()).isEqualTo(7_000_000);
        assertThat(request.get("percentile_ns").longValue()).isEqualTo(9_000_000);
    }

    // ---- further forms ----

    private static String request(int slot, int task, String prompt, int tokens, String output, String total) {
        return """
                slot update_slots: id %2$2d | task %1$d | new prompt, n_ctx_slot = 4096, n_keep = 0, task.n_tokens = 40
                slot print_timing: id %2$2d | task %1$d |\s
                prompt eval time =  %3$s ms /    %4$d tokens
                       eval time =  %5$s ms /    10 tokens
                      total time =  %6$s ms /    %7$d tokens
                """.formatted(task, slot, prompt, tokens, output, total, tokens + 10);
    }

    @Test
    void requestsOfSeveralSlotsAreNotAdded() throws IOException {
        String log = request(0, 1, "10.00", 40, "20.00", "30.00") + request(1, 2, "10.00", 4, "90.00", "100.00");
        RunSummary summary = read(log);

        assertThat(summary.text())
                .contains("requests    2 in 2 slots, which overlap: their times are not added")
                .doesNotContain("130");
        assertThat(json(log).get("slots").get(1).get("cached_tokens").longValue())
                .isEqualTo(36);
        assertThat(read(log.replaceAll("(?m)^slot update_slots.*\n", "")).text())
                .contains("cached      not known of 2 requests");
    }

    /** Servers since 2026 print the prefix in each line, and further lines with it. */
    @Test
    void progressOfASlotIsNoTiming() throws IOException {
        String old = request(0, 1, "10.00", 40, "20.00", "30.00") + request(1, 2, "10.00", 4, "90.00", "100.00");
        String slot = "slot print_timing: id  %d | task %d | ";
        String progress = slot.formatted(1, 2) + "n_decoded = 100, tg = 8.63 t/s\n";
        StringBuilder log = new StringBuilder(progress);
        for (int task = 1; task <= 2; task++) {
            String prefix = slot.formatted(task - 1, task);
            log.append(request(
                            task - 1,
                            task,
                            "10.00",
                            task == 1 ? 40 : 4,
                            task == 1 ? "20.00" : "90.00",
                            task == 1 ? "30.00" : "100.00")
                    .lines()
                    .filter(line -> !line.contains("print_timing"))
                    .map(line -> line.contains(" time") ? prefix + line : line)
                    .collect(Collectors.joining("\n", "", "\n")));
            log.append(prefix).append("   graphs reused =        254\n").append(progress);
        }

        assertThat(read(log.toString()).text()).isEqualTo(read(old).text()).doesNotContain("faulty");
    }

    /** The beginning of a long stream has no times, and the beginning of a detailed run has no means. */
    @Test
    void summariesWhoseTimesComeLateAreRead() throws IOException {
        String part =
                "{\"model\": \"m\", \"created_at\": \"2026-01-01T00:00:00Z\", \"response\": \"a\", \"done\": false}\n";
        String last = part.replace("false}", "true, \"total_duration\": 50, \"eval_duration\": 20, \"eval_count\": 4}");
        assertThat(json(part.repeat(4_000) + last)
                        .get("requests")
                        .get(0)
                        .get("total_ns")
                        .longValue())
                .isEqualTo(50);
        String run = "{\"completed\": 1, \"total_input_tokens\": 1, \"total_output_tokens\": 2, \"duration\": 2,"
                + " \"output_throughput\": 1, \"itls\": [[" + "0.012345, ".repeat(40_000)
                + "0]], \"mean_ttft_ms\": 1, \"p99_ttft_ms\": 2}";
        assertThat(json(run).get("times").get(0).get("mean_ns").longValue()).isEqualTo(1_000_000);
    }

    /** The draft and the target of a speculative run: two contexts, of which the second one begins with its sampler. */
    @Test
    void theTimesOfTheSamplerBelongToTheContextAfterThem() throws IOException {
        String phases = """
                %1$s        load time =     200.00 ms
                %1$s prompt eval time =      10.00 ms /     5 tokens
                %1$s        eval time =       8.00 ms /     1 runs
                %1$s       total time =      21.00 ms /     6 tokens
                """;
        String log = phases.formatted("llama_perf_context_print:")
                + "common_perf_print:    sampling time =      60.00 ms\n"
                + phases.formatted("common_perf_print:");

        assertThat(json(log).get("phases"))
                .extracting(phase ->
                        phase.get("phase").asText() + " " + phase.get("context").asLong())
                .containsExactly(
                        "load 0",
                        "prompt 0",
                        "output 0",
                        "total 0",
                        "load 1",
                        "sampling 1",
                        "prompt 1",
                        "output 1",
                        "total 1");
    }

    /** The numbers of tasks begin again in a second process. */
    @Test
    void aLaterProcessHasNoPromptsOfAnEarlierOne() throws IOException {
        String first = "llama_model_loader: loaded\n" + request(0, 7, "30.00", 30, "50.00", "80.00");
        String later = first.replaceAll("(?m)^slot update_slots.*\n", "");

        assertThat(json(first + later).get("requests"))
                .extracting(request -> request.get("cached_tokens").asText())
                .containsExactlyInAnyOrder("10", "null");
    }

    @Test
    void testsOnOneLineEachAreRead() throws IOException {
        String test = "{\"n_prompt\": %d, \"n_gen\": %d, \"n_depth\": %d, \"avg_ns\": 1000000000, \"stddev_ns\": 5,"
                + " \"avg_ts\": %d.0, \"samples_ns\": [1000000000], \"samples_ts\": [1.0], \"model_type\": \"m\"}%n";
        JsonNode tests = json(test.formatted(512, 0, 0, 512) + test.formatted(0, 64, 4096, 64))
                .get("tests");

        assertThat(tests).extracting(each -> each.get("test").asText()).containsExactly("pp512", "tg64 @ d4096");
    }

    @Test
    void partsOfAStreamedResponseAreLeftOut() throws IOException {
        String parts = "{\"model\": \"m\", \"response\": \"a\", \"done\": false}\n";
        String last = "{\"model\": \"m\", \"done\": true, \"total_duration\": 50, \"load_duration\": 5,"
                + " \"eval_count\": 2, \"eval_duration\": 40}\n";

        assertThat(read(parts + parts + last).text())
                .contains("left out    2 parts of streamed responses")
                .contains("cached      a prompt without a count was cached as a whole");
        assertThat(json(last).get("requests").get(0).get("prompt_tokens").isNull())
                .isTrue();
    }

    @Test
    void timesOfTensorRtAddTransfersAndComputeAndNotTheEnqueue() throws IOException {
        String run =
                "{\"startEnqMs\": 0.1, \"endEnqMs\": 9.1, \"startH2dMs\": 1, \"endH2dMs\": 1.5, \"startComputeMs\":"
                        + " 1.5, \"endComputeMs\": %1$s, \"startD2hMs\": 6, \"endD2hMs\": 6.25, \"h2dMs\": 0.5, \"latencyMs\": %2$s}";
        JsonNode parts = json("[" + run.formatted("3.5", "2.75") + ", " + run.formatted("4.5", "3.75") + "]")
                .get("parts");

        assertThat(parts)
                .extracting(part ->
                        part.get("part").asText() + " " + part.get("mean_ns").asLong())
                .containsExactly("h2d 500000", "compute 2500000", "d2h 250000", "latency 3250000", "enqueue 9000000");
        assertThat(refused(() -> read("[" + run.formatted("3.5", "2.85") + "]")).fault())
                .contains("latencyMs 2.85 is not the sum");
    }

    @Test
    void timesOfEarlierVersionsOfTensorRtHaveOtherNamesAndNoEnqueue() throws IOException {
        JsonNode parts = json("[{\"startInMs\": 1, \"endInMs\": 1.5, \"startComputeMs\": 1.5, \"endComputeMs\": 3.5,"
                        + " \"startOutMs\": 6, \"endOutMs\": 6.25, \"inMs\": 0.5, \"computeMs\": 2, \"outMs\": 0.25,"
                        + " \"latencyMs\": 2.75, \"endToEndMs\": 5.25}]")
                .get("parts");

        assertThat(parts)
                .extracting(part ->
                        part.get("part").asText() + " " + part.get("mean_ns").asText())
                .containsExactly("h2d 500000", "compute 2000000", "d2h 250000", "latency 2750000", "enqueue null");
    }

    // ---- faults ----

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            30.00 ms | 31.00 ms | are not the total of 50 tokens in 31.0 ms
            / 10 t   | / 11 t   | are not the total of 50 tokens
            total    | totl     | the timing of task 1 in slot 0 has no total
            / 40 t   | / 41 t   | are not the total of 50 tokens
            """)
    void aTimingThatContradictsItselfIsRefused(String whole, String wrong, String fault) {
        String log = request(0, 1, "10.00", 40, "20.00", "30.00").replaceAll(" +", " ");
        String second = request(0, 2, "10.00", 40, "20.00", "30.00");

        assertThat(log).contains(whole);
        assertThat(refused(() -> read(log.replaceFirst(whole, wrong) + second)).fault())
                .contains(fault);
    }

    @Test
    void aLogWithoutTimingsIsRefused() {
        assertThat(refused(() -> read("load_backend: loaded CPU backend\nllama_model_loader: - kv 0\n"))
                        .fault())
                .contains("has no timings of requests (print_timing) and none of a context");
    }

    @Test
    void aTraceIsNoSummaryAndASummaryIsNoTrace() throws IOException {
        assertThat(RunSummary.begins(
                        text("../traces/llama-vulkan-perf-logger.log.gz").getBytes(UTF_8)))
                .as("it has bricks")
                .isFalse();
        String event = "[{\"ph\": \"X\", \"name\": \"a\", \"args\": {\"n_gen\": 1, \"avg_ns\": 2}}]";
        assertThat(RunSummary.begins(event.getBytes(UTF_8))).isFalse();
        for (String file : List.of(BENCH, SERVER, PERF, OLLAMA, VLLM)) {
            TraceFormatException refused =
                    refused(() -> TraceReader.profile(FOLDER.resolve(file), ReadOptions.defaults()));
            assertThat(refused.fault()).contains("no bricks; brick report prints");
            assertThat(refused.isDamage()).as("whether --salvage is offered").isFalse();
        }
    }

    /** Each file is cut at 40 places. A log may be read up to the cut; any other file that is read is the whole one. */
    @ParameterizedTest
    @ValueSource(strings = {BENCH, SERVER, PERF, OLLAMA, VLLM})
    void aTruncatedFileIsRefusedOrALogIsReadUpToTheCut(String file) throws IOException {
        String whole = text(file);
        String report = RunSummary.read(new ByteArrayInputStream(whole.getBytes(UTF_8)), "f")
                .toJson();
        int refusals = 0;
        for (int i = 1; i <= 40; i++) {
            String cut = whole.substring(0, (int) ((long) whole.length() * i / 41));
            try {
                RunSummary read = RunSummary.read(new ByteArrayInputStream(cut.getBytes(UTF_8)), "f");
                boolean isShorter = file.equals(SERVER) && read.toJson().length() < report.length();
                assertThat(isShorter || read.toJson().equals(report))
                        .as("cut at %s", cut.length())
                        .isTrue();
            } catch (TraceFormatException refused) {
                assertThat(refused.fault()).isNotBlank();
                refusals++;
            }
        }
        assertThat(refusals).isGreaterThan(file.equals(SERVER) ? 5 : 30);
    }

    @Test
    void sglangsBenchmarkHasItsNameAndNoLimitOfRequests() throws IOException {
        String text =
                "{\"backend\": \"sglang\", \"request_rate\": Infinity, \"max_concurrency\": 16, \"duration\": 10.0,"
                        + " \"completed\": 100, \"total_input_tokens\": 1000, \"total_output_tokens\": 2000,"
                        + " \"output_throughput\": 200.0, \"mean_e2e_latency_ms\": 1000.0, \"mean_ttft_ms\": 100.0,"
                        + " \"std_ttft_ms\": NaN, \"mean_itl_ms\": NaN}";
        JsonNode json = json(text);

        assertThat(json.get("program").asText()).isEqualTo("sglang.bench_serving");
        JsonNode run = json.get("runs").get(0);
        assertThat(run.get("request_rate").asText()).isEqualTo("no limit");
        assertThat(run.get("completed").intValue()).isEqualTo(100);
        assertThat(run.get("output_tokens_per_s").doubleValue()).isEqualTo(200);
        JsonNode times = json.get("times");
        assertThat(times.get(1).get("mean_ns").isNull()).as("of no token").isTrue();
        assertThat(times.get(2).get("mean_ns").longValue()).isEqualTo(100_000_000);
        assertThat(times.get(2).get("stddev_ns").isNull()).isTrue();
    }
}
