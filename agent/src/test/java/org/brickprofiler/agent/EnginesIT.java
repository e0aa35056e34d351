package org.brickprofiler.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.BrickStats;
import org.brickprofiler.CategoryStats;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.StepInfo;
import org.brickprofiler.Work;
import org.brickprofiler.report.JsonReport;
import org.brickprofiler.request.Outcome;
import org.brickprofiler.request.RequestRecord;
import org.brickprofiler.request.RequestStats;
import org.brickprofiler.testing.ChildProcess;
import org.brickprofiler.testing.ProcessResult;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Libraries as Maven Central has them, profiled by rules alone. */
@Timeout(120)
class EnginesIT {

    private static final Path ENGINES = Path.of(System.getProperty("engines.folder"));
    private static final Path PROGRAMS = Path.of("src", "test", "engines");

    /** The release of the class files that Jlama consists of. */
    private static final int JLAMA_NEEDS = 20;

    @TempDir
    private Path folder;

    private ProcessResult run(String engine, String program, List<String> options, String rules, String... arguments)
            throws IOException {
        String classPath;
        try (Stream<Path> jars = Files.list(ENGINES.resolve(engine))) {
            classPath = jars.map(Path::toString).sorted().collect(Collectors.joining(File.pathSeparator));
        }
        List<String> all = new ArrayList<>(options);
        all.add("-javaagent:" + System.getProperty("agent.jar") + "=rules=" + rules + ",out="
                + folder.resolve("run.json"));
        all.addAll(List.of("-cp", classPath, PROGRAMS.resolve(program).toString()));
        return ChildProcess.java()
                .jvmOptions(all)
                .arguments(List.of(arguments))
                .run()
                .assertSucceeded();
    }

    /** Decodes with a model of width 64: the number of runs, of threads and of experts. */
    private ProcessResult runJlama(String... further) throws IOException {
        return run(
                "jlama",
                "TinyLlama.java",
                List.of("--add-modules", "jdk.incubator.vector"),
                "jlama",
                Stream.concat(Stream.of(folder.toString(), "64"), Stream.of(further))
                        .toArray(String[]::new));
    }

    private static String counts(ProfileSnapshot profile) {
        return profile.bricks().stream()
                .collect(Collectors.toMap(
                        BrickStats::name, each -> each.count() + "/" + each.totalElements(), (a, b) -> a, TreeMap::new))
                .toString();
    }

    @Test
    void decodesWithJlama() throws IOException {
        assumeTrue(Runtime.version().feature() >= JLAMA_NEEDS, "Jlama needs a later Java");

        ProcessResult result = runJlama("2");

        assertThat(result.err()).contains("brick agent: 27 of 27 rules apply");
        assertThat(result.out().lines()).hasSize(2).allMatch(line -> line.startsWith("prompt 5 generated 32 "));
        ProfileSnapshot profile = JsonReport.read(folder.resolve("run.json"));
        // Two runs, each with a prompt of six tokens, its begin token included, and 32 more tokens; two layers of four
        // heads.
        assertThat(profile.steps().phase(StepInfo.Phase.PREFILL).orElseThrow().count())
                .isEqualTo(2);
        assertThat(profile.steps().phase(StepInfo.Phase.DECODE).orElseThrow().count())
                .isEqualTo(64);
        assertThat(profile.steps().phase(StepInfo.Phase.PREFILL).orElseThrow().prefillTokens())
                .isEqualTo(12);
        assertThat(profile.steps().timeToFirstToken().count()).isEqualTo(2);
        assertThat(profile.steps().timePerOutputToken().count()).isEqualTo(64);
        // Embedding, head and sampling all lie in steps.
        long ofSteps = profile.steps().phases().stream()
                .mapToLong(each -> each.categoryNs().getOrDefault(BrickCategory.OTHER, 0L))
                .sum();
        CategoryStats other = Objects.requireNonNull(profile.categories().get(BrickCategory.OTHER));
        assertThat(ofSteps).isEqualTo(other.totalNs()).isPositive();
        assertThat(counts(profile))
                .isEqualTo(
                        "{Activation=132/152, AttentionOutput=608/608, AttentionScore=608/608, AttentionSoftmax=608/608, "
                                + "DownProjection=132/152, Embedding=66/66, LmHead=66/66, OutputProjection=132/152, "
                                + "QkvProjection=264/304, ResidualAdd=264/304, RmsNorm=330/370, RopeEmbedding=152/152, Sampling=66/66, "
                                + "gate and up projection=132/152}");
        // Each of 76 tokens passes two layers, in which three matrices have 64 x 128 weights, and the head twice 33
        // times.
        assertThat(profile.bricks().stream().filter(each -> each.work().equals(Work.NONE)))
                .isEmpty();
        assertThat(flops(profile, "DownProjection")).isEqualTo(2L * 2 * 76 * 64 * 128);
        assertThat(flops(profile, "gate and up projection")).isEqualTo(2L * 2 * 2 * 76 * 64 * 128);
        assertThat(flops(profile, "QkvProjection")).isEqualTo(2L * 2 * 76 * 64 * 128);
        assertThat(flops(profile, "LmHead")).isEqualTo(2L * 66 * 259 * 64);
        // Position p of 38 attends to p + 1 positions, with each of 64 dimensions.
        assertThat(flops(profile, "AttentionScore")).isEqualTo(2L * 2 * 2 * 64 * (38 * 39 / 2));
    }

    /** Each of 38 tokens takes a router and two of four experts in both layers. */
    @Test
    void decodesAMixtureOfExpertsWithJlama() throws IOException {
        assumeTrue(Runtime.version().feature() >= JLAMA_NEEDS, "Jlama needs a later Java");

        ProcessResult result = runJlama("1", "1", "4");

        assertThat(result.out()).startsWith("prompt 5 generated 32 ");
        ProfileSnapshot profile = JsonReport.read(folder.resolve("run.json"));
        assertThat(counts(profile))
                .contains("MoeExpert=152/152", "MoeRouter=76/76", "OutputProjection=66/76")
                .doesNotContain("DownProjection");
        assertThat(flops(profile, "MoeRouter")).isEqualTo(2L * 76 * 4 * 64);
    }

    private static long flops(ProfileSnapshot profile, String brick) {
        return profile.bricks().stream()
                .filter(each -> each.name().equals(brick))
                .mapToLong(each -> each.work().flops())
                .sum();
    }

    /** One thread generates 32 tokens after the first one, the other 33. */
    @Test
    void tellsConcurrentGenerationsOfJlamaApart() throws Exception {
        assumeTrue(Runtime.version().feature() >= JLAMA_NEEDS, "Jlama needs a later Java");

        ProcessResult result = runJlama("2", "2");

        assertThat(result.out().lines()).hasSize(4);
        RequestStats requests = JsonReport.read(folder.resolve("run.json")).requests();
        assertThat(requests.counts().arrived()).isEqualTo(4);
        assertThat(requests.counts().finished(Outcome.LENGTH)).isEqualTo(4);
        assertThat(requests.counts().ignoredCalls()).isZero();
        assertThat(requests.tokens().prompt()).isEqualTo(4 * 6);
        assertThat(requests.slowestFirstTokens())
                .extracting(RequestRecord::outputTokens)
                .containsExactlyInAnyOrder(33L, 33L, 34L, 34L);
        assertThat(requests.slowestFirstTokens())
                .extracting(RequestRecord::promptTokens)
                .containsOnly(6L);
    }

    /** Two sessions whose profile the agent switches on, of which one stays open, and one with a profile of its own. */
    @Test
    void showsTheOperatorsInsideOfOnnxRuntime() throws IOException {
        ProcessResult result = run(
                "onnxruntime",
                "../../../../readers/src/test/engines/OnnxDecoder.java",
                List.of(),
                "onnx",
                folder.toString(),
                "GENAI",
                "4",
                "without options");

        assertThat(result.err())
                .contains("brick agent: 1 of 8 rules apply")
                .contains("a session of ONNX Runtime has its profile on already, and is left alone")
                .doesNotContain("there is no class", "found no place");
        ProfileSnapshot profile = JsonReport.read(folder.resolve("run.json"));
        assertThat(counts(profile)).isEqualTo("{OrtSession.run=13/13}");
        assertThat(profile.facts().disturbances())
                .anyMatch(
                        remark -> remark.matches(
                                "ONNX Runtime's own profile of session 1 holds 5 of 5 runs; inside of them:"
                                        + " .* %; by operator: .*MatMul.* %.*; brick report .*run-onnx-1_.*json shows its bricks"))
                .anyMatch(remark -> remark.startsWith("ONNX Runtime's own profile of session 2 holds 4 of 4 runs; "))
                .contains("1 session of ONNX Runtime had the profile on already, and was left alone");
        assertThat(Path.of(result.out().strip().split(" ", 4)[3])).exists();
    }

    @Test
    void solvesWithEjml() throws IOException {
        Path rules = folder.resolve("ejml.yaml");
        Files.writeString(rules, """
                bricks:
                  - in: org.ejml.dense.row.mult.MatrixMatrixMult_DDRM.mult_small(DMatrix1Row, DMatrix1Row, DMatrix1Row)
                    brick: product
                    category: MATRIX_PRODUCT
                    elements: arg0.numRows
                  - in: org.ejml.dense.row.decomposition.lu.LUDecompositionAlt_DDRM.decompose
                    from: after decomposeCommonInit
                    to: exit
                    brick: decomposition
                    category: SOLVER
                  - in: org.ejml.dense.row.linsol.lu.LinearSolverLu_DDRM.solve
                    brick: solution
                    category: SOLVER
                """);

        ProcessResult result = run("ejml", "LinearSystems.java", List.of(), rules.toString());

        assertThat(result.out()).isEqualTo("solved" + System.lineSeparator());
        assertThat(result.err()).contains("brick agent: 3 of 3 rules apply");
        assertThat(counts(JsonReport.read(folder.resolve("run.json"))))
                .isEqualTo("{decomposition=50/50, product=50/1000, solution=50/50}");
    }
}
