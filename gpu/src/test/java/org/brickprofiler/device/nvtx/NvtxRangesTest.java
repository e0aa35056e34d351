package org.brickprofiler.device.nvtx;

import static java.util.stream.Collectors.counting;
import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.toMap;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.brickprofiler.testing.ChildProcess;
import org.brickprofiler.testing.ProcessResult;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What a tool sees of the bricks of another process. */
class NvtxRangesTest {

    private static ProcessResult ended;
    private static List<String> lines;

    @BeforeAll
    static void runTheEngine() throws Exception {
        ended = ChildProcess.java(NvtxEngine.class)
                .jvmOptions(List.of("--enable-native-access=ALL-UNNAMED"))
                .environment(Map.of(NvtxTool.VARIABLE, StandInTool.build(), "BRICK_PROFILER_NVTX", "on"))
                .run()
                .assertSucceeded();
        lines = ended.out().lines().toList();
    }

    /** Returns the pushes and pops of a thread in a domain, in order, without their numbers. */
    private static List<String> ranges(int thread, int domain) {
        return lines.stream()
                .filter(line -> line.matches("(push|pop) " + thread + " " + domain + "( .*)?"))
                .map(line -> line.replaceFirst(" \\d+ \\d+", ""))
                .toList();
    }

    @Test
    void eachProfilerHasADomainThatRegistersEachNameOnce() {
        assertThat(lines.stream().filter(line -> line.startsWith("domain ")))
                .containsExactly(
                        "domain 1 Brick Profiler",
                        "domain 2 Brick Profiler 2",
                        "domain 3 Brick Profiler 3",
                        "domain 4 Brick Profiler 4",
                        "domain 5 Brick Profiler 5");
        assertThat(lines.stream().filter(line -> line.startsWith("string ")))
                .contains("string 1 QkvProjection", "string 4 outer")
                .doesNotHaveDuplicates();
        assertThat(ended.output()).doesNotContain("error");
    }

    @Test
    void rangesNestLikeStepsLayersAndBricks() {
        assertThat(ranges(1, 1))
                .containsExactly(
                        "push prefill step",
                        "push layer 7",
                        "push FusedAttention",
                        "push QkvProjection",
                        "pop",
                        "push RopeEmbedding",
                        "pop",
                        "push unstopped",
                        "pop",
                        "pop",
                        "pop",
                        "push own",
                        "pop",
                        "pop",
                        "push decode step",
                        "pop",
                        "push FusedAttention",
                        "pop");
    }

    @Test
    void bricksOfADeviceAreRangesOfTheThreadThatEnqueuesThem() {
        assertThat(ranges(1, 2))
                .containsExactly(
                        "push FusedAttention",
                        "pop",
                        "push RopeEmbedding",
                        "pop",
                        "push Sampling",
                        "pop",
                        "push LmHead",
                        "pop");
    }

    @Test
    void theToolSeesTheRecordedBricksInOrderOnEachThread() {
        List<String> expected = lines.stream()
                .filter(line -> line.startsWith("expected "))
                .map(line -> line.substring("expected ".length()))
                .toList();
        assertThat(expected).hasSize(3);
        for (int i = 0; i < expected.size(); i++) {
            assertThat(String.join("; ", ranges(2 + i, 3))).isEqualTo(expected.get(i));
        }
        Map<String, Long> recorded = lines.stream()
                .filter(line -> line.startsWith("count "))
                .map(line -> line.split(" ", -1))
                .collect(toMap(line -> line[1], line -> Long.valueOf(line[2])));
        Map<String, Long> seen = lines.stream()
                .filter(line -> line.matches("push \\d+ 3 \\w+"))
                .collect(groupingBy(line -> line.split(" ", -1)[3], counting()));
        assertThat(recorded).isNotEmpty().isEqualTo(seen);
    }

    @Test
    void aBrickThatDoesNotNestIsLeftOutAndCounted() {
        assertThat(ranges(1, 4))
                .containsExactly(
                        "push outer",
                        "push crossing",
                        "pop",
                        "pop",
                        "push into layer",
                        "push layer 0",
                        "pop",
                        "pop",
                        "push stopped elsewhere",
                        "pop",
                        "push outer",
                        "pop",
                        "push layer 0",
                        "pop",
                        "push outer",
                        "pop");
        assertThat(ended.err())
                .contains("brick 'crossing' has no ranges", "brick 'into layer' has no ranges")
                .contains("brick 'stopped elsewhere' has no ranges", ": 6 bricks had no range of NVTX\n")
                .doesNotContain("'outer'");
    }

    @Test
    void aSeenBrickAllocatesNothing() {
        assertThat(lines).contains("allocated 0");
    }
}
