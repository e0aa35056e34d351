package org.brickprofiler.compare;

import java.util.List;
import java.util.Locale;
import org.brickprofiler.compare.Comparison.Kind;
import org.brickprofiler.compare.Comparison.Verdict;
import org.brickprofiler.compare.SimulatedRuns.Behaviour;
import org.brickprofiler.compare.SimulatedRuns.Sides;

/**
 * How often comparisons of simulated processes raise a false alarm, and how often they find a change; a table for
 * docs/BENCHMARKS.md. Arguments: how many comparisons a cell (200), and the seeds (1 2 3), of which each makes a table.
 */
public final class ComparisonStudy {

    private static final double USUAL_FLOOR = Comparison.Options.USUAL_FLOOR_PERCENT;

    /** For changes of 2 %, which lie at the usual floor. */
    private static final double LOW_FLOOR = 1;

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
            System.out.printf("%nseed %s, %d comparisons a cell%n%n", seed, comparisons);
            System.out.printf("| processes | any false alarm, 10 a side | 20 a side | +5 %% found, 10 a side "
                    + "| +2 %% found, 10 a side | 20 a side | another brick blamed |%n");
            System.out.println("|---|---|---|---|---|---|---|");
            for (Behaviour behaviour : Behaviour.EACH) {
                row(behaviour, comparisons, Long.parseLong(seed));
            }
        }
    }

    private static void row(Behaviour behaviour, int comparisons, long seed) {
        Cell same10 = cell(behaviour, comparisons, seed, 10, 0, USUAL_FLOOR);
        Cell same20 = cell(behaviour, comparisons, seed, 20, 0, USUAL_FLOOR);
        Cell five10 = cell(behaviour, comparisons, seed, 10, 5, USUAL_FLOOR);
        Cell two10 = cell(behaviour, comparisons, seed, 10, 2, LOW_FLOOR);
        Cell two20 = cell(behaviour, comparisons, seed, 20, 2, LOW_FLOOR);
        System.out.printf(
                Locale.ROOT,
                "| %s | %.1f %% | %.1f %% | %.1f %% | %.1f %% | %.1f %% | %.1f %% |%n",
                behaviour.name(),
                same10.alarms(),
                same20.alarms(),
                five10.found(),
                two10.found(),
                two20.found(),
                five10.otherBricks());
    }

    /**
     * What comparisons of one kind came to.
     *
     * @param alarms those with a verdict on any line, %
     * @param found those that found the changed brick, %
     * @param otherBricks those with a verdict on another brick, %
     */
    record Cell(double alarms, double found, double otherBricks) {}

    static Cell cell(
            Behaviour behaviour, int comparisons, long seed, int runs, double slowerPercent, double floorPercent) {
        int alarms = 0;
        int found = 0;
        int others = 0;
        for (int i = 0; i < comparisons; i++) {
            long own = seed * 1_000_003 + i * 7_919L + runs * 31L + Math.round(slowerPercent * 101);
            Sides sides = new SimulatedRuns(behaviour, own).sides(runs, slowerPercent);
            List<Comparison.Line> changed = sides.compare(floorPercent).lines().stream()
                    .filter(line -> line.verdict() == Verdict.FASTER || line.verdict() == Verdict.SLOWER)
                    .toList();
            alarms += changed.isEmpty() ? 0 : 1;
            found += changed.stream().anyMatch(
                            line -> isChanged(line) && line.verdict() == Verdict.SLOWER) ? 1 : 0;
            others += changed.stream().anyMatch(line -> line.kind() == Kind.BRICK && !isChanged(line)) ? 1 : 0;
        }
        return new Cell(100.0 * alarms / comparisons, 100.0 * found / comparisons, 100.0 * others / comparisons);
    }

    private static boolean isChanged(Comparison.Line line) {
        return line.kind() == Kind.BRICK && line.name().equals(SimulatedRuns.CHANGED);
    }
}
