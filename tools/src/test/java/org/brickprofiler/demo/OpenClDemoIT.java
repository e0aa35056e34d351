package org.brickprofiler.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickStats;
import org.brickprofiler.device.opencl.OpenClSupport;
import org.brickprofiler.report.JsonReport;
import org.brickprofiler.testing.Fixture;
import org.brickprofiler.testing.ProcessResult;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The demonstration on a real driver of OpenCL, which compiles the kernels. */
class OpenClDemoIT {

    private static final int LAYERS = 3;
    private static final int TOKENS = 7;

    @TempDir
    Path folder;

    @BeforeEach
    void requireDriver() {
        OpenClSupport.probe().reason().ifPresent(reason -> {
            throw Fixture.OPENCL.missing(reason);
        });
    }

    private ProcessResult demo(String... more) throws IOException {
        List<String> arguments = new ArrayList<>(DemoProcess.TINY);
        arguments.addAll(List.of(more));
        return DemoProcess.run(folder, List.of(), List.of("--enable-native-access=ALL-UNNAMED"), arguments);
    }

    @Spec("12.37")
    @ParameterizedTest
    @ValueSource(strings = {"IMMEDIATE", "PER_LAYER", "DEFERRED"})
    void computesTheSameAsTheProcessorAndTimesEachBrickOnTheDevice(String mode) throws IOException {
        ProcessResult result = demo("--device", "opencl", "--sync-mode", mode).assertSucceeded();

        assertThat(result.err()).isEmpty();
        assertThat(result.out())
                .contains("Device: " + OpenClSupport.probe().deviceNames().get(0) + " #0")
                .contains("The same as on the processor: 9 passes, all 100 logits of each")
                .contains("Wall time of a pass of 49 bricks at position 8, 7 rounds in turns");
        List<BrickStats> bricks =
                JsonReport.read(folder.resolve("brick-profile.json")).bricks();
        for (BrickStats brick : bricks) {
            boolean isHosts = brick.name().equals(BrickId.SAMPLING.displayName());
            assertThat(brick.device().measured()).as(brick.name()).isEqualTo(isHosts ? 0 : brick.count());
        }
        BrickStats norm = bricks.stream()
                .filter(brick -> brick.name().equals(BrickId.RMS_NORM.displayName()))
                .findFirst()
                .orElseThrow();
        assertThat(norm.count()).isEqualTo((2 * LAYERS + 1) * TOKENS);
        assertThat(norm.minNs()).isPositive();
    }

    @Test
    void tellsThatThereIsNoSuchDevice() throws IOException {
        ProcessResult result = demo("--device", "opencl:999");

        assertThat(result.exitCode()).isEqualTo(1);
        assertThat(result.err())
                .hasLineCount(1)
                .startsWith("demo: there is no OpenCL device 999; OpenCL: "
                        + OpenClSupport.probe().deviceNames().get(0));
        assertThat(folder).isEmptyDirectory();
    }
}
