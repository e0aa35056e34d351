package org.brickprofiler.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.brickprofiler.compare.ComparisonReport;
import org.brickprofiler.compare.RunComparison;
import org.brickprofiler.compare.RunComparison.Kind;
import org.brickprofiler.compare.RunComparison.Line;
import org.brickprofiler.compare.RunComparison.Verdict;
import org.brickprofiler.console.OutputFile;
import org.brickprofiler.console.Terminal;
import org.brickprofiler.internal.base.PlainText;
import org.brickprofiler.internal.io.AtomicFile;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Option;

/** The options of commands that compare runs: method, output, and condition of failure. Picocli sets the fields. */
final class ComparisonOptions {

    /** The exit code for a regression beyond the limit. */
    static final int REGRESSION = 3;

    /** The exit code if nothing could be compared, so that regressions are unknown. */
    static final int NO_VERDICT = 4;

    /** Bricks below this share of the time, %, are not listed if the runs could show only large changes of them. */
    private static final double LEAST_SHARE_PERCENT = 1;

    /** The number of lines that are listed by name if many cannot be compared. */
    private static final int MOST_NAMED = 5;

    @ArgGroup
    private @Nullable Form form;

    @Option(
            names = "--all",
            description =
                    "List every line, and explain the columns; otherwise lines without a change are only counted.")
    private boolean all;

    @Option(names = "--floor", paramLabel = "PERCENT", description = "Ignore smaller changes (2).")
    private @Nullable Double floor;

    @Option(
            names = "--step",
            paramLabel = "BRICK",
            description =
                    "The brick whose executions are the steps (the brick with the fewest samples among those in all "
                            + "runs).")
    private @Nullable String step;

    @Option(names = "--across-environments", description = "Compare even if JVM, machine or number of threads differ.")
    private boolean across;

    @Option(
            names = "--baseline",
            paramLabel = "NAMES",
            split = ",",
            description =
                    "Bricks that the change cannot affect, separated by commas: the others are compared relative to "
                            + "these bricks instead of to all. For a change that affects many bricks.")
    private List<String> baseline = List.of();

    @Option(
            names = "--fail-on-regression",
            paramLabel = "PERCENT",
            description =
                    "Exit with code 3, and a list on the standard error, if anything is slower by this much or more; "
                            + "with 4 if nothing could be compared.")
    private @Nullable Double failOn;

    /** Output formats that exclude each other; the default is text. */
    private static final class Form {
        @Option(names = "--json", description = "Print the comparison as JSON.")
        private boolean json;

        @SuppressWarnings("unused") // picocli reads it; it applies if neither of the others is set
        @Option(names = "--markdown", description = "Print the comparison as a comment for a pull request.")
        private boolean markdown;

        @Option(
                names = "--html",
                paramLabel = "OUT",
                description = "Write the comparison as one page that a browser opens from the disk, without a network.")
        private @Nullable Path html;
    }

    /** Returns a command line in which {@code --} separates the two sides, instead of ending the options as usual. */
    static CommandLine commandLine(Callable<Integer> command) {
        return new CommandLine(command).setEndOfOptionsDelimiter("\0").setPosixClusteredShortOptionsAllowed(false);
    }

    /** Returns the second side, and refuses a command line without it. */
    static <T> List<T> second(@Nullable List<T> after, String what, CommandLine command) {
        if (after == null) {
            throw new CommandLine.ParameterException(
                    command, "the second side is missing: write its " + what + " after --");
        }
        return after;
    }

    /**
     * Checks the options before runs are read.
     *
     * @throws IllegalArgumentException when a number is invalid, or the page cannot be written; the message names the
     *     number or the file
     */
    void check() {
        requirePercent("--floor", floor);
        requirePercent("--fail-on-regression", failOn);
        Path page = page();
        if (page != null) {
            OutputFile.requireWritable(page);
        }
    }

    /** Checks that the page would not overwrite a run. */
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

    /** Returns whether any option was given. */
    boolean isAnySet() {
        return form != null || all || floor != null || step != null || across || !baseline.isEmpty() || failOn != null;
    }

    /** Returns the floor of the comparison, %. */
    double floorPercent() {
        return toOptions().floorPercent();
    }

    /** Returns whether the floor was given. */
    boolean hasFloor() {
        return floor != null;
    }

    /** Returns the options of the comparison. */
    RunComparison.Options toOptions() {
        RunComparison.Options options =
                RunComparison.Options.defaults().withAcrossEnvironments(across).withBaseline(baseline);
        if (floor != null) {
            options = options.withFloorPercent(floor);
        }
        return step == null ? options : options.withStepBrick(step);
    }

    /** Prints a comparison and returns the exit code. */
    int print(RunComparison comparison, CommandLine command) throws IOException {
        PrintWriter out = command.getOut();
        PrintWriter err = command.getErr();
        Path page = page();
        if (page != null) {
            byte[] bytes = ComparisonReport.toHtml(comparison).getBytes(StandardCharsets.UTF_8);
            AtomicFile.write(page, file -> file.write(bytes));
            out.println(Terminal.shown("HTML: " + page.toAbsolutePath()));
        } else if (form == null) {
            out.print(all ? ComparisonReport.toText(comparison) : ComparisonReport.toBriefText(comparison));
        } else {
            out.print(Terminal.shown(
                    form.json ? ComparisonReport.toJson(comparison) : ComparisonReport.toMarkdown(comparison)));
        }
        out.flush();
        if (comparison.lines().stream().noneMatch(line -> line.kind() == Kind.BRICK)) {
            Brick.report(err, "no run holds a brick that was recorded");
            return CommandLine.ExitCode.SOFTWARE;
        }
        return failOn == null ? CommandLine.ExitCode.OK : failOnRegression(comparison, failOn, err);
    }

    /**
     * Prints the shares of recordings without times, and returns the exit code.
     *
     * @param shares the text
     * @param command the command
     * @throws IllegalArgumentException when an option is for times; the message names it
     */
    int printShares(String shares, CommandLine command) {
        if (form != null || all || floor != null || step != null || !baseline.isEmpty()) {
            throw new IllegalArgumentException(
                    "--json, --markdown, --html, --all, --floor, --step and --baseline are for"
                            + " the times of bricks, which recordings without bricks do not have");
        }
        command.getOut().print(Terminal.shown(shares));
        command.getOut().flush();
        if (failOn == null) {
            return CommandLine.ExitCode.OK;
        }
        Brick.report(command.getErr(), "regressions are unknown: " + FrameComparison.NO_VERDICT);
        return NO_VERDICT;
    }

    /** Reports regressions, and each line that may hide one. */
    private static int failOnRegression(RunComparison comparison, double percent, PrintWriter err) {
        List<Line> lines = comparison.lines().stream()
                .filter(line -> line.kind() != Kind.COMMON && line.verdict() != Verdict.NOT_TESTED)
                .toList();
        List<Line> notJudged =
                lines.stream().filter(line -> line.probability().isEmpty()).toList();
        if (notJudged.size() == lines.size()) {
            Brick.report(err, "no line could be compared, so regressions are unknown: " + reasons(notJudged));
            return NO_VERDICT;
        }
        if (!notJudged.isEmpty()) {
            Brick.report(
                    err,
                    notJudged.size() + " of " + lines.size() + " lines could not be compared, so their regressions are "
                            + "unknown: " + reasons(notJudged));
        }
        List<Line> coarse = lines.stream()
                .filter(line -> line.verdict() == Verdict.NO_DIFFERENCE
                        && line.sharePercent() >= LEAST_SHARE_PERCENT
                        && line.smallestPercent().orElse(0) > percent)
                .toList();
        double floor = comparison.options().floorPercent();
        if (percent > 0 && percent < floor) {
            Brick.report(
                    err,
                    String.format(
                            Locale.ROOT,
                            "a regression of %s %% is below the floor: changes below %s %% count for nothing",
                            percent,
                            floor));
        } else if (percent >= floor && !coarse.isEmpty()) {
            Brick.report(
                    err,
                    String.format(
                            Locale.ROOT,
                            "a regression of %s %% may have gone unnoticed in %d of %d lines: %s",
                            percent,
                            coarse.size(),
                            lines.size(),
                            named(
                                    coarse,
                                    line -> String.format(
                                            Locale.ROOT,
                                            "%s (shown from %.1f %%)",
                                            line.name(),
                                            line.smallestPercent().orElseThrow()))));
        }
        List<Line> slower = comparison.regressions(percent);
        if (slower.isEmpty()) {
            return CommandLine.ExitCode.OK;
        }
        err.print(String.format(Locale.ROOT, "brick: slower by %s %% or more:%n", percent));
        err.print(ComparisonReport.regressions(slower));
        err.flush();
        return REGRESSION;
    }

    private static String reasons(List<Line> lines) {
        return named(
                lines,
                line -> line.name() + " (" + line.verdict().displayName()
                        + (line.note().isEmpty() ? "" : ": " + line.note()) + ")");
    }

    private static String named(List<Line> lines, Function<Line, String> name) {
        return PlainText.ascii(lines.stream().limit(MOST_NAMED).map(name).collect(Collectors.joining(", ")))
                + (lines.size() > MOST_NAMED ? " and " + (lines.size() - MOST_NAMED) + " more" : "");
    }
}
