package org.brickprofiler.trace.read;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.BrickStats;
import org.brickprofiler.testing.ChildProcess;
import org.brickprofiler.testing.ProcessResult;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Runs the ONNX Runtime of Maven Central, and compares profiles with the times that the program itself measured. */
@Timeout(120)
final class OnnxRuntimeIT {

    private static final Path JARS = Path.of(System.getProperty("engines.folder"), "onnxruntime");
    private static final int RUNS = 8;

    @TempDir
    private Path folder;

    /** ONNX Runtime fuses nodes of the models, but not the products of the four layers and of the head. */
    @ParameterizedTest
    @CsvSource({"OPTIMUM, 37", "MERGED, 37", "PYTORCH, 37", "GENAI, 29"})
    void theProfileOfARealRunFitsTheTimesThatTheProgramMeasured(String exporter, int products) throws IOException {
        String jar;
        try (Stream<Path> jars = Files.list(JARS)) {
            jar = jars.map(Path::toString).findFirst().orElseThrow();
        }
        ProcessResult result = ChildProcess.java()
                .jvmOptions(List.of("-cp", jar, "src/test/engines/OnnxDecoder.java"))
                .arguments(List.of(folder.toString(), exporter, Integer.toString(RUNS)))
                .run()
                .assertSucceeded();
        String[] measured = result.out().strip().split(" ", 4);
        long allNs = Long.parseLong(measured[0]);
        long firstNs = Long.parseLong(measured[1]);
        // A run in the profile excludes the path through JNI and interruptions of the program there.
        long leastNs = Long.parseLong(measured[2]) / 4;

        TraceProfile all =
                Traces.read(Path.of(measured[3]), ReadOptions.defaults().withKeepWarmup(true));
        TraceProfile warm = Traces.read(Path.of(measured[3]), ReadOptions.defaults());

        assertThat(all.steps()).isEqualTo(RUNS);
        assertThat(all.wallNs()).isBetween(RUNS * leastNs, allNs);
        assertThat(all.wallNs() - warm.wallNs()).isBetween(leastNs, firstNs);
        assertThat(all.snapshot().totalNs()).isBetween(1L, all.wallNs());
        assertThat(warm.snapshot().totalNs() + warm.leftOutNs())
                .isEqualTo(all.snapshot().totalNs());
        assertThat(Omissions.faults(all.omissions())).isEmpty();
        assertThat(all.loading()).hasSize(2);
        long counted = all.snapshot().bricks().stream()
                .filter(OnnxRuntimeIT::isProduct)
                .mapToLong(BrickStats::count)
                .sum();
        assertThat(counted).isEqualTo((long) RUNS * products);
    }

    private static boolean isProduct(BrickStats brick) {
        return brick.category() == BrickCategory.MATRIX_PRODUCT
                || brick.name().endsWith("Projection")
                || List.of("LmHead", "AttentionScore", "AttentionOutput").contains(brick.name());
    }
}
