package org.brickprofiler.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.brickprofiler.BrickStats;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.report.JsonReport;
import org.brickprofiler.testing.ProcessResult;
import org.brickprofiler.trace.read.ReadOptions;
import org.brickprofiler.trace.read.TraceReader;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The demonstration's timeline, written by a process of its own and read back. */
@Timeout(120)
class DemoTraceIT {

    @TempDir
    Path folder;

    private static Map<String, Long> totals(ProfileSnapshot snapshot) {
        return snapshot.bricks().stream().collect(Collectors.toMap(BrickStats::name, BrickStats::totalNs));
    }

    private static List<String> with(String... more) {
        List<String> arguments = new ArrayList<>(DemoProcess.TINY);
        arguments.addAll(List.of(more));
        return arguments;
    }

    @ParameterizedTest
    @ValueSource(strings = {"pass.pftrace", "pass.json", "pass.json.gz"})
    void theTimelineTellsTheSameAsTheProfile(String file) throws Exception {
        ProcessResult demo = DemoProcess.run(folder, with("--trace", file));

        assertThat(demo.err()).isEmpty();
        assertThat(demo.exitCode()).isZero();
        ProfileSnapshot profile = JsonReport.read(folder.resolve("brick-profile.json"));
        ProfileSnapshot read = TraceReader.profile(
                        folder.resolve(file), ReadOptions.defaults().withKeepWarmup(true))
                .snapshot();
        assertThat(totals(read)).isEqualTo(totals(profile)).containsKey("QkvProjection");
        assertThat(read.totalTokens()).isEqualTo(profile.totalTokens());
    }

    @Test
    void aPropertyWritesTheTimelineOfAProgramThatKnowsNothingOfIt() throws Exception {
        ProcessResult demo =
                DemoProcess.run(folder, List.of(), List.of("-Dbrick.profiler.trace=all.pftrace"), DemoProcess.TINY);

        assertThat(demo.err()).hasLineCount(1).contains("the timeline is in").contains("all.pftrace");
        assertThat(demo.exitCode()).isZero();
        assertThat(folder.resolve("all.pftrace")).isNotEmptyFile();
        ProfileSnapshot read = TraceReader.profile(
                        folder.resolve("all.pftrace"), ReadOptions.defaults().withKeepWarmup(true))
                .snapshot();
        assertThat(read.brick("Sampling").map(BrickStats::count))
                .as("warm-up included")
                .contains(9L);
    }

    @Test
    void aPropertyThatNamesNoTraceIsToldAndChangesNothing() throws Exception {
        ProcessResult demo =
                DemoProcess.run(folder, List.of(), List.of("-Dbrick.profiler.trace=trace.txt"), DemoProcess.TINY);

        assertThat(demo.exitCode()).isZero();
        assertThat(demo.err()).hasLineCount(1).contains("trace.txt");
        assertThat(Files.exists(folder.resolve("trace.txt"))).isFalse();
    }
}
