package org.brickprofiler.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.zip.GZIPInputStream;
import org.brickprofiler.testing.ChildProcess;
import org.brickprofiler.testing.GuidePage;
import org.brickprofiler.testing.ProcessResult;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/**
 * Runs every command of docs/GUIDE.md, but for those of the agent, which AgentPageIT runs, in their order, as a reader
 * would.
 */
class GuideTest {

    private static final Pattern COMMANDS = Pattern.compile("(?ms)^```sh\\n(.*?)^```$");

    @TempDir
    Path folder;

    @Test
    @Timeout(300)
    @EnabledOnOs(
            value = {OS.LINUX, OS.MAC},
            disabledReason = "the commands are of a Unix shell")
    void everyCommandRuns() throws IOException {
        Path programs = Files.createDirectory(folder.resolve("bin"));
        Files.writeString(
                programs.resolve("brick"),
                "#!/bin/sh\nexec '" + Path.of(System.getProperty("java.home"), "bin", "java")
                        + "' -XX:TieredStopAtLevel=1 -Xmx512m -cp \"$BRICK_CLASSES\" org.brickprofiler.cli.Brick \"$@\"\n");
        Files.setPosixFilePermissions(programs.resolve("brick"), PosixFilePermissions.fromString("rwxr-xr-x"));
        List<String> commands = COMMANDS.matcher(GuidePage.read().others())
                .results()
                .map(block -> block.group(1))
                .toList();
        assertThat(commands).hasSizeGreaterThanOrEqualTo(12);
        Files.copy(Cli.TRACES.resolve("tornadovm-invented.json"), folder.resolve("tornadovm.log"));
        try (InputStream packed = Files.newInputStream(Cli.TRACES.resolve("nsight-fsdp-h100.sqlite.gz"))) {
            Files.copy(new GZIPInputStream(packed), folder.resolve("recording.sqlite"));
        }
        StringBuilder output = new StringBuilder();
        for (String command : commands) {
            ProcessResult result = ChildProcess.of("sh")
                    .arguments(List.of("-e", "-c", command))
                    .environment(Map.of(
                            "PATH", programs + ":" + System.getenv("PATH"), "BRICK_CLASSES", absoluteClassPath()))
                    .in(folder)
                    .limit(Duration.ofSeconds(100))
                    .run();
            assertThat(result.exitCode()).as(command + result.err()).isZero();
            output.append(result.out());
        }
        assertThat(output.toString())
                .contains(
                        "Brick profile\n",
                        "Distance to the roof, ",
                        "5 runs before, 5 after: ",
                        "Verdicts are of one test ");
        assertThat(output.toString())
                .contains("With the profiler on, a token takes ", "net total")
                .contains("first layer", "KernelDispatch", "launched in a range: each in the innermost one");
        assertThat(folder.resolve("before.json")).content().contains("\"FusedAttention\"");
        assertThat(folder.resolve("recording.pftrace")).isNotEmptyFile();
        assertThat(folder.resolve("recording.json")).content().contains("\"ranges\"", "\"aten::mm\"");
        assertThat(output.toString()).contains("clock       bricks placed within ");
        assertThat(folder.resolve("run.pftrace")).isNotEmptyFile();
        assertThat(output.toString())
                .containsPattern("2 ranks in 1 run, \\d+ windows?: no straggler was found")
                .contains("Spread over ranks", "rank  brick ");
        assertThat(folder.resolve("fleet.html")).content().contains("\"run_id\":\"laptop\"");
        assertThat(folder.resolve("fleet.md")).content().startsWith("**2 ranks in 1 run");
        assertThat(folder.resolve("comment.md")).content().startsWith("**5 runs before");
    }

    private static String absoluteClassPath() {
        String separator = System.getProperty("path.separator");
        return String.join(
                separator,
                Pattern.compile(Pattern.quote(separator))
                        .splitAsStream(System.getProperty("java.class.path"))
                        .map(entry -> Path.of(entry).toAbsolutePath().toString())
                        .toList());
    }
}
