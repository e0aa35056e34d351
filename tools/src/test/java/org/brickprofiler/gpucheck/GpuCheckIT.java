package org.brickprofiler.gpucheck;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.brickprofiler.device.cuda.SimulatedCuda;
import org.brickprofiler.testing.ChildProcess;
import org.brickprofiler.testing.ProcessResult;
import org.brickprofiler.testing.SourceTree;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** The checks as they are started on a machine with a GPU, over the simulated driver and the machine's clock. */
@Timeout(300)
@EnabledOnOs(value = OS.LINUX, architectures = "amd64", disabledReason = "the simulated driver is built there only")
class GpuCheckIT {

    private static final Path JAR = Path.of(System.getProperty("cli.jar"));
    private static final Path SOURCE = SourceTree.path("native", "gpu-check");

    /** Below the five minutes of a test. */
    private static final Duration LONGEST = Duration.ofSeconds(280);

    @TempDir
    Path folder;

    /** Lays out the folder as pack.sh does, but without the runtime. */
    @BeforeEach
    void layOut() throws IOException {
        Files.createDirectories(folder.resolve("lib"));
        Files.copy(SOURCE.resolve("run.sh"), folder.resolve("run.sh"));
        Files.copy(SOURCE.resolve("torch_cost.py"), folder.resolve("torch_cost.py"));
        Files.copy(JAR, folder.resolve("lib").resolve("brick.jar"));
    }

    private ProcessResult run(Map<String, String> environment, String... arguments) throws IOException {
        return ChildProcess.of("bash")
                .arguments(List.of(folder.resolve("run.sh").toString()))
                .arguments(List.of(arguments))
                .environment(Map.of("JAVA_HOME", System.getProperty("java.home")))
                .environment(environment)
                .in(folder)
                .limit(LONGEST)
                .run();
    }

    @Test
    void allChecksAreMade() throws Exception {
        Map<String, String> simulated = Map.of(
                "LD_LIBRARY_PATH",
                SimulatedCuda.DRIVER.build().resolveSibling("").toString(),
                "CUDA_SIMULATION_REAL_CLOCK",
                "1");
        ProcessResult run = run(simulated, "--rounds", "5", "--marks", "400000");

        assertThat(run.output().lines().findFirst().orElseThrow())
                .contains("*** SIMULATED DRIVER: no device was used", "Device: Simulated GPU 0");
        assertThat(run.output())
                .containsPattern("\\d+ held, \\d unclear, \\d missed a bound, \\d broken, \\d could not be made");
        JsonNode json =
                new ObjectMapper().readTree(folder.resolve("gpu-check.json").toFile());
        Map<String, String> statuses = new HashMap<>();
        json.get("checks")
                .forEach(check -> statuses.putIfAbsent(
                        check.get("check").asText(), check.get("status").asText()));
        assertThat(json.get("simulated").asBoolean()).isTrue();
        assertThat(statuses)
                .containsEntry("decoder", "not_made")
                .containsEntry("streams", "held")
                .containsEntry("capture", "held")
                .containsEntry("errors", "held")
                .containsEntry("loss", "held")
                .containsKeys("cost", "activity", "torch", "deferred", "clock");
        // These compare times with a bound: on a busy machine the times may spread too much, but no time is wrong.
        assertThat(statuses)
                .extractingByKeys("spin", "net", "span", "graph", "binding", "marks")
                .isSubsetOf("held", "unclear", "missed");
        int expected =
                switch (json.get("worst").asText()) {
                    case "held" -> 0;
                    case "missed" -> 3;
                    default -> 1;
                };
        assertThat(run.exitCode()).isEqualTo(expected);
    }

    @Test
    void withoutADriverOnlyTheReasonIsPrinted() throws Exception {
        // With a file that is no library there is no device, on any machine.
        Path noLibrary = Files.createDirectory(folder.resolve("driver"));
        Files.createFile(noLibrary.resolve("libcuda.so.1"));
        ProcessResult run = run(Map.of("LD_LIBRARY_PATH", noLibrary.toString()));

        assertThat(run.exitCode()).isEqualTo(1);
        assertThat(run.output())
                .startsWith("gpu-check: CUDA is not available: ")
                .hasLineCount(1);
        assertThat(folder.resolve("gpu-check.json")).doesNotExist();
    }

    @Test
    void namesTheMissingPart() throws Exception {
        Files.delete(folder.resolve("lib").resolve("brick.jar"));
        ProcessResult unbuilt = run(Map.of());
        assertThat(unbuilt.exitCode()).isEqualTo(2);
        assertThat(unbuilt.output())
                .startsWith("gpu-check: nothing is built here")
                .hasLineCount(1);
    }
}
