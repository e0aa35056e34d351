package org.brickprofiler.trace.read;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.brickprofiler.BrickStats;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.StepInfo.Phase;
import org.brickprofiler.trace.read.Omission.Reason;
import org.brickprofiler.trace.read.TraceProfile.AnnotatedSteps;
import org.brickprofiler.trace.read.TraceProfile.Tokens;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The steps that serving engines annotate give the kernels of a trace their phases. */
class EngineStepsTest {

    @TempDir
    Path folder;

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "execute_8192_context_9(sq8155sk8430sqsq7475785sqsk7671310)_generation_37(sq37sk34489sqsq37sqsk34489) | MIXED",
                "execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk55086sqsq32sqsk55086)                     | DECODE",
                "execute_512_context_2(sq512sk512sqsq0sqsk0)_generation_0(sq0sk0sqsq0sqsk0)                          | PREFILL",
                "execute_context_0(0)_generation_20(20)                                                             | DECODE",
                "execute_0_context_0(sq0sk0)_generation_0(sq0sk0)                                                   |",
                "step[DECODE bs=32]                                                                                 | DECODE",
                "step[EXTEND bs=2 toks=900]                                                                         | PREFILL",
                "step[MIXED bs=3]                                                                                   | MIXED",
                "step[IDLE bs=0]                                                                                    |",
                "execute_model                                                                                      |",
                "execute_1_context_1(sq1)_generation_x(sq1)                                                         |",
            })
    void aNameGivesThePhase(String name, Phase expected) {
        assertThat(EngineSteps.annotation(name).map(EngineSteps.Annotation::phase))
                .isEqualTo(Optional.ofNullable(expected));
    }

    private static String slice(String category, String name, int tid, int ts, int dur, int correlation) {
        return "{\"ph\":\"X\",\"cat\":\"" + category + "\",\"name\":\"" + name + "\",\"pid\":1,\"tid\":" + tid
                + ",\"ts\":" + ts + ",\"dur\":" + dur + ",\"args\":{\"correlation\":" + correlation + ",\"stream\":7}}";
    }

    /** A kernel may run after its step has ended on the host, or during the next step: its launch decides. */
    @Test
    void aKernelHasThePhaseOfTheStepAroundItsLaunch() throws IOException {
        Path file = Files.writeString(
                folder.resolve("trace.json"),
                "{\"schemaVersion\":1,\"traceEvents\":["
                        + String.join(
                                ",",
                                slice("kernel", "rms_norm_kernel", 70, 300, 40, 2),
                                slice("kernel", "rms_norm_kernel", 70, 200, 5, 1),
                                slice("kernel", "rms_norm_kernel", 70, 400, 7, 3),
                                slice("kernel", "rms_norm_kernel", 70, 410, 7, 4),
                                slice("user_annotation", "step[EXTEND bs=1]", 1, 10, 40, -1),
                                slice("user_annotation", "step[DECODE bs=1]", 1, 60, 40, -1),
                                slice("cuda_runtime", "cudaLaunchKernel", 1, 80, 2, 1),
                                slice("cuda_runtime", "cudaLaunchKernel", 1, 20, 2, 2),
                                slice("cuda_runtime", "cudaLaunchKernel", 1, 55, 2, 3),
                                slice("cuda_runtime", "cudaLaunchKernel", 2, 65, 2, 4))
                        + "]}");

        ProfileSnapshot profile = TraceReader.profile(file).snapshot();

        assertThat(profile.bricks(Phase.PREFILL))
                .extracting(BrickStats::totalNs)
                .containsExactly(40_000L);
        assertThat(profile.bricks(Phase.DECODE)).extracting(BrickStats::totalNs).containsExactly(5_000L);
        assertThat(List.of(profile.totalNs(), profile.samples()))
                .as("a launch between the steps, and one on another thread, have no phase")
                .containsExactly(59_000L, 4L);
    }

    private static String graph(String name, int ts, int correlation) {
        return String.join(
                ",",
                slice("user_annotation", name, 1, ts, 40, -1),
                slice("cuda_runtime", "cudaGraphLaunch", 1, ts + 5, 2, correlation),
                slice("kernel", "rms_norm_kernel", 70, ts + 100, 10, correlation),
                slice("kernel", "rms_norm_kernel", 70, ts + 120, 10, correlation));
    }

    /** An annotation of SGLang is nested in vLLM's annotation of the same step; the last step launches no kernel. */
    @Test
    void stepsHaveTheNumbersThatTheirAnnotationsStateAndTheTimeOfTheirKernels() throws IOException {
        String generation = "execute_32_context_0(sq0sk0sqsq0)_generation_4(sq4sk%dsqsq4)";
        Path file = Files.writeString(
                folder.resolve("trace.json"),
                "{\"schemaVersion\":1,\"traceEvents\":["
                        + String.join(
                                ",",
                                graph(generation.formatted(400), 1_000, 1),
                                graph(generation.formatted(404), 2_000, 2),
                                slice("user_annotation", generation.formatted(500), 1, 2_990, 60, -1),
                                graph("step[DECODE bs=4]", 3_000, 3),
                                graph("execute_8_context_1(sq8sk9sqsq8)_generation_0(sq0sk0sqsq0)", 4_000, 4),
                                graph("step[EXTEND bs=2 toks=20]", 5_000, 5),
                                slice("user_annotation", generation.formatted(900), 1, 6_000, 40, -1))
                        + "]}");

        assertThat(TraceReader.profile(file).annotatedSteps())
                .containsExactly(
                        new AnnotatedSteps(
                                Phase.PREFILL,
                                2,
                                60_000,
                                30_000,
                                OptionalLong.of(3),
                                new Tokens(OptionalLong.of(28), OptionalLong.empty(), OptionalLong.empty()),
                                new Tokens(OptionalLong.of(0), OptionalLong.of(0), OptionalLong.empty())),
                        new AnnotatedSteps(
                                Phase.DECODE,
                                3,
                                90_000,
                                30_000,
                                OptionalLong.of(12),
                                new Tokens(OptionalLong.of(0), OptionalLong.of(0), OptionalLong.empty()),
                                new Tokens(OptionalLong.of(12), OptionalLong.of(1_304), OptionalLong.empty())));
        assertThat(TraceReader.profile(file).summary())
                .contains(
                        "steps       prefill: 2 annotated steps of 30.00 us from the first kernel to the last, with 1.5"
                                + " sequences, 14 prompt tokens, on average\n",
                        "decode: 3 annotated steps of 30.00 us from the first kernel to the last, with 4 sequences, 4 decoded"
                                + " tokens over 434.7 positions, on average\n");
    }

    @Test
    void tooManyStepsHaveTheirPhasesButAreNotListed() {
        EngineSteps steps = new EngineSteps();
        EngineSteps.Annotation decode =
                EngineSteps.annotation("step[DECODE bs=1]").orElseThrow();
        for (int i = 0; i < EngineSteps.MOST; i++) {
            steps.count(steps.add(decode), i, i + 1);
        }
        assertThat(steps.list()).extracting(AnnotatedSteps::steps).containsExactly((long) EngineSteps.MOST);

        int further = steps.add(decode);
        steps.count(further, 1, 2);

        assertThat(steps.phase(further)).isEqualTo(Phase.DECODE);
        assertThat(steps.list()).isEmpty();
    }

    /** Beyond the limit, a step remains a step: no other slice of the host is taken for it, nor it for another one. */
    @Test
    void aTraceWithMoreStepsThanAreDistinguishedKeepsPhasesAndModulesAndCountsTheFurtherSteps() throws IOException {
        int further = 5;
        List<String> events = new ArrayList<>();
        for (int i = 0; i < EngineSteps.MOST; i++) {
            events.add(slice("user_annotation", "step[EXTEND bs=1]", 1, 100 * i, 40, -1));
        }
        events.add(slice("python_function", "nn.Module: Model_0", 1, 100 * EngineSteps.MOST, 10_000, -1));
        for (int i = 0; i < further; i++) {
            events.add(graph("step[DECODE bs=1]", 100 * (EngineSteps.MOST + i), i));
            events.add(slice("cuda_runtime", "cudaMemcpyAsync", 1, 100 * (EngineSteps.MOST + i) + 8, 1, 100 + i));
        }
        events.add(graph("step[EXTEND bs=1]", 100 * (EngineSteps.MOST + further), further));
        Path file = Files.writeString(
                folder.resolve("trace.json"),
                "{\"schemaVersion\":1,\"traceEvents\":[" + String.join(",", events) + "]}");

        TraceProfile reading = TraceReader.profile(file);

        assertThat(reading.snapshot().bricks(Phase.DECODE))
                .extracting(BrickStats::count)
                .containsExactly(2L * further);
        assertThat(reading.snapshot().bricks(Phase.PREFILL))
                .extracting(BrickStats::count)
                .containsExactly(2L);
        assertThat(reading.annotatedSteps()).isEmpty();
        assertThat(Omissions.counted(reading)).containsEntry(Reason.FURTHER_STEP, further + 1L);
    }

    /** Counts the pairs of each token with each position that it may see, one by one. */
    @Property(tries = 200)
    void thePairsOfAStepAreThoseOfCausalAttention(
            @ForAll @Size(max = 5) List<@IntRange(min = 1, max = 40) Integer> tokens,
            @ForAll @Size(5) List<@IntRange(max = 40) Integer> cached) {
        long pairs = 0;
        long[] sums = new long[4];
        for (int sequence = 0; sequence < tokens.size(); sequence++) {
            long queries = tokens.get(sequence);
            long keys = cached.get(sequence) + queries;
            for (long query = cached.get(sequence); query < keys; query++) {
                for (long key = 0; key < keys; key++) {
                    pairs += key <= query ? 1 : 0;
                }
            }
            sums[0] += queries;
            sums[1] += keys;
            sums[2] += queries * queries;
            sums[3] += queries * keys;
        }
        String part = "sq%dsk%dsqsq%dsqsk%d".formatted(sums[0], sums[1], sums[2], sums[3]);
        EngineSteps.Annotation step = EngineSteps.annotation(
                        "execute_9_context_%d(%s)_generation_1(sq1sk9sqsq1sqsk9)".formatted(tokens.size(), part))
                .orElseThrow();

        assertThat(step.prompt()).isEqualTo(new EngineSteps.Part(sums[0], sums[1], pairs));
        assertThat(step.decoded()).isEqualTo(new EngineSteps.Part(1, 9, 9));
    }

    /** Sums that no sequences have give no number of pairs. */
    @ParameterizedTest
    @ValueSource(
            strings = {"sq512sk512sqsq0sqsk0", "sq8sk8sqsq64", "sq8sk8", "sq8sk8sqsq64sqsk63", "sq8sk8sqsq63sqsk80", "8"
            })
    void pairsAreUnknownIfTheSumsContradictEachOther(String part) {
        assertThat(EngineSteps.annotation("execute_8_context_1(%s)_generation_0(sq0sk0sqsq0sqsk0)".formatted(part))
                        .orElseThrow()
                        .prompt()
                        .pairs())
                .isNegative();
    }
}
