package org.brickprofiler.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.brickprofiler.BrickStats;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.checksum.ChecksumLog;
import org.brickprofiler.graph.ExecutionGraph;
import org.brickprofiler.report.ChecksumFile;
import org.brickprofiler.report.JsonReport;
import org.brickprofiler.trace.read.TraceReader;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

class DemoTest {

    /** In the header of the table of bricks. */
    private static final String PERCENTILES = "(?m)^brick .* p99 ";

    private static final String TINY = "--layers 1 --dim 16 --heads 2 --kv-heads 1 --ffn 32 --vocab 50 --tokens 3";

    @TempDir
    Path folder;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        --layers 0                | layers 0 is not within 1 to 1048576
        --dim 10 --heads 4        | dim 10 is not divisible by heads 4
        --heads 8 --kv-heads 3    | heads 8 is not divisible by kv-heads 3
        --tokens 0                | tokens 0 is not within 1 to 1048576
        --seconds 0               | seconds 0.0 is not above 0 and up to 1000000
        --seconds NaN             | seconds NaN is not above 0
        --tokens -5               | tokens -5 is not within 1 to 1048576
        --warmup -1               | warmup -1 is not within 0 to 1048576
        --threads 0               | threads 0 is not within 1 to 256
        --threads 1000            | threads 1000 is not within 1 to 256
        --temperature -1          | temperature -1.0 is not 0 or more
        --top-p 0                 | top-p 0.0 is not above 0 and up to 1
        --layers 1000000          | too much for a heap of
        --layers x                | Invalid value for option '--layers'
        --sync-mode sometimes     | Invalid value for option '--sync-mode'
        --no-such-option          | Unknown option: '--no-such-option'
        --rate 2                  | --requests, --rate, --slots and --chunk need --serve
        --serve --rate 0          | rate 0.0 is not above 0 and up to 1000000
        --serve --slots 0         | slots 0 is not within 1 to 256
        --serve --chunk 0         | chunk 0 is not within 1 to 1048576
        --serve --requests -1     | requests -1 is not within 1 to 100000
        --serve --device cuda     | --serve excludes --device, --tokens, --seconds
        --serve --jfr out.jfr     | --serve excludes --device, --tokens, --seconds
        --serve --check-roof      | --serve excludes --device, --tokens, --seconds
        --serve --calibrate       | --serve excludes --device, --tokens, --seconds
        stray                     | Unmatched argument
        --trace trace.txt         | .pftrace, .perfetto-trace, .json or .json.gz, not trace.txt
        --perturb RmsNorm         | 'RmsNorm' is not LAYER:BRICK
        --perturb 0:norm          | there is no brick 'norm'
        --perturb 99:RmsNorm      | there is no layer 99
        --waste RmsNorm           | waste 'RmsNorm' is not BRICK=PERCENT
        --waste norm=5            | there is no brick 'norm'
        --waste SpMV=5            | a pass has no brick SpMV
        --graph missing/a.dot     | does not exist
        --checksums missing/a     | does not exist
        """)
    void tellsBadInputInOneLine(String arguments, String reason) {
        int exitCode = run(arguments);

        assertThat(exitCode).isEqualTo(2);
        assertThat(err.toString())
                .startsWith("demo: ")
                .contains(reason)
                .endsWith(System.lineSeparator())
                .hasLineCount(1);
        assertThat(out.toString()).isEmpty();
        assertThat(folder).isEmptyDirectory();
    }

    @Test
    void decodesAndReports() {
        int exitCode = run(TINY + " --sync-mode per_layer --warmup 2 --threads 1");

        assertThat(err.toString()).isEmpty();
        assertThat(exitCode).isZero();
        assertThat(out.toString())
                .contains("layers 1, dim 16, heads 2 (1 for keys and values), FFN 32, vocabulary 50")
                .contains("after 2 tokens of warm-up")
                .contains("First tokens: ")
                .contains("RmsNorm")
                .contains("macro")
                .contains("JSON: " + folder.resolve("out.json"));
        assertThat(folder.resolve("out.json")).isNotEmptyFile();
        assertThat(folder.toFile().list()).containsExactly("out.json");
    }

    @Test
    void writesAPageOfTheSameProfile() throws IOException {
        Path page = folder.resolve("out.html");
        assertThat(run(TINY + " --html " + page)).isZero();

        assertThat(out.toString()).contains("HTML: " + page);
        String profile = JsonReport.toJson(JsonReport.read(folder.resolve("out.json")));
        assertThat(Files.readString(page)).contains(profile).contains("\"Layer 0\"");
    }

    @Test
    void writesTimelineGraphAndChecksumsOnRequest() throws IOException {
        Path trace = folder.resolve("pass.json");
        Path dot = folder.resolve("pass.dot");
        Path checksums = folder.resolve("a.jsonl");

        int exitCode = run(TINY + " --warmup 1 --trace " + trace + " --graph " + dot + " --checksums " + checksums);

        assertThat(err.toString()).isEmpty();
        assertThat(exitCode).isZero();
        assertThat(out.toString())
                .contains("Timeline: " + trace, "Checksums: " + checksums, "Graph: " + dot)
                .contains("which took", "of wall time: the critical path is");
        assertThat(Files.readString(dot)).startsWith("digraph").contains("QkvProjection");
        assertThat(Files.readString(trace)).contains("\"RmsNorm\"", "ProfilerStep#", "tokens/s", "heap in use");
        assertThat(ChecksumFile.read(checksums).list()).hasSize(3 * 19);
    }

    @Test
    void calibratesAfterTheRun() throws IOException {
        Path file = folder.resolve("calibrated.json");
        assertThat(run(TINY + " --threads 1 --calibrate --json " + file)).isZero();

        ProfileSnapshot run = JsonReport.read(file);
        assertThat(run.facts().calibrations()).hasSize(1);
        assertThat(run.facts().nesting().get("RmsNorm"))
                .as("two in the layer, of which a lap begins the second, and the one that begins the closing part")
                .isEqualTo(new ExecutionGraph.Nesting(3, 1, 0, 0));
        assertThat(run.bricks())
                .allSatisfy(brick ->
                        assertThat(run.facts().netNs(brick).orElseThrow()).isLessThanOrEqualTo(brick.totalNs()));
    }

    @Test
    void aFlightRecordingHasTheBricksOfTheProfile() throws IOException {
        Path file = folder.resolve("run.jfr");
        Path json = folder.resolve("run.json");
        assertThat(run(TINY + " --warmup 2 --jfr " + file + " --json " + json)).isZero();
        ProfileSnapshot recorded = TraceReader.profile(file).snapshot();
        ProfileSnapshot expected = JsonReport.read(json);

        assertThat(out.toString()).contains("Flight recording: " + file);
        assertThat(recorded.bricks())
                .extracting(BrickStats::name, BrickStats::count, BrickStats::totalNs)
                .containsExactlyElementsOf(expected.bricks().stream()
                        .map(brick -> tuple(brick.name(), brick.count(), brick.totalNs()))
                        .toList());
    }

    @Test
    void aGraphWithAnotherNameIsATree() throws IOException {
        run(TINY + " --graph " + folder.resolve("pass.txt"));

        assertThat(Files.readString(folder.resolve("pass.txt")))
                .contains("Layer 0")
                .doesNotContain("digraph");
    }

    @Test
    void aPerturbedRunDivergesAtThePerturbedBrick() throws IOException {
        run(TINY + " --checksums " + folder.resolve("a.jsonl"));
        run(TINY + " --perturb 0:Activation --checksums " + folder.resolve("b.jsonl"));

        ChecksumLog reference = ChecksumFile.read(folder.resolve("a.jsonl"));
        assertThat(ChecksumFile.read(folder.resolve("b.jsonl")).firstDivergenceFrom(reference))
                .hasValueSatisfying(found -> {
                    assertThat(found.name()).isEqualTo("Activation");
                    assertThat(found.layer()).isZero();
                });
    }

    @Test
    void theAccountComesBeforeTheFindings() {
        run(TINY + " --verbose");

        assertThat(out.toString()).containsSubsequence("  taken  ", "Elements of a tile", "Findings");
    }

    @Test
    void leavesOutUnrequestedParts() {
        run(TINY + " --verbose --no-percentiles --no-tiles");

        assertThat(out.toString())
                .doesNotContainPattern(PERCENTILES)
                .doesNotContain("macro")
                .doesNotContain("Elements of a tile");
    }

    @Test
    void recordsPercentilesAndTilesUnlessTold() {
        run(TINY);
        assertThat(out.toString()).containsPattern(PERCENTILES).contains("macro");

        out.getBuffer().setLength(0);
        run(TINY + " --percentiles --tiles");
        assertThat(out.toString()).containsPattern(PERCENTILES).contains("macro");
    }

    @Test
    void writesNoFileThatNobodyAskedFor() throws IOException {
        assertThat(runWithoutJson(TINY)).isZero();

        assertThat(out.toString())
                .contains("RmsNorm", "Ended by the number of tokens.")
                .doesNotContain("JSON");
        assertThat(folder).isEmptyDirectory();
        assertThat(Path.of("brick-profile.json")).doesNotExist();
    }

    @Test
    void endsByTimeIfThatComesFirst() {
        int exitCode = run("--layers 1 --dim 16 --heads 2 --kv-heads 1 --ffn 32 --vocab 50 --seconds 0.000001");

        assertThat(exitCode).isZero();
        assertThat(out.toString())
                .contains("1 token in ")
                .contains("Ended by the time limit of 0.000001 s, before 1,500 tokens; --tokens N alone sets");
    }

    @Test
    void aNumberOfTokensLiftsTheUsualTimeLimitAlone() {
        assertThat(limit()).isEqualTo(new DecodeRun.Limit(1_500, 15_000_000_000L));
        assertThat(limit("--tokens", "9000")).isEqualTo(new DecodeRun.Limit(9_000, DecodeRun.Limit.NO_TIME));
        assertThat(limit("--tokens", "9000", "--seconds", "2")).isEqualTo(new DecodeRun.Limit(9_000, 2_000_000_000L));
    }

    private static DecodeRun.Limit limit(String... arguments) {
        return CommandLine.populateCommand(new DemoOptions(), arguments).limit();
    }

    @Test
    void helpTeachesByExample() {
        int exitCode = run("--help");

        assertThat(exitCode).isZero();
        assertThat(out.toString())
                .contains("Examples:")
                .contains("brick demo --layers 4 --tokens 200")
                .contains("--layers=N")
                .contains("DEFERRED");
        assertThat(err.toString()).isEmpty();
    }

    private int runWithoutJson(String arguments) {
        CommandLine commandLine = Demo.commandLine();
        commandLine.setOut(new PrintWriter(out));
        commandLine.setErr(new PrintWriter(err));
        return commandLine.execute(arguments.split(" "));
    }

    private int run(String arguments) {
        List<String> all = new ArrayList<>(List.of(arguments.split(" ")));
        if (!all.contains("--json")) {
            all.add("--json");
            all.add(folder.resolve("out.json").toString());
        }
        return runWithoutJson(String.join(" ", all));
    }
}
