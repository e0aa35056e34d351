package org.brickprofiler.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.cli.ProgramRunner.Program;
import org.brickprofiler.cli.ProgramRunner.RunOutcome;
import org.brickprofiler.cli.SlowerMethods.WithLines;
import org.brickprofiler.compare.Run;
import org.brickprofiler.compare.RunComparison;
import org.brickprofiler.console.MachineWatch;
import org.brickprofiler.internal.base.Plural;
import org.brickprofiler.internal.io.FileMode;
import org.brickprofiler.report.JsonReport;
import org.brickprofiler.trace.LineProfile;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * Runs two commands alternately, and collects and compares their profiles; or runs one command with the profiler on and
 * off.
 */
@Command(
        name = "run",
        sortOptions = false,
        sortSynopsis = false,
        usageHelpWidth = 100,
        // Picocli leaves out the bar between an option and a group that exclude each other.
        customSynopsis = {
            "brick run [-h] [-n=N] [--warmup=N] [--until=PERCENT] [--most=N] [--limit=SECONDS]",
            "                 [--out=FOLDER] [--add] [--lines] [--roofline=ROOF] [--all] [--floor=PERCENT]",
            "                 [--step=BRICK] [--across-environments] [--baseline=NAMES[,NAMES...]]...",
            "                 [--fail-on-regression=PERCENT]",
            "                 (--overhead=CMD | --before=CMD --after=CMD) [--json | --markdown | --html=OUT]"
        },
        description = "Runs two commands alternately in random order, collects the profile that each writes to the "
                + "file named by the variable BRICK_PROFILER_OUT, and compares the profiles. The library writes "
                + "this file when the process ends, so an engine needs no code for it. The variable "
                + "BRICK_PROFILER_PERCENTILES requests percentiles, which a few interrupted samples do not change. "
                + "Each command also runs with BRICK_PROFILER=off, for its tokens per second without profiling. "
                + "The collected runs stay in a folder, also after Ctrl-C.",
        optionListHeading = "%nOptions:%n",
        footerHeading = "%nExamples:%n",
        footer = {
            "  The cost of half the threads:",
            "    brick run -n 10 --before \"brick demo --tokens 200\" \\",
            "        --after \"brick demo --tokens 200 --threads 1\" --across-environments",
            "  Until the runs would show a change of 3 %%, with at most 40 runs per side:",
            "    brick run --until 3 --most 40 --before ./old.sh --after ./new.sh",
            "  Compare the collected runs again:",
            "    brick compare brick-runs/before -- brick-runs/after",
            "  The cost of profiling:",
            "    brick run --overhead \"brick demo --tokens 200\""
        })
final class RunCommand implements Callable<Integer> {

    private static final String BEFORE = "before";
    private static final String AFTER = "after";
    private static final List<String> SIDES = List.of(BEFORE, AFTER);

    /** The suffix of a side's folder for its runs without the profiler. */
    private static final String WITHOUT = "-off";

    private static final String PROFILED = "on";
    private static final String UNPROFILED = "off";

    private static final String WROTE_NONE = "wrote no profile to the file that " + ProgramRunner.VARIABLE + " names";

    private static final String NEEDED =
            ". The library writes it at the end of a process in which a profiler was switched on "
                    + "(enable) and that was not killed";

    /** The fewest runs per side from which {@code --until} can be evaluated. */
    private static final int FEWEST_FOR_UNTIL = 4;

    private static final double NS_PER_S = 1e9;

    /** The largest timeout, about 30 years, which fits a {@code long} of nanoseconds. */
    private static final double MOST_SECONDS = 1e9;

    @Spec
    private CommandSpec spec;

    @ArgGroup(multiplicity = "1")
    private Commands commands = new Commands();

    @Option(names = "-n", paramLabel = "N", description = "Number of runs per side (${DEFAULT-VALUE}).")
    private int runs = 10;

    @Option(
            names = "--warmup",
            paramLabel = "N",
            description = "Number of runs per side before the counted ones (${DEFAULT-VALUE}).")
    private int warmup = 1;

    @Option(
            names = "--until",
            paramLabel = "PERCENT",
            description =
                    "Continue until the runs would show a change of this size, for each brick with 1 %% of the time "
                            + "or more.")
    private @Nullable Double until;

    @Option(
            names = "--most",
            paramLabel = "N",
            description = "With --until: the largest number of runs per side (${DEFAULT-VALUE}).")
    private int most = 50;

    @Option(
            names = "--limit",
            paramLabel = "SECONDS",
            description = "End a run after this time; the run counts as failed (no limit).")
    private @Nullable Double limitSeconds;

    @Option(
            names = "--out",
            paramLabel = "FOLDER",
            description =
                    "The folder for profiles and the output of the commands; it must be new or empty without --add "
                            + "(${DEFAULT-VALUE}).")
    private Path folder = Path.of("brick-runs");

    @Option(
            names = "--add",
            description =
                    "Add runs of the same two commands to the runs in the folder, and compare all of them; --most "
                            + "counts all.")
    private boolean adds;

    @Option(
            names = "--lines",
            description =
                    "Also record the lines of bricks, so that the methods of slower bricks are compared. The runs need "
                            + "the artifact brick-profiler-timeline.")
    private boolean withLines;

    @Option(
            names = "--roofline",
            paramLabel = "ROOF",
            description =
                    "If this file of brick roofline exists, measure the machine for a second with each run, so that "
                            + "brick report detects a change of its speed (${DEFAULT-VALUE}).")
    private Path roof = Path.of(RooflineCommand.USUAL_FILE);

    @Mixin
    private ComparisonOptions options;

    @SuppressWarnings("unused") // picocli reads it
    @Mixin
    private Brick.HelpOption help;

    /** The commands: either two sides, or one command for the overhead. */
    private static final class Commands {
        @ArgGroup(exclusive = false)
        private @Nullable Pair pair;

        @Option(
                names = "--overhead",
                paramLabel = "CMD",
                description =
                        "In place of two sides: run one shell command with its profiler on and off, and print the cost"
                                + " of profiling, in tokens per second if the command reports them, otherwise in wall"
                                + " time.")
        private @Nullable String overhead;
    }

    /** The commands of the two sides; both are required. */
    private static final class Pair {
        @Option(
                names = "--before",
                paramLabel = "CMD",
                required = true,
                description = "The first side: a shell command.")
        private String before = "";

        @Option(
                names = "--after",
                paramLabel = "CMD",
                required = true,
                description = "The second side: a shell command.")
        private String after = "";
    }

    /** Runs the programs; set by {@link #call}. */
    private ProgramRunner runner = new ProgramRunner(null);

    /** The programs by the name of their folder. */
    private final Map<String, Program> programs = new LinkedHashMap<>();

    /** The counted runs of each program. */
    private final Map<String, List<RunOutcome>> collected = new HashMap<>();

    /** The number of the last run in the folder before this command; 0 if there is none. */
    private int lastNumber;

    /** The number of earlier runs in the folder, on the side with fewer runs. */
    private int added;

    private int counted;
    private int failed;
    private int roundsLeft;
    private int leftOfRound;
    private long workNs;
    private int finished;

    @Override
    public Integer call() throws IOException {
        check();
        choosePrograms();
        runner = new ProgramRunner(limitSeconds);
        CollectedRuns there = new CollectedRuns(folder, commandTexts());
        if (adds) {
            there.requireSameCommands();
            lastNumber = there.lastNumber();
            for (String side : SIDES) {
                collected(side).addAll(there.of(side));
            }
            added = SIDES.stream()
                    .mapToInt(side -> collected(side).size())
                    .min()
                    .orElse(0);
        }
        for (Program program : programs.values()) {
            Files.createDirectories(program.files(), FileMode.ofPrivateFolder(program.files()));
        }
        there.noteCommands();
        Thread stopped = new Thread(this::stop, "brick run, stopped");
        Runtime.getRuntime().addShutdownHook(stopped);
        try {
            runAll();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted; the collected runs are in " + folder, e);
        } finally {
            runner.kill();
            Runtime.getRuntime().removeShutdownHook(stopped);
        }
        return result();
    }

    private void check() throws IOException {
        options.check();
        ComparisonOptions.requirePercent("--until", until);
        if (until != null && until <= options.floorPercent()) {
            throw new IllegalArgumentException("--until " + until + " is not above the floor, " + options.floorPercent()
                    + ": no number of runs finds such a change in four of five comparisons; give a larger one, or a"
                    + " lower --floor");
        }
        if (isOverhead() && (until != null || adds || options.isAnySet())) {
            throw new IllegalArgumentException(
                    "--overhead runs one command: it can be combined only with -n, --warmup, --lines, --out and --limit");
        }
        if (limitSeconds != null && !(limitSeconds > 0 && limitSeconds <= MOST_SECONDS)) {
            throw new IllegalArgumentException(
                    "--limit " + limitSeconds + " is not above 0 and at most " + MOST_SECONDS);
        }
        requireAtLeast("-n", runs, 1);
        requireAtLeast("--warmup", warmup, 0);
        requireAtLeast("--most", most, 1);
        if (adds && !Files.isDirectory(folder)) {
            throw new IllegalArgumentException("--add: there is no folder " + folder + " with runs to add to");
        } else if (Files.isDirectory(folder)) {
            try (Stream<Path> there = Files.list(folder)) {
                if (!adds && there.findAny().isPresent()) {
                    throw new IllegalArgumentException(
                            "cannot write to " + folder + ": it is not empty (--add adds runs of the same commands)");
                }
            }
        } else if (Files.exists(folder)) {
            throw new IllegalArgumentException("cannot write to " + folder + ": it is not a folder");
        }
    }

    private static void requireAtLeast(String option, int value, int least) {
        if (value < least) {
            throw new IllegalArgumentException(option + " " + value + " is less than " + least);
        }
    }

    private boolean isOverhead() {
        return commands.overhead != null;
    }

    private void choosePrograms() {
        if (commands.pair != null) {
            add(BEFORE, commands.pair.before, true);
            add(AFTER, commands.pair.after, true);
            add(BEFORE + WITHOUT, commands.pair.before, false);
            add(AFTER + WITHOUT, commands.pair.after, false);
        } else if (commands.overhead != null) {
            add(PROFILED, commands.overhead, true);
            add(UNPROFILED, commands.overhead, false);
        }
    }

    /** Returns the commands by side, as the folder stores them: without their passwords, tokens and keys. */
    private Map<String, String> commandTexts() {
        Map<String, String> texts = new LinkedHashMap<>();
        programs.forEach((name, program) -> {
            if (program.profiled()) {
                texts.put(name, Secrets.masked(program.command()));
            }
        });
        return texts;
    }

    private void add(String name, String command, boolean profiled) {
        programs.put(
                name,
                new Program(command, profiled, profiled && !isOverhead(), profiled && withLines, folder.resolve(name)));
    }

    // ---- the runs ----

    private void runAll() throws IOException, InterruptedException {
        roundsLeft = warmup + (until == null ? runs : Math.max(0, most - added));
        warmUp();
        for (int rounds = 0; !isEnough(rounds); rounds++) {
            round(lastNumber + rounds + 1);
        }
    }

    /** Runs the warm-up, and fails early if a command fails in it, rather than after many runs. */
    private void warmUp() throws IOException, InterruptedException {
        Set<String> failing = new TreeSet<>(programs.keySet());
        for (int left = warmup; left > 0; left--) {
            Map<String, RunOutcome> outcomes = round(0);
            failing.removeIf(name -> {
                RunOutcome outcome = outcomes.get(name);
                return outcome == null || !outcome.failed() || name.endsWith(WITHOUT);
            });
            for (String name : failing) {
                RunOutcome outcome = Objects.requireNonNull(outcomes.get(name), name);
                boolean wroteNone = outcome.failure().equals(WROTE_NONE);
                if (wroteNone || left == 1) {
                    throw new IllegalArgumentException("the command of " + name + " " + outcome.failure()
                            + " in its warm-up, so no counted run was started; its output is in " + outcome.log()
                            + (wroteNone ? NEEDED : ""));
                }
            }
        }
    }

    private boolean isEnough(int rounds) {
        if (until == null) {
            return rounds >= runs;
        }
        if (added + rounds >= most) {
            return true;
        }
        if (SIDES.stream().anyMatch(side -> collected(side).size() < FEWEST_FOR_UNTIL)) {
            return false;
        }
        OptionalDouble smallest = comparison().smallestPercent();
        return smallest.isPresent() && smallest.getAsDouble() <= until;
    }

    private List<RunOutcome> collected(String program) {
        return collected.computeIfAbsent(program, none -> new ArrayList<>());
    }

    /** Runs each program once. Round 0 is a warm-up. */
    private Map<String, RunOutcome> round(int number) throws IOException, InterruptedException {
        List<String> order = new ArrayList<>(programs.keySet());
        Collections.shuffle(order);
        Map<String, RunOutcome> outcomes = new HashMap<>();
        roundsLeft--;
        for (String name : order) {
            leftOfRound = (int) order.stream()
                            .filter(each -> programs.containsKey(each) && !outcomes.containsKey(each))
                            .count()
                    - 1;
            Program program = programs.get(name);
            if (program != null) {
                outcomes.put(name, runOne(name, program, number));
            }
        }
        if (number > 0) {
            for (Map.Entry<String, RunOutcome> entry : outcomes.entrySet()) {
                if (!entry.getValue().failed()) {
                    RunOutcome without = outcomes.get(entry.getKey() + WITHOUT);
                    collected(entry.getKey()).add(beside(entry.getValue(), without));
                }
            }
        }
        return outcomes;
    }

    private RunOutcome runOne(String name, Program program, int number) throws IOException, InterruptedException {
        RunOutcome outcome = runner.run(
                program,
                number == 0 ? "warm-up" : String.format(Locale.ROOT, "%03d", number),
                number > 0 && program.compared() && Files.isRegularFile(roof));
        if (!outcome.failed() && outcome.snapshot().isEmpty() && program.profiled() && !isOverhead()) {
            outcome = new RunOutcome(WROTE_NONE, outcome.file(), Optional.empty(), outcome.elapsedNs(), outcome.log());
        }
        workNs += outcome.elapsedNs();
        finished++;
        if (number == 0) {
            Files.deleteIfExists(outcome.file());
        } else {
            counted++;
            failed += outcome.failed() ? 1 : 0;
        }
        progress(name, number == 0 ? "warm-up" : Integer.toString(number), outcome);
        if (!program.profiled() && !outcome.failed()) {
            checkWithout(outcome.snapshot());
        }
        return outcome;
    }

    /** Ends the runs without the profiler if they cannot give a rate to compare; refuses them in an overhead run. */
    private void checkWithout(Optional<ProfileSnapshot> snapshot) {
        String useless = "";
        if (snapshot.isPresent() && !snapshot.get().bricks().isEmpty()) {
            useless = "the command records bricks although " + ProgramRunner.SWITCH
                    + "=off: its version of the library is older than that switch";
        } else if (!isOverhead() && snapshot.flatMap(RunCommand::tokensPerSec).isEmpty()) {
            useless = "a run without the profiler wrote no tokens per second (setTokensPerSec)";
        }
        if (useless.isEmpty()) {
            return;
        }
        if (isOverhead()) {
            throw new IllegalArgumentException(useless);
        }
        if (programs.keySet().removeIf(name -> name.endsWith(WITHOUT))) {
            Brick.report(spec.commandLine().getErr(), useless + ", so there are no more such runs");
        }
    }

    /** Returns a run of a side, with the tokens per second of the run without its profiler in the same round. */
    private static RunOutcome beside(RunOutcome outcome, @Nullable RunOutcome without) throws IOException {
        Optional<Double> rate =
                without == null ? Optional.empty() : without.snapshot().flatMap(RunCommand::tokensPerSec);
        if (rate.isEmpty() || outcome.snapshot().isEmpty()) {
            return outcome;
        }
        ProfileSnapshot snapshot = outcome.snapshot().get();
        ProfileSnapshot both = snapshot.withFacts(snapshot.facts().withUnprofiledTokensPerSec(rate.get()));
        JsonReport.write(both, outcome.file());
        return new RunOutcome("", outcome.file(), Optional.of(both), outcome.elapsedNs(), outcome.log());
    }

    private static Optional<Double> tokensPerSec(ProfileSnapshot snapshot) {
        OptionalDouble rate = snapshot.facts().tokensPerSec();
        return rate.isPresent() ? Optional.of(rate.getAsDouble()) : Optional.empty();
    }

    /** Stops the runs after Ctrl-C, and prints where the collected runs are. */
    private void stop() {
        runner.stop();
        Brick.report(
                spec.commandLine().getErr(),
                isOverhead()
                        ? "stopped; the collected runs are in " + folder
                        : "stopped; to compare the collected runs: brick compare " + folder.resolve(BEFORE) + " -- "
                                + folder.resolve(AFTER));
    }

    private void progress(String program, String number, RunOutcome outcome) {
        int left = roundsLeft * programs.size() + leftOfRound;
        double leftSeconds = left * (workNs / NS_PER_S) / finished;
        String what = String.format(
                Locale.ROOT,
                "%s %s: %.1f s%s%s, %s",
                program,
                number,
                outcome.elapsedNs() / NS_PER_S,
                machineTimes(outcome),
                outcome.disturbances().isEmpty()
                        ? ""
                        : ", disturbed (" + String.join(", ", outcome.disturbances()) + ")",
                left == 0 ? "the last" : (until == null ? "" : "at most ") + remaining(leftSeconds) + " left");
        PrintWriter err = spec.commandLine().getErr();
        Brick.report(err, what);
        if (outcome.failed()) {
            Brick.report(err, program + " " + number + " " + outcome.failure() + "; its output is in " + outcome.log());
        }
    }

    /** Returns the times of garbage collection and compilation of a run. */
    private static String machineTimes(RunOutcome outcome) {
        return outcome.snapshot().stream()
                .flatMap(snapshot -> snapshot.facts().virtualMachines().stream())
                .findFirst()
                .map(machine -> String.format(
                        Locale.ROOT, ", GC %.1f %%, JIT %.0f %%", machine.gcPercent(), machine.jitPercent()))
                .orElse("");
    }

    private static String remaining(double seconds) {
        return seconds < 100
                ? String.format(Locale.ROOT, "%.0f s", seconds)
                : String.format(Locale.ROOT, "%d min", TimeUnit.SECONDS.toMinutes(Math.round(seconds)) + 1);
    }

    // ---- results ----

    private int result() throws IOException {
        PrintWriter err = spec.commandLine().getErr();
        if (failed > 0) {
            Brick.report(
                    err,
                    failed + " of " + Plural.of(counted, "run") + " failed and " + (failed == 1 ? "is" : "are")
                            + " left out");
        }
        for (String needed : isOverhead() ? List.of(PROFILED, UNPROFILED) : SIDES) {
            if (collected(needed).isEmpty()) {
                Brick.report(err, "no run of " + needed + " " + (isOverhead() ? "ended well" : "left a profile"));
                return CommandLine.ExitCode.SOFTWARE;
            }
        }
        PrintWriter out = spec.commandLine().getOut();
        if (isOverhead()) {
            out.print(new Overhead(collected(PROFILED), collected(UNPROFILED)).text());
            out.flush();
            return CommandLine.ExitCode.OK;
        }
        RunComparison comparison = SlowerMethods.addTo(comparison(), withLines(BEFORE), withLines(AFTER));
        return options.print(comparison, spec.commandLine());
    }

    private RunComparison comparison() {
        List<Run> before = runs(BEFORE);
        List<Run> after = runs(AFTER);
        return RunComparison.of(
                MachineWatch.marked(before, after), MachineWatch.marked(after, before), options.toOptions());
    }

    private List<Run> runs(String side) {
        return collected(side).stream().map(outcome -> run(side, outcome)).toList();
    }

    private static Run run(String side, RunOutcome outcome) {
        return Run.of(
                side + " " + outcome.file().getFileName().toString().replaceFirst("\\.json$", ""),
                outcome.snapshot().orElseThrow());
    }

    private List<WithLines> withLines(String side) throws IOException {
        List<WithLines> runs = new ArrayList<>();
        for (RunOutcome outcome : collected(side)) {
            runs.add(new WithLines(run(side, outcome), LineProfile.ofReport(Files.newInputStream(outcome.file()))));
        }
        return runs;
    }
}
