package org.brickprofiler.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.brickprofiler.testing.ChildProcess;
import org.brickprofiler.testing.GuidePage;
import org.brickprofiler.testing.ProcessResult;

/**
 * Runs commands of docs/GUIDE.md, but not those of the agent, in a folder and in their order, as a reader would. A part
 * is some chapters of which none needs the files of another part, so that the parts can run side by side.
 */
final class GuideShell {

    /** Parts of the page. */
    enum Part {
        /** A first profile, and the roof of the machine. */
        PROFILE,
        /** Files of other profilers. */
        FILES,
        /** Phases of steps. */
        PHASES,
        /** A service and its requests. */
        REQUESTS,
        /** Slow steps. */
        SLOW_STEPS,
        /** All other chapters: runs of two sides, and their evaluation. */
        COMPARISON;

        private static Part of(String chapter) {
            if (chapter.startsWith("## Profile, and look\n")) {
                return PROFILE;
            }
            if (chapter.startsWith("## Files of other profilers\n")) {
                return FILES;
            }
            if (chapter.startsWith("## Prefill and decode\n")) {
                return PHASES;
            }
            if (chapter.startsWith("## Why was this step slow?\n")) {
                return SLOW_STEPS;
            }
            return chapter.startsWith("## Why was this answer late?\n") ? REQUESTS : COMPARISON;
        }
    }

    private static final Pattern CHAPTER = Pattern.compile("(?m)^(?=## )");
    private static final Pattern COMMANDS = Pattern.compile("(?ms)^```sh\\n(.*?)^```$");

    /** The demonstration decodes as many tokens, where the page has it decode 300. */
    private static final String TOKENS = "--tokens 60 ";

    /** Fewer runs than the page advises: the others take the same way. Five of a side are needed for a verdict. */
    private static final Map<String, String> FEWER_RUNS = Map.of(
            "brick run -n 5 ", "brick run --warmup 0 -n 5 ",
            "brick run -n 6 ", "brick run --warmup 0 -n 1 ",
            "brick run -n 3 ", "brick run --warmup 0 -n 1 ");

    private final Path folder;
    private final String path;

    /**
     * Makes the command {@code brick}.
     *
     * @param folder the folder of the commands
     */
    GuideShell(Path folder) throws IOException {
        this.folder = folder;
        Path programs = Files.createDirectory(folder.resolve("bin"));
        // The working sets of brick roofline end at half of the heap.
        Files.writeString(
                programs.resolve("brick"),
                "#!/bin/sh\nexec '" + Path.of(System.getProperty("java.home"), "bin", "java")
                        + "' -XX:TieredStopAtLevel=1 -Xmx128m -cp \"$BRICK_CLASSES\" org.brickprofiler.cli.Brick \"$@\"\n");
        Files.setPosixFilePermissions(programs.resolve("brick"), PosixFilePermissions.fromString("rwxr-xr-x"));
        path = programs + ":" + System.getenv("PATH");
    }

    /**
     * Runs the commands of a part, each of which has to succeed.
     *
     * @return their output
     */
    String run(Part part, int leastCommands) throws IOException {
        List<String> commands = CHAPTER.splitAsStream(GuidePage.read().others())
                .filter(chapter -> Part.of(chapter) == part)
                .flatMap(GuideShell::commands)
                .toList();
        assertThat(commands).hasSizeGreaterThanOrEqualTo(leastCommands);
        StringBuilder output = new StringBuilder();
        for (String command : commands) {
            ProcessResult result = ChildProcess.of("sh")
                    .arguments(List.of("-e", "-c", command))
                    .environment(Map.of("PATH", path, "BRICK_CLASSES", absoluteClassPath()))
                    .in(folder)
                    .limit(Duration.ofSeconds(100))
                    .run();
            assertThat(result.exitCode()).as(command + result.err()).isZero();
            output.append(result.out());
        }
        return output.toString();
    }

    private static Stream<String> commands(String chapter) {
        return COMMANDS.matcher(chapter).results().map(block -> withFewerRuns(block.group(1))
                .replace("--tokens 300 ", TOKENS));
    }

    private static String withFewerRuns(String command) {
        return FEWER_RUNS.entrySet().stream()
                .filter(fewer -> command.startsWith(fewer.getKey()))
                .map(fewer ->
                        fewer.getValue() + command.substring(fewer.getKey().length()))
                .findFirst()
                .orElse(command);
    }

    private static String absoluteClassPath() {
        String separator = System.getProperty("path.separator");
        return String.join(
                separator,
                Arrays.stream(System.getProperty("java.class.path").split(Pattern.quote(separator)))
                        .map(entry -> Path.of(entry).toAbsolutePath().toString())
                        .toList());
    }
}
