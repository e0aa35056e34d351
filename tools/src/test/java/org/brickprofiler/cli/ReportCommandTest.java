package org.brickprofiler.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.zip.GZIPOutputStream;
import jdk.jfr.Recording;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.console.Style;
import org.brickprofiler.jfr.BrickEvents;
import org.brickprofiler.report.HtmlReport;
import org.brickprofiler.report.JsonReport;
import org.brickprofiler.report.TextReport;
import org.brickprofiler.testing.ChildProcess;
import org.brickprofiler.testing.SourceTree;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.trace.read.TraceReader;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ReportCommandTest {

    private static final Path TRACE = Cli.TRACES.resolve("kineto-simple-add.json.gz");
    private static final Path REPORT = Cli.REPORTS.resolve("full.json");

    @TempDir
    Path folder;

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
            kineto-simple-add    | 98 of 1,348 events read: kernels, copies and fills | 2
            kineto-training-step | 9,450 of 109,123 events read: kernels, copies and fills | 4; 6 steps marked
            moe30b-decode-c16    | 64,039 of 64,041 events read: every slice, for none is marked as the device's | 48
            """)
    void printsTheCountsAboveTheProfile(String trace, String counted, String rows) {
        Cli report = Cli.run("report", Cli.TRACES.resolve(trace + ".json.gz"));

        assertThat(report.err()).isEmpty();
        assertThat(report.exitCode()).isZero();
        assertThat(report.out())
                .startsWith("Trace\n  counted     " + counted + "\n  rows        " + rows + "\n  wall time   ")
                .containsPattern("\n\nBrick profile\n");
    }

    @Test
    void jsonAndPageOfARecordingHaveTheActivityOfTheVirtualMachine() throws Exception {
        Path file = folder.resolve("bricks.jfr");
        BrickProfiler profiler = BrickProfiler.builder().percentiles(true).build();
        profiler.enable();
        try (Recording recording = new Recording();
                BrickEvents events = BrickEvents.of(profiler)) {
            assertThat(events).isNotNull();
            recording.enable("brick.Execution");
            recording.enable("jdk.GCPhasePause");
            recording.start();
            profiler.time(BrickId.LM_HEAD, 1, System::gc);
            recording.stop();
            recording.dump(file);
        }

        Cli report = Cli.run("report", file, "--json");
        JsonNode known = new ObjectMapper().readTree(report.out()).get("virtual_machine");
        assertThat(known.get("clock_anchors").asInt()).isPositive();
        JsonNode pause = known.get("disturbances").get(0);
        assertThat(pause.get("brick").asText()).isEqualTo("LmHead");
        assertThat(pause.get("cause").asText()).isEqualTo("garbage collection");
        double share = pause.get("total_ns").asDouble() / profiler.snapshot().totalNs();
        assertThat(pause.get("share").asDouble()).isBetween(1e-9, 1.0).isCloseTo(share, within(1e-9));
        assertThat(pause.get("share_of_p99")).isEqualTo(pause.get("share"));

        Path page = folder.resolve("out.html");
        assertThat(Cli.run("report", file, "--html", page).exitCode()).isZero();
        assertThat(page).content().contains(report.out());
    }

    @Spec("8.1")
    @Test
    void printsTimesWithoutTheProfilersOwnCost() throws IOException {
        BrickProfiler profiler = BrickProfiler.enabled();
        profiler.record(BrickId.LM_HEAD, 2_000_000, 1);
        Path bare = folder.resolve("bare.json");
        JsonReport.write(profiler.snapshot(), bare);
        Cli.run("report", bare, "--net")
                .assertRefused(bare + ": the profile holds no calibration: BrickProfiler.calibrate() makes one");
        profiler.calibrate();
        Path calibrated = folder.resolve("calibrated.json");
        JsonReport.write(profiler.snapshot(), calibrated);

        Cli report = Cli.run("report", calibrated, "--net");
        assertThat(report.exitCode()).isZero();
        assertThat(report.out())
                .startsWith(TextReport.renderNet(JsonReport.read(calibrated), columns()) + "\nFindings\n 1  ")
                .containsPattern("\nLmHead .* 2\\.000 ms +2\\.000 ms +(1\\.999|2\\.000) ms ");
    }

    /** A trace of another program has no elements, no threads that recorded, and no profiler of ours. */
    @Test
    void omitsPartsThatATraceDoesNotHave() {
        Cli report = Cli.run("report", TRACE);

        assertThat(report.out())
                .contains("\n  wall time   16.03 s\n")
                .doesNotContain("profiler on", "threads", "elements/s", "not known", "own cost");
        assertThat(Cli.run("report", TRACE, "--json").out()).contains("\"total_tokens\": 0,");
    }

    @Test
    void readsTracesAsTheOptionsSay() throws IOException {
        Path rules = Files.writeString(folder.resolve("my.rules"), "\"my copies\" (Transfer) <- name=/^Memcpy HtoD/\n");

        assertThat(Cli.run("report", TRACE, "--rules", rules, "--csv").out())
                .contains("\nmy copies,Transfer,16,39080000,")
                .contains("\nConvolution,");
        Path training = Cli.TRACES.resolve("kineto-training-step.json.gz");
        assertThat(Cli.run("report", training, "--skip-steps", "2").out()).contains("counted     6,300 of 109,123");
        Path moe = Cli.TRACES.resolve("moe30b-decode-c16.json.gz");
        assertThat(Cli.run("report", moe, "--keep-warmup").out()).contains("counted     64,041 of 64,041");
    }

    @Test
    void saysHowProductsAreKnown() throws IOException {
        Path decode = Cli.TRACES.resolve("sglang-qwen3-decode.json.gz");

        String json = Cli.run("report", decode, "--json").out();

        assertThat(json).contains("""
                          "placements": [ {
                            "brick": "GateUpProjection",
                            "category": "FFN",
                            "source": "PLACE",
                            "count": 36,
                            "total_ns": 2417659,
                            "agreement": 0.972""".indent(2).stripTrailing());
        Path report = Files.writeString(folder.resolve("report.json"), json);
        assertThat(JsonReport.read(report))
                .isEqualTo(TraceReader.profile(decode).snapshot());
        assertThat(Cli.run("report", decode).out())
                .contains("\n  placed      by place: ")
                .doesNotContain("GateUpProjection: 36 events", "  ignored ");
        assertThat(Cli.run("report", decode, "--verbose").out())
                .contains("\n  placed      by place: ", "\n  ignored  ")
                .contains(
                        "\n                GateUpProjection: 36 events, 2.418 ms, 97.2 % of them in layers that repeat\n");
    }

    @Test
    void printsOurReportAsTextJsonAndCsv() throws IOException {
        ProfileSnapshot profile = JsonReport.read(REPORT);
        String findings =
                new ProfileInput(REPORT.toString(), profile, Optional.empty(), Optional.empty()).findingsText(100);
        assertThat(Cli.run("report", REPORT))
                .isEqualTo(new Cli(0, TextReport.render(profile, columns(), false) + findings, ""));
        assertThat(Cli.run("report", REPORT, "--verbose"))
                .isEqualTo(new Cli(0, TextReport.render(profile, columns(), true) + findings, ""));
        assertThat(Cli.run("report", REPORT, "--json").out()).isEqualTo(Files.readString(REPORT));
        assertThat(Cli.run("report", REPORT, "--csv").out())
                .startsWith("name,category,")
                .contains("\nDownProjection,FFN,704,");
    }

    @Test
    void writesAPageForABrowser() throws IOException {
        Path page = folder.resolve("out.html");
        assertThat(Cli.run("report", REPORT, "--html", page))
                .isEqualTo(new Cli(0, "HTML: " + page.toAbsolutePath() + "\n", ""));
        assertThat(Files.readString(page))
                .isEqualTo(HtmlReport.of(JsonReport.read(REPORT))
                        .named(REPORT.toString())
                        .render());
        assertThat(Cli.run("report", TRACE, "--html", page).exitCode()).isZero();
        assertThat(Files.readString(page)).contains("\"name\": \"Gemm", "id=\"timeline\"");
    }

    @Test
    void writesAPageOfATraceWithoutTimes() throws IOException {
        Path page = folder.resolve("out.html");
        Path tasks = SourceTree.path("readers", "src", "test", "resources", "traces", "tornadovm-invented.json");
        assertThat(Cli.run("report", tasks, "--html", page).out())
                .contains("out.html (without a timeline: the file holds durations or sums, no start times)");
        assertThat(Files.readString(page)).doesNotContain("id=\"timeline\"");
    }

    @Test
    void writesNoPageIfItCannotOrMustNot() throws IOException {
        Path report = Files.copy(REPORT, folder.resolve("report.json"));
        Path nowhere = folder.resolve("missing").resolve("out.html");

        Cli.run("report", report, "--html", report).assertRefused("cannot write " + report + ": it is the input");
        assertThat(report).hasSameTextualContentAs(REPORT);
        Cli.run("report", report, "--html", nowhere).assertRefused("cannot write " + nowhere, "does not exist");
        Cli.run("report", report, "--html", folder).assertRefused("cannot write " + folder + ": it is a folder");
        Cli.run("report", report, "--html", folder.resolve("a.html"), "--json").assertRefused("--json");
    }

    @Spec("15.1")
    @Test
    void goesByTheContentNotByTheName() throws IOException {
        Path report = Files.copy(REPORT, folder.resolve("trace.pftrace"));
        Path oldest = Cli.REPORTS.resolve("contract-v1.json");

        assertThat(Cli.run("report", report).out())
                .startsWith("Brick profile\n")
                .contains("DownProjection");
        assertThat(Cli.run("report", oldest).out())
                .startsWith("Brick profile\n")
                .contains("DownProjection");
    }

    @Spec("15.1")
    @Test
    void readsReportsPackedWithGzip() throws IOException {
        byte[] packed = packed(Files.readAllBytes(REPORT));
        Path report = Files.write(folder.resolve("report.json.gz"), packed);
        Path followed = Files.write(folder.resolve("followed.json.gz"), Arrays.copyOf(packed, packed.length + 9));
        Files.write(followed, "junk".getBytes(UTF_8), StandardOpenOption.APPEND);
        Path cut = Files.write(folder.resolve("cut.json.gz"), Arrays.copyOf(packed, packed.length - 12));

        assertThat(withoutNext(Cli.run("report", report))).isEqualTo(withoutNext(Cli.run("report", REPORT)));
        Cli.run("report", followed)
                .assertRefused(followed + ": bytes that are not packed with gzip follow the packed text");
        Cli.run("report", cut).assertRefused(cut + ": the packed bytes end within a member");
        Cli.run("report", report, "--keep-warmup").assertRefused("is a report; --rules");
    }

    @Spec("15.2")
    @Test
    void tellsThatNothingWasFound() throws IOException {
        Path trace = Files.writeString(folder.resolve("t.json"), "{\"traceEvents\": []}");

        Cli report = Cli.run("report", trace);
        assertThat(report.exitCode()).isEqualTo(1);
        assertThat(report.out()).startsWith("Trace\n");
        assertThat(report.err()).isEqualTo("brick: " + trace + " holds no brick that was recorded\n");
    }

    @Spec({"13.19", "15.1"})
    @Test
    void rulesTellTheBricksOfARecordingByItsFrames() throws IOException {
        Path recording = Cli.TRACES.resolve("async-ctimer.jfr.gz");
        Path rules = Files.writeString(folder.resolve("rules.yaml"), """
                bricks:
                  - {in: SampledEngine.attend, brick: ATTENTION_SCORE}
                  - {in: SampledEngine.main, call: project 1, brick: UP_PROJECTION}
                """);

        Cli without = Cli.run("report", recording);
        assertThat(without.exitCode()).isEqualTo(1);
        assertThat(without.err())
                .isEqualTo("brick: " + recording + " holds no brick that was recorded; --agent-rules FILE names the"
                        + " methods in which its samples of stacks count\n");

        Cli report = Cli.run("report", recording, "--agent-rules", rules);
        assertThat(report.exitCode()).as(report.err()).isZero();
        assertThat(report.out())
                .contains("counted     no event: frames of samples tell the bricks")
                .contains("samples of processor time by async-profiler 4.5")
                .contains("executions and times of bricks are unknown")
                .contains("Frames do not show 1 brick of the rules: UpProjection in SampledEngine.main (line 3).")
                .contains("AttentionScore, 39 samples, 100 % of those of bricks (91 to 100)")
                .doesNotContain("wall time", "brick time");
        assertThat(Cli.run("report", recording, "--agent-rules", rules, "--json")
                        .out())
                .contains("\"by_frames\"", "\"mode\": \"processor time by async-profiler 4.5\"");
        Path other = Files.writeString(folder.resolve("other.yaml"), "bricks: [{in: a.B.c, brick: RMS_NORM}]");
        assertThat(Cli.run("report", recording, "--agent-rules", other).err())
                .endsWith(": no sample has a method on its stack that the rules name\n");
        Cli.run("report", TRACE, "--agent-rules", rules).assertRefused("--agent-rules is for these");
        Cli.run("report", recording, "--agent-rules", "llama3")
                .assertRefused("no rule has a whole method as its brick");
    }

    @Spec("13.20")
    @Test
    void linesLeadToTheirSources() throws IOException {
        Path recording = Cli.TRACES.resolve("async-ctimer.jfr.gz");
        Path rules = Files.writeString(
                folder.resolve("rules.yaml"), "bricks: [{in: SampledEngine.attend, brick: ATTENTION_SCORE}]");
        Path page = folder.resolve("page.html");
        Path sources = SourceTree.path("readers", "src", "test", "engines");

        Cli report = Cli.run(
                "report", recording, "--agent-rules", rules, "--html", page, "--sources", sources, "--sources", folder);
        assertThat(report.exitCode()).as(report.err()).isZero();
        assertThat(Files.readString(page))
                .contains("{\"roots\":[\"" + sources.toUri() + "\",\"" + folder.toUri()
                        + "\"],\"classes\":[\"SampledEngine\"],\"root\":[0],");
        Cli.run("report", recording, "--agent-rules", rules, "--sources", sources)
                .assertRefused("it needs --html");
        Cli.run("report", TRACE, "--html", page, "--sources", sources).assertRefused("has no lines of bricks");
        Cli.run("report", TRACE, "--html", page, "--sources", "none")
                .assertRefused("none is neither a folder nor an address that begins with http:// or https://");
    }

    @Spec({"15.1", "15.2"})
    @Test
    void namesTheFaultOfAFile() throws IOException {
        Path empty = Files.writeString(folder.resolve("empty.json"), "");
        Path text = Files.writeString(folder.resolve("notes.txt"), "hello");
        Path json = Files.writeString(folder.resolve("other.json"), "{\"a\": 1}");
        byte[] packed = packed("{\"traceEvents\": [".getBytes(UTF_8));
        Path truncated = Files.write(folder.resolve("cut.json.gz"), Arrays.copyOf(packed, packed.length - 12));

        Path missing = folder.resolve("missing");
        Cli.run("report", missing).assertRefused("cannot read " + missing + ": it does not exist");
        Cli.run("report", folder).assertRefused("cannot read " + folder + ": it is a folder");
        Cli.run("report", empty).assertRefused(empty.toString(), "empty");
        Cli.run("report", text).assertRefused(text.toString());
        Cli.run("report", json).assertRefused(json.toString(), "no trace");
        Cli.run("report", truncated).assertRefused(truncated.toString(), "ends too early");
    }

    private static byte[] packed(byte[] text) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (GZIPOutputStream gzip = new GZIPOutputStream(bytes)) {
            gzip.write(text);
        }
        return bytes.toByteArray();
    }

    @Test
    void namesTheFaultOfAReport() throws IOException {
        String report = Files.readString(REPORT);
        Path cut = Files.writeString(folder.resolve("cut.json"), report.substring(0, 200));
        Path wrong = Files.writeString(folder.resolve("wrong.json"), "{\"schema_version\": \"1.0\",\n \"bricks\": 7}");

        Cli.run("report", cut).assertRefused(cut + ": line ", "the text ends too early");
        Cli.run("report", wrong).assertRefused(wrong + ": line 2, column ");
        Cli.run("report", Cli.REPORTS.resolve("checksums.jsonl")).assertRefused("a log of checksums", "brick diverge");
        Cli.run("report", REPORT, "--skip-steps", "1").assertRefused("is a report; --rules");
        Cli.run("report", REPORT, "--keep-warmup").assertRefused("are for traces");
    }

    @Test
    void namesLineAndColumnOfABadRule() throws IOException {
        Path rules = Files.writeString(folder.resolve("bad.rules"), "# mine\nRmsNorm <- name=/(/\n");

        Cli.run("report", TRACE, "--rules", rules).assertRefused(rules + ", line 2, column ");
        Cli.run("report", TRACE, "--rules", folder).assertRefused("it is a folder");
        Cli.run("report", TRACE, "--rules", folder.resolve("none")).assertRefused("it does not exist");
    }

    @Test
    @EnabledOnOs(
            value = {OS.LINUX, OS.MAC},
            disabledReason = "needs a device that is no file")
    void readsPathsThatAreNoRegularFiles() {
        Cli.run("report", "/dev/null").assertRefused("/dev/null, offset 0: the text is empty");
    }

    // ---- the standard input ----

    private static Cli runWith(byte[] standardInput, Object... arguments) {
        InputStream before = System.in;
        System.setIn(new ByteArrayInputStream(standardInput));
        try {
            return Cli.run(arguments);
        } finally {
            System.setIn(before);
        }
    }

    /** Returns the output without its last lines, which name the file. */
    private static String withoutNext(Cli report) {
        assertThat(report.exitCode()).isZero();
        assertThat(report.out()).contains("\nNext: ");
        return report.out().substring(0, report.out().lastIndexOf("\nNext: "));
    }

    @Spec("15.1")
    @Test
    void readsTheStandardInput() throws IOException {
        assertThat(withoutNext(runWith(Files.readAllBytes(TRACE), "report", "-")))
                .isEqualTo(withoutNext(Cli.run("report", TRACE)));
        assertThat(runWith(Files.readAllBytes(REPORT), "report", "-", "--json"))
                .isEqualTo(Cli.run("report", REPORT, "--json"));
        Path csv = folder.resolve("out.csv");
        assertThat(runWith(Files.readAllBytes(TRACE), "convert", "-", csv)).isEqualTo(new Cli(0, "", ""));
        assertThat(csv).hasContent(Cli.run("report", TRACE, "--csv").out());
        Path log = Cli.REPORTS.resolve("checksums.jsonl");
        assertThat(runWith(Files.readAllBytes(log), "diverge", "-", log)).isEqualTo(Cli.run("diverge", log, log));
        Path timeline = folder.resolve("out.pftrace");
        assertThat(runWith(Files.readAllBytes(TRACE), "convert", "-", timeline).exitCode())
                .isZero();
        assertThat(Cli.run("report", timeline).out()).contains("HostToDevice");
    }

    @Test
    @EnabledOnOs(
            value = {OS.LINUX, OS.MAC},
            disabledReason = "needs named pipes")
    void readsPipesOfAnyContent() throws Exception {
        for (Path file : List.of(TRACE, REPORT)) {
            Path pipe = folder.resolve("pipe of " + file.getFileName());
            ChildProcess.of("mkfifo").arguments(List.of(pipe.toString())).run().assertSucceeded();
            Thread writer = new Thread(() -> {
                try (OutputStream out = Files.newOutputStream(pipe)) {
                    Files.copy(file, out);
                } catch (IOException failed) {
                    throw new UncheckedIOException(failed);
                }
            });
            writer.start();

            assertThat(withoutNext(Cli.run("report", pipe))).isEqualTo(withoutNext(Cli.run("report", file)));
            writer.join();
        }
    }

    @Test
    void namesTheStandardInput() throws IOException {
        byte[] checksums = Files.readAllBytes(Cli.REPORTS.resolve("checksums.jsonl"));
        byte[] report = Files.readAllBytes(REPORT);

        runWith(new byte[0], "report", "-").assertRefused("the standard input, offset 0: the text is empty");
        runWith(checksums, "report", "-").assertRefused("the standard input is a log of checksums");
        runWith(Arrays.copyOf(report, 200), "report", "-").assertRefused("the standard input: line ", "ends too early");
        assertThat(runWith("[]".getBytes(UTF_8), "report", "-").err())
                .isEqualTo("brick: the standard input holds no brick that was recorded\n");
    }

    /** The key that identifies the format comes after more bytes than the detection reads ahead. */
    @Test
    void aTraceIsRecognisedWithAnyKeysBeforeItsEvents() {
        String trace = "{\"x\": \"" + "y".repeat(1 << 19) + "\", \"traceEvents\": [{\"ph\": \"X\", \"name\": \"a\","
                + " \"ts\": 0, \"dur\": 5}]}";

        assertThat(runWith(trace.getBytes(UTF_8), "report", "-").out()).contains("counted     1 of 1 event read");
    }

    // ---- salvage ----

    @Spec("15.1")
    @Test
    void readsADamagedTraceUpToTheDamageIfItIsAsked() throws IOException {
        byte[] whole = Files.readAllBytes(TRACE);
        Path cut = Files.write(folder.resolve("cut.json.gz"), Arrays.copyOf(whole, whole.length / 2));
        String damage = "brick: " + cut + " is damaged (offset ";

        Cli.run("report", cut).assertRefused("the packed file ends too early; --salvage reads what stands before it");
        Cli salvaged = Cli.run("report", cut, "--salvage");
        assertThat(salvaged.exitCode()).isZero();
        assertThat(salvaged.err())
                .startsWith(damage)
                .hasLineCount(1)
                .contains("the packed file ends too early); this is what stands before it");
        assertThat(salvaged.out())
                .contains("1 damage, read up to there (the packed file ends too early); first at offset ");
        Path json = folder.resolve("out.json");
        assertThat(Cli.run("convert", cut, json, "--salvage").err()).startsWith(damage);
        assertThat(JsonReport.read(json).samples()).isPositive();
        Path timeline = folder.resolve("out.pftrace");
        Cli.run("convert", cut, timeline).assertRefused("--salvage reads");
        assertThat(Cli.run("convert", cut, timeline, "--salvage").err())
                .contains("1 damage, read up to there (the packed file ends too early, first at offset ");
        Cli.run("report", REPORT, "--salvage").assertRefused("are for traces");
    }

    @Test
    void doesNotOfferToSalvageOtherText() throws IOException {
        Path text = Files.writeString(folder.resolve("notes.txt"), "hello");

        assertThat(Cli.run("report", text, "--salvage").err())
                .isEqualTo("brick: " + text + ", offset 0: no trace begins with 'hello': expected "
                        + TraceReader.FORMATS + "\n");
        assertThat(Cli.run("report", "--help").out().replaceAll("\\s+", " ")).contains(TraceReader.FORMATS);
        Path table = Files.writeString(folder.resolve("t.csv"), "\"Kind\",\"Agent_Id\"\n");
        assertThat(Cli.run("report", table).err())
                .contains("a table (CSV) of rocprofv3")
                .doesNotContain("--salvage");
        Path begun = Files.writeString(folder.resolve("t.json"), "[{\"ph\": X}]");
        assertThat(Cli.run("report", begun).err())
                .contains("'X' is not a value")
                .doesNotContain("--salvage");
    }

    @Test
    void theJsonOfAProfileOfOnnxRuntimeHasItsLoading() throws IOException {
        JsonNode json = new ObjectMapper()
                .readTree(Cli.run("report", Cli.TRACES.resolve("ort-1.22-java.json.gz"), "--json")
                        .out());

        assertThat(json.get("loading").get(0).get("name").asText()).isEqualTo("session_initialization");
        assertThat(json.get("loading").get(0).get("total_ns").asLong()).isEqualTo(41_087_000);
        assertThat(json.get("wall_ns").asLong()).isEqualTo((78_128 - 3_864) * 1_000);
    }

    private static int columns() {
        return Style.ofOutput().columns();
    }

    @Test
    void verboseIsForTheText() {
        for (String form : List.of("--json", "--csv", "--net", "--requests=csv", "--html=x.html")) {
            Cli.run("report", REPORT, "--verbose", form).assertRefused("--verbose adds to the text");
        }
    }
}
