package org.brickprofiler.compare;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.brickprofiler.cli.Brick;
import org.brickprofiler.compare.RunComparison.Kind;
import org.brickprofiler.compare.RunComparison.Line;
import org.brickprofiler.compare.RunComparison.Options;
import org.brickprofiler.compare.RunComparison.Verdict;
import org.brickprofiler.report.JsonReport;
import org.brickprofiler.testing.ChildProcess;

/**
 * Comparisons of real processes: of the demonstration with identical code, and with one brick that is slower by 5 %.
 * Arguments: a folder for the runs (target/process-study), and after how many seconds to stop (none); started again
 * with the same folder, it goes on.
 *
 * <p>There is one pool of {@value #SAME} runs of the same code, and one of {@value #SLOWER} slower ones; which is next
 * is drawn by chance. In each of {@value #SHUFFLES} shuffles the pool of the same code is cut into as many comparisons
 * of {@value #SIDE} against {@value #SIDE} as it holds, so that those of one shuffle share no run. Comparisons of
 * different shuffles do, and so are not independent: all of them together show whether any mixture of these runs raises
 * an alarm. The slower runs are shuffled and compared in the same way with others of the first pool.
 */
public final class ProcessStudy {

    private static final int SAME = 60;
    private static final int SLOWER = 20;
    private static final int SIDE = 10;
    private static final int SHUFFLES = 20;
    private static final long SEED = 1;

    private static final String CHANGED = "DownProjection";

    /** Short, and long enough for the compiler to have done its work before the measured part. */
    private static final List<String> RUN = List.of(
            "demo",
            "--layers",
            "2",
            "--dim",
            "128",
            "--ffn",
            "384",
            "--vocab",
            "2000",
            "--warmup",
            "1000",
            "--tokens",
            "300",
            "--threads",
            "1",
            "--no-tiles");

    private final Path folder;

    private ProcessStudy(Path folder) {
        this.folder = folder;
    }

    /**
     * Runs the study, or a part of it.
     *
     * @param args see the class
     * @throws IOException when a process or a file fails
     */
    public static void main(String[] args) throws IOException {
        Path folder = Path.of(args.length > 0 ? args[0] : "target/process-study");
        long limitNs = args.length > 1 ? TimeUnit.SECONDS.toNanos(Long.parseLong(args[1])) : Long.MAX_VALUE;
        ProcessStudy study = new ProcessStudy(folder);
        if (study.collect(limitNs)) {
            study.compareSame();
            study.compareSlower();
        }
    }

    // ---- the runs ----

    private boolean collect(long limitNs) throws IOException {
        long startNs = System.nanoTime();
        Random random = new Random();
        while (true) {
            int same = SAME - files("same").size();
            int slower = SLOWER - files("slower").size();
            if (same + slower <= 0) {
                return true;
            }
            if (System.nanoTime() - startNs > limitNs) {
                System.out.printf("%d runs are left; started again, the study goes on%n", same + slower);
                return false;
            }
            boolean isSame = random.nextInt(same + slower) < same;
            run(isSame ? "same" : "slower", isSame ? List.of() : List.of("--waste", CHANGED + "=5"));
        }
    }

    private List<Path> files(String pool) throws IOException {
        Path runs = Files.createDirectories(folder.resolve(pool));
        try (Stream<Path> files = Files.list(runs)) {
            return files.filter(file -> file.toString().endsWith(".json"))
                    .sorted()
                    .toList();
        }
    }

    private void run(String pool, List<String> more) throws IOException {
        Path unfinished = folder.resolve("unfinished").toAbsolutePath();
        ChildProcess.java(Brick.class)
                .arguments(Stream.concat(RUN.stream(), more.stream()).toList())
                .environment(Map.of("BRICK_PROFILER_OUT", unfinished.toString()))
                .run()
                .assertSucceeded();
        String name = String.format(Locale.ROOT, "%03d.json", files(pool).size() + 1);
        Files.move(unfinished, folder.resolve(pool).resolve(name));
    }

    // ---- results ----

    private List<Run> pool(String name) throws IOException {
        List<Run> runs = new ArrayList<>();
        for (Path file : files(name)) {
            runs.add(Run.of(name + "/" + file.getFileName(), JsonReport.read(file)));
        }
        return runs;
    }

    private void compareSame() throws IOException {
        List<Run> pool = pool("same");
        Random random = new Random(SEED);
        List<Line> alarms = new ArrayList<>();
        int comparisons = 0;
        int withAlarm = 0;
        for (int shuffle = 0; shuffle < SHUFFLES; shuffle++) {
            Collections.shuffle(pool, random);
            for (int from = 0; from + 2 * SIDE <= pool.size(); from += 2 * SIDE) {
                List<Line> found = found(pool.subList(from, from + SIDE), pool.subList(from + SIDE, from + 2 * SIDE));
                comparisons++;
                withAlarm += found.isEmpty() ? 0 : 1;
                alarms.addAll(found);
            }
        }
        RunComparison all =
                RunComparison.of(pool.subList(0, SAME / 2), pool.subList(SAME / 2, SAME), Options.defaults());
        System.out.println("spread between processes, %: "
                + all.lines().stream()
                        .filter(line -> line.kind() == Kind.BRICK)
                        .map(line -> String.format(
                                Locale.ROOT,
                                "%s %.1f",
                                line.name(),
                                line.before().orElseThrow().spreadPercent()))
                        .collect(Collectors.joining(", ")));
        System.out.printf("same code: %d of %d comparisons raise a false alarm%n", withAlarm, comparisons);
        alarms.forEach(line -> System.out.println("  " + describe(line)));
    }

    private void compareSlower() throws IOException {
        List<Run> same = pool("same");
        List<Run> slower = pool("slower");
        Random random = new Random(SEED);
        int comparisons = 0;
        int withFinding = 0;
        List<Line> others = new ArrayList<>();
        for (int shuffle = 0; shuffle < SHUFFLES; shuffle++) {
            Collections.shuffle(same, random);
            Collections.shuffle(slower, random);
            for (int from = 0; from + SIDE <= slower.size(); from += SIDE) {
                List<Line> found = found(same.subList(from, from + SIDE), slower.subList(from, from + SIDE));
                comparisons++;
                withFinding +=
                        found.stream().anyMatch(line -> isChanged(line) && line.verdict() == Verdict.SLOWER) ? 1 : 0;
                found.stream()
                        .filter(line -> line.kind() == Kind.BRICK && !isChanged(line))
                        .forEach(others::add);
            }
        }
        System.out.printf("%s + 5 %%: found in %d of %d comparisons%n", CHANGED, withFinding, comparisons);
        others.forEach(line -> System.out.println("  another brick: " + describe(line)));
        RunComparison all = RunComparison.of(same, slower, Options.defaults());
        all.lines().stream()
                .filter(ProcessStudy::isChanged)
                .forEach(line -> System.out.println("  all runs: " + describe(line)));
    }

    private static List<Line> found(List<Run> before, List<Run> after) {
        return RunComparison.of(before, after, Options.defaults()).lines().stream()
                .filter(line -> line.verdict() == Verdict.FASTER || line.verdict() == Verdict.SLOWER)
                .toList();
    }

    private static boolean isChanged(Line line) {
        return line.kind() == Kind.BRICK && line.name().equals(CHANGED);
    }

    private static String describe(Line line) {
        RunComparison.Change change = line.tested().orElseThrow();
        return String.format(
                Locale.ROOT,
                "%s %s: %+.1f %% (%+.1f to %+.1f), %s, shown from %.1f %%",
                line.kind(),
                line.name(),
                change.percent(),
                change.lowPercent(),
                change.highPercent(),
                line.verdict().displayName(),
                line.smallestPercent().orElse(Double.NaN));
    }
}
