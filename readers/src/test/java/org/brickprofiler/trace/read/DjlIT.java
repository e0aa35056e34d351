package org.brickprofiler.trace.read;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.brickprofiler.testing.ChildProcess;
import org.brickprofiler.testing.ProcessResult;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Runs the DJL of Maven Central, and compares the profile with the time that the program itself measured. */
@Timeout(180)
final class DjlIT {

    private static final Path ENGINES = Path.of(System.getProperty("engines.folder"));
    private static final int RUNS = 6;

    @TempDir
    private Path folder;

    @Test
    void theProfileOfARealRunFitsTheTimeThatTheProgramMeasured() throws IOException {
        String platform = System.getProperty("os.name") + " " + System.getProperty("os.arch");
        assumeTrue(platform.equals("Linux amd64"), "PyTorch's library is for Linux on x86-64");
        String classPath;
        try (Stream<Path> jars = Files.list(ENGINES.resolve("djl"))) {
            classPath = jars.map(Path::toString).sorted().collect(Collectors.joining(File.pathSeparator));
        }
        Path file = folder.resolve("profile.json");
        ProcessResult result = ChildProcess.java()
                .jvmOptions(List.of(
                        // PyTorch is unpacked here, once for several builds.
                        "-DDJL_CACHE_DIR=" + ENGINES.resolve("djl-cache").toAbsolutePath(),
                        "-Dai.djl.offline=true",
                        "-DOPT_OUT_TRACKING=true",
                        "-Dai.djl.pytorch.num_threads=1",
                        "-cp",
                        classPath,
                        "src/test/engines/DjlEncoder.java"))
                .arguments(List.of(file.toString(), Integer.toString(RUNS)))
                .run()
                .assertSucceeded();
        long measuredNs = Long.parseLong(result.out().strip());

        TraceProfile profile = Traces.read(file, ReadOptions.defaults().withKeepWarmup(true));

        assertThat(profile.snapshot().totalNs()).isBetween(1L, measuredNs);
        assertThat(profile.wallNs()).isBetween(profile.busyNs(), measuredNs);
        assertThat(profile.rows()).isEqualTo(1);
        // Two layers of six projections and two products of the attention, and the last projection.
        assertThat(profile.snapshot().brick("Gemm").orElseThrow().count()).isEqualTo(RUNS * (2 * (6 + 2) + 1));
        assertThat(profile.snapshot().brick("AttentionSoftmax").orElseThrow().count())
                .isEqualTo(RUNS * 2);
        assertThat(profile.omissions()).noneMatch(Omission::isFault);
    }
}
