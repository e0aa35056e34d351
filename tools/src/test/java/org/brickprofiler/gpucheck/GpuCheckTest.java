package org.brickprofiler.gpucheck;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import jcuda.driver.CUresult;
import org.brickprofiler.demo.SimulatedRun;
import org.brickprofiler.device.cuda.SimulatedCuda;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class GpuCheckTest extends SimulatedRun {

    private int run(String... more) {
        return run(GpuCheck.commandLine(), List.of("--rounds", "1", "--marks", "2000"), more);
    }

    @Test
    void makesEveryCheckAndSaysThatTheDriverIsSimulated() throws IOException {
        int exitCode = run();

        List<String> checks = new ArrayList<>();
        json().get("checks").forEach(check -> checks.add(check.get("check").asText()));
        assertThat(checks)
                .containsExactly(
                        "decoder",
                        "spin",
                        "net",
                        "span",
                        "deferred",
                        "streams",
                        "capture",
                        "graph",
                        "graph",
                        "binding",
                        "errors",
                        "clock",
                        "cost",
                        "cost",
                        "cost",
                        "cost",
                        "cost",
                        "activity",
                        "marks",
                        "torch",
                        "loss");
        assertThat(json().get("simulated").asBoolean()).isTrue();
        // By the machine's clock the work of this device takes no time, which is noticed.
        assertThat(json().get("worst").asText()).isEqualTo("broken");
        assertThat(exitCode).isOne();
        assertThat(out.toString())
                .startsWith("*** SIMULATED DRIVER: no device was used")
                .contains("not made  decoder", "held      spin", "held      span")
                .contains(
                        "held      capture", "held      graph", "held      errors", "BROKEN    cost", "held      marks")
                .contains("not made  torch", "held      loss");
        assertThat(out.toString().lines().findFirst().orElseThrow())
                .contains("Device: Simulated GPU 0, driver for CUDA");
        assertThat(SimulatedCuda.liveContexts()).isZero();
    }

    @Test
    void aRefusalFailsTheCheckAndNotTheOthers() throws IOException {
        // The first launches are those of the spins.
        SimulatedCuda.failOnce("cuLaunchKernel", 2, CUresult.CUDA_ERROR_LAUNCH_FAILED);

        assertThat(run()).isEqualTo(1);

        assertThat(out.toString())
                .contains("BROKEN    spin", "cuLaunchKernel answers CUDA_ERROR_LAUNCH_FAILED", "held      span");
        assertThat(json().get("holds").asBoolean()).isFalse();
    }

    @Test
    void aDeviceThatCannotBeOpenedFails() {
        SimulatedCuda.failAlways("cuModuleLoadData", CUresult.CUDA_ERROR_INVALID_PTX);

        assertThat(run()).isEqualTo(1);

        assertThat(out.toString()).contains("BROKEN    device", "CUDA_ERROR_INVALID_PTX");
    }

    @Test
    void nothingIsBegunAfterTheLimit() {
        assertThat(run("--limit-s", "0")).isEqualTo(1);

        assertThat(out.toString())
                .contains("not made  spin", "not made  marks", "0 held, 0 unclear, 0 missed a bound, 0 broken");
    }

    @Test
    void tellsThatThereIsNoSuchDevice() {
        assertThat(run("--device", "2")).isEqualTo(1);

        assertThat(err.toString()).hasLineCount(1).startsWith("gpu-check: there is no CUDA device 2");
        assertThat(out.toString()).isEmpty();
        assertThat(folder).isEmptyDirectory();
    }

    @ParameterizedTest
    @CsvSource({
        "--device, -1, device -1 is negative",
        "--marks, 0, marks 0 is too small",
        "--rounds, x, Invalid value for option '--rounds'"
    })
    void tellsBadInput(String option, String value, String reason) {
        List<String> arguments = List.of(option, value);
        int exitCode = GpuCheck.commandLine().setErr(new PrintWriter(err)).execute(arguments.toArray(String[]::new));

        assertThat(exitCode).isEqualTo(2);
        assertThat(err.toString()).hasLineCount(1).startsWith("gpu-check: ").contains(reason);
    }
}
