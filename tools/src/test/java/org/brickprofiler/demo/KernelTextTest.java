package org.brickprofiler.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.brickprofiler.testing.ChildProcess;
import org.brickprofiler.testing.ProcessResult;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class KernelTextTest {

    @TempDir
    Path folder;

    @Test
    void theTextIsPlainForEveryDriver() {
        assertThat(KernelText.PTX).contains(".version 6.0\n.target sm_50\n").matches("\\p{ASCII}*");
    }

    /** NVIDIA's own assembler accepts the text, if it is installed. */
    @ParameterizedTest
    @ValueSource(strings = {"sm_75", "sm_80", "sm_90", "sm_100"})
    void assembles(String architecture) throws IOException {
        Path text = Files.writeString(folder.resolve("kernels.ptx"), KernelText.PTX);
        ChildProcess ptxas = ChildProcess.of("ptxas")
                .arguments(List.of(
                        "--warning-as-error",
                        "--gpu-name=" + architecture,
                        "--output-file=" + folder.resolve("kernels.cubin"),
                        text.toString()));
        ProcessResult result;
        try {
            result = ptxas.run();
        } catch (IOException notInstalled) {
            Assumptions.abort("no ptxas: " + notInstalled.getMessage());
            throw notInstalled;
        }
        result.assertSucceeded();
    }
}
