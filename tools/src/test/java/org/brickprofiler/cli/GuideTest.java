package org.brickprofiler.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.zip.GZIPInputStream;
import org.brickprofiler.cli.GuideShell.Part;
import org.brickprofiler.report.JsonReport;
import org.brickprofiler.request.Cause;
import org.brickprofiler.request.RequestStats;
import org.brickprofiler.testing.OneJdk;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/**
 * Runs the commands of docs/GUIDE.md, except those of {@link GuideComparisonTest} and those of the agent, which
 * AgentPageIT runs.
 */
@EnabledOnOs(
        value = {OS.LINUX, OS.MAC},
        disabledReason = "the commands are of a Unix shell")
@Timeout(300)
@OneJdk
class GuideTest {

    @TempDir
    Path folder;

    @Test
    void aFirstProfileIsSetBelowTheRoof() throws IOException {
        assertThat(new GuideShell(folder).run(Part.PROFILE, 2)).contains("Brick profile\n", "Distance to the roof, ");
    }

    @Test
    void phasesAreReportedAndCompared() throws IOException {
        assertThat(new GuideShell(folder).run(Part.PHASES, 2))
                .containsPattern("Of brick time: prefill steps [0-9.]+ %, decode steps [0-9.]+ %[.]\n")
                .containsPattern("GateProjection, prefill +.*too few runs")
                .containsPattern("GateProjection, decode +.*too few runs");
        assertThat(folder.resolve("narrow.html")).content().contains("\"phases\"");
    }

    @Test
    void chunksOfPromptsEndTheStalls() throws IOException {
        String output = new GuideShell(folder).run(Part.REQUESTS, 3);

        assertThat(output)
                .contains("decoding beside others' prompts", "longer for the first token than the median: ")
                .contains(" of 200 requests that finished met time to first token up to 100.0 ms and ")
                .containsPattern("time to first token of a request +.*too few runs")
                .containsPattern("time per output token of a request, p90 +.*too few runs");
        assertThat(folder.resolve("whole.html")).content().contains("request_timeline");
        RequestStats whole = JsonReport.read(folder.resolve("whole.json")).requests();
        RequestStats chunks = JsonReport.read(folder.resolve("chunks.json")).requests();
        assertThat(whole.causeNs().get(Cause.STALLED_BEHIND_PROMPTS)).isPositive();
        assertThat(whole.causeNs().get(Cause.DECODE_BESIDE_PROMPTS)).isZero();
        assertThat(chunks.causeNs().get(Cause.STALLED_BEHIND_PROMPTS)).isZero();
        assertThat(chunks.causeNs().get(Cause.DECODE_BESIDE_PROMPTS)).isPositive();
        assertThat(chunks.tokens()).isEqualTo(whole.tokens());
    }

    @Test
    void slowStepsAreExplained() throws IOException {
        assertThat(new GuideShell(folder).run(Part.SLOW_STEPS, 1))
                .contains("This timeline holds chosen steps only: 9 of 60 decode steps.", ", typical for its size ");
        assertThat(folder.resolve("slow.html")).content().contains("slow_steps");
    }

    @Test
    void filesOfOtherProfilersAreRead() throws IOException {
        Files.copy(Cli.TRACES.resolve("tornadovm-invented.json"), folder.resolve("tornadovm.log"));
        Map<String, String> packed = Map.of(
                "nsight-fsdp-h100.sqlite.gz", "recording.sqlite",
                "jax-cpu.xplane.pb.gz", "host.xplane.pb",
                "rpd-matmul.rpd.gz", "trace.rpd");
        for (Map.Entry<String, String> file : packed.entrySet()) {
            try (InputStream bytes = Files.newInputStream(Cli.TRACES.resolve(file.getKey()))) {
                Files.copy(new GZIPInputStream(bytes), folder.resolve(file.getValue()));
            }
        }
        for (String domain : List.of("kernel_trace.csv", "memory_copy_trace.csv")) {
            Files.copy(Cli.TRACES.resolve("rocprofv3").resolve(domain), folder.resolve("12345_" + domain));
        }

        Files.copy(Cli.TRACES.resolve("ort-decoder-optimum.json.gz"), folder.resolve("onnx-profile.json"));

        Files.copy(Cli.TRACES.resolve("trt-resnet-fp16.profile.json"), folder.resolve("profile.json"));
        Files.writeString(folder.resolve("times.json"), """
                [ { "startEnqMs" : 0, "endEnqMs" : 0.5, "startH2dMs" : 1, "endH2dMs" : 1.1, "startComputeMs" : 1.1,
                    "endComputeMs" : 2, "startD2hMs" : 2, "endD2hMs" : 2.1 } ]
                """);
        Files.copy(Cli.TRACES.resolve("nsys-stats-kern-sum-ferrum-m3.csv"), folder.resolve("kernels.csv"));
        Files.copy(Cli.TRACES.resolve("llama-vulkan-perf-logger.log.gz"), folder.resolve("llama.log"));
        Files.copy(Cli.TRACES.resolve("unitrace-device-timing-gemm.txt"), folder.resolve("unitrace.txt"));

        assertThat(new GuideShell(folder).run(Part.FILES, 11))
                .contains(
                        "% of the compute here; both may be of different runs",
                        "session_initialization: 1 event, ",
                        "first layer",
                        "KernelDispatch",
                        "32 blocks of sums",
                        "launched in a range: each in the innermost one",
                        "operations of compiled programs on the processor",
                        "multiply_kernel",
                        "clock       bricks placed within ");
        assertThat(folder.resolve("before.json")).content().contains("\"FusedAttention\"");
        assertThat(folder.resolve("onnx-bricks.json")).content().contains("\"QkvProjection\"");
        assertThat(folder.resolve("recording.pftrace")).isNotEmptyFile();
        assertThat(folder.resolve("recording.json")).content().contains("\"ranges\"", "\"aten::mm\"");
        assertThat(folder.resolve("run.pftrace")).isNotEmptyFile();
        assertThat(folder.resolve("jax.pftrace")).isNotEmptyFile();
    }
}
