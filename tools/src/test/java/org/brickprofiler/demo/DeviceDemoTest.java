package org.brickprofiler.demo;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.brickprofiler.device.cuda.SimulatedCuda;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The demonstration over the simulated driver, whose kernels an interpreter runs. */
class DeviceDemoTest extends SimulatedRun {

    /** Of two layers; lengths are no multiples of a block or a warp. */
    private static final List<String> SMALL = List.of(
            "--layers",
            "2",
            "--dim",
            "40",
            "--heads",
            "4",
            "--kv-heads",
            "2",
            "--ffn",
            "70",
            "--vocab",
            "101",
            "--tokens",
            "3",
            "--warmup",
            "1",
            "--threads",
            "1");

    private static final int LAYERS = 2;
    private static final int TOKENS = 3;
    private static final int KERNEL_NS = 5_000;

    @BeforeEach
    void setKernelTime() {
        SimulatedCuda.setKernelNs(KERNEL_NS);
    }

    private int run(String... more) {
        return run(Demo.commandLine(), SMALL, more);
    }

    private JsonNode brick(String name) throws IOException {
        JsonNode brick = bricks().get(name);
        if (brick == null) {
            throw new AssertionError("no brick " + name);
        }
        return brick;
    }

    private Map<String, JsonNode> bricks() throws IOException {
        Map<String, JsonNode> bricks = new HashMap<>();
        json().get("bricks").forEach(brick -> bricks.put(brick.get("name").asText(), brick));
        return bricks;
    }

    @Test
    void computesTheSameAsTheProcessorAndPrintsTheCostOfWatching() {
        int exitCode;
        try (SimulatedKernels kernels = new SimulatedKernels()) {
            exitCode = run("--device", "cuda");
        }

        assertThat(err.toString()).isEmpty();
        assertThat(exitCode).isZero();
        assertThat(out.toString())
                .contains("Device: Simulated GPU 0 #0")
                .contains("The same as on the processor: 4 passes, all 101 logits of each")
                .contains("3 tokens in", "First tokens: ", "time of", "Device streams")
                .contains("Wall time of a pass of 34 bricks at position 3, 3 rounds in turns")
                .contains("profiler absent", "NONE", "DEFERRED, lap", "PER_LAYER", "IMMEDIATE")
                .contains("JSON: ");
    }

    @Test
    void theTokensAreThoseOfTheProcessor() {
        assertThat(run()).isZero();
        String onProcessor = firstTokens();
        out.getBuffer().setLength(0);
        try (SimulatedKernels kernels = new SimulatedKernels()) {
            assertThat(run("--device", "cuda:0")).isZero();
        }

        assertThat(firstTokens()).isEqualTo(onProcessor);
        assertThat(SimulatedCuda.calls("cuMemFree_v2")).isEqualTo(SimulatedCuda.calls("cuMemAlloc_v2"));
        assertThat(SimulatedCuda.calls("cuMemFreeHost")).isEqualTo(SimulatedCuda.calls("cuMemAllocHost_v2"));
    }

    private String firstTokens() {
        return out.toString()
                .lines()
                .filter(line -> line.startsWith("First tokens: "))
                .findFirst()
                .orElseThrow();
    }

    @ParameterizedTest
    @ValueSource(strings = {"IMMEDIATE", "PER_LAYER", "DEFERRED"})
    void eachBrickHasTheTimeThatTheDeviceTookForIt(String mode) throws IOException {
        try (SimulatedKernels kernels = new SimulatedKernels()) {
            assertThat(run("--device", "cuda", "--sync-mode", mode)).isZero();
        }

        Map<String, Integer> expected = new HashMap<>();
        Formulas.countsPerPass(LAYERS).forEach((brick, count) -> expected.put(brick.displayName(), count * TOKENS));
        expected.put("DeviceToHost", TOKENS);
        Map<String, JsonNode> bricks = bricks();
        Map<String, Integer> counts = new HashMap<>();
        bricks.forEach((name, brick) -> counts.put(name, brick.get("count").asInt()));
        assertThat(counts).isEqualTo(expected);
        JsonNode norm = brick("RmsNorm");
        assertThat(norm.get("device").get("device_samples").asInt()).isEqualTo((2 * LAYERS + 1) * TOKENS);
        assertThat(norm.get("total_ns").asLong()).isEqualTo((2L * LAYERS + 1) * TOKENS * KERNEL_NS);
        assertThat(brick("Sampling").has("device")).isFalse();
    }

    @Test
    void withoutWaitingTheTimesAreTheHosts() throws IOException {
        try (SimulatedKernels kernels = new SimulatedKernels()) {
            assertThat(run("--device", "cuda", "--sync-mode", "NONE")).isZero();
        }

        assertThat(bricks().values()).noneMatch(brick -> brick.has("device"));
    }

    @Test
    void tellsTheFirstValueThatDiffers() {
        // No kernel is executed: all logits are the previous values of the memory.
        int exitCode = run("--device", "cuda");

        assertThat(exitCode).isEqualTo(1);
        assertThat(err.toString())
                .hasLineCount(1)
                .matches("(?s)demo: pass 0: logit \\d+ is \\S+ on the device and \\S+ on the processor\\R");
        assertThat(out.toString()).doesNotContain("The same", "Wall time");
        assertThat(folder).isEmptyDirectory();
    }

    /** Runs after every test, whether the device computed, refused or was missing. */
    @AfterEach
    void everythingWasGivenBack() {
        assertThat(SimulatedCuda.liveContexts()).isZero();
        assertThat(SimulatedCuda.liveStreams()).isZero();
        assertThat(SimulatedCuda.liveEvents()).isZero();
        assertThat(SimulatedCuda.contextDepth()).isZero();
    }

    @Test
    void tellsThatThereIsNoSuchDevice() {
        assertThat(run("--device", "cuda:3")).isEqualTo(1);

        assertThat(err.toString()).hasLineCount(1).startsWith("demo: there is no CUDA device 3; CUDA: Simulated GPU 0");
        assertThat(out.toString()).isEmpty();
        assertThat(folder).isEmptyDirectory();
    }

    @ParameterizedTest
    @CsvSource({
        "cuMemAlloc_v2, cuMemAlloc of",
        "cuMemAllocHost_v2, cuMemAllocHost of",
        "cuModuleLoadData, cuModuleLoadData answers",
        "cuModuleGetFunction, cuModuleGetFunction for",
        "cuLaunchKernel, cuLaunchKernel answers",
        "cuMemcpyHtoD_v2, cuMemcpyHtoD answers",
        "cuMemcpyDtoHAsync_v2, cuMemcpyDtoHAsync answers",
        "cuStreamCreate, no stream on CUDA device 0"
    })
    void reportsRefusalsOfTheDriver(String call, String words) {
        SimulatedCuda.failAlways(call, 2);

        assertThat(run("--device", "cuda")).isEqualTo(1);

        assertThat(err.toString()).hasLineCount(1).startsWith("demo: " + words).contains("CUDA_ERROR_OUT_OF_MEMORY");
        assertThat(SimulatedCuda.liveContexts()).isZero();
        assertThat(folder).isEmptyDirectory();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            --device gpu                          | --device 'gpu' is not cpu, cuda, cuda:N, opencl or opencl:N
            --device cuda:                        | --device 'cuda:' is not cpu, cuda, cuda:N, opencl or opencl:N
            --device cuda:99999                   | --device 'cuda:99999' is not cpu, cuda, cuda:N, opencl or opencl:N
            --device cuda --trace a.json          | --device cuda excludes --trace, --slow, --jfr, --graph, --checksums, --perturb, --waste, --calibrate and --check-roof
            --device cuda:0 --perturb 0:RmsNorm   | --device cuda:0 excludes
            --device cuda --temperature -1        | temperature -1.0 is not 0 or more
            """)
    void tellsBadInputInOneLine(String arguments, String reason) {
        assertThat(run(arguments.split(" "))).isEqualTo(2);

        assertThat(err.toString()).hasLineCount(1).startsWith("demo: ").contains(reason);
        assertThat(out.toString()).isEmpty();
        assertThat(folder).isEmptyDirectory();
    }
}
