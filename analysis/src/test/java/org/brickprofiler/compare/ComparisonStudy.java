package org.brickprofiler.compare;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.brickprofiler.compare.RunComparison.Kind;
import org.brickprofiler.compare.RunComparison.Options;
import org.brickprofiler.compare.RunComparison.Verdict;
import org.brickprofiler.compare.SimulatedRuns.Behaviour;
import org.brickprofiler.compare.SimulatedRuns.Change;
import org.brickprofiler.compare.SimulatedRuns.Sides;

/**
 * Counts how often comparisons of simulated processes raise a false alarm, and how often they find a change, for tables
 * of docs/BENCHMARKS.md. Arguments: the number of comparisons in a cell (200), and the seeds (1 2 3), each of which
 * makes its own tables.
 */
public final class ComparisonStudy {

    private static final double USUAL_FLOOR = RunComparison.Options.USUAL_FLOOR_PERCENT;

    /** The floor for changes of 2 %, which are as large as the usual floor. */
    private static final double LOW_FLOOR = 1;

    /** The number of bricks, of 36, that a large change reaches. */
    static final int MANY = 16;

    /** The bricks that a large change is known not to reach. */
    static final List<String> UNTOUCHED =
            List.of("brick 28", "brick 29", "brick 30", "brick 31", "brick 32", "brick 33", "brick 34", "brick 35");

    private ComparisonStudy() {}

    /**
     * Runs the study.
     *
     * @param args see the class
     */
    public static void main(String[] args) {
        int comparisons = args.length > 0 ? Integer.parseInt(args[0]) : 200;
        List<String> seeds = args.length > 1 ? List.of(args).subList(1, args.length) : List.of("1", "2", "3");
        for (String seed : seeds) {
            Study study = new Study(comparisons, Long.parseLong(seed));
            System.out.printf("%nseed %s, %d comparisons a cell%n%n", seed, comparisons);
            System.out.printf(
                    "| processes | any false alarm, 10 a side | 20 a side | +5 %% found, 10 a side | +20 %% found "
                            + "| +2 %% found, 10 a side | 20 a side | another brick blamed |%n");
            System.out.println("|---|---|---|---|---|---|---|---|");
            Behaviour.EACH.forEach(study::processes);
            System.out.printf("%n| samples | any false alarm, 10 a side | +5 %% found | 10 %% x 1.5 found "
                    + "| 2 %% x 3.5 found | another brick blamed |%n");
            System.out.println("|---|---|---|---|---|---|");
            Behaviour.EACH_SAMPLED.forEach(study::samples);
            System.out.printf("%n| %d of 36 bricks +10 %%, 10 a side | found | another brick blamed |%n", MANY);
            System.out.println("|---|---|---|");
            study.many("beside all bricks", List.of());
            study.many("beside a baseline of " + UNTOUCHED.size(), UNTOUCHED);
            System.out.printf("%n| a change of the size that its line is shown from | size, %% | found |%n");
            System.out.println("|---|---|---|");
            study.smallest(Behaviour.QUIET, 0);
            study.smallest(Behaviour.QUIET, USUAL_FLOOR);
            study.smallest(Behaviour.WIDE, USUAL_FLOOR);
        }
    }

    /**
     * Prints the rows of the tables of one seed.
     *
     * @param comparisons the number of comparisons in a cell
     * @param seed the seed of all cells
     */
    private record Study(int comparisons, long seed) {

        void processes(Behaviour behaviour) {
            Cell five10 = cell(behaviour, comparisons, seed, 10, 5, USUAL_FLOOR);
            row(
                    behaviour.name(),
                    cell(behaviour, comparisons, seed, 10, 0, USUAL_FLOOR).alarms(),
                    cell(behaviour, comparisons, seed, 20, 0, USUAL_FLOOR).alarms(),
                    five10.found(),
                    cell(behaviour, comparisons, seed, 10, 20, USUAL_FLOOR).found(),
                    cell(behaviour, comparisons, seed, 10, 2, LOW_FLOOR).found(),
                    cell(behaviour, comparisons, seed, 20, 2, LOW_FLOOR).found(),
                    five10.otherBricks());
        }

        void samples(Behaviour behaviour) {
            Cell five = cell(behaviour, comparisons, seed, 10, 5, USUAL_FLOOR);
            row(
                    behaviour.name(),
                    cell(behaviour, comparisons, seed, 10, 0, USUAL_FLOOR).alarms(),
                    five.found(),
                    cell(behaviour, comparisons, seed, 10, Change.TAIL, Options.defaults())
                            .found(),
                    cell(behaviour, comparisons, seed, 10, Change.FAR_TAIL, Options.defaults())
                            .found(),
                    five.otherBricks());
        }

        void many(String name, List<String> baseline) {
            Cell cell = cell(
                    Behaviour.QUIET,
                    comparisons,
                    seed,
                    10,
                    new Change(10, MANY, 0, 1),
                    Options.defaults().withBaseline(baseline));
            row(name, cell.found(), cell.otherBricks());
        }

        void smallest(Behaviour behaviour, double floorPercent) {
            double size = ComparisonStudy.smallest(behaviour, comparisons, seed, 10, floorPercent);
            row(
                    behaviour.name() + ", floor " + floorPercent + " %",
                    size,
                    cell(behaviour, comparisons, seed, 10, size, floorPercent).found());
        }

        private static void row(String name, double... percents) {
            System.out.println("| " + name + " | "
                    + Arrays.stream(percents)
                            .mapToObj(percent -> String.format(Locale.ROOT, "%.1f", percent))
                            .collect(Collectors.joining(" | "))
                    + " |");
        }
    }

    /**
     * The results of comparisons of one kind.
     *
     * @param alarms those with a verdict on any line, %
     * @param found those that found the changed brick, by its usual time or a percentile, %
     * @param otherBricks those with a verdict on a brick that did not change, %
     */
    record Cell(double alarms, double found, double otherBricks) {}

    static Cell cell(
            Behaviour behaviour, int comparisons, long seed, int runs, double slowerPercent, double floorPercent) {
        return cell(
                behaviour,
                comparisons,
                seed,
                runs,
                Change.slower(slowerPercent),
                Options.defaults().withFloorPercent(floorPercent));
    }

    static Cell cell(Behaviour behaviour, int comparisons, long seed, int runs, Change change, Options options) {
        int alarms = 0;
        int found = 0;
        int others = 0;
        for (int i = 0; i < comparisons; i++) {
            long own = seed * 1_000_003 + i * 7_919L + runs * 31L + Math.round(change.slowerPercent() * 101);
            Sides sides = new SimulatedRuns(behaviour, own).sides(runs, change);
            List<RunComparison.Line> changed = sides.compare(options).lines().stream()
                    .filter(line -> line.verdict() == Verdict.FASTER || line.verdict() == Verdict.SLOWER)
                    .toList();
            alarms += changed.isEmpty() ? 0 : 1;
            found += changed.stream().anyMatch(line -> isOf(line, 0) && line.verdict() == Verdict.SLOWER) ? 1 : 0;
            others += changed.stream()
                            .anyMatch(line -> isBrick(line)
                                    && IntStream.range(0, change.bricks()).noneMatch(brick -> isOf(line, brick)))
                    ? 1
                    : 0;
        }
        return new Cell(100.0 * alarms / comparisons, 100.0 * found / comparisons, 100.0 * others / comparisons);
    }

    /** The mean "shown from" of the changed brick's line in comparisons without a change, %. */
    static double smallest(Behaviour behaviour, int comparisons, long seed, int runs, double floorPercent) {
        return IntStream.range(0, comparisons)
                .mapToDouble(i -> new SimulatedRuns(behaviour, seed * 1_000_003 + i)
                        .sides(runs, 0).compare(floorPercent).lines().stream()
                                .filter(line -> line.kind() == Kind.BRICK && isOf(line, 0))
                                .findFirst()
                                .orElseThrow()
                                .smallestPercent()
                                .orElseThrow())
                .average()
                .orElseThrow();
    }

    private static boolean isBrick(RunComparison.Line line) {
        return line.kind() == Kind.BRICK || line.kind().isTail();
    }

    private static boolean isOf(RunComparison.Line line, int brick) {
        return isBrick(line) && line.name().startsWith(String.format("brick %02d", brick));
    }
}
