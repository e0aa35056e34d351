package org.brickprofiler.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.brickprofiler.compare.Comparison;
import org.brickprofiler.compare.Comparison.Kind;
import org.brickprofiler.compare.Comparison.Line;
import org.brickprofiler.internal.io.AtomicFile;
import org.brickprofiler.report.ComparisonReport;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Option;
import picocli.CommandLine;

/** How runs are compared, what of it is printed, and when that is a failure. The fields are filled by picocli. */
final class ComparisonOptions {

    /** The exit code where something is slower than allowed. */
    static final int REGRESSION = 3;

    @ArgGroup
    private @Nullable Form form;

    @Option(
            names = "--floor",
            paramLabel = "PERCENT",
            description = "Changes below that count for nothing (2).")
    private @Nullable Double floor;

    @Option(
            names = "--step",
            paramLabel = "BRICK",
            description = "The brick whose executions are the steps (of those in all runs, the one with the fewest "
                    + "samples).")
    private @Nullable String step;

    @Option(
            names = "--across-environments",
            description = "Compare, although JVM, machine or number of threads differ.")
    private boolean across;

    @Option(
            names = "--fail-on-regression",
            paramLabel = "PERCENT",
            description = "Exit code 3, and a list on the standard error, where anything is slower by so much or more.")
    private @Nullable Double failOn;

    /** One of these, or text. */
    private static final class Form {
        @Option(names = "--json", description = "Print the comparison as JSON.")
        private boolean json;

        @SuppressWarnings("unused") // what is not the one is the other
        @Option(names = "--markdown", description = "Print the comparison as a comment for a pull request.")
        private boolean markdown;

        @Option(
                names = "--html",
                paramLabel = "OUT",
                description = "Write the comparison as one page that opens in a browser, from the disk and without a "
                        + "network.")
        private @Nullable Path html;
    }

    /** A command, in which two dashes stand between the sides: they end no options, and nothing is part of them. */
    static CommandLine commandLine(Callable<Integer> command) {
        return new CommandLine(command).setEndOfOptionsDelimiter("\0").setPosixClusteredShortOptionsAllowed(false);
    }

    /** The second side, which has to be there. */
    static <T> List<T> second(@Nullable List<T> after, String what, CommandLine command) {
        if (after == null) {
            throw new CommandLine.ParameterException(command, "there is no second side: its " + what + " come after --");
        }
        return after;
    }

    /**
     * Checks what can be checked without runs.
     *
     * @throws IllegalArgumentException when a number makes no sense, or the page cannot be written; the message names it
     */
    void check() {
        requirePercent("--floor", floor);
        requirePercent("--fail-on-regression", failOn);
        Path page = page();
        if (page != null) {
            OutputFile.requireWritable(page);
        }
    }

    /** Checks that a run is not what the page would be written over. */
    void requireNoOutput(Path run) throws IOException {
        Path page = page();
        if (page != null) {
            Input.requireOutput(run, page);
        }
    }

    private @Nullable Path page() {
        return form == null ? null : form.html;
    }

    static void requirePercent(String option, @Nullable Double percent) {
        if (percent != null && !(percent >= 0 && percent <= 100)) {
            throw new IllegalArgumentException(option + " " + percent + " is not within 0 to 100");
        }
    }

    /** Whether any of them was given. */
    boolean isAnySet() {
        return form != null || floor != null || step != null || across || failOn != null;
    }

    /** Whether the floor was given. */
    boolean hasFloor() {
        return floor != null;
    }

    /** The options of the comparison. */
    Comparison.Options toOptions() {
        Comparison.Options options = Comparison.Options.defaults().withAcrossEnvironments(across);
        if (floor != null) {
            options = options.withFloorPercent(floor);
        }
        return step == null ? options : options.withStepBrick(step);
    }

    /** Prints a comparison, and says what it means for the exit code. */
    int print(Comparison comparison, CommandLine command) throws IOException {
        PrintWriter out = command.getOut();
        PrintWriter err = command.getErr();
        Path page = page();
        if (page != null) {
            byte[] bytes = ComparisonReport.toHtml(comparison).getBytes(StandardCharsets.UTF_8);
            AtomicFile.write(page, file -> file.write(bytes));
            out.println("HTML: " + page.toAbsolutePath());
        } else if (form == null) {
            out.print(ComparisonReport.toText(comparison));
        } else {
            out.print(form.json ? ComparisonReport.toJson(comparison) : ComparisonReport.toMarkdown(comparison));
        }
        out.flush();
        if (comparison.lines().stream().noneMatch(line -> line.kind() == Kind.BRICK)) {
            Brick.report(err, "no run holds a brick that was recorded");
            return CommandLine.ExitCode.SOFTWARE;
        }
        List<Line> slower = failOn == null ? List.of() : comparison.regressions(failOn);
        if (slower.isEmpty()) {
            return CommandLine.ExitCode.OK;
        }
        err.print(String.format(Locale.ROOT, "brick: slower by %s %% or more:%n", failOn));
        err.print(ComparisonReport.regressions(slower));
        err.flush();
        return REGRESSION;
    }
}
