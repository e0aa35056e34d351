package org.brickprofiler.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.brickprofiler.BrickId;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.report.JsonReport;
import org.brickprofiler.testing.ChildProcess;
import org.brickprofiler.testing.GuidePage;
import org.brickprofiler.testing.OneJdk;
import org.brickprofiler.testing.ProcessResult;
import org.brickprofiler.testing.SourceTree;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** Runs the commands of docs/AGENT.md with its rules, and those of the agent in docs/GUIDE.md, as a reader would. */
@OneJdk
class AgentPageIT {

    private static final Path JAVA = ChildProcess.javaProgram().resolveSibling("");

    @TempDir
    private Path folder;

    /** All commands of a page. */
    private static String commands(String page) {
        return String.join("", blocks("sh", page));
    }

    private static List<String> blocks(String language, String page) {
        return Pattern.compile("(?ms)^```" + language + "\\n(.*?)^```$")
                .matcher(page)
                .results()
                .map(block -> block.group(1))
                .toList();
    }

    private ProcessResult run(String commands) throws IOException {
        Path cli = Path.of(System.getProperty("cli.jar")).toAbsolutePath();
        Files.createSymbolicLink(folder.resolve("engine.jar"), cli);
        Files.createSymbolicLink(
                folder.resolve("brick-profiler-agent.jar"),
                Path.of(System.getProperty("agent.jar")).toAbsolutePath());
        Path programs = Files.createDirectory(folder.resolve("bin"));
        program(programs.resolve("java"), "'" + ChildProcess.javaProgram() + "' " + ChildProcess.ONE_COMPILER);
        program(programs.resolve("brick"), "java -jar '" + cli + "'");
        return ChildProcess.of("sh")
                .arguments(List.of("-e", "-c", commands))
                .environment(Map.of("PATH", programs + ":" + JAVA + ":" + System.getenv("PATH")))
                .without(AgentOptions.OUT_VARIABLE)
                .in(folder)
                .run()
                .assertSucceeded();
    }

    private static void program(Path file, String command) throws IOException {
        Files.writeString(file, "#!/bin/sh\nexec " + command + " \"$@\"\n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    @Test
    @Timeout(120)
    @EnabledOnOs(
            value = {OS.LINUX, OS.MAC},
            disabledReason = "the commands are of a Unix shell")
    void everyCommandOfTheGuideRuns() throws IOException {
        ProcessResult result = run(commands(GuidePage.read().ofTheAgent()));

        assertThat(result.err()).contains("brick agent: 3 of 3 rules apply", "brick agent: recording on ");
        assertThat(result.out())
                .contains("Brick profile\n", "matrix products", "the live report is at http://localhost:");
        // The rules discard twenty steps, which are the demonstration's own warm-up.
        assertThat(JsonReport.read(folder.resolve("run.json")).steps().count()).isEqualTo(300);
        assertThat(JsonReport.read(folder.resolve("ab.json")).facts().unprofiledTokensPerSec())
                .isPresent();
        assertThat(JsonReport.read(folder.resolve("now.json")).bricks()).isNotEmpty();
        assertThat(folder.resolve("run.html")).isNotEmptyFile();
        assertThat(folder.resolve("suggested.yaml")).content().contains("brick: RMS_NORM");
        assertThat(folder.resolve("engine.jfc")).content().contains("org.brickprofiler.demo.Vectors::rmsNorm");
    }

    @Test
    @Timeout(120)
    @EnabledOnOs(
            value = {OS.LINUX, OS.MAC},
            disabledReason = "the commands are of a Unix shell")
    void everyCommandRuns() throws IOException {
        String page = Files.readString(SourceTree.path("docs", "AGENT.md"));
        Files.copy(SourceTree.path("docs", "demo.yaml"), folder.resolve("bricks.yaml"));

        ProcessResult result = run(commands(page));

        assertThat(result.err()).contains("brick agent: 5 of 5 rules apply");
        assertThat(result.out()).contains("Brick profile\n", "matrix products");
        assertThat(folder.resolve("suggested.yaml")).content().contains("brick: RMS_NORM");
        assertThat(folder.resolve("engine.jfc")).content().contains("org.brickprofiler.demo.Vectors::rmsNorm");
        ProfileSnapshot profile = JsonReport.read(folder.resolve("run.json"));
        // Twenty steps of the demonstration's own warm-up and fifty more, less five that the rules discard; two layers.
        assertThat(profile.steps().count()).isEqualTo(65);
        assertThat(profile.brick(BrickId.RMS_NORM.displayName()).orElseThrow().count())
                .isEqualTo(65 * 5);
        assertThat(profile.brick("matrix products").orElseThrow().count()).isEqualTo(65 * 11);
    }
}
