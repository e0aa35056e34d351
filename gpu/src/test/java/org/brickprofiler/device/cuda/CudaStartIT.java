package org.brickprofiler.device.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.List;
import org.brickprofiler.testing.ProcessResult;
import org.brickprofiler.testing.RunningProcess;
import org.junit.jupiter.api.Test;

/**
 * Virtual machines that start together, each building the simulated driver and loading JCuda, do not disturb each
 * other.
 */
class CudaStartIT {

    private static final int PROCESSES = 6;

    @Test
    void sixThatStartTogetherAllFindTheDevice() throws Exception {
        Path driver = SimulatedCuda.DRIVER.build();
        Files.setLastModifiedTime(driver, FileTime.fromMillis(0));
        List<RunningProcess> started = new ArrayList<>();
        try {
            for (int i = 0; i < PROCESSES; i++) {
                started.add(CudaProcess.usual().arguments(List.of("simulated")).start());
            }
            for (RunningProcess process : started) {
                ProcessResult ended = process.result();
                assertThat(ended.output()).contains("first: CUDA: Simulated GPU 0", "marked: true\n", "end\n");
                assertThat(ended.exitCode()).isZero();
            }
        } finally {
            started.forEach(RunningProcess::close);
        }

        assertThat(Files.getLastModifiedTime(driver)).isGreaterThan(FileTime.fromMillis(0));
        try (var files = Files.list(driver.getParent())) {
            assertThat(files).containsExactly(driver);
        }
    }
}
