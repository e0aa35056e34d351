package org.brickprofiler.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.BrickStats;
import org.brickprofiler.report.JsonReport;
import org.brickprofiler.testing.ChildProcess;
import org.brickprofiler.testing.ProcessResult;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** In the plain decoder, the agent's rules count the same as the hand-written calls of the demonstration's decoder. */
class WithoutSourceIT {

    private static final int TOKENS = 40;

    private static final String IN = "  - in: org.brickprofiler.demo.PlainDecoder.forward\n    call: ";

    private static final String RULES = "step:\n  in: org.brickprofiler.demo.PlainDecoder.forward\n  kv: position\n"
            + "layer:\n  in: org.brickprofiler.demo.PlainDecoder.forward\n  from: before rmsNorm 1\n  to: after add 2\n"
            + "bricks:\n"
            + IN + "arraycopy\n    brick: EMBEDDING\n"
            + IN + "rmsNorm\n    brick: RMS_NORM\n"
            + IN + "multiply 1\n    brick: QKV_PROJECTION\n"
            + IN + "rotate\n    brick: ROPE_EMBEDDING\n"
            + IN + "put\n    brick: KV_CACHE_UPDATE\n"
            + IN + "score\n    brick: ATTENTION_SCORE\n"
            + IN + "softmax\n    brick: ATTENTION_SOFTMAX\n"
            + IN + "Attention.output\n    brick: ATTENTION_OUTPUT\n"
            + IN + "multiply 2\n    brick: OUTPUT_PROJECTION\n"
            + IN + "Vectors.add\n    brick: RESIDUAL_ADD\n"
            + IN + "multiply 3\n    brick: GATE_PROJECTION\n"
            + IN + "multiply 4\n    brick: UP_PROJECTION\n"
            + IN + "swiGlu\n    brick: ACTIVATION\n"
            + IN + "multiply 5\n    brick: DOWN_PROJECTION\n"
            + IN + "multiply 6\n    brick: LM_HEAD\n"
            + IN + "sample\n    brick: SAMPLING\n";

    @TempDir
    private Path folder;

    private static String counts(List<BrickStats> bricks) {
        return bricks.stream()
                .collect(Collectors.toMap(
                        BrickStats::name, each -> each.count() + "/" + each.totalElements(), (a, b) -> a, TreeMap::new))
                .toString();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    @Timeout(120)
    void rulesCountTheSameAsCalls(int threads) throws IOException {
        BrickProfiler profiler = BrickProfiler.enabled();
        List<String> tokens = new ArrayList<>();
        try (Decoder decoder = new Decoder(
                PlainDecoder.weights(), PlainDecoder.sampler(), threads, Decoder.Instruments.of(profiler))) {
            int token = DecodeRun.BEGIN_OF_SEQUENCE;
            for (int i = 0; i < TOKENS; i++) {
                token = decoder.decode(token);
                tokens.add(Integer.toString(token));
            }
        }
        Files.writeString(folder.resolve("bricks.yaml"), RULES);

        Path own = Files.createDirectories(folder.resolve("classes/org/brickprofiler/demo"));
        try (InputStream file = PlainDecoder.class.getResourceAsStream("PlainDecoder.class")) {
            Files.copy(Objects.requireNonNull(file), own.resolve("PlainDecoder.class"));
        }
        // Not the class path of the test, on which the agent's own classes are.
        String classPath = folder.resolve("classes")
                + File.pathSeparator
                + Path.of(System.getProperty("cli.jar")).toAbsolutePath();

        ProcessResult result = ChildProcess.java(PlainDecoder.class, classPath)
                .jvmOptions(List.of(
                        "-javaagent:" + Path.of(System.getProperty("agent.jar")).toAbsolutePath() + "=rules="
                                + folder.resolve("bricks.yaml") + ",out=" + folder.resolve("run.json")))
                .arguments(List.of(Integer.toString(TOKENS), Integer.toString(threads)))
                .run()
                .assertSucceeded();

        assertThat(result.err()).contains("brick agent: 18 of 18 rules apply");
        assertThat(result.out().strip().split(" ")).containsExactlyElementsOf(tokens);
        assertThat(counts(JsonReport.read(folder.resolve("run.json")).bricks()))
                .isEqualTo(counts(profiler.allBrickStats()))
                .contains("LmHead=40/40", "RmsNorm=280/280", "ResidualAdd=240/240");
        assertThat(JsonReport.read(folder.resolve("run.json")).steps().count()).isEqualTo(TOKENS);
    }
}
