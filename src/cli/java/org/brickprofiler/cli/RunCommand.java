package org.brickprofiler.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.compare.Comparison;
import org.brickprofiler.compare.Run;
import org.brickprofiler.report.JsonReport;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import picocli.CommandLine;

/** Runs two commands in turns, collects the profiles that they write, and compares them. */
@Command(
        name = "run",
        sortOptions = false,
        sortSynopsis = false,
        usageHelpWidth = 100,
        description = "Runs two commands in turns, in random order, collects the profile that each writes to the file "
                + "named by the variable BRICK_PROFILER_OUT, and compares them. What was collected stays in a folder, "
                + "also after Ctrl-C.",
        optionListHeading = "%nOptions:%n",
        footerHeading = "%nExamples:%n",
        footer = {
            "  What does half the threads cost?",
            "    brick run -n 10 --before \"brick demo --tokens 200\" \\",
            "        --after \"brick demo --tokens 200 --threads 1\" --across-environments",
            "  Until a change of 3 %% would have been found, in 40 runs a side at most:",
            "    brick run --until 3 --most 40 --before ./old.sh --after ./new.sh",
            "  Look again at what was collected:",
            "    brick compare brick-runs/before -- brick-runs/after"
        })
final class RunCommand implements Callable<Integer> {

    /** Where a process finds the file that it is to write its profile to. */
    static final String VARIABLE = "BRICK_PROFILER_OUT";

    private static final Path PROC = Path.of("/proc");

    /** Before nothing can be said of so few runs. */
    private static final int FEWEST_FOR_UNTIL = 4;

    private static final double NS_PER_S = 1e9;

    @Spec
    private CommandSpec spec;

    @Option(names = "--before", paramLabel = "CMD", required = true, description = "The first side: a shell command.")
    private String before = "";

    @Option(names = "--after", paramLabel = "CMD", required = true, description = "The second side: a shell command.")
    private String after = "";

    @Option(names = "-n", paramLabel = "N", description = "Runs a side (${DEFAULT-VALUE}).")
    private int runs = 10;

    @Option(
            names = "--warmup",
            paramLabel = "N",
            description = "Runs a side before those, which do not count (${DEFAULT-VALUE}).")
    private int warmup = 1;

    @Option(
            names = "--until",
            paramLabel = "PERCENT",
            description = "Go on until a change of that size of any brick with 1 %% of the time would have been found.")
    private @Nullable Double until;

    @Option(names = "--most", paramLabel = "N", description = "With --until: most runs a side (${DEFAULT-VALUE}).")
    private int most = 50;

    @Option(
            names = "--out",
            paramLabel = "FOLDER",
            description = "Where profiles and the commands' output go; new or empty (${DEFAULT-VALUE}).")
    private Path folder = Path.of("brick-runs");

    @Mixin
    private ComparisonOptions options;

    @SuppressWarnings("unused") // picocli reads it
    @Mixin
    private Brick.HelpOption help;

    private enum Side {
        BEFORE,
        AFTER;

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /**
     * A run that left a profile.
     *
     * @param run the run
     * @param megahertz of the processors after it
     */
    private record Collected(Run run, OptionalDouble megahertz) {}

    private final Map<Side, List<Collected>> collected = new EnumMap<>(Side.class);
    private final Map<Side, Integer> started = new EnumMap<>(Side.class);
    private int failed;
    private long workNs;
    private int finished;
    private volatile @Nullable Process running;

    @Override
    public Integer call() throws IOException {
        check();
        for (Side side : Side.values()) {
            collected.put(side, new ArrayList<>());
            started.put(side, 0);
            Files.createDirectories(folder.resolve(side.toString()));
        }
        Thread stopped = new Thread(this::stop, "brick run, stopped");
        Runtime.getRuntime().addShutdownHook(stopped);
        try {
            runAll();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted; what was collected is in " + folder, e);
        } finally {
            kill();
            Runtime.getRuntime().removeShutdownHook(stopped);
        }
        return compare();
    }

    private void check() throws IOException {
        options.check();
        ComparisonOptions.requirePercent("--until", until);
        requireAtLeast("-n", runs, 1);
        requireAtLeast("--warmup", warmup, 0);
        requireAtLeast("--most", most, 1);
        if (Files.isDirectory(folder)) {
            try (Stream<Path> there = Files.list(folder)) {
                if (there.findAny().isPresent()) {
                    throw new IllegalArgumentException("cannot write to " + folder + ": it holds something already");
                }
            }
        } else if (Files.exists(folder)) {
            throw new IllegalArgumentException("cannot write to " + folder + ": it is no folder");
        }
    }

    private static void requireAtLeast(String option, int value, int least) {
        if (value < least) {
            throw new IllegalArgumentException(option + " " + value + " is less than " + least);
        }
    }

    private void runAll() throws IOException, InterruptedException {
        List<Side> pair = new ArrayList<>(List.of(Side.values()));
        for (int number = 1; number <= warmup; number++) {
            Collections.shuffle(pair);
            for (Side side : pair) {
                runOne(side, true);
            }
        }
        for (int number = 1; !isEnough(number - 1); number++) {
            Collections.shuffle(pair);
            for (Side side : pair) {
                runOne(side, false);
            }
        }
    }

    private boolean isEnough(int pairs) {
        if (until == null) {
            return pairs >= runs;
        }
        if (pairs >= most) {
            return true;
        }
        boolean any = collected.values().stream().allMatch(side -> side.size() >= FEWEST_FOR_UNTIL);
        if (!any || pairs < FEWEST_FOR_UNTIL) {
            return false;
        }
        OptionalDouble smallest = comparison().smallestPercent();
        return smallest.isPresent() && smallest.getAsDouble() <= until;
    }

    private void runOne(Side side, boolean isWarmup) throws IOException, InterruptedException {
        int number = isWarmup ? 0 : started.merge(side, 1, Integer::sum);
        String name = isWarmup ? "warm-up" : String.format(Locale.ROOT, "%03d", number);
        Path files = folder.resolve(side.toString()).toAbsolutePath();
        // Under a name that is no run's, until the process has ended well.
        Path unfinished = files.resolve("." + name + ".json");
        Path log = files.resolve(name + ".log");
        MachineWatch watch = MachineWatch.begin(PROC);
        long startNs = System.nanoTime();
        int exitCode = execute(side == Side.BEFORE ? before : after, unfinished, log);
        long elapsedNs = System.nanoTime() - startNs;
        workNs += elapsedNs;
        finished++;
        List<String> disturbances = watch.disturbances();
        String outcome = outcome(exitCode, unfinished);
        if (isWarmup) {
            Files.deleteIfExists(unfinished);
        } else if (outcome.isEmpty()) {
            Path file = Files.move(unfinished, files.resolve(name + ".json"), StandardCopyOption.REPLACE_EXISTING);
            ProfileSnapshot snapshot = JsonReport.read(file);
            Run run = new Run(side + " " + number, snapshot, OptionalDouble.empty(), disturbances);
            collected(side).add(new Collected(run, watch.megahertz()));
        } else {
            failed++;
        }
        progress(side, isWarmup ? "warm-up" : Integer.toString(number), elapsedNs, outcome, log, disturbances);
    }

    private List<Collected> collected(Side side) {
        return collected.computeIfAbsent(side, none -> new ArrayList<>());
    }

    /** Why there is no run, in a few words; empty where there is one. */
    private static String outcome(int exitCode, Path profile) {
        if (exitCode != 0) {
            return "failed with exit code " + exitCode;
        }
        if (!Files.isRegularFile(profile)) {
            return "wrote no profile to the file that " + VARIABLE + " names";
        }
        try {
            JsonReport.read(profile);
            return "";
        } catch (IOException unreadable) {
            return "wrote no profile that can be read (" + unreadable.getMessage() + ")";
        }
    }

    private int execute(String command, Path profile, Path log) throws IOException, InterruptedException {
        boolean isWindows = System.getProperty("os.name", "").startsWith("Windows");
        ProcessBuilder builder = isWindows
                ? new ProcessBuilder("cmd", "/c", command)
                : new ProcessBuilder("sh", "-c", command);
        builder.environment().put(VARIABLE, profile.toString());
        Process process = builder.redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        running = process;
        process.getOutputStream().close();
        try {
            return process.waitFor();
        } finally {
            kill();
            running = null;
        }
    }

    /** Ends the process that runs, and what it has started. */
    private void kill() {
        Process process = running;
        if (process != null) {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
    }

    /** After Ctrl-C. */
    private void stop() {
        kill();
        Brick.report(
                spec.commandLine().getErr(),
                "stopped; this compares what was collected: brick compare " + folder.resolve("before") + " -- "
                        + folder.resolve("after"));
    }

    private void progress(
            Side side, String number, long elapsedNs, String outcome, Path log, List<String> disturbances) {
        int pairs = until == null ? runs : most;
        int left = 2 * (warmup + pairs) - finished;
        double leftSeconds = left * (workNs / NS_PER_S) / finished;
        String what = String.format(
                Locale.ROOT,
                "%s %s: %.1f s%s, %s",
                side,
                number,
                elapsedNs / NS_PER_S,
                disturbances.isEmpty() ? "" : ", disturbed (" + String.join(", ", disturbances) + ")",
                left == 0 ? "the last" : (until == null ? "" : "at most ") + remaining(leftSeconds) + " left");
        PrintWriter err = spec.commandLine().getErr();
        Brick.report(err, what);
        if (!outcome.isEmpty()) {
            Brick.report(err, side + " " + number + " " + outcome + "; its output is in " + log);
        }
    }

    private static String remaining(double seconds) {
        return seconds < 100
                ? String.format(Locale.ROOT, "%.0f s", seconds)
                : String.format(Locale.ROOT, "%d min", TimeUnit.SECONDS.toMinutes(Math.round(seconds)) + 1);
    }

    private int compare() throws IOException {
        PrintWriter err = spec.commandLine().getErr();
        if (failed > 0) {
            Brick.report(err, failed + " of " + started.values().stream().mapToInt(Integer::intValue).sum()
                    + " runs failed and are left out");
        }
        for (Side side : Side.values()) {
            if (collected(side).isEmpty()) {
                Brick.report(err, "no run of " + side + " left a profile");
                return CommandLine.ExitCode.SOFTWARE;
            }
        }
        return options.print(comparison(), spec.commandLine().getOut(), err);
    }

    private Comparison comparison() {
        return Comparison.of(runs(Side.BEFORE), runs(Side.AFTER), options.toOptions());
    }

    /** The runs of a side, those at a low frequency marked. */
    private List<Run> runs(Side side) {
        double usual = collected.values().stream()
                .flatMap(List::stream)
                .flatMapToDouble(each -> each.megahertz().stream())
                .max()
                .orElse(0);
        return collected(side).stream().map(each -> slowed(each, usual)).toList();
    }

    private static Run slowed(Collected each, double usualMegahertz) {
        Run run = each.run();
        if (each.megahertz().isEmpty() || each.megahertz().getAsDouble() >= MachineWatch.SLOWED * usualMegahertz) {
            return run;
        }
        List<String> all = new ArrayList<>(run.disturbances());
        all.add(String.format(Locale.ROOT, "%.0f MHz", each.megahertz().getAsDouble()));
        return new Run(run.name(), run.snapshot(), run.tokensPerSec(), all);
    }
}
