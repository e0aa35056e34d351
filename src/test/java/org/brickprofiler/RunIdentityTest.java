package org.brickprofiler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.brickprofiler.device.HostStream;
import org.brickprofiler.internal.setting.LaunchSettings;
import org.brickprofiler.report.JsonReport;
import org.brickprofiler.report.TextReport;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;

final class RunIdentityTest {

    private final List<String> faults = new ArrayList<>();

    private RunIdentity launched(Map<String, String> variables) {
        return launched(Map.of(), variables);
    }

    private RunIdentity launched(Map<String, String> properties, Map<String, String> variables) {
        return RunIdentity.of(new LaunchSettings(properties::get, variables::get, faults::add).read());
    }

    private static void assertRank(RunIdentity identity, int rank, int worldSize, int localRank) {
        assertThat(identity.rank()).hasValue(rank);
        assertThat(identity.worldSize()).hasValue(worldSize);
        assertThat(identity.localRank()).hasValue(localRank);
    }

    @Test
    @Spec("23.1")
    void knowsTheLaunchers() {
        RunIdentity torch =
                launched(Map.of("RANK", "9", "WORLD_SIZE", "16", "LOCAL_RANK", "1", "TORCHELASTIC_RUN_ID", "nightly"));
        assertRank(torch, 9, 16, 1);
        assertThat(torch.runId()).hasValue("nightly");

        RunIdentity openMpi = launched(Map.of(
                "OMPI_COMM_WORLD_RANK", "2",
                "OMPI_COMM_WORLD_SIZE", "4",
                "OMPI_COMM_WORLD_LOCAL_RANK", "0",
                "PMIX_NAMESPACE", "prterun-1@1"));
        assertRank(openMpi, 2, 4, 0);
        assertThat(openMpi.runId()).hasValue("prterun-1@1");

        RunIdentity slurm = launched(Map.of(
                "SLURM_PROCID",
                "3",
                "SLURM_NTASKS",
                "8",
                "SLURM_LOCALID",
                "3",
                "SLURM_JOB_ID",
                "77",
                "SLURM_STEP_ID",
                "0"));
        assertRank(slurm, 3, 8, 3);
        assertThat(slurm.runId()).hasValue("77.0");
        assertThat(launched(Map.of("SLURM_JOB_ID", "77")).runId()).hasValue("77");
        assertThat(faults).isEmpty();
    }

    @Test
    @Spec("23.1")
    void theInnermostLauncherCountsAsAWhole() {
        // Slurm starts one launcher of PyTorch's on each of two hosts, which starts eight processes.
        RunIdentity identity = launched(Map.of(
                "RANK",
                "9",
                "WORLD_SIZE",
                "16",
                "SLURM_PROCID",
                "1",
                "SLURM_NTASKS",
                "2",
                "SLURM_LOCALID",
                "0",
                "SLURM_JOB_ID",
                "77",
                "TORCHELASTIC_RUN_ID",
                "none"));

        assertThat(identity.rank()).hasValue(9);
        assertThat(identity.worldSize()).hasValue(16);
        assertThat(identity.localRank()).as("not Slurm's").isEmpty();
        assertThat(identity.runId()).hasValue("77");
        assertThat(faults).isEmpty();
    }

    @Test
    @Spec("23.1")
    void settingsGoBeforeLaunchersAndPropertiesBeforeVariables() {
        RunIdentity identity = launched(
                Map.of("brick.profiler.run_id", "mine", "brick.profiler.model", "llama"),
                Map.of(
                        "BRICK_PROFILER_RUN_ID",
                        "other",
                        "BRICK_PROFILER_RANK",
                        "5",
                        "BRICK_PROFILER_HOST",
                        "h7",
                        "BRICK_PROFILER_DEVICE",
                        "H100",
                        "BRICK_PROFILER_PRECISION",
                        "bf16",
                        "BRICK_PROFILER_COMMIT",
                        "abc",
                        "BRICK_PROFILER_PHASE",
                        "decode",
                        "RANK",
                        "6",
                        "WORLD_SIZE",
                        "8",
                        "SLURM_JOB_ID",
                        "77"));

        assertThat(identity.describe()).isEqualTo("run mine, rank 5 of 8, on h7, H100, llama bf16, commit abc, decode");
        assertThat(faults).isEmpty();
    }

    @Test
    @Spec("23.1")
    void valuesOfTheApplicationComeFirst() {
        RunIdentity found = launched(Map.of("RANK", "6", "WORLD_SIZE", "8", "SLURM_JOB_ID", "77"));
        RunIdentity given = RunIdentity.builder().runId("mine").rank(1).build();

        assertThat(RunIdentity.complete(given, found, faults::add).describe()).startsWith("run mine, rank 1 of 8, on ");
        assertThat(faults).isEmpty();

        RunIdentity beyond = RunIdentity.builder().rank(12).build();
        RunIdentity completed = RunIdentity.complete(beyond, found, faults::add);
        assertThat(completed.rank()).hasValue(12);
        assertThat(completed.worldSize()).isEmpty();
        assertThat(faults).singleElement().asString().contains("rank 12", "world size 8");
    }

    @Test
    @Spec("23.2")
    void impossibleValuesAreNamedAndLeftOut() {
        RunIdentity identity = launched(Map.of("RANK", "eight", "WORLD_SIZE", "-8", "LOCAL_RANK", " "));
        assertThat(identity.rank()).isEmpty();
        assertThat(identity.worldSize()).isEmpty();
        assertThat(faults)
                .containsExactly(
                        "environment variable RANK=eight is not a whole number of 0 or more: left out",
                        "environment variable WORLD_SIZE=-8 is not a whole number of 0 or more: left out");

        faults.clear();
        RunIdentity beyond = launched(Map.of("RANK", "8", "WORLD_SIZE", "8", "BRICK_PROFILER_LOCAL_RANK", "3"));
        assertThat(beyond.rank()).hasValue(8);
        assertThat(beyond.worldSize()).isEmpty();
        assertThat(beyond.localRank()).hasValue(3);
        assertThat(faults).singleElement().asString().contains("WORLD_SIZE=8", "RANK=8");

        faults.clear();
        assertThat(launched(Map.of("RANK", "1", "WORLD_SIZE", "2", "SLURM_PROCID", "0", "SLURM_NTASKS", "2"))
                        .rank())
                .hasValue(1);
        assertThat(faults).singleElement().asString().contains("RANK=1", "SLURM_PROCID=0", "RANK counts");
    }

    @Test
    @Spec("23.1")
    void aProcessWithoutALauncherHasAnIdAndAHost() {
        RunIdentity one = launched(Map.of());
        RunIdentity two = launched(Map.of());

        assertThat(one.runId()).isPresent().isNotEqualTo(two.runId());
        assertThat(one.runId().orElseThrow())
                .matches("[\\w-]+")
                .contains("-" + ProcessHandle.current().pid() + "-");
        assertThat(one.rank()).isEmpty();
        assertThat(one.host()).isPresent();
        RunIdentity first = BrickProfiler.enabled().snapshot().identity();
        assertThat(BrickProfiler.enabled().snapshot().identity().runId())
                .as("of one process")
                .isEqualTo(first.runId());
    }

    @Test
    @Spec("23.3")
    void aSnapshotKnowsItsStepsAndTheirPhaseAndTheDevice() {
        try (HostStream stream = new HostStream()) {
            BrickProfiler profiler = BrickProfiler.builder()
                    .deviceStream(stream)
                    .identity(RunIdentity.builder()
                            .rank(3)
                            .worldSize(8)
                            .model("llama")
                            .build())
                    .build();
            profiler.enable();
            assertThat(profiler.snapshot().identity().firstStep()).isEmpty();
            for (int i = 0; i < 3; i++) {
                profiler.beginStep(StepInfo.decode(1));
                profiler.endPass();
            }
            RunIdentity first = profiler.snapshotAndReset().identity();
            profiler.beginStep(StepInfo.prefill(4));
            profiler.endPass();
            RunIdentity second = profiler.snapshot().identity();

            assertThat(first.describe()).contains("rank 3 of 8", "llama", "decode", "steps 0 to 2");
            assertThat(first.device()).hasValue(stream.deviceName());
            assertThat(second.phase()).hasValue("prefill");
            assertThat(second.firstStep()).hasValue(3);
            assertThat(second.lastStep()).hasValue(3);
        }
    }

    @Test
    @Spec("23.4")
    void mergingKeepsEqualValues() {
        RunIdentity one = RunIdentity.builder()
                .runId("r")
                .rank(0)
                .worldSize(2)
                .model("m")
                .steps(10, 19)
                .window(1)
                .build();
        RunIdentity two = RunIdentity.builder()
                .runId("r")
                .rank(1)
                .worldSize(2)
                .model("m")
                .steps(20, 24)
                .window(1)
                .build();
        RunIdentity other =
                RunIdentity.builder().runId("s").worldSize(2).steps(0, 1).build();

        assertThat(one.common(two))
                .isEqualTo(RunIdentity.builder()
                        .runId("r")
                        .worldSize(2)
                        .model("m")
                        .steps(10, 24)
                        .window(1)
                        .build());
        assertThat(one.common(other))
                .isEqualTo(RunIdentity.builder().worldSize(2).build());
        assertThat(one.common(RunIdentity.NONE)).isEqualTo(RunIdentity.NONE);
    }

    @Test
    @Spec("23.3")
    void reportsShowItInOneLineAndFilesKeepIt() throws Exception {
        RunIdentity identity = RunIdentity.builder()
                .runId("r\n1")
                .rank(0)
                .worldSize(2)
                .localRank(0)
                .host("h")
                .device("d")
                .model("m")
                .precision("int8")
                .commit("c")
                .phase("decode")
                .steps(5, 6)
                .window(7)
                .build();
        ProfileSnapshot snapshot = Samples.snapshot().withIdentity(identity);

        assertThat(JsonReport.fromJson(JsonReport.toJson(snapshot))).isEqualTo(snapshot);
        assertThat(TextReport.render(snapshot))
                .containsPattern(
                        "run +run r.*1, rank 0 of 2, on h, d, m int8, commit c, decode, steps 5 to 6, window 7\n");
        assertThat(JsonReport.fromJson("{\"bricks\":[]}").identity()).isEqualTo(RunIdentity.NONE);
        assertThat(JsonReport.fromJson("{\"identity\":{\"rank\":1,\"future\":[]},\"bricks\":[]}")
                        .identity())
                .isEqualTo(RunIdentity.builder().rank(1).build());
    }

    @Test
    @Spec("23.2")
    void refusesImpossibleValues() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RunIdentity.builder().rank(8).worldSize(8).build())
                .withMessageContaining("rank 8")
                .withMessageContaining("world size 8");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RunIdentity.builder().rank(-1).build())
                .withMessageContaining("-1");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RunIdentity.builder().model("").build())
                .withMessageContaining("model");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RunIdentity.builder().steps(4, 3).build())
                .withMessageContaining("4");
        assertThat(RunIdentity.NONE.toBuilder().build().rank()).isEqualTo(OptionalInt.empty());
        assertThat(RunIdentity.NONE.runId()).isEqualTo(Optional.empty());
    }
}
