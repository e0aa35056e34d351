package org.brickprofiler.trace.read;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.brickprofiler.BrickStats;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.StepInfo.Phase;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The steps that serving engines annotate give the kernels of a trace their phases. */
class EngineStepsTest {

    @TempDir
    Path folder;

    @Spec("14.27")
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
        assertThat(EngineSteps.phase(name)).isEqualTo(Optional.ofNullable(expected));
    }

    private static String slice(String category, String name, int tid, int ts, int dur, int correlation) {
        return "{\"ph\":\"X\",\"cat\":\"" + category + "\",\"name\":\"" + name + "\",\"pid\":1,\"tid\":" + tid
                + ",\"ts\":" + ts + ",\"dur\":" + dur + ",\"args\":{\"correlation\":" + correlation + ",\"stream\":7}}";
    }

    /** A kernel runs after its step has ended on the host, or beside the next one: its launch decides. */
    @Spec("14.27")
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
}
