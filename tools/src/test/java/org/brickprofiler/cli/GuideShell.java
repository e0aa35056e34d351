package org.brickprofiler.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
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
import org.brickprofiler.testing.RunningProcess;

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

    /** The demonstration decodes 60 tokens where the page has it decode 300. */
    private static final String TOKENS = "--tokens 60 ";

    /** Fewer runs than the page advises: further runs execute the same code. A verdict needs five runs of each side. */
    private static final String FIVE_RUNS = "(?m)^(brick run )-n 5 ";

    private static final String OTHER_RUNS = "(?m)^(brick run )-n [36] ";

    /**
     * The command {@code brick}. A program to measure runs in a virtual machine of its own, as does the roof, whose
     * working sets end at half of the heap. All other commands run in one virtual machine, {@link Resident}.
     */
    private static final String BRICK = """
            #!/bin/sh
            there=${0%%/*}
            case $1 in
            demo | run) exec %1$s -Xmx128m org.brickprofiler.cli.Brick "$@" ;;
            roofline) exec %1$s -Xmx32m org.brickprofiler.cli.Brick "$@" ;;
            esac
            printf '%%s\n' "$@" > "$there/asked"
            read -r code < "$there/answered"
            cat "$there/out"
            cat "$there/err" >&2
            exit "$code"
            """;

    /** The exit code of a comparison that shows a regression. */
    private static final int REGRESSION = 3;

    private final Path folder;
    private final Path programs;

    /**
     * Makes the command {@code brick}.
     *
     * @param folder the folder of the commands
     */
    GuideShell(Path folder) throws IOException {
        this.folder = folder;
        programs = Files.createDirectory(folder.resolve("bin"));
        String java = "'" + ChildProcess.javaProgram() + "' " + ChildProcess.ONE_COMPILER + " -XX:+UseSerialGC -cp '"
                + absoluteClassPath() + "'";
        Path brick = Files.writeString(programs.resolve("brick"), BRICK.formatted(java));
        Files.setPosixFilePermissions(brick, PosixFilePermissions.fromString("rwxr-xr-x"));
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
        shell("mkfifo bin/asked bin/answered");
        StringBuilder output = new StringBuilder();
        try (RunningProcess resident = ChildProcess.java(Resident.class, absoluteClassPath())
                .arguments(List.of(programs.toString()))
                .in(folder)
                .start()) {
            for (String command : commands) {
                output.append(shell(command).out());
            }
        }
        return output.toString();
    }

    private ProcessResult shell(String command) throws IOException {
        ProcessResult result = ChildProcess.of("sh")
                .arguments(List.of("-e", "-c", command))
                .environment(Map.of("PATH", programs + ":" + System.getenv("PATH")))
                .in(folder)
                .limit(Duration.ofSeconds(100))
                .run();
        // Whether short runs on a busy machine show a regression depends on the machine.
        List<Integer> accepted = command.contains("--fail-on-regression") ? List.of(0, REGRESSION) : List.of(0);
        assertThat(result.exitCode()).as(command + result.err()).isIn(accepted);
        return result;
    }

    /** Runs one command line after the other, each an argument a line, as the command {@code brick} hands them over. */
    static final class Resident {
        private Resident() {}

        public static void main(String[] arguments) throws IOException {
            Path pipes = Path.of(arguments[0]);
            while (true) {
                String[] command =
                        Files.readString(pipes.resolve("asked")).lines().toArray(String[]::new);
                int code;
                try (PrintWriter out = new PrintWriter(Files.newBufferedWriter(pipes.resolve("out")));
                        PrintWriter err = new PrintWriter(Files.newBufferedWriter(pipes.resolve("err")))) {
                    code = Brick.commandLine(command).setOut(out).setErr(err).execute(command);
                }
                Files.writeString(pipes.resolve("answered"), code + "\n");
            }
        }
    }

    private static Stream<String> commands(String chapter) {
        return COMMANDS.matcher(chapter).results().map(block -> block.group(1)
                .replaceAll(FIVE_RUNS, "$1--warmup 0 -n 5 ")
                .replaceAll(OTHER_RUNS, "$1--warmup 0 -n 1 ")
                .replace("--tokens 300 ", TOKENS));
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
