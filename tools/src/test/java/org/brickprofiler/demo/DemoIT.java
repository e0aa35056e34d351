package org.brickprofiler.demo;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.brickprofiler.SyncMode;
import org.brickprofiler.testing.ProcessResult;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** The demonstration end to end, as a person starts it. */
@Timeout(120)
class DemoIT {

    private static final ModelConfig TINY = new ModelConfig(3, 32, 4, 2, 48, 100, 9);
    private static final long TOKENS = 7;

    @TempDir
    Path folder;

    @Test
    void printsTheTablesAndWritesTheJson() throws Exception {
        ProcessResult demo = DemoProcess.run(folder, DemoProcess.TINY);

        assertThat(demo.err()).isEmpty();
        assertThat(demo.exitCode()).isZero();
        assertThat(demo.out())
                .contains("7 tokens in", "tokens/s, after 2 tokens of warm-up", "First tokens: ")
                .contains("RmsNorm", "QkvProjection", "LmHead", "Sampling")
                .contains("Attention", "FFN", "Norm")
                .contains("macro", "midi")
                .contains("JSON: ");
        assertThat(folder.toFile().list()).containsExactly("brick-profile.json");
    }

    @Test
    void theProfileHasTheLinesThatASettingAsksFor() throws Exception {
        ProcessResult demo = DemoProcess.run(folder, List.of(), List.of("-Dbrick.profiler.lines=on"), DemoProcess.TINY);
        assertThat(demo.exitCode()).as(demo.err()).isZero();
        JsonNode lines = new ObjectMapper()
                .readTree(folder.resolve("brick-profile.json").toFile())
                .get("lines");
        assertThat(lines.get("period_ns").asLong()).isEqualTo(20_000_000);
        assertThat(lines.get("missing")).isNull();
    }

    @Test
    void showsNoProgressBarInAPipe() throws Exception {
        ProcessResult demo = DemoProcess.run(folder, DemoProcess.TINY);

        assertThat(demo.out()).doesNotContain("Decoding");
        assertThat(demo.out().replace(System.lineSeparator(), "\n"))
                .doesNotContain("\r")
                .doesNotContain("\u001b");
    }

    @ParameterizedTest
    @EnumSource
    void countsEqualTheFormulaInEveryMode(SyncMode mode) throws Exception {
        ProcessResult demo = DemoProcess.run(folder, with("--sync-mode", mode.name()));
        assertThat(demo.exitCode()).isZero();

        JsonNode json =
                new ObjectMapper().readTree(folder.resolve("brick-profile.json").toFile());
        Map<String, Long> counts = new HashMap<>();
        json.get("bricks")
                .forEach(brick -> counts.put(
                        brick.get("name").asText(), brick.get("count").asLong()));
        Map<String, Long> expected = new HashMap<>();
        Formulas.countsPerPass(TINY.layers())
                .forEach((brick, count) -> expected.put(brick.displayName(), TOKENS * count));
        assertThat(counts).isEqualTo(expected).containsEntry("RmsNorm", TOKENS * (2 * 3 + 1));
        assertThat(json.get("total_tokens").asLong())
                .isEqualTo(counts.values().stream().mapToLong(Long::longValue).sum());
    }

    @Test
    void tilesInTheJsonDoTheOperationsOfTheMatrices() throws Exception {
        DemoProcess.run(folder, DemoProcess.TINY);

        JsonNode tiles = new ObjectMapper()
                .readTree(folder.resolve("brick-profile.json").toFile())
                .get("tiles");
        long flops = TOKENS * Formulas.matrixFlopsPerPass(TINY);
        assertThat(tiles.get(0).get("level").asText()).isEqualTo("macro");
        assertThat(tiles.get(0).get("total_flops").asLong()).isEqualTo(flops);
        assertThat(tiles.get(1).get("level").asText()).isEqualTo("midi");
        assertThat(tiles.get(1).get("total_flops").asLong()).isEqualTo(flops);
    }

    @Test
    void replacesTheJsonOfAnEarlierRun() throws Exception {
        Path json = Files.writeString(folder.resolve("brick-profile.json"), "old");

        assertThat(DemoProcess.run(folder, DemoProcess.TINY).exitCode()).isZero();

        assertThat(new ObjectMapper().readTree(json.toFile()).has("bricks")).isTrue();
    }

    @Test
    void sameSeedGivesTheSameTokensForAnyNumberOfThreads() throws Exception {
        String one = firstTokens(DemoProcess.run(folder, with("--threads", "1")));

        assertThat(firstTokens(DemoProcess.run(folder, with("--threads", "3")))).isEqualTo(one);
        assertThat(firstTokens(DemoProcess.run(folder, with("--seed", "43")))).isNotEqualTo(one);
    }

    @ParameterizedTest
    @CsvSource({
        "--layers, 0, layers 0 is not within",
        "--heads, 5, dim 32 is not divisible by heads 5",
        "--json, missing/out.json, does not exist",
        "--json, ., it is a folder",
        "--tokens, many, Invalid value for option '--tokens'"
    })
    void tellsBadInputInOneLine(String option, String value, String reason) throws Exception {
        assertRefused(DemoProcess.run(folder, with(option, value)), reason);
        assertThat(folder).isEmptyDirectory();
    }

    @Test
    void tellsThatTheOutputFolderIsAFile() throws Exception {
        Files.writeString(folder.resolve("file"), "mine");

        assertRefused(DemoProcess.run(folder, with("--json", "file/out.json")), "file is not a folder");

        assertThat(folder.resolve("file")).hasContent("mine");
    }

    @Test
    @EnabledOnOs(value = OS.LINUX, disabledReason = "needs a folder that not even root can write to")
    void tellsThatTheOutputFolderIsReadOnly() throws Exception {
        assertRefused(DemoProcess.run(folder, with("--json", "/proc/out.json")), "/proc cannot be written to");
    }

    @Test
    void tellsThatTheModelDoesNotQuiteFitTheHeap() throws Exception {
        // 66 MB of weights: they alone would fit, but not beside the memory that a virtual machine needs.
        ProcessResult demo = DemoProcess.run(folder, List.of(), List.of("-Xmx68m"), with("--vocab", "260000"));

        assertRefused(demo, "the model takes 66 MB, too much for a heap of ");
        assertThat(folder).isEmptyDirectory();
    }

    @Test
    @EnabledOnOs(
            value = {OS.LINUX, OS.MAC},
            disabledReason = "needs a shell that limits the size of files")
    void tellsThatTheJsonCouldNotBeWrittenAndLeavesTheOldOne() throws Exception {
        Files.writeString(folder.resolve("brick-profile.json"), "old");
        // As on a full disk, files can be made but nothing can be written to them.
        List<String> withoutSpace = List.of("sh", "-c", "ulimit -f 0 && exec \"$@\"", "sh");
        ProcessResult demo = DemoProcess.run(folder, withoutSpace, List.of(), DemoProcess.TINY);

        assertThat(demo.exitCode()).isEqualTo(2);
        assertThat(demo.err())
                .hasLineCount(1)
                .startsWith("demo: cannot write brick-profile.json: ")
                .containsOnlyOnce("write");
        assertThat(demo.out()).contains("RmsNorm").doesNotContain("JSON: ");
        assertThat(folder.resolve("brick-profile.json")).hasContent("old");
        assertThat(folder.toFile().list()).containsExactly("brick-profile.json");
    }

    @Test
    void tellsWhyThereIsNoDeviceAndDoesNothingElse() throws Exception {
        // Without JCuda's native library there is no device, on any machine.
        List<String> nowhere = List.of(
                "-Djava.library.path=" + folder, "-Djava.io.tmpdir=" + folder, "--enable-native-access=ALL-UNNAMED");
        ProcessResult demo = DemoProcess.run(folder, List.of(), nowhere, with("--device", "cuda"));

        assertThat(demo.exitCode()).isEqualTo(1);
        assertThat(demo.err()).hasLineCount(1).startsWith("demo: CUDA is not available: ");
        assertThat(demo.out()).isEmpty();
        assertThat(folder).isEmptyDirectory();
    }

    private static void assertRefused(ProcessResult demo, String reason) {
        assertThat(demo.exitCode()).isEqualTo(2);
        assertThat(demo.err())
                .hasLineCount(1)
                .startsWith("demo: ")
                .contains(reason)
                .endsWith(System.lineSeparator());
        assertThat(demo.out()).isEmpty();
    }

    private static String firstTokens(ProcessResult demo) {
        return demo.out()
                .lines()
                .filter(line -> line.startsWith("First tokens: "))
                .findFirst()
                .orElseThrow();
    }

    /** The tiny model, with one option set to something else. */
    private static List<String> with(String option, String value) {
        List<String> arguments = new ArrayList<>(DemoProcess.TINY);
        int at = arguments.indexOf(option);
        if (at >= 0) {
            arguments.set(at + 1, value);
        } else {
            arguments.addAll(List.of(option, value));
        }
        return arguments;
    }
}
