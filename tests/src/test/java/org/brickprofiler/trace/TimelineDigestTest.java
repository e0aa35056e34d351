package org.brickprofiler.trace;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.StepInfo;
import org.brickprofiler.report.HtmlReport;
import org.brickprofiler.testing.Crew;
import org.brickprofiler.testing.FakeClock;
import org.brickprofiler.testing.Profiles;
import org.brickprofiler.testing.SimulatedStream;
import org.brickprofiler.testing.SourceTree;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.trace.read.ReadOptions;
import org.brickprofiler.trace.read.TraceReader;
import org.brickprofiler.trace.read.TraceTimeline;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

public class TimelineDigestTest {

    private static final Pattern DATA =
            Pattern.compile("<script type=\"application/json\" id=\"timeline\">(.*?)</script>", Pattern.DOTALL);

    private static JsonNode digest(Timeline timeline) throws IOException {
        String page = HtmlReport.of(Profiles.plain())
                .with(TimelineDigest.of(timeline))
                .render();
        Matcher data = DATA.matcher(page);
        assertThat(data.find()).isTrue();
        return new ObjectMapper().readTree(data.group(1));
    }

    private static List<Long> longs(JsonNode array) {
        List<Long> values = new ArrayList<>();
        array.forEach(value -> values.add(value.isNull() ? null : value.asLong()));
        return values;
    }

    /** Returns the timeline of 20 steps, of which it holds the three slowest and a median one. */
    public static Timeline chosenSteps() {
        FakeClock clock = new FakeClock();
        TraceRecorder recorder =
                TraceRecorder.builder().keepSlowSteps(3).clock(clock).build();
        BrickProfiler profiler =
                BrickProfiler.builder().clock(clock).tracing(recorder).build();
        profiler.enable();
        for (int i = 0; i < 20; i++) {
            profiler.beginStep(StepInfo.decode(100));
            long timer = profiler.startBrick(BrickId.LM_HEAD);
            clock.advance(i < 17 ? 1_000 : 1_000 * i);
            profiler.stopBrick(timer, 1);
            profiler.endPass();
        }
        return recorder.timeline();
    }

    private static String slice(String name, String category, int thread, double startUs, double us) {
        return String.format(
                Locale.ROOT,
                "{\"ph\": \"X\", \"name\": \"%s\", \"cat\": \"%s\", \"pid\": 1, \"tid\": %d, \"ts\": %.3f, \"dur\": %.3f}",
                name,
                category,
                thread,
                startUs,
                us);
    }

    /**
     * Returns one step of a decoder with four layers in the form of PyTorch's profiler. All products are executions of
     * one kernel; their places show whether they are the output projection, gate and up, or down.
     */
    public static TraceReader.Contents decoderWithOneProduct() throws IOException {
        List<String> events = new ArrayList<>();
        events.add(slice("ProfilerStep#0", "user_annotation", 1, 0, 1_000));
        events.add(slice("aten::mm", "cpu_op", 1, 10, 20));
        for (int layer = 0; layer < 4; layer++) {
            double at = 100 + 200 * layer;
            events.add(slice("flash_fwd_kernel", "kernel", 7, at, 20));
            events.add(slice("product_gemm", "kernel", 7, at + 20, 30));
            events.add(slice("rms_norm", "kernel", 7, at + 50, 5));
            events.add(slice("product_gemm", "kernel", 7, at + 60, 60));
            events.add(slice("silu_and_mul", "kernel", 7, at + 120, 4));
            events.add(slice("product_gemm", "kernel", 7, at + 124, 40));
            events.add(slice("rms_norm", "kernel", 7, at + 164, 5));
            events.add(slice("product_gemm", "kernel", 7, at + 170, 25));
        }
        events.add(slice("flash_fwd_kernel", "kernel", 7, 900, 20));
        events.add(slice("nothing_known", "kernel", 7, 950, 10));
        byte[] trace = ("{\"schemaVersion\": 1, \"traceEvents\": [" + String.join(",", events) + "]}")
                .getBytes(StandardCharsets.UTF_8);
        return TraceReader.read(new ByteArrayInputStream(trace), "decoder", ReadOptions.defaults());
    }

    /** One kernel is several entries among the names, and the spans of a category add up to its row. */
    @Spec("8.6")
    @Test
    void spansHaveTheCategoriesInWhichTheyCount() throws IOException {
        try (TraceReader.Contents trace = decoderWithOneProduct()) {
            JsonNode digest = digest(trace.timeline().orElseThrow().timeline());

            assertThat(digest.get("counted").asBoolean()).isTrue();
            assertThat(digest.get("names"))
                    .filteredOn(name -> name.get("name").asText().equals("product_gemm"))
                    .extracting(name -> name.get("brick").asText() + ", "
                            + name.get("counted").asText() + ", "
                            + name.get("by").asText())
                    .contains("OutputProjection, Attention, place", "DownProjection, FFN, place");
            assertThat(digest.get("names"))
                    .filteredOn(name -> name.get("name").asText().equals("aten::mm"))
                    .allMatch(name -> !name.has("counted") && !name.has("by"))
                    .hasSize(1);
            Map<String, Long> byCategory = new TreeMap<>();
            JsonNode step = digest.at("/shown/0");
            for (int i = 0; i < step.get("name").size(); i++) {
                JsonNode name = digest.get("names").get(step.get("name").get(i).asInt());
                if (name.has("counted")) {
                    byCategory.merge(
                            name.get("counted").asText(), step.get("ns").get(i).asLong(), Long::sum);
                }
            }
            Map<String, Long> rows = new TreeMap<>();
            trace.profile()
                    .snapshot()
                    .bricks()
                    .forEach(brick -> rows.merge(brick.category().displayName(), brick.totalNs(), Long::sum));
            assertThat(byCategory).isEqualTo(rows).containsKeys("Attention", "FFN", "Norm", "Other");
        }
    }

    @Spec("13.16")
    @Test
    void ofManyStepsTheOneThatIsNotSlowIsTheMedianOne() throws IOException {
        JsonNode digest = digest(chosenSteps());
        assertThat(digest.at("/chosen/text").asText())
                .isEqualTo("This timeline holds chosen steps only: 4 of 20 decode steps.");
        assertThat(digest.at("/chosen/steps")).hasSize(3);
        assertThat(digest.at("/chosen/steps/0/phase").asText()).isEqualTo("decode");
        assertThat(digest.at("/chosen/steps/0/text").asText())
                .isEqualTo("Step 19: 19.0 us, typical for its size 1.0: +18.0 us LmHead.");
        assertThat(digest.at("/shown/0/elapsed_ns").asLong()).isEqualTo(1_000);
        assertThat(digest.at("/shown/1/elapsed_ns").asLong()).isEqualTo(19_000);
        assertThat(digest.get("shown"))
                .extracting(step ->
                        step.get("what").asText() + " " + step.path("number").asText("none"))
                .containsExactly("median none", "slowest 19", "slow 18", "slow 17");
        assertThat(digest.at("/shown/2/text").asText()).startsWith("Step 18: 18.0 us");
    }

    /** Two engines of one process, each on a thread of its own. */
    @Spec("13.16")
    @Test
    void chosenStepsOfEveryThreadAreShown() throws Exception {
        FakeClock clock = new FakeClock();
        TraceRecorder recorder =
                TraceRecorder.builder().keepSlowSteps(30).clock(clock).build();
        BrickProfiler profiler =
                BrickProfiler.builder().clock(clock).tracing(recorder).build();
        profiler.enable();
        for (int i = 0; i < 20; i++) {
            long ns = 1_000L * (i + 1);
            Crew crew = i % 2 == 0 ? new Crew() : null;
            Runnable step = () -> {
                profiler.beginStep(StepInfo.decode(100));
                clock.advance(ns);
                profiler.endPass();
            };
            if (crew == null) {
                step.run();
            } else {
                crew.run(step::run).join();
            }
        }

        assertThat(digest(recorder.timeline()).get("shown"))
                .hasSize(1 + TimelineDigest.MOST_CHOSEN_STEPS)
                .extracting(step -> step.get("elapsed_ns").asLong())
                .startsWith(10_000L, 20_000L, 19_000L, 18_000L);
    }

    /** If the median step is among the slowest, it is still the step in the middle; of two, the shorter one. */
    @Spec("13.16")
    @ParameterizedTest
    @CsvSource({"2, 1000", "3, 2000", "6, 3000", "7, 4000", "9, 5000"})
    void theMedianOfAShortRunIsInItsMiddle(int steps, long medianNs) throws IOException {
        FakeClock clock = new FakeClock();
        TraceRecorder recorder =
                TraceRecorder.builder().keepSlowSteps(6).clock(clock).build();
        BrickProfiler profiler =
                BrickProfiler.builder().clock(clock).tracing(recorder).build();
        profiler.enable();
        for (int i = 1; i <= steps; i++) {
            profiler.beginStep(StepInfo.decode(100));
            clock.advance(1_000L * i);
            profiler.endPass();
        }

        JsonNode shown = digest(recorder.timeline()).get("shown");
        assertThat(shown.at("/0/what").asText()).isEqualTo("median");
        assertThat(shown.at("/0/elapsed_ns").asLong()).isEqualTo(medianNs);
        assertThat(shown.at("/1/elapsed_ns").asLong()).isEqualTo(1_000L * steps);
        assertThat(recorder.timeline().info().slowSteps().orElseThrow().phases())
                .extracting(SlowSteps.PhaseSteps::median)
                .containsExactly(medianNs / 1_000 - 1);
    }

    @Spec("8.6")
    @Test
    void findsTheMedianAndTheSlowestStep() throws IOException {
        JsonNode digest = digest(SampleTimelines.ofSteps(new int[] {10, 30, 20, 500, 40}, 2));

        assertThat(digest.get("steps").asInt()).isEqualTo(5);
        assertThat(digest.get("dropped").asInt()).isZero();
        JsonNode median = digest.get("shown").get(0);
        JsonNode slowest = digest.get("shown").get(1);
        assertThat(digest.get("shown")).hasSize(2);
        // A step has an embedding of 1 us, then in each layer a norm of 1 us and a product of the given duration.
        assertThat(median.get("what").asText()).isEqualTo("median");
        assertThat(median.get("phase").asText()).isEqualTo("step");
        assertThat(median.get("elapsed_ns").asLong()).isEqualTo(1_000 + 2 * 31_000);
        assertThat(median.get("after_ns").asLong()).isEqualTo(1_000 + 2 * 11_000);
        assertThat(slowest.get("what").asText()).isEqualTo("slowest");
        assertThat(slowest.get("elapsed_ns").asLong()).isEqualTo(1_000 + 2 * 501_000);
        assertThat(median.get("omitted").asInt()).isZero();
        assertThat(longs(median.get("start_ns")))
                .containsExactly(0L, 1_000L, 1_000L, 2_000L, 32_000L, 32_000L, 33_000L);
        assertThat(longs(median.get("ns"))).containsExactly(1_000L, 31_000L, 1_000L, 30_000L, 31_000L, 1_000L, 30_000L);
        List<String> names = new ArrayList<>();
        median.get("name")
                .forEach(place -> names.add(
                        digest.get("names").get(place.asInt()).get("name").asText()));
        assertThat(names)
                .containsExactly(
                        "Embedding", "Layer 0", "RmsNorm", "DownProjection", "Layer 1", "RmsNorm", "DownProjection");
        assertThat(longs(median.get("layer"))).containsExactly(-1L, 0L, 0L, 0L, 1L, 1L, 1L);
        assertThat(digest.get("tracks").get(0).asText())
                .isEqualTo(Thread.currentThread().getName());
    }

    /** The value of a layer is its mean over all steps. */
    @Spec("8.6")
    @Test
    void addsUpEachBrickByLayer() throws IOException {
        JsonNode digest = digest(SampleTimelines.ofSteps(new int[] {10, 30, 20}, 3));

        assertThat(digest.get("layers").asInt()).isEqualTo(3);
        assertThat(digest.get("bricks")).hasSize(2);
        assertThat(digest.get("bricks").get(0).get("name").asText()).isEqualTo("RmsNorm");
        assertThat(longs(digest.get("bricks").get(0).get("ns"))).containsExactly(1_000L, 1_000L, 1_000L);
        assertThat(digest.get("bricks").get(1).get("category").asText()).isEqualTo("FFN");
        assertThat(longs(digest.get("bricks").get(1).get("ns"))).containsExactly(20_000L, 20_000L, 20_000L);
    }

    @Test
    void showsEachPhaseByItself() throws IOException {
        JsonNode digest = digest(SampleTimelines.ofPhases());

        assertThat(digest.get("shown"))
                .extracting(step ->
                        step.get("what").asText() + " " + step.get("phase").asText() + " "
                                + step.get("elapsed_ns").asLong())
                .containsExactly("median decode 22000", "slowest decode 42000", "only prefill 202000");
    }

    @Test
    void keepsTheLongestSpansOfAStepAndCountsTheOthers() throws IOException {
        int layers = 3_000;
        JsonNode digest = digest(SampleTimelines.ofSteps(new int[] {10}, layers));

        JsonNode only = digest.get("shown").get(0);
        assertThat(digest.get("shown")).hasSize(1);
        assertThat(only.get("what").asText()).isEqualTo("only");
        assertThat(only.get("ns")).hasSize(TimelineDigest.MOST_SPANS);
        assertThat(longs(only.get("ns"))).allMatch(ns -> ns >= 10_000);
        assertThat(only.get("omitted").asInt()).isEqualTo(1 + 3 * layers - TimelineDigest.MOST_SPANS);
        assertThat(digest.get("layers").asInt()).isEqualTo(TimelineDigest.MOST_LAYERS);
        assertThat(HtmlReport.of(Profiles.plain())
                        .with(TimelineDigest.of(SampleTimelines.ofSteps(new int[] {10}, layers)))
                        .render()
                        .getBytes(StandardCharsets.UTF_8))
                .hasSizeLessThan(400_000);
    }

    @Test
    void usesTheDeviceTimeAsTheTimeOfABrick() throws IOException {
        FakeClock clock = new FakeClock(1_000);
        SimulatedStream stream = new SimulatedStream("decode", clock);
        TraceRecorder recorder = TraceRecorder.builder().clock(clock).build();
        BrickProfiler profiler = BrickProfiler.builder()
                .clock(clock)
                .tracing(recorder)
                .deviceStream(stream)
                .build();
        profiler.enable();
        profiler.startLayer();
        long timer = profiler.startBrick(BrickId.RMS_NORM);
        stream.work(7_000);
        clock.advance(5);
        profiler.stopBrick(timer, 1);
        profiler.endLayer();
        profiler.endPass();
        JsonNode digest = digest(recorder.timeline());

        assertThat(digest.get("bricks")).hasSize(1);
        assertThat(longs(digest.get("bricks").get(0).get("ns"))).containsExactly(7_000L);
        assertThat(digest.get("tracks")).extracting(JsonNode::asText).contains("simulated, decode");
    }

    @Test
    void hasNothingOfATimelineWithoutSteps() throws IOException {
        JsonNode digest = digest(SampleTimelines.ofSteps(new int[0], 1));

        assertThat(digest.get("steps").asInt()).isZero();
        assertThat(digest.get("shown")).isEmpty();
        assertThat(digest.get("layers").asInt()).isZero();
    }

    /** PyTorch's own steps, in a trace of a training loop. */
    @Test
    void knowsTheStepsOfOtherPrograms() throws IOException {
        try (TraceTimeline trace = TraceReader.timeline(
                SourceTree.path("readers", "src", "test", "resources", "traces", "kineto-training-step.json.gz"),
                ReadOptions.defaults())) {
            JsonNode digest = digest(trace.timeline());

            assertThat(digest.get("steps").asInt()).isEqualTo(6);
            assertThat(digest.get("shown"))
                    .extracting(step -> step.get("what").asText())
                    .containsExactly("median", "slowest");
            assertThat(digest.get("names"))
                    .extracting(name -> name.get("name").asText())
                    .anyMatch(name -> name.startsWith("aten::"));
        }
    }
}
