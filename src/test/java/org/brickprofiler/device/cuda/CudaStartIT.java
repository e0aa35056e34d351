package org.brickprofiler.device.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import org.brickprofiler.device.cuda.CudaProcess.Settings;
import org.junit.jupiter.api.Test;

/** Virtual machines that start together, each building the simulated driver and loading JCuda, do not disturb others. */
class CudaStartIT {

    private static final int PROCESSES = 6;

    @Test
    void sixThatStartTogetherAllFindTheDevice() throws Exception {
        Path driver = SimulatedCuda.DRIVER.build();
        Files.setLastModifiedTime(driver, FileTime.fromMillis(0));
        List<Process> started = new ArrayList<>();
        try {
            for (int i = 0; i < PROCESSES; i++) {
                started.add(Settings.usual().arguments("simulated").start());
            }
            for (Process process : started) {
                CudaProcess ended = CudaProcess.ended(process);
                assertThat(ended.output()).contains("first: CUDA: Simulated GPU 0", "marked: true\n", "end\n");
                assertThat(ended.exitCode()).isZero();
            }
        } finally {
            started.forEach(Process::destroyForcibly);
        }

        assertThat(Files.getLastModifiedTime(driver)).isGreaterThan(FileTime.fromMillis(0));
        try (var files = Files.list(driver.getParent())) {
            assertThat(files).containsExactly(driver);
        }
    }
}
