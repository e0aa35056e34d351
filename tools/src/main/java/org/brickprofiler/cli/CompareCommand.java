package org.brickprofiler.cli;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.cli.SlowerMethods.WithLines;
import org.brickprofiler.compare.Run;
import org.brickprofiler.compare.RunComparison;
import org.brickprofiler.console.MachineWatch;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Compares the runs in two sets of files. */
@Command(
        name = "compare",
        sortOptions = false,
        sortSynopsis = false,
        usageHelpWidth = 100,
        customSynopsis = "brick compare [OPTIONS] BEFORE... -- AFTER... [OPTIONS]",
        description = "Prints the bricks that changed between two sets of runs, how certain each change is, and the "
                + "smallest change that the runs could have shown. Each file is one run of one process; brick run "
                + "collects ten or more runs per side, in alternation.",
        parameterListHeading = "%nRuns:%n",
        optionListHeading = "%nOptions:%n",
        footerHeading = "%nExamples:%n",
        footer = {
            "  The effect of an edit:",
            "    brick compare before/ -- after/",
            "  A comment for a pull request, and a failing build if anything is 5 %% slower:",
            "    brick compare before/*.json -- after/*.json --markdown --fail-on-regression 5",
            "  A page to read and to share:",
            "    brick compare before/ -- after/ --html comparison.html",
            "  The shares of two recordings of Jlama that ran without the agent:",
            "    brick compare before.jfr -- after.jfr --agent-rules jlama",
            "  With a floor from runs of the same code:",
            "    brick compare before/ -- after/ --aa same/"
        })
final class CompareCommand implements Callable<Integer> {

    /** The endings of the files of runs. */
    private static final List<String> ENDINGS = List.of(".json", ".json.gz", ".pftrace", ".perfetto-trace", ".sqlite");

    private static final String ANY = "*?[{";

    @Spec
    private CommandSpec spec;

    @Parameters(
            paramLabel = "BEFORE",
            arity = "1..*",
            description = "JSON reports, traces, folders of them, or patterns such as 'before/*.json'. After the two "
                    + "dashes, the same for the other side.")
    private List<String> before;

    @Option(names = "--", paramLabel = "AFTER", arity = "1..*", hidden = true)
    private @Nullable List<String> after;

    @Option(
            names = "--aa",
            paramLabel = "SAME",
            arity = "1..*",
            description =
                    "Four or more runs of the same code: changes that are usual among them are ignored, in place of "
                            + "--floor.")
    private @Nullable List<String> same;

    @Mixin
    private ComparisonOptions options;

    @Mixin
    private TraceOptions traceOptions;

    @SuppressWarnings("unused") // picocli reads it
    @Mixin
    private Brick.HelpOption help;

    @Override
    public Integer call() throws IOException {
        options.check();
        List<String> others = ComparisonOptions.second(after, "runs", spec.commandLine());
        if (same != null && options.hasFloor()) {
            throw new CommandLine.ParameterException(spec.commandLine(), "--aa excludes --floor");
        }
        Map<Object, Path> known = new HashMap<>();
        List<WithLines> firstWithLines = runs(before, known);
        List<WithLines> secondWithLines = runs(others, known);
        if (Stream.concat(firstWithLines.stream(), secondWithLines.stream()).anyMatch(FrameComparison::isFor)) {
            if (same != null) {
                throw new IllegalArgumentException(
                        "--aa is for the times of bricks, which recordings without bricks do" + " not have");
            }
            return options.printShares(FrameComparison.of(firstWithLines, secondWithLines), spec.commandLine());
        }
        List<Run> first = firstWithLines.stream().map(WithLines::run).toList();
        List<Run> second = secondWithLines.stream().map(WithLines::run).toList();
        RunComparison.Options how = options.toOptions();
        if (same != null) {
            how = how.withFloorPercent(RunComparison.noiseFloorPercent(
                    runs(same, new HashMap<>()).stream().map(WithLines::run).toList(), how));
        }
        RunComparison comparison =
                RunComparison.of(MachineWatch.marked(first, second), MachineWatch.marked(second, first), how);
        return options.print(SlowerMethods.addTo(comparison, firstWithLines, secondWithLines), spec.commandLine());
    }

    private List<WithLines> runs(List<String> arguments, Map<Object, Path> known) throws IOException {
        List<WithLines> runs = new ArrayList<>();
        for (String argument : arguments) {
            for (Path file : files(argument)) {
                options.requireNoOutput(file);
                ProfileInput input = ProfileInput.read(file, traceOptions).requireWholeRun("compared");
                ProfileSnapshot snapshot = input.snapshot();
                // Profiles without bricks are alike.
                Object content = input.isByFrames() ? input.lines().orElseThrow() : snapshot;
                @Nullable Path twin = known.put(content, file);
                if (twin != null) {
                    throw new IllegalArgumentException(
                            file + " contains the same run as " + twin + ": give each run only once");
                }
                runs.add(new WithLines(Run.of(file.toString(), snapshot), input.lines()));
            }
        }
        return runs;
    }

    /** Returns the files of an argument, in order of their names. */
    private static List<Path> files(String argument) throws IOException {
        int pattern = argument.lastIndexOf('/') + 1;
        boolean isPattern = argument.substring(pattern).chars().anyMatch(character -> ANY.indexOf(character) >= 0);
        if (isPattern && !isThere(argument)) {
            Path folder = Path.of(argument.substring(0, pattern).isEmpty() ? "." : argument.substring(0, pattern));
            List<Path> found = new ArrayList<>();
            if (Files.isDirectory(folder)) {
                try (DirectoryStream<Path> matching = Files.newDirectoryStream(folder, argument.substring(pattern))) {
                    matching.forEach(file -> found.add(pattern == 0 ? file.getFileName() : file));
                }
            }
            return sorted(argument, found.stream());
        }
        Path path = Path.of(argument);
        if (!Files.isDirectory(path)) {
            return List.of(Input.required(path));
        }
        try (Stream<Path> files = Files.list(path)) {
            return sorted(argument, files.filter(CompareCommand::mayBeRun));
        }
    }

    private static boolean isThere(String argument) {
        try {
            return Files.exists(Path.of(argument));
        } catch (InvalidPathException patternOnly) {
            return false;
        }
    }

    private static boolean mayBeRun(Path file) {
        String name = file.getFileName().toString().toLowerCase(Locale.ROOT);
        return !name.startsWith(".") && ENDINGS.stream().anyMatch(name::endsWith) && Files.isRegularFile(file);
    }

    private static List<Path> sorted(String argument, Stream<Path> files) throws IOException {
        List<Path> sorted = files.sorted().toList();
        if (sorted.isEmpty()) {
            throw new IOException("cannot read " + argument + ": it holds no run (" + String.join(", ", ENDINGS) + ")");
        }
        return sorted;
    }
}
