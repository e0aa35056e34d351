package org.brickprofiler.demo.device;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
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

    /** NVIDIA's own assembler takes the text, where it is installed. */
    @ParameterizedTest
    @ValueSource(strings = {"sm_75", "sm_80", "sm_90", "sm_100"})
    void assembles(String architecture) throws IOException, InterruptedException {
        Path text = Files.writeString(folder.resolve("kernels.ptx"), KernelText.PTX);
        Path log = folder.resolve("log");
        Process ptxas;
        try {
            ptxas = new ProcessBuilder(
                            "ptxas",
                            "--warning-as-error",
                            "--gpu-name=" + architecture,
                            "--output-file=" + folder.resolve("kernels.cubin"),
                            text.toString())
                    .redirectErrorStream(true)
                    .redirectOutput(log.toFile())
                    .start();
        } catch (IOException notInstalled) {
            Assumptions.abort("no ptxas: " + notInstalled.getMessage());
            throw notInstalled;
        }
        try {
            assertThat(ptxas.waitFor()).as("%s", Files.readString(log, UTF_8)).isZero();
        } finally {
            ptxas.destroyForcibly();
        }
    }
}
