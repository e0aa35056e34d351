package org.brickprofiler.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.StepInfo;
import org.brickprofiler.report.JsonReport;
import org.brickprofiler.testing.FakeClock;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.trace.LineProfile;
import org.brickprofiler.trace.SampleLines;
import org.brickprofiler.trace.SlowSteps;
import org.brickprofiler.trace.Timeline;
import org.brickprofiler.trace.TraceRecorder;
import org.brickprofiler.trace.read.TraceFormatException;
import org.brickprofiler.trace.read.TraceReader;
import org.brickprofiler.trace.write.TraceFiles;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The commands on a timeline that holds chosen steps only. */
@Spec("13.16")
class SlowReportTest {

    private static final String SENTENCE = "Step 20: 9.00 ms, typical for its size 1.00: +8.00 ms FusedAttention.";

    @TempDir
    Path folder;

    private Path file;
    private Timeline timeline;
    private BrickProfiler profiler;

    @BeforeEach
    void record() throws IOException {
        FakeClock clock = new FakeClock();
        TraceRecorder recorder =
                TraceRecorder.builder().keepSlowSteps(2).clock(clock).build();
        profiler = BrickProfiler.builder().clock(clock).tracing(recorder).build();
        profiler.enable();
        for (int i = 0; i < 40; i++) {
            profiler.beginStep(StepInfo.decode(100 + i));
            long timer = profiler.startBrick(BrickId.FUSED_ATTENTION);
            clock.advance(i == 20 ? 9_000_000 : 1_000_000);
            profiler.stopBrick(timer, 1);
            profiler.endPass();
            clock.advance(50_000);
        }
        timeline = recorder.timeline();
        file = folder.resolve("slow.pftrace");
        TraceFiles.write(timeline, file);
    }

    private SlowSteps known() {
        return timeline.info().slowSteps().orElseThrow();
    }

    @ParameterizedTest
    @ValueSource(strings = {"slow.pftrace", "other.pftrace", "slow.json", "slow.json.gz"})
    void reportExplainsTheStepsBeforeTheTable(String name) throws IOException {
        Path copy = folder.resolve(name);
        if (!Files.exists(copy)) {
            assertThat(Cli.run("convert", "--timeline", file, copy).err()).isEmpty();
        }

        assertThat(TraceReader.profile(copy).slowSteps()).contains(known());
        Cli report = Cli.run("report", copy);
        assertThat(report.exitCode()).isZero();
        assertThat(report.out())
                .startsWith("Slow steps\n  This timeline holds chosen steps only: 2 of 40 decode steps.\n")
                .containsSubsequence(
                        SENTENCE, "steps       chosen ones only: all sums and shares are of these", "Bricks")
                .doesNotContain("idle")
                .contains("""

                        Findings
                         1  1 decode step of 40 takes 9 ms instead of 1 ms, which is typical for its size: the largest part
                            is FusedAttention. Unknown, so part of these: garbage collection, other stops of the virtual
                            machine, throttled by a CPU quota, no processor, blocked or stopped.
                        Next: brick report %s --html OUT\
                        """.formatted(copy));
        assertThat(report.err()).contains("sums and shares are of these steps, not of the run");
    }

    @Test
    void jsonHasTheExplanationAndIsNoReportOfARun() throws IOException {
        Cli report = Cli.run("report", file, "--json");
        JsonNode steps = new ObjectMapper().readTree(report.out()).get("slow_steps");
        assertThat(steps.at("/steps/0/text").asText()).isEqualTo(SENTENCE);
        assertThat(steps.at("/steps/0/parts/0/excess_ns").asLong()).isEqualTo(8_000_000);

        Path json = Files.writeString(folder.resolve("steps.json"), report.out());
        assertThatThrownBy(() -> JsonReport.read(json)).hasMessageContaining("those of chosen steps, not of a run");
    }

    /** The agent writes such a report while the engine runs. */
    @Test
    void theReportOfAWholeRunShowsItsSlowStepsAndLines() throws IOException {
        Path json = folder.resolve("run.json");
        ProfileSnapshot run = profiler.snapshot();
        Map<String, Object> entries = new LinkedHashMap<>(known().reportEntries(run));
        entries.putAll(SampleLines.some().reportEntries(run));
        JsonReport.write(run, entries, json);

        assertThat(JsonReport.read(json)).isEqualTo(run);
        Cli text = Cli.run("report", json);
        assertThat(text.out())
                .containsSubsequence(
                        "Bricks",
                        "\nSlow steps\n  decode, the slowest of 40 steps:\n",
                        SENTENCE,
                        "\nLines of bricks\n  620 samples",
                        "64 % (60 to 68)    org.example.VectorMath.dot line 88, interpreted",
                        "Findings")
                .contains("1 decode step of 40 takes 9 ms instead of 1 ms")
                .contains(
                        "In decode steps,\n    64 % of its samples (60 to 68 %) are in VectorMath.dot line 88, interpreted.")
                .doesNotContain("chosen");
        assertThat(text.err()).isEmpty();
        assertThat(Cli.run("report", json, "--html", folder.resolve("run.html")).exitCode())
                .isZero();
        assertThat(folder.resolve("run.html")).content().contains(SENTENCE);
        Cli again = Cli.run("report", json, "--json");
        assertThat(SlowSteps.ofReport(new ByteArrayInputStream(again.out().getBytes(StandardCharsets.UTF_8))))
                .contains(known());
        assertThat(LineProfile.ofReport(new ByteArrayInputStream(again.out().getBytes(StandardCharsets.UTF_8))))
                .contains(SampleLines.some());
        assertThat(Cli.run("compare", json, "--", json).err()).doesNotContain("chosen");

        String bad = Files.readString(json)
                .replaceFirst("\"phase\": \"decode\",(\\s+)\"start_ns\"", "\"phase\": \"X\",$1\"start_ns\"");
        Files.writeString(json, bad);
        assertThat(Cli.run("report", json).err()).contains("run.json: phase of slow steps is unknown: X");
        Files.writeString(json, again.out().replaceFirst("\"workers\": 40", "\"workers\": -1"));
        assertThat(Cli.run("report", json).err()).contains("run.json: ofWorkers -1 is negative");
    }

    @Test
    void commandsThatNeedTheWholeRunRefuseTheTimeline() {
        for (List<Object> command : List.<List<Object>>of(
                List.of("report", file, "--csv"),
                List.of("report", file, "--net"),
                List.of("compare", file, "--", file),
                List.of("convert", file, folder.resolve("run.json")),
                List.of("convert", file, folder.resolve("run.csv")))) {
            Cli refused = Cli.run(command.toArray());
            assertThat(refused.exitCode()).isEqualTo(2);
            assertThat(refused.err()).contains("slow.pftrace holds chosen steps only");
        }
        assertThat(folder.resolve("run.json")).doesNotExist();
    }

    @Test
    void aDamagedExplanationIsRefused() throws IOException {
        Path json = folder.resolve("slow.json");
        assertThat(Cli.run("convert", "--timeline", file, json).err()).isEmpty();
        String text = Files.readString(json);
        Files.writeString(json, text.replace("\\\"typical_ns\\\":1000000", "\\\"typical_ns\\\":999999"));

        assertThatThrownBy(() -> TraceReader.profile(json))
                .isInstanceOf(TraceFormatException.class)
                .hasMessageContaining("the parts of step 20 sum to 8000000 ns, and its excess is 8000001 ns");
    }
}
