package org.brickprofiler.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.ToDoubleFunction;
import org.brickprofiler.Backend;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.BrickStats;
import org.brickprofiler.Calibration;
import org.brickprofiler.DeviceTime;
import org.brickprofiler.Environment;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.Progress;
import org.brickprofiler.RunFacts;
import org.brickprofiler.RunIdentity;
import org.brickprofiler.StepInfo;
import org.brickprofiler.StepInfo.Phase;
import org.brickprofiler.StepStats;
import org.brickprofiler.ThreadPlace;
import org.brickprofiler.Work;
import org.brickprofiler.checksum.ChecksumComparison;
import org.brickprofiler.checksum.ChecksumLog;
import org.brickprofiler.checksum.ChecksumOptions;
import org.brickprofiler.checksum.Tolerance;
import org.brickprofiler.graph.CriticalPath;
import org.brickprofiler.graph.Dim3;
import org.brickprofiler.graph.EdgeType;
import org.brickprofiler.graph.ExecutionGraph;
import org.brickprofiler.graph.ExecutionNode;
import org.brickprofiler.internal.record.LatencyBuckets;
import org.brickprofiler.kernel.KernelTiming;
import org.brickprofiler.report.internal.HumanUnits;
import org.brickprofiler.request.LiveRequest;
import org.brickprofiler.request.RecentRequests;
import org.brickprofiler.request.RequestIdentity;
import org.brickprofiler.request.RequestRecorder;
import org.brickprofiler.roofline.BrickRoofline;
import org.brickprofiler.roofline.BrickRoofline.Distance;
import org.brickprofiler.roofline.RooflineReport;
import org.brickprofiler.roofline.RooflineReportTest;
import org.brickprofiler.stats.LatencyDistribution;
import org.brickprofiler.testing.FakeClock;
import org.brickprofiler.testing.PageInBrowser;
import org.brickprofiler.testing.Profiles;
import org.brickprofiler.testing.SourceTree;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.tile.TileLevel;
import org.brickprofiler.tile.TileProfiler;
import org.brickprofiler.tile.TileStats;
import org.brickprofiler.trace.LineProfile;
import org.brickprofiler.trace.SampleLines;
import org.brickprofiler.trace.SampleTimelines;
import org.brickprofiler.trace.SlowSteps;
import org.brickprofiler.trace.SourceLinks;
import org.brickprofiler.trace.Timeline;
import org.brickprofiler.trace.TimelineDigest;
import org.brickprofiler.trace.TimelineDigestTest;
import org.brickprofiler.trace.TraceRecorder;
import org.brickprofiler.trace.read.ReadOptions;
import org.brickprofiler.trace.read.TraceProfile;
import org.brickprofiler.trace.read.TraceReader;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The page in a real browser. In every test, the console must stay empty, and the page must access no network. */
class HtmlReportIT extends PageInBrowser {

    private static final String ROW = "#section-bricks tbody tr:not(.detail)";
    private static final String NAME = ROW + " bdi";

    private static final double PEAK_TFLOPS = 100;
    private static final double BANDWIDTH_GBPS = 2_000;

    /** The facts of a flight recording that the command line adds. */
    private static final Map<String, ?> RECORDED = Map.of(
            "virtual_machine",
            Map.<String, Object>of(
                    "clock_anchors",
                    3,
                    "clock_error_ns",
                    250,
                    "disturbances",
                    List.of(
                            disturbance("<b>AttentionScore", "garbage collection", 2_000_000, 0.031, 0.12),
                            disturbance("step: decode", "while compiling", 3_000_000, 0.02, 0.015))));

    /** Steps that the command line finds in a trace, of which one does not state the positions. */
    private static final Map<String, ?> ANNOTATED = Map.of(
            "annotated_steps",
            List.of(Map.of(
                    "phase",
                    "mixed",
                    "count",
                    2,
                    "total_ns",
                    300_000_000,
                    "max_ns",
                    160_000_000,
                    "sequences",
                    92,
                    "prompt_tokens",
                    16_310,
                    "decoded_tokens",
                    74)));

    private static final Map<String, ?> ANNOTATED_WHOLE = Map.of(
            "annotated_steps",
            List.of(Map.of(
                    "phase",
                    "decode",
                    "count",
                    1,
                    "total_ns",
                    10,
                    "max_ns",
                    10,
                    "sequences",
                    1,
                    "prompt_tokens",
                    0,
                    "prompt_positions",
                    0,
                    "decoded_tokens",
                    1,
                    "decoded_positions",
                    9)));

    private static Map<String, ?> disturbance(String brick, String cause, long ns, double share, double shareOfP99) {
        return Map.<String, Object>of(
                "brick", brick, "cause", cause, "total_ns", ns, "share", share, "share_of_p99", shareOfP99);
    }

    private static ProfileSnapshot disturbed() {
        RunFacts facts = new RunFacts(
                OptionalDouble.empty(),
                OptionalDouble.empty(),
                Map.of("steal_pct", 7.25, "<i>own", 3.0),
                List.of("steal 7 %"),
                List.of(new RunFacts.VirtualMachine(9, Instant.EPOCH, 2_000_000_000, 50_000_000, 500_000_000)),
                List.of(),
                Map.of());
        return Profiles.plain().withFacts(facts);
    }

    /** Launches of a device with a ridge at 50 FLOP/byte: at most 20 TFLOP/s at 10, and 100 beyond 50. */
    private static ExecutionGraph kernels() {
        ExecutionGraph graph = new ExecutionGraph();
        for (double tflops : new double[] {10, 5, 2}) {
            graph.addNode(kernel("attention", 10, tflops, 1_000));
        }
        graph.addNode(kernel("<i>gemm", 200, 90, 40_000));
        graph.addNode(kernel("impossible", 10, 25, 10));
        graph.addNode(kernel("idle", 10, 0, 20));
        graph.addNode(new ExecutionNode.Kernel("copy", 1, Dim3.of(1), Dim3.of(1), 0));
        return graph;
    }

    private static ExecutionNode.Kernel kernel(String name, double intensity, double tflops, long ns) {
        return new ExecutionNode.Kernel(
                name,
                1,
                Dim3.of(1),
                Dim3.of(1),
                0,
                OptionalLong.of(ns),
                OptionalDouble.of(intensity),
                OptionalDouble.of(tflops));
    }

    /** Returns slow steps as a recorder with the system's clock and samples of stacks has them. */
    private static SlowSteps withTimesOfDayAndSamples(SlowSteps steps) {
        return SlowSteps.fromJson(
                steps.toJson()
                        .replace("\"start_ns\":", "\"started_at\":\"2026-01-02T03:04:05.006Z\",\"start_ns\":")
                        .replace(
                                "\"parts\":",
                                "\"samples\":{\"state\":\"COMPLETE\",\"in_bricks\":7,\"outside\":2,\"unknown\":1,\"methods\":"
                                        + "[{\"brick\":\"LmHead\",\"method\":\"a.VectorMath.dot\",\"samples\":6}]},\"parts\":"));
    }

    /** Pages with all that can be added to a profile, among others. */
    static List<HtmlReport> pages() {
        List<HtmlReport> pages =
                new ArrayList<>(profiles().stream().map(HtmlReport::of).toList());
        pages.add(HtmlReport.of(Profiles.full())
                .withGraph(Profiles.pass(12, 8))
                .withChecksums(checksums(2))
                .with(TimelineDigest.of(SampleTimelines.ofSteps(new int[] {10, 30, 20, 500, 40}, 12)))
                .withTiles(places())
                .withKernels(List.of(new KernelTiming("gemm", Backend.CUDA, 4, 3_000_000, 700_000, 800_000, 750_000))));
        pages.add(HtmlReport.of(RooflineReportTest.PROFILE)
                .with(RooflineReport.part(roofline()))
                .withKernelRoofline(kernels(), PEAK_TFLOPS, BANDWIDTH_GBPS));
        pages.add(HtmlReport.of(disturbed()).withFurther(RECORDED));
        pages.add(HtmlReport.of(Profiles.plain()).withFurther(ANNOTATED_WHOLE));
        pages.add(inPhases());
        pages.add(withLines());
        pages.add(byFrames());
        pages.add(HtmlReport.of(calibrated())
                .withFurther(
                        LineProfile.without("the flight recorder is missing").reportEntries(calibrated())));
        pages.add(HtmlReport.of(Profiles.sampled()));
        try {
            TraceProfile guessed = guessed();
            pages.add(HtmlReport.of(guessed.snapshot()).with(guessed.part()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        try (TraceReader.Contents trace = TimelineDigestTest.decoderWithOneProduct()) {
            pages.add(HtmlReport.of(trace.profile().snapshot())
                    .with(TimelineDigest.of(trace.timeline().orElseThrow().timeline())));
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
        Timeline chosen = TimelineDigestTest.chosenSteps();
        RequestRecorder.Live live = new RequestRecorder.Live(
                1,
                1,
                Optional.of(new LiveRequest(
                        9_100_000_000L,
                        true,
                        7,
                        17,
                        new RequestIdentity(Optional.of("<b>"), Optional.empty(), Optional.empty()))),
                OptionalLong.of(8_200_000_000L),
                Optional.of(Thread.currentThread()));
        Progress.OpenStep step = new Progress.OpenStep(StepInfo.Phase.DECODE, 3, Thread.currentThread());
        StackTraceElement frame = new StackTraceElement("app.<b>Server", "answer", "Server.java", 31);
        ThreadPlace blocked = new ThreadPlace(
                "server<b>",
                Thread.State.BLOCKED,
                List.of(frame),
                Optional.of("app.Log@1f"),
                true,
                Optional.of("flusher"),
                List.of(frame));
        ThreadPlace unknown = new ThreadPlace(
                "virtual", Thread.State.WAITING, List.of(), Optional.empty(), false, Optional.empty(), List.of());
        pages.add(HtmlReport.of(Profiles.steps())
                .withFurther(new Progress(
                                OptionalLong.of(8_200_000_000L),
                                List.of(step),
                                live,
                                List.of(new RecentRequests(
                                        1,
                                        65_000_000_000L,
                                        7,
                                        1,
                                        LatencyDistribution.EMPTY,
                                        LatencyDistribution.EMPTY,
                                        Optional.empty(),
                                        Optional.empty())),
                                OptionalLong.of(8_200_000_000L),
                                List.of(
                                        new Progress.Place("the thread of the oldest request", blocked),
                                        new Progress.Place("the thread of the latest step", unknown)))
                        .reportEntries()));
        pages.add(HtmlReport.of(Profiles.steps())
                .withFurther(
                        new Progress(OptionalLong.empty(), List.of(), live, List.of(), OptionalLong.empty(), List.of())
                                .reportEntries()));
        pages.add(HtmlReport.of(Profiles.steps())
                .withFurther(withTimesOfDayAndSamples(chosen.info().slowSteps().orElseThrow())
                        .reportEntries(Profiles.steps())));
        pages.add(HtmlReport.of(Profiles.steps())
                .with(TimelineDigest.of(chosen))
                .withFurther(Map.of(
                        JsonReport.SLOW_STEPS,
                        chosen.info().slowSteps().orElseThrow().values())));
        return pages;
    }

    private static ProfileSnapshot calibrated() {
        Calibration.Spread spread = new Calibration.Spread(1, 2, 3);
        Calibration.Cost cost = new Calibration.Cost(spread, spread, spread, spread);
        RunFacts none = RunFacts.NONE;
        return Profiles.plain().toBuilder()
                .facts(new RunFacts(
                        none.tokensPerSec(),
                        none.unprofiledTokensPerSec(),
                        none.machine(),
                        none.disturbances(),
                        none.virtualMachines(),
                        List.of(new Calibration(
                                Environment.current(), spread, spread, 0, Map.of(Calibration.Mode.OWN, cost))),
                        none.nesting()))
                .build();
    }

    /** A comparison of two logs, whose outputs differ if the value is not 2. */
    private static ChecksumComparison checksums(float value) {
        ChecksumLog here = new ChecksumLog(ChecksumOptions.DEFAULT);
        ChecksumLog reference = new ChecksumLog(ChecksumOptions.DEFAULT);
        here.record("<b>RmsNorm", 1, 7, new float[] {value});
        reference.record("<b>RmsNorm", 1, 7, new float[] {2});
        return here.compareWith(reference, Tolerance.EXACT);
    }

    static List<ProfileSnapshot> profiles() {
        return List.of(
                Profiles.full(),
                Profiles.device(),
                Profiles.deferred(),
                Profiles.plain(),
                Profiles.empty(),
                Profiles.many(30),
                Profiles.steps(),
                Profiles.served(20),
                Profiles.decoded(3));
    }

    private void show(ProfileSnapshot snapshot) throws Exception {
        show(HtmlReport.of(snapshot));
    }

    private void show(HtmlReport report) throws Exception {
        show(report.render());
    }

    /** A trace of another program has no elements, no threads that recorded, and no profiler of ours. */
    @Test
    void omitsPartsThatATraceDoesNotHave() throws Exception {
        show(TraceReader.profile(
                        SourceTree.path("readers", "src", "test", "resources", "traces", "kineto-simple-add.json.gz"))
                .snapshot());

        assertThat(browser.texts(".figures dt")).containsExactly("Brick time", "Wall time");
        assertThat(browser.texts(".figures dd")).contains("from first to last event");
        assertThat(browser.texts("#section-bricks thead th")).contains("avg").doesNotContain("elements/s");
    }

    private static TraceProfile guessed() throws IOException {
        return trace("ort-decoder-pytorch.json.gz");
    }

    private static TraceProfile trace(String name) throws IOException {
        return TraceReader.profile(SourceTree.path("readers", "src", "test", "resources", "traces", name));
    }

    /** All that the text states of how a trace was read stands on its page, too. */
    @Test
    void statesHowATraceWasRead() throws Exception {
        TraceProfile profile = guessed();
        show(HtmlReport.of(profile.snapshot()).with(profile.part()));

        assertThat(browser.texts(".notices li").stream().map(text -> text.replaceAll("\\d[\\d,.]*", "#")))
                .startsWith(
                        "Left out: warm-up: # events, # us.",
                        "Placed by guess, from the order of norms, products and activations: # events, # ms, # % of them"
                                + " in layers that repeat, # % of brick time.");
        String read = browser.text("#section-how-this-was-read");
        List<String> lines = profile.summary().lines().skip(1).toList();
        assertThat(lines).hasSizeGreaterThan(10);
        assertThat(lines)
                .allSatisfy(line -> assertThat(read).contains(line.substring(12).strip()));
        assertThat(read).contains("idle", "of wall time", "ignored");

        TraceProfile ruleless = trace("jax-cpu.trace.json.gz");
        show(HtmlReport.of(ruleless.snapshot()).with(ruleless.part()));
        assertThat(browser.text(".notices")).contains("Without a rule: 61 kernels, 610 events, ");
        // A part of brick time that changes no conclusion is no reason to doubt; the section states it.
        TraceProfile few = trace("moe-b200-eager.json.gz");
        show(HtmlReport.of(few.snapshot()).with(few.part()));
        assertThat(browser.texts(".notices li")).noneMatch(text -> text.contains("Without a rule"));
        assertThat(browser.text("#section-how-this-was-read")).contains("1 kernel, 2 events");
    }

    @Spec("8.5")
    @ParameterizedTest
    @MethodSource("profiles")
    void showsTheNumbersOfTheSnapshot(ProfileSnapshot snapshot) throws Exception {
        show(snapshot);

        assertThat(browser.texts(".figures dt")).contains("Brick time");
        assertThat(browser.texts("main h2").contains("Bricks"))
                .isEqualTo(!snapshot.bricks().isEmpty());
        if (snapshot.bricks().isEmpty()) {
            assertThat(browser.text(".notices")).contains("No bricks were recorded");
            return;
        }
        List<BrickStats> bricks = snapshot.bricks();
        assertThat(column("bricks", "count"))
                .isEqualTo(bricks.stream().map(b -> HumanUnits.count(b.count())).toList());
        assertThat(column("bricks", "total")).isEqualTo(times(bricks, BrickStats::totalNs));
        assertThat(column("bricks", "avg")).isEqualTo(times(bricks, b -> (double) b.totalNs() / b.count()));
        assertThat(column("bricks", "min")).isEqualTo(times(bricks, BrickStats::minNs));
        assertThat(column("bricks", "max")).isEqualTo(times(bricks, BrickStats::maxNs));
        assertThat(column("bricks", "% of brick time"))
                .isEqualTo(bricks.stream()
                        .map(b -> HumanUnits.percent(b.percentage(snapshot.totalNs())))
                        .toList());
        assertThat(column("bricks", "elements/s"))
                .isEqualTo(bricks.stream()
                        .map(b -> b.totalElements() > 0 ? rate(b.throughput()) : "\u2013")
                        .toList());
        if (bricks.get(0).latency().isPresent()) {
            assertThat(column("bricks", "p50").get(0))
                    .isEqualTo(time((double) bricks.get(0).percentileNs(50)));
            assertThat(column("bricks", "p99").get(0))
                    .isEqualTo(time((double) bricks.get(0).percentileNs(99)));
        }
        assertThat(browser.texts("#section-bricks tfoot td").get(2).replace('\u00a0', ' '))
                .isEqualTo(time((double) snapshot.totalNs()));
    }

    @Spec("23.3")
    @Test
    void namesTheRunInItsHeadline() throws Exception {
        RunIdentity identity = RunIdentity.builder()
                .runId("<b>r1")
                .rank(3)
                .worldSize(8)
                .host("h")
                .device("d")
                .model("m")
                .precision("int8")
                .commit("c")
                .phase("decode")
                .steps(5, 6)
                .window(7)
                .build();

        show(Profiles.plain().withIdentity(identity));
        assertThat(browser.text("header p"))
                .startsWith(identity.describe() + "; ")
                .contains("UTC");
        show(Profiles.plain().withIdentity(RunIdentity.builder().rank(0).build()));
        assertThat(browser.text("header p")).startsWith("rank 0; ");
        show(Profiles.plain());
        assertThat(browser.text("header p")).startsWith("20");
    }

    private static List<String> times(List<BrickStats> bricks, ToDoubleFunction<BrickStats> ns) {
        return bricks.stream()
                .map(brick -> brick.count() == 0 ? "\u2013" : time(ns.applyAsDouble(brick)))
                .toList();
    }

    @Test
    void namesTheFaultsOfTheData() throws Exception {
        show(Profiles.device());
        assertThat(browser.text(".notices"))
                .contains("Pending: 14 measurements had begun")
                .contains("the device did not report the time of 14 samples")
                .contains("Stream copies: the device was lost.");
        show(Profiles.deferred());
        assertThat(browser.text(".notices")).contains("Overlapping: 3 deferred", "Pending: 1,200");
        show(Profiles.full());
        assertThat(browser.text(".notices")).contains("Dropped: 12 deferred", "Brick time exceeds wall time");
        show(Profiles.plain());
        assertThat(browser.texts(".notices")).isEmpty();
    }

    @Test
    void leavesOutMissingParts() throws Exception {
        show(Profiles.plain());
        assertThat(browser.texts("main h2")).containsExactly("Findings", "Bricks", "Categories", "Environment");
        show(Profiles.device());
        assertThat(browser.texts("main h2"))
                .containsExactly("Before you read on", "Findings", "Bricks", "Categories", "Devices", "Environment");
        assertThat(browser.texts("#section-bricks thead th")).contains("time of", "host's launch", "unresolved");
        show(Profiles.full());
        assertThat(browser.texts("main h2"))
                .containsExactly("Before you read on", "Findings", "Bricks", "Categories", "Tiles", "Environment");
    }

    @Test
    void sortsByEveryColumnAndBack() throws Exception {
        show(Profiles.many(30));
        List<String> names = browser.texts(NAME);
        List<String> bySize = column("bricks", "max");
        List<String> sorted = new ArrayList<>(names);
        Collections.sort(sorted);

        click("brick");
        assertThat(browser.texts(NAME)).isEqualTo(sorted);
        assertThat(browser.text("#section-bricks [role=status]")).isEqualTo("30 bricks");
        assertThat(browser.texts("[aria-sort=ascending]")).containsExactly("brick");
        click("brick");
        Collections.reverse(sorted);
        assertThat(browser.texts(NAME)).isEqualTo(sorted);
        click("total");
        assertThat(browser.texts(NAME)).isEqualTo(names);
        assertThat(browser.texts("[aria-sort=descending]")).containsExactly("total");
        click("max");
        assertThat(column("bricks", "max")).hasSameElementsAs(bySize);
        assertThat(browser.evaluate("JSON.parse(document.getElementById('profile').textContent).bricks"
                                + ".sort((a, b) => b.max_ns - a.max_ns).map((brick) => brick.name).join()")
                        .asText())
                .isEqualTo(String.join(",", browser.texts(NAME)));
    }

    @Test
    void canBeUsedByKeyboardAlone() throws Exception {
        show(Profiles.full());

        tabTo("Filter bricks by name or category");
        browser.type("proj");
        assertThat(browser.texts(ROW + ":not([hidden]) bdi")).containsExactly("DownProjection", "GateProjection");
        assertThat(browser.texts("#section-bricks [role=status]")).contains("2 of 6 bricks");
        tabTo("count");
        browser.press("Enter");
        assertThat(browser.texts("[aria-sort=descending]")).containsExactly("count");
        assertThat(browser.texts("#section-bricks [role=status]")).contains("Sorted by count, descending");
        tabTo("DownProjection");
        browser.press("Enter");
        assertThat(browser.text(".detail"))
                .contains("6,120,450,112 ns")
                .contains("127,205,900,288")
                .contains("p99.9");
        assertThat(browser.evaluate("document.activeElement.getAttribute('aria-expanded')")
                        .asText())
                .isEqualTo("true");
        browser.press("Enter");
        assertThat(browser.texts(".detail")).isEmpty();
    }

    @Spec("8.5")
    @ParameterizedTest
    @ValueSource(
            strings = {
                "<script>document.title='broken'</script>",
                "</script><script>document.title='broken'</script>",
                "<!--<script>",
                "\"'><img src=x onerror=\"document.title='broken'\">",
                "\\u003c is no <",
                "${document.title='broken'} {{7*7}}",
                "javascript:document.title='broken'",
                "__proto__"
            })
    void showsHostileNamesAsText(String name) throws Exception {
        ProfileSnapshot snapshot = Profiles.of(Profiles.brick(name, BrickCategory.OTHER, 1, 10, 10, 10, 1));
        show(snapshot);
        browser.evaluate("document.querySelector('.open').click()");

        assertThat(browser.texts(NAME).get(0)).isEqualTo(shortened(name));
        assertThat(browser.evaluate("document.title").asText()).isEqualTo("Brick profile");
        // The profile, the facts of a brick, and the script.
        assertThat(browser.evaluate("document.images.length + document.scripts.length")
                        .asInt())
                .isEqualTo(3);
        assertThat(savedJson()).isEqualTo(JsonReport.toJson(snapshot));
    }

    @Test
    void showsTextThatABrowserWouldInterpretOrHide() throws Exception {
        String reversed = "\u202egpj.exe\u2066\u0000\u200b\ud800";
        show(Profiles.of(
                Profiles.brick(reversed, BrickCategory.OTHER, 1, 30, 10, 10, 1),
                Profiles.brick("x".repeat(1_000) + "y".repeat(1_000), BrickCategory.OTHER, 1, 20, 10, 10, 1),
                Profiles.brick("\u05d0\u05d1 projection \ud83d\ude00", BrickCategory.OTHER, 1, 10, 10, 10, 1)));

        assertThat(browser.texts(NAME))
                .containsExactly(
                        "\\u202egpj.exe\\u2066\\u0000\\u200b\\ud800",
                        "x".repeat(24) + "\u2026" + "y".repeat(19),
                        "\u05d0\u05d1 projection \ud83d\ude00");
        browser.evaluate("document.querySelectorAll('.open')[1].click()");
        assertThat(browser.text(".full-name bdi")).isEqualTo("x".repeat(1_000) + "y".repeat(1_000));
        assertThat(browser.evaluate("document.documentElement.scrollWidth <= innerWidth")
                        .asBoolean())
                .as("the page is no wider than the window")
                .isTrue();
    }

    @Test
    void showsTheGraphOfAPassAndItsPath() throws Exception {
        ExecutionGraph graph = Profiles.pass(12, 8);
        show(HtmlReport.of(Profiles.plain()).withGraph(graph));

        assertThat(browser.texts("main h2"))
                .containsExactly("Findings", "Bricks", "Categories", "Layers", "Critical path", "Environment");
        assertThat(browser.text("#section-critical-path").replace('\u00a0', ' '))
                .contains("One pass as recorded: "
                        + time((double) CriticalPath.of(graph).totalNs()) + " through 109 nodes of 110");
        String row = ".tree tbody tr";
        assertThat(browser.texts(row + " bdi")).hasSize(14).startsWith("Embedding", "Layer 0", "Layer 1");
        assertThat(browser.texts(row + ":last-child td").stream().map(text -> text.replace('\u00a0', ' ')))
                .containsExactly(
                        "",
                        "1.50 \u00b5s",
                        "1.50 \u00b5s",
                        time(CriticalPath.of(graph).totalNs() - 1_500.0));
        assertThat(browser.texts(row + ":nth-child(5) td").stream().map(text -> text.replace('\u00a0', ' ')))
                .containsExactly("", "45.0 \u00b5s", "0 ns", "on the path");
        browser.evaluate("document.querySelector('.tree .open').click()");
        assertThat(browser.texts(row + " bdi"))
                .hasSize(22)
                .startsWith("Embedding", "Layer 0", "RmsNorm", "DownProjection");
        browser.evaluate("document.querySelector('.tree .open').click()");
        assertThat(browser.texts(row + " bdi")).hasSize(14);

        assertThat(browser.text("#section-layers").replace('\u00a0', ' '))
                .contains(
                        "Most time above the median layer: RmsNorm in layer 3, 9.00 \u00b5s.",
                        "at the brick\u2019s median layer or below",
                        "9.00 \u00b5s above it");
        // One row has cells of two shades; the cells of the others have one shade.
        assertThat(browser.evaluate("document.querySelectorAll('.heat .cell').length")
                        .asInt())
                .isEqualTo(9);
        browser.evaluate("{ const at = document.querySelector('.heat').getBoundingClientRect(); const [, x] = "
                + "document.querySelector('.heat .cell').getAttribute('d').match(/M(\\d+)/); "
                + "document.querySelector('.heat').dispatchEvent(new PointerEvent('pointermove', "
                + "{clientX: at.left + Number(x) + 2, clientY: at.top + 20})); }");
        assertThat(browser.text(".readout").replace('\u00a0', ' '))
                .isEqualTo("DownProjection in layer 0: 2.00 \u00b5s, the median");
    }

    /** Tiles run inside their brick, and its time includes theirs. */
    @Spec("8.6")
    @Test
    void addsNoTilesToTheBrickAroundThem() throws Exception {
        FakeClock clock = new FakeClock();
        TraceRecorder recorder =
                TraceRecorder.builder().clock(clock).tiles(true).build();
        BrickProfiler profiler =
                BrickProfiler.builder().clock(clock).tracing(recorder).build();
        profiler.enable();
        profiler.tiles().enable();
        for (long us : new long[] {10, 10, 50, 10, 10}) {
            long brick = profiler.startBrick(BrickId.DOWN_PROJECTION);
            for (int tile = 0; tile < 2; tile++) {
                long timer = profiler.tiles().start(TileLevel.MACRO, tile, 0);
                clock.advance(us * 1_000);
                profiler.tiles().stop(timer, 1, 1);
            }
            profiler.stopBrick(brick, 1);
            profiler.endPass();
        }
        show(HtmlReport.of(profiler.snapshot()).with(TimelineDigest.of(recorder.timeline())));

        assertThat(browser.evaluate("document.querySelectorAll('#section-steps .span').length")
                        .asInt())
                .isEqualTo(6);
        assertThat(browser.text("#section-steps").replace('\u00a0', ' '))
                .contains(
                        "took 80.0 \u00b5s longer than the median. What took longer: DownProjection (80.0 \u00b5s more).");
    }

    @Spec("8.6")
    @Test
    void showsTheMedianAndTheSlowestStep() throws Exception {
        show(HtmlReport.of(Profiles.plain())
                .with(TimelineDigest.of(SampleTimelines.ofSteps(new int[] {10, 30, 20, 500, 40}, 2))));

        assertThat(browser.texts("main h2"))
                .containsExactly("Findings", "Bricks", "Categories", "Layers", "Steps", "Environment");
        String steps = "#section-steps";
        assertThat(browser.text(steps).replace('\u00a0', ' '))
                .contains(
                        "5 steps in the timeline",
                        "The slowest step took 940 \u00b5s longer than the median. What took longer: DownProjection "
                                + "(940 \u00b5s more).",
                        "Median step, 63.0 \u00b5s, 23.0 \u00b5s after the first step",
                        "Slowest step, 1.00 ms");
        assertThat(browser.evaluate("document.querySelectorAll('#section-steps .span').length")
                        .asInt())
                .isEqualTo(14);
        // Both are drawn on one scale, on which the longer one fills the whole width.
        assertThat(browser.evaluate("[...document.querySelectorAll('#section-steps .span')]"
                                + ".map((span) => Number(span.getAttribute('x')) + Number(span.getAttribute('width')))"
                                + ".reduce((a, b) => Math.max(a, b))")
                        .asDouble())
                .isEqualTo(1_150);
        assertThat(browser.evaluate("document.querySelector('#section-steps svg').getAttribute('aria-label')")
                        .asText())
                .startsWith("Timeline of the median step, 63.0\u00a0\u00b5s. Most time: DownProjection 60.0");
        browser.evaluate("document.querySelectorAll('#section-steps .span')[3]"
                + ".dispatchEvent(new PointerEvent('pointermove', {bubbles: true}))");
        assertThat(browser.text(steps + " .readout").replace('\u00a0', ' '))
                .isEqualTo("DownProjection in layer 0, 30.0 \u00b5s, from 2.00 \u00b5s on");
        assertThat(browser.text("#section-layers .heat").replace('\u00a0', ' ')).contains("120 \u00b5s");
    }

    @Test
    void drawsStreamsFirstAndFoldsTheThreadsOfTheHost() throws Exception {
        try (TraceReader.Contents trace = TraceReader.read(
                SourceTree.path("readers", "src", "test", "resources", "traces", "qwen05b-h100-eager.json.gz"),
                ReadOptions.defaults())) {
            show(HtmlReport.of(trace.profile().snapshot())
                    .with(TimelineDigest.of(trace.timeline().orElseThrow().timeline())));
        }

        String tracks = "#section-steps svg text:not(.within)";
        assertThat(browser.texts(tracks)).startsWith("GPU 0 NVIDIA H100 80GB HBM3, stream 7 ", "0");
        int folded = browser.evaluate("document.querySelectorAll('#section-steps .span').length")
                .asInt();
        assertThat(browser.text("#section-steps .action")).isEqualTo("3 host threads");
        browser.evaluate("document.querySelector('#section-steps .action').click()");
        assertThat(browser.texts(tracks))
                .startsWith("GPU 0 NVIDIA H100 80GB HBM3, stream 7 ", "thread 25286 (python3)");
        assertThat(browser.evaluate("document.querySelectorAll('#section-steps .span').length")
                        .asInt())
                .isGreaterThan(2 * folded);
        browser.evaluate("document.querySelector('#section-steps .action').click()");
        assertThat(browser.evaluate("document.querySelectorAll('#section-steps .span').length")
                        .asInt())
                .isEqualTo(folded)
                .isPositive();
    }

    /** The widths of the spans of one colour add up to the share of the category with that colour. */
    @Test
    void spansOfOtherProgramsHaveTheColoursOfTheirRows() throws Exception {
        try (TraceReader.Contents trace = TimelineDigestTest.decoderWithOneProduct()) {
            show(HtmlReport.of(trace.profile().snapshot())
                    .with(TimelineDigest.of(trace.timeline().orElseThrow().timeline())));
        }

        assertThat(browser.text("#section-steps .key"))
                .endsWith(
                        "Half as high: placed by guess. A quarter as high: nothing names its brick. Pale: not counted.");
        assertThat(browser.texts("#section-steps .key > span")).contains("Attention", "FFN", "Norm", "Other");
        JsonNode shares = browser.evaluate("""
                (() => {
                  const widths = new Map();
                  for (const box of document.querySelectorAll("#section-steps .span:not(.uncounted)")) {
                    const colour = box.style.getPropertyValue("--colour");
                    widths.set(colour, (widths.get(colour) ?? 0) + Number(box.getAttribute("width")));
                  }
                  const all = [...widths.values()].reduce((a, b) => a + b);
                  const {categories} = JSON.parse(document.querySelector("#profile").textContent);
                  return categories.filter(({total_ns}) => total_ns > 0)
                    .map(({name, pct}) => [pct, 100 * widths.get("var(--" + name.toLowerCase().replaceAll(" ", "-") + ", var(--other))") / all]);
                })()""");
        assertThat(shares).hasSizeGreaterThan(3).allSatisfy(share -> assertThat(
                        share.get(1).asDouble())
                .isCloseTo(share.get(0).asDouble(), within(0.5)));
        assertThat(browser.evaluate(
                                "[...new Set([...document.querySelectorAll('#section-steps .span')].map(box => box.getAttribute('height')))].sort().join()")
                        .asText())
                .isEqualTo("16,4,8");
        browser.evaluate(
                "[...document.querySelectorAll('#section-steps .span')].find(box => box.getAttribute('height') === '8')"
                        + ".dispatchEvent(new PointerEvent('pointermove', {bubbles: true}))");
        assertThat(browser.text("#section-steps .readout"))
                .startsWith("OutputProjection, ")
                .endsWith(" on, placed by guess: product_gemm");
    }

    /** The brick time of the slowest step is unknown, since another step was under way meanwhile. */
    @Test
    void saysOfWhichStepsTheBrickTimeIsKnown() throws Exception {
        FakeClock clock = new FakeClock();
        BrickProfiler profiler = BrickProfiler.builder().clock(clock).build();
        profiler.enable();
        for (int i = 1; i <= 10; i++) {
            decode(profiler, clock, 1_000L * i);
        }
        ExecutorService other = Executors.newSingleThreadExecutor();
        other.submit(() -> profiler.beginStep(StepInfo.prefill(8))).get();
        decode(profiler, clock, 50_000);
        other.shutdown();
        show(profiler.snapshot());

        assertThat(browser.texts("#section-steps h3"))
                .contains(
                        "The median and the slowest decode step by category, of the 10 of 11 kept steps whose brick time"
                                + " is known");
    }

    private static void decode(BrickProfiler profiler, FakeClock clock, long ns) {
        profiler.beginStep(StepInfo.decode(8));
        long timer = profiler.startBrick(BrickId.LM_HEAD);
        clock.advance(ns);
        profiler.stopBrick(timer, 1);
        profiler.endPass();
    }

    @Test
    void showsTheStepsThatAProfileHolds() throws Exception {
        ProfileSnapshot snapshot = Profiles.decoded(3);
        StepStats prefill = snapshot.steps().phase(Phase.PREFILL).orElseThrow();
        StepStats decode = snapshot.steps().phase(Phase.DECODE).orElseThrow();
        show(snapshot);

        assertThat(browser.texts(".figures dt"))
                .containsExactly(
                        "Tokens per second", "Time to first token", "Time per output token", "Brick time", "Wall time");
        assertThat(browser.texts(".figures .value").get(0)).isEqualTo(number(decode.outputTokensPerSecond()));
        assertThat(browser.text(".figures").replace('\u00a0', ' '))
                .contains("450 in 450 decode steps", "p50 of 450; p99 ", "p50 of 3");
        assertThat(column("steps", "phase")).startsWith("prefill", "decode");
        assertThat(column("steps", "steps").subList(0, 2)).containsExactly("3", "450");
        assertThat(column("steps", "avg").subList(0, 2)).containsExactly(time(prefill.avgNs()), time(decode.avgNs()));
        assertThat(column("steps", "p99").subList(0, 2))
                .containsExactly(time((double) prefill.percentileNs(99)), time((double) decode.percentileNs(99)));
        assertThat(column("steps", "max").subList(0, 2))
                .containsExactly(time((double) prefill.maxNs()), time((double) decode.maxNs()));
        assertThat(column("steps", "KV length").subList(0, 2)).containsExactly("0", "175");
        assertThat(browser.texts("#section-steps h3"))
                .startsWith("Prefill steps over time")
                .contains("The median and the slowest decode step by category");
        assertThat(browser.text("#section-steps").replace('\u00a0', ' '))
                .contains("of 450: a uniform sample, and the slowest");
        assertThat(browser.evaluate(
                                "[...document.querySelectorAll('#section-steps svg')].pop().getAttribute('aria-label')")
                        .asText())
                .contains("Slowest: step 222, 1.21");
        browser.evaluate("[...document.querySelectorAll('#section-steps g')].pop().firstChild"
                + ".dispatchEvent(new PointerEvent('pointermove', {bubbles: true}))");
        assertThat(browser.texts("#section-steps .readout").get(1).replace('\u00a0', ' '))
                .startsWith("step ")
                .contains("KV length", "batch 1: FFN");
    }

    @Spec("8.6")
    @Test
    void drawsTheDistanceToTheRoof() throws Exception {
        BrickRoofline roofline = roofline();
        show(HtmlReport.of(RooflineReportTest.PROFILE).with(RooflineReport.part(roofline)));

        String section = "distance-to-the-roof";
        List<Distance> bricks = roofline.bricks();
        assertThat(column(section, "brick"))
                .isEqualTo(bricks.stream().map(Distance::name).toList());
        assertThat(column(section, "bound by"))
                .isEqualTo(bricks.stream()
                        .map(brick -> brick.bound().name().toLowerCase(Locale.ROOT))
                        .toList());
        assertThat(column(section, "total"))
                .isEqualTo(bricks.stream()
                        .map(brick -> time((double) brick.totalNs()))
                        .toList());
        assertThat(column(section, "% of roof"))
                .isEqualTo(bricks.stream()
                        .map(brick ->
                                HumanUnits.percent(100 * (1 - brick.distance())) + (brick.isAboveRoof() ? " !" : ""))
                        .toList());
        assertThat(browser.text(".notices")).contains("Above the roof, which is impossible: \u00fcbrig");
        assertThat(browser.text("#section-" + section)).contains("Without known work or time: Sampling");
        assertThat(browser.texts("#section-" + section + " svg text"))
                .contains(
                        "QkvProjection",
                        "RmsNorm",
                        "! \u00fcbrig",
                        "memory 40.0 GB/s",
                        "L1 1,900 GB/s",
                        "1,500 GFLOP/s");
        assertThat(savedJson())
                .isEqualTo(JsonReport.toJson(
                        RooflineReportTest.PROFILE, Map.of("roofline", RooflineReport.values(roofline))));
    }

    /**
     * The smallest distance between the boxes of two labels of a chart, in pixels; below 0 if one lies on the other.
     */
    private double leastDistanceOfLabels(String section) throws Exception {
        return browser.evaluate("(() => { const boxes = [...document.querySelectorAll('#section-" + section
                        + " .scroll svg text')].filter((text) => !/^[\\d.e-]+$/.test(text.textContent))"
                        + ".map((text) => text.getBoundingClientRect()); let least = Infinity; boxes.forEach((a, i) => "
                        + "boxes.slice(i + 1).forEach((b) => { least = Math.min(least, Math.max(a.left - b.right, "
                        + "b.left - a.right, a.top - b.bottom, b.top - a.bottom)); })); return least; })()")
                .asDouble();
    }

    /** All kernels have one intensity and nearly the same rate. */
    @Test
    void placesLabelsOfTheRooflineApart() throws Exception {
        ExecutionGraph graph = new ExecutionGraph();
        for (int i = 0; i < 40; i++) {
            graph.addNode(kernel("kernel with a long name, number " + i, 10, 10 + 0.01 * i, 1_000 + i));
        }
        show(HtmlReport.of(Profiles.plain()).withKernelRoofline(graph, PEAK_TFLOPS, BANDWIDTH_GBPS));

        String section = "distance-of-kernels-to-the-roof";
        assertThat(browser.texts("#section-" + section + " svg .strong")).hasSize(40);
        assertThat(leastDistanceOfLabels(section)).isGreaterThanOrEqualTo(-2);
        assertThat(browser.evaluate(
                                "[...document.querySelectorAll('#section-" + section + " svg text')].every((text) => "
                                        + "text.getBoundingClientRect().bottom <= text.ownerSVGElement.getBoundingClientRect().bottom + 1)")
                        .asBoolean())
                .as("labels lie within the picture")
                .isTrue();
        show(HtmlReport.of(RooflineReportTest.PROFILE).with(RooflineReport.part(roofline())));
        assertThat(leastDistanceOfLabels("distance-to-the-roof")).isGreaterThanOrEqualTo(-2);
    }

    @Test
    void pointsOfTheRooflineAreAsLargeAsTheirTime() throws Exception {
        ExecutionGraph graph = new ExecutionGraph();
        graph.addNode(kernel("long", 10, 10, 4_000));
        graph.addNode(kernel("short", 20, 10, 1_000));
        show(HtmlReport.of(Profiles.plain()).withKernelRoofline(graph, PEAK_TFLOPS, BANDWIDTH_GBPS));

        assertThat(browser.evaluate(
                                "[...document.querySelectorAll('#section-distance-of-kernels-to-the-roof .scroll > svg > path.shape')]"
                                        + ".map((mark) => mark.getBBox().width * Number(/scale\\(([\\d.]+)\\)/.exec(mark.getAttribute('transform'))[1]))"
                                        + ".sort((a, b) => b - a).reduce((long, short) => long / short)")
                        .asDouble())
                .as("4 times the time, twice the width")
                .isEqualTo(2);
    }

    @Test
    void saysThatNeitherBytesNorOperationsExplainABrick() throws Exception {
        show(HtmlReport.of(RooflineReportTest.PROFILE).with(RooflineReport.part(roofline())));

        assertThat(browser.text("#section-distance-to-the-roof"))
                .contains("neither bytes nor operations explain it")
                .doesNotContain("overhead");
        assertThat(browser.evaluate(
                                "document.querySelector('#section-distance-to-the-roof .scroll svg').getAttribute('aria-label')")
                        .asText())
                .contains("RmsNorm 0.4\u00a0% of its roof, neither bytes nor operations explain it");
        assertThat(browser.text(".notices"))
                .contains(
                        "the rounds that measured the bandwidth differ by 25 %, more than 20 %: no advice follows from this roof");
    }

    @Spec("18.7")
    @Test
    void showsTheDoubtsOfTheRoof() throws Exception {
        ProfileSnapshot profile = RooflineReportTest.inPhases().toBuilder()
                .environments(List.of())
                .build();
        show(HtmlReport.of(profile)
                .with(RooflineReport.part(BrickRoofline.of(profile, RooflineReportTest.MACHINE, 8))));

        assertThat(browser.text(".notices"))
                .contains(
                        "Roof: the profile does not say on which machine it was taken; the roof holds for that machine only.");
    }

    @Spec("8.7")
    @Test
    void switchesBetweenThePhases() throws Exception {
        show(inPhases());

        String shown = "[...document.querySelectorAll('#section-bricks tbody tr')].filter((tr) => tr.checkVisibility())"
                + ".map((tr) => tr.innerText.replaceAll(/\\s+/g, ' ')).join()";
        assertThat(browser.texts("#section-bricks select option"))
                .containsExactly(
                        "all steps: 100.0 % of brick time",
                        "prefill steps: 40.0 % of brick time", "decode steps: 60.0 % of brick time");
        assertThat(browser.evaluate(shown).asText()).contains(" 20 150 ms");
        browser.evaluate("const choice = document.querySelector('#section-bricks select');"
                + "choice.value = '2'; choice.dispatchEvent(new Event('change'))");
        assertThat(browser.evaluate(shown).asText()).contains(" 10 90.0 ms").doesNotContain("150 ms");
        assertThat(browser.texts("#section-distance-to-the-roof th")).contains("prefill", "decode");
    }

    /** Half of the device's recorded time is that of marks; the host's brick has no marks. */
    @Spec({"12.50", "12.54"})
    @Test
    void sharesAreNetAndEstimatedPercentilesHaveIntervals() throws Exception {
        BrickStats norm = brick(BrickId.RMS_NORM, 10, 1_000_000).build();
        BrickStats slow = ofDevice(3, 0, 6_000_000);
        BrickStats fast = ofDevice(30, 0, 3_000_000);
        show(HtmlReport.of(ProfileSnapshot.builder(Instant.EPOCH, Instant.EPOCH, 11_000_000)
                .bricks(List.of(norm, slow, fast))
                .phases(Map.of(Phase.PREFILL, List.of(slow), Phase.DECODE, List.of(fast)))
                .build()));

        assertThat(browser.texts("#section-bricks select option"))
                .containsExactly(
                        "all steps: 100.0 % of brick time",
                        "prefill steps: 54.5 % of brick time", "decode steps: 27.3 % of brick time");
        assertThat(browser.text("#section-categories")).contains("81.8", "40.9", "18.2", "9.1", "50.0");
        assertThat(browser.text(".figures")).contains("net, 10.0", "recorded, summed", "50.0");
        assertThat(browser.text(".limits")).contains("Shares and rates are by net times");
        assertThat(browser.text("#section-bricks")).doesNotContain("95 %");

        show(HtmlReport.of(Profiles.of(ofDevice(650, 9_350, 80_000_000), norm)));
        assertThat(browser.text("#section-bricks")).contains("p50 95 %", "p99 95 %");
        assertThat(column("bricks", "p50 95 %").get(0)).matches("8\\.00.+ to 8\\.00.+");
        assertThat(column("bricks", "p99 95 %").get(0)).matches("8\\.00.+ to 8\\.00.+");
        assertThat(column("bricks", "p50 95 %").get(1)).isEqualTo("exact");
    }

    private static BrickStats.Builder brick(BrickId id, long count, long totalNs) {
        return BrickStats.builder(id.displayName(), id.category())
                .samples(count, totalNs, totalNs / count, totalNs / count);
    }

    /** Returns a brick whose marks add half of its time; those with marks stand for 16 samples each. */
    private static BrickStats ofDevice(long measured, long unmarked, long totalNs) {
        long count = measured + unmarked;
        return brick(BrickId.QKV_PROJECTION, count, totalNs)
                .latency(Optional.of(
                        LatencyDistribution.ofCounts(LatencyBuckets.indexOf(totalNs / count), new long[] {count})))
                .device(new DeviceTime(
                        measured,
                        0,
                        0,
                        0,
                        0,
                        0,
                        0,
                        unmarked,
                        0,
                        0,
                        0,
                        15.0 * unmarked,
                        new DeviceTime.MarkTime(count, totalNs / 2, 10)))
                .build();
    }

    /** The reader chooses with radio buttons. */
    @Spec("13.16")
    @Test
    void showsTheSlowStepThatAReaderChooses() throws Exception {
        show(pages().get(pages().size() - 1));

        String heading =
                "[...document.querySelectorAll('#section-steps h3')].map((h) => h.innerText.replaceAll('\\u00a0', ' ')).join('|')";
        assertThat(browser.texts("#section-steps .choices label").stream().map(String::strip))
                .hasSize(3)
                .first()
                .asString()
                .startsWith("Step 19: 19.0 us, typical for its size 1.0");
        assertThat(browser.evaluate(heading).asText()).contains("Median decode step", "Slowest decode step 19, 19.0 ");
        browser.evaluate("const second = document.querySelectorAll('#section-steps .choices input')[1];"
                + "second.focus(); second.click()");
        assertThat(browser.evaluate(heading).asText())
                .contains("Median decode step", "Slow decode step 18, 18.0 ")
                .doesNotContain("19.0 ");
        assertThat(browser.evaluate("document.documentElement.scrollWidth <= innerWidth")
                        .asBoolean())
                .isTrue();
    }

    @Test
    void showsTheStepsThatAnEngineAnnotated() throws Exception {
        show(HtmlReport.of(Profiles.plain()).withFurther(ANNOTATED));

        assertThat(browser.texts("#section-steps tbody th, #section-steps tbody td").stream()
                        .map(text -> text.replace('\u00a0', ' ')))
                .containsExactly("mixed", "2", "150 ms", "160 ms", "46", "8,155", "37");
    }

    private static HtmlReport inPhases() {
        ProfileSnapshot snapshot = RooflineReportTest.inPhases();
        return HtmlReport.of(snapshot)
                .with(RooflineReport.part(BrickRoofline.of(snapshot, RooflineReportTest.MACHINE, 8)));
    }

    /** Two bricks with lines, and one without. */
    private static HtmlReport withLines() {
        Work work = new Work(1, 1, 1);
        BrickStats attention = Profiles.working("FusedAttention", BrickCategory.ATTENTION, 90_000_000, work);
        BrickStats gate = Profiles.working("GateProjection", BrickCategory.FFN, 30_000_000, work);
        ProfileSnapshot snapshot =
                Profiles.of(attention, gate, Profiles.working("RmsNorm", BrickCategory.NORM, 20_000_000, work))
                        .toBuilder()
                        .phases(Map.of(Phase.DECODE, List.of(attention, gate)))
                        .build();
        return HtmlReport.of(snapshot)
                .withFurther(SampleLines.some().reportEntries(snapshot))
                .with(SourceLinks.to(List.of("https://example.org/src")).part(SampleLines.some()));
    }

    /** A recording without bricks. */
    private static HtmlReport byFrames() {
        return HtmlReport.of(Profiles.empty())
                .withFurther(SampleLines.byFrames().reportEntries(Profiles.empty()));
    }

    @Spec("13.19")
    @Test
    void showsBricksByFramesWithTheirSamplesAndNoTimes() throws Exception {
        show(byFrames());

        assertThat(browser.texts("#section-lines option")).startsWith("all bricks, by their samples");
        assertThat(browser.text("#section-lines")).contains("executions and times of bricks are unknown");
        assertThat(choose(0, "ArrowDown")).startsWith("FusedAttention: 525 samples, 92.3 % of all bricks");
        assertThat(column("lines", "allocated, estimate")).containsExactly("4.0 MB", "999 bytes");
        assertThat(column("lines", "mostly for")).containsExactly("", "monitor of a.Lock");
    }

    @Test
    void showsTheLinesOfABrickByKeyboard() throws Exception {
        show(withLines());

        assertThat(browser.text("#section-lines")).contains("620 samples, one of a thread each 20 ms");
        assertThat(browser.texts("#section-lines option"))
                .containsExactly(
                        "all bricks, by their time",
                        "FusedAttention in decode steps: 500 samples",
                        "FusedAttention in decode steps, native code: 25 samples",
                        "GateProjection in decode steps: 44 samples",
                        "FusedAttention in prefill steps: 2 samples",
                        "FusedAttention in prefill steps, native code: 2 samples");
        // Bricks are as wide as their time: 90, 30 and 20 ms.
        assertThat(browser.texts("#section-lines .icicle text"))
                .containsSubsequence(
                        "all bricks", "FusedAttention in decode steps", "VectorMath.dot", "bricks without samples");
        assertThat(choose(0, "ArrowDown")).startsWith("FusedAttention in decode steps: 90.0 ms, 64.3 % of all bricks");

        assertThat(choose(1)).startsWith("FusedAttention in decode steps: 500 samples");
        assertThat(choose(1, "ArrowDown", "ArrowDown"))
                .isEqualTo(
                        "org.example.Attention.run: 500 samples, 100.0 % of FusedAttention in decode steps; 4.0 % in itself;"
                                + " line 30 80.0 %; line 34 20.0 %; JIT compiled 100.0 %");
        assertThat(choose(1, "ArrowDown", "ArrowDown", "ArrowDown", "Enter"))
                .startsWith(
                        "org.example.VectorMath.dot: 380 samples, 76.0 % of FusedAttention in decode steps; 100.0 % in itself;"
                                + " line 88 84.2 %; line 90 15.8 %; Interpreted 71.1 %; JIT compiled 15.8 %");
        // The frame beside it is no longer drawn, and its callers are as wide as the picture.
        assertThat(browser.texts("#section-lines .icicle text"))
                .hasSize(4)
                .last()
                .isEqualTo("VectorMath.dot");
        assertThat(press("ArrowRight")).startsWith("org.example.VectorMath.exp: 100 samples");
        assertThat(press("ArrowUp")).startsWith("org.example.Attention.run");
        assertThat(press("Escape")).startsWith("FusedAttention in decode steps");
        assertThat(column("lines", "line"))
                .startsWith("org.example.VectorMath.dot line 88", "org.example.VectorMath.exp line 12");
        assertThat(column("lines", "95 % interval")).startsWith("59.7 to 68.1");
        assertThat(browser.text("#section-lines")).contains("Lines lead to the sources of 3 classes.");
        assertThat(addresses("td, th")).startsWith("https://example.org/src/org/example/VectorMath.java#L88");
        assertThat(choose(1, "ArrowDown", "ArrowDown")).contains("line 30 80.0 %");
        assertThat(addresses("[role=status]"))
                .containsExactly(
                        "https://example.org/src/org/example/Attention.java#L30",
                        "https://example.org/src/org/example/Attention.java#L34");

        choose(3);
        assertThat(browser.text("#section-lines")).contains("lost samples here: 44 of 660 due", "(-g:none)");
        assertThat(column("lines", "line")).startsWith("org.example.Projection.multiply, line unknown");
        choose(4);
        assertThat(browser.text("#section-lines")).contains("Too few samples for shares");
    }

    /**
     * Chooses a brick in the section of lines, presses keys in its picture, and returns what the page says of a frame.
     */
    private String choose(int number, String... keys) throws Exception {
        browser.evaluate("(() => { const choice = document.querySelector('#section-lines select'); choice.value = '"
                + number + "'; choice.dispatchEvent(new Event('change')); })()");
        String said = number < 4 ? press("Home") : "";
        for (String key : keys) {
            said = press(key);
        }
        return said;
    }

    /** Returns where links within elements of the section of lines lead. */
    private List<String> addresses(String within) throws Exception {
        return List.of(browser.evaluate("[...document.querySelectorAll('#section-lines :is(" + within
                        + ") a')].map((link) => link.href).join(' ')")
                .asText()
                .split(" "));
    }

    private String press(String key) throws Exception {
        browser.evaluate(
                "document.querySelector('#section-lines .scroll').dispatchEvent(new KeyboardEvent('keydown', {key: '"
                        + key + "', bubbles: true}))");
        return browser.text("#section-lines [role=status]").replace('\u00a0', ' ');
    }

    private static BrickRoofline roofline() {
        return BrickRoofline.of(RooflineReportTest.PROFILE, RooflineReportTest.MACHINE, 8);
    }

    @Spec("8.6")
    @Test
    void drawsKernelsBelowTheRoofOfTheirDevice() throws Exception {
        show(HtmlReport.of(Profiles.plain()).withKernelRoofline(kernels(), PEAK_TFLOPS, BANDWIDTH_GBPS));

        String section = "distance-of-kernels-to-the-roof";
        assertThat(column(section, "kernel")).containsExactly("<i>gemm", "attention", "idle", "impossible");
        assertThat(column(section, "launches")).containsExactly("1", "3", "1", "1");
        assertThat(column(section, "total")).containsExactly(time(40_000), time(3_000), time(20), time(10));
        assertThat(column(section, "bound by")).containsExactly("compute", "memory", "memory", "memory");
        assertThat(column(section, "% of roof, median")).containsExactly("90.0", "25.0", "0.0", "125.0");
        assertThat(column(section, "lowest")).containsExactly("90.0", "10.0", "0.0", "125.0");
        assertThat(column(section, "highest")).containsExactly("90.0", "50.0", "0.0", "125.0 !");
        assertThat(column(section, "GFLOP/s")).containsExactly("90,000", "5,000", "0", "25,000");
        assertThat(browser.texts("#section-" + section + " svg text"))
                .contains("<i>gemm", "attention", "! impossible", "memory 2,000 GB/s", "100,000 GFLOP/s")
                .doesNotContain("idle", "copy");
        assertThat(browser.text("#section-" + section).replace('\u00a0', ' '))
                .contains("Listed, but not drawn: 1 kernel.", "Launches without a known intensity or rate: copy");
        assertThat(browser.text(".notices")).contains("Kernels above the roof, which is impossible: impossible.");
    }

    @Test
    void drawsTheKernelsWithMostTimeOfMany() throws Exception {
        ExecutionGraph graph = new ExecutionGraph();
        for (int i = 0; i < 50; i++) {
            graph.addNode(kernel("kernel " + i, 10, 1 + i, 1_000 + i));
        }
        show(HtmlReport.of(Profiles.plain()).withKernelRoofline(graph, PEAK_TFLOPS, BANDWIDTH_GBPS));

        String section = "distance-of-kernels-to-the-roof";
        assertThat(column(section, "kernel")).hasSize(50);
        assertThat(browser.texts("#section-" + section + " svg text.strong"))
                .hasSize(40)
                .anyMatch(label -> label.endsWith("kernel 10"))
                .doesNotContain("kernel 9");
        assertThat(browser.text("#section-" + section)).contains("Listed, but not drawn: 10 kernels.");
    }

    @Spec("8.6")
    @Test
    void reportsTheActivityOfTheMachineAndItsVirtualMachine() throws Exception {
        show(HtmlReport.of(disturbed()).withFurther(RECORDED));

        assertThat(browser.text(".notices")).contains("Disturbed: steal 7 %.");
        assertThat(browser.text("#section-meanwhile .facts").replace('\u00a0', ' '))
                .contains("<i>own", "Steal by other machines", "7.25 %")
                .contains(
                        "50.0 ms, 2.5 % of the 2.00 s since the start", "500 ms, 25.0 % of the 2.00 s", "by 3 anchors");
        assertThat(column("meanwhile", "brick")).containsExactly("step: decode", "<b>AttentionScore");
        assertThat(column("meanwhile", "meanwhile")).containsExactly("while compiling", "garbage collection");
        assertThat(column("meanwhile", "time")).containsExactly(time(3_000_000), time(2_000_000));
        assertThat(column("meanwhile", "% of its time")).containsExactly("2.0", "3.1");
        assertThat(column("meanwhile", "% of its p99")).containsExactly("1.5", "12.0");
        assertThat(savedJson()).isEqualTo(JsonReport.toJson(disturbed(), RECORDED));
    }

    @Spec("8.8")
    @Test
    void namesFirstThatNoStepWasReachedAndThenBricksOfWhichOneSampleIsMoreThanAQuarter() throws Exception {
        ProfileSnapshot profile = Profiles.of(
                Profiles.brick("<b>loads", BrickCategory.OTHER, 65, 4_520_000_000L, 15_000_000, 3_300_000_000L, 1),
                Profiles.brick("even", BrickCategory.OTHER, 100, 1_000, 10, 10, 1));
        show(HtmlReport.of(profile.withFacts(
                profile.facts().withMachine(Map.of(), List.of("steal 7 %", RunFacts.NO_STEP + ": none")))));

        assertThat(browser.text(".notices"))
                .containsSubsequence(
                        "no step was reached: none.",
                        "Disturbed: steal 7 %.",
                        "One sample: more than a quarter of the time of <b>loads was one sample.")
                .doesNotContain("even");
        assertThat(browser.text("body").replace('\u00a0', ' '))
                .contains("a sample). This counts the clock reads of samples and their sums");
    }

    @Spec("8.6")
    @Test
    void mapsTilesByRowAndColumn() throws Exception {
        show(HtmlReport.of(Profiles.full()).withTiles(places()));

        assertThat(browser.texts("#section-tiles h3").stream().map(text -> text.replace('\u00a0', ' ')))
                .containsExactly("Macro tiles by row and column, median 10.0 \u00b5s");
        assertThat(browser.text("#section-tiles").replace('\u00a0', ' '))
                .contains("Slowest: row 4\u20137, col 1: 80.0 \u00b5s on average, 8.00 times the median.");
        assertThat(browser.texts("#section-tiles .heat text"))
                .contains("row 0\u20133", "row 4\u20137", "row 8", "0", "1", "col", "row\u2019s mean");
        // The slow part is as dark as can be, and of one part there were no tiles.
        assertThat(browser.evaluate("[...document.querySelectorAll('#section-tiles .cell[d]')]"
                                + ".map((cell) => cell.getAttribute('fill-opacity') + ' ' + cell.getAttribute('d').split('z').length)"
                                + ".join()")
                        .asText())
                .isEqualTo("0.1 3,0.1 2,1 2,0.1 2");
    }

    @Test
    void drawsTilesOfOneColumnAsBars() throws Exception {
        show(HtmlReport.of(Profiles.full())
                .withTiles(
                        places().stream().filter(place -> place.firstCol() == 0).toList()));

        assertThat(browser.texts("#section-tiles .heat")).isEmpty();
        assertThat(browser.texts("#section-tiles tbody tr").stream().map(text -> text.replace('\u00a0', ' ')))
                .hasSize(5)
                .endsWith("row 0\u2013310.0 \u00b5s1.00", "row 4\u2013710.0 \u00b5s1.00", "row 810.0 \u00b5s1.00");
    }

    @Test
    void aPassThatIsOneChainIsALine() throws Exception {
        ExecutionGraph graph = new ExecutionGraph();
        int first = graph.addNode(new ExecutionNode.Brick("Embedding", 2_000, 1));
        int second = graph.addNode(new ExecutionNode.Brick("LmHead", 3_000, 1));
        graph.addEdge(first, second, EdgeType.SEQUENCE);
        show(HtmlReport.of(Profiles.plain()).withGraph(graph));

        assertThat(browser.text("#section-critical-path p").replace('\u00a0', ' '))
                .isEqualTo("All 2 nodes of one pass lie on its critical path, one after the other: 5.00 \u00b5s.");
        assertThat(browser.texts("#section-critical-path table")).isEmpty();
    }

    /** A long row that is 10 % slower in one layer loses more than a short row that is 10 times as slow. */
    @Test
    void shadesLayersByTheTimeThatTheyLose() throws Exception {
        ExecutionGraph graph = new ExecutionGraph();
        for (int layer = 0; layer < 5; layer++) {
            int owner = graph.addNode(new ExecutionNode.Layer(layer));
            for (ExecutionNode.Brick brick : List.of(
                    new ExecutionNode.Brick("RmsNorm", layer == 1 ? 10_000 : 1_000, 1),
                    new ExecutionNode.Brick("DownProjection", layer == 3 ? 1_200_000 : 1_000_000, 1))) {
                graph.addEdge(owner, graph.addNode(brick), EdgeType.CONTAINS);
            }
        }
        show(HtmlReport.of(Profiles.plain()).withGraph(graph));

        assertThat(browser.text("#section-layers").replace('\u00a0', ' '))
                .contains(
                        "Most time above the median layer: DownProjection in layer 3, 200 \u00b5s; RmsNorm in layer 1, 9.00 \u00b5s.");
        assertThat(browser.evaluate(
                                "[...document.querySelectorAll('.heat .cell')]"
                                        + ".map((cell) => cell.getAttribute('fill-opacity') + ' ' + (cell.getAttribute('d').split('z').length - 1)).join()")
                        .asText())
                .isEqualTo("0.1 5,0.1 4,1 1");
    }

    /** Three rows of two parts, the last of which had no tile; one part is slow. */
    private static List<TileProfiler.Place> places() {
        List<TileProfiler.Place> places = new ArrayList<>();
        for (int row = 0; row < 3; row++) {
            for (int col = 0; col < (row == 2 ? 1 : 2); col++) {
                long ns = row == 1 && col == 1 ? 80_000 : 10_000;
                places.add(new TileProfiler.Place(
                        4 * row,
                        row == 2 ? 8 : 4 * row + 3,
                        col,
                        col,
                        TileStats.builder(TileLevel.MACRO)
                                .samples(5, 5 * ns, ns, ns)
                                .slowest(4 * row, col)
                                .build()));
            }
        }
        return places;
    }

    @Spec("8.6")
    @Test
    void listsKernels() throws Exception {
        show(HtmlReport.of(Profiles.plain())
                .withKernels(List.of(
                        new KernelTiming("<i>gemm", Backend.CUDA, 4, 3_000_000, 700_000, 800_000, 750_000),
                        new KernelTiming("softmax", Backend.METAL, 2, 1_000_000, 400_000, 600_000, 600_000),
                        new KernelTiming("never ran", Backend.CPU, 0, 0, 0, 0, 0))));

        assertThat(column("kernels", "kernel")).containsExactly("<i>gemm", "softmax");
        assertThat(column("kernels", "backend")).containsExactly("CUDA", "METAL");
        assertThat(column("kernels", "dispatches")).containsExactly("4", "2");
        assertThat(column("kernels", "total")).containsExactly(time(3_000_000), time(1_000_000));
        assertThat(column("kernels", "% of kernel time")).containsExactly("75.0", "25.0");
        assertThat(column("kernels", "avg")).containsExactly(time(750_000), time(500_000));
        assertThat(column("kernels", "min")).containsExactly(time(700_000), time(400_000));
        assertThat(column("kernels", "max")).containsExactly(time(800_000), time(600_000));
    }

    @Spec("8.5")
    @Test
    void showsTheLargestOfManyBricksAndTheOthersOnDemand() throws Exception {
        String shown = "[...document.querySelectorAll('#section-bricks tbody tr')]"
                + ".filter(row => getComputedStyle(row).display !== 'none').length";
        show(Profiles.many(300));
        assertThat(browser.evaluate(shown).asInt()).isEqualTo(30);
        assertThat(browser.text("#section-bricks .short > button")).startsWith("270 more, ");
        String first =
                "document.querySelector('#section-bricks tbody tr:not(.further) th, #section-bricks tbody tr td')"
                        + ".textContent";
        String largest = browser.evaluate(first).asText();
        browser.evaluate("document.querySelector('#section-bricks thead .sort').click()");
        assertThat(browser.evaluate(shown).asInt()).as("in another order").isEqualTo(30);
        assertThat(browser.evaluate("[...document.querySelectorAll('#section-bricks tbody tr:not(.further)')]"
                                + ".some(row => row.textContent.includes('" + largest.strip() + "'))")
                        .asBoolean())
                .as("the largest brick is shown in any order")
                .isTrue();
        browser.evaluate("document.querySelector('#section-bricks .short > button').click()");
        assertThat(browser.evaluate(shown).asInt()).isEqualTo(300);
        show(Profiles.many(40));
        assertThat(browser.evaluate(shown).asInt()).isEqualTo(40);
        show(Profiles.many(300));
        browser.evaluate("document.dispatchEvent(new KeyboardEvent('keydown', {key: '/', bubbles: true}))");
        assertThat(browser.evaluate("document.activeElement.matches('#section-bricks input')")
                        .asBoolean())
                .isTrue();
        browser.evaluate("document.activeElement.value = 'no such brick'; "
                + "document.activeElement.dispatchEvent(new Event('input', {bubbles: true}))");
        assertThat(browser.texts("#section-bricks .short"))
                .as("a search is in all bricks")
                .isEmpty();
    }

    @Test
    void showsTheResultOfChecksums() throws Exception {
        show(HtmlReport.of(Profiles.plain()).withChecksums(checksums(2)));
        assertThat(browser.texts("#section-checksums p"))
                .containsExactly("NO DIVERGENCE: 1 entry with equal checksums");
        show(HtmlReport.of(Profiles.plain()).withChecksums(checksums(3)));
        assertThat(browser.text("#section-checksums p")).startsWith("DIVERGENCE at '<b>RmsNorm' (layer 1, pos 7)");
    }

    @Test
    void showsFiveHundredBricksAndTwoHundredLayers() throws Exception {
        show(large());

        assertThat(browser.texts(NAME)).hasSize(500);
        assertThat(browser.text("#section-layers .heat")).contains("layer");
        assertThat(browser.text("#section-critical-path")).contains("of 10,202; 202 nodes are not listed");
        browser.evaluate("document.querySelector('.filter input').focus()");
        browser.type("layers.499.");
        assertThat(browser.texts(ROW + ":not([hidden]) bdi")).containsExactly("model.layers.499.block");
    }

    private static HtmlReport large() {
        return HtmlReport.of(Profiles.many(500))
                .withGraph(Profiles.pass(200, 50))
                .with(TimelineDigest.of(SampleTimelines.ofSteps(new int[] {10, 20, 30}, 200)));
    }

    /** Writes pictures for inspection and the first paint of a large page, if a folder is named for them. */
    @Test
    void drawsPicturesOnRequest() throws Exception {
        String wanted = System.getProperty("html.pictures", "");
        if (!wanted.isEmpty()) {
            Path pictures = Files.createDirectories(Path.of(wanted));
            int n = 0;
            for (HtmlReport page : pages()) {
                picture(page.render(), pictures.resolve("report-" + n++));
            }
            Files.writeString(pictures.resolve("first-paint.txt"), firstPaints(large()));
        }
        assertThat(browser.picture()).startsWith(0x89, 'P', 'N', 'G');
    }

    /** Returns the first contentful paint of a page, ms, in each of nine loads. */
    private String firstPaints(HtmlReport page) throws Exception {
        StringBuilder times = new StringBuilder();
        for (int i = 0; i < 9; i++) {
            show(page);
            times.append(browser.evaluate("new Promise((painted) => new PerformanceObserver((list) => "
                            + "list.getEntriesByName('first-contentful-paint').forEach((paint) => painted(paint.startTime)))"
                            + ".observe({type: 'paint', buffered: true}))")
                    .asInt());
            times.append('\n');
        }
        return times.toString();
    }
}
